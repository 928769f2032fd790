//! Reads everything that is shown: board, caches and batches behind one set of questions.
//!
//! REST, the live stream and the pages ask only here, so that they cannot show different things.

use crate::{auth::Caller, detail};
use board::SharedBoard;
use controllers::{
    batch::{BY_BATCH, BatchCaches, Resolver, plan, view},
    cache::{Caches, Health, Key, SyncState},
    leader::Refusal,
};
use kube::ResourceExt;
use std::{collections::BTreeMap, sync::Arc};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use wire::{
    ApiError, BatchTarget, BatchView, DeckQuery, DeckSnapshot, Family, Reason, ScalePreview, ServerDetail,
    ServerKey, ServersQuery, ServersWindow, SetDetail, SetKey, SetRow, Totals, row::Count,
};

/// Installs what is missing, for a page to show.
const CRDS_COMMAND: &str = "pilothouse crds | kubectl apply --server-side -f -";

/// The one place to read from.
pub struct Reader {
    board: SharedBoard,
    caches: Caches,
    batches: BatchCaches,
    sandbox: bool,
    changed: watch::Receiver<u64>,
    lease: watch::Receiver<Option<Refusal>>,
}

impl Reader {
    /// A reader over the parts; `lease` tells when the lease cannot be had, without which nothing is reconciled and no batch
    /// runs. Watches for changes until `stop`.
    #[must_use]
    pub fn new(
        board: SharedBoard,
        caches: Caches,
        batches: BatchCaches,
        sandbox: bool,
        lease: watch::Receiver<Option<Refusal>>,
        stop: &CancellationToken,
    ) -> Self {
        let changed = crate::pulse::start(&board, &caches, &batches, lease.clone(), stop);
        Self { board, caches, batches, sandbox, changed, lease }
    }

    /// Tells that something shown may have changed.
    #[must_use]
    pub fn changed(&self) -> watch::Receiver<u64> {
        self.changed.clone()
    }

    /// A number that grows with every change.
    #[must_use]
    pub fn version(&self) -> u64 {
        *self.changed.borrow()
    }

    /// Why the process is not ready, or nothing.
    #[must_use]
    pub fn not_ready(&self) -> Option<String> {
        let health = self
            .caches
            .health()
            .into_iter()
            .find(|h| !matches!(h.state, SyncState::InSync | SyncState::NotWatched))?;
        let error = health.error.unwrap_or_default();
        Some(format!("{} {:?} since {} {error}", health.kind, health.state, health.since))
    }

    /// Counters of header and menu.
    #[must_use]
    pub fn totals(&self) -> Totals {
        let mut totals = self.board.totals();
        totals.sandbox = self.sandbox;
        let over = |phase: crds::pilothouse::BatchPhase| phase.is_final();
        let running = self
            .batches
            .edits
            .all()
            .iter()
            .filter(|e| !over(e.status.clone().unwrap_or_default().phase))
            .count();
        totals.batches_running = u32::try_from(running).unwrap_or(u32::MAX);
        let health = self.caches.health();
        totals.stale_since = health
            .iter()
            .filter(|h| matches!(h.state, SyncState::Stale | SyncState::Refused))
            .map(|h| h.since.as_second())
            .min();
        // What keeps batches from being stored is said too, after what keeps servers from being seen.
        totals.trouble = health
            .iter()
            .chain(&self.batches.health())
            .find_map(trouble)
            .or_else(|| self.lease.borrow().as_ref().map(no_lease));
        totals
    }

    /// A window of servers.
    ///
    /// # Errors
    /// When the filter cannot be understood.
    pub fn servers(&self, query: &ServersQuery) -> Result<ServersWindow, ApiError> {
        self.board.servers(query)
    }

    /// The deck.
    ///
    /// # Errors
    /// When the filter or the dimension cannot be understood.
    pub fn deck(&self, query: &DeckQuery) -> Result<DeckSnapshot, ApiError> {
        self.board.deck(query)
    }

    /// Every key that a filter matches.
    ///
    /// # Errors
    /// When the filter cannot be understood.
    pub fn keys(&self, q: &str, ns: &str) -> Result<Vec<ServerKey>, ApiError> {
        self.board.keys(q, ns)
    }

    /// Known values of a field with counts, most first.
    #[must_use]
    pub fn values(&self, field: &str, ns: &str, prefix: &str, limit: usize) -> Vec<Count> {
        self.board.values(field, ns, prefix, limit)
    }

    /// All sets of a namespace; empty is all.
    #[must_use]
    pub fn sets(&self, ns: &str) -> Vec<SetRow> {
        self.board.sets(ns)
    }

    /// One set, without events.
    #[must_use]
    pub fn set(&self, key: &SetKey) -> Option<SetDetail> {
        let mut found = self.board.set(key)?;
        if let Some(set) = self.caches.sets.get(&Key::new(&key.namespace, &key.name)) {
            found.conditions = detail::set_conditions(&set);
        }
        Some(found)
    }

    /// One server, without events.
    #[must_use]
    pub fn server(&self, key: &ServerKey) -> Option<ServerDetail> {
        let row = self.board.server(key)?;
        let at = Key::new(&key.namespace, &key.name);
        let server = self.caches.servers.get(&at);
        let pod = self.caches.pods.get(&at);
        let set = row.set.as_ref().and_then(|set| self.caches.sets.get(&Key::new(&key.namespace, set)));
        let objects = detail::Objects { server: server.as_deref(), pod: pod.as_deref(), set: set.as_deref() };
        Some(detail::server(row, objects))
    }

    /// Batches, newest first, without results.
    #[must_use]
    pub fn batches(&self) -> Vec<BatchView> {
        let mut views: Vec<BatchView> =
            self.batches.edits.all().iter().map(|edit| view::summary(edit)).collect();
        views.sort_by(|a, b| b.created.cmp(&a.created).then_with(|| a.name.cmp(&b.name)));
        views
    }

    /// One batch with its results.
    #[must_use]
    pub fn batch(&self, name: &str) -> Option<BatchView> {
        let edit = self.batches.edits.get(&Key::new(&self.batches.namespace, name))?;
        let pieces = self.batches.targets.indexed(BY_BATCH, name);
        let progress = self.batches.progress.indexed(BY_BATCH, name);
        Some(view::view(&edit, &pieces, &progress))
    }

    /// Where batches are stored.
    #[must_use]
    pub fn batches_namespace(&self) -> &str {
        &self.batches.namespace
    }

    /// What to say when batches cannot be stored because their kind is not installed.
    #[must_use]
    pub fn batches_missing(&self) -> ApiError {
        missing_kind("batchedits")
    }

    /// What a scale would do.
    #[must_use]
    pub fn scale_preview(&self, key: &SetKey, replicas: u32) -> Option<ScalePreview> {
        if key.family != Family::Kruise {
            return None;
        }
        crate::scale::preview(&self.caches, key, replicas)
    }

    /// Finds and observes servers for batches.
    #[must_use]
    pub fn resolver(&self) -> Arc<dyn Resolver> {
        Arc::new(BoardResolver { board: self.board.clone(), caches: self.caches.clone() })
    }
}

/// That nobody leads because the lease is refused.
fn no_lease(refusal: &Refusal) -> ApiError {
    let message = &refusal.message;
    let words = format!("nothing is reconciled and no batch runs: the lease cannot be written: {message}");
    let reason = Reason::new("lease-refused", words).with("message", message);
    // What is not there is the namespace, which comes with the CRDs.
    let command = (refusal.status == 404).then(|| CRDS_COMMAND.into());
    ApiError { status: 503, reason, span: None, command }
}

/// What stands in the way of a watch, if anything.
fn trouble(health: &Health) -> Option<ApiError> {
    let error = health.error.clone().unwrap_or_default();
    let reason = match health.state {
        SyncState::KindMissing => return Some(missing_kind(&health.kind)),
        SyncState::Stale => {
            Reason::new("api-away", format!("the API server does not answer: {error}")).with("message", error)
        }
        SyncState::Refused => Reason::new(
            "api-refuses",
            format!("the API server does not let Pilothouse read {}: {error}", health.kind),
        )
        .with("kind", &health.kind)
        .with("message", error),
        SyncState::NotWatched | SyncState::InSync | SyncState::Starting => return None,
    };
    Some(ApiError { status: 503, reason, span: None, command: None })
}

fn missing_kind(kind: &str) -> ApiError {
    let reason = Reason::new(
        "crds-missing",
        format!("the API server does not know {kind}: the CRDs are not installed"),
    )
    .with("kind", kind);
    ApiError { status: 503, reason, span: None, command: Some(CRDS_COMMAND.into()) }
}

/// Targets of batches, found on the board and read from the caches.
struct BoardResolver {
    board: SharedBoard,
    caches: Caches,
}

impl Resolver for BoardResolver {
    fn keys(&self, target: &BatchTarget) -> Result<Vec<ServerKey>, ApiError> {
        match target {
            BatchTarget::Query(query) => self.board.keys(query, ""),
            BatchTarget::Keys(keys) => {
                let mut keys = keys.clone();
                keys.sort();
                keys.dedup();
                Ok(keys)
            }
        }
    }

    fn observe(&self, key: &ServerKey) -> Option<plan::Observed> {
        let at = Key::new(&key.namespace, &key.name);
        let (server, pod) = (self.caches.servers.get(&at), self.caches.pods.get(&at));
        let players = self.board.players(key);
        controllers::batch::observe(server.as_deref(), pod.as_deref(), players)
    }

    fn sets(&self) -> BTreeMap<(String, String), plan::SetFigures> {
        let figures =
            |replicas: i32| plan::SetFigures { wanted: u32::try_from(replicas).unwrap_or_default() };
        self.caches
            .sets
            .all()
            .iter()
            .filter_map(|set| {
                let spec = set.spec.as_ref()?;
                Some(((set.namespace().unwrap_or_default(), set.name_any()), figures(spec.replicas)))
            })
            .collect()
    }
}

/// The reader of one request: what its caller may see.
pub struct CallerReader {
    reader: Arc<Reader>,
    _caller: Caller,
}

impl CallerReader {
    /// A reader for a caller.
    #[must_use]
    pub fn new(reader: Arc<Reader>, caller: Caller) -> Self {
        Self { reader, _caller: caller }
    }
}

fn absent(what: &str, key: &impl ToString) -> ApiError {
    let key = key.to_string();
    let reason = Reason::new("not-found", format!("there is no {what} {key}")).with("what", key);
    ApiError { status: 404, reason, span: None, command: None }
}

impl app::data::Reader for CallerReader {
    fn totals(&self) -> Totals {
        self.reader.totals()
    }

    fn servers(&self, query: &ServersQuery) -> Result<ServersWindow, ApiError> {
        self.reader.servers(query)
    }

    fn deck(&self, query: &DeckQuery) -> Result<DeckSnapshot, ApiError> {
        self.reader.deck(query)
    }

    fn sets(&self, ns: &str) -> Result<Vec<SetRow>, ApiError> {
        Ok(self.reader.sets(ns))
    }

    fn set(&self, key: &SetKey) -> Result<SetDetail, ApiError> {
        self.reader.set(key).ok_or_else(|| absent("set", key))
    }

    fn server(&self, key: &ServerKey) -> Result<ServerDetail, ApiError> {
        self.reader.server(key).ok_or_else(|| absent("game server", key))
    }

    fn batches(&self) -> Result<Vec<BatchView>, ApiError> {
        Ok(self.reader.batches())
    }

    fn batch(&self, name: &str) -> Result<BatchView, ApiError> {
        self.reader.batch(name).ok_or_else(|| absent("batch", &name))
    }
}
