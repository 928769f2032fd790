//! The board behind a lock that is held for moments only, with the clock of this machine.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crds::slim::{SlimGameServer, SlimGameServerSet, SlimNode, SlimPod};
use tokio::sync::watch;
use wire::deck::{DeckQuery, DeckSnapshot};
use wire::error::ApiError;
use wire::key::{ServerKey, SetKey};
use wire::live::Totals;
use wire::row::{Count, ServerRow, ServersQuery, ServersWindow};
use wire::set::{SetDetail, SetRow};

use crate::board::{Board, Place};
use crate::players::PlayersFrom;
use crate::snapshot::Snapshot;

/// So many objects of a list are taken in at once; then others get their turn.
const AT_ONCE: usize = 256;

/// A board for many readers and a few writers. Cloning gives another handle to the same board.
///
/// Questions are answered from a [`Snapshot`] outside the lock. Use [`SharedBoard::snapshot`] where several answers
/// must fit together.
#[derive(Clone, Debug)]
pub struct SharedBoard {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    board: Mutex<Board>,
    changed: watch::Sender<u64>,
}

impl Default for SharedBoard {
    fn default() -> Self {
        Self::new(PlayersFrom::Nowhere)
    }
}

/// Unix seconds.
fn now() -> i64 {
    jiff::Timestamp::now().as_second()
}

impl SharedBoard {
    /// An empty board that takes the number of players from there.
    #[must_use]
    pub fn new(players: PlayersFrom) -> Self {
        let inner = Inner { board: Mutex::new(Board::new(players)), changed: watch::Sender::new(0) };
        Self { inner: Arc::new(inner) }
    }

    /// Tells of every new version. The value is the version; versions may be skipped.
    #[must_use]
    pub fn changed(&self) -> watch::Receiver<u64> {
        self.inner.changed.subscribe()
    }

    /// The version of the board now.
    #[must_use]
    pub fn version(&self) -> u64 {
        self.lock().version()
    }

    /// The board as it is now.
    #[must_use]
    pub fn snapshot(&self) -> Arc<Snapshot> {
        self.lock().snapshot()
    }

    fn lock(&self) -> MutexGuard<'_, Board> {
        // A panic in a writer cannot leave half a row: rows are whole before they are put in.
        self.inner.board.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes the board and tells who listens if that made a difference.
    pub fn update<T>(&self, change: impl FnOnce(&mut Board) -> T) -> T {
        let (answer, version) = {
            let mut board = self.lock();
            (change(&mut board), board.version())
        };
        self.inner.changed.send_if_modified(|told| {
            let news = version > *told;
            *told = version.max(*told);
            news
        });
        answer
    }

    /// As [`Board::apply_server`].
    pub fn apply_server(&self, server: &SlimGameServer) {
        self.update(|board| board.apply_server(server));
    }

    /// As [`Board::remove_server`].
    pub fn remove_server(&self, server: &SlimGameServer) {
        self.update(|board| board.remove_server(server));
    }

    /// These are all GameServers that there are.
    pub fn replace_servers<T: AsRef<SlimGameServer>>(&self, servers: impl IntoIterator<Item = T>) {
        let listed = self.in_turns(servers, |board, server| {
            board.apply_server(server.as_ref());
            Place::of(&server.as_ref().metadata)
        });
        self.update(|board| board.keep_servers(&listed));
    }

    /// As [`Board::apply_pod`].
    pub fn apply_pod(&self, pod: &SlimPod) {
        self.update(|board| board.apply_pod(pod));
    }

    /// As [`Board::remove_pod`].
    pub fn remove_pod(&self, pod: &SlimPod) {
        self.update(|board| board.remove_pod(pod));
    }

    /// These are all pods that there are.
    pub fn replace_pods<T: AsRef<SlimPod>>(&self, pods: impl IntoIterator<Item = T>) {
        let listed = self.in_turns(pods, |board, pod| {
            board.apply_pod(pod.as_ref());
            Place::of(&pod.as_ref().metadata)
        });
        self.update(|board| board.keep_pods(&listed));
    }

    /// As [`Board::apply_set`].
    pub fn apply_set(&self, set: &Arc<SlimGameServerSet>) {
        self.update(|board| board.apply_set(set));
    }

    /// As [`Board::remove_set`].
    pub fn remove_set(&self, set: &SlimGameServerSet) {
        self.update(|board| board.remove_set(set));
    }

    /// These are all sets that there are.
    pub fn replace_sets(&self, sets: &[Arc<SlimGameServerSet>]) {
        let all: Vec<&SlimGameServerSet> = sets.iter().map(|set| &**set).collect();
        self.update(|board| {
            sets.iter().for_each(|set| board.apply_set(set));
            board.keep_sets(&all);
        });
    }

    /// As [`Board::apply_node`].
    pub fn apply_node(&self, node: &SlimNode) {
        self.update(|board| board.apply_node(node));
    }

    /// As [`Board::remove_node`].
    pub fn remove_node(&self, node: &SlimNode) {
        self.update(|board| board.remove_node(node));
    }

    /// These are all nodes that there are.
    pub fn replace_nodes(&self, nodes: &[Arc<SlimNode>]) {
        let all: Vec<&SlimNode> = nodes.iter().map(|node| &**node).collect();
        self.update(|board| {
            nodes.iter().for_each(|node| board.apply_node(node));
            board.keep_nodes(&all);
        });
    }

    /// Takes a list in, piece by piece, and tells what was in it. It is never held whole: the objects may be made while they
    /// are walked over.
    fn in_turns<T>(
        &self,
        all: impl IntoIterator<Item = T>,
        mut take: impl FnMut(&mut Board, &T) -> Option<Place>,
    ) -> HashSet<Place> {
        let mut all = all.into_iter().peekable();
        let mut listed = HashSet::new();
        while all.peek().is_some() {
            self.update(|board| {
                listed.extend(all.by_ref().take(AT_ONCE).filter_map(|one| take(board, &one)));
            });
        }
        listed
    }

    /// As [`Snapshot::servers`], now.
    ///
    /// # Errors
    /// The filter cannot be understood.
    pub fn servers(&self, query: &ServersQuery) -> Result<ServersWindow, ApiError> {
        self.snapshot().servers(query, now())
    }

    /// As [`Snapshot::deck`], now.
    ///
    /// # Errors
    /// The filter or the dimension cannot be understood.
    pub fn deck(&self, query: &DeckQuery) -> Result<DeckSnapshot, ApiError> {
        self.snapshot().deck(query, now())
    }

    /// As [`Snapshot::keys`], now.
    ///
    /// # Errors
    /// The filter cannot be understood.
    pub fn keys(&self, q: &str, namespace: &str) -> Result<Vec<ServerKey>, ApiError> {
        self.snapshot().keys(q, namespace, now())
    }

    /// As [`Snapshot::values`].
    #[must_use]
    pub fn values(&self, field: &str, namespace: &str, typed: &str, limit: usize) -> Vec<Count> {
        self.snapshot().values(field, namespace, typed, limit)
    }

    /// As [`Snapshot::totals`], now.
    #[must_use]
    pub fn totals(&self) -> Totals {
        self.snapshot().totals(now())
    }

    /// As [`Snapshot::sets`].
    #[must_use]
    pub fn sets(&self, namespace: &str) -> Vec<SetRow> {
        self.snapshot().sets(namespace)
    }

    /// As [`Snapshot::set`].
    #[must_use]
    pub fn set(&self, key: &SetKey) -> Option<SetDetail> {
        self.snapshot().set(key)
    }

    /// As [`Snapshot::server`].
    #[must_use]
    pub fn server(&self, key: &ServerKey) -> Option<ServerRow> {
        self.snapshot().server(key)
    }

    /// Players of a server; absent is unknown.
    #[must_use]
    pub fn players(&self, key: &ServerKey) -> Option<i64> {
        self.snapshot().row(key).and_then(|row| row.players())
    }
}

#[cfg(test)]
#[path = "shared_test.rs"]
mod tests;
