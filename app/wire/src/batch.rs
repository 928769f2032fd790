//! Batch edits: request, preview, and the batch as the page shows it.

use crate::{error::Reason, key::ServerKey};
use serde::{Deserialize, Serialize};

/// Whom a batch is for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum BatchTarget {
    /// Everything that the filter matches when the batch is accepted.
    Query(String),
    /// These servers.
    Keys(Vec<ServerKey>),
}

/// A new image for one container.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ImageChange {
    /// Container name.
    pub container: String,
    /// Image reference.
    pub image: String,
}

/// What a batch changes; absent fields stay as they are.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct Change {
    /// New opsState.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ops_state: Option<String>,
    /// New deletion priority.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deletion_priority: Option<i32>,
    /// New images.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub images: Vec<ImageChange>,
}

/// What protects servers in use, and its override.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct Policy {
    /// Also stop or restart servers that are Allocated or have players (`Kill`, images). Never needed for other changes.
    pub include_in_use: bool,
}

/// Asks what a batch would do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PreviewRequest {
    /// Whom.
    pub target: BatchTarget,
    /// Namespace that a query is looked at in; empty is all.
    #[serde(default)]
    pub namespace: String,
    /// What.
    pub change: Change,
    /// How careful.
    #[serde(default)]
    pub policy: Policy,
}

/// What the controllers do about an edit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Effect {
    /// Only a label of the pod changes, nothing restarts.
    LabelOnly,
    /// The server goes first at the next scale down.
    LeavesFirst,
    /// A container restarts in place.
    RestartsContainer,
    /// The server is removed and the set gets smaller.
    Removed,
    /// Taken when the server's pod is made the next time.
    NextPod,
    /// Written down; what runs already is so.
    SpecOnly,
}

/// One field of one server, old and new.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FieldChange {
    /// `opsState`, `deletionPriority`, `image`.
    pub field: String,
    /// Container, for images.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub container: Option<String>,
    /// Value now; absent when the field is not set.
    pub old: Option<String>,
    /// What the server runs now, when the field itself is not set (an image from the template).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub live: Option<String>,
    /// Value after.
    pub new: String,
}

/// What will become of one target.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "verdict", rename_all = "kebab-case")]
pub enum Verdict {
    /// It is changed.
    Apply {
        /// What that does.
        effect: Effect,
    },
    /// It already has the values.
    Unchanged,
    /// It is not touched, by the policy.
    LeftOut {
        /// Why.
        reason: Reason,
    },
    /// It cannot be changed.
    Refused {
        /// Why.
        reason: Reason,
    },
}

/// One line of a preview.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "PlainEntry")]
pub struct PreviewEntry {
    /// Server.
    pub key: ServerKey,
    /// Fields that differ.
    pub fields: Vec<FieldChange>,
    /// What becomes of it.
    #[serde(flatten)]
    pub verdict: Verdict,
}

/// A [`PreviewEntry`] as JSON has it. A reader derived with `flatten` goes through values of any kind, which is slow and
/// large in the browser.
#[derive(Deserialize)]
struct PlainEntry {
    key: ServerKey,
    fields: Vec<FieldChange>,
    verdict: PlainVerdict,
    effect: Option<Effect>,
    reason: Option<Reason>,
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
enum PlainVerdict {
    Apply,
    Unchanged,
    LeftOut,
    Refused,
}

impl TryFrom<PlainEntry> for PreviewEntry {
    type Error = &'static str;

    fn try_from(plain: PlainEntry) -> Result<Self, Self::Error> {
        let reason = plain.reason.ok_or("a verdict without its reason");
        let verdict = match plain.verdict {
            PlainVerdict::Apply => {
                Verdict::Apply { effect: plain.effect.ok_or("a verdict without its effect")? }
            }
            PlainVerdict::Unchanged => Verdict::Unchanged,
            PlainVerdict::LeftOut => Verdict::LeftOut { reason: reason? },
            PlainVerdict::Refused => Verdict::Refused { reason: reason? },
        };
        Ok(Self { key: plain.key, fields: plain.fields, verdict })
    }
}

/// What a batch would do, to each server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Preview {
    /// Names this preview: who, old and new. A batch that carries it is refused when that differs by then.
    pub token: String,
    /// Targets.
    pub total: u32,
    /// Servers that change.
    pub applies: u32,
    /// Servers that have the values already.
    pub unchanged: u32,
    /// Servers left out by the policy.
    pub left_out: u32,
    /// Servers that cannot be changed.
    pub refused: u32,
    /// How many servers have which effect.
    pub effects: Vec<(Effect, u32)>,
    /// What to know before.
    pub warnings: Vec<Reason>,
    /// The first entries, those that need a look (refused, left out) first.
    pub entries: Vec<PreviewEntry>,
    /// How many entries are not listed.
    pub more: u32,
    /// The change as one line of kubectl for the first server, to copy.
    pub kubectl: String,
}

/// Starts a batch.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct BatchRequest {
    /// What was previewed.
    #[serde(flatten)]
    pub preview: PreviewRequest,
    /// Token of the preview; without one the batch is resolved as it is now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token: Option<String>,
    /// Sent again after a lost answer it names the same batch. 8 to 64 letters, digits or dashes.
    pub idempotency_key: String,
}

/// Where a batch stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Phase {
    /// Stored, not looked at yet.
    #[default]
    Pending,
    /// Being resolved into targets.
    Resolving,
    /// Being applied.
    Running,
    /// Every target has a result.
    Done,
    /// Stopped by somebody; the rest was not touched.
    Cancelled,
    /// Could not be started.
    Failed,
}

/// The result of one target.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// Not yet.
    Pending,
    /// Written.
    Changed,
    /// Had the values already.
    AlreadySet,
    /// Left out by the policy.
    LeftOut,
    /// Somebody else changed the field after the preview.
    ChangedMeanwhile,
    /// The server is gone.
    NotFound,
    /// A server of this name exists, but it is another one.
    Replaced,
    /// The author may not do that.
    Forbidden,
    /// The API refused the value.
    Invalid,
    /// Kept conflicting.
    Conflict,
    /// Any other failure.
    Failed,
    /// Not touched because the batch was cancelled.
    Cancelled,
}

impl Outcome {
    /// Whether it counts as a failure that may be retried or looked at.
    #[must_use]
    pub fn is_failure(self) -> bool {
        matches!(
            self,
            Self::ChangedMeanwhile
                | Self::NotFound
                | Self::Replaced
                | Self::Forbidden
                | Self::Invalid
                | Self::Conflict
                | Self::Failed
        )
    }
}

/// Result of one server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TargetResult {
    /// Server.
    pub key: ServerKey,
    /// What became of it.
    pub outcome: Outcome,
    /// What the API said, when it refused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
}

/// A batch as the page shows it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct BatchView {
    /// Object name in the batches' namespace.
    pub name: String,
    /// Author.
    pub author: String,
    /// Creation time, Unix seconds.
    pub created: i64,
    /// End, Unix seconds.
    pub finished: Option<i64>,
    /// Where it stands.
    pub phase: Phase,
    /// What it changes.
    pub change: Change,
    /// Targets.
    pub total: u32,
    /// Counts by outcome.
    pub outcomes: Vec<(Outcome, u32)>,
    /// What stands in the way, when it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// Per server, failures first, bounded; `more` says how many are not listed.
    pub results: Vec<TargetResult>,
    /// Results that are not listed.
    pub more: u32,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_verdict_is_read_as_it_was_written() {
        let reason = Reason::new("left-out-allocated", "x").with("n", 1);
        let verdicts = [
            Verdict::Apply { effect: Effect::LeavesFirst },
            Verdict::Unchanged,
            Verdict::LeftOut { reason: reason.clone() },
            Verdict::Refused { reason },
        ];
        for verdict in verdicts {
            let entry = PreviewEntry { key: "kruise/a/b".parse().unwrap(), fields: Vec::new(), verdict };
            let text = serde_json::to_string(&entry).unwrap();
            assert_eq!(serde_json::from_str::<PreviewEntry>(&text).unwrap(), entry, "{text}");
        }
        let without = r#"{"key":"kruise/a/b","fields":[],"verdict":"refused"}"#;
        assert!(serde_json::from_str::<PreviewEntry>(without).is_err());
    }
}
