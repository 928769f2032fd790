//! `pods/log`: what simulated containers say, as kubectl and client libraries ask for it.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use futures::{AsyncBufReadExt, TryStreamExt};
use k8s_openapi::api::core::v1::Pod;
use kube::{
    Api, Client,
    api::{DeleteParams, LogParams, Patch, PatchParams, PostParams},
};
use sandbox::{
    SimulatedLogs,
    api::{Clock, Server},
};
use serde_json::{Value, json};
use std::{sync::Arc, time::Duration};
use tokio_util::sync::CancellationToken;

async fn world() -> (Server, Api<Pod>, CancellationToken) {
    let server =
        Server::with_options(sandbox::api::Options { clock: Clock::runtime(), ..Default::default() });
    let options = sandbox::nodes::Options { schedule_all: true, ..Default::default() };
    server.serve_logs(Arc::new(SimulatedLogs { seed: options.seed }));
    let stop = CancellationToken::new();
    let client: Client = server.client();
    sandbox::animate(&client, options, &stop);
    (server, Api::default_namespaced(client), stop)
}

async fn create(pods: &Api<Pod>, name: &str, containers: &[&str]) {
    let containers: Vec<Value> =
        containers.iter().map(|name| json!({ "name": name, "image": "game:1" })).collect();
    let pod = json!({ "metadata": { "name": name }, "spec": { "containers": containers, "terminationGracePeriodSeconds": 1 } });
    pods.create(&PostParams::default(), &serde_json::from_value(pod).unwrap()).await.unwrap();
}

async fn running(pods: &Api<Pod>, name: &str) {
    for _ in 0..600 {
        let pod = pods.get(name).await.unwrap();
        if pod.status.is_some_and(|status| status.phase.as_deref() == Some("Running")) {
            return;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    panic!("{name} did not start");
}

#[tokio::test(start_paused = true)]
async fn a_container_tells_what_it_said() {
    let (_server, pods, _stop) = world().await;
    create(&pods, "a", &["game"]).await;
    running(&pods, "a").await;
    tokio::time::sleep(Duration::from_secs(600)).await;
    let all = pods.logs("a", &LogParams::default()).await.unwrap();
    let lines: Vec<&str> = all.lines().collect();
    assert!(lines.len() > 5 && lines[0].contains("starting game from game:1"), "{all}");
    let tail = pods.logs("a", &LogParams { tail_lines: Some(2), ..Default::default() }).await.unwrap();
    assert_eq!(tail.lines().collect::<Vec<_>>(), lines[lines.len() - 2..]);
    let late = pods.logs("a", &LogParams { since_seconds: Some(120), ..Default::default() }).await.unwrap();
    assert!(!late.is_empty() && late.lines().count() < lines.len() && all.ends_with(&late), "{late}");
    let timed = LogParams { timestamps: true, tail_lines: Some(1), ..Default::default() };
    let timed = pods.logs("a", &timed).await.unwrap();
    let (time, words) = timed.trim_end().split_once(' ').unwrap();
    assert!(time.parse::<jiff::Timestamp>().is_ok() && lines.last() == Some(&words), "{timed}");
    let cut = pods.logs("a", &LogParams { limit_bytes: Some(10), ..Default::default() }).await.unwrap();
    assert_eq!(cut, all[..10]);
}

#[tokio::test(start_paused = true)]
async fn a_reader_follows_until_the_pod_is_gone() {
    let (_server, pods, _stop) = world().await;
    create(&pods, "a", &["game"]).await;
    running(&pods, "a").await;
    let follow = LogParams { follow: true, ..Default::default() };
    let mut lines = pods.log_stream("a", &follow).await.unwrap().lines();
    let mut seen = Vec::new();
    // The first words, and reports of some minutes.
    while seen.len() < 8 {
        seen.push(lines.try_next().await.unwrap().expect("it goes on"));
    }
    pods.delete("a", &DeleteParams::default()).await.unwrap();
    while let Some(line) = lines.try_next().await.unwrap() {
        seen.push(line);
    }
    let mut once = seen.clone();
    once.dedup();
    assert_eq!(once, seen, "each line comes once");
}

#[tokio::test(start_paused = true)]
async fn the_run_before_a_crash_can_be_read() {
    let (_server, pods, _stop) = world().await;
    create(&pods, "a", &["game"]).await;
    running(&pods, "a").await;
    let previous = LogParams { previous: true, ..Default::default() };
    let none = pods.logs("a", &previous).await.unwrap_err().to_string();
    assert!(none.contains("previous terminated container \"game\" in pod \"a\" not found"), "{none}");
    let crash = json!({ "metadata": { "annotations": { "sim.pilothouse.dev/crash": "3" } } });
    pods.patch("a", &PatchParams::default(), &Patch::Merge(crash)).await.unwrap();
    for _ in 0..600 {
        let status = pods.get("a").await.unwrap().status.unwrap();
        if status.container_statuses.unwrap()[0].restart_count > 0 {
            break;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    let told = pods.logs("a", &previous).await.unwrap();
    assert!(told.contains("ending with code 3"), "{told}");
}

#[tokio::test(start_paused = true)]
async fn what_cannot_be_told_is_refused_in_the_real_words() {
    let (server, pods, _stop) = world().await;
    create(&pods, "two", &["game", "proxy"]).await;
    running(&pods, "two").await;
    let words = async |name: &str, params: &LogParams| pods.logs(name, params).await.unwrap_err().to_string();
    let unnamed = words("two", &LogParams::default()).await;
    assert!(
        unnamed.contains("a container name must be specified for pod two, choose one of: [game proxy]"),
        "{unnamed}"
    );
    let other = LogParams { container: Some("x".into()), ..Default::default() };
    let unknown = words("two", &other).await;
    assert!(unknown.contains("container x is not valid for pod two"), "{unknown}");
    assert!(words("none", &LogParams::default()).await.contains("pods \"none\" not found"));
    // A server to which nobody gave logs says so.
    let bare = Server::new();
    let bare_pods: Api<Pod> = Api::default_namespaced(bare.client());
    create(&bare_pods, "a", &["game"]).await;
    let why = bare_pods.logs("a", &LogParams::default()).await.unwrap_err().to_string();
    assert!(why.contains("the sandbox has no pods/log"), "{why}");
    drop(server);
}
