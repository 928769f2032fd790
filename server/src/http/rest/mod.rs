//! The REST API under `api/v1`. Handlers are thin: parameters, the caller, one call, an answer.

mod batches;
mod filter;
mod servers;
mod sets;

use crate::http::{AppState, errors::Failure};
use axum::{
    Router,
    routing::{get, post},
};
use wire::key::Family;

/// All routes but the stream.
pub fn router() -> Router<AppState> {
    Router::new()
        .route("/gameservers", get(servers::list))
        .route("/gameservers/keys", get(servers::keys))
        .route("/gameservers/{family}/{namespace}/{name}", get(servers::one))
        .route("/gameservers/{family}/{namespace}/{name}/yaml", get(servers::yaml))
        .route("/gameserversets", get(sets::list))
        .route("/gameserversets/{family}/{namespace}/{name}", get(sets::one))
        .route("/gameserversets/{family}/{namespace}/{name}/yaml", get(sets::yaml))
        .route(
            "/gameserversets/{family}/{namespace}/{name}/scale",
            get(sets::scale_preview).post(sets::scale),
        )
        .route("/filter/values", get(filter::values))
        .route("/batches", get(batches::list).post(batches::create))
        .route("/batches/preview", post(batches::preview))
        .route("/batches/{name}", get(batches::one))
        .fallback(unknown)
}

async fn unknown(uri: axum::http::Uri) -> Failure {
    Failure::not_found(&format!("{} in this API", uri.path()))
}

/// Reads the family of a path.
fn family(word: &str) -> Result<Family, Failure> {
    word.parse()
        .map_err(|_| Failure::bad_parameter("family", format!("`{word}` is none of kruise, minato, agones")))
}
