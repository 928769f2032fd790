//! The loop behind garbage collection and namespaces: takes in what the watches see, judges what that touches, and
//! carries out the verdicts with a bounded number of requests.

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use futures::StreamExt;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::OwnerReference;
use kube::Client;
use kube::core::ApiResource;
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;
use tokio_util::time::DelayQueue;
use tracing::{debug, info, warn};

use super::graph::{Graph, Policy, Uid, Verdict};
use super::item::{Item, Kind};
use super::kinds::{Change, Kinds, Seen, discover};
use super::writes::{self, Found, TIME_LIMIT};

/// Requests that are under way at once.
const IN_FLIGHT: usize = 64;
/// Changes that may wait to be taken in.
const CHANGES_WAITING: usize = 4096;
/// After a conflict the watch is given this long to tell what changed.
const CONFLICT_WAIT: Duration = Duration::from_millis(50);
/// After another failure.
const FAILURE_WAIT: Duration = Duration::from_secs(1);
/// When an owner is there that no watch has shown, its dependent is judged again after this long.
const UNSEEN_OWNER_WAIT: Duration = Duration::from_secs(5);
/// Custom resources are looked for this long after their definition changed, and once more in case they were late.
const DISCOVER_SOON: Duration = Duration::from_millis(50);
const DISCOVER_AGAIN: Duration = Duration::from_secs(2);
/// A kind that cannot be listed holds nothing up for longer than this.
const LISTS_LIMIT: Duration = Duration::from_secs(5);

/// What became of a piece of work.
enum Done {
    /// One object was judged and dealt with; look at it again after a while, if said so.
    Object(Uid, Option<Duration>),
    /// Owners were asked for: these are gone; look again after a while, if some are there.
    Owners(Uid, Vec<Uid>, Option<Duration>),
    /// A namespace was emptied and finalized, or is not empty yet.
    Namespace(String, kube::Result<bool>),
    /// The kinds were asked for.
    Kinds(kube::Result<Vec<Kind>>),
    /// A default service account was made, or not.
    Account(String, kube::Result<()>),
}

/// Timers of the loop.
#[derive(Debug)]
enum Timer {
    Object(Uid),
    Namespace(String),
    Discover,
    ListsLimit,
}

/// The loop's state.
pub struct Collector {
    client: Client,
    graph: Graph,
    kinds: Kinds,
    seen: mpsc::Sender<Seen>,
    /// Kinds whose first list is not complete.
    unlisted: HashSet<ApiResource>,
    /// What the lists under way have shown.
    listing: HashMap<ApiResource, HashSet<Uid>>,
    /// True once all first lists are complete: before, an owner may only seem to be missing.
    ready: bool,
    queue: VecDeque<Uid>,
    queued: HashSet<Uid>,
    busy: HashSet<Uid>,
    /// Namespaces that are going, by name, with their uid.
    going: HashMap<String, Uid>,
    /// Namespaces that are being finalized right now.
    finalizing: HashSet<String>,
    discovering: bool,
    timers: DelayQueue<Timer>,
    tasks: JoinSet<Done>,
}

/// Runs until `stop`.
pub async fn run(client: Client, stop: CancellationToken) {
    let (seen, mut changes) = mpsc::channel(CHANGES_WAITING);
    let mut collector = Collector {
        client,
        graph: Graph::default(),
        kinds: Kinds::default(),
        seen,
        unlisted: HashSet::new(),
        listing: HashMap::new(),
        ready: false,
        queue: VecDeque::new(),
        queued: HashSet::new(),
        busy: HashSet::new(),
        going: HashMap::new(),
        finalizing: HashSet::new(),
        discovering: false,
        timers: DelayQueue::new(),
        tasks: JoinSet::new(),
    };
    collector.discover();
    loop {
        collector.work();
        tokio::select! {
            () = stop.cancelled() => break,
            Some(change) = changes.recv() => {
                collector.observe(change);
                // Whatever waits is taken in at once, so that judgements see as much as is known.
                while let Ok(change) = changes.try_recv() {
                    collector.observe(change);
                }
            }
            Some(done) = collector.tasks.join_next(), if !collector.tasks.is_empty() => match done {
                Ok(done) => collector.finished(done),
                Err(error) => warn!(%error, "a request of the cluster controllers was lost"),
            },
            Some(expired) = collector.timers.next(), if !collector.timers.is_empty() => {
                collector.expired(expired.into_inner());
            }
        }
    }
    collector.tasks.shutdown().await;
}

impl Collector {
    fn discover(&mut self) {
        if !std::mem::replace(&mut self.discovering, true) {
            let client = self.client.clone();
            self.tasks.spawn(async move { Done::Kinds(discover(client).await) });
        }
    }

    fn expired(&mut self, timer: Timer) {
        match timer {
            Timer::Object(uid) => self.enqueue(uid),
            Timer::Namespace(name) => self.finalize_if_empty(&name),
            Timer::Discover => self.discover(),
            Timer::ListsLimit => {
                if !self.ready {
                    warn!(
                        missing = self.unlisted.len(),
                        "some kinds cannot be listed; the others are collected"
                    );
                    self.begin();
                }
            }
        }
    }

    fn observe(&mut self, seen: Seen) {
        let key = &seen.kind.resource;
        match seen.change {
            Change::ListBegins => {
                self.listing.insert(key.clone(), HashSet::new());
            }
            Change::Listed(item) => {
                if let Some(all) = self.listing.get_mut(key) {
                    all.insert(item.uid.clone());
                }
                self.apply(item);
            }
            Change::ListEnds => {
                if let Some(all) = self.listing.remove(key) {
                    for uid in self.graph.of_kind(&seen.kind) {
                        if !all.contains(&uid) {
                            self.remove(&uid);
                        }
                    }
                }
                self.unlisted.remove(key);
                if self.unlisted.is_empty() && !self.ready && self.kinds.len() > 0 {
                    self.begin();
                }
            }
            Change::Applied(item) => self.apply(item),
            Change::Deleted(uid) => self.remove(&uid),
        }
    }

    /// All lists are complete: judge everything once.
    fn begin(&mut self) {
        self.ready = true;
        for uid in self.graph.owned() {
            self.enqueue(uid);
        }
        let going: Vec<String> = self.going.keys().cloned().collect();
        for name in going {
            self.purge(&name);
        }
        debug!(kinds = self.kinds.len(), "the cluster controllers know all kinds");
    }

    fn apply(&mut self, item: Item) {
        self.note_special(&item);
        let in_going = item.namespace.as_ref().is_some_and(|namespace| self.going.contains_key(namespace));
        let uid = item.uid.clone();
        let touched = self.graph.apply(item);
        if in_going {
            self.enqueue(uid);
        }
        for uid in touched {
            self.enqueue(uid);
        }
    }

    fn remove(&mut self, uid: &str) {
        let Some(item) = self.graph.get(uid).cloned() else { return };
        for uid in self.graph.remove(uid) {
            self.enqueue(uid);
        }
        match &item.namespace {
            None if is_core(&item, "Namespace") => {
                self.going.remove(&item.name);
            }
            None if is_definition(&item) => self.discover_soon(),
            None => {}
            Some(namespace) if self.going.contains_key(namespace) => {
                // Pods go first; when the last has gone, the rest follows.
                if item.kind.is_pod() && !self.graph.in_namespace(namespace).any(|item| item.kind.is_pod()) {
                    self.purge(namespace);
                } else if self.graph.in_namespace(namespace).next().is_none() {
                    self.finalize_if_empty(namespace);
                }
            }
            Some(namespace) if is_core(&item, "ServiceAccount") && item.name == "default" => {
                self.make_account(namespace.clone());
            }
            Some(_) => {}
        }
    }

    /// Namespaces and definitions of custom resources mean more than an object.
    fn note_special(&mut self, item: &Item) {
        if item.namespace.is_some() {
            return;
        }
        if is_core(item, "Namespace") {
            if item.deleting {
                if self.going.insert(item.name.clone(), item.uid.clone()).is_none() {
                    self.purge(&item.name);
                }
            } else if self.graph.get(&item.uid).is_none() {
                self.make_account(item.name.clone());
            }
        } else if is_definition(item) {
            self.discover_soon();
        }
    }

    fn discover_soon(&mut self) {
        self.timers.insert(Timer::Discover, DISCOVER_SOON);
        self.timers.insert(Timer::Discover, DISCOVER_AGAIN);
    }

    fn make_account(&mut self, namespace: String) {
        let client = self.client.clone();
        self.tasks.spawn(async move {
            let made = writes::create_service_account(&client, &namespace).await;
            Done::Account(namespace, made)
        });
    }

    /// Looks at everything in a namespace that is going.
    fn purge(&mut self, namespace: &str) {
        let all: Vec<Uid> = self.graph.in_namespace(namespace).map(|item| item.uid.clone()).collect();
        if all.is_empty() {
            self.finalize_if_empty(namespace);
        }
        for uid in all {
            self.enqueue(uid);
        }
    }

    /// Lets a namespace go once nothing in it is known, and the API server agrees.
    fn finalize_if_empty(&mut self, name: &str) {
        let Some(uid) = self.going.get(name).cloned() else { return };
        let empty = self.graph.in_namespace(name).next().is_none();
        if !self.ready || !empty || !self.finalizing.insert(name.to_owned()) {
            return;
        }
        let (client, kinds, name) = (self.client.clone(), self.kinds.namespaced(), name.to_owned());
        self.tasks.spawn(async move {
            let result = async {
                let empty = writes::empty_namespace(&client, kinds, &name).await?;
                if empty {
                    writes::finalize_namespace(&client, &name, &uid).await?;
                }
                Ok(empty)
            };
            let result = result.await;
            Done::Namespace(name, result)
        });
    }

    fn enqueue(&mut self, uid: Uid) {
        if self.queued.insert(uid.clone()) {
            self.queue.push_back(uid);
        }
    }

    /// Judges what waits, as far as the bound on requests allows.
    fn work(&mut self) {
        let mut rounds = self.queue.len();
        while self.ready && rounds > 0 && self.tasks.len() < IN_FLIGHT {
            rounds -= 1;
            let Some(uid) = self.queue.pop_front() else { break };
            if self.busy.contains(&uid) {
                // It is judged again when its request is done.
                self.queue.push_back(uid);
                continue;
            }
            self.queued.remove(&uid);
            self.step(uid);
        }
    }

    fn step(&mut self, uid: Uid) {
        let Some(item) = self.graph.get(&uid).cloned() else { return };
        let purged = item.namespace.as_ref().is_some_and(|namespace| {
            let pods_first =
                !item.kind.is_pod() && self.graph.in_namespace(namespace).any(|item| item.kind.is_pod());
            self.going.contains_key(namespace) && !pods_first
        });
        let verdict = if purged && !item.deleting {
            Verdict::Delete(Policy::Background)
        } else {
            self.graph.judge(&uid)
        };
        let client = self.client.clone();
        match verdict {
            Verdict::Keep => {}
            Verdict::FindOut(owners) => self.find_out(uid, &item, owners),
            Verdict::Delete(policy) => {
                debug!(object = item.label(), ?policy, purged, "deleting what nobody owns any more");
                self.begin_request(uid, item, async move |item| writes::delete(&client, &item, policy).await);
            }
            Verdict::KeepOwners(owners) => {
                self.begin_request(uid, item, async move |item| {
                    writes::keep_owners(&client, &item, &owners).await
                });
            }
            Verdict::Release(dependents) => {
                let all: Vec<Item> =
                    dependents.iter().filter_map(|uid| self.graph.get(uid).cloned()).collect();
                self.begin_request(uid, item, async move |item| writes::release(&client, &item, all).await);
            }
            Verdict::Finish => {
                self.begin_request(uid, item, async move |item| writes::finish(&client, &item).await);
            }
        }
    }

    fn begin_request<F>(&mut self, uid: Uid, item: Item, request: impl FnOnce(Item) -> F)
    where
        F: Future<Output = kube::Result<()>> + Send + 'static,
    {
        self.busy.insert(uid.clone());
        let label = item.label();
        let request = request(item);
        self.tasks.spawn(async move {
            let again = match tokio::time::timeout(TIME_LIMIT, request).await {
                Ok(Ok(())) => None,
                Ok(Err(error)) if writes::is_conflict(&error) => Some(CONFLICT_WAIT),
                Ok(Err(error)) => {
                    warn!(object = label, %error, "the cluster controllers could not deal with {label}");
                    Some(FAILURE_WAIT)
                }
                Err(_) => Some(FAILURE_WAIT),
            };
            Done::Object(uid, again)
        });
    }

    fn find_out(&mut self, uid: Uid, item: &Item, owners: Vec<OwnerReference>) {
        let mut wanted = Vec::new();
        for owner in owners {
            let group = owner.api_version.split_once('/').map_or("", |(group, _)| group);
            match self.kinds.find(group, &owner.kind) {
                Some(kind) => wanted.push((kind, owner)),
                // A kind that nobody knows: it may still come, so its objects are kept.
                None => debug!(object = item.label(), owner = owner.kind, "has an owner of an unknown kind"),
            }
        }
        if wanted.is_empty() {
            return;
        }
        self.busy.insert(uid.clone());
        let (client, namespace) = (self.client.clone(), item.namespace.clone());
        self.tasks.spawn(async move {
            let (mut gone, mut again) = (Vec::new(), None);
            for (kind, owner) in wanted {
                let found = writes::find_owner(&client, &kind, namespace.as_deref(), &owner);
                match tokio::time::timeout(TIME_LIMIT, found).await {
                    Ok(Ok(Found::Gone(uid))) => gone.push(uid),
                    Ok(Ok(Found::Alive)) => again = Some(UNSEEN_OWNER_WAIT),
                    Ok(Err(_)) | Err(_) => again = Some(FAILURE_WAIT),
                }
            }
            Done::Owners(uid, gone, again)
        });
    }

    fn finished(&mut self, done: Done) {
        match done {
            Done::Object(uid, again) => {
                self.busy.remove(&uid);
                if let Some(wait) = again {
                    self.timers.insert(Timer::Object(uid), wait);
                }
            }
            Done::Owners(uid, gone, again) => {
                self.busy.remove(&uid);
                if !gone.is_empty() {
                    for owner in gone {
                        self.graph.remember_gone(owner);
                    }
                    self.enqueue(uid);
                } else if let Some(wait) = again {
                    self.timers.insert(Timer::Object(uid), wait);
                }
            }
            Done::Namespace(name, result) => {
                self.finalizing.remove(&name);
                let wait = match result {
                    Ok(true) => return,
                    Ok(false) => CONFLICT_WAIT,
                    Err(error) => {
                        debug!(namespace = name, %error, "namespace {name} cannot go yet");
                        FAILURE_WAIT
                    }
                };
                self.timers.insert(Timer::Namespace(name), wait);
            }
            Done::Kinds(result) => self.update_kinds(result),
            Done::Account(namespace, result) => {
                if let Err(error) = result {
                    warn!(namespace, %error, "could not make the service account of namespace {namespace}");
                }
            }
        }
    }

    fn update_kinds(&mut self, result: kube::Result<Vec<Kind>>) {
        self.discovering = false;
        let found = match result {
            Ok(found) => found,
            Err(error) => {
                debug!(%error, "the API server cannot list its kinds yet");
                self.timers.insert(Timer::Discover, FAILURE_WAIT);
                return;
            }
        };
        let first = self.kinds.len() == 0;
        let (new, lost) = self.kinds.update(&self.client, found, &self.seen);
        if first {
            self.unlisted =
                new.iter().filter(|kind| kind.watched).map(|kind| kind.resource.clone()).collect();
            self.timers.insert(Timer::ListsLimit, LISTS_LIMIT);
        } else if !new.is_empty() {
            info!(kinds = ?names(&new), "the cluster controllers now collect these kinds too");
            // Owners of these kinds could not be asked for before.
            for uid in self.graph.owned() {
                self.enqueue(uid);
            }
        }
        for kind in lost {
            self.listing.remove(&kind.resource);
            self.unlisted.remove(&kind.resource);
            for uid in self.graph.of_kind(&kind) {
                self.remove(&uid);
            }
        }
    }
}

fn names(kinds: &[Arc<Kind>]) -> Vec<&str> {
    kinds.iter().map(|kind| kind.resource.kind.as_str()).collect()
}

fn is_core(item: &Item, kind: &str) -> bool {
    item.kind.resource.group.is_empty() && item.kind.resource.kind == kind
}

fn is_definition(item: &Item) -> bool {
    item.kind.resource.group == "apiextensions.k8s.io"
        && item.kind.resource.kind == "CustomResourceDefinition"
}
