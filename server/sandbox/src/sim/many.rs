//! Many seeds, on all processors, each on a runtime of its own.
use std::fmt;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use super::run::{Outcome, run};
use super::schedule::{Schedule, draw};
use super::shrink::shrink;
use super::{Broken, Scenario};

/// A seed that breaks an invariant.
#[derive(Debug)]
pub struct Failure {
    /// The seed; running it again goes the same way.
    pub seed: u64,
    /// What is broken.
    pub broken: Broken,
    /// Steps of the shortest schedule that breaks it, and of the one that was drawn.
    pub steps: (usize, usize),
    /// The shortest schedule, one line a step.
    pub schedule: Vec<String>,
    /// What happened in it.
    pub trace: Vec<String>,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "seed {} breaks: {}", self.seed, self.broken)?;
        writeln!(f, "shortest schedule ({} steps of {}):", self.steps.0, self.steps.1)?;
        self.schedule.iter().try_for_each(|line| writeln!(f, "  {line}"))?;
        writeln!(f, "what happened:")?;
        self.trace.iter().try_for_each(|line| writeln!(f, "  {line}"))?;
        write!(f, "replay: PILOTHOUSE_SIM_SEED={} ./dev test sim", self.seed)
    }
}

/// Plays one seed; when it breaks an invariant, with the shortest schedule that does.
///
/// # Errors
/// What is broken and how it came about.
pub fn check<S: Scenario>(scenario: &S, seed: u64) -> Result<(), Box<Failure>> {
    let schedule = draw(scenario, seed);
    let outcome = run(scenario, seed, &schedule);
    let drawn = schedule.len();
    let (schedule, outcome) = shrink(scenario, seed, schedule, outcome);
    match outcome {
        Outcome { broken: Some(broken), trace } => Err(Box::new(Failure {
            seed,
            broken,
            steps: (schedule.len(), drawn),
            schedule: lines(&schedule),
            trace: trace.lines(),
        })),
        Outcome { broken: None, .. } => Ok(()),
    }
}

fn lines<A: fmt::Display>(schedule: &Schedule<A>) -> Vec<String> {
    schedule.iter().map(|(at, step)| format!("{:>9.3} s  {step}", at.as_secs_f64())).collect()
}

/// Plays all seeds of a range on `threads` threads; the failures come in the order of their seeds. After `enough` of them
/// no further seed is begun. Returns how many were played, too.
pub fn check_all<S: Scenario>(
    scenario: &S,
    seeds: Range<u64>,
    threads: usize,
    enough: usize,
) -> (u64, Vec<Failure>) {
    let next = AtomicU64::new(seeds.start);
    let played = AtomicU64::new(0);
    let failures = Mutex::new(Vec::new());
    let all = || failures.lock().unwrap_or_else(PoisonError::into_inner);
    std::thread::scope(|scope| {
        for _ in 0..threads.max(1) {
            scope.spawn(|| {
                while all().len() < enough {
                    let seed = next.fetch_add(1, Ordering::Relaxed);
                    if seed >= seeds.end {
                        break;
                    }
                    let result = check(scenario, seed);
                    played.fetch_add(1, Ordering::Relaxed);
                    if let Err(failure) = result {
                        all().push(*failure);
                    }
                }
            });
        }
    });
    let mut failures = failures.into_inner().unwrap_or_else(PoisonError::into_inner);
    failures.sort_by_key(|failure| failure.seed);
    (played.into_inner(), failures)
}
