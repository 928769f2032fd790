//! Whether a watch can be believed: in sync since, stale since and why, or the kind is not installed.

use jiff::Timestamp;
use std::sync::Mutex;
use tokio::sync::watch;

/// Where a watch stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum SyncState {
    /// Nothing is watched: the rights do not cover this kind.
    NotWatched,
    /// The list is read and the watch stands.
    InSync,
    /// The first list is being read.
    Starting,
    /// The API does not answer; what is known is served on.
    Stale,
    /// The API answers and refuses: the credentials are not accepted (401) or the rights do not cover it (403). What is
    /// known is served on.
    Refused,
    /// The API server does not know the kind: the CRDs are not installed.
    KindMissing,
}

/// How a watch fares.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Health {
    /// Plural name of the kind, `gameservers`.
    pub kind: String,
    /// Where it stands; the worst of its watches when there are several.
    pub state: SyncState,
    /// Since when.
    pub since: Timestamp,
    /// What the API or the connection said, while it is not in sync.
    pub error: Option<String>,
}

struct ScopeHealth {
    state: SyncState,
    since: Timestamp,
    error: Option<String>,
    /// A complete list has been read since the last time that one was begun.
    listed: bool,
    /// A complete list has been read at least once.
    ever_listed: bool,
}

pub(super) struct HealthBoard {
    scopes: Mutex<Vec<ScopeHealth>>,
    sender: watch::Sender<Health>,
}

impl HealthBoard {
    pub(super) fn new(kind: String, scopes: usize) -> Self {
        let now = Timestamp::now();
        let state = if scopes == 0 { SyncState::NotWatched } else { SyncState::Starting };
        let fresh = || ScopeHealth {
            state: SyncState::Starting,
            since: now,
            error: None,
            listed: false,
            ever_listed: false,
        };
        Self {
            scopes: Mutex::new((0..scopes).map(|_| fresh()).collect()),
            sender: watch::Sender::new(Health { kind, state, since: now, error: None }),
        }
    }

    pub(super) fn subscribe(&self) -> watch::Receiver<Health> {
        self.sender.subscribe()
    }

    pub(super) fn has_synced(&self) -> bool {
        self.lock().iter().all(|scope| scope.ever_listed)
    }

    /// A new list is begun.
    pub(super) fn relisting(&self, scope: usize) {
        self.change(scope, |scope| scope.listed = false);
    }

    /// The list is complete.
    pub(super) fn listed(&self, scope: usize) {
        self.change(scope, |scope| {
            scope.listed = true;
            scope.ever_listed = true;
            scope.enter(SyncState::InSync, None);
        });
    }

    /// The API answered a request of this watch with success. While a list is being read that says nothing yet.
    pub(super) fn answered(&self, scope: usize) {
        self.change(scope, |scope| {
            if scope.listed {
                scope.enter(SyncState::InSync, None);
            }
        });
    }

    /// The watch failed.
    pub(super) fn failed(&self, scope: usize, state: SyncState, error: String) {
        self.change(scope, |scope| scope.enter(state, Some(error)));
    }

    fn change(&self, scope: usize, change: impl FnOnce(&mut ScopeHealth)) {
        let mut scopes = self.lock();
        if let Some(scope) = scopes.get_mut(scope) {
            change(scope);
        }
        let Some(worst) = scopes.iter().max_by_key(|scope| (scope.state, std::cmp::Reverse(scope.since)))
        else {
            return;
        };
        self.sender.send_if_modified(|health| {
            let next = Health {
                kind: health.kind.clone(),
                state: worst.state,
                since: worst.since,
                error: worst.error.clone(),
            };
            let modified = *health != next;
            *health = next;
            modified
        });
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<ScopeHealth>> {
        self.scopes.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

impl ScopeHealth {
    fn enter(&mut self, state: SyncState, error: Option<String>) {
        if self.state != state {
            self.since = Timestamp::now();
            self.state = state;
        }
        self.error = error;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_during_a_list_is_not_yet_in_sync() {
        let board = HealthBoard::new("pods".into(), 1);
        let health = board.subscribe();
        board.answered(0);
        assert_eq!(health.borrow().state, SyncState::Starting);
        board.listed(0);
        assert_eq!(health.borrow().state, SyncState::InSync);
        board.failed(0, SyncState::Stale, "gone".into());
        board.relisting(0);
        board.answered(0);
        assert_eq!(health.borrow().state, SyncState::Stale, "410: the list has to be read again first");
        assert!(board.has_synced(), "what was known is still served");
        board.listed(0);
        assert_eq!((health.borrow().state, health.borrow().error.clone()), (SyncState::InSync, None));
    }

    #[test]
    fn since_stays_while_errors_go_on_and_the_worst_watch_counts() {
        let board = HealthBoard::new("pods".into(), 2);
        let health = board.subscribe();
        board.listed(0);
        assert_eq!(health.borrow().state, SyncState::Starting);
        assert!(!board.has_synced());
        board.listed(1);
        board.failed(1, SyncState::Stale, "first".into());
        let since = health.borrow().since;
        board.failed(1, SyncState::Stale, "second".into());
        assert_eq!((health.borrow().since, health.borrow().error.as_deref()), (since, Some("second")));
        board.failed(0, SyncState::KindMissing, "no such kind".into());
        assert_eq!(health.borrow().state, SyncState::KindMissing);
        board.answered(0);
        assert_eq!(health.borrow().error.as_deref(), Some("second"));
    }
}
