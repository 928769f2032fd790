//! The scale subresource: one small object for every kind that has a number of replicas.
use axum::body::Body;
use http::{Response, StatusCode};
use serde_json::{Value, json};

use super::context::Context;
use super::patch::Change;
use super::update::{self, Outcome};
use crate::api::error::{ApiError, FieldError, Named, Result};
use crate::api::http::negotiate::{self, PatchType};
use crate::api::kinds::ScalePaths;
use crate::api::value::{at, int, remove, set, text};

/// GET, PUT and PATCH of a scale.
pub fn handle(context: &Context<'_>, body: &[u8]) -> Result<Response<Body>> {
    let paths = paths(context);
    if context.verb == "get" {
        let stored = context.stored(&context.key())?;
        return Ok(context.answer_value(StatusCode::OK, &scale(&paths, &context.show(&stored)), &[]));
    }
    let change = if context.verb == "patch" {
        match negotiate::patch_type(context.headers)? {
            // One field: applying it is setting it.
            PatchType::Apply => Some(Change::Merge(negotiate::yaml(body)?)),
            PatchType::Strategic => Some(Change::read(PatchType::Merge, body)?),
            kind => Some(Change::read(kind, body)?),
        }
    } else {
        None
    };
    let put = if change.is_none() { Some(negotiate::object(context.headers, body)?) } else { None };
    let outcome = update::change(context, &context.key(), false, |old| {
        let present = scale(&paths, old);
        let wanted = match (&change, &put) {
            (Some(change), _) => change.apply(context, &present)?,
            (None, Some(put)) => put.clone(),
            (None, None) => present,
        };
        apply(context, &paths, old, &wanted)
    })?;
    let object = match outcome {
        Outcome::Stored(stored) | Outcome::Removed(stored) => context.show(&stored),
        Outcome::Dry(object) => object,
    };
    Ok(context.answer_value(StatusCode::OK, &scale(&paths, &object), &[]))
}

fn paths(context: &Context<'_>) -> ScalePaths {
    let own = |path: &[&str]| path.iter().map(|key| (*key).to_owned()).collect();
    context.resource.custom.as_ref().and_then(|custom| custom.scale.clone()).unwrap_or_else(|| ScalePaths {
        spec: own(&["spec", "replicas"]),
        status: own(&["status", "replicas"]),
        selector: None,
    })
}

fn keys(path: &[String]) -> Vec<&str> {
    path.iter().map(String::as_str).collect()
}

fn scale(paths: &ScalePaths, object: &Value) -> Value {
    let mut metadata = json!({});
    for key in ["name", "namespace", "uid", "resourceVersion", "creationTimestamp"] {
        if let Some(value) = at(object, &["metadata", key]) {
            metadata[key] = value.clone();
        }
    }
    let replicas = int(object, &keys(&paths.spec)).unwrap_or(0);
    let mut scale = json!({
        "kind": "Scale", "apiVersion": "autoscaling/v1", "metadata": metadata,
        "spec": { "replicas": replicas }, "status": { "replicas": int(object, &keys(&paths.status)).unwrap_or(0) },
    });
    if replicas == 0 {
        // The wanted number alone is left out where it is 0.
        scale["spec"] = json!({});
    }
    let selector = match &paths.selector {
        Some(path) => text(object, &keys(path)).to_owned(),
        None => labels(&object["spec"]["selector"]),
    };
    if !selector.is_empty() {
        set(&mut scale, &["status", "selector"], selector);
    }
    scale
}

fn labels(selector: &Value) -> String {
    let labels = selector.get("matchLabels").unwrap_or(selector).as_object();
    let pairs: Vec<String> = labels
        .into_iter()
        .flatten()
        .filter_map(|(key, value)| value.as_str().map(|value| format!("{key}={value}")))
        .collect();
    pairs.join(",")
}

/// The object with the number that a scale wants.
fn apply(context: &Context<'_>, paths: &ScalePaths, old: &Value, wanted: &Value) -> Result<Value> {
    let what = Named { group: "autoscaling", name: "Scale" };
    let refuse = |error: FieldError| ApiError::invalid(what, context.name(), &[error]);
    let replicas = match at(wanted, &["spec", "replicas"]) {
        None | Some(Value::Null) => 0,
        Some(value) => value.as_i64().filter(|n| i32::try_from(*n).is_ok()).ok_or_else(|| {
            ApiError::bad_request(format!(
                "Scale in version \"v1\" cannot be handled as a Scale: spec.replicas: {value}"
            ))
        })?,
    };
    if replicas < 0 {
        let detail = "must be greater than or equal to 0";
        return Err(refuse(FieldError::invalid("spec.replicas", replicas, detail)));
    }
    let name = text(wanted, &["metadata", "name"]);
    if !name.is_empty() && name != context.name() {
        return Err(refuse(FieldError::invalid("metadata.name", name, "field is immutable")));
    }
    let mut new = old.clone();
    set(&mut new, &keys(&paths.spec), replicas);
    // uid and resourceVersion of the scale are conditions on the object.
    for key in ["uid", "resourceVersion"] {
        match at(wanted, &["metadata", key]) {
            Some(value) => set(&mut new, &["metadata", key], value.clone()),
            None => drop(remove(&mut new, &["metadata", key])),
        }
    }
    Ok(new)
}
