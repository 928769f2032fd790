//! The middle of a run: what is known of the processes and of what is to go wrong, the history, the judges, the trace.
use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::{Notify, mpsc};
use tokio::time::Instant;

use super::fault::{Fault, How, Moment};
use super::history::{Entry, History, View, Writer};
use super::trace::Trace;
use super::{Broken, Invariants};
use crate::api::{Commit, Server};

/// What is delivered in the very moment of a decision counts as not yet known: reading takes time.
const REACTION: Duration = Duration::from_millis(1);
/// A request that lay longer in its process than this may go out after another process has taken the lease over.
const LATE: Duration = Duration::from_secs(3);

/// Resources that do not count as work: leases keep being renewed.
const RESTLESS: &str = "leases.coordination.k8s.io";
/// Notes for people; they decide nothing, so no fault waits for them.
const EVENTS: &str = "events.events.k8s.io";

/// One life of a process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Life {
    /// Its place among the processes.
    pub process: usize,
    /// Which life of it, counted from 1.
    pub number: u32,
}

impl Life {
    /// The name of this life, unique in the run.
    pub fn name(&self) -> String {
        format!("p{}.{}", self.process, self.number)
    }
}

/// What is known of a process.
#[derive(Default)]
pub struct Process {
    pub lives: u32,
    pub alive: bool,
    /// Faults that wait for their requests.
    armed: VecDeque<Fault>,
    partition: Option<Instant>,
    lease_lost: Option<Instant>,
    stall: Option<Instant>,
    /// Until when watches deliver nothing, by kind; the empty name stands for all.
    held: BTreeMap<&'static str, Instant>,
    twice: u32,
    /// How often its watches were cut: ended well, and broken.
    cuts: (u64, u64),
    /// By kind, what its watches delivered: when, and up to which revision.
    marks: BTreeMap<String, Vec<(Duration, u64)>>,
    /// How long it stays away when it dies.
    pub back_after: Duration,
}

/// What is to become of a request.
pub struct Fate {
    pub number: u64,
    pub fails: Option<(Moment, How)>,
    pub dies: Option<Moment>,
    pub slow: Duration,
}

/// What a request asks for.
#[derive(Clone, Debug)]
pub struct Asked {
    pub verb: &'static str,
    /// Plural and group.
    pub resource: String,
    /// For people: resource, subresource, namespace and name.
    pub text: String,
    pub is_write: bool,
}

pub struct State {
    pub processes: Vec<Process>,
    pub history: History,
    pub trace: Trace,
    pub broken: Option<Broken>,
    invariants: Box<dyn Invariants>,
    views: HashMap<u64, View>,
    requests: u64,
    /// Writes by processes and by the cluster, leases aside: attempted ones, too.
    pub work: u64,
    pub last_work: String,
}

/// Shared by everything in a run.
pub struct Hub {
    pub api: Server,
    pub began: Instant,
    pub seed: u64,
    state: Mutex<State>,
    /// The watches of some process are cut.
    pub cut: Notify,
    /// A process died.
    pub died: mpsc::UnboundedSender<usize>,
    /// What the simulated node has to look at.
    pub committed: mpsc::UnboundedSender<Entry>,
    /// An invariant is broken.
    pub stop: Notify,
}

impl Hub {
    pub fn new(
        api: Server,
        seed: u64,
        processes: usize,
        invariants: Box<dyn Invariants>,
        died: mpsc::UnboundedSender<usize>,
        committed: mpsc::UnboundedSender<Entry>,
    ) -> Arc<Self> {
        let state = State {
            processes: (0..processes).map(|_| Process::default()).collect(),
            history: History::default(),
            trace: Trace::default(),
            broken: None,
            invariants,
            views: HashMap::new(),
            requests: 0,
            work: 0,
            last_work: String::new(),
        };
        let hub = Arc::new(Self {
            api,
            began: Instant::now(),
            seed,
            state: Mutex::new(state),
            cut: Notify::new(),
            died,
            committed,
            stop: Notify::new(),
        });
        let looking_on = Arc::downgrade(&hub);
        hub.api.observe(Arc::new(move |commit| {
            if let Some(hub) = looking_on.upgrade() {
                hub.commit(commit);
            }
        }));
        hub
    }

    pub fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Time since the start.
    pub fn now(&self) -> Duration {
        self.began.elapsed()
    }

    pub fn line(&self, who: &str, what: &str) {
        let now = self.now();
        self.state().trace.line(now, who, what);
    }

    /// A new life of a process begins.
    pub fn begin(&self, process: usize) -> Life {
        let now = self.now();
        let mut state = self.state();
        let mut life = Life { process, number: 1 };
        if let Some(known) = state.processes.get_mut(process) {
            known.lives += 1;
            known.alive = true;
            known.marks.clear();
            known.back_after = Duration::from_secs(1);
            life.number = known.lives;
        }
        state.trace.line(now, &life.name(), "starts");
        life
    }

    /// From now on nothing of it reaches the API.
    pub fn kill(&self, process: usize) {
        let now = self.now();
        let mut state = self.state();
        let Some(known) = state.processes.get_mut(process).filter(|known| known.alive) else { return };
        known.alive = false;
        let name = Life { process, number: known.lives }.name();
        state.trace.line(now, &name, "dies");
        let _ = self.died.send(process);
    }

    /// A request is sent: notes what its sender knows, and decides what becomes of it. `None` from the dead.
    pub fn send(&self, life: &Life, asked: &Asked) -> Option<Fate> {
        let sent_at = self.now();
        let mut state = self.state();
        let state = &mut *state;
        let known = state.processes.get_mut(life.process).filter(|p| p.alive && p.lives == life.number)?;
        state.requests += 1;
        let number = state.requests;
        let mut fate = Fate { number, fails: None, dies: None, slow: Duration::ZERO };
        let now = Instant::now();
        let runs = |until: Option<Instant>| until.is_some_and(|until| now < until);
        let lease = asked.resource == RESTLESS;
        if runs(known.partition) || (lease && runs(known.lease_lost)) {
            fate.fails = Some((Moment::Before, How::Broken));
        } else if !lease && asked.resource != EVENTS {
            known.meet(asked, &mut fate);
        }
        if asked.is_write && !lease {
            state.work += 1;
            state.last_work = format!("{} {} {}", life.name(), asked.verb, asked.text);
            let (marks, history) = (&known.marks, &state.history);
            let known_until = |until: Duration| {
                let revisions = marks.iter().map(|(resource, marks)| {
                    // Nobody acts before the first list, so that is known in any case.
                    let count = marks.partition_point(|(at, _)| *at <= until).max(1);
                    let mark = marks.iter().take(count).map(|(_, revision)| *revision).max().unwrap_or(0);
                    (resource.clone(), if mark == 0 { 0 } else { history.stands_until(resource, mark) })
                });
                revisions.collect()
            };
            let revisions = known_until(sent_at.saturating_sub(REACTION));
            let view = View { sent_at, late: false, revisions, latest: known_until(sent_at) };
            state.views.insert(number, view);
        }
        state.trace.note(format!("{sent_at:?} {} {} {}", life.name(), asked.verb, asked.text));
        Some(fate)
    }

    /// Until when a stalled process holds what it sends and receives.
    pub fn stalled(&self, life: &Life) -> Option<Instant> {
        let state = self.state();
        let stall = state.processes.get(life.process).and_then(|known| known.stall);
        stall.filter(|until| Instant::now() < *until)
    }

    /// A request left its process; whether that was long after it was made.
    pub fn left(&self, number: u64) {
        let now = self.now();
        if let Some(view) = self.state().views.get_mut(&number) {
            view.late = now.saturating_sub(view.sent_at) > LATE;
        }
    }

    /// How often the watches of a process were cut: ended well, and broken.
    pub fn cuts(&self, life: &Life) -> (u64, u64) {
        self.state().processes.get(life.process).map_or((0, 0), |known| known.cuts)
    }

    /// Until when a watch delivers nothing.
    pub fn held(&self, life: &Life, resource: &str) -> Option<Instant> {
        let state = self.state();
        let known = state.processes.get(life.process)?;
        let holds = known.held.iter().filter(|(kind, _)| kind.is_empty() || **kind == resource);
        holds.map(|(_, until)| *until).chain(known.stall).filter(|until| Instant::now() < *until).max()
    }

    /// Watch or list have brought a process up to this revision of a kind. Whether the event is to come once more.
    pub fn delivered(&self, life: &Life, resource: &str, revision: u64, what: &str) -> bool {
        let now = self.now();
        let mut state = self.state();
        let state = &mut *state;
        state.trace.note(format!("{now:?} {} got {what} {resource} {revision}", life.name()));
        let Some(known) = state.processes.get_mut(life.process).filter(|p| p.lives == life.number) else {
            return false;
        };
        known.marks.entry(resource.to_owned()).or_default().push((now, revision));
        let again = known.twice > 0;
        known.twice = known.twice.saturating_sub(1);
        again
    }

    fn commit(&self, commit: &Commit<'_>) {
        let at = self.now();
        let mut state = self.state();
        let state = &mut *state;
        let (name, number) = commit.user_agent.split_once('/').unwrap_or((commit.user_agent, ""));
        let writer = match name {
            "user" => Writer::User,
            "cluster" | "" => Writer::Cluster,
            process => Writer::Process(process.to_owned()),
        };
        let view = number.parse().ok().and_then(|number| state.views.remove(&number));
        let (namespace, object) = commit.key();
        let entry = Entry {
            revision: commit.revision(),
            at,
            verb: commit.verb.to_owned(),
            resource: commit.resource.to_owned(),
            namespace: namespace.to_owned(),
            name: object.to_owned(),
            before: commit.before().map(Arc::new),
            after: commit.after().map(Arc::new),
            writer,
            view,
        };
        if entry.writer == Writer::Cluster && entry.resource != RESTLESS {
            state.work += 1;
            state.last_work = format!("cluster {} {} {}", entry.verb, entry.resource, entry.name);
        }
        state.trace.note(format!("{at:?} {} {} {}", entry.revision, entry.resource, entry.name));
        state.history.record(&entry);
        if state.broken.is_none()
            && let Err(broken) = state.invariants.committed(&state.history, &entry)
        {
            state.trace.line(at, "BROKEN", &broken.to_string());
            state.broken = Some(broken);
            self.stop.notify_one();
        }
        let _ = self.committed.send(entry);
    }

    /// Something goes wrong from now on.
    pub fn strike(&self, fault: &Fault) {
        let now = Instant::now();
        let cut = |process: usize, broken: bool| {
            if let Some(Process { cuts: (ended, snapped), .. }) = self.state().processes.get_mut(process) {
                *(if broken { snapped } else { ended }) += 1;
            }
            self.cut.notify_waiters();
        };
        let with = |process: usize, change: &mut dyn FnMut(&mut Process)| {
            if let Some(known) = self.state().processes.get_mut(process) {
                change(known);
            }
        };
        match fault {
            Fault::Fail { process, .. } | Fault::Slow { process, .. } => {
                with(*process, &mut |known| known.armed.push_back(fault.clone()));
            }
            Fault::Partition { process, lasts } => {
                with(*process, &mut |known| known.partition = Some(now + *lasts));
                cut(*process, true);
            }
            Fault::LeaseLost { process, lasts } => {
                with(*process, &mut |known| known.lease_lost = Some(now + *lasts));
            }
            Fault::Stall { process, lasts } => with(*process, &mut |known| known.stall = Some(now + *lasts)),
            Fault::CutWatches { process, broken } => cut(*process, *broken),
            Fault::Expire { process } => {
                self.api.compact();
                cut(*process, false);
            }
            Fault::Hold { process, resource, lasts } => with(*process, &mut |known| {
                known.held.insert(resource.unwrap_or_default(), now + *lasts);
            }),
            Fault::Duplicate { process, events } => with(*process, &mut |known| known.twice += events),
            Fault::Crash { process, at_write, back_after } => match at_write {
                Some(_) => with(*process, &mut |known| known.armed.push_back(fault.clone())),
                None => {
                    with(*process, &mut |known| known.back_after = *back_after);
                    self.kill(*process);
                }
            },
        }
    }

    /// All faults end.
    pub fn heal(&self) {
        for known in &mut self.state().processes {
            known.armed.clear();
            (known.partition, known.lease_lost, known.stall) = (None, None, None);
            known.held.clear();
            known.twice = 0;
        }
    }
}

impl Process {
    /// Lets the faults that wait for such a request have it.
    fn meet(&mut self, asked: &Asked, fate: &mut Fate) {
        let waits = |fault: &Fault| match fault {
            // A conflict is about a version that was read; what is new has none.
            Fault::Fail { how: How::Status(409), .. } => asked.is_write && asked.verb != "create",
            Fault::Fail { writes, .. } => asked.is_write || !writes,
            Fault::Crash { .. } => asked.is_write,
            _ => true,
        };
        let Some(index) = self.armed.iter().position(waits) else { return };
        let spent = match &mut self.armed[index] {
            Fault::Fail { moment, how, times, .. } => {
                // What writes nothing is not done, whatever becomes of the answer.
                fate.fails = Some((if asked.is_write { *moment } else { Moment::Before }, *how));
                *times -= 1;
                *times == 0
            }
            Fault::Slow { by, times, .. } => {
                fate.slow = *by;
                *times -= 1;
                *times == 0
            }
            Fault::Crash { at_write, back_after, .. } => {
                fate.dies = *at_write;
                self.back_after = *back_after;
                true
            }
            _ => true,
        };
        if spent {
            self.armed.remove(index);
        }
    }
}
