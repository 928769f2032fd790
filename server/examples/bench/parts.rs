//! First window, batch against a plain loop, writes at rest, size of the wasm.

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
    collections::{BTreeMap, BTreeSet},
    path::Path,
    time::{Duration, Instant},
};
use wire::{
    BatchRequest, BatchTarget, BatchView, Change, LiveMessage, Preview, PreviewRequest, ServersWindow, View,
    batch::{Phase, Policy},
};

fn millis(since: Instant) -> f64 {
    since.elapsed().as_secs_f64() * 1000.0
}

/// The first window of 5,000 servers: time in the server, bytes on the wire.
pub async fn window() -> Result<Vec<Figure>> {
    let world = World::with_servers(5_000).await?;
    // A pod is Ready before its GameServer object stands; what is listed below must be whole.
    let servers: Api<GameServer> = Api::all(world.sandbox.client());
    let whole = async || anyhow::Ok(servers.list(&ListParams::default()).await?.items.len() == 5_000);
    while !whole().await? {
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
    at_rest(&world).await;
    let path = "gameservers?limit=200&sort=name";
    let mut cold = Vec::new();
    for number in 0..20 {
        // Another filter each time, so that nothing is answered from an earlier evaluation.
        let began = Instant::now();
        let _: ServersWindow = world.http.get(&format!("{path}&q=restarts%3C{}", 1000 + number)).await?;
        cold.push(millis(began));
    }
    let bytes = world.http.raw(path).await?.len() as f64 / 1000.0;
    let plain = world.http.plain(path).await?.len() as f64 / 1000.0;
    let began = Instant::now();
    let listed = servers.list(&ListParams::default()).await?.items.len();
    let baseline = millis(began);
    anyhow::ensure!(listed == 5_000, "{listed} servers listed");
    world.stop().await;
    Ok(vec![
        Figure::below(
            "window: 200 rows of 5,000, filtered and sorted (list all from the API)",
            percentile(&mut cold, 99.0),
            "ms p99",
            50.0,
            Some(baseline),
        ),
        Figure::below(
            "window: 200 rows of 5,000, compressed (not compressed)",
            bytes,
            "kB",
            60.0,
            Some(plain),
        ),
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
    eprintln!("bench: batch: {median_batch:.0} edits/s, the loop {median_loop:.0} PATCH/s");
    Ok(vec![Figure::at_least(
        "batch: 500 edits until Done, share of a PATCH loop's rate (16 workers)",
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

/// Writes that go on when nothing happens.
const ASIDE: [&str; 2] = ["leases.coordination.k8s.io", "nodes/status"];

/// Waits until nothing is written any more. The events of the start go out slowly, so that they do not crowd out other writes;
/// where that never ends, the figure says so.
async fn at_rest(world: &World) {
    for _ in 0..60 {
        let before = world.sandbox.writes();
        tokio::time::sleep(Duration::from_secs(5)).await;
        if world.sandbox.writes().since(&before).commits_except(&ASIDE) == 0 {
            break;
        }
    }
}

/// Commits in 60 s in which nobody does anything, leases and node heartbeats aside.
pub async fn steady() -> Result<Vec<Figure>> {
    let world = World::with_servers(500).await?;
    at_rest(&world).await;
    let before = world.sandbox.writes();
    tokio::time::sleep(Duration::from_secs(60)).await;
    let written = world.sandbox.writes().since(&before);
    let (writes, all) = (written.commits_except(&ASIDE), written.commits_except(&[]));
    if writes > 0 {
        eprintln!("bench: steady: {written:?}");
    }
    world.stop().await;
    let name = "steady: writes in 60 s with 500 servers (with leases and heartbeats)";
    Ok(vec![Figure::none(name, writes as f64, "writes", Some(all as f64))])
}

/// What the last release build makes a browser load as wasm when it opens a page for the first time: the main module and
/// the chunk of the page, for the page that loads most (brotli, kB). Beside it what all pages load together.
pub fn wasm() -> Result<Vec<Figure>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/site/pkg");
    let size = |file: &str| {
        let path = folder.join(format!("{file}.br"));
        let found = std::fs::metadata(&path);
        found
            .map(|found| found.len() as f64 / 1000.0)
            .with_context(|| format!("{} is not there: ./dev build makes it", path.display()))
    };
    let list = folder.join("chunks.json");
    let list = std::fs::read(&list)
        .with_context(|| format!("{} is not there: ./dev build makes it", list.display()))?;
    let chunks: BTreeMap<String, Vec<String>> = serde_json::from_slice(&list).context("chunks.json")?;
    let main = size("pilothouse.wasm")?;
    // Chunks that no address opens: they come when something on a page is used.
    let pages = chunks.iter().filter(|(name, _)| name.as_str() != "drawer");
    let mut largest = (0.0, "");
    for (name, files) in pages {
        let sum = files.iter().map(|file| size(file)).sum::<Result<f64>>()?;
        if sum > largest.0 {
            largest = (sum, name);
        }
    }
    let files: BTreeSet<&String> = chunks.values().flatten().collect();
    let all = files.into_iter().map(|file| size(file)).sum::<Result<f64>>()? + main;
    let name = format!("wasm: brotli, first load of the largest page, {} (all pages together)", largest.1);
    Ok(vec![Figure::below(&name, main + largest.0, "kB", 400.0, Some(all))])
}
