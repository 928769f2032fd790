//! Rows of game servers and the windows over them.

use crate::key::{ServerKey, SetKey};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// One container of a server as the live pod has it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ContainerRow {
    /// Container name.
    pub name: String,
    /// Image of the live pod's spec; empty when there is no pod.
    pub image: String,
    /// Restarts counted by the kubelet.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub restarts: u32,
    /// Whether the kubelet says it is ready.
    #[serde(default)]
    pub ready: bool,
}

fn is_zero(value: &u32) -> bool {
    *value == 0
}

fn is_false(value: &bool) -> bool {
    !*value
}

/// One game server of any family, as a table shows it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ServerRow {
    /// Identity.
    pub key: ServerKey,
    /// uid of the GameServer object; empty while only the pod exists.
    pub uid: String,
    /// The set it belongs to (same family and namespace).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub set: Option<String>,
    /// The id within its set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<u32>,
    /// State in the family's own words, `Ready`, `Creating`, `Crash` …; empty when unknown.
    pub state: String,
    /// opsState; `None` is the quiet one.
    pub ops: String,
    /// Deletion priority as text.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub deletion_priority: String,
    /// Update priority as text.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub update_priority: String,
    /// Whether the network is disabled on purpose.
    #[serde(default, skip_serializing_if = "is_false")]
    pub network_disabled: bool,
    /// Current network state, empty without a network plugin.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub network: String,
    /// Containers in pod order.
    pub containers: Vec<ContainerRow>,
    /// Node of the pod.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node: Option<String>,
    /// Pod IP.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ip: Option<String>,
    /// Players; absent is unknown, which is not 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub players: Option<i64>,
    /// Sum of the containers' restarts.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub restarts: u32,
    /// Creation time of the server, Unix seconds.
    pub created: i64,
    /// Revision label of the pod, empty when it has none.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub revision: String,
    /// Labels of the GameServer that are not bookkeeping of the controllers.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub labels: BTreeMap<String, String>,
}

impl ServerRow {
    /// The key of its set.
    #[must_use]
    pub fn set_key(&self) -> Option<SetKey> {
        self.set.as_ref().map(|set| SetKey::new(self.key.family, &self.key.namespace, set))
    }

    /// In use in the sense of the rule that protects players: Allocated, or players above 0.
    #[must_use]
    pub fn in_use(&self) -> bool {
        self.ops == "Allocated" || self.players.is_some_and(|n| n > 0)
    }
}

/// What a table may be sorted by. Ties are broken by namespace, set, id, name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SortKey {
    /// Namespace, set, id, name.
    #[default]
    Name,
    /// State.
    State,
    /// opsState.
    Ops,
    /// Image of the first container.
    Image,
    /// Node.
    Node,
    /// Players, unknown last.
    Players,
    /// Restarts.
    Restarts,
    /// Age: ascending is youngest first.
    Age,
    /// Deletion priority as a number.
    Dp,
    /// Update priority as a number.
    Up,
    /// Revision.
    Rev,
    /// Pod IP.
    Ip,
}

impl SortKey {
    /// Every key with its word in URLs.
    pub const ALL: [(Self, &'static str); 12] = [
        (Self::Name, "name"),
        (Self::State, "state"),
        (Self::Ops, "ops"),
        (Self::Image, "image"),
        (Self::Node, "node"),
        (Self::Players, "players"),
        (Self::Restarts, "restarts"),
        (Self::Age, "age"),
        (Self::Dp, "dp"),
        (Self::Up, "up"),
        (Self::Rev, "rev"),
        (Self::Ip, "ip"),
    ];

    /// The word in URLs.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        Self::ALL.iter().find(|(key, _)| *key == self).map_or("name", |(_, word)| word)
    }

    /// Reads the word of a URL; `None` for an unknown one.
    #[must_use]
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.iter().find(|(_, w)| *w == word).map(|(key, _)| *key)
    }
}

/// Most rows one window may have.
pub const MAX_WINDOW: u32 = 1000;

/// A window over the filtered, sorted servers.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(default)]
pub struct ServersQuery {
    /// Filter text.
    pub q: String,
    /// Namespace to look at; empty is all.
    pub ns: String,
    /// Sort key.
    pub sort: SortKey,
    /// Descending.
    pub desc: bool,
    /// First line, counted from 0. Lines are rows, and the heads of groups where there are some.
    pub offset: u32,
    /// Lines wanted, at most [`MAX_WINDOW`].
    pub limit: u32,
    /// What the rows are grouped by: `set` or a dimension of the deck (`state`, `node`, `label.KEY` …); empty is nothing.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub group: String,
    /// Values of the groups that show their head only.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub folded: Vec<String>,
}

/// The head of a group in a grouped table.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct GroupHead {
    /// Its line, counted from the top of the whole table.
    pub line: u32,
    /// The value that its rows share: `namespace/name` of a set, else as the filter language has it (`group:value`
    /// finds them); empty for those that have none.
    pub value: String,
    /// Servers in the group.
    pub count: u32,
    /// Whether its rows are folded away.
    #[serde(default, skip_serializing_if = "is_false")]
    pub folded: bool,
}

/// One value with how many servers have it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Count {
    /// The value.
    pub value: String,
    /// How many.
    pub count: u32,
}

/// Counts over everything that the filter matches.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Counts {
    /// By state, most first.
    pub state: Vec<Count>,
    /// By opsState, most first.
    pub ops: Vec<Count>,
    /// Servers in use.
    pub in_use: u32,
    /// Sum of known players; absent when no server has a number.
    pub players: Option<i64>,
}

/// The rows in view, with the counters around them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ServersWindow {
    /// Version of the board the window was read from.
    pub version: u64,
    /// Servers in the cluster (within the namespace asked for).
    pub total: u32,
    /// Servers that the filter matches.
    pub matched: u32,
    /// Lines of the whole table: the rows that are not folded away and the heads of groups.
    #[serde(default)]
    pub lines: u32,
    /// First line, counted from 0; moved back when the table got shorter.
    pub offset: u32,
    /// The heads in view, and the one that the first row belongs to where its head is above. Empty without groups.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub heads: Vec<GroupHead>,
    /// The rows in view.
    pub rows: Vec<ServerRow>,
    /// Counters over the match.
    pub counts: Counts,
}

/// What changed between two windows of one query.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ServersDelta {
    /// Version of the newer window.
    pub version: u64,
    /// As in [`ServersWindow`].
    pub total: u32,
    /// As in [`ServersWindow`].
    pub matched: u32,
    /// As in [`ServersWindow`].
    #[serde(default)]
    pub lines: u32,
    /// As in [`ServersWindow`].
    pub offset: u32,
    /// The heads of the newer window, when they changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub heads: Option<Vec<GroupHead>>,
    /// The keys of the newer window in order, when membership or order changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub order: Option<Vec<ServerKey>>,
    /// Rows that are new in the window or differ from the older one.
    pub rows: Vec<ServerRow>,
    /// Counters, when they changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub counts: Option<Counts>,
}

impl ServersWindow {
    /// Applies a delta; rows that leave the window are dropped. Keys of `order` that neither side knows are left out.
    pub fn apply(&mut self, delta: ServersDelta) {
        self.version = delta.version;
        self.total = delta.total;
        self.matched = delta.matched;
        self.lines = delta.lines;
        self.offset = delta.offset;
        if let Some(heads) = delta.heads {
            self.heads = heads;
        }
        if let Some(counts) = delta.counts {
            self.counts = counts;
        }
        let mut changed: BTreeMap<ServerKey, ServerRow> =
            delta.rows.into_iter().map(|row| (row.key.clone(), row)).collect();
        if let Some(order) = delta.order {
            let mut old: BTreeMap<ServerKey, ServerRow> =
                std::mem::take(&mut self.rows).into_iter().map(|row| (row.key.clone(), row)).collect();
            self.rows = order
                .into_iter()
                .filter_map(|key| changed.remove(&key).or_else(|| old.remove(&key)))
                .collect();
        } else {
            for row in &mut self.rows {
                if let Some(new) = changed.remove(&row.key) {
                    *row = new;
                }
            }
        }
    }
}
