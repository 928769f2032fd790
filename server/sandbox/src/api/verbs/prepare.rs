//! Everything between a body that reads well and an object that may be stored: what the server fills in, keeps and refuses.
use serde_json::Value;

use super::context::Context;
use crate::api::error::{ApiError, FieldError, Result};
use crate::api::kinds::KindSchema;
use crate::api::schema::unset;
use crate::api::special;
use crate::api::validate::{cel, metadata, schema};
use crate::api::value::{as_map, at, carry, int, remove, set, text};

/// Takes out of a new object what only the server writes.
pub fn clear(object: &mut Value) -> Result<()> {
    if !matches!(text(object, &["metadata", "resourceVersion"]), "" | "0") {
        // The real server gives no reason either.
        return Err(ApiError::new(500, "", "resourceVersion should not be set on objects to be created"));
    }
    let written = [
        "deletionTimestamp",
        "deletionGracePeriodSeconds",
        "selfLink",
        "resourceVersion",
        "managedFields",
        "generation",
        "uid",
        "creationTimestamp",
    ];
    for key in written {
        remove(object, &["metadata", key]);
    }
    Ok(())
}

/// Prepares and validates a new object.
pub fn for_create(context: &Context<'_>, object: &mut Value) -> Result<()> {
    let resource = &context.resource;
    set(object, &["metadata", "uid"], context.server.draw().uid());
    set(object, &["metadata", "creationTimestamp"], context.server.clock().seconds());
    if resource.custom.is_some() || resource.behaviour.has_generation() {
        set(object, &["metadata", "generation"], 1);
    }
    if resource.has_status() && special::drops_status_on_create(resource) {
        match &resource.schema {
            KindSchema::Builtin(schema)
                if schema.properties.get("status").is_some_and(|s| s.zero.is_some()) =>
            {
                set(object, &["status"], unset(&schema.properties["status"]));
            }
            _ => drop(remove(object, &["status"])),
        }
    }
    special::prepare_create(context.server, resource, object);
    let mut errors = metadata::validate(object, resource.behaviour.name_rule());
    errors.extend(content_errors(context, object, None));
    refuse(context, object, &errors)?;
    admit(context, object, None)
}

/// Prepares and validates a new version of an object. `old` and `new` are in the version of the request.
pub fn for_update(context: &Context<'_>, old: &Value, new: &mut Value) -> Result<()> {
    let resource = &context.resource;
    // The server keeps these, whatever a client sends.
    for key in
        ["uid", "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds", "generation", "name"]
    {
        carry(old, new, &["metadata", key]);
    }
    if resource.namespaced {
        carry(old, new, &["metadata", "namespace"]);
    }
    remove(new, &["metadata", "selfLink"]);
    isolate(context, old, new);
    special::prepare_update(context.server, resource, context.subresource(), old, new);
    // A binding is no wish of anybody about the content.
    let counts = context.subresource() != Some("binding") && int(old, &["metadata", "generation"]).is_some();
    if counts && content_differs(context, old, new) {
        let generation = int(old, &["metadata", "generation"]).unwrap_or(0) + 1;
        set(new, &["metadata", "generation"], generation);
    }
    let mut errors = metadata::validate(new, resource.behaviour.name_rule());
    let kept = metadata::validate_update(new, old);
    if resource.custom.is_none() {
        // Built-in kinds check this twice, and clients see both causes.
        errors.extend(kept.clone());
    }
    errors.extend(kept);
    errors.extend(content_errors(context, new, Some(old)));
    refuse(context, new, &errors)?;
    admit(context, new, Some(old))
}

fn admit(context: &Context<'_>, object: &Value, old: Option<&Value>) -> Result<()> {
    let dry_run = context.options.dry_run;
    special::admit(context.server, &context.resource, context.subresource(), object, old, dry_run)
}

/// status is changed only through its own URL, and through it nothing else.
fn isolate(context: &Context<'_>, old: &Value, new: &mut Value) {
    let resource = &context.resource;
    match context.subresource() {
        None if resource.has_status() => carry(old, new, &["status"]),
        Some("status") if resource.custom.is_some() => {
            let (status, version) =
                (new.get("status").cloned(), at(new, &["metadata", "resourceVersion"]).cloned());
            let managed = at(new, &["metadata", "managedFields"]).cloned();
            *new = old.clone();
            for (path, value) in [
                (&["status"][..], status),
                (&["metadata", "resourceVersion"], version),
                (&["metadata", "managedFields"], managed),
            ] {
                match value {
                    Some(value) => set(new, path, value),
                    None => drop(remove(new, path)),
                }
            }
        }
        Some("status") => {
            // Built-in kinds take labels and annotations along with a status.
            let kept: Vec<String> = as_map(new).keys().cloned().collect();
            for key in kept
                .iter()
                .map(String::as_str)
                .filter(|k| !matches!(*k, "metadata" | "status" | "apiVersion" | "kind"))
            {
                carry(old, new, &[key]);
            }
            for key in old.as_object().into_iter().flat_map(|o| o.keys()).filter(|k| *k != "status") {
                if new.get(key).is_none() {
                    carry(old, new, &[key]);
                }
            }
            carry(old, new, &["metadata", "ownerReferences"]);
        }
        _ => {}
    }
}

/// Whether something other than metadata and status changed.
fn content_differs(context: &Context<'_>, old: &Value, new: &Value) -> bool {
    let without_status = context.resource.has_status();
    let content = |object: &Value| -> Vec<(String, Value)> {
        let keep = |key: &str| key != "metadata" && !(without_status && key == "status");
        let entries = object.as_object().into_iter().flatten();
        entries.filter(|(key, _)| keep(key)).map(|(key, value)| (key.clone(), value.clone())).collect()
    };
    content(old) != content(new)
}

fn content_errors(context: &Context<'_>, object: &Value, old: Option<&Value>) -> Vec<FieldError> {
    if let Some(custom) = &context.resource.custom {
        let mut errors = schema::validate(&context.resource.schema, object, old);
        if let Some(scale) = &custom.scale {
            errors.extend(schema::validate_scale(&scale.spec, object));
            errors.extend(schema::validate_scale(&scale.status, object));
        }
        if !context.resource.schema.has_rules {
            return errors;
        }
        // Rules may count on what the schema says, so they are judged only where it holds.
        if errors.iter().any(|error| error.kind.blocks_rules()) {
            let why = "some validation rules were not checked because the object was invalid; correct the existing errors to complete validation";
            errors.push(FieldError::invalid("<nil>", Value::Null, why));
            return errors;
        }
        let verdict = cel::validate(&context.resource.schema, object, old);
        context.warn(verdict.warnings);
        errors.extend(verdict.errors);
        errors
    } else {
        special::validate(&context.resource, context.subresource(), object, old)
    }
}

fn refuse(context: &Context<'_>, object: &Value, errors: &[FieldError]) -> Result<()> {
    if errors.is_empty() {
        return Ok(());
    }
    let name = match text(object, &["metadata", "name"]) {
        "" => text(object, &["metadata", "generateName"]),
        name => name,
    };
    Err(context.resource.invalid(name, errors))
}
