//! The embedded Kubernetes API with its cluster controllers, and the simulated nodes that work on any API server.
//!
//! Three parts with a border between them: [`api`] is the API server alone (storage and semantics), [`cluster`] holds
//! the controllers that a real cluster brings itself, [`nodes`] plays scheduler and kubelets as an ordinary client of
//! *any* API server; [`sim`] plays controllers against the API while things go wrong. It is for laptops, tests and demonstrations, never for production.
#![deny(missing_docs)]

pub mod api;
pub mod cluster;
mod logs;
pub mod nodes;
pub mod sim;

pub use logs::SimulatedLogs;

use tokio_util::sync::CancellationToken;

/// Brings an embedded API to life until `stop`: starts the controllers that a real cluster brings itself, and the
/// simulated nodes. Call it within a runtime. An end of the nodes before `stop` is logged.
pub fn animate(client: &kube::Client, nodes: nodes::Options, stop: &CancellationToken) {
    tokio::spawn(cluster::run(client.clone(), stop.clone()));
    let (client, stop) = (client.clone(), stop.clone());
    tokio::spawn(async move {
        if let Err(error) = nodes::run(client, nodes, stop).await {
            tracing::error!(%error, "the simulated nodes ended");
        }
    });
}
