//! Requests of those who always get through: the people of the story and the simulated node.
use axum::body::Body;
use http::header::{CONTENT_TYPE, USER_AGENT};
use http::{Method, Request, StatusCode};
use http_body_util::BodyExt;
use serde_json::{Value, json};
use tower::Service;

use super::hub::Hub;

/// A request to the API.
#[derive(Clone, Debug)]
pub struct Call {
    method: Method,
    path: String,
    content: &'static str,
    body: Value,
}

impl Call {
    /// Creates an object in a collection: `/api/v1/namespaces/default/pods`.
    pub fn create(collection: impl Into<String>, object: Value) -> Self {
        Self { method: Method::POST, path: collection.into(), content: "application/json", body: object }
    }

    /// Changes an object by a merge patch.
    pub fn merge(path: impl Into<String>, patch: Value) -> Self {
        let content = "application/merge-patch+json";
        Self { method: Method::PATCH, path: path.into(), content, body: patch }
    }

    /// Deletes an object in the background.
    pub fn delete(path: impl Into<String>) -> Self {
        let body = json!({ "kind": "DeleteOptions", "apiVersion": "v1", "propagationPolicy": "Background" });
        Self { method: Method::DELETE, path: path.into(), content: "application/json", body }
    }

    /// Deletes this very object at once.
    pub(super) fn end(path: impl Into<String>, uid: &str) -> Self {
        let body = json!({
            "kind": "DeleteOptions", "apiVersion": "v1", "gracePeriodSeconds": 0, "preconditions": { "uid": uid },
        });
        Self { method: Method::DELETE, path: path.into(), content: "application/json", body }
    }

    /// What it is, for people.
    pub fn text(&self) -> String {
        let body = if self.method == Method::PATCH { self.body.to_string() } else { String::new() };
        format!("{} {} {body}", self.method, self.path)
    }
}

/// Carries a request out.
pub async fn carry_out(hub: &Hub, who: &str, call: &Call) -> (StatusCode, String) {
    let request = Request::builder()
        .method(call.method.clone())
        .uri(&call.path)
        .header(CONTENT_TYPE, call.content)
        .header(USER_AGENT, who)
        .body(Body::from(call.body.to_string()));
    let Ok(request) = request else { return (StatusCode::BAD_REQUEST, "no such URL".into()) };
    match hub.api.service().call(request).await {
        Ok(response) => {
            let status = response.status();
            let body = response.into_body().collect().await;
            let text = body.map(|body| String::from_utf8_lossy(&body.to_bytes()).into_owned());
            (status, text.unwrap_or_default())
        }
        Err(away) => (StatusCode::SERVICE_UNAVAILABLE, away.to_string()),
    }
}
