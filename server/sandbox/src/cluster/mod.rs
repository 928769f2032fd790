//! The controllers that a real cluster brings itself, so only for the sandbox: garbage collection by owners, the end of
//! namespaces, their default service accounts, the binding of claims and volumes, nodes that are not heard of any more, eviction by taints, and pods whose node is
//! gone.
//!
//! They are ordinary clients. Kinds are discovered, custom ones too, and watched by metadata only; everything happens
//! in answer to a watch event. On a cluster with a kube-controller-manager they would fight it.

mod binding;
mod collector;
mod graph;
mod item;
mod kinds;
mod lifecycle;
mod pods;
mod taints;
mod volumes;
mod writes;

use kube::Client;
use tokio_util::sync::CancellationToken;

/// Runs the cluster controllers until `stop` is cancelled. An API server that is away for a while, or not there yet,
/// is waited for.
pub async fn run(client: Client, stop: CancellationToken) {
    let collector = collector::run(client.clone(), stop.clone());
    let volumes = volumes::run(client.clone(), stop.clone());
    let nodes = lifecycle::run(client.clone(), stop.clone());
    let pods = pods::run(client, stop);
    tokio::join!(Box::pin(collector), Box::pin(volumes), Box::pin(nodes), Box::pin(pods));
}
