//! Making responses.
use axum::body::Body;
use http::header::{CACHE_CONTROL, CONTENT_TYPE, WARNING};
use http::{HeaderValue, Response, StatusCode};
use serde_json::Value;

use crate::api::error::ApiError;

/// A response with headers that every answer has.
pub fn raw(code: StatusCode, content_type: &'static str, body: impl Into<Body>) -> Response<Body> {
    let mut response = Response::new(body.into());
    *response.status_mut() = code;
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache, private"));
    response
}

/// A JSON answer.
pub fn json(code: StatusCode, value: &Value) -> Response<Body> {
    raw(code, "application/json", value.to_string())
}

/// A plain answer.
pub fn plain(code: StatusCode, text: &'static str) -> Response<Body> {
    raw(code, "text/plain; charset=utf-8", text)
}

/// A Status answer.
pub fn error(error: &ApiError) -> Response<Body> {
    let code = StatusCode::from_u16(error.code).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    json(code, &error.status())
}

/// Adds `Warning` headers, in the form that clients print.
pub fn warn(response: &mut Response<Body>, warnings: &[String]) {
    for warning in warnings {
        let text = warning.replace('\\', "\\\\").replace('"', "\\\"");
        if let Ok(value) = HeaderValue::from_str(&format!("299 - \"{text}\"")) {
            response.headers_mut().append(WARNING, value);
        }
    }
}
