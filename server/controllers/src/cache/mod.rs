//! Watch caches: one watch per kind, shared by the controllers, the board and the pages.
//!
//! A [`Cache`] is kube-runtime's watcher and reflector store, plus what they leave out: an index, an event for every
//! change *and every removal* to any number of observers, the health of the watch ("in sync since", "stale since", "the
//! kind is not installed"), and waiting until one's own write has come back. It recovers by itself from an API that is
//! away, from an expired version (410) and from a kind that is installed later; meanwhile it goes on serving what it
//! knows.

mod contact;
mod feed;
mod health;
mod index;
mod kinds;
mod waiters;

pub use contact::describe;
pub use feed::{CacheEvent, Subscription};
pub use health::{Health, SyncState};
pub use index::Indexer;
pub use kinds::{Caches, Namespaces, POD_NODE, POD_SET, SERVER_SET};
pub use waiters::Expect;

use feed::Feed;
use futures::StreamExt;
use health::HealthBoard;
use index::Index;
use kube::{
    Api, Client, Resource, ResourceExt,
    runtime::{
        reflector::{ObjectRef, Store, store},
        utils::Backoff,
        watcher,
    },
};
use serde::de::DeserializeOwned;
use std::{
    fmt,
    sync::{
        Arc, RwLock,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use waiters::Waiters;

/// Namespace and name. The namespace is empty for cluster-scoped kinds.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Key {
    /// Namespace.
    pub namespace: String,
    /// Name.
    pub name: String,
}

impl Key {
    /// A key from its parts.
    pub fn new(namespace: impl Into<String>, name: impl Into<String>) -> Self {
        Self { namespace: namespace.into(), name: name.into() }
    }

    /// The key of an object.
    pub fn of<K: Resource>(object: &K) -> Self {
        Self::new(object.namespace().unwrap_or_default(), object.name_any())
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.namespace.is_empty() {
            f.write_str(&self.name)
        } else {
            write!(f, "{}/{}", self.namespace, self.name)
        }
    }
}

/// Everything that a kind needs to be held in a [`Cache`].
pub trait Cached:
    Resource<DynamicType = ()> + Clone + fmt::Debug + DeserializeOwned + Send + Sync + 'static
{
    /// The kind in one namespace, or in all of them. A cluster-scoped kind has no namespaces.
    fn api_in(client: Client, namespace: Option<&str>) -> Api<Self>;
}

/// How soon a kind that was not installed is looked for again.
const KIND_RETRY: Duration = Duration::from_secs(2);

/// What a cache watches.
#[derive(Clone, Debug)]
pub struct CacheOptions<K: Cached> {
    /// Where.
    pub namespaces: Namespaces,
    /// Only objects that match; empty is all.
    pub labels: String,
    /// Look-ups that must not walk over everything.
    pub indexers: Vec<Indexer<K>>,
    /// How long one watch request lives. Also how long a silent connection goes unnoticed at most.
    pub watch_timeout: Duration,
}

impl<K: Cached> Default for CacheOptions<K> {
    fn default() -> Self {
        Self {
            namespaces: Namespaces::All,
            labels: String::new(),
            indexers: Vec::new(),
            watch_timeout: Duration::from_secs(60),
        }
    }
}

/// The shared cache of one kind. Cloning gives another handle to the same cache.
pub struct Cache<K: Cached> {
    inner: Arc<Inner<K>>,
}

impl<K: Cached> Clone for Cache<K> {
    fn clone(&self) -> Self {
        Self { inner: self.inner.clone() }
    }
}

struct Scope<K: Cached> {
    namespace: Option<String>,
    store: Store<K>,
    /// Highest resourceVersion that the watch has shown.
    seen: AtomicU64,
}

struct Inner<K: Cached> {
    scopes: Vec<Scope<K>>,
    index: RwLock<Index<K>>,
    feed: Feed<K>,
    health: HealthBoard,
    waiters: Waiters,
}

impl<K: Cached> Cache<K> {
    /// Starts watching; the watches end with `stop`. Must be called inside a tokio runtime.
    #[must_use]
    pub fn start(client: &Client, options: CacheOptions<K>, stop: &CancellationToken) -> Self {
        let places: Vec<Option<String>> = match options.namespaces {
            Namespaces::All => vec![None],
            Namespaces::Only(names) => names.into_iter().map(Some).collect(),
        };
        let (writers, scopes): (Vec<_>, Vec<_>) = places
            .into_iter()
            .map(|namespace| {
                let writer = store::Writer::<K>::new(());
                let store = writer.as_reader();
                (writer, Scope { namespace, store, seen: AtomicU64::new(0) })
            })
            .unzip();
        let inner = Arc::new(Inner {
            health: HealthBoard::new(K::plural(&()).into_owned(), scopes.len()),
            scopes,
            index: RwLock::new(Index::new(options.indexers)),
            feed: Feed::new(),
            waiters: Waiters::default(),
        });
        let mut config =
            watcher::Config::default().timeout(u32::try_from(options.watch_timeout.as_secs()).unwrap_or(290));
        if !options.labels.is_empty() {
            config = config.labels(&options.labels);
        }
        for (number, writer) in writers.into_iter().enumerate() {
            let run = Cache { inner: inner.clone() }.follow(number, writer, client.clone(), config.clone());
            let stop = stop.clone();
            tokio::spawn(async move {
                tokio::select! {
                    () = stop.cancelled() => {}
                    () = run => {}
                }
            });
        }
        Self { inner }
    }

    /// A cache that watches nothing, for kinds that the rights do not cover. Its state is [`SyncState::NotWatched`].
    #[must_use]
    pub fn unwatched() -> Self {
        let inner = Inner {
            scopes: Vec::new(),
            index: RwLock::new(Index::new(Vec::new())),
            feed: Feed::new(),
            health: HealthBoard::new(K::plural(&()).into_owned(), 0),
            waiters: Waiters::default(),
        };
        Self { inner: Arc::new(inner) }
    }

    /// Whether anything is watched at all.
    #[must_use]
    pub fn is_watching(&self) -> bool {
        !self.inner.scopes.is_empty()
    }

    /// The object, as far as the watch has seen it.
    #[must_use]
    pub fn get(&self, key: &Key) -> Option<Arc<K>> {
        let mut reference = ObjectRef::<K>::new(&key.name);
        if !key.namespace.is_empty() {
            reference = reference.within(&key.namespace);
        }
        self.inner
            .scopes
            .iter()
            .filter(|scope| scope.covers(&key.namespace))
            .find_map(|s| s.store.get(&reference))
    }

    /// All objects, in no order.
    #[must_use]
    pub fn all(&self) -> Vec<Arc<K>> {
        self.inner.scopes.iter().flat_map(|scope| scope.store.state()).collect()
    }

    /// How many objects.
    #[must_use]
    pub fn len(&self) -> usize {
        self.inner.scopes.iter().map(|scope| scope.store.len()).sum()
    }

    /// Whether there is no object.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The reflector stores, one for each watch (a single one unless only some namespaces are watched).
    pub fn stores(&self) -> impl Iterator<Item = Store<K>> + '_ {
        self.inner.scopes.iter().map(|scope| scope.store.clone())
    }

    /// The objects that an [`Indexer`] files under `value`, in no order. Empty when no indexer has that name.
    #[must_use]
    pub fn indexed(&self, indexer: &str, value: &str) -> Vec<Arc<K>> {
        read(&self.inner.index).get(indexer, value)
    }

    /// Every change from now on, after one [`CacheEvent::Restarted`] with what is known (once the first list is in). A
    /// slow observer never holds memory: it gets a new `Restarted` in the place of what it missed.
    #[must_use]
    pub fn subscribe(&self) -> Subscription<K> {
        self.inner.feed.subscribe(self.clone())
    }

    /// How the watch fares, with every change of it.
    #[must_use]
    pub fn health(&self) -> watch::Receiver<Health> {
        self.inner.health.subscribe()
    }

    /// Whether the first list has been read, so that a missing object means that there is none.
    #[must_use]
    pub fn has_synced(&self) -> bool {
        self.inner.health.has_synced()
    }

    /// Waits for the first list; at once for a cache that watches nothing.
    pub async fn wait_synced(&self) {
        let mut health = self.health();
        while !self.has_synced() {
            if health.changed().await.is_err() {
                return;
            }
        }
    }

    /// Waits until the cache shows what was just written; `false` when that took longer than `timeout`.
    pub async fn wait_seen(&self, key: &Key, expect: Expect, timeout: Duration) -> bool {
        let Some(seen) = self.inner.waiters.register(key, &expect, || self.shows(key, &expect)) else {
            return true;
        };
        tokio::time::timeout(timeout, seen).await.is_ok()
    }

    fn shows(&self, key: &Key, expect: &Expect) -> bool {
        let current = self.get(key);
        let seen = self
            .inner
            .scopes
            .iter()
            .filter(|scope| scope.covers(&key.namespace))
            .map(|scope| scope.seen.load(Ordering::Acquire))
            .max();
        // Where nothing is watched nothing can ever be seen: waiting would only cost time.
        seen.is_none_or(|seen| expect.is_met(current.as_deref(), seen))
    }

    /// Takes one event of a watch in: store, index, then everybody who waits or observes.
    fn take(&self, scope_number: usize, writer: &mut store::Writer<K>, event: &watcher::Event<K>) {
        let Some(scope) = self.inner.scopes.get(scope_number) else { return };
        match event {
            watcher::Event::Apply(object) => {
                writer.apply_watcher_event(event);
                let key = Key::of(object);
                scope.advance(object);
                if let Some(stored) = self.get(&key) {
                    write(&self.inner.index).insert(&key, &stored);
                    self.tell(&key);
                    self.inner.feed.send(CacheEvent::Applied(stored));
                }
            }
            watcher::Event::Delete(object) => {
                writer.apply_watcher_event(event);
                let key = Key::of(object);
                scope.advance(object);
                write(&self.inner.index).remove(&key);
                self.tell(&key);
                self.inner.feed.send(CacheEvent::Deleted(Arc::new(object.clone())));
            }
            watcher::Event::Init => {
                self.inner.health.relisting(scope_number);
                writer.apply_watcher_event(event);
            }
            watcher::Event::InitApply(object) => {
                scope.advance(object);
                writer.apply_watcher_event(event);
            }
            watcher::Event::InitDone => self.take_list(scope_number, scope, writer, event),
        }
    }

    fn take_list(
        &self,
        scope_number: usize,
        scope: &Scope<K>,
        writer: &mut store::Writer<K>,
        event: &watcher::Event<K>,
    ) {
        let before = scope.store.state();
        writer.apply_watcher_event(event);
        let gone: Vec<Arc<K>> =
            before.into_iter().filter(|object| self.get(&Key::of(&**object)).is_none()).collect();
        {
            let mut index = write(&self.inner.index);
            for object in &gone {
                index.remove(&Key::of(&**object));
            }
            for object in scope.store.state() {
                index.insert(&Key::of(&*object), &object);
            }
        }
        self.inner.health.listed(scope_number);
        self.inner.waiters.recheck(|key, expect| self.shows(key, expect));
        for object in gone {
            self.inner.feed.send(CacheEvent::Deleted(object));
        }
        self.inner.feed.send(CacheEvent::Restarted(self.all()));
    }

    fn tell(&self, key: &Key) {
        self.inner.waiters.tell(key, |expect| self.shows(key, expect));
    }

    /// Follows one watch for ever. What goes wrong is reported to the health and tried again.
    async fn follow(
        self,
        number: usize,
        mut writer: store::Writer<K>,
        client: Client,
        config: watcher::Config,
    ) {
        let namespace = self.inner.scopes.get(number).and_then(|scope| scope.namespace.clone());
        let board = self.clone();
        let client = contact::observed(client, move || board.inner.health.answered(number));
        let mut events = std::pin::pin!(watcher(K::api_in(client, namespace.as_deref()), config));
        let mut backoff = watcher::DefaultBackoff::default();
        while let Some(event) = events.next().await {
            match event {
                Ok(event) => {
                    // A list that begins says nothing about the API yet; everything else came from it.
                    if !matches!(event, watcher::Event::Init) {
                        backoff.reset();
                    }
                    self.take(number, &mut writer, &event);
                }
                Err(error) => {
                    let state = contact::state_after(&error);
                    let text = contact::describe_watch(&error);
                    tracing::debug!(kind = %K::plural(&()), error = %text, "watch failed, trying again");
                    self.inner.health.failed(number, state, text);
                    // A kind is installed by somebody who then looks at the page: do not let them wait half a minute.
                    let pause = match state {
                        SyncState::KindMissing => KIND_RETRY,
                        _ => backoff.next().unwrap_or(KIND_RETRY),
                    };
                    tokio::time::sleep(pause).await;
                }
            }
        }
    }
}

impl<K: Cached> Scope<K> {
    fn covers(&self, namespace: &str) -> bool {
        self.namespace.as_deref().is_none_or(|own| own == namespace)
    }

    fn advance(&self, object: &K) {
        self.seen.fetch_max(version_of(object), Ordering::AcqRel);
    }
}

/// The resourceVersion as a number, 0 when there is none. Kubernetes promises since 1.35 that they compare as numbers;
/// etcd's always did.
pub(crate) fn version_of<K: Resource>(object: &K) -> u64 {
    object.meta().resource_version.as_deref().and_then(|text| text.parse().ok()).unwrap_or(0)
}

// A poisoned lock means that a reader panicked; the data under these locks is never left half-written.
fn read<T>(lock: &RwLock<T>) -> std::sync::RwLockReadGuard<'_, T> {
    lock.read().unwrap_or_else(std::sync::PoisonError::into_inner)
}

fn write<T>(lock: &RwLock<T>) -> std::sync::RwLockWriteGuard<'_, T> {
    lock.write().unwrap_or_else(std::sync::PoisonError::into_inner)
}
