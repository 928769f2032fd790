//! One simulated container: pulling, starting, running, crashing, being replaced. Pure, like all of [`super`].

use std::time::Duration;

use jiff::Timestamp;

use super::super::clock::{after, between};
use super::super::events::Note;
use super::super::pod::{Container, Pod};
use super::say::Voice;
use super::trouble::{self, KILLED};
use super::{Local, Machine, Plan};

/// The least time between the end of a container and its next start, so that the end is seen in between.
pub const RESTART_PAUSE: Duration = Duration::from_millis(40);
/// How long `ErrImagePull` shows before it becomes `ImagePullBackOff`.
const PULL_ERROR_SHOWS: Duration = Duration::from_secs(1);
/// After running this long a container's crashes are forgotten, as on a real node (twice the longest back-off).
const CRASHES_FORGOTTEN_AFTER: Duration = Duration::from_secs(600);

/// What the kubelet remembers of one container.
#[derive(Clone, Debug, PartialEq)]
pub struct Memory {
    /// Its name in the spec.
    pub name: String,
    /// What it does.
    pub state: State,
    /// The image of the run that is or was last.
    pub image: Option<String>,
    /// How the last run ended, while the next has not begun.
    pub ended: Option<Exit>,
    /// How the run before ended.
    pub before: Option<Exit>,
    /// How often it was started again; the number of its run.
    pub restarts: u32,
    /// Crashes in a row, which decide the back-off.
    pub crashes: u32,
    /// True when it can serve. Decided with everything else in a look, so that one look has one answer.
    pub ready: bool,
    /// True once its start is over.
    pub started: bool,
    /// It was said that it does not become ready.
    pub told_unready: bool,
    /// The wish to crash once that was fulfilled last.
    pub crashed_for: Option<String>,
    /// A new size needs a restart.
    pub restart_for_size: bool,
}

/// Why a container that runs is asked to end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Why {
    /// Its image was changed.
    Image,
    /// Its new size needs a restart.
    Size,
    /// It did not answer.
    Liveness,
}

/// What one container does.
#[derive(Clone, Debug, PartialEq)]
pub enum State {
    /// Nothing was begun.
    Waiting,
    /// The machine fetches the image.
    Pulling {
        /// Which image.
        image: String,
        /// Since when; absent when the machine had it already.
        since: Option<Timestamp>,
        /// When it is there, or fails.
        until: Timestamp,
        /// How often it failed before.
        failures: u32,
    },
    /// The image could not be had.
    PullFailed {
        /// Which image.
        image: String,
        /// When that was.
        since: Timestamp,
        /// When to try again.
        retry: Timestamp,
        /// How often it failed.
        failures: u32,
        /// True while the error itself shows, false once it is only the back-off.
        fresh: bool,
    },
    /// The runtime creates the container.
    Starting {
        /// From which image.
        image: String,
        /// When it runs.
        until: Timestamp,
    },
    /// The process runs.
    Running {
        /// Since when.
        since: Timestamp,
    },
    /// The process runs, but was asked to end, and starts again after that.
    Stopping {
        /// Why.
        why: Why,
        /// Since when it runs.
        since: Timestamp,
        /// When it will have ended.
        until: Timestamp,
    },
    /// The process ended.
    Ended {
        /// When the next run may begin; absent when there is none.
        resume: Option<Timestamp>,
        /// True when it waits because it crashed again and again.
        backing_off: bool,
    },
}

/// How a run ended.
#[derive(Clone, Debug, PartialEq)]
pub struct Exit {
    /// Exit code.
    pub code: i32,
    /// `Completed`, `Error` or `ContainerStatusUnknown`.
    pub reason: &'static str,
    /// When the run began; absent when there was none.
    pub started: Option<Timestamp>,
    /// When it ended.
    pub finished: Option<Timestamp>,
}

impl Exit {
    fn of_process(code: i32, started: Timestamp, finished: Timestamp) -> Self {
        let reason = if code == 0 { "Completed" } else { "Error" };
        Self { code, reason, started: Some(started), finished: Some(finished.max(started)) }
    }
}

impl Memory {
    /// A container that nobody has begun.
    pub fn new(name: &str) -> Self {
        Self {
            name: name.into(),
            state: State::Waiting,
            image: None,
            ended: None,
            before: None,
            restarts: 0,
            crashes: 0,
            ready: false,
            started: false,
            told_unready: false,
            crashed_for: None,
            restart_for_size: false,
        }
    }

    /// Since when the process runs, if it does.
    pub fn running_since(&self) -> Option<Timestamp> {
        match self.state {
            State::Running { since } | State::Stopping { since, .. } => Some(since),
            _ => None,
        }
    }

    /// The end of its last run, when that was for good.
    pub fn final_exit(&self) -> Option<&Exit> {
        match self.state {
            State::Ended { resume: None, .. } => self.ended.as_ref(),
            _ => None,
        }
    }

    /// Ends it for good. A container that never ran gets what a kubelet reports for it.
    pub fn end_for_good(&mut self, code: i32, when: Timestamp) {
        self.ready = false;
        self.started = false;
        if let Some(since) = self.running_since() {
            self.ended = Some(Exit::of_process(code, since, when));
        } else if self.ended.is_none() {
            self.ended =
                Some(Exit { code: KILLED, reason: "ContainerStatusUnknown", started: None, finished: None });
        }
        self.state = State::Ended { resume: None, backing_off: false };
    }
}

/// What the surroundings say about one container in one look.
struct View<'a> {
    pod: &'a Pod,
    spec: &'a Container,
    machine: &'a Machine<'a>,
    now: Timestamp,
    /// Runs to its end before the others start.
    is_init: bool,
    /// How events name it.
    field: String,
}

/// How events name a container.
fn field(is_among_init: bool, name: &str) -> String {
    let list = if is_among_init { "initContainers" } else { "containers" };
    format!("spec.{list}{{{name}}}")
}

/// What is said when a pod is asked to end: one note for each container that runs.
pub fn farewells(init: &[Memory], app: &[Memory]) -> Vec<Note> {
    let running = |memories: &[Memory], is_init: bool| -> Vec<Note> {
        let running = memories.iter().filter(|memory| memory.running_since().is_some());
        let say = |memory: &Memory| {
            Voice { field: &field(is_init, &memory.name), container: &memory.name }.stopping()
        };
        running.map(say).collect()
    };
    [running(init, true), running(app, false)].concat()
}

/// Moves all containers of a pod to where they are now.
pub fn advance_all(pod: &Pod, local: &mut Local, now: Timestamp, machine: &Machine<'_>, plan: &mut Plan) {
    let mut initialized = true;
    for (memory, spec) in local.init.iter_mut().zip(&pod.spec.init_containers) {
        let is_init = runs_to_its_end(spec);
        let view = View { pod, spec, machine, now, is_init, field: field(true, &spec.name) };
        if initialized || memory.running_since().is_some() {
            view.advance(memory, plan);
        }
        let done = if is_init {
            memory.final_exit().is_some_and(|exit| exit.code == 0)
        } else {
            memory.running_since().is_some()
        };
        initialized &= done;
    }
    // Containers that have begun go on even when a sidecar in front of them restarts.
    for (memory, spec) in local.app.iter_mut().zip(&pod.spec.containers) {
        if initialized || memory.state != State::Waiting {
            let view = View { pod, spec, machine, now, is_init: false, field: field(false, &spec.name) };
            view.advance(memory, plan);
        }
    }
}

impl View<'_> {
    /// Takes every step that is due, then says when the next one is.
    fn advance(&self, memory: &mut Memory, plan: &mut Plan) {
        while let Some(next) = self.step(memory, plan) {
            memory.state = next;
        }
        self.settle_readiness(memory, plan);
    }

    /// The next state if it is due now; else asks to be woken.
    fn step(&self, memory: &mut Memory, plan: &mut Plan) -> Option<State> {
        let now = self.now;
        let wanted = &self.spec.image;
        let due = |when: Timestamp, plan: &mut Plan| {
            if when <= now {
                return true;
            }
            plan.wake_at(when);
            false
        };
        match memory.state.clone() {
            State::Waiting => Some(self.pull(0, plan)),
            State::Pulling { image, since, until, failures } => {
                if image != *wanted {
                    return Some(self.pull(0, plan));
                }
                if !due(until, plan) {
                    return None;
                }
                if trouble::pull_fails(self.pod, wanted) {
                    plan.notes.extend(self.voice().pull_failed(&image));
                    let failures = failures + 1;
                    let retry = after(now, self.machine.backoff(failures));
                    return Some(State::PullFailed { image, since: now, retry, failures, fresh: true });
                }
                if !self.machine.images.contains(&image) {
                    plan.pulled.push(image.clone());
                }
                plan.notes.push(self.voice().pulled(&image, since.map(|since| between(since, until))));
                Some(State::Starting {
                    image,
                    until: after(now, self.spread(self.machine.timing.start, "start")),
                })
            }
            State::PullFailed { image, since, retry, failures, fresh } => {
                if image != *wanted || !trouble::pull_fails(self.pod, wanted) {
                    return Some(self.pull(0, plan));
                }
                if due(retry, plan) {
                    return Some(self.pull(failures, plan));
                }
                if fresh && due(after(since, PULL_ERROR_SHOWS), plan) {
                    plan.notes.extend(self.voice().pull_backs_off(&image));
                    return Some(State::PullFailed { image, since, retry, failures, fresh: false });
                }
                None
            }
            State::Starting { image, until } => {
                if image != *wanted {
                    return Some(self.pull(0, plan));
                }
                if !due(until, plan) {
                    return None;
                }
                if let Some(exit) = memory.ended.take() {
                    memory.before = Some(exit);
                    memory.restarts += 1;
                }
                memory.image = Some(image);
                memory.restart_for_size = false;
                plan.notes.extend(self.voice().started());
                Some(State::Running { since: now })
            }
            State::Running { since } => self.step_running(memory, since, plan),
            State::Stopping { why, since, until } => {
                if !due(until, plan) {
                    return None;
                }
                if why == Why::Liveness {
                    return Some(self.crashed(memory, KILLED, since, plan));
                }
                let code = trouble::stop_code(self.pod, self.spec, self.machine);
                memory.ended = Some(Exit::of_process(code, since, now));
                memory.crashes = 0;
                Some(State::Ended { resume: Some(after(now, RESTART_PAUSE)), backing_off: false })
            }
            State::Ended { resume: Some(resume), backing_off } => {
                // The back-off belongs to the container as it was: a new image starts at once.
                if backing_off && memory.image.as_deref() != Some(wanted.as_str()) {
                    memory.crashes = 0;
                    return Some(State::Ended { resume: Some(now), backing_off: false });
                }
                due(resume, plan).then(|| self.pull(0, plan))
            }
            State::Ended { resume: None, .. } => None,
        }
    }

    fn voice(&self) -> Voice<'_> {
        Voice { field: &self.field, container: &self.spec.name }
    }

    fn step_running(&self, memory: &mut Memory, since: Timestamp, plan: &mut Plan) -> Option<State> {
        let timing = self.machine.timing;
        let stop = |why: Why| {
            let until = after(self.now, trouble::stop_span(self.pod, self.machine));
            Some(State::Stopping { why, since, until })
        };
        if !self.is_init && memory.image.as_deref() != Some(self.spec.image.as_str()) {
            plan.notes.push(self.voice().replaced());
            return stop(Why::Image);
        }
        if memory.restart_for_size {
            plan.notes.push(self.voice().resized());
            return stop(Why::Size);
        }
        let due = |when: Timestamp, plan: &mut Plan| {
            if when > self.now {
                plan.wake_at(when);
            }
            when <= self.now
        };
        if !self.is_init
            && trouble::fails(self.pod, self.spec, "liveness")
            && due(after(since, self.spread(timing.liveness, "liveness")), plan)
        {
            plan.notes.extend(self.voice().not_alive());
            return stop(Why::Liveness);
        }
        let once = trouble::crash_once(self.pod, self.spec)
            .filter(|(_, wish)| memory.crashed_for.as_ref() != Some(wish));
        let (code, runs) = match (trouble::crash_code(self.pod, self.spec), &once) {
            (Some(code), _) => (code, timing.crash_after),
            (None, Some((code, _))) => (*code, timing.crash_after),
            (None, None) if self.is_init => (0, timing.init_run),
            (None, None) => return None,
        };
        if !due(after(since, self.spread(runs, "run")), plan) {
            return None;
        }
        if let Some((_, wish)) = once {
            memory.crashed_for = Some(wish);
        }
        Some(self.crashed(memory, code, since, plan))
    }

    /// The process has ended by itself, or because it did not answer.
    fn crashed(&self, memory: &mut Memory, code: i32, since: Timestamp, plan: &mut Plan) -> State {
        memory.ended = Some(Exit::of_process(code, since, self.now));
        memory.ready = false;
        memory.started = false;
        if !restarts_after(self.pod, self.spec, self.is_init, code) {
            return State::Ended { resume: None, backing_off: false };
        }
        if between(since, self.now) >= CRASHES_FORGOTTEN_AFTER {
            memory.crashes = 0;
        }
        memory.crashes += 1;
        // The first restart comes at once, as on a real node.
        if memory.crashes == 1 {
            return State::Ended { resume: Some(after(self.now, RESTART_PAUSE)), backing_off: false };
        }
        plan.notes.push(self.voice().backs_off(self.pod));
        let wait = self.machine.backoff(memory.crashes - 1);
        State::Ended { resume: Some(after(self.now, wait)), backing_off: true }
    }

    /// Decides whether the container can serve, and when that may change by itself.
    fn settle_readiness(&self, memory: &mut Memory, plan: &mut Plan) {
        let Some(since) = memory.running_since() else {
            (memory.ready, memory.started, memory.told_unready) = (false, false, false);
            return;
        };
        let slow = trouble::start_span(self.pod, self.spec, self.machine);
        memory.started |= slow.is_none() || slow.is_some_and(|span| after(since, span) <= self.now);
        if self.is_init {
            memory.ready = false;
            return;
        }
        let refused = self.pod.wish("ready").is_some_and(|value| value.eq_ignore_ascii_case("false"))
            || trouble::fails(self.pod, self.spec, "ready");
        let span = slow.unwrap_or_else(|| self.spread(self.machine.timing.readiness, "ready"));
        let ready_at = after(since, span);
        if !memory.ready && ready_at > self.now {
            plan.wake_at(ready_at);
            if slow.is_some() && !std::mem::replace(&mut memory.told_unready, true) {
                plan.notes.push(self.voice().probe_failed("Startup"));
            }
            return;
        }
        memory.ready = !refused;
        if refused && !std::mem::replace(&mut memory.told_unready, true) {
            plan.notes.push(self.voice().probe_failed("Readiness"));
        }
        if !refused {
            memory.told_unready = false;
        }
    }

    fn pull(&self, failures: u32, plan: &mut Plan) -> State {
        let timing = self.machine.timing;
        let image = self.spec.image.clone();
        let present = self.machine.images.contains(&image) && !trouble::pull_fails(self.pod, &image);
        let span = match trouble::pull_span(self.pod, self.machine) {
            Some(span) => span,
            None if present => Duration::ZERO,
            None => timing.image_pull,
        };
        let fetches = !present || !span.is_zero();
        if fetches {
            plan.notes.push(self.voice().pulling(&image));
        }
        let until = after(self.now, self.spread(span, &image));
        State::Pulling { since: fetches.then_some(self.now), until, image, failures }
    }

    fn spread(&self, span: Duration, what: &str) -> Duration {
        self.machine.spread(span, &[self.pod.uid(), &self.spec.name, what])
    }
}

/// Whether a container starts again after it ended with this code.
pub fn restarts_after(pod: &Pod, spec: &Container, is_init: bool, code: i32) -> bool {
    let policy = spec.restart_policy.as_deref().or(pod.spec.restart_policy.as_deref());
    match policy.unwrap_or("Always") {
        "Never" => false,
        "OnFailure" => code != 0,
        // An init container under `Always` still runs only until it succeeds.
        _ => !(is_init && code == 0),
    }
}

/// True for an init container that runs to its end, false for a sidecar that keeps running beside the others.
pub fn runs_to_its_end(spec: &Container) -> bool {
    spec.restart_policy.as_deref() != Some("Always")
}
