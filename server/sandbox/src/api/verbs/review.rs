//! Kinds that are answered and never stored: access and token reviews. The sandbox has one user, who may do everything.
use axum::body::Body;
use http::{Response, StatusCode};
use serde_json::{Value, json};

use super::context::Context;
use crate::api::error::{ApiError, Result};
use crate::api::value::{set, text};

/// POST of a review.
pub fn handle(context: &Context<'_>, body: &[u8]) -> Result<Response<Body>> {
    let mut review = context.read(body)?;
    context.normalise(&mut review)?;
    let status: Value = match context.resource.plural.as_str() {
        "selfsubjectaccessreviews" | "subjectaccessreviews" | "localsubjectaccessreviews" => {
            json!({ "allowed": true, "reason": "the sandbox allows everything" })
        }
        "selfsubjectrulesreviews" => json!({
            "incomplete": false,
            "resourceRules": [{ "verbs": ["*"], "apiGroups": ["*"], "resources": ["*"] }],
            "nonResourceRules": [{ "verbs": ["*"], "nonResourceURLs": ["*"] }],
        }),
        "selfsubjectreviews" => json!({ "userInfo": user() }),
        "tokenreviews" => {
            let known = !text(&review, &["spec", "token"]).is_empty();
            if known {
                json!({ "authenticated": true, "user": user() })
            } else {
                json!({ "authenticated": false })
            }
        }
        other => {
            let message = format!("the sandbox does not answer {other}");
            return Err(ApiError::new(501, "NotImplemented", message));
        }
    };
    set(&mut review, &["status"], status);
    set(&mut review, &["metadata", "creationTimestamp"], Value::Null);
    Ok(context.answer_value(StatusCode::CREATED, &review, &[]))
}

fn user() -> Value {
    json!({ "username": "sandbox-admin", "uid": "sandbox-admin", "groups": ["system:masters", "system:authenticated"] })
}
