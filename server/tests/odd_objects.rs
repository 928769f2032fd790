//! Objects that are there although nobody would make them so today: each is shown for what it is, and harms no other.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod world;

use kube::{
    Api,
    api::{DeleteParams, DynamicObject},
};
use serde_json::{Value, json};
use wire::{LiveMessage, View};
use world::{World, apply, kind_of, set, until};

fn namespace(name: &str) -> Value {
    json!({ "apiVersion": "v1", "kind": "Namespace", "metadata": { "name": name } })
}

#[tokio::test(start_paused = true)]
async fn a_game_server_without_a_status() {
    let world = World::new().await;
    // Nobody who would write one.
    let app = world.pilothouse(&["--kruise", "off"]);
    let server = json!({
        "apiVersion": "game.kruise.io/v1alpha1", "kind": "GameServer",
        "metadata": { "name": "lonely-3", "namespace": "default" }, "spec": { "opsState": "Maintaining" },
    });
    apply(&world.client, &server).await.unwrap();
    app.finds("ops:Maintaining", 1).await;
    let (status, detail) = app.get("gameservers/kruise/default/lonely-3").await;
    assert_eq!((status, detail["row"]["ops"].as_str()), (200, Some("Maintaining")));
    assert!(detail["why"].to_string().contains("no-pod"), "{detail}");
    for path in ["/", "/servers", "/servers/kruise/default/lonely-3", "/sets"] {
        let (status, page) = app.page(path).await;
        assert!(status == 200 && !page.contains("panicked"), "{path}: {status}");
    }
    let change = json!({ "opsState": "None" });
    let target = json!({ "keys": ["kruise/default/lonely-3"] });
    let (status, preview) = app.post("batches/preview", json!({ "target": target, "change": change })).await;
    assert_eq!((status, &preview["applies"]), (200, &json!(1)), "{preview}");
    let batch = json!({ "target": target, "change": change, "idempotencyKey": "the-lonely-one" });
    assert_eq!(app.post("batches", batch).await.0, 201);
    app.finds("ops:None", 1).await;
}

#[tokio::test(start_paused = true)]
async fn two_sets_of_one_name_in_two_namespaces() {
    let world = World::new().await;
    let app = world.pilothouse(&[]);
    for (home, replicas) in [("east", 3), ("west", 2)] {
        apply(&world.client, &namespace(home)).await.unwrap();
        apply(&world.client, &set(home, "arena", replicas)).await.unwrap();
    }
    app.finds("state:Ready", 5).await;
    assert_eq!(app.matched("set:arena").await, 5);
    assert_eq!(app.matched("set:east/arena").await, 3);
    let (_, sets) = app.get("gameserversets").await;
    let live: Vec<(&str, u64)> = sets
        .as_array()
        .unwrap()
        .iter()
        .map(|row| (row["key"].as_str().unwrap(), row["live"].as_u64().unwrap()))
        .collect();
    assert_eq!(live, [("kruise/east/arena", 3), ("kruise/west/arena", 2)]);
    // A batch and a scale of one leave the other alone.
    let batch = json!({
        "target": { "query": "set:arena" }, "namespace": "west",
        "change": { "opsState": "Maintaining" }, "idempotencyKey": "only-the-west",
    });
    assert_eq!(app.post("batches", batch).await.0, 201);
    app.finds("ops:Maintaining", 2).await;
    assert_eq!(app.matched("ns:east ops:Maintaining").await, 0);
    let (status, _) = app.post("gameserversets/kruise/east/arena/scale", json!({ "replicas": 1 })).await;
    assert_eq!(status, 204);
    app.finds("ns:east", 1).await;
    assert_eq!(app.matched("ns:west state:Ready").await, 2);
}

#[tokio::test(start_paused = true)]
async fn a_bad_reserve_range_from_before_the_rule() {
    let world = World::without_crds();
    for crd in crds::all() {
        let mut crd = serde_json::to_value(crd).unwrap();
        crd["apiVersion"] = json!("apiextensions.k8s.io/v1");
        crd["kind"] = json!("CustomResourceDefinition");
        if crd["spec"]["names"]["kind"] == "GameServerSet" {
            crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"] =
                json!({ "type": "object", "x-kubernetes-preserve-unknown-fields": true });
        }
        apply(&world.client, &crd).await.unwrap();
    }
    apply(&world.client, &namespace(crds::pilothouse::NAMESPACE)).await.unwrap();
    let mut bad = set("default", "old", 3);
    bad["spec"]["reserveGameServerIds"] = json!([1, "9-4"]);
    apply(&world.client, &bad).await.unwrap();
    crds::install::install(&world.client).await.unwrap();

    let app = world.pilothouse(&[]);
    apply(&world.client, &set("default", "good", 2)).await.unwrap();
    app.finds("set:good state:Ready", 2).await;
    until("the problem is said", async || {
        let (_, found) = app.get("gameserversets/kruise/default/old").await;
        found["row"]["problem"]["code"] == "set-invalid"
    })
    .await;
    let (_, found) = app.get("gameserversets/kruise/default/old").await;
    assert!(found["row"]["problem"]["message"].as_str().unwrap().contains("9-4"), "{found}");
    let (status, page) = app.page("/sets/kruise/default/old").await;
    assert!(status == 200 && page.contains("9-4"), "{page}");
    let (status, preview) = app.get("gameserversets/kruise/default/old/scale?replicas=1").await;
    assert_eq!(status, 200);
    assert!(preview["warnings"].to_string().contains("9-4"), "{preview}");
    assert_eq!(app.matched("set:old").await, 0, "nothing is made by a guess");

    bad["spec"]["reserveGameServerIds"] = json!([1, "4-9"]);
    apply(&world.client, &bad).await.unwrap();
    app.finds("set:old state:Ready", 3).await;
    let (_, found) = app.get("gameserversets/kruise/default/old").await;
    assert_eq!(found["row"]["problem"], Value::Null, "{found}");
}

#[tokio::test(start_paused = true)]
async fn a_set_deleted_while_its_page_is_open() {
    let world = World::new().await;
    let app = world.pilothouse(&[]);
    world.set("default", "arena", 2).await;
    app.finds("state:Ready", 2).await;
    let mut open = app.live(&View::Set { key: "kruise/default/arena".parse().unwrap() }).await;
    open.comes("the set", |message| matches!(message, LiveMessage::Set(Some(_)))).await;
    let mut server = app.live(&View::Server { key: "kruise/default/arena-1".parse().unwrap() }).await;
    server.comes("the server", |message| matches!(message, LiveMessage::Server(Some(_)))).await;

    let sets: Api<DynamicObject> =
        Api::namespaced_with(world.client.clone(), "default", &kind_of(&set("", "", 0)));
    sets.delete("arena", &DeleteParams::default()).await.unwrap();
    open.comes("that it is gone", |message| matches!(message, LiveMessage::Set(None))).await;
    server.comes("that its server is gone", |message| matches!(message, LiveMessage::Server(None))).await;
    app.finds("", 0).await;
    assert_eq!(app.page("/sets/kruise/default/arena").await.0, 404);
    for path in
        ["gameserversets/kruise/default/arena", "gameserversets/kruise/default/arena/scale?replicas=1"]
    {
        let (status, refusal) = app.get(path).await;
        assert_eq!((status, refusal["reason"]["code"].as_str()), (404, Some("not-found")), "{path}");
    }
    let (status, refusal) =
        app.post("gameserversets/kruise/default/arena/scale", json!({ "replicas": 1 })).await;
    assert_eq!(
        (status, refusal["reason"]["code"].as_str()),
        (404, Some("kubernetes-not-found")),
        "{refusal}"
    );
}
