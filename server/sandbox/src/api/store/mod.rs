//! Storage: one ordered shelf of immutable versions per kind, one global revision, a bounded history for watches.
//!
//! Every shelf has its own lock, held for map operations only. A write takes its revision inside the lock of its shelf, so
//! whoever holds that lock and reads the global revision knows that all writes of this shelf up to it are done.
mod list;
mod object;
mod watch;

use std::collections::{BTreeMap, VecDeque};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};

pub use list::{Page, PageQuery};
pub use object::{Draft, Key, Labels, Stored};
pub use watch::{Batch, Cursor};

/// What happened to an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    /// It was created.
    Added,
    /// It has a new version.
    Modified,
    /// It is gone; the version is its last content under the revision of its removal.
    Deleted,
}

/// One committed write.
#[derive(Debug, Clone)]
pub struct Event {
    /// What happened.
    pub change: Change,
    /// The new version.
    pub object: Arc<Stored>,
    /// The version before.
    pub previous: Option<Arc<Stored>>,
}

/// Why a write was not committed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum CommitError {
    /// There is an object of this name already.
    #[error("already exists")]
    Exists,
    /// There is no such object.
    #[error("not found")]
    Missing,
    /// The object has another version than the writer saw.
    #[error("changed meanwhile")]
    Changed,
}

/// All shelves and the global revision.
#[derive(Debug)]
pub struct Store {
    revision: Arc<AtomicU64>,
    history_bytes: usize,
    shelves: RwLock<BTreeMap<String, Arc<Shelf>>>,
}

impl Store {
    /// An empty store; each kind keeps up to `history_bytes` of past versions for watches and paged lists.
    pub fn new(history_bytes: usize) -> Self {
        Self { revision: Arc::new(AtomicU64::new(1)), history_bytes, shelves: RwLock::default() }
    }

    /// The shelf of a kind, made when it is new. The name is `plural.group`: all versions of a kind share one.
    pub fn shelf(&self, name: &str) -> Arc<Shelf> {
        let mut shelves = self.shelves.write().unwrap_or_else(PoisonError::into_inner);
        let make = || Arc::new(Shelf::new(self.revision.clone(), self.history_bytes));
        shelves.entry(name.to_owned()).or_insert_with(make).clone()
    }

    /// Forgets a kind and all its objects, and ends its watches.
    pub fn drop_shelf(&self, name: &str) {
        let gone = self.shelves.write().unwrap_or_else(PoisonError::into_inner).remove(name);
        if let Some(shelf) = gone {
            shelf.close();
        }
    }

    /// Forgets the watch history of every kind, as a compaction does.
    pub fn compact(&self) {
        for shelf in self.shelves.read().unwrap_or_else(PoisonError::into_inner).values() {
            shelf.compact();
        }
    }

    /// The newest revision.
    pub fn revision(&self) -> u64 {
        self.revision.load(Ordering::SeqCst)
    }
}

#[derive(Debug, Default)]
struct Inner {
    objects: BTreeMap<Key, Arc<Stored>>,
    history: VecDeque<Event>,
    history_size: usize,
    /// Events up to and including this revision are forgotten.
    floor: u64,
    closed: bool,
}

impl Inner {
    /// The key with the namespace's text of its neighbours: lists compare it for every object, and a text of its own for each
    /// would have to be fetched from memory each time.
    fn with_shared_namespace(&self, key: &Key) -> Key {
        let first = Key { namespace: key.namespace.clone(), name: Arc::from("") };
        let neighbour = self.objects.range(first..).next().map(|(neighbour, _)| &neighbour.namespace);
        let namespace = neighbour.filter(|namespace| **namespace == key.namespace).unwrap_or(&key.namespace);
        Key { namespace: namespace.clone(), name: key.name.clone() }
    }
}

/// The objects of one kind.
#[derive(Debug)]
pub struct Shelf {
    inner: Mutex<Inner>,
    /// Wakes in the order of waiting, so that a simulation repeats itself; tokio's watch channel wakes in a random one.
    changed: tokio::sync::Notify,
    revision: Arc<AtomicU64>,
    history_bytes: usize,
}

impl Shelf {
    fn new(revision: Arc<AtomicU64>, history_bytes: usize) -> Self {
        // What happened before the shelf existed cannot be told: nothing did.
        let inner = Mutex::default();
        Self { inner, changed: tokio::sync::Notify::new(), revision, history_bytes }
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        // A panic while the lock was held cannot leave a half-written map: every operation on it is a single call.
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether there is nothing.
    pub fn is_empty(&self) -> bool {
        self.lock().objects.is_empty()
    }

    /// The current version of an object.
    pub fn get(&self, key: &Key) -> Option<Arc<Stored>> {
        self.lock().objects.get(key).cloned()
    }

    /// Commits a new object.
    pub fn create(&self, key: &Key, draft: Draft) -> Result<Arc<Stored>, CommitError> {
        let mut inner = self.lock();
        if inner.objects.contains_key(key) {
            return Err(CommitError::Exists);
        }
        let key = &inner.with_shared_namespace(key);
        let object = Arc::new(draft.commit(key.clone(), self.next()));
        inner.objects.insert(key.clone(), object.clone());
        self.record(&mut inner, Event { change: Change::Added, object: object.clone(), previous: None });
        Ok(object)
    }

    /// Commits a new version of the object whose current revision is `seen`.
    pub fn replace(&self, key: &Key, seen: u64, draft: Draft) -> Result<Arc<Stored>, CommitError> {
        let mut inner = self.lock();
        let previous = inner.objects.get(key).cloned().ok_or(CommitError::Missing)?;
        if previous.revision != seen {
            return Err(CommitError::Changed);
        }
        let object = Arc::new(draft.commit(key.clone(), self.next()));
        inner.objects.insert(key.clone(), object.clone());
        let event = Event { change: Change::Modified, object: object.clone(), previous: Some(previous) };
        self.record(&mut inner, event);
        Ok(object)
    }

    /// Removes the object whose current revision is `seen`; `draft` is its last content.
    pub fn remove(&self, key: &Key, seen: u64, draft: Draft) -> Result<Arc<Stored>, CommitError> {
        let mut inner = self.lock();
        let previous = inner.objects.get(key).cloned().ok_or(CommitError::Missing)?;
        if previous.revision != seen {
            return Err(CommitError::Changed);
        }
        let object = Arc::new(draft.commit(key.clone(), self.next()));
        inner.objects.remove(key);
        let event = Event { change: Change::Deleted, object: object.clone(), previous: Some(previous) };
        self.record(&mut inner, event);
        Ok(object)
    }

    /// Removes every object, each with an event.
    pub fn clear(&self) {
        let mut inner = self.lock();
        while let Some((_, previous)) = inner.objects.pop_first() {
            let draft = Draft::new(&previous.value(), &[]);
            let object = Arc::new(draft.commit(previous.key.clone(), self.next()));
            self.record(&mut inner, Event { change: Change::Deleted, object, previous: Some(previous) });
        }
    }

    fn next(&self) -> u64 {
        self.revision.fetch_add(1, Ordering::SeqCst) + 1
    }

    fn record(&self, inner: &mut Inner, event: Event) {
        inner.history_size += event.object.size();
        inner.history.push_back(event);
        while inner.history_size > self.history_bytes {
            let Some(oldest) = inner.history.pop_front() else { break };
            inner.history_size -= oldest.object.size();
            inner.floor = oldest.object.revision;
        }
        self.changed.notify_waiters();
    }

    fn compact(&self) {
        let mut inner = self.lock();
        inner.history.clear();
        inner.history_size = 0;
        inner.floor = self.revision.load(Ordering::SeqCst);
        self.changed.notify_waiters();
    }

    fn close(&self) {
        self.lock().closed = true;
        self.changed.notify_waiters();
    }
}
