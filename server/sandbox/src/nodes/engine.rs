//! The loop behind all simulated pods: one watch, one timer queue and a bounded number of writes drive the pure
//! decisions of [`super::schedule`] and [`super::kubelet`]. One task owns all state, so nothing is locked.

use std::collections::{BTreeSet, HashMap, HashSet, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use futures::StreamExt;
use kube::Client;
use kube::api::Api;
use kube::runtime::{WatchStreamExt, watcher};
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tokio_util::time::DelayQueue;
use tokio_util::time::delay_queue::Key;
use tracing::{debug, info, warn};

use super::addresses::Addresses;
use super::clock::Clock;
use super::ids::mix;
use super::kubelet::{self, Local};
use super::machines::Candidates;
use super::node::machine_ip;
use super::options::{Options, SCHEDULER_NAME};
use super::pace::Pace;
use super::pod::{Condition, Pod};
use super::schedule::{Decision, Demand, schedule};
use super::write::{Failure, Outcome, Write, perform, status_patch};

/// Pods that fitted nowhere are tried again this long after something became free.
const RETRY_STUCK_AFTER: Duration = Duration::from_millis(200);
/// A pod that fits nowhere is told at once; when only the words change, at most this often. (Two schedulers that both
/// look after a pod would otherwise correct each other without end.)
const REWORD_EVERY: Duration = Duration::from_secs(10);
/// First and longest wait after a write that did not work.
const FAILED_WAIT: Duration = Duration::from_millis(200);
const FAILED_WAIT_MAX: Duration = Duration::from_secs(10);
/// How long writes that are under way may take when the simulation stops.
const STOP_LIMIT: Duration = Duration::from_secs(3);

type Uid = Arc<str>;

/// All that is known about one pod.
struct Entry {
    pod: Pod,
    local: Local,
    /// Node that the pod counts on, and how much.
    charged: Option<(String, Demand)>,
    /// Node that we asked the API server to bind it to.
    assumed: Option<String>,
    /// A write is under way.
    busy: bool,
    /// Something happened meanwhile.
    again: bool,
    /// It waits in the queue.
    queued: bool,
    /// Nothing more can be done for it.
    gone: bool,
    timer: Option<Key>,
    failures: u32,
    /// When its being unschedulable was last written.
    told: Option<Instant>,
    /// Version and digest of the last status that we wrote, to notice a server that stores something else.
    written: Option<(String, u64)>,
}

/// The loop's state.
pub struct Engine {
    client: Client,
    options: Options,
    clock: Clock,
    candidates: watch::Receiver<Candidates>,
    pods: HashMap<Uid, Entry>,
    queue: VecDeque<Uid>,
    timers: DelayQueue<Uid>,
    writes: JoinSet<(Uid, Outcome)>,
    pace: Pace,
    usage: HashMap<String, Demand>,
    images: HashMap<usize, HashSet<String>>,
    addresses: Addresses,
    /// Pods that fitted nowhere, and when to try them again.
    stuck: BTreeSet<Uid>,
    retry_stuck: Option<Instant>,
    /// Pods seen since a list began.
    relisted: Option<HashSet<Uid>>,
    listed: bool,
    /// False while writes fail, so that an outage is told once and not once a pod.
    healthy: bool,
}

impl Engine {
    /// An engine that knows nothing yet.
    pub fn new(
        client: Client,
        options: Options,
        clock: Clock,
        candidates: watch::Receiver<Candidates>,
    ) -> Self {
        Self {
            pace: Pace::new(options.writes_per_second),
            addresses: Addresses::starting_at(mix(options.seed, &[&options.prefix])),
            client,
            options,
            clock,
            candidates,
            pods: HashMap::new(),
            queue: VecDeque::new(),
            timers: DelayQueue::new(),
            writes: JoinSet::new(),
            usage: HashMap::new(),
            images: HashMap::new(),
            stuck: BTreeSet::new(),
            retry_stuck: None,
            relisted: None,
            listed: false,
            healthy: true,
        }
    }

    /// Plays scheduler and kubelets until `stop`, then lets the writes under way finish.
    pub async fn run(mut self, stop: CancellationToken) {
        let events = watcher(Api::<Pod>::all(self.client.clone()), watcher::Config::default());
        let mut events = std::pin::pin!(events.default_backoff());
        let mut more_machines = self.candidates.clone();
        loop {
            let pause = self.work();
            let far = Instant::now() + Duration::from_secs(3600);
            let paused_until = pause.map_or(far, |wait| Instant::now() + wait);
            tokio::select! {
                () = stop.cancelled() => break,
                Some(event) = events.next() => match event {
                    Ok(event) => self.observe(event),
                    Err(error) => debug!(%error, "the watch on pods broke, it is opened again"),
                },
                Some(done) = self.writes.join_next(), if !self.writes.is_empty() => match done {
                    Ok((uid, outcome)) => self.finished(&uid, outcome),
                    Err(error) => warn!(%error, "a write of the simulated nodes was lost"),
                },
                Some(expired) = self.timers.next(), if !self.timers.is_empty() => {
                    let uid = expired.into_inner();
                    if let Some(entry) = self.pods.get_mut(&uid) {
                        entry.timer = None;
                    }
                    self.enqueue(&uid);
                }
                Ok(()) = more_machines.changed() => self.retry_stuck_soon(),
                () = tokio::time::sleep_until(self.retry_stuck.unwrap_or(far)), if self.retry_stuck.is_some() => {
                    self.retry_stuck = None;
                    for uid in std::mem::take(&mut self.stuck) {
                        self.enqueue(&uid);
                    }
                }
                () = tokio::time::sleep_until(paused_until), if pause.is_some() => {}
            }
        }
        let finish = async { while self.writes.join_next().await.is_some() {} };
        if tokio::time::timeout(STOP_LIMIT, finish).await.is_err() {
            debug!("some writes of the simulated nodes were still under way at the end");
        }
    }

    /// Takes pods from the queue as far as the bounds on writes allow; returns how long to wait for the rate.
    fn work(&mut self) -> Option<Duration> {
        if !self.listed || self.candidates.borrow().is_none() {
            return None;
        }
        while self.writes.len() < self.options.writes_in_flight && !self.queue.is_empty() {
            if let Err(wait) = self.pace.take(Instant::now()) {
                return Some(wait);
            }
            let Some(uid) = self.queue.pop_front() else { break };
            self.step(&uid);
        }
        None
    }

    fn observe(&mut self, event: watcher::Event<Pod>) {
        match event {
            watcher::Event::Init => self.relisted = Some(HashSet::new()),
            watcher::Event::InitApply(pod) => {
                if let Some(seen) = &mut self.relisted {
                    seen.insert(pod.uid().into());
                }
                self.see(pod);
            }
            watcher::Event::InitDone => {
                let seen = self.relisted.take().unwrap_or_default();
                let missing: Vec<Uid> =
                    self.pods.keys().filter(|uid| !seen.contains(*uid)).cloned().collect();
                for uid in missing {
                    self.forget(&uid);
                }
                self.listed = true;
            }
            watcher::Event::Apply(pod) => self.see(pod),
            watcher::Event::Delete(pod) => self.forget(pod.uid()),
        }
    }

    /// Takes in a pod as the API server has it now.
    fn see(&mut self, pod: Pod) {
        let uid: Uid = pod.uid().into();
        if uid.is_empty() || !self.concerns_us(&pod) {
            self.forget(&uid);
            return;
        }
        if let Some(entry) = self.pods.get_mut(&uid) {
            if is_older(&pod, &entry.pod) {
                return;
            }
            entry.pod = pod;
            entry.gone = false;
        } else {
            let ip = pod.status.pod_ip.clone().filter(|_| !pod.spec.host_network);
            if let Some(ip) = &ip {
                self.addresses.reserve(ip);
            }
            let entry = Entry {
                pod,
                local: Local { ip, ..Local::default() },
                charged: None,
                assumed: None,
                busy: false,
                again: false,
                queued: false,
                gone: false,
                timer: None,
                failures: 0,
                told: None,
                written: None,
            };
            self.pods.insert(uid.clone(), entry);
        }
        self.charge(&uid);
        self.enqueue(&uid);
    }

    /// Pods on our machines, and pods that we may bind to them.
    fn concerns_us(&self, pod: &Pod) -> bool {
        match pod.spec.node_name.as_deref() {
            Some(node) => self.options.machine_index(node).is_some(),
            None => self.options.schedule_all || pod.spec.scheduler_name.as_deref() == Some(SCHEDULER_NAME),
        }
    }

    fn forget(&mut self, uid: &str) {
        let Some(entry) = self.pods.remove(uid) else { return };
        if let Some(timer) = &entry.timer {
            self.timers.try_remove(timer);
        }
        if let Some(ip) = &entry.local.ip {
            self.addresses.release(ip);
        }
        if let Some((node, demand)) = &entry.charged {
            if let Some(used) = self.usage.get_mut(node) {
                used.remove(demand);
            }
            self.retry_stuck_soon();
        }
        self.stuck.remove(uid);
    }

    /// Books the pod on the machine that it counts on now.
    fn charge(&mut self, uid: &str) {
        let Some(entry) = self.pods.get_mut(uid) else { return };
        let node = entry.pod.spec.node_name.clone().or_else(|| entry.assumed.clone());
        let now = node.filter(|_| !entry.pod.is_terminal()).map(|node| (node, Demand::of(&entry.pod)));
        if now == entry.charged {
            return;
        }
        let mut freed = false;
        if let Some((node, demand)) = entry.charged.take() {
            freed = true;
            if let Some(used) = self.usage.get_mut(&node) {
                used.remove(&demand);
            }
        }
        if let Some((node, demand)) = &now {
            self.usage.entry(node.clone()).or_default().add(demand);
        }
        entry.charged = now;
        if freed {
            self.retry_stuck_soon();
        }
    }

    fn retry_stuck_soon(&mut self) {
        if self.retry_stuck.is_none() && !self.stuck.is_empty() {
            self.retry_stuck = Some(Instant::now() + RETRY_STUCK_AFTER);
        }
    }

    fn enqueue(&mut self, uid: &str) {
        let Some((uid, _)) = self.pods.get_key_value(uid) else { return };
        let uid = uid.clone();
        let Some(entry) = self.pods.get_mut(&uid) else { return };
        if entry.busy {
            entry.again = true;
        } else if !entry.queued {
            entry.queued = true;
            self.queue.push_back(uid);
        }
    }

    /// Decides about one pod and begins what has to be written.
    fn step(&mut self, uid: &Uid) {
        let Some(entry) = self.pods.get_mut(uid) else { return };
        entry.queued = false;
        if entry.busy || entry.gone {
            return;
        }
        if let Some(timer) = entry.timer.take() {
            self.timers.try_remove(&timer);
        }
        if entry.pod.spec.node_name.is_some() {
            self.step_kubelet(uid);
        } else {
            self.step_scheduler(uid);
        }
    }

    fn step_kubelet(&mut self, uid: &Uid) {
        let Some(entry) = self.pods.get_mut(uid) else { return };
        let Some(index) =
            entry.pod.spec.node_name.as_deref().and_then(|node| self.options.machine_index(node))
        else {
            return;
        };
        if entry.local.ip.is_none() && !entry.pod.spec.host_network && !entry.pod.is_terminal() {
            entry.local.ip = self.addresses.take();
        }
        let images = self.images.entry(index).or_default();
        let machine = kubelet::Machine {
            ip: &machine_ip(index),
            images,
            timing: &self.options.timing,
            seed: self.options.seed,
        };
        let now = self.clock.now();
        let plan = kubelet::plan(&entry.pod, &mut entry.local, now, &machine);
        images.extend(plan.pulled);
        let patch = match plan.status.map(|wanted| status_patch(&entry.pod, &wanted)) {
            None => None,
            Some(Ok(patch)) => Some(patch),
            Some(Err(error)) => {
                warn!(%error, pod = entry.pod.name(), "a simulated status cannot be written as JSON");
                None
            }
        };
        let write = match (plan.remove, patch) {
            (true, patch) => Some(Write::Remove(patch)),
            (false, Some(patch)) => Self::unless_futile(entry, &patch).then_some(Write::Status(patch)),
            (false, None) => None,
        };
        match write {
            Some(write) => self.begin(uid, write),
            None => {
                if let Some(wake) = plan.wake {
                    self.wake_in(uid, self.clock.until(wake));
                }
            }
        }
    }

    /// False when the very same status was written onto this very version: the API server stores something else than
    /// it was given, and writing it again would never end.
    fn unless_futile(entry: &mut Entry, patch: &serde_json::Value) -> bool {
        let digest = mix(0, &[&patch["status"].to_string()]);
        let version = entry.pod.metadata.resource_version.clone().unwrap_or_default();
        if entry.written.as_ref() == Some(&(version, digest)) {
            debug!(pod = entry.pod.name(), "the API server stores another status than it was given");
            return false;
        }
        // The version is filled in when the answer comes.
        entry.written = Some((String::new(), digest));
        true
    }

    fn step_scheduler(&mut self, uid: &Uid) {
        let candidates = self.candidates.borrow().clone();
        let (Some(entry), Some(candidates)) = (self.pods.get_mut(uid), candidates) else { return };
        let pod = &entry.pod;
        let waits = entry.assumed.is_some() || !pod.spec.scheduling_gates.is_empty();
        if waits || pod.is_deleting() || pod.is_terminal() {
            return;
        }
        match schedule(pod, &candidates, &self.usage) {
            Decision::Bind(node) => {
                entry.assumed = Some(node.clone());
                self.charge(uid);
                self.begin(uid, Write::Bind(node));
            }
            Decision::Unschedulable(message) => {
                self.stuck.insert(uid.clone());
                let Some(wanted) = unschedulable(pod, message, self.clock.now()) else { return };
                let known = pod.status.condition("PodScheduled");
                let only_words = known.is_some_and(|known| known.reason.as_deref() == Some("Unschedulable"));
                let since = entry.told.map_or(REWORD_EVERY, |told| told.elapsed());
                if only_words && since < REWORD_EVERY {
                    return self.wake_in(uid, REWORD_EVERY - since);
                }
                match status_patch(pod, &wanted) {
                    Ok(patch) if Self::unless_futile(entry, &patch) => {
                        entry.told = Some(Instant::now());
                        self.begin(uid, Write::Status(patch));
                    }
                    Ok(_) => {}
                    Err(error) => warn!(%error, "a simulated condition cannot be written as JSON"),
                }
            }
        }
    }

    fn begin(&mut self, uid: &Uid, write: Write) {
        let Some(entry) = self.pods.get_mut(uid) else { return };
        entry.busy = true;
        entry.again = false;
        let (namespace, name) = (entry.pod.namespace().to_owned(), entry.pod.name().to_owned());
        let (client, uid) = (self.client.clone(), uid.clone());
        self.writes.spawn(async move {
            let outcome = perform(client, namespace, name, uid.to_string(), write).await;
            (uid, outcome)
        });
    }

    fn finished(&mut self, uid: &Uid, outcome: Outcome) {
        if !matches!(outcome, Outcome::Failed(_)) && !self.healthy {
            self.healthy = true;
            info!("writes of the simulated nodes work again");
        }
        let Some(entry) = self.pods.get_mut(uid) else { return };
        entry.busy = false;
        let again = std::mem::take(&mut entry.again);
        match outcome {
            Outcome::Stored(pod) => {
                entry.failures = 0;
                if let Some((version, _)) = &mut entry.written {
                    *version = pod.metadata.resource_version.clone().unwrap_or_default();
                }
                self.see(*pod);
                self.enqueue(uid);
            }
            Outcome::Bound => {
                entry.failures = 0;
                if again {
                    self.enqueue(uid);
                }
            }
            Outcome::Gone => entry.gone = true,
            Outcome::Changed(pod) => {
                entry.assumed = None;
                entry.written = None;
                entry.failures += 1;
                let failures = entry.failures;
                self.see(*pod);
                self.charge(uid);
                if failures > 3 {
                    self.wake_in(uid, FAILED_WAIT);
                } else {
                    self.enqueue(uid);
                }
            }
            Outcome::Failed(failure) => {
                entry.assumed = None;
                entry.written = None;
                entry.failures = entry.failures.saturating_add(1);
                let wait = FAILED_WAIT.saturating_mul(1 << entry.failures.min(8)).min(FAILED_WAIT_MAX);
                let pod = format!("{}/{}", entry.pod.namespace(), entry.pod.name());
                self.tell(&pod, &failure);
                self.charge(uid);
                self.wake_in(uid, wait);
            }
        }
    }

    /// Tells of an outage once, and of the rest only on request.
    fn tell(&mut self, pod: &str, failure: &Failure) {
        if self.healthy {
            self.healthy = false;
            warn!(pod, %failure, "a write of the simulated nodes failed for {pod}; all are tried again");
        } else {
            debug!(pod, %failure, "a write of the simulated nodes failed again");
        }
    }

    fn wake_in(&mut self, uid: &Uid, wait: Duration) {
        let Some(entry) = self.pods.get_mut(uid) else { return };
        // The queue of timers has an end at about two years; a day is as good as never for one look.
        let wait = wait.min(Duration::from_secs(86_400));
        match &entry.timer {
            Some(timer) => self.timers.reset(timer, wait),
            None => entry.timer = Some(self.timers.insert(uid.clone(), wait)),
        }
    }
}

/// True when `new` is an older version than `old`. Versions of one kind can be compared as numbers (stated by the API
/// since 1.35); where they are no numbers, the newcomer counts as newer.
fn is_older(new: &Pod, old: &Pod) -> bool {
    let version =
        |pod: &Pod| pod.metadata.resource_version.as_deref().and_then(|text| text.parse::<u64>().ok());
    matches!((version(new), version(old)), (Some(new), Some(old)) if new < old)
}

/// The status of a pod that fits nowhere, unless it says so already.
fn unschedulable(pod: &Pod, message: String, now: jiff::Timestamp) -> Option<super::pod::PodStatus> {
    let mut status = pod.status.clone();
    let seconds = jiff::Timestamp::from_second(now.as_second()).unwrap_or(now);
    let mut condition = Condition {
        kind: "PodScheduled".into(),
        status: "False".into(),
        last_probe_time: None,
        last_transition_time: Some(k8s_openapi::apimachinery::pkg::apis::meta::v1::Time(seconds)),
        reason: Some("Unschedulable".into()),
        message: Some(message),
        observed_generation: pod.metadata.generation,
    };
    match status.conditions.iter_mut().find(|old| old.kind == condition.kind) {
        Some(old) => {
            if old.status == condition.status {
                condition.last_transition_time = old.last_transition_time.take();
            }
            *old = condition;
        }
        None => status.conditions.push(condition),
    }
    (status != pod.status).then_some(status)
}
