//! Watch caches: one watch per kind, shared by the controllers, the board and the pages.
//!
//! A [`Cache`] is kube-runtime's watcher, plus what its reflector leaves out: objects that lie packed while nobody looks
//! at them (kube's store holds them as they are: measured at 50,000 servers, more than twice of what the whole process may
//! have), an index, an event for every change *and every removal* to any number of observers, the health of the watch ("in
//! sync since", "stale since", "the kind is not installed"), and waiting until one's own write has come back. It recovers by
//! itself from an API that is away, from an expired version (410) and from a kind that is installed later; meanwhile it goes
//! on serving what it knows.

mod contact;
mod feed;
mod health;
mod index;
mod kinds;
mod rest;
mod waiters;

pub use contact::describe;
pub use feed::{CacheEvent, Subscription};
pub use health::{Health, SyncState};
pub use index::Indexer;
pub use kinds::{Caches, Namespaces, POD_NODE, POD_SET, SERVER_SET};
pub use rest::{Listing, Rest};
pub use waiters::Expect;

use backon::ExponentialBuilder;
use feed::Feed;
use futures::StreamExt;
use health::HealthBoard;
use index::Index;
use kube::{
    Api, Client, Resource, ResourceExt,
    runtime::{utils::Backoff, watcher},
};
use serde::de::DeserializeOwned;
use std::{
    collections::BTreeMap,
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
    /// The form in which it lies in the cache.
    type Rest: Rest<Object = Self>;

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
    /// Seed of the spread of pauses after failures; from the machine's randomness when absent.
    pub jitter_seed: Option<u64>,
}

impl<K: Cached> Default for CacheOptions<K> {
    fn default() -> Self {
        Self {
            namespaces: Namespaces::All,
            labels: String::new(),
            indexers: Vec::new(),
            watch_timeout: Duration::from_secs(60),
            jitter_seed: None,
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

/// In order, so that who walks over them does it the same way every time.
type Objects<K> = BTreeMap<Arc<Key>, <K as Cached>::Rest>;

struct Scope<K: Cached> {
    namespace: Option<String>,
    objects: RwLock<Objects<K>>,
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
        let scopes: Vec<Scope<K>> = places
            .into_iter()
            .map(|namespace| Scope { namespace, objects: RwLock::default(), seen: AtomicU64::new(0) })
            .collect();
        let count = scopes.len();
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
        for number in 0..count {
            let backoff = backoff(options.jitter_seed);
            let run = Cache { inner: inner.clone() }.follow(number, client.clone(), config.clone(), backoff);
            let stop = stop.clone();
            tokio::spawn(async move {
                tokio::select! {
                    biased;
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
        // Woken after the lock is given back.
        let found = self.covering(&key.namespace).find_map(|scope| read(&scope.objects).get(key).cloned());
        found.map(|object| object.wake())
    }

    /// All objects, by namespace and name (with several watches: one after the other).
    #[must_use]
    pub fn all(&self) -> Vec<Arc<K>> {
        self.listing().iter().collect()
    }

    /// Everything there is, not woken yet.
    #[must_use]
    pub fn listing(&self) -> Listing<K> {
        let mut all = Vec::with_capacity(self.len());
        for scope in &self.inner.scopes {
            all.extend(read(&scope.objects).values().cloned());
        }
        Listing::new(all)
    }

    /// How many objects.
    #[must_use]
    pub fn len(&self) -> usize {
        self.inner.scopes.iter().map(|scope| read(&scope.objects).len()).sum()
    }

    /// Whether there is no object.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The objects that an [`Indexer`] files under `value`, by namespace and name. Empty when no indexer has that name.
    #[must_use]
    pub fn indexed(&self, indexer: &str, value: &str) -> Vec<Arc<K>> {
        let keys = self.indexed_keys(indexer, value);
        keys.iter().filter_map(|key| self.get(key)).collect()
    }

    /// The keys of [`Cache::indexed`].
    #[must_use]
    pub fn indexed_keys(&self, indexer: &str, value: &str) -> Vec<Arc<Key>> {
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

    fn covering(&self, namespace: &str) -> impl Iterator<Item = &Scope<K>> {
        self.inner.scopes.iter().filter(move |scope| scope.covers(namespace))
    }

    /// Takes one event of a watch in: store, index, then everybody who waits or observes. `list` gathers a list until it is
    /// complete.
    fn take(&self, number: usize, list: &mut Objects<K>, event: watcher::Event<K>) {
        let Some(scope) = self.inner.scopes.get(number) else { return };
        match event {
            watcher::Event::Apply(object) => {
                let object = Arc::new(object);
                let key = scope.put(&object);
                scope.advance(&object);
                write(&self.inner.index).insert(&key, &object);
                self.tell(&key);
                self.inner.feed.send(CacheEvent::Applied(object));
            }
            watcher::Event::Delete(object) => {
                let key = Key::of(&object);
                write(&scope.objects).remove(&key);
                scope.advance(&object);
                write(&self.inner.index).remove(&key);
                self.tell(&key);
                self.inner.feed.send(CacheEvent::Deleted(Arc::new(object)));
            }
            watcher::Event::Init => {
                self.inner.health.relisting(number);
                *list = BTreeMap::new();
            }
            watcher::Event::InitApply(object) => {
                scope.advance(&object);
                let object = Arc::new(object);
                list.insert(Arc::new(Key::of(&*object)), K::Rest::lay(&object));
            }
            watcher::Event::InitDone => self.take_list(number, scope, std::mem::take(list)),
        }
    }

    fn take_list(&self, number: usize, scope: &Scope<K>, list: Objects<K>) {
        let before = std::mem::replace(&mut *write(&scope.objects), list);
        let gone: Vec<(Arc<Key>, K::Rest)> = {
            let now = read(&scope.objects);
            before.into_iter().filter(|(key, _)| !now.contains_key(key)).collect()
        };
        {
            let mut index = write(&self.inner.index);
            gone.iter().for_each(|(key, _)| index.remove(key));
            read(&scope.objects).iter().for_each(|(key, object)| index.insert(key, &object.wake()));
        }
        self.inner.health.listed(number);
        self.inner.waiters.recheck(|key, expect| self.shows(key, expect));
        for (_, object) in gone {
            self.inner.feed.send(CacheEvent::Deleted(object.wake()));
        }
        self.inner.feed.send(CacheEvent::Restarted(self.listing()));
    }

    fn tell(&self, key: &Key) {
        self.inner.waiters.tell(key, |expect| self.shows(key, expect));
    }

    /// Follows one watch for ever. What goes wrong is reported to the health and tried again.
    async fn follow(self, number: usize, client: Client, config: watcher::Config, mut backoff: impl Backoff) {
        let namespace = self.inner.scopes.get(number).and_then(|scope| scope.namespace.clone());
        let board = self.clone();
        let client = contact::observed(client, move || board.inner.health.answered(number));
        let mut events = std::pin::pin!(watcher(K::api_in(client, namespace.as_deref()), config));
        let mut list = BTreeMap::new();
        while let Some(event) = events.next().await {
            match event {
                Ok(event) => {
                    // A list that begins says nothing about the API yet; everything else came from it.
                    if !matches!(event, watcher::Event::Init) {
                        backoff.reset();
                    }
                    self.take(number, &mut list, event);
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

/// The pauses of client-go's reflector: 0.8 to 30 s, up to doubled at random, so that not all come back at once.
fn backoff(seed: Option<u64>) -> impl Backoff {
    let pauses = ExponentialBuilder::default()
        .with_min_delay(Duration::from_millis(800))
        .with_max_delay(Duration::from_secs(30))
        .with_factor(2.0)
        .without_max_times()
        .with_jitter();
    let pauses = match seed {
        Some(seed) => pauses.with_jitter_seed(seed),
        None => pauses,
    };
    watcher::ExponentialBackoff::from(pauses)
}

impl<K: Cached> Scope<K> {
    fn covers(&self, namespace: &str) -> bool {
        self.namespace.as_deref().is_none_or(|own| own == namespace)
    }

    /// Puts an object into the store. The key of one that was there before stays: the index holds the same.
    fn put(&self, object: &Arc<K>) -> Arc<Key> {
        let (key, rest) = (Key::of(&**object), K::Rest::lay(object));
        let mut objects = write(&self.objects);
        let key = objects.get_key_value(&key).map_or_else(|| Arc::new(key), |(known, _)| known.clone());
        objects.insert(key.clone(), rest);
        key
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
