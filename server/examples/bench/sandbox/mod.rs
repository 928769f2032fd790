//! The embedded Kubernetes API against a real kube-apiserver: the same client, the same requests, the same run.
//!
//! Both are processes of their own, spoken to over TLS on loopback. The real one is started (and ended) with the tools of this
//! repository; where it cannot be built, the figures that compare are left out and a line says so.

mod drive;
mod objects;
mod process;

use crate::figure::{Figure, percentile};
use anyhow::Result;
use drive::{Lag, Load};
use process::Target;

pub use process::{CHILD, child};

/// Objects in one round of creates and patches.
const ROUND: usize = 2_000;
/// Rounds on each side, taken in turn; the middle one counts.
const ROUNDS: usize = 3;
/// The size that has to fit on a laptop.
const SERVERS: usize = 50_000;
const NODES: usize = 1_000;
/// Watchers of the lag, and the changes a second they follow.
const WATCHERS: usize = 20;
const CHANGES: u32 = 1_000;

/// All figures of the embedded API.
pub async fn sandbox() -> Result<Vec<Figure>> {
    let mut figures = compare().await?;
    figures.extend(size().await?);
    Ok(figures)
}

/// Creates and status patches a second on both, and how far behind watchers are.
async fn compare() -> Result<Vec<Figure>> {
    let Some(real) = Target::real().await? else {
        eprintln!("bench: sandbox: there is no real control plane here (it is built with Go): not compared");
        return Ok(Vec::new());
    };
    let ours = Target::sandbox().await?;
    let (mut creates, mut patches) = ([Vec::new(), Vec::new()], [Vec::new(), Vec::new()]);
    for round in 0..ROUNDS {
        for (side, target) in [&ours, &real].into_iter().enumerate() {
            let load = Load::new(target, &format!("round-{round}"));
            creates[side].push(load.create_servers(ROUND).await?);
            patches[side].push(load.patch_statuses(ROUND).await?);
        }
    }
    let load = Load::new(&real, "round-0");
    // It ends watches that do not keep up, which is an answer too.
    match load.lag(ROUND, WATCHERS, CHANGES).await {
        Ok(lag) => describe("the real one", &lag),
        Err(error) => eprintln!("bench: sandbox: {WATCHERS} watchers on the real one: {error:#}"),
    }
    eprintln!(
        "bench: sandbox: the real one takes {:.0} MB, the embedded one {:.0} MB",
        real.resident()?,
        ours.resident()?
    );
    ours.end().await?;
    real.end().await?;
    let middle = |rates: &mut [Vec<f64>; 2]| {
        let (ours, real) = (percentile(&mut rates[0], 50.0), percentile(&mut rates[1], 50.0));
        eprintln!("bench: sandbox: {ours:.0}/s embedded, {real:.0}/s real");
        ours / real
    };
    Ok(vec![
        Figure::at_least(
            "sandbox: creates, 32 at once (real kube-apiserver)",
            middle(&mut creates),
            "times",
            3.0,
            Some(1.0),
        ),
        Figure::at_least(
            "sandbox: status patches, 32 at once (real kube-apiserver)",
            middle(&mut patches),
            "times",
            3.0,
            Some(1.0),
        ),
    ])
}

/// 50,000 servers with their pods on 1,000 nodes: memory, pages of lists, watchers.
async fn size() -> Result<Vec<Figure>> {
    let target = Target::sandbox().await?;
    let empty = target.resident()?;
    let load = Load::new(&target, "size");
    let rate = load.fill(SERVERS, NODES).await?;
    let resident = target.resident()?;
    eprintln!("bench: sandbox: {rate:.0} writes/s while it was filled");
    let mut pages = load.pages(500).await?;
    let lag = load.lag(SERVERS, WATCHERS, CHANGES).await?;
    describe("50,000 servers", &lag);
    let after = target.resident()?;
    target.end().await?;
    Ok(vec![
        Figure::below(
            "sandbox: 50,000 GameServers + 50,000 Pods + 1,000 Nodes, resident (empty)",
            resident.max(after),
            "MB",
            1_200.0,
            Some(empty),
        ),
        Figure::below(
            "sandbox: page of 500 of 50,000, read wholly (median)",
            percentile(&mut pages, 99.0),
            "ms p99",
            15.0,
            Some(percentile(&mut pages, 50.0)),
        ),
        Figure::below(
            &format!("sandbox: {WATCHERS} watchers at {:.0} changes/s behind (median)", lag.rate),
            lag.p99,
            "ms p99",
            200.0,
            Some(lag.p50),
        ),
    ])
}

fn describe(what: &str, lag: &Lag) {
    eprintln!(
        "bench: sandbox: {what}: {:.0} changes/s to {WATCHERS} watchers, {} events, behind p50 {:.1} ms, p99 {:.1} ms, at most {:.1} ms",
        lag.rate, lag.events, lag.p50, lag.p99, lag.most
    );
}
