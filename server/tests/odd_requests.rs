//! Requests that cannot be right: each is refused with a code, a sentence and, where it helps, the place.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod world;

use kube::{
    Api,
    api::{DeleteParams, DynamicObject, Patch, PatchParams},
};
use serde_json::{Value, json};
use wire::{LiveMessage, ServersQuery, View};
use world::{Pilothouse, World, kind_of, until};

async fn arena(replicas: u32) -> (World, Pilothouse) {
    let world = World::new().await;
    let app = world.pilothouse(&[]);
    world.set("default", "arena", replicas).await;
    app.finds("state:Ready", replicas.into()).await;
    (world, app)
}

#[track_caller]
fn refused(answer: &(u16, Value), status: u16, code: &str) {
    assert_eq!((answer.0, answer.1["reason"]["code"].as_str()), (status, Some(code)), "{}", answer.1);
    assert!(answer.1["reason"]["message"].as_str().is_some_and(|text| !text.is_empty()), "{}", answer.1);
    assert_eq!(answer.1["status"], status);
}

#[tokio::test(start_paused = true)]
async fn a_malformed_filter() {
    let (_world, app) = arena(1).await;
    for (q, code, from) in [
        ("nonsense:1", "filter-unknown-field", 0),
        ("state:Ready%20(", "filter-expected-term", 13),
        ("(state:Ready", "filter-unclosed-parenthesis", 0),
        ("state:Ready%20)", "filter-unexpected-parenthesis", 12),
        ("%22open", "filter-unclosed-quote", 0),
        ("id:x", "filter-bad-number", 3),
    ] {
        let answer = app.get(&format!("gameservers?q={q}")).await;
        refused(&answer, 400, code);
        assert_eq!(answer.1["span"][0], from, "{q}: {}", answer.1);
        refused(&app.get(&format!("gameservers/keys?q={q}")).await, 400, code);
        let page = app.page(&format!("/servers?q={q}")).await;
        assert_eq!(page.0, 200, "a page with a wrong filter still opens");
    }
    let batch = json!({ "target": { "query": "nonsense:1" }, "change": { "opsState": "Maintaining" } });
    refused(&app.post("batches/preview", batch).await, 400, "filter-unknown-field");
}

#[tokio::test(start_paused = true)]
async fn a_malformed_filter_on_the_stream() {
    let (_world, app) = arena(1).await;
    let query = ServersQuery { q: "state:Ready (".into(), ..ServersQuery::default() };
    let mut live = app.live(&View::Servers(query)).await;
    let told = live.comes("the refusal", |message| matches!(message, LiveMessage::Refused(_))).await;
    let LiveMessage::Refused(error) = told else { unreachable!() };
    assert_eq!(
        (error.reason.code.as_str(), error.span.map(|span| span.0)),
        ("filter-expected-term", Some(13))
    );
    live.comes("that the line works", |message| matches!(message, LiveMessage::Heartbeat { .. })).await;
}

#[tokio::test(start_paused = true)]
async fn an_unknown_sort_key() {
    let (_world, app) = arena(1).await;
    let answer = app.get("gameservers?sort=nonsense").await;
    assert_eq!(answer.0, 400, "{}", answer.1);
    assert!(answer.1["reason"]["message"].as_str().unwrap().contains("nonsense"), "{}", answer.1);
    let page = app.page("/servers?sort=nonsense").await;
    assert_eq!(page.0, 200);
}

#[tokio::test(start_paused = true)]
async fn parameters_and_bodies_that_are_none() {
    let (_world, app) = arena(1).await;
    refused(&app.get("gameservers?limit=all").await, 400, "bad-parameter");
    refused(&app.get("gameservers?offset=-1").await, 400, "bad-parameter");
    refused(&app.get("gameserversets/kruise/default/arena/scale?replicas=-4").await, 400, "bad-parameter");
    refused(&app.get("gameserversets/kruise/default/arena/scale").await, 400, "bad-parameter");
    refused(&app.get("live?view=nonsense").await, 400, "bad-parameter");
    refused(&app.post("batches/preview", json!("what")).await, 422, "bad-body");
    refused(
        &app.post("gameserversets/kruise/default/arena/scale", json!({ "replicas": "x" })).await,
        422,
        "bad-body",
    );
    let most = json!({ "replicas": 4_000_000 });
    refused(&app.post("gameserversets/kruise/default/arena/scale", most).await, 400, "too-many-replicas");
    let odd = json!({ "target": { "query": "" }, "change": { "opsState": "maintaining" } });
    refused(&app.post("batches/preview", odd).await, 400, "ops-state-misspelt");
    let nothing = json!({ "target": { "query": "" }, "change": {} });
    refused(&app.post("batches/preview", nothing).await, 400, "change-empty");
}

#[tokio::test(start_paused = true)]
async fn what_does_not_exist() {
    let (_world, app) = arena(1).await;
    refused(&app.get("gameservers/kruise/default/nobody").await, 404, "not-found");
    refused(&app.get("gameserversets/kruise/nowhere/arena").await, 404, "not-found");
    refused(&app.get("batches/nothing").await, 404, "not-found");
    refused(&app.get("gameservers/elsewhere/default/arena-0").await, 400, "bad-parameter");
    for path in ["/nowhere", "/servers/kruise/default/nobody", "/sets/x", "/batches/nothing"] {
        assert_eq!(app.page(path).await.0, 404, "{path}");
    }
}

/// A server that goes between the preview and the press of the button.
#[tokio::test(start_paused = true)]
async fn a_batch_on_a_server_that_vanished() {
    let (world, app) = arena(3).await;
    let target = json!({ "keys": ["kruise/default/arena-0", "kruise/default/arena-2"] });
    let request = json!({ "target": target, "change": { "opsState": "Maintaining" } });
    let (_, preview) = app.post("batches/preview", request.clone()).await;
    assert_eq!(preview["applies"], 2, "{preview}");
    app.post("gameserversets/kruise/default/arena/scale", json!({ "replicas": 2 })).await;
    app.finds("", 2).await;

    let mut batch = request;
    batch["idempotencyKey"] = json!("one-is-gone");
    batch["token"] = preview["token"].clone();
    refused(&app.post("batches", batch.clone()).await, 409, "preview-outdated");
    assert_eq!(app.matched("ops:Maintaining").await, 0, "nothing was done");

    // Without a token nothing was promised: the rest is done, and the gone one is named.
    batch["token"] = Value::Null;
    let (status, stored) = app.post("batches", batch).await;
    assert_eq!(status, 201, "{stored}");
    let name = stored["name"].as_str().unwrap().to_owned();
    until("the end", async || app.get(&format!("batches/{name}")).await.1["phase"] == "Done").await;
    let (_, ended) = app.get(&format!("batches/{name}")).await;
    let results: Vec<(&str, &str)> = ended["results"]
        .as_array()
        .unwrap()
        .iter()
        .map(|result| (result["key"].as_str().unwrap(), result["outcome"].as_str().unwrap()))
        .collect();
    assert_eq!(results, [("kruise/default/arena-2", "not-found"), ("kruise/default/arena-0", "changed")]);
    drop(world);
}

/// Two browsers press the button with the same name for it: one batch; another change under that name is refused.
#[tokio::test(start_paused = true)]
async fn two_browsers_with_one_batch_name() {
    let (_world, app) = arena(2).await;
    let batch = json!({
        "target": { "query": "set:arena" }, "change": { "opsState": "Maintaining" }, "idempotencyKey": "pressed-twice",
    });
    let (one, two) = tokio::join!(app.post("batches", batch.clone()), app.post("batches", batch.clone()));
    let mut statuses = [one.0, two.0];
    statuses.sort_unstable();
    assert_eq!(statuses, [200, 201], "{} {}", one.1, two.1);
    assert_eq!(one.1["name"], two.1["name"]);
    app.finds("ops:Maintaining", 2).await;
    assert_eq!(app.get("batches").await.1.as_array().unwrap().len(), 1);

    let mut other = batch;
    other["change"] = json!({ "opsState": "Allocated" });
    refused(&app.post("batches", other).await, 422, "idempotency-key-used");
    assert_eq!(app.matched("ops:Maintaining").await, 2);
}

/// What kubectl does between preview and apply counts as somebody else's.
#[tokio::test(start_paused = true)]
async fn a_batch_after_somebody_else_changed_the_field() {
    let (world, app) = arena(2).await;
    let request = json!({ "target": { "query": "set:arena" }, "change": { "opsState": "Maintaining" } });
    let (_, preview) = app.post("batches/preview", request.clone()).await;
    let kind = json!({ "apiVersion": "game.kruise.io/v1alpha1", "kind": "GameServer" });
    let servers: Api<DynamicObject> = Api::namespaced_with(world.client.clone(), "default", &kind_of(&kind));
    let patch = Patch::Merge(json!({ "spec": { "opsState": "Allocated" } }));
    servers.patch("arena-1", &PatchParams::default(), &patch).await.unwrap();
    app.finds("ops:Allocated", 1).await;
    let mut batch = request;
    batch["idempotencyKey"] = json!("somebody-was-quicker");
    batch["token"] = preview["token"].clone();
    refused(&app.post("batches", batch).await, 409, "preview-outdated");
    servers.delete("arena-1", &DeleteParams::default()).await.unwrap();
}
