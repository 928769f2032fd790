//! What happens in a run, and when: the list of decisions that is drawn from the seed and that shrinking makes shorter.
use std::fmt;
use std::time::Duration;

use super::Scenario;
use super::fault::Fault;
use super::random::Random;

/// One decision.
#[derive(Clone, Debug, PartialEq)]
pub enum Step<A> {
    /// Somebody does something.
    User(A),
    /// Something goes wrong.
    Fault(Fault),
}

impl<A: fmt::Display> fmt::Display for Step<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::User(action) => action.fmt(f),
            Self::Fault(fault) => fault.fmt(f),
        }
    }
}

/// Decisions by time, counted from the start.
pub type Schedule<A> = Vec<(Duration, Step<A>)>;

/// Within this time users act and things go wrong; then the faults end.
pub const HORIZON: Duration = Duration::from_secs(45);
/// The last second of it is left for what was begun.
const LAST: u64 = 44_000;

/// Draws the schedule of a seed.
pub fn draw<S: Scenario>(scenario: &S, seed: u64) -> Schedule<S::Action> {
    let mut random = Random::of(seed, "users");
    let mut moments = Vec::new();
    let mut schedule: Schedule<S::Action> = Vec::new();
    let mut at = random.between(0, 12_000);
    for _ in 0..random.between(2, 9) {
        moments.push(at);
        schedule.push((Duration::from_millis(at), Step::User(scenario.action(&mut random))));
        // Often one thing on the heels of the other, because that is where the races are.
        at += if random.chance(55) { random.between(0, 400) } else { random.between(400, 14_000) };
        at = at.min(LAST);
    }
    let mut random = Random::of(seed, "faults");
    for _ in 0..random.pick(&[0, 1, 2, 2, 3, 4, 5, 6, 8]) {
        let at = match random.chance(70) {
            // Around something that somebody did.
            true => (random.pick(&moments) + random.between(0, 1500)).saturating_sub(700).min(LAST),
            false => random.between(0, LAST),
        };
        let fault = Fault::draw(&mut random, scenario.processes(seed), scenario.resources());
        schedule.push((Duration::from_millis(at), Step::Fault(fault)));
    }
    schedule.sort_by_key(|(at, _)| *at);
    schedule
}
