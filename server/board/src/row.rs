//! One compact row a game server: what filters, tables and the deck need, joined from GameServer and Pod.

use std::cmp::Ordering;
use std::net::IpAddr;
use std::sync::Arc;

use wire::filter::natural_cmp;
use wire::key::{Family, ServerKey, SetKey};
use wire::row::{ContainerRow, ServerRow};

/// Keys and values in the order of the keys.
pub(crate) type Pairs = Box<[(Arc<str>, Arc<str>)]>;

/// A container of the live pod.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Container {
    pub(crate) name: Arc<str>,
    pub(crate) image: Arc<str>,
    pub(crate) restarts: u32,
    pub(crate) ready: bool,
}

/// A condition of the GameServer or the pod, as filters see it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Condition {
    pub(crate) kind: Arc<str>,
    pub(crate) status: Arc<str>,
    pub(crate) reason: Option<Arc<str>>,
}

/// What a service quality says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Quality {
    pub(crate) name: Arc<str>,
    pub(crate) status: Option<Arc<str>>,
    pub(crate) result: Option<Arc<str>>,
}

/// What the GameServer object says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ServerPart {
    pub(crate) uid: Box<str>,
    pub(crate) set: Option<Arc<str>>,
    pub(crate) created: i64,
    /// `status.currentState`, absent without a status or with an empty text.
    pub(crate) state: Option<Arc<str>>,
    pub(crate) ops: Arc<str>,
    pub(crate) deletion_priority: Option<Arc<str>>,
    pub(crate) update_priority: Option<Arc<str>>,
    pub(crate) network_disabled: bool,
    pub(crate) network_type: Option<Arc<str>>,
    pub(crate) network_state: Option<Arc<str>>,
    /// Outside addresses and end points.
    pub(crate) addresses: Box<[Arc<str>]>,
    pub(crate) node: Option<Arc<str>>,
    pub(crate) labels: Pairs,
    pub(crate) annotations: Pairs,
    pub(crate) qualities: Box<[Quality]>,
    pub(crate) conditions: Arc<[Condition]>,
}

/// Why a container does not stay up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CrashLoop {
    pub(crate) container: Arc<str>,
    /// Exit code of the run before.
    pub(crate) exit_code: Option<i32>,
    /// Reason of that end, such as `OOMKilled`.
    pub(crate) reason: Option<Arc<str>>,
    pub(crate) restarts: u32,
}

/// What the pod says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PodPart {
    pub(crate) set: Option<Arc<str>>,
    pub(crate) created: i64,
    /// The state that the pod alone tells; absent where it tells none.
    pub(crate) state: Option<Arc<str>>,
    /// opsState label.
    pub(crate) ops: Option<Arc<str>>,
    pub(crate) containers: Arc<[Container]>,
    pub(crate) node: Option<Arc<str>>,
    pub(crate) ip: Option<IpAddr>,
    pub(crate) revision: Option<Arc<str>>,
    pub(crate) qualities: Box<[Quality]>,
    pub(crate) conditions: Arc<[Condition]>,
    /// Players as an annotation of the pod tells them.
    pub(crate) players: Option<i64>,
    /// When the Ready condition last changed.
    pub(crate) ready_changed: Option<i64>,
    /// When the opsState label last changed.
    pub(crate) ops_changed: Option<i64>,
    pub(crate) deleting_since: Option<i64>,
    pub(crate) crash_loop: Option<Box<CrashLoop>>,
}

/// One game server. Rows never change; a change makes a new one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    pub(crate) family: Family,
    pub(crate) namespace: Arc<str>,
    pub(crate) name: Arc<str>,
    pub(crate) set: Option<Arc<str>>,
    pub(crate) id: Option<u32>,
    /// Empty when nothing tells it.
    pub(crate) state: Arc<str>,
    /// Never empty.
    pub(crate) ops: Arc<str>,
    pub(crate) players: Option<i64>,
    pub(crate) restarts: u32,
    /// Unix seconds.
    pub(crate) created: i64,
    pub(crate) server: Option<Arc<ServerPart>>,
    pub(crate) pod: Option<Arc<PodPart>>,
}

/// Labels that controllers keep their books with: not shown in tables, still found by filters.
const BOOKKEEPING: [&str; 3] = ["game.kruise.io/", "apps.kruise.io/", "lifecycle.apps.kruise.io/"];

impl Row {
    /// Identity of the server.
    #[must_use]
    pub fn key(&self) -> ServerKey {
        ServerKey::new(self.family, &*self.namespace, &*self.name)
    }

    /// Identity of its set.
    #[must_use]
    pub fn set_key(&self) -> Option<SetKey> {
        self.set.as_ref().map(|set| SetKey::new(self.family, &*self.namespace, &**set))
    }

    /// uid of the GameServer object, absent while only the pod exists.
    #[must_use]
    pub fn uid(&self) -> Option<&str> {
        self.server.as_ref().map(|server| &*server.uid)
    }

    /// Players; absent is unknown.
    #[must_use]
    pub fn players(&self) -> Option<i64> {
        self.players
    }

    /// Whether stopping it would hurt somebody: Allocated, or players above 0.
    #[must_use]
    pub fn in_use(&self) -> bool {
        &*self.ops == "Allocated" || self.players.is_some_and(|players| players > 0)
    }

    pub(crate) fn containers(&self) -> &[Container] {
        self.pod.as_ref().map_or(&[], |pod| &pod.containers)
    }

    /// Image of the first container; empty without a pod.
    pub(crate) fn image(&self) -> &str {
        self.containers().first().map_or("", |container| &container.image)
    }

    pub(crate) fn node(&self) -> &str {
        let of_pod = self.pod.as_ref().and_then(|pod| pod.node.as_deref());
        of_pod.or_else(|| self.server.as_ref().and_then(|server| server.node.as_deref())).unwrap_or("")
    }

    pub(crate) fn revision(&self) -> &str {
        self.pod.as_ref().and_then(|pod| pod.revision.as_deref()).unwrap_or("")
    }

    pub(crate) fn ip(&self) -> Option<IpAddr> {
        self.pod.as_ref().and_then(|pod| pod.ip)
    }

    pub(crate) fn deletion_priority(&self) -> Option<i64> {
        self.server.as_ref().and_then(|server| number(server.deletion_priority.as_deref()))
    }

    pub(crate) fn update_priority(&self) -> Option<i64> {
        self.server.as_ref().and_then(|server| number(server.update_priority.as_deref()))
    }

    /// What the qualities say: as the GameServer tells it, else as the pod does.
    pub(crate) fn qualities(&self) -> &[Quality] {
        let of_server = self.server.as_ref().map_or(&[][..], |server| &server.qualities);
        if of_server.is_empty() { self.pod.as_ref().map_or(&[], |pod| &pod.qualities) } else { of_server }
    }

    pub(crate) fn label(&self, key: &str) -> Option<&str> {
        self.server.as_ref().and_then(|server| pair(&server.labels, key))
    }

    pub(crate) fn annotation(&self, key: &str) -> Option<&str> {
        self.server.as_ref().and_then(|server| pair(&server.annotations, key))
    }

    /// Whether both belong to one set, or to none in one namespace.
    pub(crate) fn same_set(&self, other: &Self) -> bool {
        let same = |one: &Arc<str>, other: &Arc<str>| Arc::ptr_eq(one, other) || one == other;
        let sets = match (&self.set, &other.set) {
            (Some(one), Some(other)) => same(one, other),
            (one, other) => one.is_none() && other.is_none(),
        };
        sets && same(&self.namespace, &other.namespace) && self.family == other.family
    }

    /// The order of tables and decks: namespace, set, id, name; servers without a set first, without an id last.
    pub(crate) fn order(&self, other: &Self) -> Ordering {
        self.namespace
            .cmp(&other.namespace)
            .then_with(|| self.set.cmp(&other.set))
            .then_with(|| self.family.cmp(&other.family))
            .then_with(|| self.id.unwrap_or(u32::MAX).cmp(&other.id.unwrap_or(u32::MAX)))
            .then_with(|| natural_cmp(&self.name, &other.name))
            .then_with(|| self.name.cmp(&other.name))
    }

    /// The row as it travels.
    #[must_use]
    pub fn to_wire(&self) -> ServerRow {
        let text = |text: Option<&Arc<str>>| text.map(ToString::to_string).unwrap_or_default();
        let server = self.server.as_deref();
        let labels = server.map_or(&[][..], |server| &server.labels);
        let is_shown = |key: &str| !BOOKKEEPING.iter().any(|prefix| key.starts_with(prefix));
        ServerRow {
            key: self.key(),
            uid: self.uid().unwrap_or("").to_owned(),
            set: self.set.as_ref().map(ToString::to_string),
            id: self.id,
            state: self.state.to_string(),
            ops: self.ops.to_string(),
            deletion_priority: text(server.and_then(|server| server.deletion_priority.as_ref())),
            update_priority: text(server.and_then(|server| server.update_priority.as_ref())),
            network_disabled: server.is_some_and(|server| server.network_disabled),
            network: text(server.and_then(|server| server.network_state.as_ref())),
            containers: self
                .containers()
                .iter()
                .map(|container| ContainerRow {
                    name: container.name.to_string(),
                    image: container.image.to_string(),
                    restarts: container.restarts,
                    ready: container.ready,
                })
                .collect(),
            node: Some(self.node()).filter(|node| !node.is_empty()).map(str::to_owned),
            ip: self.ip().map(|ip| ip.to_string()),
            players: self.players,
            restarts: self.restarts,
            created: self.created,
            revision: self.revision().to_owned(),
            labels: labels
                .iter()
                .filter(|(key, _)| is_shown(key))
                .map(|(key, value)| (key.to_string(), value.to_string()))
                .collect(),
        }
    }
}

fn number(text: Option<&str>) -> Option<i64> {
    text.and_then(|text| text.parse().ok())
}

fn pair<'a>(pairs: &'a Pairs, key: &str) -> Option<&'a str> {
    let at = pairs.binary_search_by(|(other, _)| (**other).cmp(key)).ok()?;
    Some(&pairs[at].1)
}
