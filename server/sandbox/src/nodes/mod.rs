//! Simulated nodes: a scheduler and kubelets that run pods without running anything, as an ordinary client of any API
//! server, the sandbox or a real one.
//!
//! Each machine is a Node object with a lease. Pods of `schedulerName: pilothouse-simulated` (with
//! [`Options::schedule_all`]: all pods) are bound to the machines and then go through the life that a real kubelet
//! gives them: image, start, readiness and its gates, restart of a container whose image was changed, graceful end.
//!
//! Annotations on a pod make trouble, at once and for as long as they are there:
//!
//! | `sim.pilothouse.dev/…` | effect |
//! |---|---|
//! | `crash: "3"` | the first container ends with this code, again and again; `crash: "game=3,proxy=1"` names containers |
//! | `ready: "false"` | its containers run but are not ready |
//! | `pull: "slow"` | images take [`Timing::slow_image_pull`] |
//! | `pull: "fail"` | images cannot be had; so it is, without annotation, for images with `does-not-exist` in their name |
//! | `phase: "Failed"` or `"Succeeded"` | the pod ends for good |
//!
//! A simulation that is stopped and started again takes up every pod from its status, without restarting a container.
//! While nothing changes it writes nothing but leases (and, each five minutes, node status).

mod addresses;
mod amount;
mod clock;
mod engine;
mod game;
mod ids;
mod kubelet;
pub mod log;
mod machines;
mod node;
mod options;
mod pace;
mod pod;
mod registry;
mod schedule;
mod write;

pub use game::PLAYERS_ANNOTATION;
pub use node::{DOWN_ANNOTATION, PROVIDER_PREFIX, SIMULATED_TAINT, SIMULATION_LABEL};
pub use options::{Capacity, Options, SCHEDULER_NAME, Timing};
pub use pod::ANNOTATION_PREFIX;

/// The annotations of pods that make trouble, without their prefix.
pub const TROUBLE: &[&str] = &["crash", "ready", "pull", "phase"];

use kube::Client;
use tokio_util::sync::CancellationToken;

/// Why simulated nodes cannot run.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// An option cannot work; the text says which and why.
    #[error("simulated nodes: {0}")]
    Options(String),
}

/// Runs the simulated nodes until `stop` is cancelled. An API server that is away for a while, or not there yet, is
/// waited for; the nodes themselves stay in the cluster when this ends.
///
/// Needs rights to list, watch, create, patch and delete nodes; to list, watch and delete pods, patch `pods/status`
/// and create `pods/binding`; to create and patch leases and create the namespace `kube-node-lease`.
///
/// # Errors
/// [`Error::Options`] at once when the options cannot work; none later.
pub async fn run(client: Client, options: Options, stop: CancellationToken) -> Result<(), Error> {
    options.check()?;
    let clock = clock::Clock::starting_now();
    let (sender, candidates) = tokio::sync::watch::channel(None);
    let engine = engine::Engine::new(client.clone(), options.clone(), clock.clone(), candidates);
    let machines = machines::run(client, options, clock, sender, stop.clone());
    tokio::join!(Box::pin(engine.run(stop)), Box::pin(machines));
    Ok(())
}
