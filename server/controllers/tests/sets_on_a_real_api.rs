//! The main story of a set on a real API server, named by PILOTHOUSE_TEST_KUBECONFIG. Ignored unless asked for:
//! `./dev test cluster` starts a control plane. It watches only a namespace of its own, as in the mode with narrow rights, and brings
//! its own simulated nodes.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use controllers::{
    cache::{Caches, Namespaces},
    events::Events,
    leader::Election,
    metrics::Metrics,
    run::{self, Context, Options},
};
use crds::kruise::{GameServer, GameServerSet};
use k8s_openapi::api::{
    core::v1::{Namespace, Pod},
    events::v1::Event,
};
use kube::{
    Api, Client, Config, ResourceExt,
    api::{DeleteParams, ListParams, Patch, PatchParams, PostParams},
    config::{KubeConfigOptions, Kubeconfig},
};
use serde_json::{Value, json};
use std::time::{Duration, Instant};
use tokio_util::sync::CancellationToken;

async fn client() -> Client {
    let path =
        std::env::var("PILOTHOUSE_TEST_KUBECONFIG").expect("names a real API server: ./dev test cluster");
    let file = Kubeconfig::read_from(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
    let config = Config::from_custom_kubeconfig(file, &KubeConfigOptions::default()).await.unwrap();
    Client::try_from(config).unwrap()
}

struct Story {
    client: Client,
    namespace: String,
}

impl Story {
    fn sets(&self) -> Api<GameServerSet> {
        Api::namespaced(self.client.clone(), &self.namespace)
    }

    fn servers(&self) -> Api<GameServer> {
        Api::namespaced(self.client.clone(), &self.namespace)
    }

    fn pods(&self) -> Api<Pod> {
        Api::namespaced(self.client.clone(), &self.namespace)
    }

    async fn until(&self, what: &str, mut so: impl AsyncFnMut() -> bool) {
        let begun = Instant::now();
        while !so().await {
            if begun.elapsed() > Duration::from_secs(60) {
                let set = self.sets().get_opt("g").await.unwrap();
                panic!("never came: {what}\n{}", serde_yaml::to_string(&set).unwrap());
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    }

    async fn ready(&self, ids: &[u32]) {
        self.until(&format!("servers {ids:?} ready"), async || {
            let servers = self.servers().list(&ListParams::default()).await.unwrap();
            let mut found: Vec<u32> = servers
                .iter()
                .filter(|s| {
                    s.status.as_ref().is_some_and(|status| status.current_state.as_deref() == Some("Ready"))
                })
                .filter_map(|s| s.name_any().rsplit_once('-')?.1.parse().ok())
                .collect();
            found.sort_unstable();
            let set = self.sets().get("g").await.unwrap();
            let scaled = set
                .status
                .is_some_and(|s| s.conditions.iter().any(|c| c.type_ == "Scaled" && c.status == "True"));
            found == ids && servers.items.len() == ids.len() && scaled
        })
        .await;
    }

    async fn patch_set(&self, patch: Value) {
        self.sets().patch("g", &PatchParams::default(), &Patch::Merge(patch)).await.unwrap();
    }

    async fn patch_server(&self, id: u32, spec: Value) {
        let patch = Patch::Merge(json!({ "spec": spec }));
        self.servers().patch(&format!("g-{id}"), &PatchParams::default(), &patch).await.unwrap();
    }

    async fn label(&self, id: u32, key: &str, value: &str) {
        self.until(&format!("{key} of {id}"), async || {
            self.pods().get(&format!("g-{id}")).await.unwrap().labels()[key] == value
        })
        .await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs a real control plane: ./dev test cluster"]
async fn a_set_lives_on_a_real_control_plane() {
    let client = client().await;
    crds::install::install(&client).await.unwrap();
    let namespace = format!("controllers-{}", std::process::id());
    let object = json!({ "metadata": { "name": namespace } });
    let namespaces: Api<Namespace> = Api::all(client.clone());
    namespaces.create(&PostParams::default(), &serde_json::from_value(object).unwrap()).await.unwrap();

    let stop = CancellationToken::new();
    let _guard = stop.clone().drop_guard();
    let nodes = sandbox::nodes::Options {
        machines: 2,
        prefix: namespace.clone(),
        ..sandbox::nodes::Options::default()
    };
    tokio::spawn(sandbox::nodes::run(client.clone(), nodes, stop.clone()));
    let metrics = Metrics::default();
    let context = Context {
        client: client.clone(),
        caches: Caches::start(&client, &Namespaces::Only(vec![namespace.clone()]), &stop),
        options: Options::default(),
        events: Events::start(client.clone(), "test".into(), metrics.clone(), stop.clone()),
        metrics: metrics.clone(),
    };
    let (leader, election) =
        Election::new(&namespace, "pilothouse", "test").start(client.clone(), stop.clone());
    tokio::spawn(run::run(context, leader, stop.clone()));
    let story = Story { client: client.clone(), namespace: namespace.clone() };

    let set = json!({
        "metadata": { "name": "g" },
        "spec": {
            "replicas": 5,
            "reserveGameServerIds": [1],
            "gameServerTemplate": {
                "reclaimPolicy": "Delete",
                "metadata": { "labels": { "app": "x" } },
                "spec": {
                    "schedulerName": sandbox::nodes::SCHEDULER_NAME,
                    "terminationGracePeriodSeconds": 1,
                    "containers": [{ "name": "main", "image": "game:1" }],
                    "tolerations": [{ "operator": "Exists" }],
                },
            },
        },
    });
    story.sets().create(&PostParams::default(), &serde_json::from_value(set).unwrap()).await.unwrap();
    story.ready(&[0, 2, 3, 4, 5]).await;
    scaling(&story).await;
    live_image(&story).await;
    refusal(&story).await;

    // Steady: no request that writes, events and the lease aside.
    tokio::time::sleep(Duration::from_secs(3)).await;
    let count = || {
        let mut text = String::new();
        let mut registry = prometheus_client::registry::Registry::default();
        metrics.register(&mut registry);
        prometheus_client::encoding::text::encode(&mut text, &registry).unwrap();
        let mut lines: Vec<String> =
            text.lines().filter(|line| line.contains("writes_total{")).map(String::from).collect();
        lines.sort();
        lines
    };
    let before = count();
    assert!(before.iter().any(|line| line.contains("create") && line.contains("pods")), "{before:?}");
    tokio::time::sleep(Duration::from_secs(10)).await;
    assert_eq!(count(), before);

    story.sets().delete("g", &DeleteParams::default()).await.unwrap();
    story
        .until("nothing left", async || {
            story.servers().list(&ListParams::default()).await.unwrap().items.is_empty()
        })
        .await;
    namespaces.delete(&namespace, &DeleteParams::default()).await.unwrap();
    stop.cancel();
    election.await.unwrap();
}

async fn scaling(story: &Story) {
    story.patch_server(3, json!({ "opsState": "WaitToBeDeleted" })).await;
    story.patch_server(5, json!({ "opsState": "Allocated" })).await;
    story.label(3, "game.kruise.io/gs-opsState", "WaitToBeDeleted").await;
    story.label(5, "game.kruise.io/gs-opsState", "Allocated").await;
    let uid = story.pods().get("g-5").await.unwrap().uid();
    // Through the scale subresource, as kubectl and autoscalers do it.
    let scale = Patch::Merge(json!({ "spec": { "replicas": 3 } }));
    story.sets().patch_scale("g", &PatchParams::default(), &scale).await.unwrap();
    story.ready(&[0, 2, 5]).await;
    assert_eq!(story.pods().get("g-5").await.unwrap().uid(), uid);
    let read = story.sets().get_scale("g").await.unwrap();
    assert_eq!(read.status.unwrap().selector.as_deref(), Some("game.kruise.io/owner-gss=g"));
    story.patch_server(2, json!({ "opsState": "Kill" })).await;
    story.ready(&[0, 5]).await;
    assert_eq!(story.sets().get("g").await.unwrap().spec.replicas, 2);
    let events: Api<Event> = Api::namespaced(story.client.clone(), &story.namespace);
    story
        .until("events", async || {
            let told = events.list(&ListParams::default()).await.unwrap();
            let notes: Vec<String> = told.into_iter().filter_map(|event| event.note).collect();
            [
                "scale from 5 to 3",
                "OpsState turn from None to Allocated ",
                "replicas lowered from 3 to 2 for g-2",
            ]
            .iter()
            .all(|expected| notes.iter().any(|note| note == expected))
        })
        .await;
}

async fn live_image(story: &Story) {
    let uid = story.pods().get("g-0").await.unwrap().uid();
    story.patch_server(0, json!({ "containers": [{ "name": "main", "image": "game:hotfix" }] })).await;
    story
        .until("the image", async || {
            let pod = story.pods().get("g-0").await.unwrap();
            pod.spec.unwrap().containers[0].image.as_deref() == Some("game:hotfix")
        })
        .await;
    story.ready(&[0, 5]).await;
    assert_eq!(story.pods().get("g-0").await.unwrap().uid(), uid);
}

async fn refusal(story: &Story) {
    let bad = json!({ "name": "main", "image": "game:1", "resources": { "requests": { "cpu": "2" }, "limits": { "cpu": "1" } } });
    let template = |container: &Value| json!({ "spec": { "gameServerTemplate": { "spec": { "containers": [container] } } } });
    story.patch_set(template(&bad)).await;
    story.patch_set(json!({ "spec": { "replicas": 3 } })).await;
    story
        .until("the refusal", async || {
            let conditions = story.sets().get("g").await.unwrap().status.unwrap().conditions;
            conditions.iter().any(|c| {
                c.reason == "PodTemplateRefused"
                    && c.message.contains("must be less than or equal to cpu limit")
            })
        })
        .await;
    story.patch_set(template(&json!({ "name": "main", "image": "game:2" }))).await;
    story.ready(&[0, 2, 5]).await;
}
