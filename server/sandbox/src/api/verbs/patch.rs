//! PATCH in its four forms.
use axum::body::Body;
use http::{Response, StatusCode};
use serde_json::Value;

use super::context::Context;
use super::{create, update};
use crate::api::apply;
use crate::api::error::{ApiError, FieldError, Result};
use crate::api::http::negotiate::{self, PatchType};
use crate::api::patch;
use crate::api::schema::{ListType, Schema, Type, prune};
use crate::api::value::{list, remove, set, text, type_name};

/// PATCH of an object or of a part that is stored in it.
pub fn patch(context: &Context<'_>, body: &[u8]) -> Result<Response<Body>> {
    let kind = negotiate::patch_type(context.headers)?;
    if kind == PatchType::Apply {
        return apply(context, body);
    }
    if kind == PatchType::Strategic && context.resource.custom.is_some() {
        return Err(negotiate::no_strategic());
    }
    if context.options.force {
        let error = FieldError::forbidden("force", "may not be specified for non-apply patch");
        return Err(ApiError::invalid_options("PatchOptions", "meta.k8s.io", &error));
    }
    let change = Change::read(kind, body)?;
    let mut warnings = Vec::new();
    let outcome = update::change(context, &context.key(), false, |old| {
        let mut new = change.apply(context, old)?;
        context.check_kind(&new)?;
        warnings = context.normalise(&mut new)?;
        check_address(context, old, &new)?;
        Ok(new)
    })?;
    Ok(update::answer(context, outcome, &warnings))
}

/// A patch that was read and can be applied again and again.
pub enum Change {
    Json(patch::json::Operations),
    Merge(Value),
    Strategic(Value),
}

impl Change {
    /// Reads a patch of one of the three forms that change an object.
    pub fn read(kind: PatchType, body: &[u8]) -> Result<Self> {
        match kind {
            PatchType::Json => patch::json::read(body).map(Self::Json),
            PatchType::Merge => negotiate::json(body).and_then(map).map(Self::Merge),
            PatchType::Strategic | PatchType::Apply => {
                negotiate::json(body).and_then(map).map(Self::Strategic)
            }
        }
    }

    /// The object that the patch makes of another one.
    pub fn apply(&self, context: &Context<'_>, old: &Value) -> Result<Value> {
        match self {
            Self::Json(operations) => patch::json::apply(operations, old),
            Self::Merge(patch) => {
                let mut new = old.clone();
                json_patch::merge(&mut new, patch);
                Ok(new)
            }
            Self::Strategic(_) if context.resource.custom.is_some() => {
                let accepted =
                    "application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml";
                let message = format!(
                    "the body of the request was in an unknown format - accepted media types include: {accepted}"
                );
                Err(ApiError::new(415, "UnsupportedMediaType", message))
            }
            Self::Strategic(patch) => patch::strategic::apply(&context.resource.schema, old, patch),
        }
    }
}

fn map(value: Value) -> Result<Value> {
    if value.is_object() { Ok(value) } else { Err(ApiError::bad_request("the patch must be an object")) }
}

/// A patch must not rename or move an object.
fn check_address(context: &Context<'_>, old: &Value, new: &Value) -> Result<()> {
    for (key, word) in [("name", "name"), ("namespace", "namespace")] {
        let (was, is) = (text(old, &["metadata", key]), text(new, &["metadata", key]));
        if !is.is_empty() && was != is {
            if key == "name" {
                let message =
                    format!("the name of the object ({is}) does not match the name on the URL ({was})");
                return Err(ApiError::bad_request(message));
            }
            let error = FieldError::invalid(format!("metadata.{word}"), is, "field is immutable");
            return Err(context.resource.invalid(was, &[error]));
        }
    }
    Ok(())
}

/// What is applied must fit the schema exactly: no field that it does not know, no key twice. The real server stumbles over it (500).
fn check_typed(context: &Context<'_>, config: &Value) -> Result<()> {
    let mut rest = config.clone();
    let unknown = prune(&context.resource.schema, &mut rest);
    let schema = &context.resource.schema;
    let why = match (unknown.first(), misfit(schema, config, "").or_else(|| repeated(schema, config, ""))) {
        (Some(field), _) => format!(".{field}: field not declared in schema"),
        (None, Some(why)) => why,
        (None, None) => return Ok(()),
    };
    let gvk = &context.resource.gvk;
    let what =
        format!("{}/{}; {}, Kind={}", context.namespace(), context.name(), gvk.api_version(), gvk.kind);
    // The real server gives no reason either.
    Err(ApiError::new(500, "", format!("failed to create typed patch object ({what}): {why}")))
}

/// A value whose type is not that of its field.
fn misfit(schema: &Schema, value: &Value, path: &str) -> Option<String> {
    let schema = schema.resolve();
    let expected = match (schema.kind, value) {
        (_, Value::Null) => return None,
        (Type::Integer | Type::Number, value) if !value.is_number() => "numeric (int or float)",
        (Type::String, value) if !value.is_string() => "string",
        (Type::Boolean, value) if !value.is_boolean() => "boolean",
        (Type::Object, value) if !value.is_object() => "map",
        (Type::Array, value) if !value.is_array() => "list",
        (_, Value::Object(map)) => {
            return map
                .iter()
                .find_map(|(name, child)| misfit(schema.field(name)?, child, &format!("{path}.{name}")));
        }
        (_, Value::Array(items)) => {
            let item = schema.items.as_deref()?;
            return items
                .iter()
                .enumerate()
                .find_map(|(i, child)| misfit(item, child, &format!("{path}[{i}]")));
        }
        _ => return None,
    };
    Some(format!("{path}: expected {expected}, got {}", type_name(value)))
}

/// A list that has one key twice.
fn repeated(schema: &Schema, value: &Value, path: &str) -> Option<String> {
    let schema = schema.resolve();
    match value {
        Value::Object(map) => map.iter().find_map(|(name, child)| {
            schema.field(name).and_then(|field| repeated(field, child, &format!("{path}.{name}")))
        }),
        Value::Array(items) => {
            let mut seen = std::collections::HashSet::new();
            let twice = items.iter().any(|item| match &schema.list {
                ListType::Map(keys) => {
                    let id: Vec<String> =
                        keys.iter().map(|key| item.get(key).unwrap_or(&Value::Null).to_string()).collect();
                    !seen.insert(id)
                }
                ListType::Set => !seen.insert(vec![item.to_string()]),
                ListType::Atomic => false,
            });
            if twice {
                return Some(format!("{path}: duplicate entries for key"));
            }
            let item_schema = schema.items.as_deref()?;
            items
                .iter()
                .enumerate()
                .find_map(|(i, item)| repeated(item_schema, item, &format!("{path}[{i}]")))
        }
        _ => None,
    }
}

/// Server-side apply: creates or merges, and keeps account of who owns what.
fn apply(context: &Context<'_>, body: &[u8]) -> Result<Response<Body>> {
    if context.options.field_manager.is_none() {
        let message = "PatchOptions.meta.k8s.io \"\" is invalid: fieldManager: Required value: is required for apply patch";
        return Err(ApiError::new(422, "Invalid", message));
    }
    let mut config = negotiate::yaml(body)?;
    for (key, word) in [("apiVersion", "apiVersion"), ("kind", "kind")] {
        if text(&config, &[key]).is_empty() {
            return Err(ApiError::bad_request(format!("apply configuration must have {word}")));
        }
    }
    context.check_kind(&config)?;
    if !list(&config, &["metadata", "managedFields"]).is_empty() {
        return Err(ApiError::bad_request("metadata.managedFields must be nil"));
    }
    let name = text(&config, &["metadata", "name"]);
    if !name.is_empty() && name != context.name() {
        let message = format!(
            "the name of the object ({name}) does not match the name on the URL ({})",
            context.name()
        );
        return Err(ApiError::bad_request(message));
    }
    set(&mut config, &["metadata", "name"], context.name());
    remove(&mut config, &["metadata", "managedFields"]);
    check_typed(context, &config)?;
    let exists = context.resource.shelf.get(&context.key()).is_some();
    if !exists && context.subresource().is_none() {
        if !text(&config, &["metadata", "uid"]).is_empty() {
            let why = "uid mismatch: the provided object specified uid, and no existing object was found";
            return Err(ApiError::conflict(context.resource.named(), context.name(), why));
        }
        match create::create_object(context, config.clone(), true) {
            Err(error) if error.reason == "AlreadyExists" => {}
            answer => return answer,
        }
    }
    let mut warnings = Vec::new();
    let outcome = update::change(context, &context.key(), true, |old| {
        let time = context.server.clock().seconds();
        let version = context.resource.gvk.api_version();
        let owner = update::owner(context, &version, &time);
        let mut new = apply::merge(&context.resource, &owner, old, &config, context.options.force)?;
        warnings = context.normalise(&mut new)?;
        Ok(new)
    })?;
    let mut response = update::answer(context, outcome, &warnings);
    if response.status() == StatusCode::OK && !exists {
        *response.status_mut() = StatusCode::CREATED;
    }
    Ok(response)
}
