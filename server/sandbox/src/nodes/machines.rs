//! The machines: keeps a Node object and a lease for each, and tells the scheduler what it may use.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use futures::StreamExt;
use kube::api::Api;
use kube::runtime::{WatchStreamExt, watcher};
use kube::{Client, Resource};
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::MissedTickBehavior;
use tokio_util::sync::CancellationToken;
use tracing::{debug, info, warn};

use super::clock::Clock;
use super::node::{Node, SIMULATION_LABEL};
use super::options::Options;
use super::registry::{Registry, RegistryError};
use super::schedule::Candidate;

/// How often each lease is renewed, as real kubelets do.
const LEASE_INTERVAL: Duration = Duration::from_secs(10);
/// Every how many leases the node status is written too: five minutes, as real kubelets do.
const STATUS_EVERY: u64 = 30;
/// How often missing machines are looked for again when nothing else happens.
const TIDY_INTERVAL: Duration = Duration::from_secs(2);

/// What the scheduler knows about machines; absent until they were listed once.
pub type Candidates = Option<Arc<Vec<Arc<Candidate>>>>;

/// A finished piece of work.
enum Done {
    /// A machine was registered or its status written.
    Reported(usize, Result<(), RegistryError>),
    /// A node that is no machine of ours any more was deleted.
    Retired(String, Result<(), RegistryError>),
    /// All leases were renewed, or this many failed, one of them so.
    Renewed(usize, Option<RegistryError>),
}

/// Keeps the machines there until `stop`.
pub async fn run(
    client: Client,
    options: Options,
    clock: Clock,
    candidates: watch::Sender<Candidates>,
    stop: CancellationToken,
) {
    let setup = Registry::connect(client.clone(), options.clone(), clock);
    let registry = tokio::select! {
        () = stop.cancelled() => return,
        registry = setup => Arc::new(registry),
    };
    let selector = format!("{SIMULATION_LABEL}={}", options.prefix);
    let nodes = watcher(Api::<Node>::all(client), watcher::Config::default().labels(&selector));
    let mut nodes = std::pin::pin!(nodes.default_backoff());
    let mut machines = Machines {
        options,
        registry,
        candidates,
        known: BTreeMap::new(),
        relisted: None,
        listed: false,
        current: HashSet::new(),
        underway: HashSet::new(),
        refused: HashSet::new(),
        renewing: false,
        tasks: JoinSet::new(),
    };
    let mut leases = tokio::time::interval(LEASE_INTERVAL);
    leases.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut tidy = tokio::time::interval(TIDY_INTERVAL);
    tidy.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut renewals: u64 = 0;
    loop {
        tokio::select! {
            biased;
            () = stop.cancelled() => break,
            Some(event) = nodes.next() => match event {
                Ok(event) => machines.observe(event),
                Err(error) => debug!(%error, "the watch on simulated nodes broke, it is opened again"),
            },
            Some(done) = machines.tasks.join_next(), if !machines.tasks.is_empty() => {
                if let Ok(done) = done {
                    machines.finished(done);
                }
            }
            _ = leases.tick() => {
                renewals += 1;
                if renewals.is_multiple_of(STATUS_EVERY) {
                    machines.current.clear();
                }
                machines.renew();
            }
            _ = tidy.tick() => machines.reconcile(),
        }
    }
    machines.tasks.shutdown().await;
}

struct Machines {
    options: Options,
    registry: Arc<Registry>,
    candidates: watch::Sender<Candidates>,
    /// Our nodes as the API server has them, and what the scheduler was told about each.
    known: BTreeMap<String, (Node, Arc<Candidate>)>,
    /// Names seen since a list began.
    relisted: Option<HashSet<String>>,
    listed: bool,
    /// Machines that reported their status lately.
    current: HashSet<usize>,
    /// Machines that something is being written for.
    underway: HashSet<usize>,
    /// Machines whose name belongs to somebody else.
    refused: HashSet<usize>,
    renewing: bool,
    tasks: JoinSet<Done>,
}

impl Machines {
    fn observe(&mut self, event: watcher::Event<Node>) {
        let changed = match event {
            watcher::Event::Init => {
                self.relisted = Some(HashSet::new());
                return;
            }
            watcher::Event::InitApply(node) => {
                if let Some(names) = &mut self.relisted {
                    names.insert(node.name().to_owned());
                }
                self.keep(node)
            }
            watcher::Event::InitDone => {
                if let Some(names) = self.relisted.take() {
                    self.known.retain(|name, _| names.contains(name));
                }
                self.listed = true;
                true
            }
            watcher::Event::Apply(node) => self.keep(node),
            watcher::Event::Delete(node) => {
                if let Some(index) = self.options.machine_index(node.name()) {
                    self.current.remove(&index);
                }
                self.known.remove(node.name()).is_some()
            }
        };
        if self.listed && self.relisted.is_none() {
            if changed {
                let all = self.known.values().map(|(_, candidate)| candidate);
                let ours = all.filter(|candidate| self.options.machine_index(&candidate.name).is_some());
                self.candidates.send_replace(Some(Arc::new(ours.cloned().collect())));
            }
            self.reconcile();
        }
    }

    /// Stores a node; true when the scheduler has to know.
    fn keep(&mut self, mut node: Node) -> bool {
        node.meta_mut().managed_fields = None;
        let name = node.name().to_owned();
        let candidate = Candidate::from(&node);
        let old = self.known.get(&name).map(|(_, old)| old.clone());
        match old.filter(|old| **old == candidate) {
            Some(same) => {
                self.known.insert(name, (node, same));
                false
            }
            None => {
                self.known.insert(name, (node, Arc::new(candidate)));
                true
            }
        }
    }

    /// Begins whatever is missing: registrations, status reports, and the end of machines that are too many.
    fn reconcile(&mut self) {
        if !self.listed {
            return;
        }
        for index in 0..self.options.machines {
            let known = self.known.get(&self.options.machine_name(index));
            let fine = known.is_some_and(|(node, _)| node.is_ready()) && self.current.contains(&index);
            let is_down = known.is_some_and(|(node, _)| node.is_down());
            if fine || is_down || self.refused.contains(&index) || !self.underway.insert(index) {
                continue;
            }
            let registry = self.registry.clone();
            let exists = known.is_some();
            self.tasks.spawn(async move {
                let result =
                    if exists { registry.report(index).await } else { registry.register(index).await };
                Done::Reported(index, result)
            });
        }
        let surplus: Vec<String> =
            self.known.keys().filter(|name| self.options.machine_index(name).is_none()).cloned().collect();
        for name in surplus {
            let Some((node, _)) = self.known.remove(&name) else { continue };
            let registry = self.registry.clone();
            self.tasks.spawn(async move {
                let result = registry.retire(&node).await;
                Done::Retired(name, result)
            });
        }
    }

    fn renew(&mut self) {
        if self.renewing || !self.listed {
            return;
        }
        self.renewing = true;
        let uid = |node: &Node| node.metadata.uid.clone().unwrap_or_default();
        let alive = self.known.iter().filter(|(_, (node, _))| !node.is_down());
        let nodes: Vec<(String, String)> = alive.map(|(name, (node, _))| (name.clone(), uid(node))).collect();
        let registry = self.registry.clone();
        self.tasks.spawn(async move {
            let renewals = nodes.into_iter().map(|(name, uid)| {
                let registry = registry.clone();
                async move { registry.renew_lease(&name, &uid).await }
            });
            let results: Vec<_> = futures::stream::iter(renewals).buffer_unordered(8).collect().await;
            let mut failures = results.into_iter().filter_map(Result::err);
            let first = failures.next();
            Done::Renewed(usize::from(first.is_some()) + failures.count(), first)
        });
    }

    fn finished(&mut self, done: Done) {
        match done {
            Done::Reported(index, result) => {
                self.underway.remove(&index);
                let node = self.options.machine_name(index);
                match result {
                    Ok(()) => {
                        if self.current.insert(index) {
                            debug!(node, "simulated node {node} reported its status");
                        }
                    }
                    Err(error @ RegistryError::Foreign { .. }) => {
                        self.refused.insert(index);
                        warn!(node, %error, "a simulated node cannot be registered");
                    }
                    Err(error) => {
                        debug!(node, %error, "simulated node {node} could not report, it tries again");
                    }
                }
            }
            Done::Retired(node, Ok(())) => {
                info!(node, "deleted simulated node {node}: there are fewer machines now");
            }
            Done::Retired(node, Err(error)) => {
                warn!(node, %error, "could not delete the surplus node {node}");
            }
            Done::Renewed(failed, first) => {
                self.renewing = false;
                if let Some(error) = first {
                    warn!(failed, %error, "could not renew the leases of {failed} simulated nodes");
                }
            }
        }
    }
}
