//! Health and metrics: `/healthz` says the process lives, `/readyz` that it has seen the cluster.

use crate::http::AppState;
use axum::{
    extract::State,
    http::{StatusCode, header},
    response::IntoResponse,
};

/// The process answers.
pub async fn healthz() -> &'static str {
    "ok\n"
}

/// Every watch cache has been filled once and none is behind; says which is not.
pub async fn readyz(State(state): State<AppState>) -> (StatusCode, String) {
    match state.reader.not_ready() {
        None => (StatusCode::OK, "ok\n".into()),
        Some(why) => (StatusCode::SERVICE_UNAVAILABLE, format!("{why}\n")),
    }
}

/// Metrics in the OpenMetrics text form.
pub async fn metrics(State(state): State<AppState>) -> impl IntoResponse {
    state.metrics.set_servers(state.reader.totals().servers);
    let content_type = "application/openmetrics-text; version=1.0.0; charset=utf-8";
    ([(header::CONTENT_TYPE, content_type)], state.metrics.encode())
}
