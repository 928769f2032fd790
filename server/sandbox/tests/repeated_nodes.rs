//! A simulation of nodes with a seed and paused time is the same every time, write for write.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::sync::{Arc, Mutex};
use std::time::Duration;

use jiff::Timestamp;
use k8s_openapi::api::core::v1::{PersistentVolumeClaim, Pod};
use kube::api::{Api, DeleteParams, PostParams};
use sandbox::api::{Clock, Server};
use sandbox::nodes::{EVENTS_UP_TO, ON_FIRST_USE_CLASS, Options, SCHEDULER_NAME};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

/// What was committed in two minutes: verb, kind, name, and the object as it was stored.
fn played(seed: u64) -> Vec<String> {
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_all().start_paused(true).build().unwrap();
    runtime.block_on(async {
        let begin: Timestamp = "2026-11-29T10:00:00Z".parse().unwrap();
        let clock = Clock::runtime_from(begin, tokio::time::Instant::now());
        let server =
            Server::with_options(sandbox::api::Options { clock, names_seed: Some(7), ..Default::default() });
        let commits: Arc<Mutex<Vec<String>>> = Arc::default();
        let seen = commits.clone();
        server.observe(Arc::new(move |commit| {
            let (_, name) = commit.key();
            let object = commit.after().unwrap_or(Value::Null);
            seen.lock().unwrap().push(format!("{} {} {name} {object}", commit.verb, commit.resource));
        }));
        let stop = CancellationToken::new();
        let options = Options { seed, begin: Some(begin), events_up_to: EVENTS_UP_TO, ..Options::default() };
        let cluster = tokio::spawn(sandbox::cluster::run(server.client(), stop.clone()));
        let nodes = tokio::spawn(sandbox::nodes::run(server.client(), options, stop.clone()));
        busy(&server).await;
        stop.cancel();
        nodes.await.unwrap().unwrap();
        cluster.await.unwrap();
        drop(server);
        Arc::try_unwrap(commits)
            .map_or_else(|shared| shared.lock().unwrap().clone(), |own| own.into_inner().unwrap())
    })
}

/// Twenty pods with something of everything, half of them deleted later.
async fn busy(server: &Server) {
    let pods: Api<Pod> = Api::default_namespaced(server.client());
    let claims: Api<PersistentVolumeClaim> = Api::default_namespaced(server.client());
    let claim = json!({"metadata": {"name": "data"}, "spec": {"storageClassName": ON_FIRST_USE_CLASS,
        "accessModes": ["ReadWriteMany"], "resources": {"requests": {"storage": "1Gi"}}}});
    claims.create(&PostParams::default(), &serde_json::from_value(claim).unwrap()).await.unwrap();
    let troubles = [
        json!({"sim.pilothouse.dev/crash": "3"}),
        json!({"sim.pilothouse.dev/players": "max=10"}),
        json!({"sim.pilothouse.dev/liveness": "fail"}),
        json!({"sim.pilothouse.dev/pull": "fail"}),
        json!({}),
    ];
    for index in 0..20 {
        let volumes = json!([{"name": "data", "persistentVolumeClaim": {"claimName": "data"}}]);
        let pod = json!({
            "metadata": {"name": format!("pod-{index}"), "annotations": troubles[index % troubles.len()]},
            "spec": {"schedulerName": SCHEDULER_NAME, "containers": [{"name": "game", "image": format!("game:{}", index % 3)}],
                "volumes": if index % 4 == 0 { volumes } else { json!([]) }},
        });
        pods.create(&PostParams::default(), &serde_json::from_value(pod).unwrap()).await.unwrap();
    }
    tokio::time::sleep(Duration::from_secs(60)).await;
    for index in 0..10 {
        pods.delete(&format!("pod-{index}"), &DeleteParams::default()).await.unwrap();
    }
    tokio::time::sleep(Duration::from_secs(60)).await;
}

#[test]
fn the_same_seed_writes_the_same_things_in_the_same_order() {
    let first = played(1);
    assert!(first.len() > 200, "two busy minutes: {} commits", first.len());
    let second = played(1);
    if let Some(at) = (0..first.len()).find(|at| first.get(*at) != second.get(*at)) {
        panic!("commit {at} differs:\n{}\n{:?}", first[at], second.get(at));
    }
    assert_eq!(first.len(), second.len());
    assert_ne!(first, played(2), "another seed plays otherwise");
}
