//! Parts of objects with a URL of their own.
use axum::body::Body;
use http::{Response, StatusCode};
use serde_json::{Value, json};

use super::context::Context;
use super::delete::{DeleteOptions, delete_key};
use super::{get, log, patch, review, scale, update};
use crate::api::error::{ApiError, Result};
use crate::api::http::{answer, negotiate};
use crate::api::special;
use crate::api::value::{at, int, text};

/// A request to a subresource that its kind has.
pub fn handle(context: &Context<'_>, body: &[u8]) -> Result<Response<Body>> {
    match (context.resource.plural.as_str(), context.subresource().unwrap_or_default()) {
        (_, "scale") => scale::handle(context, body),
        (_, "status") | ("namespaces", "finalize") | ("pods", "resize" | "ephemeralcontainers") => {
            whole(context, body)
        }
        ("pods", "binding") => binding(context, body),
        ("pods", "eviction") => eviction(context, body),
        ("pods", "log") => log::log(context),
        ("serviceaccounts", "token") => token(context, body),
        (_, other) => {
            let message = format!("the sandbox has no {}/{other}", context.resource.plural);
            Err(ApiError::new(501, "NotImplemented", message))
        }
    }
}

/// Subresources that read and write the whole object; which part may change is decided where updates are prepared.
fn whole(context: &Context<'_>, body: &[u8]) -> Result<Response<Body>> {
    match context.verb {
        "get" => get::get(context),
        "update" => update::put(context, body),
        "patch" => patch::patch(context, body),
        _ => review::handle(context, body),
    }
}

fn created() -> Response<Body> {
    let status =
        json!({ "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "code": 201 });
    answer::json(StatusCode::CREATED, &status)
}

/// A scheduler puts a pod on a node.
fn binding(context: &Context<'_>, body: &[u8]) -> Result<Response<Body>> {
    let binding = negotiate::object(context.headers, body)?;
    if text(&binding, &["target", "name"]).is_empty() {
        return Err(ApiError::new(422, "Invalid", "Binding is invalid: target.name: Required value"));
    }
    let wanted = text(&binding, &["metadata", "uid"]);
    let now = context.server.clock().seconds();
    update::change(context, &context.key(), true, |pod| {
        let present = text(pod, &["metadata", "uid"]);
        if !wanted.is_empty() && wanted != present {
            let why =
                format!("Precondition failed: UID in precondition: {wanted}, UID in object meta: {present}");
            return Err(ApiError::conflict(context.resource.named(), context.name(), &why));
        }
        special::bind(pod, &binding, &now)
    })?;
    Ok(created())
}

/// An eviction is a deletion that disruption budgets may hold back.
fn eviction(context: &Context<'_>, body: &[u8]) -> Result<Response<Body>> {
    let eviction = negotiate::object(context.headers, body)?;
    let given = at(&eviction, &["deleteOptions"]).cloned().unwrap_or_else(|| json!({}));
    let stored = context.stored(&context.key())?;
    let pod = stored.value();
    let finished = matches!(text(&pod, &["status", "phase"]), "Succeeded" | "Failed" | "Pending");
    if !finished && let Some(budget) = exhausted_budget(context, &pod) {
        let message = "Cannot evict pod as it would violate the pod's disruption budget.";
        let mut error = ApiError::new(429, "TooManyRequests", message);
        let words = format!("The disruption budget {budget} does not allow another disruption");
        error.details = Some(json!({ "causes": [{ "reason": "DisruptionBudget", "message": words }] }));
        return Err(error);
    }
    let options = DeleteOptions {
        grace: int(&given, &["gracePeriodSeconds"]),
        uid: Some(text(&given, &["preconditions", "uid"]).to_owned()).filter(|t| !t.is_empty()),
        resource_version: Some(text(&given, &["preconditions", "resourceVersion"]).to_owned())
            .filter(|t| !t.is_empty()),
        dry_run: context.options.dry_run,
        ..DeleteOptions::default()
    };
    delete_key(context, &context.key(), &options)?;
    Ok(created())
}

/// The name of a budget that covers the pod and allows no disruption now.
fn exhausted_budget(context: &Context<'_>, pod: &Value) -> Option<String> {
    let kinds = context.server.registry().kinds();
    let budgets = kinds.find("policy", "v1", "poddisruptionbudgets")?;
    let query = crate::api::store::PageQuery {
        namespace: Some(context.namespace().to_owned()),
        ..Default::default()
    };
    let page = budgets.shelf.page(&query, |_| true).ok()?;
    page.items.iter().map(|stored| stored.value()).find_map(|budget| {
        let labels = at(&budget, &["spec", "selector", "matchLabels"])?.as_object()?;
        let covers = labels.iter().all(|(key, value)| at(pod, &["metadata", "labels", key]) == Some(value));
        let allowed = int(&budget, &["status", "disruptionsAllowed"]).unwrap_or(0);
        (covers && allowed <= 0).then(|| text(&budget, &["metadata", "name"]).to_owned())
    })
}

/// A token that says whose it is and that nothing checks.
fn token(context: &Context<'_>, body: &[u8]) -> Result<Response<Body>> {
    let mut request = negotiate::object(context.headers, body)?;
    context.stored(&context.key())?;
    let lifetime = int(&request, &["spec", "expirationSeconds"]).unwrap_or(3600);
    let expires = context.server.clock().now().as_second() + lifetime;
    let expires = jiff::Timestamp::from_second(expires).unwrap_or(jiff::Timestamp::MAX);
    let token = format!("sandbox.{}.{}.{}", context.namespace(), context.name(), context.server.draw().uid());
    request["status"] =
        json!({ "token": token, "expirationTimestamp": crate::api::clock::format_seconds(expires) });
    Ok(context.answer_value(StatusCode::CREATED, &request, &[]))
}
