//! Deleting objects: at once, with grace (pods on a node), or when the last finalizer is gone.
use axum::body::Body;
use http::{Response, StatusCode};
use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

use super::context::Context;
use crate::api::clock::format_seconds;
use crate::api::error::{ApiError, FieldError, Result};
use crate::api::http::{answer, negotiate};
use crate::api::kinds::Behaviour;
use crate::api::special;
use crate::api::store::{CommitError, Draft, Key, Stored};
use crate::api::value::{as_map, int, list, set, text};

/// DeleteOptions, from the body or the query.
#[derive(Debug, Clone, Default)]
pub struct DeleteOptions {
    pub grace: Option<i64>,
    pub policy: Option<String>,
    pub uid: Option<String>,
    pub resource_version: Option<String>,
    pub dry_run: bool,
}

impl DeleteOptions {
    /// Reads the body, which may be empty, and the query.
    pub fn read(context: &Context<'_>, body: &[u8]) -> Result<Self> {
        let mut options = Self {
            grace: context.options.grace_period_seconds,
            policy: context.options.propagation_policy.clone(),
            dry_run: context.options.dry_run,
            ..Self::default()
        };
        if !body.iter().all(u8::is_ascii_whitespace) {
            let given = negotiate::object(context.headers, body)?;
            if !given.is_object() {
                return Err(ApiError::bad_request("DeleteOptions must be an object"));
            }
            let own = |path: &[&str]| Some(text(&given, path).to_owned()).filter(|t| !t.is_empty());
            if !matches!(text(&given, &["kind"]), "" | "DeleteOptions") {
                return Err(ApiError::bad_request("the body of a deletion must be DeleteOptions"));
            }
            if given.get("gracePeriodSeconds").is_some_and(|grace| !grace.is_i64() && !grace.is_null()) {
                return Err(ApiError::bad_request("gracePeriodSeconds must be a whole number"));
            }
            let orphan = given.get("orphanDependents").is_some_and(Value::is_boolean);
            if orphan && own(&["propagationPolicy"]).is_some() {
                return Err(both_given());
            }
            options.grace = int(&given, &["gracePeriodSeconds"]).or(options.grace);
            options.policy = own(&["propagationPolicy"]).or(options.policy);
            options.uid = own(&["preconditions", "uid"]);
            options.resource_version = own(&["preconditions", "resourceVersion"]);
            options.dry_run |= list(&given, &["dryRun"]).iter().any(|d| d == "All");
            if options.policy.is_none() && given.get("orphanDependents") == Some(&Value::Bool(true)) {
                options.policy = Some("Orphan".into());
            }
        }
        if context.options.orphan_dependents && context.options.propagation_policy.is_some() {
            return Err(both_given());
        }
        if let Some(policy) = &options.policy
            && !matches!(policy.as_str(), "Orphan" | "Background" | "Foreground")
        {
            let supported = "supported values: \"Orphan\", \"Background\", \"Foreground\"";
            let message = format!(
                "DeleteOptions is invalid: propagationPolicy: Unsupported value: {policy:?}: {supported}"
            );
            return Err(ApiError::new(422, "Invalid", message));
        }
        Ok(options)
    }
}

fn both_given() -> ApiError {
    let why = "orphanDependents and deletionPropagation cannot be both set";
    let error = FieldError::invalid("propagationPolicy", Value::Null, why);
    ApiError::invalid_options("DeleteOptions", "meta.k8s.io", &error)
}

/// What became of an object.
pub enum Deleted {
    /// It is gone.
    Gone(std::sync::Arc<Stored>),
    /// It waits for its node or its finalizers.
    Waiting(std::sync::Arc<Stored>),
    /// A dry run: it would have gone.
    Dry(Value),
    /// A dry run: it would have waited.
    DryWaiting(Value),
}

/// DELETE of a name.
pub fn delete(context: &Context<'_>, body: &[u8]) -> Result<Response<Body>> {
    let options = DeleteOptions::read(context, body)?;
    let deleted = delete_key(context, &context.key(), &options)?;
    Ok(match deleted {
        Deleted::Waiting(stored) => context.answer(StatusCode::OK, &stored, &[]),
        Deleted::DryWaiting(object) => context.answer_value(StatusCode::OK, &object, &[]),
        Deleted::Gone(stored) if context.resource.behaviour.returns_deleted() => {
            context.answer(StatusCode::OK, &stored, &[])
        }
        Deleted::Dry(object) if context.resource.behaviour.returns_deleted() => {
            context.answer_value(StatusCode::OK, &object, &[])
        }
        Deleted::Gone(stored) => answer::json(StatusCode::OK, &success(context, &stored.value())),
        Deleted::Dry(object) => answer::json(StatusCode::OK, &success(context, &object)),
    })
}

fn success(context: &Context<'_>, object: &Value) -> Value {
    let mut details = json!({
        "name": text(object, &["metadata", "name"]), "kind": context.resource.plural, "uid": text(object, &["metadata", "uid"]),
    });
    if !context.resource.gvk.group.is_empty() {
        details["group"] = context.resource.gvk.group.clone().into();
    }
    json!({ "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "details": details })
}

/// Deletes one object as the options want it.
pub fn delete_key(context: &Context<'_>, key: &Key, options: &DeleteOptions) -> Result<Deleted> {
    let resource = &context.resource;
    for _ in 0..1000 {
        let stored = context.stored(key)?;
        check_preconditions(context, &stored, options)?;
        special::check_delete(resource, &key.name)?;
        let old = stored.value();
        let mut new = old.clone();
        let gone = mark(context, &old, &mut new, options);
        if !gone && new == old {
            return Ok(Deleted::Waiting(stored));
        }
        if options.dry_run {
            return Ok(if gone { Deleted::Dry(new) } else { Deleted::DryWaiting(new) });
        }
        let draft = Draft::new(&new, &resource.selectable);
        let committed = if gone {
            resource.shelf.remove(key, stored.revision, draft).map(Deleted::Gone)
        } else {
            resource.shelf.replace(key, stored.revision, draft).map(Deleted::Waiting)
        };
        match committed {
            Ok(deleted) => {
                let previous = Some(&*stored);
                match &deleted {
                    Deleted::Gone(stored) => {
                        context.committed(previous, stored, true);
                        special::after_removal(context.server, resource, stored);
                    }
                    Deleted::Waiting(stored) => {
                        context.committed(previous, stored, false);
                        special::after_write(context.server, resource, stored);
                    }
                    Deleted::Dry(_) | Deleted::DryWaiting(_) => {}
                }
                return Ok(deleted);
            }
            Err(CommitError::Missing) => return Err(ApiError::not_found(resource.named(), &key.name)),
            Err(CommitError::Changed | CommitError::Exists) => {}
        }
    }
    Err(ApiError::stale(resource.named(), &key.name))
}

fn check_preconditions(context: &Context<'_>, stored: &Stored, options: &DeleteOptions) -> Result<()> {
    let resource = &context.resource;
    if let Some(uid) = options.uid.as_deref().filter(|uid| *uid != &*stored.uid) {
        let why = format!(
            "the UID in the precondition ({uid}) does not match the UID in record ({}). The object might have been deleted and then recreated",
            stored.uid
        );
        return Err(ApiError::conflict(resource.named_kind(), &stored.key.name, &why));
    }
    let revision = stored.revision.to_string();
    if let Some(wanted) = options.resource_version.as_deref().filter(|wanted| *wanted != revision) {
        let why = format!(
            "the ResourceVersion in the precondition ({wanted}) does not match the ResourceVersion in record ({revision}). The object might have been modified"
        );
        return Err(ApiError::conflict(resource.named_kind(), &stored.key.name, &why));
    }
    Ok(())
}

/// Writes into `new` what a deletion means for it; true when it is to go at once.
fn mark(context: &Context<'_>, old: &Value, new: &mut Value, options: &DeleteOptions) -> bool {
    let now = context.server.clock().now();
    let deleting = !text(old, &["metadata", "deletionTimestamp"]).is_empty();
    // A pod that is on its way out keeps what was asked for first.
    if !(deleting && context.resource.behaviour == Behaviour::Pod) {
        set_policy_finalizers(old, new, options);
    }
    special::hold_deletion(&context.resource, new);
    let grace = grace(context, old, options);
    let held = !list(new, &["metadata", "finalizers"]).is_empty()
        || (context.resource.behaviour == Behaviour::Namespace
            && !list(new, &["spec", "finalizers"]).is_empty());
    if grace == 0 && !held {
        if context.resource.behaviour == Behaviour::Pod {
            // The last event of a pod shows that its time was up.
            set_deletion(new, now, 0);
            if !deleting {
                bump_generation(new);
            }
        }
        return true;
    }
    let present = int(old, &["metadata", "deletionGracePeriodSeconds"]);
    if !deleting {
        if context.resource.behaviour == Behaviour::Crd {
            set(new, &["metadata", "deletionTimestamp"], format_seconds(now));
        } else {
            set_deletion(new, at_grace(now, grace), grace);
            bump_generation(new);
        }
        special::mark_deleting(context.server.clock(), &context.resource, new);
    } else if present.is_some_and(|present| grace < present) {
        // A shorter grace replaces a longer one, never the other way.
        let since = deletion_start(old).unwrap_or(now);
        set_deletion(new, at_grace(since, grace), grace);
    }
    false
}

fn set_deletion(object: &mut Value, when: Timestamp, grace: i64) {
    set(object, &["metadata", "deletionTimestamp"], format_seconds(when));
    set(object, &["metadata", "deletionGracePeriodSeconds"], grace);
}

fn at_grace(time: Timestamp, grace: i64) -> Timestamp {
    time.checked_add(SignedDuration::from_secs(grace)).unwrap_or(Timestamp::MAX)
}

/// When the deletion of an object began: its timestamp says when it ends.
fn deletion_start(object: &Value) -> Option<Timestamp> {
    let end: Timestamp = text(object, &["metadata", "deletionTimestamp"]).parse().ok()?;
    let grace = int(object, &["metadata", "deletionGracePeriodSeconds"]).unwrap_or(0);
    end.checked_sub(SignedDuration::from_secs(grace)).ok()
}

fn bump_generation(object: &mut Value) {
    if let Some(generation) = int(object, &["metadata", "generation"]).filter(|g| *g > 0) {
        set(object, &["metadata", "generation"], generation + 1);
    }
}

/// Only pods get time to end; one that no node runs, or that has ended, needs none.
fn grace(context: &Context<'_>, object: &Value, options: &DeleteOptions) -> i64 {
    if context.resource.behaviour != Behaviour::Pod {
        return 0;
    }
    let finished = matches!(text(object, &["status", "phase"]), "Succeeded" | "Failed");
    if text(object, &["spec", "nodeName"]).is_empty() || finished {
        return 0;
    }
    let own = int(object, &["spec", "terminationGracePeriodSeconds"]).unwrap_or(30);
    let grace = options.grace.unwrap_or(own);
    // Negative values mean one second: at once, but not without the node.
    if grace < 0 { 1 } else { grace }
}

/// Orphaning and foreground deletion are finalizers that the garbage collector takes away.
fn set_policy_finalizers(old: &Value, new: &mut Value, options: &DeleteOptions) {
    let before: Vec<String> =
        list(old, &["metadata", "finalizers"]).iter().filter_map(|f| f.as_str().map(str::to_owned)).collect();
    let mut after = before.clone();
    let wanted = match options.policy.as_deref() {
        Some("Orphan") => Some("orphan"),
        Some("Foreground") => Some("foregroundDeletion"),
        Some(_) => None,
        // Without a policy, what was asked for earlier stays.
        None => return,
    };
    after.retain(|f| !matches!(f.as_str(), "orphan" | "foregroundDeletion"));
    after.extend(wanted.map(str::to_owned));
    if after == before {
        return;
    }
    let metadata = as_map(new).entry("metadata").or_insert_with(|| json!({}));
    if after.is_empty() {
        as_map(metadata).remove("finalizers");
    } else {
        as_map(metadata).insert("finalizers".into(), after.into());
    }
}
