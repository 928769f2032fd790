//! The embedded Kubernetes API server: storage, semantics and wire behaviour, as a `tower` service and over TLS.
//!
//! [`Server`] is the whole API in one cheap handle: `kube::Client::new(server.service(), "default")` talks to it in process,
//! [`serve`] puts it on loopback with a kubeconfig. What it knows about kinds is data (schemas and discovery recorded from a
//! real server, CRDs at run time); code per kind exists only where Kubernetes itself behaves differently for a kind.
mod apply;
mod cel;
mod clock;
mod commits;
mod counts;
mod discovery;
mod draw;
pub mod error;
pub mod faults;
mod http;
mod kinds;
pub mod logs;
mod openapi;
mod patch;
mod schema;
mod special;
mod store;
mod table;
mod tls;
mod validate;
mod value;
mod verbs;

use std::sync::Arc;

pub(crate) use self::http::route;
pub use self::http::{ApiService, Away};
pub use clock::Clock;
pub use commits::{Commit, Observer};
pub use counts::{WriteCount, Writes};
pub use faults::{Faults, Going};
pub use tls::{ServeError, Serving, serve};

use commits::Observers;
use counts::Counts;
use draw::Draw;
use kinds::Registry;
use store::Store;

/// The version that the sandbox says it is.
pub const VERSION: &str = "v1.36.3-sandbox";

/// How a sandbox API server is set up.
#[derive(Debug, Clone)]
pub struct Options {
    /// Where timestamps come from.
    pub clock: Clock,
    /// How many bytes of past versions each kind keeps for watches and paged lists.
    pub history_bytes: usize,
    /// Seed of random faults.
    pub seed: u64,
    /// Seed of uids and generated names; from the machine's randomness when absent.
    pub names_seed: Option<u64>,
}

impl Default for Options {
    fn default() -> Self {
        Self { clock: Clock::wall(), history_bytes: 32 << 20, seed: 1, names_seed: None }
    }
}

/// The API server. Clones are handles to the same one.
#[derive(Debug, Clone)]
pub struct Server {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    store: Store,
    registry: Registry,
    clock: Clock,
    faults: Faults,
    counts: Counts,
    observers: Observers,
    draw: Draw,
    logs: logs::Slot,
}

impl Default for Server {
    fn default() -> Self {
        Self::new()
    }
}

impl Server {
    /// A server with the namespaces that every cluster has.
    pub fn new() -> Self {
        Self::with_options(Options::default())
    }

    /// The same with other settings.
    pub fn with_options(options: Options) -> Self {
        let store = Store::new(options.history_bytes);
        let registry = Registry::new(&store);
        let shared = Shared {
            store,
            registry,
            clock: options.clock,
            faults: Faults::new(options.seed),
            counts: Counts::default(),
            observers: Observers::default(),
            draw: Draw::new(options.names_seed),
            logs: logs::Slot::default(),
        };
        let server = Self { shared: Arc::new(shared) };
        verbs::bootstrap(&server);
        server
    }

    /// The API as a `tower` service, for `kube::Client::new(server.service(), "default")`.
    pub fn service(&self) -> ApiService {
        ApiService::new(self.clone(), false)
    }

    /// A client that talks to this server in process.
    pub fn client(&self) -> kube::Client {
        kube::Client::new(self.service(), "default")
    }

    /// A client that trouble on purpose does not meet, for those who make it and end it.
    pub fn spared_client(&self) -> kube::Client {
        kube::Client::new(ApiService::new(self.clone(), true), "default")
    }

    /// Trouble on purpose.
    pub fn faults(&self) -> &Faults {
        &self.shared.faults
    }

    /// How often what was written.
    pub fn writes(&self) -> Writes {
        self.shared.counts.snapshot()
    }

    /// Has every write told to `observer` from now on, as it is committed.
    pub fn observe(&self, observer: Observer) {
        self.shared.observers.add(observer);
    }

    /// The server's clock, which can be made to jump.
    pub fn clock(&self) -> &Clock {
        &self.shared.clock
    }

    /// Objects of a resource (`pods`, `gameservers.game.kruise.io`) in whose JSON a text stands, at most so many. Looking into
    /// the stored text is much cheaper than reading every object.
    pub fn holding(&self, resource: &str, text: &str, most: usize) -> Vec<serde_json::Value> {
        let query = store::PageQuery { limit: most, ..store::PageQuery::default() };
        let finder = memchr::memmem::Finder::new(text);
        let page = self.store().shelf(resource).page(&query, |object| finder.find(&object.bytes).is_some());
        // Only a list of an older moment can have expired.
        page.map(|page| page.items.iter().map(|object| object.value()).collect()).unwrap_or_default()
    }

    /// Has `pods/log` answered by `source`; without one there are no logs. The first one stays.
    pub fn serve_logs(&self, source: Arc<dyn logs::LogSource>) {
        self.shared.logs.fill(source);
    }

    /// The newest revision of the store; it grows by one with every committed write.
    pub fn revision(&self) -> u64 {
        self.shared.store.revision()
    }

    /// Forgets the watch history, as etcd does when it compacts: watches from older versions end with 410.
    pub fn compact(&self) {
        self.shared.store.compact();
    }

    fn store(&self) -> &Store {
        &self.shared.store
    }

    fn registry(&self) -> &Registry {
        &self.shared.registry
    }

    fn observers(&self) -> &Observers {
        &self.shared.observers
    }

    fn draw(&self) -> &Draw {
        &self.shared.draw
    }

    fn log_source(&self) -> Option<&dyn logs::LogSource> {
        self.shared.logs.get()
    }

    fn counts(&self) -> &Counts {
        &self.shared.counts
    }
}
