//! Changing objects: read, change, check, commit; again when somebody was faster and the client did not insist on a version.
use std::sync::Arc;

use axum::body::Body;
use http::{Response, StatusCode};
use serde_json::Value;

use super::context::Context;
use super::{create, prepare};
use crate::api::apply;
use crate::api::error::{ApiError, FieldError, Result};
use crate::api::special;
use crate::api::store::{CommitError, Draft, Key, Stored};
use crate::api::value::{int, list, remove, set, text};

/// What a change came to.
pub enum Outcome {
    /// There is a new version, or the old one when nothing changed.
    Stored(Arc<Stored>),
    /// The change was the last that the object waited for: it is gone.
    Removed(Arc<Stored>),
    /// A dry run: what would have been stored.
    Dry(Value),
}

/// PUT of an object.
pub fn put(context: &Context<'_>, body: &[u8]) -> Result<Response<Body>> {
    let mut object = context.read(body)?;
    let warnings = context.normalise(&mut object)?;
    check_address(context, &object)?;
    if context.resource.shelf.get(&context.key()).is_none() && context.resource.behaviour.create_on_update() {
        return create::create_object(context, object, false);
    }
    let custom = context.resource.custom.is_some();
    if text(&object, &["metadata", "resourceVersion"]).is_empty()
        && (custom || !context.resource.behaviour.unconditional_update())
    {
        context.stored(&context.key())?;
        let error = FieldError::invalid("metadata.resourceVersion", 0, "must be specified for an update");
        // Here the real server names the resource instead of the kind.
        return Err(ApiError::invalid(context.resource.named(), context.name(), &[error]));
    }
    let outcome = change(context, &context.key(), false, |_| Ok(object.clone()))?;
    Ok(answer(context, outcome, &warnings))
}

/// The name and namespace in a body must be those of the URL.
pub fn check_address(context: &Context<'_>, object: &Value) -> Result<()> {
    let (name, namespace) = (text(object, &["metadata", "name"]), text(object, &["metadata", "namespace"]));
    if name.is_empty() {
        return Err(ApiError::bad_request("the name of the object must be given in its metadata"));
    }
    if name != context.name() {
        let message = format!(
            "the name of the object ({name}) does not match the name on the URL ({})",
            context.name()
        );
        return Err(ApiError::bad_request(message));
    }
    if !namespace.is_empty() && namespace != context.namespace() {
        let message = "the namespace of the provided object does not match the namespace sent on the request";
        return Err(ApiError::bad_request(message));
    }
    Ok(())
}

/// Changes a stored object. `make` turns the present object into the wanted one and is called again after a lost race.
///
/// `applied` says that `make` is a server-side apply and has kept account of owners itself.
pub fn change(
    context: &Context<'_>,
    key: &Key,
    applied: bool,
    mut make: impl FnMut(&Value) -> Result<Value>,
) -> Result<Outcome> {
    let resource = &context.resource;
    // The bound only guards against a bug; a race is lost a few times at most, because the winner made progress.
    for _ in 0..1000 {
        let stored = context.stored(key)?;
        let old = context.show(&stored);
        let mut new = make(&old)?;
        check_preconditions(context, &old, &new)?;
        if !applied {
            track(context, Some(&old), &mut new);
        }
        prepare::for_update(context, &old, &mut new)?;
        set(&mut new, &["metadata", "resourceVersion"], stored.revision.to_string());
        let finished = is_finished(&new);
        if new == old && !finished {
            return Ok(Outcome::Stored(stored));
        }
        if context.options.dry_run {
            return Ok(Outcome::Dry(new));
        }
        let new = special::to_storage_version(resource, new);
        let draft = Draft::new(&new, &resource.selectable);
        let committed = if finished {
            resource.shelf.remove(key, stored.revision, draft).map(Outcome::Removed)
        } else {
            resource.shelf.replace(key, stored.revision, draft).map(Outcome::Stored)
        };
        match committed {
            Ok(outcome) => {
                let previous = Some(&*stored);
                match &outcome {
                    Outcome::Stored(stored) => {
                        context.committed(previous, stored, false);
                        special::after_write(context.server, resource, stored);
                    }
                    Outcome::Removed(stored) => {
                        context.committed(previous, stored, true);
                        special::after_removal(context.server, resource, stored);
                    }
                    Outcome::Dry(_) => {}
                }
                return Ok(outcome);
            }
            Err(CommitError::Missing) => return Err(ApiError::not_found(resource.named(), &key.name)),
            Err(CommitError::Changed | CommitError::Exists) => {}
        }
    }
    Err(ApiError::stale(resource.named(), &key.name))
}

/// Who writes, for managedFields.
pub fn owner<'c>(context: &'c Context<'_>, api_version: &'c str, time: &'c str) -> apply::Owner<'c> {
    let subresource = context.subresource().unwrap_or_default();
    apply::Owner { manager: &context.manager, api_version, subresource, time }
}

/// Keeps `metadata.managedFields` up to date after a write that is not an apply.
pub fn track(context: &Context<'_>, old: Option<&Value>, new: &mut Value) {
    // Changes through the scale subresource carry no time, in the real server too.
    let time =
        if context.subresource() == Some("scale") { String::new() } else { context.server.clock().seconds() };
    let version = context.resource.gvk.api_version();
    apply::track_update(&context.resource, &owner(context, &version, &time), old, new);
}

/// Writes who owns what into an object that an apply creates.
pub fn track_applied(context: &Context<'_>, new: &mut Value, config: &Value) {
    let (version, time) = (context.resource.gvk.api_version(), context.server.clock().seconds());
    apply::track_created(&context.resource, &owner(context, &version, &time), new, config);
}

/// uid and resourceVersion in a body are conditions.
fn check_preconditions(context: &Context<'_>, old: &Value, new: &Value) -> Result<()> {
    let resource = &context.resource;
    let name = text(old, &["metadata", "name"]);
    let (wanted, present) = (text(new, &["metadata", "uid"]), text(old, &["metadata", "uid"]));
    if !wanted.is_empty() && wanted != present && context.verb == "patch" {
        let error = FieldError::invalid("metadata.uid", wanted, "field is immutable");
        let errors = if resource.custom.is_none() { vec![error.clone(), error] } else { vec![error] };
        return Err(resource.invalid(name, &errors));
    }
    if !wanted.is_empty() && wanted != present {
        let why =
            format!("Precondition failed: UID in precondition: {wanted}, UID in object meta: {present}");
        return Err(ApiError::conflict(resource.named(), name, &why));
    }
    let version = text(new, &["metadata", "resourceVersion"]);
    if !matches!(version, "" | "0") && version != text(old, &["metadata", "resourceVersion"]) {
        return Err(ApiError::stale(resource.named(), name));
    }
    Ok(())
}

/// Whether an object that is being deleted waits for nothing any more.
fn is_finished(object: &Value) -> bool {
    !text(object, &["metadata", "deletionTimestamp"]).is_empty()
        && list(object, &["metadata", "finalizers"]).is_empty()
        && int(object, &["metadata", "deletionGracePeriodSeconds"]).unwrap_or(0) == 0
        && list(object, &["spec", "finalizers"]).is_empty()
}

/// Answers with what a change came to.
pub fn answer(context: &Context<'_>, outcome: Outcome, warnings: &[String]) -> Response<Body> {
    match outcome {
        Outcome::Stored(stored) | Outcome::Removed(stored) => {
            context.answer(StatusCode::OK, &stored, warnings)
        }
        Outcome::Dry(mut object) => {
            if text(&object, &["metadata", "resourceVersion"]).is_empty() {
                remove(&mut object, &["metadata", "resourceVersion"]);
            }
            context.answer_value(StatusCode::OK, &object, warnings)
        }
    }
}
