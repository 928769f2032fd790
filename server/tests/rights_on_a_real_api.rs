//! With rights on just some namespaces (`--namespaces`) and nothing on the cluster, on a real API server that enforces them: everything
//! works there, nothing outside is even asked for. The rights are data, `rights.yaml`, and exactly these are needed.
//!
//! Ignored unless asked for: `./dev test cluster` starts a control plane with simulated nodes and names it in
//! `PILOTHOUSE_TEST_KUBECONFIG`.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

#[path = "rights/mod.rs"]
mod rights;
mod world;

use kube::{
    Api, Client,
    api::{DeleteParams, DynamicObject, Patch, PatchParams},
};
use rights::{Account, Recorder, admin};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use tokio_util::sync::CancellationToken;
use world::{Pilothouse, apply, kind_of, set, until};

/// Whom the API server let do what it was asked; kept from one test to the other by name only.
struct Stage {
    admin: Client,
    namespaces: Vec<String>,
}

impl Stage {
    async fn new(names: &[&str]) -> Self {
        let admin = admin().await;
        let unique = &uuid::Uuid::new_v4().simple().to_string()[..6];
        let namespaces: Vec<String> = names.iter().map(|name| format!("rights-{name}-{unique}")).collect();
        for name in &namespaces {
            let namespace = json!({ "apiVersion": "v1", "kind": "Namespace", "metadata": { "name": name } });
            apply(&admin, &namespace).await.unwrap();
        }
        Self { admin, namespaces }
    }

    async fn end(self) {
        let kind = kind_of(&json!({ "apiVersion": "v1", "kind": "Namespace" }));
        let api: Api<DynamicObject> = Api::all_with(self.admin.clone(), &kind);
        for name in &self.namespaces {
            api.delete(name, &DeleteParams::default()).await.unwrap();
        }
    }

    fn api(&self, kind: &str, namespace: &str) -> Api<DynamicObject> {
        let kind = kind_of(&json!({ "apiVersion": "game.kruise.io/v1alpha1", "kind": kind }));
        Api::namespaced_with(self.admin.clone(), namespace, &kind)
    }
}

/// A set with volumes, whose pods need no node of a certain kind.
fn set_with_claims(namespace: &str, replicas: u32) -> Value {
    let mut object = set(namespace, "arena", replicas);
    object["spec"]["gameServerTemplate"]["reclaimPolicy"] = json!("Delete");
    object["spec"]["gameServerTemplate"]["volumeClaimTemplates"] = json!([{
        "metadata": { "name": "data" },
        "spec": { "accessModes": ["ReadWriteOnce"], "resources": { "requests": { "storage": "1Gi" } } },
    }]);
    object
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs a real control plane: ./dev test cluster"]
async fn rights_on_two_namespaces_are_enough_and_all_needed() {
    let stage = Stage::new(&["one", "two", "other"]).await;
    let (one, two, other) = (&stage.namespaces[0], &stage.namespaces[1], &stage.namespaces[2]);
    let account = Account::create(&stage.admin, one).await;
    for rule in ["home", "watched", "seldom"] {
        account.allow(&stage.admin, one, rule).await;
    }
    for rule in ["watched", "seldom"] {
        account.allow(&stage.admin, two, rule).await;
    }
    let recorder = Recorder::default();
    let client = recorder.watch_over(account.client(&stage.admin).await);
    let stop = CancellationToken::new();
    let app = Pilothouse::start(client, &["--namespaces", &format!("{one},{two}")], &stop);

    apply(&stage.admin, &set_with_claims(one, 3)).await.unwrap();
    apply(&stage.admin, &set(two, "racing", 2)).await.unwrap();
    apply(&stage.admin, &set(other, "hidden", 1)).await.unwrap();
    // A claim stays unbound without a provisioner, so what counts is that its pods are made.
    app.finds(&format!("ns:{one}"), 3).await;
    app.finds(&format!("ns:{two} state:Ready"), 2).await;
    assert_eq!(app.totals().await.sets, 2, "the third namespace is nobody's business");
    assert_eq!(app.trouble().await, "");
    until("ready", async || app.page("/readyz").await.0 == 200).await;

    // What an operator does: look, mark, preview, scale, kill.
    for path in [
        format!("/api/v1/gameservers/kruise/{two}/racing-0/yaml"),
        format!("/api/v1/gameserversets/kruise/{two}/racing/yaml"),
        format!("/sets/kruise/{two}/racing"),
        format!("/servers/kruise/{two}/racing-0"),
    ] {
        assert_eq!(app.page(&path).await.0, 200, "{path}");
    }
    app.get(&format!("gameservers/kruise/{two}/racing-0")).await;
    let batch = json!({
        "target": { "query": "" }, "change": { "opsState": "WaitToBeDeleted" }, "idempotencyKey": "all-in-sight",
    });
    let (status, stored) = app.post("batches", batch).await;
    assert_eq!(status, 201, "{stored}");
    let name = stored["name"].as_str().unwrap().to_owned();
    until("the batch is done", async || {
        let (_, batch) = app.get(&format!("batches/{name}")).await;
        batch["phase"] == "Done" && batch["outcomes"] == json!([["changed", 5]])
    })
    .await;
    let scale = format!("gameserversets/kruise/{two}/racing/scale");
    assert_eq!(app.post(&scale, json!({ "replicas": 1 })).await.0, 204);
    app.finds(&format!("ns:{two}"), 1).await;
    let kill = Patch::Merge(json!({ "spec": { "opsState": "Kill" } }));
    stage.api("GameServer", two).patch("racing-0", &PatchParams::default(), &kill).await.unwrap();
    app.finds(&format!("ns:{two}"), 0).await;
    until("the set got smaller", async || {
        stage.api("GameServerSet", two).get("racing").await.unwrap().data["spec"]["replicas"] == 0
    })
    .await;
    // Another template, pods of which are pushed to what lives, and servers that are taken away while the set stays.
    let image = Patch::Merge(json!({ "spec": { "containers": [{ "name": "main", "image": "game:2" }] } }));
    stage.api("GameServer", one).patch("arena-0", &PatchParams::default(), &image).await.unwrap();
    until("the image arrives", async || {
        app.get(&format!("gameservers/kruise/{one}/arena-0")).await.1["row"]["containers"][0]["image"]
            == "game:2"
    })
    .await;
    stop.cancel();

    assert_eq!(recorder.refused(), BTreeSet::new(), "something was tried that the rights do not cover");
    let (used, granted) = (recorder.used(), rights::granted(&["home", "watched"]));
    let unused: BTreeSet<_> = granted.difference(&used).collect();
    assert!(unused.is_empty(), "rights that nothing needed: {unused:?}");
    let outside: Vec<String> =
        recorder.namespaces().into_iter().filter(|name| name != one && name != two).collect();
    assert_eq!(
        outside,
        Vec::<String>::new(),
        "asked outside of its namespaces (empty: for the whole cluster)"
    );
    stage.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs a real control plane: ./dev test cluster"]
async fn without_rights_the_page_says_which_are_missing() {
    let stage = Stage::new(&["none"]).await;
    let namespace = &stage.namespaces[0];
    let account = Account::create(&stage.admin, namespace).await;
    let client = account.client(&stage.admin).await;
    let stop = CancellationToken::new();
    let app = Pilothouse::start(client, &["--namespaces", namespace], &stop);
    until("it is said", async || app.trouble().await == "api-refuses").await;
    let told = app.totals().await.trouble.unwrap().reason.message;
    for word in ["cannot list resource", "gameserversets", namespace] {
        assert!(told.contains(word), "{told}");
    }
    let (status, page) = app.page("/").await;
    assert!(status == 200 && page.contains("cannot list resource"), "{page}");
    assert_eq!(app.page("/readyz").await.0, 503);
    // Granted later, it goes on by itself.
    for rule in ["home", "watched"] {
        account.allow(&stage.admin, namespace, rule).await;
    }
    apply(&stage.admin, &set(namespace, "arena", 1)).await.unwrap();
    app.finds("state:Ready", 1).await;
    until("nothing stands in the way", async || app.trouble().await.is_empty()).await;
    stop.cancel();
    stage.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs a real control plane: ./dev test cluster"]
async fn a_token_that_the_real_api_does_not_know() {
    let stage = Stage::new(&["token"]).await;
    let client = rights::client_with_token(&stage.admin, "nobody-knows-this").await;
    let stop = CancellationToken::new();
    let app = Pilothouse::start(client, &["--namespaces", &stage.namespaces[0]], &stop);
    until("it is said", async || app.trouble().await == "api-refuses").await;
    assert!(app.totals().await.trouble.unwrap().reason.message.contains("Unauthorized"));
    stop.cancel();
    stage.end().await;
}
