//! The load: creates, status patches, pages of lists, watchers. One client, the same for both API servers.

use super::{objects, process::Target};
use crate::figure::percentile;
use anyhow::{Context, Result, ensure};
use futures::{AsyncBufReadExt, StreamExt, TryStreamExt, stream};
use http::Request;
use http_body_util::BodyExt;
use kube::Client;
use serde_json::Value;
use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

/// Requests under way at once.
const AT_ONCE: usize = 32;
/// How long changes are made while watchers follow.
const LAG_TIME: Duration = Duration::from_secs(10);
const SERVERS: &str = "/apis/game.kruise.io/v1alpha1/namespaces/default/gameservers";
const PODS: &str = "/api/v1/namespaces/default/pods";

/// What is done to one API server, on objects of one set.
pub struct Load {
    client: Client,
    set: String,
}

/// How far watchers were behind the writer.
pub struct Lag {
    /// Changes a second that were really made.
    pub rate: f64,
    /// Events that reached a watcher.
    pub events: usize,
    /// Milliseconds from just before the request until a watcher had the event.
    pub p50: f64,
    /// The same at the 99th percentile.
    pub p99: f64,
    /// The same at worst.
    pub most: f64,
}

impl Load {
    /// A load on an API server.
    pub fn new(target: &Target, set: &str) -> Self {
        Self { client: target.client.clone(), set: set.to_owned() }
    }

    /// Creates so many GameServers; how many a second.
    pub async fn create_servers(&self, count: usize) -> Result<f64> {
        let began = Instant::now();
        self.each(count, |number| async move {
            self.write("POST", SERVERS, &objects::server(&self.set, number)).await
        })
        .await?;
        Ok(count as f64 / began.elapsed().as_secs_f64())
    }

    /// Writes the status of so many GameServers; how many a second.
    pub async fn patch_statuses(&self, count: usize) -> Result<f64> {
        let began = Instant::now();
        self.each(count, |number| async move {
            self.write("PATCH", &self.status(number), &objects::server_status("Started")).await
        })
        .await?;
        Ok(count as f64 / began.elapsed().as_secs_f64())
    }

    /// Fills it with servers, their pods and nodes, all with a status; writes a second.
    pub async fn fill(&self, servers: usize, nodes: usize) -> Result<f64> {
        let began = Instant::now();
        self.each(nodes, |number| async move {
            self.write("POST", "/api/v1/nodes", &objects::node(number)).await
        })
        .await?;
        self.each(servers, |number| async move {
            self.write("POST", PODS, &objects::pod(&self.set, number)).await?;
            self.write("PATCH", &format!("{PODS}/{}-{number}/status", self.set), &objects::pod_status())
                .await?;
            self.write("POST", SERVERS, &objects::server(&self.set, number)).await?;
            self.write("PATCH", &self.status(number), &objects::server_status("Started")).await
        })
        .await?;
        Ok((nodes + 4 * servers) as f64 / began.elapsed().as_secs_f64())
    }

    /// Milliseconds of each page of the whole list of servers, and then of pods.
    pub async fn pages(&self, limit: usize) -> Result<Vec<f64>> {
        let mut times = Vec::new();
        for path in [SERVERS, PODS] {
            let mut token = String::new();
            loop {
                let began = Instant::now();
                let request = Request::get(format!("{path}?limit={limit}&continue={token}"))
                    .body(kube::client::Body::empty())?;
                let body = self.client.send(request).await?.into_body().collect().await?.to_bytes();
                times.push(began.elapsed().as_secs_f64() * 1000.0);
                let list: Value = serde_json::from_slice(&body)?;
                ensure!(
                    list["items"].as_array().is_some_and(|items| items.len() <= limit),
                    "{path} is no list"
                );
                token = list["metadata"]["continue"].as_str().unwrap_or_default().to_owned();
                if token.is_empty() {
                    break;
                }
            }
        }
        Ok(times)
    }

    /// Watchers follow `count` servers while their statuses are changed at a rate.
    pub async fn lag(&self, count: usize, watchers: usize, per_second: u32) -> Result<Lag> {
        let began = Instant::now();
        let list: Value =
            self.client.request(Request::get(format!("{SERVERS}?limit=1")).body(Vec::new())?).await?;
        let version =
            list["metadata"]["resourceVersion"].as_str().context("a list without version")?.to_owned();
        let mut following = Vec::new();
        for _ in 0..watchers {
            let request =
                Request::get(format!("{SERVERS}?watch=true&resourceVersion={version}")).body(Vec::new())?;
            let lines = self.client.request_stream(request).await?.lines();
            following.push(tokio::spawn(follow(Box::pin(lines), began)));
        }
        let made = self.change(count, per_second, began).await?;
        let mut lags = Vec::new();
        for watcher in following {
            // What is not there a while after the last change has missed every goal.
            lags.extend(
                tokio::time::timeout(Duration::from_secs(30), watcher)
                    .await
                    .context("a watcher did not see the last change")???,
            );
        }
        ensure!(
            lags.len() == made * watchers,
            "{} events for {made} changes and {watchers} watchers",
            lags.len()
        );
        let most = lags.iter().copied().fold(0.0, f64::max);
        Ok(Lag {
            rate: made as f64 / LAG_TIME.as_secs_f64(),
            events: lags.len(),
            p50: percentile(&mut lags, 50.0),
            p99: percentile(&mut lags, 99.0),
            most,
        })
    }

    /// Changes statuses at a rate, each with the moment in it, and one last change that says so; how many were made.
    async fn change(&self, count: usize, per_second: u32, began: Instant) -> Result<usize> {
        let start = Instant::now();
        let made = Arc::new(AtomicUsize::new(0));
        let mut pace = tokio::time::interval(Duration::from_secs(1) / per_second);
        pace.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Burst);
        let ticks = stream::unfold(pace, |mut pace| async {
            pace.tick().await;
            Some(((), pace))
        });
        ticks
            .take_while(|()| std::future::ready(start.elapsed() < LAG_TIME))
            .map(Ok)
            .try_for_each_concurrent(AT_ONCE * 4, |()| {
                let made = made.clone();
                async move {
                    let number = made.fetch_add(1, Ordering::Relaxed) % count;
                    let stamp = format!("At{}", began.elapsed().as_micros());
                    self.write("PATCH", &self.status(number), &objects::server_status(&stamp)).await
                }
            })
            .await?;
        self.write("PATCH", &self.status(0), &objects::server_status("Over")).await?;
        Ok(made.load(Ordering::Relaxed))
    }

    fn status(&self, number: usize) -> String {
        format!("{SERVERS}/{}-{number}/status", self.set)
    }

    async fn each<F: Future<Output = Result<()>>>(
        &self,
        count: usize,
        write: impl Fn(usize) -> F,
    ) -> Result<()> {
        stream::iter((0..count).map(Ok)).try_for_each_concurrent(AT_ONCE, write).await
    }

    async fn write(&self, method: &str, path: &str, body: &Value) -> Result<()> {
        let kind = if method == "PATCH" { "application/merge-patch+json" } else { "application/json" };
        let request = Request::builder()
            .method(method)
            .uri(path)
            .header("content-type", kind)
            .body(kube::client::Body::from(serde_json::to_vec(body)?))?;
        let answer = self.client.send(request).await?;
        let status = answer.status();
        let body = answer.into_body().collect().await?.to_bytes();
        ensure!(status.is_success(), "{method} {path}: {status} {}", String::from_utf8_lossy(&body));
        Ok(())
    }
}

/// Milliseconds that each event was behind, until the last change. An event is not parsed: twenty parsers beside the server on the
/// same cores would be what is measured.
async fn follow(
    mut lines: impl stream::Stream<Item = std::io::Result<String>> + Unpin,
    began: Instant,
) -> Result<Vec<f64>> {
    const MARK: &str = "\"reason\":\"At";
    let mut lags = Vec::new();
    while let Some(line) = lines.try_next().await? {
        if let Some(at) = line.find(MARK) {
            let digits: String = line[at + MARK.len()..].chars().take_while(char::is_ascii_digit).collect();
            lags.push(began.elapsed().as_secs_f64() * 1000.0 - digits.parse::<f64>()? / 1000.0);
        } else if line.contains("\"reason\":\"Over\"") {
            return Ok(lags);
        }
    }
    anyhow::bail!("a watch ended after {} events", lags.len())
}
