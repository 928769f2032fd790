//! The deck: every server as one cell, sets as decks, in a compact form.

use crate::{key::SetKey, row::Count};
use serde::{Deserialize, Serialize};

/// What the deck shows.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(default)]
pub struct DeckQuery {
    /// Filter text.
    pub q: String,
    /// Namespace; empty is all.
    pub ns: String,
    /// What colours the cells: `state` (also when empty), `ops`, `image`, `node`, `players`, `age`, `label.K`.
    pub by: String,
}

/// One set's cells. Servers without a set form a deck with an empty name in each namespace.
///
/// The lists run in parallel, one entry a server, ordered by id, then name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeckSet {
    /// The set; the name is empty for servers without one.
    pub key: SetKey,
    /// Ids within the set; for servers without an id the position.
    pub ids: Vec<u32>,
    /// Full names, only when a name is not `<set>-<id>`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub names: Vec<String>,
    /// Index into [`DeckSnapshot::states`].
    pub state: Vec<u8>,
    /// Index into [`DeckSnapshot::ops`].
    pub ops: Vec<u8>,
    /// Index into [`DeckSnapshot::legend`].
    pub category: Vec<u16>,
    /// Replicas wanted by the spec; absent when there is no set object.
    pub wanted: Option<u32>,
    /// Ready servers.
    pub ready: u32,
}

impl DeckSet {
    /// The name of the server at a position.
    #[must_use]
    pub fn server_name(&self, index: usize) -> Option<String> {
        if let Some(name) = self.names.get(index) {
            return Some(name.clone());
        }
        self.ids.get(index).map(|id| format!("{}-{id}", self.key.name))
    }
}

/// All cells that the filter matches.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeckSnapshot {
    /// Version of the board.
    pub version: u64,
    /// Servers in all.
    pub total: u32,
    /// Servers that the filter matches.
    pub matched: u32,
    /// State words that `DeckSet::state` points into.
    pub states: Vec<String>,
    /// opsState words that `DeckSet::ops` points into.
    pub ops: Vec<String>,
    /// Categories of the chosen dimension with counts, in a stable order; `DeckSet::category` points into it.
    pub legend: Vec<Count>,
    /// The decks, ordered by key.
    pub sets: Vec<DeckSet>,
}

/// A cell that changed: position in its set, state, opsState, category.
pub type DeckCell = (u32, u8, u8, u16);

/// What changed between two deck snapshots of one query: new word lists whenever they grew or counts moved,
/// sets that changed in full membership, and single cells otherwise.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeckDelta {
    /// Version of the newer snapshot.
    pub version: u64,
    /// As in the snapshot.
    pub total: u32,
    /// As in the snapshot.
    pub matched: u32,
    /// As in the snapshot.
    pub states: Vec<String>,
    /// As in the snapshot.
    pub ops: Vec<String>,
    /// As in the snapshot.
    pub legend: Vec<Count>,
    /// Sets that are new or whose members changed, whole.
    pub sets: Vec<DeckSet>,
    /// Sets that are gone.
    pub gone: Vec<SetKey>,
    /// Cells of sets whose members did not change: set, position, state, ops, category.
    pub cells: Vec<(SetKey, Vec<DeckCell>)>,
    /// wanted and ready of sets in `cells` or otherwise changed: set, wanted, ready.
    pub figures: Vec<(SetKey, Option<u32>, u32)>,
}

impl DeckSnapshot {
    /// Applies a delta made against exactly this snapshot.
    pub fn apply(&mut self, delta: DeckDelta) {
        self.version = delta.version;
        self.total = delta.total;
        self.matched = delta.matched;
        self.states = delta.states;
        self.ops = delta.ops;
        self.legend = delta.legend;
        self.sets.retain(|set| !delta.gone.contains(&set.key));
        for set in delta.sets {
            match self.sets.binary_search_by(|old| old.key.cmp(&set.key)) {
                Ok(at) => self.sets[at] = set,
                Err(at) => self.sets.insert(at, set),
            }
        }
        for (key, cells) in delta.cells {
            let Ok(at) = self.sets.binary_search_by(|old| old.key.cmp(&key)) else { continue };
            let set = &mut self.sets[at];
            for (position, state, ops, category) in cells {
                let position = position as usize;
                if position < set.ids.len() {
                    set.state[position] = state;
                    set.ops[position] = ops;
                    set.category[position] = category;
                }
            }
        }
        for (key, wanted, ready) in delta.figures {
            if let Ok(at) = self.sets.binary_search_by(|old| old.key.cmp(&key)) {
                self.sets[at].wanted = wanted;
                self.sets[at].ready = ready;
            }
        }
    }
}
