//! The loop behind all simulated pods: one watch, one timer queue and a bounded number of writes drive the pure
//! decisions of [`super::schedule`] and [`super::kubelet`]. One task owns all state, so nothing is locked.

mod kubelets;
mod scheduling;
mod writing;

use std::collections::{BTreeSet, HashMap, HashSet, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use futures::StreamExt;
use kube::Client;
use kube::api::Api;
use kube::runtime::{WatchStreamExt, watcher};
use tokio::sync::{mpsc, watch};
use tokio::task::JoinSet;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tokio_util::time::DelayQueue;
use tokio_util::time::delay_queue::Key;
use tracing::{debug, warn};

use super::addresses::Addresses;
use super::clock::Clock;
use super::demand::Demand;
use super::events::{Note, Recorder, Speaker};
use super::ids::mix;
use super::kubelet::Local;
use super::labels::{LabelPool, Labels};
use super::machines::Candidates;
use super::options::{Options, SCHEDULER_NAME};
use super::pace::Pace;
use super::pod::Pod;
use super::volumes::{Claims, News};
use super::write::Outcome;

/// Pods that fitted nowhere are tried again this long after something became free.
const RETRY_STUCK_AFTER: Duration = Duration::from_millis(200);
/// How long writes that are under way may take when the simulation stops.
const STOP_LIMIT: Duration = Duration::from_secs(3);

type Uid = Arc<str>;

/// All that is known about one pod.
struct Entry {
    pod: Pod,
    local: Local,
    labels: Labels,
    /// Node that the pod counts on, and how much.
    charged: Option<(String, Demand)>,
    /// Node that we chose for it, and asked the API server to bind it to unless its claims come first.
    assumed: Option<String>,
    /// Its claims get their volumes on the assumed node; it is bound after that.
    awaits_claims: bool,
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
    news: mpsc::Receiver<News>,
    recorder: Recorder,
    pods: HashMap<Uid, Entry>,
    queue: VecDeque<Uid>,
    timers: DelayQueue<Uid>,
    writes: JoinSet<(Uid, Outcome)>,
    pace: Pace,
    /// Bounds how often numbers of players are written, all together.
    game_pace: Pace,
    usage: HashMap<String, Demand>,
    images: HashMap<usize, HashSet<String>>,
    addresses: Addresses,
    /// Pods that fitted nowhere, and when to try them again.
    stuck: BTreeSet<Uid>,
    claims: Claims,
    labels: LabelPool,
    /// Pods with a node that want to be away from others.
    repelling: BTreeSet<Uid>,
    /// Pods whose resize waits for room on their machine.
    cramped: BTreeSet<Uid>,
    /// Machines that are played down.
    down: HashSet<usize>,
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
        news: mpsc::Receiver<News>,
        recorder: Recorder,
    ) -> Self {
        Self {
            pace: Pace::new(options.writes_per_second),
            game_pace: Pace::new(Some(options.player_writes_per_second)),
            addresses: Addresses::starting_at(mix(options.seed, &[&options.prefix])),
            client,
            options,
            clock,
            candidates,
            news,
            recorder,
            pods: HashMap::new(),
            queue: VecDeque::new(),
            timers: DelayQueue::new(),
            writes: JoinSet::new(),
            usage: HashMap::new(),
            images: HashMap::new(),
            stuck: BTreeSet::new(),
            claims: Claims::default(),
            labels: LabelPool::default(),
            repelling: BTreeSet::new(),
            cramped: BTreeSet::new(),
            down: HashSet::new(),
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
            // In a fixed order, so that a run with paused time can be repeated.
            tokio::select! {
                biased;
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
                Some(news) = self.news.recv() => {
                    for uid in self.claims.learn(news) {
                        self.stuck.remove(&uid);
                        self.enqueue(&uid);
                    }
                }
                Ok(()) = more_machines.changed() => {
                    self.notice_downs();
                    self.retry_stuck_soon();
                }
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
                let mut missing: Vec<Uid> =
                    self.pods.keys().filter(|uid| !seen.contains(*uid)).cloned().collect();
                missing.sort();
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
    fn see(&mut self, mut pod: Pod) {
        let uid: Uid = pod.uid().into();
        if uid.is_empty() || !self.concerns_us(&pod) {
            self.forget(&uid);
            return;
        }
        let labels = self.labels.share(&pod.metadata.labels.take().unwrap_or_default());
        if let Some(entry) = self.pods.get_mut(&uid) {
            if is_older(&pod, &entry.pod) {
                return;
            }
            entry.pod = pod;
            entry.labels = labels;
            entry.gone = false;
        } else {
            self.claims.add_user(pod.namespace(), &pod.spec.claims, &uid);
            let ip = pod.status.pod_ip.clone().filter(|_| !pod.spec.host_network);
            if let Some(ip) = &ip {
                self.addresses.reserve(ip);
            }
            let entry = Entry {
                pod,
                local: Local { ip, ..Local::default() },
                labels,
                charged: None,
                assumed: None,
                awaits_claims: false,
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
        self.claims.remove_user(entry.pod.namespace(), &entry.pod.spec.claims, uid);
        self.repelling.remove(uid);
        self.cramped.remove(uid);
        if let Some((node, demand)) = &entry.charged {
            if let Some(used) = self.usage.get_mut(node) {
                used.remove(demand);
            }
            self.freed();
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
        let away_from = entry.pod.spec.affinity.as_ref().map(|affinity| &affinity.pod_anti_affinity.required);
        let repels = now.is_some() && away_from.is_some_and(|terms| !terms.is_empty());
        entry.charged = now;
        if repels {
            self.repelling.insert(uid.into());
        } else {
            self.repelling.remove(uid);
        }
        if freed {
            self.freed();
        }
    }

    /// Something has become free: pods that wait for room are tried again.
    fn freed(&mut self) {
        self.retry_stuck_soon();
        for uid in std::mem::take(&mut self.cramped) {
            self.enqueue(&uid);
        }
    }

    /// Notices which machines are played down or up again. Pods of those that are up again have much to catch up.
    fn notice_downs(&mut self) {
        let Some(candidates) = self.candidates.borrow_and_update().clone() else { return };
        let index = |name: &str| self.options.machine_index(name);
        let now: HashSet<usize> = candidates
            .iter()
            .filter(|machine| machine.is_down)
            .filter_map(|machine| index(&machine.name))
            .collect();
        let before = std::mem::replace(&mut self.down, now);
        let is_up_again = |entry: &Entry| {
            let machine =
                entry.pod.spec.node_name.as_deref().and_then(|name| self.options.machine_index(name));
            machine.is_some_and(|machine| before.contains(&machine) && !self.down.contains(&machine))
        };
        let mut again: Vec<Uid> =
            self.pods.iter().filter(|(_, entry)| is_up_again(entry)).map(|(uid, _)| uid.clone()).collect();
        again.sort();
        for uid in again {
            self.enqueue(&uid);
        }
    }

    /// Says something about a pod, as long as not too many are played.
    fn tell_events(&self, pod: &Pod, speaker: &Speaker, notes: Vec<Note>) {
        if self.pods.len() <= self.options.events_up_to {
            for note in notes {
                self.recorder.tell(pod, speaker, note, &self.clock);
            }
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
}

/// True when `new` is an older version than `old`. Versions of one kind can be compared as numbers (stated by the API
/// since 1.35); where they are no numbers, the newcomer counts as newer.
fn is_older(new: &Pod, old: &Pod) -> bool {
    let version =
        |pod: &Pod| pod.metadata.resource_version.as_deref().and_then(|text| text.parse::<u64>().ok());
    matches!((version(new), version(old)), (Some(new), Some(old)) if new < old)
}
