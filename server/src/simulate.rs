//! `pilothouse simulate-nodes`: plays nodes on any API server.

use crate::{auth, cli::SimulateArgs, runtime::until_signal};
use anyhow::{Context, Result};
use tokio_util::sync::CancellationToken;

/// Runs the simulated nodes until a signal comes.
///
/// # Errors
/// When the API server cannot be reached at the start.
pub async fn run(args: &SimulateArgs) -> Result<()> {
    let client = auth::connect(&args.cluster).await?;
    let stop = CancellationToken::new();
    let ended = stop.clone();
    tokio::spawn(async move {
        until_signal().await;
        ended.cancel();
    });
    let options = sandbox::nodes::Options {
        machines: args.nodes as usize,
        schedule_all: args.schedule_all,
        events_up_to: sandbox::nodes::EVENTS_UP_TO,
        ..Default::default()
    };
    tracing::info!(nodes = args.nodes, schedule_all = args.schedule_all, "simulating {} nodes", args.nodes);
    sandbox::nodes::run(client, options, stop).await.context("the simulated nodes ended")
}
