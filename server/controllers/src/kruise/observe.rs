//! What the planning sees: typed facts taken from the cached objects, and nothing of the API around them.

use super::{
    ordinals::Ordinal,
    state::{Lifecycle, Phase},
};
use jiff::Timestamp;

/// Who controls a pod.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Controller {
    /// The set that is being planned.
    #[default]
    Ours,
    /// Nobody: made by hand, or left over by a workload that was deleted with `--cascade=orphan`.
    Nobody,
    /// Something else, as `Kind/name`.
    Other(String),
}

/// One pod that carries the label `game.kruise.io/owner-gss` of the set.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PodFacts {
    /// Object name.
    pub name: String,
    /// Object uid.
    pub uid: String,
    /// Its id; `None` for a stray pod whose name is not `<set>-<id>`.
    pub ordinal: Option<Ordinal>,
    /// Label `game.kruise.io/gs-opsState`, empty when absent.
    pub ops_state: String,
    /// Label `game.kruise.io/gs-delete-priority`, empty when absent.
    pub deletion_priority: String,
    /// Label `game.kruise.io/gs-state`, empty when absent.
    pub state: String,
    /// Lifecycle label.
    pub lifecycle: Lifecycle,
    /// Whether it has a deletion timestamp.
    pub deleting: bool,
    /// Phase.
    pub phase: Phase,
    /// Ready condition: true only for status `True`, `None` when there is none.
    pub ready: Option<bool>,
    /// When the Ready condition changed the last time.
    pub ready_since: Option<Timestamp>,
    /// Label `controller-revision-hash`, empty when absent.
    pub revision: String,
    /// Creation time.
    pub created: Option<Timestamp>,
    /// Who controls it.
    pub controller: Controller,
    /// Whether a label or finalizer of the set's preDelete hook is on it, so that its removal has to wait.
    pub held: bool,
}

impl PodFacts {
    /// Whether it counts as a server of the set: alive and not waiting for a preDelete hook.
    #[must_use]
    pub fn counts(&self) -> bool {
        !self.deleting && self.lifecycle != Lifecycle::PreparingDelete
    }

    /// Whether it is ready now.
    #[must_use]
    pub fn is_ready(&self) -> bool {
        self.ready == Some(true) && !self.deleting
    }
}
