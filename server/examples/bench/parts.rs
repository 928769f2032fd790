//! The benchmarks: first window, change to event, batch against a plain loop, writes at rest, size of the wasm.

use crate::{
    figure::{Figure, percentile},
    world::World,
};
use anyhow::{Context, Result};
use crds::kruise::GameServer;
use futures::{StreamExt, stream};
use kube::{
    Api,
    api::{ListParams, Patch, PatchParams},
};
use serde_json::json;
use std::{
    collections::HashMap,
    time::{Duration, Instant},
};
use wire::{
    BatchRequest, BatchTarget, BatchView, Change, LiveMessage, Preview, PreviewRequest, ServersQuery,
    ServersWindow, View,
    batch::{Phase, Policy},
};

fn millis(since: Instant) -> f64 {
    since.elapsed().as_secs_f64() * 1000.0
}

/// The first window of 5,000 servers: time in the server, bytes on the wire.
pub async fn window() -> Result<Vec<Figure>> {
    let world = World::with_servers(5_000).await?;
    let path = "gameservers?limit=200&sort=name";
    let mut cold = Vec::new();
    for number in 0..20 {
        // Another filter each time, so that nothing is answered from an earlier evaluation.
        let began = Instant::now();
        let _: ServersWindow = world.http.get(&format!("{path}&q=restarts<{}", 1000 + number)).await?;
        cold.push(millis(began));
    }
    let bytes = world.http.raw(path).await?.len();
    let began = Instant::now();
    let client = world.sandbox.client();
    let listed = Api::<GameServer>::all(client).list(&ListParams::default()).await?.items.len();
    let baseline = millis(began);
    anyhow::ensure!(listed == 5_000, "{listed} servers listed");
    world.stop().await;
    Ok(vec![
        Figure::below(
            "window: 200 rows of 5,000 filtered (baseline: list all)",
            percentile(&mut cold, 99.0),
            "ms p99",
            50.0,
            Some(baseline),
        ),
        Figure::below("window: 200 rows of 5,000, compressed", bytes as f64 / 1000.0, "kB", 60.0, None),
    ])
}

/// 200 changes a second for 10 s: from the write's answer to the stream's event that shows it.
pub async fn stream() -> Result<Vec<Figure>> {
    const RATE: u32 = 200;
    const SECONDS: u32 = 10;
    let world = World::with_servers(1_000).await?;
    let view = View::Servers(ServersQuery { limit: 1_000, ..ServersQuery::default() });
    let mut live = world.http.live(&view).await?;
    let servers: Api<GameServer> = Api::default_namespaced(world.sandbox.client());
    let names: Vec<String> = servers
        .list(&ListParams::default())
        .await?
        .items
        .into_iter()
        .filter_map(|s| s.metadata.name)
        .collect();
    let (sent, mut sends) = tokio::sync::mpsc::unbounded_channel();
    let writer = tokio::spawn(async move {
        let mut tick = tokio::time::interval(Duration::from_secs(1) / RATE);
        for number in 0..RATE * SECONDS {
            tick.tick().await;
            let name = names[number as usize % names.len()].clone();
            let (servers, sent) = (servers.clone(), sent.clone());
            tokio::spawn(async move {
                let ops = format!("b{number}");
                let patch = Patch::Merge(json!({ "spec": { "opsState": ops } }));
                if servers.patch(&name, &PatchParams::default(), &patch).await.is_ok() {
                    let _ = sent.send((ops, Instant::now()));
                }
            });
        }
    });
    let mut seen: HashMap<String, Instant> = HashMap::new();
    let deadline = Instant::now() + Duration::from_secs(u64::from(SECONDS) + 5);
    while Instant::now() < deadline && seen.len() < (RATE * SECONDS) as usize {
        let Ok(Some(message)) = tokio::time::timeout(Duration::from_millis(500), live.recv()).await else {
            continue;
        };
        if let LiveMessage::ServersDelta(delta) = message {
            let now = Instant::now();
            for row in delta.rows {
                seen.entry(row.ops).or_insert(now);
            }
        }
    }
    writer.await?;
    let mut lags = Vec::new();
    let mut missing = 0;
    while let Ok((ops, at)) = sends.try_recv() {
        match seen.get(&ops) {
            Some(event) => lags.push(event.saturating_duration_since(at).as_secs_f64() * 1000.0),
            None => missing += 1,
        }
    }
    anyhow::ensure!(missing == 0, "{missing} changes were never shown");
    world.stop().await;
    let p50 = percentile(&mut lags, 50.0);
    Ok(vec![
        Figure::below(
            "stream: change to event at 200 changes/s",
            percentile(&mut lags, 99.0),
            "ms p99",
            300.0,
            None,
        ),
        Figure::below("stream: change to event at 200 changes/s", p50, "ms p50", 300.0, None),
    ])
}

/// 500 opsState edits as a batch, from the request to Done, against a loop of PATCH calls with 16 workers.
pub async fn batch() -> Result<Vec<Figure>> {
    const EDITS: usize = 500;
    let world = World::with_servers(EDITS as u32).await?;
    let servers: Api<GameServer> = Api::default_namespaced(world.sandbox.client());
    let names: Vec<String> = servers
        .list(&ListParams::default())
        .await?
        .items
        .into_iter()
        .filter_map(|s| s.metadata.name)
        .collect();
    let (mut loops, mut batches) = (Vec::new(), Vec::new());
    for round in 0..5 {
        let ops = format!("loop{round}");
        let began = Instant::now();
        stream::iter(&names)
            .for_each_concurrent(16, |name| {
                let (servers, ops) = (servers.clone(), ops.clone());
                async move {
                    let patch = Patch::Merge(json!({ "spec": { "opsState": ops } }));
                    if let Err(error) = servers.patch(name, &PatchParams::default(), &patch).await {
                        eprintln!("a PATCH of the baseline failed: {error}");
                    }
                }
            })
            .await;
        loops.push(EDITS as f64 / began.elapsed().as_secs_f64());
        settle(&world, &ops, EDITS).await?;

        let ops = format!("batch{round}");
        let change = Change { ops_state: Some(ops.clone()), ..Change::default() };
        let target = BatchTarget::Query("state:Ready".into());
        let preview = PreviewRequest { target, namespace: String::new(), change, policy: Policy::default() };
        let shown: Preview = world.http.post("batches/preview", &preview).await?;
        let request = BatchRequest {
            preview,
            token: Some(shown.token),
            idempotency_key: format!("bench-batch-{round}"),
        };
        let mut live = world.http.live(&View::Batch { name: format!("batch-bench-batch-{round}") }).await?;
        let began = Instant::now();
        let _: BatchView = world.http.post("batches", &request).await?;
        loop {
            match live.recv().await.context("the stream of the batch ended")? {
                LiveMessage::Batch(Some(batch)) if batch.phase == Phase::Done => break,
                LiveMessage::Batch(Some(batch)) if batch.phase == Phase::Failed => {
                    anyhow::bail!("the batch failed: {:?}", batch.message)
                }
                _ => {}
            }
        }
        batches.push(EDITS as f64 / began.elapsed().as_secs_f64());
        settle(&world, &ops, EDITS).await?;
    }
    world.stop().await;
    let (median_loop, median_batch) = (percentile(&mut loops, 50.0), percentile(&mut batches, 50.0));
    let share = median_batch / median_loop * 100.0;
    Ok(vec![Figure::at_least(
        "batch: 500 edits, share of a plain PATCH loop's rate",
        share,
        "%",
        70.0,
        Some(100.0),
    )])
}

/// Waits until every pod carries the new opsState, so that rounds do not disturb each other.
async fn settle(world: &World, ops: &str, count: usize) -> Result<()> {
    let pods: Api<k8s_openapi::api::core::v1::Pod> = Api::default_namespaced(world.sandbox.client());
    let labels = ListParams::default().labels(&format!("game.kruise.io/gs-opsState={ops}"));
    for _ in 0..600 {
        if pods.list(&labels).await?.items.len() >= count {
            return Ok(());
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    anyhow::bail!("the pods did not follow to {ops}")
}

/// Commits in 60 s in which nobody does anything, leases and node heartbeats aside.
pub async fn steady() -> Result<Vec<Figure>> {
    let world = World::with_servers(500).await?;
    tokio::time::sleep(Duration::from_secs(5)).await;
    let before = world.sandbox.writes();
    tokio::time::sleep(Duration::from_secs(60)).await;
    let writes = world.sandbox.writes().since(&before).commits_except(&["leases", "nodes/status"]);
    world.stop().await;
    Ok(vec![Figure::exactly("steady: writes in 60 s, 500 servers", writes as f64, "writes", 0.0)])
}

/// Size of the wasm module of the last release build.
pub fn wasm() -> Result<Vec<Figure>> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../target/site/pkg/pilothouse.wasm.br");
    let bytes =
        std::fs::metadata(path).with_context(|| format!("{path} is not there: ./dev build makes it"))?.len();
    Ok(vec![Figure::below("wasm: brotli", bytes as f64 / 1000.0, "kB", 400.0, None)])
}
