//! From a run that breaks an invariant to the shortest schedule that still does.
use std::collections::BTreeSet;

use super::Scenario;
use super::run::{Outcome, run};
use super::schedule::{Schedule, Step};

/// Runs that shrinking may cost.
const EFFORT: usize = 250;

/// Leaves out what is not needed to break the same invariant: all faults, all of one kind, halves and so on down to single
/// steps, until nothing can go any more.
pub fn shrink<S: Scenario>(
    scenario: &S,
    seed: u64,
    schedule: Schedule<S::Action>,
    outcome: Outcome,
) -> (Schedule<S::Action>, Outcome) {
    let Some(invariant) = outcome.broken.as_ref().map(|broken| broken.invariant) else {
        return (schedule, outcome);
    };
    let mut effort = EFFORT;
    let mut best = (schedule, outcome);
    let mut attempt = |best: &mut (Schedule<S::Action>, Outcome), shorter: Schedule<S::Action>| {
        if effort == 0 || shorter.len() == best.0.len() {
            return false;
        }
        effort -= 1;
        let outcome = run(scenario, seed, &shorter);
        let same = outcome.broken.as_ref().is_some_and(|broken| broken.invariant == invariant);
        if same {
            *best = (shorter, outcome);
        }
        same
    };
    let kinds: BTreeSet<&str> = best.0.iter().filter_map(|(_, step)| kind(step)).collect();
    let without = |schedule: &Schedule<S::Action>, left_out: &dyn Fn(&Step<S::Action>) -> bool| {
        schedule.iter().filter(|(_, step)| !left_out(step)).cloned().collect::<Schedule<S::Action>>()
    };
    let no_faults = without(&best.0, &|step| kind(step).is_some());
    attempt(&mut best, no_faults);
    for name in kinds {
        let shorter = without(&best.0, &|step| kind(step) == Some(name));
        attempt(&mut best, shorter);
    }
    let mut piece = best.0.len().div_ceil(2).max(1);
    loop {
        let mut progress = false;
        let mut at = 0;
        while at < best.0.len() {
            let end = (at + piece).min(best.0.len());
            let mut shorter = best.0.clone();
            shorter.drain(at..end);
            if attempt(&mut best, shorter) {
                progress = true;
            } else {
                at = end;
            }
        }
        if piece > 1 {
            piece = piece.div_ceil(2);
        } else if !progress {
            return best;
        }
    }
}

fn kind<A>(step: &Step<A>) -> Option<&'static str> {
    match step {
        Step::Fault(fault) => Some(fault.kind()),
        Step::User(_) => None,
    }
}
