//! The writing side: objects in, rows out, a new version for every real difference.

use std::borrow::Borrow;
use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use crds::slim::{SlimGameServer, SlimGameServerSet, SlimNode, SlimPod};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use wire::key::{Family, SetKey};

use crate::join::join;
use crate::players::PlayersFrom;
use crate::pool::Pools;
use crate::read;
use crate::row::{PodPart, Row, ServerPart};
use crate::snapshot::Snapshot;

/// A row in the order of tables and decks.
#[derive(Debug)]
struct Ordered(Arc<Row>);

impl Ord for Ordered {
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.order(&other.0)
    }
}

impl PartialOrd for Ordered {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Ordered {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Ordered {}

/// The read model as it grows. One writer at a time; readers take a [`Snapshot`].
#[derive(Debug, Default)]
pub struct Board {
    pools: Pools,
    players: PlayersFrom,
    /// By namespace and name.
    rows: HashMap<Arc<str>, HashMap<Arc<str>, Arc<Row>>>,
    order: BTreeSet<Ordered>,
    sets: Arc<BTreeMap<SetKey, Arc<SlimGameServerSet>>>,
    /// Whether a node is ready, by name.
    nodes: Arc<BTreeMap<String, bool>>,
    version: u64,
    latest: Option<Arc<Snapshot>>,
}

impl Board {
    /// An empty board that takes the number of players from there.
    #[must_use]
    pub fn new(players: PlayersFrom) -> Self {
        Self { players, ..Self::default() }
    }

    /// Grows with every change that a reader could see.
    #[must_use]
    pub const fn version(&self) -> u64 {
        self.version
    }

    /// The board as it is now. Making one copies pointers, not rows; asked again without a change it is the same one.
    pub fn snapshot(&mut self) -> Arc<Snapshot> {
        if let Some(latest) = self.latest.as_ref().filter(|latest| latest.version() == self.version) {
            return latest.clone();
        }
        let rows = self.order.iter().map(|row| row.0.clone()).collect();
        let snapshot = Arc::new(Snapshot::new(self.version, rows, self.sets.clone(), self.nodes.clone()));
        self.latest = Some(snapshot.clone());
        snapshot
    }

    /// A GameServer is new or changed.
    pub fn apply_server(&mut self, server: &SlimGameServer) {
        let Some((namespace, name)) = place(&server.metadata) else { return };
        let part = Arc::new(read::server(server, &mut self.pools));
        self.change(namespace, name, |row| row.server = Some(part));
    }

    /// A GameServer is gone. Its pod may still be there, and the row with it.
    pub fn remove_server(&mut self, server: &SlimGameServer) {
        if let Some((namespace, name)) = place(&server.metadata) {
            self.change(namespace, name, |row| row.server = None);
        }
    }

    /// A pod is new or changed. Pods that belong to no set are passed over.
    pub fn apply_pod(&mut self, pod: &SlimPod) {
        let Some((namespace, name)) = place(&pod.metadata) else { return };
        let part = read::owner(&pod.metadata)
            .is_some()
            .then(|| Arc::new(read::pod(pod, &self.players, &mut self.pools)));
        self.change(namespace, name, |row| row.pod = part);
    }

    /// A pod is gone.
    pub fn remove_pod(&mut self, pod: &SlimPod) {
        if let Some((namespace, name)) = place(&pod.metadata) {
            self.change(namespace, name, |row| row.pod = None);
        }
    }

    /// A GameServerSet is new or changed.
    pub fn apply_set(&mut self, set: &Arc<SlimGameServerSet>) {
        let Some(key) = set_key(&set.metadata) else { return };
        if self.sets.get(&key).is_none_or(|old| **old != **set) {
            Arc::make_mut(&mut self.sets).insert(key, set.clone());
            self.version += 1;
        }
    }

    /// A GameServerSet is gone. Its servers stay until they are.
    pub fn remove_set(&mut self, set: &SlimGameServerSet) {
        let Some(key) = set_key(&set.metadata) else { return };
        if self.sets.contains_key(&key) {
            Arc::make_mut(&mut self.sets).remove(&key);
            self.version += 1;
        }
    }

    /// A node is new or changed.
    pub fn apply_node(&mut self, node: &SlimNode) {
        let Some(name) = node.metadata.name.as_deref() else { return };
        let ready = node.status.conditions.iter().find(|condition| condition.type_ == "Ready");
        let ready = ready.is_some_and(|ready| ready.status == "True");
        if self.nodes.get(name) != Some(&ready) {
            Arc::make_mut(&mut self.nodes).insert(name.to_owned(), ready);
            self.version += 1;
        }
    }

    /// A node is gone.
    pub fn remove_node(&mut self, node: &SlimNode) {
        let Some(name) = node.metadata.name.as_deref() else { return };
        if self.nodes.contains_key(name) {
            Arc::make_mut(&mut self.nodes).remove(name);
            self.version += 1;
        }
    }

    /// These are all GameServers that there are: those that the board knows besides are gone. The listed ones have
    /// been applied before.
    pub fn keep_servers(&mut self, listed: &HashSet<Place>) {
        self.keep(listed, |row| row.server.is_some(), |row| row.server = None);
    }

    /// As [`Board::keep_servers`], for pods.
    pub fn keep_pods(&mut self, listed: &HashSet<Place>) {
        self.keep(listed, |row| row.pod.is_some(), |row| row.pod = None);
    }

    /// As [`Board::keep_servers`], for sets.
    pub fn keep_sets<T: Borrow<SlimGameServerSet>>(&mut self, listed: &[T]) {
        let listed: HashSet<SetKey> =
            listed.iter().filter_map(|set| set_key(&set.borrow().metadata)).collect();
        if self.sets.keys().any(|key| !listed.contains(key)) {
            Arc::make_mut(&mut self.sets).retain(|key, _| listed.contains(key));
            self.version += 1;
        }
    }

    /// As [`Board::keep_servers`], for nodes.
    pub fn keep_nodes<T: Borrow<SlimNode>>(&mut self, listed: &[T]) {
        let listed: HashSet<&str> =
            listed.iter().filter_map(|node| node.borrow().metadata.name.as_deref()).collect();
        if self.nodes.keys().any(|name| !listed.contains(name.as_str())) {
            Arc::make_mut(&mut self.nodes).retain(|name, _| listed.contains(name.as_str()));
            self.version += 1;
        }
    }

    fn keep(&mut self, listed: &HashSet<Place>, has: fn(&Row) -> bool, drop: fn(&mut Parts)) {
        let gone: Vec<Arc<Row>> = self
            .order
            .iter()
            .filter(|row| has(&row.0) && !listed.contains(&Place::new(&row.0.namespace, &row.0.name)))
            .map(|row| row.0.clone())
            .collect();
        for row in gone {
            self.change(&row.namespace, &row.name, drop);
        }
    }

    /// Changes the parts of one row and joins it anew.
    fn change(&mut self, namespace: &str, name: &str, change: impl FnOnce(&mut Parts)) {
        let old = self.rows.get(namespace).and_then(|rows| rows.get(name)).cloned();
        let before = old.as_ref().map(|row| (row.server.clone(), row.pod.clone())).unwrap_or_default();
        let mut parts = Parts { server: before.0.clone(), pod: before.1.clone() };
        change(&mut parts);
        if (&parts.server, &parts.pod) == (&before.0, &before.1) {
            return;
        }
        let namespace = self.pools.text(namespace);
        let name: Arc<str> = old.as_ref().map_or_else(|| name.into(), |row| row.name.clone());
        let row = join(&namespace, &name, parts.server, parts.pod, &self.players, &mut self.pools);
        self.put(&namespace, &name, old, row.map(Arc::new));
        self.version += 1;
    }

    fn put(&mut self, namespace: &Arc<str>, name: &Arc<str>, old: Option<Arc<Row>>, new: Option<Arc<Row>>) {
        if let Some(old) = old {
            self.order.remove(&Ordered(old));
        }
        match new {
            Some(row) => {
                self.order.insert(Ordered(row.clone()));
                self.rows.entry(namespace.clone()).or_default().insert(name.clone(), row);
            }
            None => {
                if let Some(rows) = self.rows.get_mut(namespace) {
                    rows.remove(name);
                    if rows.is_empty() {
                        self.rows.remove(namespace);
                    }
                }
            }
        }
    }
}

/// Where an object is: namespace and name.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Place(Box<str>);

impl Place {
    /// A place by its parts.
    #[must_use]
    pub fn new(namespace: &str, name: &str) -> Self {
        // Neither may hold a slash.
        Self(format!("{namespace}/{name}").into())
    }

    /// The place of an object; an object without a name is nowhere.
    #[must_use]
    pub fn of(metadata: &ObjectMeta) -> Option<Self> {
        place(metadata).map(|(namespace, name)| Self::new(namespace, name))
    }
}

/// The halves of a row.
#[derive(Default)]
struct Parts {
    server: Option<Arc<ServerPart>>,
    pod: Option<Arc<PodPart>>,
}

/// Namespace and name; an object without a name is none.
fn place(metadata: &ObjectMeta) -> Option<(&str, &str)> {
    Some((metadata.namespace.as_deref().unwrap_or(""), metadata.name.as_deref()?))
}

fn set_key(metadata: &ObjectMeta) -> Option<SetKey> {
    place(metadata).map(|(namespace, name)| SetKey::new(Family::Kruise, namespace, name))
}

#[cfg(test)]
#[path = "board_test.rs"]
mod tests;
