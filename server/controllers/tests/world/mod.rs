//! A whole cluster in process with a paused clock: the embedded API, simulated nodes, garbage collection. Controllers are
//! started and killed like processes, each with caches of its own.
#![allow(dead_code, reason = "each test file uses a part of it")]

#[path = "../plain_set/mod.rs"]
mod plain_set;

use controllers::{
    cache::{Caches, Namespaces},
    clock::Clock,
    events::Events,
    metrics::Metrics,
    run::{self, Context, Options},
};
use crds::kruise::{GameServer, GameServerSet};
use jiff::Timestamp;
use k8s_openapi::api::core::v1::Pod;
use kube::{
    Api, Client, ResourceExt,
    api::{DeleteParams, ListParams, Patch, PatchParams, PostParams},
};
use plain_set::set_object;
use serde_json::{Value, json};
use std::{collections::BTreeMap, time::Duration};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

pub struct World {
    pub api: sandbox::api::Server,
    pub client: Client,
    pub clock: Clock,
    /// Ends with the world.
    stop: CancellationToken,
}

impl Drop for World {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}

/// Controllers with caches of their own, as one process has them.
pub struct Process {
    pub caches: Caches,
    pub metrics: Metrics,
    stop: CancellationToken,
    task: JoinHandle<()>,
}

impl Process {
    /// Ends it without any goodbye.
    pub fn kill(self) {
        self.task.abort();
        self.stop.cancel();
    }
}

impl World {
    pub async fn new() -> Self {
        let world = Self::without_crds();
        crds::install::install(&world.client).await.unwrap();
        world
    }

    /// A cluster that does not know our kinds.
    pub fn without_crds() -> Self {
        let options = sandbox::api::Options {
            clock: sandbox::api::Clock::runtime(),
            ..sandbox::api::Options::default()
        };
        let api = sandbox::api::Server::with_options(options);
        let client = api.client();
        let stop = CancellationToken::new();
        let nodes = sandbox::nodes::Options { schedule_all: true, ..sandbox::nodes::Options::default() };
        sandbox::animate(&client, nodes, &stop);
        Self { api, client, clock: Clock::counted_from(Timestamp::now()), stop }
    }

    pub fn start(&self) -> Process {
        self.start_with(&self.client, Options::default())
    }

    pub fn start_with(&self, client: &Client, options: Options) -> Process {
        self.start_led(client, options, controllers::leader::alone(), &Namespaces::All)
    }

    pub fn start_led(
        &self,
        client: &Client,
        options: Options,
        leader: tokio::sync::watch::Receiver<bool>,
        namespaces: &Namespaces,
    ) -> Process {
        let stop = self.stop.child_token();
        let caches = Caches::start(client, namespaces, &stop);
        let metrics = Metrics::default();
        let events = Events::start(client.clone(), "test".into(), metrics.clone(), stop.clone());
        let context = Context {
            client: client.clone(),
            caches: caches.clone(),
            options: Options { clock: self.clock.clone(), ..options },
            events,
            metrics: metrics.clone(),
        };
        let task = tokio::spawn(run::run(context, leader, stop.clone()));
        Process { caches, metrics, stop, task }
    }

    pub fn sets(&self) -> Api<GameServerSet> {
        Api::namespaced(self.client.clone(), "default")
    }

    pub fn servers(&self) -> Api<GameServer> {
        Api::namespaced(self.client.clone(), "default")
    }

    pub fn pods(&self) -> Api<Pod> {
        Api::namespaced(self.client.clone(), "default")
    }

    /// Creates the set `g`; `spec` is merged over a plain one.
    pub async fn create_set(&self, spec: Value) {
        let set: GameServerSet = serde_json::from_value(set_object(spec)).unwrap();
        self.sets().create(&PostParams::default(), &set).await.unwrap();
    }

    pub async fn patch_set(&self, patch: Value) {
        self.sets().patch("g", &PatchParams::default(), &Patch::Merge(patch)).await.unwrap();
    }

    pub async fn scale(&self, replicas: u32) {
        self.patch_set(json!({ "spec": { "replicas": replicas } })).await;
    }

    pub async fn patch_server(&self, id: u32, spec: Value) {
        let patch = Patch::Merge(json!({ "spec": spec }));
        self.servers().patch(&format!("g-{id}"), &PatchParams::default(), &patch).await.unwrap();
    }

    pub async fn delete_pod(&self, id: u32) {
        self.pods().delete(&format!("g-{id}"), &DeleteParams::default()).await.unwrap();
    }

    /// uid by id of all pods of the set.
    pub async fn uids(&self) -> BTreeMap<u32, String> {
        let pods =
            self.pods().list(&ListParams::default().labels("game.kruise.io/owner-gss=g")).await.unwrap();
        let id = |pod: &Pod| pod.name_any().rsplit_once('-').and_then(|(_, id)| id.parse().ok());
        pods.iter().filter_map(|pod| Some((id(pod)?, pod.uid()?))).collect()
    }

    pub async fn ids(&self) -> Vec<u32> {
        self.uids().await.into_keys().collect()
    }

    pub async fn set(&self) -> GameServerSet {
        self.sets().get("g").await.unwrap()
    }

    /// Status, reason and message of a condition of the set.
    pub async fn condition(&self, type_: &str) -> Option<(String, String, String)> {
        let status = self.set().await.status?;
        let found = status.conditions.into_iter().find(|condition| condition.type_ == type_)?;
        Some((found.status, found.reason, found.message))
    }

    /// Whether exactly the servers with these ids are there, ready, with a GameServer each, and the status says so.
    pub async fn is_settled(&self, ids: &[u32]) -> bool {
        let Some(set) = self.sets().get_opt("g").await.unwrap() else { return ids.is_empty() };
        let (Some(status), count) = (set.status, i32::try_from(ids.len()).unwrap()) else { return false };
        let servers = self.servers().list(&ListParams::default()).await.unwrap();
        let ready = servers
            .iter()
            .filter(|server| {
                server.status.as_ref().is_some_and(|s| s.current_state.as_deref() == Some("Ready"))
            })
            .count();
        status.conditions.iter().any(|c| c.type_ == "Scaled" && c.status == "True")
            && status.observed_generation == set.metadata.generation
            && (status.replicas, status.current_replicas, status.ready_replicas) == (count, count, count)
            && (servers.items.len(), ready) == (ids.len(), ids.len())
            && self.ids().await == ids
    }

    pub async fn settled(&self, ids: &[u32]) {
        self.until(&format!("servers {ids:?}"), async || self.is_settled(ids).await).await;
    }

    /// Waits until something is so, in virtual time, and says how things stand when it never comes.
    pub async fn until(&self, what: &str, mut so: impl AsyncFnMut() -> bool) {
        for _ in 0..600 {
            if so().await {
                return;
            }
            tokio::time::sleep(Duration::from_millis(500)).await;
        }
        let set = self.sets().get_opt("g").await.unwrap();
        let told = serde_yaml::to_string(&set).unwrap_or_default();
        panic!("never came: {what}\nids: {:?}\n{told}", self.ids().await);
    }

    /// Requests that wrote or tried to, except leases and heartbeats of nodes, since `before`.
    pub fn writes_since(&self, before: &sandbox::api::Writes) -> Vec<String> {
        let moved = self.api.writes().since(before);
        let quiet = |resource: &str| resource.starts_with("leases") || resource.starts_with("nodes");
        moved
            .0
            .iter()
            .filter(|((_, r), _)| !quiet(r))
            .map(|((verb, r), n)| format!("{verb} {r} {n:?}"))
            .collect()
    }
}
