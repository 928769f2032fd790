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
//! | `crash: "3"` | the first container ends with this code, again and again, with back-off |
//! | `crash-once: "3"` | it ends with this code once; `"3@again"`, any text after the `@`, once more |
//! | `exit: "7"` | the code with which it ends when it is asked to |
//! | `liveness: "fail"` | its liveness probe fails: it is killed (137) and starts again, with back-off |
//! | `ready: "false"` or `"fail"` | its containers run but are not ready |
//! | `start: "slow"` or `"45s"` | it runs for so long ([`Timing::slow_start`]) before it is started and ready |
//! | `stop: "stuck"` or `"20s"` | it needs so long to end; stuck means until the grace period cuts it off (137) |
//! | `pull: "slow"` or `"30s"` | images take so long ([`Timing::slow_image_pull`]) |
//! | `pull: "fail"` or `"fail=IMAGE"` | images, or this one, cannot be had; so it is, without annotation, for images with `does-not-exist` in their name |
//! | `phase: "Failed"` or `"Succeeded"` | the pod ends for good |
//! | `players: "max=16"` | a game: players come and go, and their number stands in the annotation [`PLAYERS_ANNOTATION`] |
//!
//! `crash`, `crash-once`, `exit`, `liveness`, `ready: "fail"` and `start` mean the first container; `crash: "game=3,proxy=1"`
//! names containers. Spans are written `1500ms`, `30s` or `2m`. On a GameServer of OpenKruiseGame the same is asked for as
//! `gs-sync/sim.pilothouse.dev.crash` and so on, because such annotations are copied to its pods.
//!
//! On a node, `sim.pilothouse.dev/down: "true"` plays the machine down: no heartbeat, no status, nothing happens to its
//! pods, until the annotation is gone.
//!
//! Claims of the storage classes [`STORAGE_CLASS`] and [`ON_FIRST_USE_CLASS`], which are made at the start, get volumes.
//! What a container says is made up by [`log`].
//!
//! A simulation that is stopped and started again takes up every pod from its status, without restarting a container.
//! While nothing changes it writes nothing but leases, and, each five minutes, node status. (Players are a change.)

mod addresses;
mod affinity;
mod amount;
pub(crate) mod clock;
mod demand;
mod engine;
mod events;
mod game;
mod ids;
mod kubelet;
mod labels;
pub mod log;
mod machines;
mod node;
mod options;
mod pace;
mod pod;
mod registry;
mod schedule;
pub(crate) mod volumes;
mod write;

pub(crate) use amount::Amount;
pub use game::PLAYERS_ANNOTATION;
pub use node::{DOWN_ANNOTATION, PROVIDER_PREFIX, SIMULATED_TAINT, SIMULATION_LABEL};
pub use options::{Capacity, EVENTS_UP_TO, Options, SCHEDULER_NAME, Timing};
pub use pod::{ANNOTATION_PREFIX, SYNCED_PREFIX};
pub use volumes::{ON_FIRST_USE_CLASS, PROVISIONER, STORAGE_CLASS};

/// The annotations of pods that make trouble, without their prefix, in the order of the table above.
pub const TROUBLE: &[&str] =
    &["crash", "crash-once", "exit", "liveness", "ready", "start", "stop", "pull", "phase"];

use kube::Client;
use tokio_util::sync::CancellationToken;

/// News about claims that wait for the scheduler to look.
const NEWS_QUEUE: usize = 64;

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
/// Needs rights to list, watch, create, patch and delete nodes; to list, watch, patch and delete pods, patch `pods/status`
/// and create `pods/binding`; to create and patch leases and create the namespace `kube-node-lease`; to list, watch and
/// patch claims, to list, watch, create and delete volumes, to list, watch and create storage classes; to create and patch
/// events.
///
/// # Errors
/// [`Error::Options`] at once when the options cannot work; none later.
pub async fn run(client: Client, options: Options, stop: CancellationToken) -> Result<(), Error> {
    options.check()?;
    let clock = options.begin.map_or_else(clock::Clock::starting_now, clock::Clock::starting_at);
    let (sender, candidates) = tokio::sync::watch::channel(None);
    let (news_sender, news) = tokio::sync::mpsc::channel(NEWS_QUEUE);
    let (recorder, events) = events::recorder(options.seed);
    let engine =
        engine::Engine::new(client.clone(), options.clone(), clock.clone(), candidates, news, recorder);
    let volumes = volumes::run(client.clone(), news_sender, stop.clone());
    let events = events.run(client.clone(), stop.clone());
    let machines = machines::run(client, options, clock, sender, stop.clone());
    tokio::join!(Box::pin(engine.run(stop)), Box::pin(machines), Box::pin(volumes), Box::pin(events));
    Ok(())
}
