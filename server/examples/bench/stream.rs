//! From a change to the event of the live stream that shows it.

use crate::{
    figure::{Figure, percentile},
    world::World,
};
use anyhow::{Context, Result};
use crds::kruise::GameServer;
use futures::StreamExt;
use kube::{
    Api,
    api::{Patch, PatchParams, WatchEvent, WatchParams},
};
use serde_json::json;
use std::{
    collections::HashMap,
    time::{Duration, Instant},
};
use tokio::sync::mpsc;
use wire::{LiveMessage, ServersQuery, View};

/// Changes a second.
const RATE: u32 = 200;
/// How many seconds long.
const SECONDS: u32 = 10;
const CHANGES: usize = (RATE * SECONDS) as usize;
/// How long the last changes are waited for.
const PATIENCE: Duration = Duration::from_secs(10);

/// When which opsState was first seen. Each change sets one of its own.
type Seen = HashMap<String, Instant>;

/// 200 changes a second for 10 s, over 1,000 servers in one view: from the write's answer to the event that shows it, and
/// as a baseline to the same change in a plain watch of the API.
pub async fn stream() -> Result<Vec<Figure>> {
    let world = World::with_servers(1_000).await?;
    let view = View::Servers(ServersQuery { limit: 1_000, ..ServersQuery::default() });
    let live = world.http.live(&view).await?;
    let servers: Api<GameServer> = Api::default_namespaced(world.sandbox.client());
    let listed = servers.list(&kube::api::ListParams::default()).await?;
    let version = listed.metadata.resource_version.context("a list without a version")?;
    let watch = servers.watch(&WatchParams::default(), &version).await?.boxed();
    let names: Vec<String> = listed.items.into_iter().filter_map(|server| server.metadata.name).collect();
    let (shown, watched, sent) = tokio::join!(shown(live), watched(watch), write(servers, names));
    world.stop().await;
    let (mut shown, mut watched) = (lags(&sent, &shown)?, lags(&sent, &watched)?);
    let mut figure = |percent: f64, unit: &'static str| {
        let (value, baseline) = (percentile(&mut shown, percent), percentile(&mut watched, percent));
        let name = "stream: change to event at 200 changes/s (to a plain watch)";
        Figure::below(name, value, unit, 300.0, Some(baseline))
    };
    Ok(vec![figure(99.0, "ms p99"), figure(50.0, "ms p50")])
}

/// Makes the changes, each in a task of its own so that a slow answer does not hold the next one up; when each was answered.
async fn write(servers: Api<GameServer>, names: Vec<String>) -> Seen {
    let (sent, mut answers) = mpsc::unbounded_channel();
    let mut tick = tokio::time::interval(Duration::from_secs(1) / RATE);
    for number in 0..CHANGES {
        tick.tick().await;
        let name = names[number % names.len()].clone();
        let (servers, sent) = (servers.clone(), sent.clone());
        tokio::spawn(async move {
            let ops = format!("b{number}");
            let patch = Patch::Merge(json!({ "spec": { "opsState": ops } }));
            match servers.patch(&name, &PatchParams::default(), &patch).await {
                Ok(_) => drop(sent.send((ops, Instant::now()))),
                Err(error) => eprintln!("bench: stream: a change was refused: {error}"),
            }
        });
    }
    drop(sent);
    let mut seen = Seen::new();
    while let Some((ops, at)) = answers.recv().await {
        seen.insert(ops, at);
    }
    seen
}

async fn shown(mut live: mpsc::Receiver<LiveMessage>) -> Seen {
    let mut seen = Seen::new();
    let end = tokio::time::Instant::now() + Duration::from_secs(SECONDS.into()) + PATIENCE;
    while seen.len() < CHANGES {
        let Ok(Some(message)) = tokio::time::timeout_at(end, live.recv()).await else { break };
        if let LiveMessage::ServersDelta(delta) = message {
            let now = Instant::now();
            delta.rows.into_iter().filter(|row| row.ops.starts_with('b')).for_each(|row| {
                seen.entry(row.ops).or_insert(now);
            });
        }
    }
    seen
}

async fn watched(
    mut watch: futures::stream::BoxStream<'static, kube::Result<WatchEvent<GameServer>>>,
) -> Seen {
    let mut seen = Seen::new();
    let end = tokio::time::Instant::now() + Duration::from_secs(SECONDS.into()) + PATIENCE;
    while seen.len() < CHANGES {
        let Ok(Some(event)) = tokio::time::timeout_at(end, watch.next()).await else { break };
        if let Ok(WatchEvent::Modified(server)) = event
            && let Some(ops) = server.spec.ops_state
            && ops.as_str().starts_with('b')
        {
            seen.entry(ops.as_str().to_owned()).or_insert_with(Instant::now);
        }
    }
    seen
}

/// Milliseconds from the answer of each write until it was seen.
fn lags(sent: &Seen, seen: &Seen) -> Result<Vec<f64>> {
    let lag = |(ops, at): (&String, &Instant)| {
        seen.get(ops).map(|event| event.saturating_duration_since(*at).as_secs_f64() * 1000.0)
    };
    let lags: Vec<f64> = sent.iter().filter_map(lag).collect();
    anyhow::ensure!(
        lags.len() == CHANGES,
        "{} of {CHANGES} changes were written, {} shown",
        sent.len(),
        lags.len()
    );
    Ok(lags)
}
