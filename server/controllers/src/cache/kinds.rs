//! The kinds that are watched, and the look-ups that go with them.

use super::{Cache, CacheOptions, Cached, Health, Indexer, Key};
use crds::pilothouse::{BatchEdit, BatchEditProgress, BatchEditTargets};
use crds::{
    kruise::keys,
    slim::{Packed, SlimGameServer, SlimGameServerSet, SlimNode, SlimPod},
};
use kube::{Api, Client, ResourceExt};
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// Where to watch: the whole cluster, or only some namespaces where the rights end there.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Namespaces {
    /// All of them.
    #[default]
    All,
    /// These. One watch for each and kind; nodes are not watched, a Role cannot grant them.
    Only(Vec<String>),
}

/// Look-up of pods by the set that they belong to: `namespace/set`.
pub const POD_SET: &str = "set";
/// Look-up of pods by node name.
pub const POD_NODE: &str = "node";
/// Look-up of game servers by the set that they belong to: `namespace/set`.
pub const SERVER_SET: &str = "set";

macro_rules! namespaced {
    ($($kind:ty as $rest:ty),*) => {$(
        impl Cached for $kind {
            type Rest = $rest;

            fn api_in(client: Client, namespace: Option<&str>) -> Api<Self> {
                match namespace {
                    Some(namespace) => Api::namespaced(client, namespace),
                    None => Api::all(client),
                }
            }
        }
    )*};
}

namespaced!(
    SlimGameServerSet as Arc<SlimGameServerSet>,
    // Of these there are tens of thousands.
    SlimGameServer as Packed<SlimGameServer>,
    SlimPod as Packed<SlimPod>,
    BatchEdit as Arc<BatchEdit>,
    BatchEditTargets as Arc<BatchEditTargets>,
    BatchEditProgress as Arc<BatchEditProgress>
);

impl Cached for SlimNode {
    type Rest = Arc<Self>;

    fn api_in(client: Client, _: Option<&str>) -> Api<Self> {
        Api::all(client)
    }
}

/// The caches of the family `kruise`, and of the nodes.
#[derive(Clone)]
pub struct Caches {
    /// GameServerSets.
    pub sets: Cache<SlimGameServerSet>,
    /// GameServers. Look-up: [`SERVER_SET`].
    pub servers: Cache<SlimGameServer>,
    /// Pods that carry `game.kruise.io/owner-gss`. Look-ups: [`POD_SET`], [`POD_NODE`].
    pub pods: Cache<SlimPod>,
    /// Nodes.
    pub nodes: Cache<SlimNode>,
}

impl Caches {
    /// Starts all watches; they end with `stop`. Must be called inside a tokio runtime.
    #[must_use]
    pub fn start(client: &Client, namespaces: &Namespaces, stop: &CancellationToken) -> Self {
        Self::start_seeded(client, namespaces, stop, None)
    }

    /// The same, with a seed for the spread of pauses after failures.
    #[must_use]
    pub fn start_seeded(
        client: &Client,
        namespaces: &Namespaces,
        stop: &CancellationToken,
        jitter_seed: Option<u64>,
    ) -> Self {
        let nodes = match namespaces {
            Namespaces::All => {
                Cache::start(client, CacheOptions { jitter_seed, ..CacheOptions::default() }, stop)
            }
            Namespaces::Only(_) => Cache::unwatched(),
        };
        let servers = CacheOptions {
            namespaces: namespaces.clone(),
            indexers: vec![Indexer { name: SERVER_SET, value: owner_set }],
            jitter_seed,
            ..CacheOptions::default()
        };
        let pods = CacheOptions {
            namespaces: namespaces.clone(),
            // Everything else in the cluster is none of our business, and none of our memory.
            labels: keys::OWNER_GSS.to_owned(),
            indexers: vec![
                Indexer { name: POD_SET, value: owner_set },
                Indexer { name: POD_NODE, value: |pod: &SlimPod| pod.spec.node_name.clone() },
            ],
            jitter_seed,
            ..CacheOptions::default()
        };
        let sets = CacheOptions { namespaces: namespaces.clone(), jitter_seed, ..CacheOptions::default() };
        Self {
            sets: Cache::start(client, sets, stop),
            servers: Cache::start(client, servers, stop),
            pods: Cache::start(client, pods, stop),
            nodes,
        }
    }

    /// Waits until every kind has been listed once.
    pub async fn wait_synced(&self) {
        self.sets.wait_synced().await;
        self.servers.wait_synced().await;
        self.pods.wait_synced().await;
        self.nodes.wait_synced().await;
    }

    /// How the watches fare right now, one entry a kind.
    #[must_use]
    pub fn health(&self) -> Vec<Health> {
        [self.sets.health(), self.servers.health(), self.pods.health(), self.nodes.health()]
            .into_iter()
            .map(|receiver| receiver.borrow().clone())
            .collect()
    }

    /// Whether nodes are watched, so that a node that is not in the cache is not there.
    #[must_use]
    pub fn watches_nodes(&self) -> bool {
        self.nodes.is_watching()
    }

    /// The pods of a set.
    #[must_use]
    pub fn pods_of(&self, set: &Key) -> Vec<Arc<SlimPod>> {
        self.pods.indexed(POD_SET, &set.to_string())
    }

    /// The game servers of a set.
    #[must_use]
    pub fn servers_of(&self, set: &Key) -> Vec<Arc<SlimGameServer>> {
        self.servers.indexed(SERVER_SET, &set.to_string())
    }
}

/// `namespace/set` of an object that carries the owner label.
fn owner_set<K: ResourceExt>(object: &K) -> Option<String> {
    let set = object.labels().get(keys::OWNER_GSS)?;
    Some(Key::new(object.namespace()?, set).to_string())
}
