//! Step plan of one write: is the target still the one that was frozen, and with which guarded patch is it changed.
//!
//! Pure: from the server as it is and the frozen target to a result or a patch. An old value is guarded by a JSON
//! Patch `test`; where the field was absent, the resourceVersion guards.

use super::{plan::Allow, target::int_text};
use crds::{
    pilothouse::{FrozenTarget, Outcome, TargetField},
    slim::SlimGameServer,
};
use k8s_openapi::apimachinery::pkg::util::intstr::IntOrString;
use kube::ResourceExt;
use serde_json::{Value, json};

/// The server as it is now.
#[derive(Clone, Copy, Debug)]
pub struct Current<'a> {
    /// The object.
    pub server: &'a SlimGameServer,
    /// Allocated or players > 0, now.
    pub in_use: bool,
    /// Images of the live pod by container.
    pub live: &'a [(String, String)],
}

/// A guarded write.
#[derive(Clone, Debug, PartialEq)]
pub enum Guarded {
    /// JSON Patch with `test` on uid and old values.
    Json(Value),
    /// Merge patch with uid and resourceVersion.
    Merge(Value),
}

/// What to do about one target.
#[derive(Clone, Debug, PartialEq)]
pub enum Judgement {
    /// Nothing to write.
    Done(Outcome, Option<String>),
    /// Write this.
    Write(Guarded),
}

/// Judges one target against the server as it is. `resumed` says that an earlier run may have written it already.
#[must_use]
pub fn judge(current: Option<Current<'_>>, target: &FrozenTarget, allow: Allow, resumed: bool) -> Judgement {
    let done = |outcome| Judgement::Done(outcome, None);
    let Some(current) = current else { return done(Outcome::NotFound) };
    let server = current.server;
    if server.uid().as_ref() != Some(&target.uid) {
        return done(Outcome::Replaced);
    }
    if server.metadata.deletion_timestamp.is_some() {
        return Judgement::Done(Outcome::NotFound, Some("it is being deleted".into()));
    }
    if let Some(error) = &server.spec_error {
        return Judgement::Done(Outcome::Invalid, Some(error.clone()));
    }
    let values: Vec<Option<Value>> =
        target.fields.iter().map(|f| value_of(server, f.field, f.container.as_deref())).collect();
    let is = |a: &Option<Value>, b: &Option<Value>| a.as_ref().map(text) == b.as_ref().map(text);
    if target.fields.iter().zip(&values).all(|(field, value)| is(value, &field.new)) {
        // The value was another one when the target was frozen: after a restart it was most likely this batch.
        return done(if resumed { Outcome::Changed } else { Outcome::Unchanged });
    }
    for (field, value) in target.fields.iter().zip(&values) {
        if !is(value, &field.old) && !is(value, &field.new) {
            let shown = |value: &Option<Value>| value.as_ref().map_or_else(|| "unset".into(), text);
            let detail = format!("{} is {}, was {}", name_of(field.field), shown(value), shown(&field.old));
            return Judgement::Done(Outcome::Conflict, Some(detail));
        }
    }
    if current.in_use && stops_without_leave(current, target, allow) {
        return Judgement::Done(Outcome::LeftOut, Some("left-out-in-use".into()));
    }
    if values.iter().all(Option::is_some) {
        Judgement::Write(Guarded::Json(json_patch(server, target, &values)))
    } else {
        Judgement::Write(Guarded::Merge(merge_patch(server, target)))
    }
}

/// Whether the change stops or restarts what runs, without leave for servers in use.
fn stops_without_leave(current: Current<'_>, target: &FrozenTarget, allow: Allow) -> bool {
    target.fields.iter().any(|field| match field.field {
        TargetField::OpsState => {
            !allow.kill_in_use && field.new.as_ref().and_then(Value::as_str) == Some("Kill")
        }
        TargetField::Image => {
            let live = current.live.iter().find(|(name, _)| Some(name) == field.container.as_ref());
            !allow.restart_in_use
                && live.is_some_and(|(_, image)| field.new.as_ref().and_then(Value::as_str) != Some(image))
        }
        TargetField::DeletionPriority => false,
    })
}

fn name_of(field: TargetField) -> &'static str {
    match field {
        TargetField::OpsState => "opsState",
        TargetField::DeletionPriority => "deletionPriority",
        TargetField::Image => "image",
    }
}

/// Numbers and their text are one value: a priority may be either.
fn text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// The stored value of a field, exactly as the API has it.
fn value_of(server: &SlimGameServer, field: TargetField, container: Option<&str>) -> Option<Value> {
    match field {
        TargetField::OpsState => server.spec.ops_state.as_ref().map(|ops| ops.to_string().into()),
        TargetField::DeletionPriority => server.spec.deletion_priority.as_ref().map(|value| match value {
            IntOrString::Int(number) => (*number).into(),
            IntOrString::String(_) => int_text(value).into(),
        }),
        TargetField::Image => {
            let own = server.spec.containers.iter().find(|c| Some(c.name.as_str()) == container)?;
            own.image.clone().map(Value::from)
        }
    }
}

fn json_patch(server: &SlimGameServer, target: &FrozenTarget, values: &[Option<Value>]) -> Value {
    let mut operations = vec![json!({ "op": "test", "path": "/metadata/uid", "value": target.uid })];
    for (field, old) in target.fields.iter().zip(values) {
        let path = match field.field {
            TargetField::OpsState => "/spec/opsState".to_owned(),
            TargetField::DeletionPriority => "/spec/deletionPriority".to_owned(),
            TargetField::Image => {
                let own = field.container.as_deref();
                let Some(at) = server.spec.containers.iter().position(|c| Some(c.name.as_str()) == own)
                else {
                    continue;
                };
                // The index is only right while the same container stands there.
                let path = format!("/spec/containers/{at}/name");
                operations.push(json!({ "op": "test", "path": path, "value": own }));
                format!("/spec/containers/{at}/image")
            }
        };
        operations.push(json!({ "op": "test", "path": path, "value": old }));
        operations.push(json!({ "op": "replace", "path": path, "value": field.new }));
    }
    operations.into()
}

fn merge_patch(server: &SlimGameServer, target: &FrozenTarget) -> Value {
    let mut spec = serde_json::Map::new();
    let mut containers = server.spec.containers.clone();
    for field in &target.fields {
        let new = field.new.clone().unwrap_or(Value::Null);
        match (field.field, &field.container) {
            (TargetField::OpsState, _) => drop(spec.insert("opsState".into(), new)),
            (TargetField::DeletionPriority, _) => drop(spec.insert("deletionPriority".into(), new)),
            (TargetField::Image, Some(name)) => {
                let image = new.as_str().map(str::to_owned);
                match containers.iter_mut().find(|c| c.name == *name) {
                    Some(own) => own.image = image,
                    None => containers.push(crds::kruise::GameServerContainer {
                        name: name.clone(),
                        image,
                        ..Default::default()
                    }),
                }
                spec.insert("containers".into(), json!(containers));
            }
            (TargetField::Image, None) => {}
        }
    }
    json!({
        "metadata": { "uid": target.uid, "resourceVersion": server.metadata.resource_version },
        "spec": spec,
    })
}

/// What a refused write means.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// It ends the target.
    Final(Outcome, Option<String>),
    /// Read the server again and judge again; the message is the result when nothing else explains it.
    Reread {
        /// The API said that the object is invalid (a failed `test` says so too), not that it changed.
        invalid: bool,
        /// What the API said.
        message: String,
    },
    /// Try the same again after a while.
    Later(String),
}

/// Reads an answer of the API that is no success.
#[must_use]
pub fn refusal(error: &kube::Error) -> Refusal {
    let kube::Error::Api(status) = error else { return Refusal::Later(error.to_string()) };
    let message = shortened(&status.message);
    match status.code {
        403 => Refusal::Final(Outcome::Forbidden, Some(message)),
        404 => Refusal::Final(Outcome::NotFound, None),
        409 => Refusal::Reread { invalid: false, message },
        422 => Refusal::Reread { invalid: true, message },
        429 | 500.. => Refusal::Later(message),
        _ => Refusal::Final(Outcome::Error, Some(message)),
    }
}

/// A message that fits into a result.
fn shortened(message: &str) -> String {
    message.chars().take(500).collect()
}

#[cfg(test)]
#[path = "judge_tests.rs"]
mod tests;
