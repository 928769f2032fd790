//! `/sandbox/…`: trouble is ordered, seen, felt and ended; orders that cannot be right are refused.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod world;

use http::Method;
use k8s_openapi::api::core::v1::Pod;
use kube::{
    Api,
    api::{Patch, PatchParams},
};
use serde_json::{Value, json};
use std::time::Duration;
use world::{Pilothouse, World, until};

const TROUBLE: &str = "/sandbox/trouble";

async fn order(app: &Pilothouse, body: Value) -> Value {
    let (status, answer) = app.ask(Method::POST, TROUBLE, Some(body)).await;
    assert_eq!(status, 200, "{answer}");
    answer
}

async fn going(app: &Pilothouse) -> Value {
    app.ask(Method::GET, TROUBLE, None).await.1
}

#[tokio::test(start_paused = true)]
async fn the_api_server_goes_away_and_comes_back() {
    let world = World::new().await;
    let app = world.pilothouse_with_sandbox();
    world.set("default", "arena", 2).await;
    app.finds("state:Ready", 2).await;
    let seen = order(&app, json!({ "awaySeconds": 30 })).await;
    assert_eq!(seen["awaySeconds"], 30);
    let pods: Api<Pod> = Api::default_namespaced(world.client.clone());
    assert!(pods.get("arena-0").await.is_err(), "connections break");
    tokio::time::sleep(Duration::from_secs(10)).await;
    assert_eq!(going(&app).await["awaySeconds"], 20);
    assert_eq!(order(&app, json!({ "awaySeconds": 0 })).await["awaySeconds"], 0);
    assert!(pods.get("arena-0").await.is_ok(), "it is back before its time");
    world.set("default", "arena", 3).await;
    app.finds("state:Ready", 3).await;
}

#[tokio::test(start_paused = true)]
async fn a_storm_of_429_conflicts_and_late_watches() {
    let world = World::new().await;
    let app = world.pilothouse_with_sandbox();
    let seen =
        order(&app, json!({ "throttledSeconds": 5, "conflictPercent": 100, "watchDelaySeconds": 2 })).await;
    assert_eq!(
        (
            &seen["throttledSeconds"],
            &seen["conflictPercent"],
            &seen["watchDelaySeconds"],
            &seen["awaySeconds"]
        ),
        (&json!(5), &json!(100), &json!(2), &json!(0)),
        "{seen}"
    );
    let pods: Api<Pod> = Api::default_namespaced(world.client.clone());
    let code = |error: kube::Error| match error {
        kube::Error::Api(status) => status.code,
        other => panic!("{other}"),
    };
    assert_eq!(code(pods.get("none").await.unwrap_err()), 429);
    tokio::time::sleep(Duration::from_secs(6)).await;
    let patch = Patch::Merge(json!({ "metadata": { "labels": { "a": "b" } } }));
    let namespaces: Api<k8s_openapi::api::core::v1::Namespace> = Api::all(world.client.clone());
    let refused = namespaces.patch("default", &PatchParams::default(), &patch).await.unwrap_err();
    assert_eq!(code(refused), 409);
    // What is not named stays; all of it ends at once.
    let seen = order(&app, json!({ "conflictPercent": 5 })).await;
    assert_eq!((&seen["conflictPercent"], &seen["watchDelaySeconds"]), (&json!(5), &json!(2)));
    let (status, seen) = app.ask(Method::DELETE, TROUBLE, None).await;
    assert_eq!((status, &seen["conflictPercent"], &seen["watchDelaySeconds"]), (200, &json!(0), &json!(0)));
    assert!(namespaces.patch("default", &PatchParams::default(), &patch).await.is_ok());
}

#[tokio::test(start_paused = true)]
async fn the_clock_jumps_and_watches_end() {
    let world = World::new().await;
    let app = world.pilothouse_with_sandbox();
    world.set("default", "arena", 1).await;
    app.finds("state:Ready", 1).await;
    let seen = order(&app, json!({ "clockJumpSeconds": 3600, "expireWatches": true })).await;
    assert_eq!(seen["clockAheadSeconds"], 3600);
    order(&app, json!({ "dropWatches": true })).await;
    let before = jiff::Timestamp::now();
    world.set("default", "late", 1).await;
    app.finds("state:Ready", 2).await;
    let pods: Api<Pod> = Api::default_namespaced(world.client.clone());
    let created = pods.get("late-0").await.unwrap().metadata.creation_timestamp.unwrap().0;
    assert!(created.duration_since(before).as_secs() > 3000, "made an hour ahead: {created}");
    assert_eq!(order(&app, json!({ "clockJumpSeconds": -3600 })).await["clockAheadSeconds"], 0);
}

#[tokio::test(start_paused = true)]
async fn a_server_crashes_on_order_until_that_is_ended() {
    let world = World::new().await;
    let app = world.pilothouse_with_sandbox();
    world.set("default", "arena", 2).await;
    app.finds("state:Ready", 2).await;
    let path = "/sandbox/pods/default/arena-1";
    let (status, seen) = app.ask(Method::POST, path, Some(json!({ "crash": "3" }))).await;
    assert_eq!(status, 200, "{seen}");
    let pod = json!({ "namespace": "default", "name": "arena-1", "trouble": { "crash": "3" } });
    assert_eq!(seen["pods"], json!([pod]));
    app.finds("restarts%3E1", 1).await;
    assert_eq!(app.ask(Method::POST, path, Some(json!({ "crash": null }))).await.1["pods"], json!([]));
    app.finds("state:Ready", 2).await;
    // What its GameServer asks for ends there, or it would come back.
    let servers: Api<crds::kruise::GameServer> = Api::default_namespaced(world.client.clone());
    let sync = json!({ "metadata": { "annotations": { "gs-sync/sim.pilothouse.dev.ready": "false" } } });
    servers.patch("arena-1", &PatchParams::default(), &Patch::Merge(sync)).await.unwrap();
    app.finds("state:Ready", 1).await;
    assert_eq!(app.ask(Method::POST, path, Some(json!({ "ready": null }))).await.1["pods"], json!([]));
    app.finds("state:Ready", 2).await;
    tokio::time::sleep(Duration::from_secs(60)).await;
    assert_eq!(app.matched("state:Ready").await, 2, "it did not come back");
    // While the API refuses everybody else, trouble can still be ordered and ended.
    order(&app, json!({ "throttledSeconds": 30, "conflictPercent": 100 })).await;
    assert_eq!(app.ask(Method::POST, path, Some(json!({ "crash": "3" }))).await.0, 200);
    assert_eq!(app.ask(Method::DELETE, TROUBLE, None).await.1["pods"], json!([]));
    app.finds("state:Ready", 2).await;
    // Ending all of it ends that of pods too.
    app.ask(Method::POST, path, Some(json!({ "ready": "false" }))).await;
    app.finds("state:Ready", 1).await;
    assert_eq!(app.ask(Method::DELETE, TROUBLE, None).await.1["pods"], json!([]));
    app.finds("state:Ready", 2).await;
}

#[tokio::test(start_paused = true)]
async fn nodes_are_listed_and_marked() {
    let world = World::new().await;
    let app = world.pilothouse_with_sandbox();
    until("nodes", async || going(&app).await["nodes"].as_array().is_some_and(|all| all.len() == 3)).await;
    let (status, seen) =
        app.ask(Method::POST, "/sandbox/nodes/sim-node-1", Some(json!({ "down": "true" }))).await;
    assert_eq!(status, 200, "{seen}");
    assert_eq!(seen["nodes"][1]["down"], true, "{seen}");
    assert_eq!(app.ask(Method::DELETE, TROUBLE, None).await.1["nodes"][1]["down"], false);
}

#[tokio::test(start_paused = true)]
async fn orders_that_cannot_be_right() {
    let world = World::new().await;
    let app = world.pilothouse_with_sandbox();
    world.set("default", "arena", 1).await;
    app.finds("state:Ready", 1).await;
    let pod = "/sandbox/pods/default/arena-0";
    for (path, body, status, code, word) in [
        (TROUBLE, json!({ "awaySecond": 3 }), 422, "bad-body", "awaySecond"),
        (TROUBLE, json!({ "awaySeconds": -3 }), 422, "bad-body", "invalid value"),
        (TROUBLE, json!({ "awaySeconds": 3601 }), 400, "bad-parameter", "3600"),
        (TROUBLE, json!({ "conflictPercent": 101 }), 400, "bad-parameter", "100"),
        (TROUBLE, json!({ "clockJumpSeconds": i64::MIN }), 400, "bad-parameter", "either way"),
        (TROUBLE, json!("away"), 422, "bad-body", "invalid"),
        (pod, json!({ "explode": "1" }), 400, "bad-parameter", "explode"),
        (pod, json!({ "crash": 3 }), 422, "bad-body", "string"),
        ("/sandbox/pods/default/nobody", json!({ "crash": "3" }), 404, "kubernetes-not-found", "nobody"),
        ("/sandbox/nodes/nowhere", json!({ "down": "true" }), 404, "kubernetes-not-found", "nowhere"),
        ("/sandbox/nodes/sim-node-0", json!({ "crash": "1" }), 400, "bad-parameter", "down"),
    ] {
        let (got, answer) = app.ask(Method::POST, path, Some(body.clone())).await;
        assert_eq!((got, answer["reason"]["code"].as_str()), (status, Some(code)), "{path} {body}: {answer}");
        let message = answer["reason"]["message"].as_str().unwrap();
        assert!(message.contains(word), "{path} {body}: {message}");
    }
    let nothing = json!({ "pods": [], "conflictPercent": 0, "clockAheadSeconds": 0, "awaySeconds": 0 });
    let seen = going(&app).await;
    for (name, value) in nothing.as_object().unwrap() {
        assert_eq!(&seen[name], value, "{name}");
    }
}

#[tokio::test(start_paused = true)]
async fn without_a_sandbox_there_is_none_of_it() {
    let world = World::new().await;
    let app = world.pilothouse(&[]);
    for (method, path) in [(Method::GET, TROUBLE), (Method::DELETE, TROUBLE)] {
        let (status, answer) = app.ask(method, path, None).await;
        assert_eq!((status, answer["reason"]["code"].as_str()), (404, Some("not-found")), "{answer}");
    }
}
