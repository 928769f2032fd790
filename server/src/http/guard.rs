//! Layers that protect: headers on every answer, and the custom header that a write must carry.

use crate::http::{AppState, errors::Failure};
use axum::{
    extract::{Request, State},
    http::{HeaderName, HeaderValue, Method, StatusCode, header},
    middleware::Next,
    response::{IntoResponse, Response},
};
use wire::error::Reason;

/// The header that other sites' forms cannot send.
pub const WRITE_HEADER: HeaderName = HeaderName::from_static("x-pilothouse");

/// Policy of answers that are no pages: nothing may run or frame them.
const STRICT: &str = "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'";

/// Sets what is safe to say on every answer, errors and files included. Pages bring their own policy with a nonce.
pub async fn security_headers(State(_state): State<AppState>, request: Request, next: Next) -> Response {
    let mut response = next.run(request).await;
    let headers = response.headers_mut();
    let mut set = |name: HeaderName, value: &'static str| {
        headers.entry(name).or_insert(HeaderValue::from_static(value));
    };
    set(header::CONTENT_SECURITY_POLICY, STRICT);
    set(header::X_CONTENT_TYPE_OPTIONS, "nosniff");
    set(header::X_FRAME_OPTIONS, "DENY");
    set(header::REFERRER_POLICY, "same-origin");
    set(HeaderName::from_static("cross-origin-opener-policy"), "same-origin");
    set(HeaderName::from_static("cross-origin-resource-policy"), "same-origin");
    response
}

/// The policy of a page: own scripts with this nonce, wasm, own styles; no inline styles.
#[must_use]
pub fn page_policy(nonce: &str) -> String {
    format!(
        "default-src 'self'; script-src 'self' 'nonce-{nonce}' 'wasm-unsafe-eval'; style-src 'self'; \
         img-src 'self' data:; connect-src 'self'; object-src 'none'; base-uri 'self'; form-action 'self'; \
         frame-ancestors 'none'"
    )
}

/// Refuses a request that changes something without the custom header, or that says it comes from another site.
pub async fn writes_need_the_header(request: Request, next: Next) -> Response {
    let reads = matches!(*request.method(), Method::GET | Method::HEAD | Method::OPTIONS);
    if reads {
        return next.run(request).await;
    }
    let cross = request
        .headers()
        .get("sec-fetch-site")
        .is_some_and(|site| !matches!(site.as_bytes(), b"same-origin" | b"none"));
    if cross || !request.headers().contains_key(&WRITE_HEADER) {
        return Failure::new(
            StatusCode::FORBIDDEN,
            Reason::new(
                "write-header-missing",
                "a request that changes something needs the header `x-pilothouse: 1`",
            ),
        )
        .into_response();
    }
    next.run(request).await
}
