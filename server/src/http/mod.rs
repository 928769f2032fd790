//! The HTTP side: pages, REST, live stream, health. The order of the layers stands here, in one place.
//!
//! Three branches with their own layers: pages and REST are compressed and have bounded bodies; the stream is
//! neither compressed nor timed out; health answers whatever else happens.

pub mod assets;
pub mod errors;
mod extract;
mod guard;
mod health;
mod live;
mod pages;
pub mod rest;
mod sandbox;

use crate::{auth::Clients, metrics::Metrics, reader::Reader};
use axum::{
    Router,
    extract::DefaultBodyLimit,
    middleware::{from_fn, from_fn_with_state},
    routing::get,
};
use std::sync::Arc;
use tokio_util::sync::CancellationToken;
use tower_http::compression::{
    CompressionLayer,
    predicate::{NotForContentType, Predicate, SizeAbove},
};

/// Largest body of a request: 20,000 keys fit.
const MAX_BODY: usize = 2 * 1024 * 1024;

/// What every handler can reach.
#[derive(Clone)]
pub struct AppState {
    /// Reads everything that is shown.
    pub reader: Arc<Reader>,
    /// Clients for callers.
    pub clients: Clients,
    /// What the pages need to know of the server.
    pub shell: app::ShellEnv,
    /// Where the built site is.
    pub site: assets::Site,
    /// Kubeconfig of the sandbox, when there is one.
    pub sandbox_kubeconfig: Option<Arc<str>>,
    /// The sandbox's API server, when there is one.
    pub sandbox: Option<::sandbox::api::Server>,
    /// Metrics of the process.
    pub metrics: Metrics,
    /// Ends the streams when the server stops.
    pub stop: CancellationToken,
}

/// What is compressed on the way out. Release builds bring wasm compressed; doing that again for each reader takes
/// seconds.
fn worth_compressing() -> impl Predicate {
    SizeAbove::new(512).and(NotForContentType::const_new("application/wasm"))
}

/// The whole router, under its base path.
pub fn router(state: AppState) -> Router {
    // Pages spawn tasks while they render. A second router in one process finds it done.
    let _ = any_spawner::Executor::init_tokio();
    let base = state.shell.base_path.clone();
    let compressed = Router::new()
        .nest("/api/v1", rest::router())
        .route("/pkg/{*path}", get(assets::package))
        .route("/sandbox/kubeconfig", get(pages::sandbox_kubeconfig))
        .nest("/sandbox", sandbox::router())
        .fallback(pages::page_or_file)
        .layer(DefaultBodyLimit::max(MAX_BODY))
        .layer(CompressionLayer::new().compress_when(worth_compressing()));
    let stream = Router::new().route("/api/v1/live", get(live::live));
    let inner = compressed
        .merge(stream)
        .layer(from_fn(guard::writes_need_the_header))
        .layer(from_fn_with_state(state.clone(), guard::security_headers));
    let health = Router::new()
        .route("/healthz", get(health::healthz))
        .route("/readyz", get(health::readyz))
        .route("/metrics", get(health::metrics));
    let app = if base.is_empty() {
        inner
    } else {
        // A proxy may strip the prefix or not: both work. The bare prefix leads to the page below it.
        let to = format!("{base}/");
        Router::new()
            .route(&base, get(move || async move { axum::response::Redirect::permanent(&to) }))
            .nest(&format!("{base}/"), inner.clone())
            .merge(inner)
    };
    health.merge(app).with_state(state)
}
