//! The API server away, busy, forgetful, without our kinds, or refusing: what is known stays on the page with the time since when it is
//! old, what stands in the way is said, nothing is lost, and everything goes on by itself.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod world;

use k8s_openapi::api::core::v1::{Namespace, Pod};
use kube::{
    Api, ResourceExt,
    api::{DeleteParams, ListParams},
};
use pilothouse::{auth, cli::ClusterArgs};
use serde_json::json;
use std::{collections::BTreeMap, net::Ipv4Addr, time::Duration};
use wire::{LiveMessage, View};
use world::{World, until};

/// uid by name of all pods.
async fn uids(world: &World) -> BTreeMap<String, String> {
    let pods: Api<Pod> = Api::all(world.client.clone());
    let pods = pods.list(&ListParams::default()).await.unwrap();
    pods.iter().map(|pod| (pod.name_any(), pod.uid().unwrap())).collect()
}

#[tokio::test(start_paused = true)]
async fn away_for_a_minute() {
    let world = World::new().await;
    let app = world.pilothouse(&[]);
    world.set("default", "arena", 4).await;
    app.finds("state:Ready", 4).await;
    let before = uids(&world).await;
    let last_seen = jiff::Timestamp::now().as_second();

    world.api.faults().away_for(Duration::from_secs(60));
    until("the trouble is said", async || app.trouble().await == "api-away").await;
    let totals = app.totals().await;
    assert!(totals.stale_since.is_some_and(|since| since >= last_seen), "{totals:?}");
    assert_eq!(app.matched("state:Ready").await, 4, "what is known stays");
    let (status, page) = app.page("/servers").await;
    assert!(status == 200 && page.contains("The API server does not answer"), "{page}");
    let (status, why) = app.page("/readyz").await;
    assert!(status == 503 && why.contains("Stale since"), "{why}");
    let (status, refusal) =
        app.post("gameserversets/kruise/default/arena/scale", json!({ "replicas": 2 })).await;
    assert_eq!((status, refusal["reason"]["code"].as_str()), (502, Some("kubernetes-away")), "{refusal}");

    until("it recovers by itself", async || app.trouble().await.is_empty()).await;
    assert_eq!(app.totals().await.stale_since, None);
    until("it is ready again", async || app.page("/readyz").await.0 == 200).await;
    assert_eq!(uids(&world).await, before, "no server was touched");
    let (status, _) = app.post("gameserversets/kruise/default/arena/scale", json!({ "replicas": 5 })).await;
    assert_eq!(status, 204);
    app.finds("state:Ready", 5).await;
}

#[tokio::test(start_paused = true)]
async fn too_busy_to_answer() {
    let world = World::new().await;
    let app = world.pilothouse(&[]);
    world.set("default", "arena", 2).await;
    app.finds("state:Ready", 2).await;
    world.api.faults().throttle_for(Duration::from_secs(30), Duration::from_secs(2));
    world.api.faults().drop_watches();
    let scale = "gameserversets/kruise/default/arena/scale";
    let (status, refusal) = app.post(scale, json!({ "replicas": 3 })).await;
    assert_eq!((status, refusal["reason"]["code"].as_str()), (429, Some("kubernetes-busy")), "{refusal}");
    until("it is asked again", async || app.post(scale, json!({ "replicas": 3 })).await.0 == 204).await;
    app.finds("state:Ready", 3).await;
    until("no trouble is left", async || app.trouble().await.is_empty()).await;
}

#[tokio::test(start_paused = true)]
async fn a_watch_that_ends_with_410() {
    let world = World::new().await;
    let app = world.pilothouse(&["--kruise", "off"]);
    for number in 0..3 {
        world::apply(&world.client, &game_server(number)).await.unwrap();
    }
    app.finds("", 3).await;
    // What happens while nobody watches is found by the list that follows.
    world.api.faults().delay_watches(Duration::from_secs(3600));
    let servers: Api<kube::api::DynamicObject> =
        Api::namespaced_with(world.client.clone(), "default", &world::kind_of(&game_server(0)));
    servers.delete("g-1", &DeleteParams::default()).await.unwrap();
    world::apply(&world.client, &game_server(7)).await.unwrap();
    world.api.compact();
    world.api.faults().delay_watches(Duration::ZERO);
    world.api.faults().expire_watches();
    until("the new list", async || {
        let (_, window) = app.get("gameservers?limit=10").await;
        let mut ids: Vec<&str> =
            window["rows"].as_array().unwrap().iter().map(|row| row["key"].as_str().unwrap()).collect();
        ids.sort_unstable();
        ids == ["kruise/default/g-0", "kruise/default/g-2", "kruise/default/g-7"]
    })
    .await;
    until("in sync", async || app.page("/readyz").await.0 == 200).await;
}

fn game_server(number: u32) -> serde_json::Value {
    json!({
        "apiVersion": "game.kruise.io/v1alpha1", "kind": "GameServer",
        "metadata": { "name": format!("g-{number}"), "namespace": "default" }, "spec": {},
    })
}

#[tokio::test(start_paused = true)]
async fn crds_that_are_not_installed() {
    let world = World::without_crds();
    let app = world.pilothouse(&[]);
    until("it is said", async || app.trouble().await == "crds-missing").await;
    let command = "pilothouse crds | kubectl apply --server-side -f -";
    assert_eq!(app.totals().await.trouble.unwrap().command.as_deref(), Some(command));
    for path in ["/", "/servers", "/sets", "/batches"] {
        let (status, page) = app.page(path).await;
        assert!(status == 200 && page.contains("pilothouse crds | kubectl apply"), "{path}: {page}");
    }
    let batch = json!({
        "target": { "query": "" }, "change": { "opsState": "Maintaining" }, "idempotencyKey": "no-such-kind",
    });
    let (status, refusal) = app.post("batches", batch).await;
    assert_eq!((status, refusal["reason"]["code"].as_str()), (503, Some("crds-missing")), "{refusal}");

    crds::install::install(&world.client).await.unwrap();
    world.set("default", "arena", 1).await;
    app.finds("state:Ready", 1).await;
    until("nothing stands in the way", async || app.trouble().await.is_empty()).await;
}

/// Clusters that run OpenKruiseGame have its kinds and not ours.
#[tokio::test(start_paused = true)]
async fn only_the_kinds_of_batches_are_missing() {
    let world = World::without_crds();
    for crd in crds::all().into_iter().filter(|crd| crd.spec.group == "game.kruise.io") {
        let mut crd = serde_json::to_value(crd).unwrap();
        crd["apiVersion"] = json!("apiextensions.k8s.io/v1");
        crd["kind"] = json!("CustomResourceDefinition");
        world::apply(&world.client, &crd).await.unwrap();
    }
    let app = world.pilothouse(&[]);
    until("it is said", async || app.trouble().await == "crds-missing").await;
    assert_eq!(app.totals().await.trouble.unwrap().reason.args["kind"], "batchedits");
    world.set("default", "arena", 1).await;
    until("the set is shown", async || app.totals().await.sets == 1).await;
    // The command that is shown brings the namespace of batches and lease too.
    crds::install::install(&world.client).await.unwrap();
    app.finds("state:Ready", 1).await;
    until("nothing stands in the way", async || app.trouble().await.is_empty()).await;
}

/// The kinds are there, the namespace of lease and batches is not: without the lease nobody works, which would look calm.
#[tokio::test(start_paused = true)]
async fn a_lease_that_cannot_be_had() {
    let world = World::new().await;
    let app = world.pilothouse(&["--home-namespace", "tools"]);
    world.set("default", "arena", 1).await;
    until("it is said", async || app.trouble().await == "lease-refused").await;
    let told = app.totals().await.trouble.unwrap();
    assert!(told.reason.message.contains(r#"namespaces "tools" not found"#), "{told:?}");
    let (_, page) = app.page("/").await;
    assert!(page.contains("Nothing is reconciled"), "{page}");
    let namespace = json!({ "apiVersion": "v1", "kind": "Namespace", "metadata": { "name": "tools" } });
    world::apply(&world.client, &namespace).await.unwrap();
    app.finds("state:Ready", 1).await;
    until("nothing stands in the way", async || app.trouble().await.is_empty()).await;
}

/// Nothing else happens in this world: only the refusal itself can wake an open stream.
#[tokio::test(start_paused = true)]
async fn an_open_page_hears_at_once_that_the_lease_is_lost() {
    let world = World::new().await;
    let namespace = json!({ "apiVersion": "v1", "kind": "Namespace", "metadata": { "name": "tools" } });
    world::apply(&world.client, &namespace).await.unwrap();
    let app = world.pilothouse(&["--home-namespace", "tools"]);
    until("nothing stands in the way", async || app.trouble().await.is_empty()).await;
    tokio::time::sleep(Duration::from_secs(60)).await;
    let mut live = app.live(&View::Totals).await;
    let namespaces: Api<Namespace> = Api::all(world.client.clone());
    namespaces.delete("tools", &DeleteParams::default()).await.unwrap();
    loop {
        match live.next().await {
            LiveMessage::Totals(totals) if totals.trouble.is_some() => break,
            // A stream that nothing wakes looks again only after its heartbeat.
            LiveMessage::Heartbeat { .. } => panic!("it was told with a heartbeat only"),
            _ => {}
        }
    }
}

/// Real time, because it goes through a real connection.
#[tokio::test]
async fn a_token_that_is_not_accepted() {
    let world = World::new().await;
    let serving = sandbox::api::serve(&world.api, (Ipv4Addr::LOCALHOST, 0).into()).await.unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("kubeconfig");
    let wrong =
        regex::Regex::new("token: .*").unwrap().replace(&serving.kubeconfig, "token: wrong").into_owned();
    std::fs::write(&path, wrong).unwrap();
    let cluster = ClusterArgs { kubeconfig: Some(path), qps: 100, burst: 100, ..ClusterArgs::default() };
    let client = auth::connect(&cluster).await.unwrap();
    let app = world::Pilothouse::start(client, &[], &tokio_util::sync::CancellationToken::new());
    until("it is said", async || app.trouble().await == "api-refuses").await;
    let told = app.totals().await.trouble.unwrap().reason;
    assert!(told.message.contains("Unauthorized"), "{told:?}");
    let (_, page) = app.page("/").await;
    assert!(page.contains("does not let Pilothouse read"), "{page}");
    assert_eq!(app.page("/readyz").await.0, 503);
}
