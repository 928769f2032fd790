//! One run: a world, a schedule, the faults end, the goal is reached, and then nothing more happens.
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep, sleep_until};
use tokio_util::sync::CancellationToken;

use super::hub::Hub;
use super::requests::{Call, carry_out};
use super::schedule::{HORIZON, Schedule, Step};
use super::trace::Trace;
use super::{Broken, Launch, Process, Scenario, cluster, network};
use crate::api::{Clock, Options, Server};

/// When all runs begin, by the clocks in them.
const START: Timestamp = Timestamp::constant(1_893_456_000, 0);
/// How long the goal may take after the faults ended.
const PATIENCE: Duration = Duration::from_secs(600);
/// How often one looks whether it is reached.
const LOOK: Duration = Duration::from_millis(500);
/// What is still under way when the goal is reached may go on so long: a request that is never answered takes half a minute.
const SETTLE: Duration = Duration::from_secs(45);
/// So long nothing may be written then. Watches end after a minute and are opened again: that must not lead to work.
const QUIET: Duration = Duration::from_secs(70);

/// What came of a run.
#[derive(Debug)]
pub struct Outcome {
    /// The first invariant that was broken, or the goal that was not reached.
    pub broken: Option<Broken>,
    /// The record.
    pub trace: Trace,
}

/// Runs a schedule on the world of a seed, on a runtime of its own with a clock that jumps.
///
/// # Panics
/// When the operating system gives no runtime.
pub fn run<S: Scenario>(scenario: &S, seed: u64, schedule: &Schedule<S::Action>) -> Outcome {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build();
    match runtime {
        Ok(runtime) => runtime.block_on(Box::pin(tell(scenario, seed, schedule))),
        Err(error) => panic!("no runtime: {error}"),
    }
}

struct Cast<'a, S: Scenario> {
    scenario: &'a S,
    hub: Arc<Hub>,
    running: Vec<Option<Process>>,
}

impl<S: Scenario> Cast<'_, S> {
    fn start(&mut self, process: usize) {
        let life = self.hub.begin(process);
        let stop = CancellationToken::new();
        let launch = Launch {
            client: network::client(&self.hub, &life),
            name: life.name(),
            process,
            seed: self.hub.seed,
            now: self.hub.api_clock_start(),
            stop: stop.clone(),
        };
        let tasks = self.scenario.start(launch);
        if let Some(place) = self.running.get_mut(process) {
            *place = Some(Process { tasks, stop });
        }
    }

    fn bury(&mut self, process: usize) {
        if let Some(place) = self.running.get_mut(process) {
            drop(place.take());
        }
    }
}

async fn tell<S: Scenario>(scenario: &S, seed: u64, schedule: &Schedule<S::Action>) -> Outcome {
    let began = Instant::now();
    let api = Server::with_options(Options {
        clock: Clock::runtime_from(START, began),
        seed,
        names_seed: Some(seed),
        ..Options::default()
    });
    let (died, mut dead) = mpsc::unbounded_channel();
    let (committed, commits) = mpsc::unbounded_channel();
    let processes = scenario.processes(seed);
    let hub = Hub::new(api, seed, processes, scenario.invariants(seed), died, committed);
    for (collection, object) in scenario.world(seed) {
        let (status, said) = carry_out(&hub, "user", &Call::create(collection.clone(), object)).await;
        assert!(status.is_success(), "the world cannot be made: {collection}: {said}");
    }
    let owned = scenario.owned();
    let node = cluster::run(hub.clone(), commits, owned);
    let mut cast = Cast { scenario, hub: hub.clone(), running: (0..processes).map(|_| None).collect() };
    let story = async {
        act(&mut cast, schedule, &mut dead).await;
        if hub.state().broken.is_none() {
            finish(scenario, &hub).await;
        }
        cast.running.clear();
    };
    tokio::select! {
        biased;
        () = hub.stop.notified() => {}
        () = node => {}
        () = Box::pin(story) => {}
    }
    let mut state = hub.state();
    Outcome { broken: state.broken.take(), trace: std::mem::take(&mut state.trace) }
}

/// The part with faults: everything in the schedule, and the deaths that it leads to. At the end all faults are over and
/// all processes live.
async fn act<S: Scenario>(
    cast: &mut Cast<'_, S>,
    schedule: &Schedule<S::Action>,
    dead: &mut mpsc::UnboundedReceiver<usize>,
) {
    let hub = cast.hub.clone();
    for process in 0..cast.running.len() {
        cast.start(process);
        // Not all in the same moment: the first is the one that leads.
        sleep(Duration::from_millis(20)).await;
    }
    let mut steps = schedule.iter();
    let mut next = steps.next();
    let mut returns: Vec<(Instant, usize)> = Vec::new();
    // Also when shrinking has taken the last steps away the faults last as long as before.
    let end = hub.began + HORIZON;
    loop {
        let step_at = next.map(|(at, _)| hub.began + *at);
        let back_at = returns.iter().map(|(at, _)| *at).min();
        let due = [step_at, back_at, Some(end)].into_iter().flatten().min().unwrap_or(end);
        tokio::select! {
            biased;
            process = dead.recv() => if let Some(process) = process {
                cast.bury(process);
                let back_after = hub.state().processes.get(process).map_or(LOOK, |known| known.back_after);
                returns.push((Instant::now() + back_after, process));
            },
            () = sleep_until(due) => {
                if let Some((_, step)) = next.filter(|_| step_at == Some(due)) {
                    take(cast.scenario, &hub, step).await;
                    next = steps.next();
                } else if let Some(index) = returns.iter().position(|(at, _)| *at <= due) {
                    let (_, process) = returns.remove(index);
                    cast.start(process);
                } else {
                    break;
                }
            }
        }
    }
    hub.heal();
    hub.line("", "all faults end");
    // Whoever is still away, or died in this very moment.
    for (_, process) in returns {
        cast.start(process);
    }
    while let Ok(process) = dead.try_recv() {
        cast.bury(process);
        cast.start(process);
    }
}

async fn take<S: Scenario>(scenario: &S, hub: &Hub, step: &Step<S::Action>) {
    match step {
        Step::Fault(fault) => {
            hub.line("fault", &fault.to_string());
            hub.strike(fault);
        }
        Step::User(action) => {
            let call = scenario.perform(action, &hub.state().history);
            let Some(call) = call else {
                hub.line("user", &format!("{action}: nothing to do"));
                return;
            };
            let (status, _) = carry_out(hub, "user", &call).await;
            hub.line("user", &format!("{action}: {} → {}", call.text(), status.as_u16()));
        }
    }
}

/// The part without faults.
async fn finish<S: Scenario>(scenario: &S, hub: &Hub) {
    let deadline = Instant::now() + PATIENCE;
    loop {
        let reached = scenario.goal(&hub.state().history);
        match reached {
            Ok(()) => break,
            Err(why) if Instant::now() >= deadline => {
                fail(
                    hub,
                    Broken::new("the goal is reached", format!("{PATIENCE:?} after the last fault: {why}")),
                );
                return;
            }
            Err(_) => {}
        }
        sleep(LOOK).await;
    }
    hub.line("", "the goal is reached");
    sleep(SETTLE).await;
    let work = hub.state().work;
    sleep(QUIET).await;
    let (now, last, reached) = {
        let state = hub.state();
        (state.work, state.last_work.clone(), scenario.goal(&state.history))
    };
    if now != work {
        let what = format!("{} writes in {QUIET:?} without any reason, the last one: {last}", now - work);
        fail(hub, Broken::new("nothing is written when all is done", what));
    } else if let Err(why) = reached {
        fail(hub, Broken::new("the goal is reached", format!("it was, and is not any more: {why}")));
    }
}

fn fail(hub: &Hub, broken: Broken) {
    hub.line("BROKEN", &broken.to_string());
    hub.state().broken.get_or_insert(broken);
}

impl Hub {
    /// What time it was at the start of the run, by the clock of the API.
    fn api_clock_start(&self) -> Timestamp {
        START.checked_add(jiff::SignedDuration::try_from(self.now()).unwrap_or_default()).unwrap_or(START)
    }
}
