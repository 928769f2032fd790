//! Looking on as writes are committed: who wrote what, with the version before and the version after.
//!
//! For tests and simulations that judge every write. An observer is called in the middle of the request, after the commit
//! and before the answer; it must be quick and must not call the API.
use std::fmt;
use std::sync::{Arc, PoisonError, RwLock};

use serde_json::Value;

use super::store::Stored;

/// One committed write, while it is being made.
#[derive(Debug)]
pub struct Commit<'a> {
    /// `create`, `update`, `patch`, `delete` or `deletecollection`.
    pub verb: &'a str,
    /// Plural and group: `pods`, `gameservers.game.kruise.io`.
    pub resource: &'a str,
    /// `status`, `binding` and the like.
    pub subresource: Option<&'a str>,
    /// Header `User-Agent` of the request; empty for writes of the server's own.
    pub user_agent: &'a str,
    pub(super) before: Option<&'a Stored>,
    pub(super) after: &'a Stored,
    pub(super) removed: bool,
}

impl Commit<'_> {
    /// Namespace (empty for cluster-wide kinds) and name.
    pub fn key(&self) -> (&str, &str) {
        (&self.after.key.namespace, &self.after.key.name)
    }

    /// The revision of the store that the write made.
    pub fn revision(&self) -> u64 {
        self.after.revision
    }

    /// The object as it was; `None` when it is new.
    pub fn before(&self) -> Option<Value> {
        self.before.map(Stored::value)
    }

    /// The object as it is now; `None` when it is gone.
    pub fn after(&self) -> Option<Value> {
        (!self.removed).then(|| self.after.value())
    }
}

/// Is told of every commit.
pub type Observer = Arc<dyn Fn(&Commit<'_>) + Send + Sync>;

/// Those who look on.
#[derive(Default)]
pub(super) struct Observers(RwLock<Vec<Observer>>);

impl Observers {
    pub fn add(&self, observer: Observer) {
        self.0.write().unwrap_or_else(PoisonError::into_inner).push(observer);
    }

    pub fn tell(&self, commit: &Commit<'_>) {
        for observer in &*self.0.read().unwrap_or_else(PoisonError::into_inner) {
            observer(commit);
        }
    }
}

impl fmt::Debug for Observers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let count = self.0.read().unwrap_or_else(PoisonError::into_inner).len();
        write!(f, "Observers({count})")
    }
}
