//! Between what travels (`wire`) and what is stored (`crds`): requests, changes, outcomes, frozen targets.

use super::plan::PlannedTarget;
use crds::kruise::OpsState;
use crds::pilothouse::{
    Author, BatchChange, BatchEdit, BatchEditSpec, BatchPhase, BatchPolicy, BatchTarget, FieldChange,
    FrozenTarget, ImageChange, Outcome, TargetField, Verdict,
};
use serde_json::Value;
use thiserror::Error;
use wire::{
    batch::{BatchRequest, Change, Phase},
    error::Reason,
};

/// Most keys that one batch may list; more are named by a filter.
pub const MAX_KEYS: usize = 5000;

/// A request that no batch can be made of.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum RequestError {
    /// The idempotency key does not fit into a name.
    #[error(
        "the idempotency key must be 8 to 50 lower-case letters, digits or dashes, with no dash at its ends"
    )]
    IdempotencyKey,
    /// No server is named.
    #[error("the batch names no server")]
    NoTarget,
    /// Too many keys.
    #[error("a batch lists at most {MAX_KEYS} servers; name more by a filter")]
    TooManyKeys,
}

impl RequestError {
    /// The error as a reason with a stable code.
    #[must_use]
    pub fn reason(&self) -> Reason {
        let code = match self {
            Self::IdempotencyKey => "idempotency-key",
            Self::NoTarget => "no-target",
            Self::TooManyKeys => "too-many-keys",
        };
        Reason::new(code, self.to_string()).with("most", MAX_KEYS)
    }
}

/// The name of the batch that an idempotency key stands for.
///
/// # Errors
/// When the key does not fit into the name of an object.
pub fn batch_name(key: &str) -> Result<String, RequestError> {
    let legal = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    if (8..=50).contains(&key.len()) && key.chars().all(legal) && !key.starts_with('-') && !key.ends_with('-')
    {
        Ok(format!("batch-{key}"))
    } else {
        Err(RequestError::IdempotencyKey)
    }
}

/// A filter that only looks into one namespace; an empty namespace is all.
#[must_use]
pub fn namespaced_query(query: &str, namespace: &str) -> String {
    match (namespace.is_empty(), query.trim().is_empty()) {
        (true, _) => query.to_owned(),
        (false, true) => format!("ns:{namespace}"),
        (false, false) => format!("ns:{namespace} ({query})"),
    }
}

/// The object to store for a request.
///
/// # Errors
/// When the request names nobody, too many, or has an odd idempotency key.
pub fn edit_of(request: &BatchRequest, author: Author) -> Result<BatchEdit, RequestError> {
    let name = batch_name(&request.idempotency_key)?;
    let target = match &request.preview.target {
        wire::BatchTarget::Query(query) => {
            let query = Some(namespaced_query(query, &request.preview.namespace));
            BatchTarget { query, keys: Vec::new() }
        }
        wire::BatchTarget::Keys(keys) if keys.is_empty() => return Err(RequestError::NoTarget),
        wire::BatchTarget::Keys(keys) if keys.len() > MAX_KEYS => return Err(RequestError::TooManyKeys),
        wire::BatchTarget::Keys(keys) => {
            BatchTarget { query: None, keys: keys.iter().map(ToString::to_string).collect() }
        }
    };
    let include = request.preview.policy.include_in_use;
    let spec = BatchEditSpec {
        author: Some(author),
        target,
        change: stored_change(&request.preview.change),
        policy: BatchPolicy { override_in_use: include, also_restart_in_use: include },
        preview_token: request.token.clone(),
        idempotency_key: Some(request.idempotency_key.clone()),
        cancelled: false,
    };
    Ok(BatchEdit::new(&name, spec))
}

fn stored_change(change: &Change) -> BatchChange {
    BatchChange {
        ops_state: change.ops_state.as_deref().map(OpsState::from),
        deletion_priority: change.deletion_priority,
        images: change
            .images
            .iter()
            .map(|i| ImageChange { container: i.container.clone(), image: i.image.clone() })
            .collect(),
    }
}

/// The change of a stored batch.
pub(super) fn change_of(change: &BatchChange) -> Change {
    Change {
        ops_state: change.ops_state.as_ref().map(ToString::to_string),
        deletion_priority: change.deletion_priority,
        images: change
            .images
            .iter()
            .map(|i| wire::batch::ImageChange { container: i.container.clone(), image: i.image.clone() })
            .collect(),
    }
}

/// The target of a stored batch; keys that are none are left out.
pub(super) fn target_of(target: &BatchTarget) -> wire::BatchTarget {
    match &target.query {
        Some(query) => wire::BatchTarget::Query(query.clone()),
        None => wire::BatchTarget::Keys(target.keys.iter().filter_map(|key| key.parse().ok()).collect()),
    }
}

/// Freezes a planned target: from now on it does not change.
pub(super) fn frozen(planned: &PlannedTarget) -> FrozenTarget {
    let (verdict, reason) = match &planned.verdict {
        wire::batch::Verdict::Apply { .. } => (Verdict::Change, None),
        wire::batch::Verdict::Unchanged => (Verdict::Unchanged, None),
        wire::batch::Verdict::LeftOut { reason } | wire::batch::Verdict::Refused { reason } => {
            (Verdict::LeftOut, Some(reason.code.clone()))
        }
    };
    FrozenTarget {
        key: planned.key.to_string(),
        uid: planned.uid.clone(),
        pod_uid: None,
        fields: planned.fields.iter().map(frozen_field).collect(),
        verdict,
        reason,
    }
}

fn frozen_field(field: &wire::batch::FieldChange) -> FieldChange {
    let kind = match field.field.as_str() {
        "deletionPriority" => TargetField::DeletionPriority,
        "image" => TargetField::Image,
        _ => TargetField::OpsState,
    };
    // A priority is a number wherever it can be read as one; the guard compares by text.
    let value = |text: &String| match kind {
        TargetField::DeletionPriority => {
            text.parse::<i64>().map_or_else(|_| text.clone().into(), Value::from)
        }
        _ => text.clone().into(),
    };
    FieldChange {
        field: kind,
        container: field.container.clone(),
        old: field.old.as_ref().map(value),
        new: Some(value(&field.new)),
    }
}

/// Phase as it travels.
pub(super) fn phase_of(phase: BatchPhase) -> Phase {
    match phase {
        BatchPhase::Pending => Phase::Pending,
        BatchPhase::Resolving => Phase::Resolving,
        BatchPhase::Running => Phase::Running,
        BatchPhase::Done => Phase::Done,
        BatchPhase::Cancelled => Phase::Cancelled,
        BatchPhase::Failed => Phase::Failed,
    }
}

/// Outcome as it travels.
pub(super) fn outcome_of(outcome: Outcome) -> wire::batch::Outcome {
    use wire::batch::Outcome as Wire;
    match outcome {
        Outcome::Changed => Wire::Changed,
        Outcome::Unchanged => Wire::AlreadySet,
        Outcome::LeftOut => Wire::LeftOut,
        Outcome::Conflict => Wire::ChangedMeanwhile,
        Outcome::Forbidden => Wire::Forbidden,
        Outcome::NotFound => Wire::NotFound,
        Outcome::Replaced => Wire::Replaced,
        Outcome::Invalid => Wire::Invalid,
        Outcome::Error => Wire::Failed,
        Outcome::Cancelled => Wire::Cancelled,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wire::{batch::PreviewRequest, key::ServerKey};

    fn request(target: wire::BatchTarget, key: &str) -> BatchRequest {
        BatchRequest {
            preview: PreviewRequest {
                target,
                namespace: "prod".into(),
                change: Change { ops_state: Some("Kill".into()), ..Change::default() },
                policy: wire::batch::Policy { include_in_use: true },
            },
            token: Some("p-1".into()),
            idempotency_key: key.into(),
        }
    }

    #[test]
    fn the_same_key_makes_the_same_batch() {
        let target = wire::BatchTarget::Query("set:mc".into());
        let edit = edit_of(&request(target, "0123-abcd"), Author::default()).unwrap();
        assert_eq!(edit.metadata.name.as_deref(), Some("batch-0123-abcd"));
        assert_eq!(edit.spec.target.query.as_deref(), Some("ns:prod (set:mc)"));
        assert!(edit.spec.policy.override_in_use && edit.spec.policy.also_restart_in_use);
        assert_eq!(change_of(&edit.spec.change).ops_state.as_deref(), Some("Kill"));
    }

    #[test]
    fn odd_requests_are_refused() {
        for key in ["", "short", "-abcdefgh", "abcdefgh-", "ABCDEFGH", "a b c d e", &"x".repeat(51)] {
            assert_eq!(batch_name(key), Err(RequestError::IdempotencyKey), "{key}");
        }
        let edit = |keys| {
            edit_of(&request(wire::BatchTarget::Keys(keys), "0123-abcd"), Author::default()).map(|_| ())
        };
        assert_eq!(edit(Vec::new()), Err(RequestError::NoTarget));
        let many = vec![ServerKey::new(wire::Family::Kruise, "a", "b"); MAX_KEYS + 1];
        assert_eq!(edit(many), Err(RequestError::TooManyKeys));
    }

    #[test]
    fn a_namespace_narrows_the_filter() {
        assert_eq!(namespaced_query("a or b", "x"), "ns:x (a or b)");
        assert_eq!(namespaced_query(" ", "x"), "ns:x");
        assert_eq!(namespaced_query("a", ""), "a");
    }
}
