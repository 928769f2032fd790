//! The controllers of GameServerSets and GameServers against everything that can go wrong, from seeds.
//!
//! `PILOTHOUSE_SIM_SEEDS=N` plays N seeds instead of the gate's, `PILOTHOUSE_SIM_SEED=N` plays that one and prints what
//! happened. `./dev test sim` sets them.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

#[path = "simulation/actions.rs"]
mod actions;
#[path = "simulation/facts.rs"]
mod facts;
#[path = "simulation/found.rs"]
mod found;
#[path = "simulation/goal.rs"]
mod goal;
#[path = "simulation/judge/mod.rs"]
mod judge;
mod plain_set;
#[path = "simulation/scenario.rs"]
mod scenario;

use sandbox::sim;
use scenario::Sets;
use std::time::Instant;

/// Seeds in the gate.
const GATE: u64 = 300;
/// After so many broken seeds one knows enough.
const ENOUGH: usize = 3;

fn number(variable: &str) -> Option<u64> {
    let text = std::env::var(variable).ok().filter(|text| !text.is_empty())?;
    Some(text.parse().unwrap_or_else(|_| panic!("{variable} must be a number, not {text:?}")))
}

#[test]
fn no_schedule_breaks_an_invariant() {
    if let Some(seed) = number("PILOTHOUSE_SIM_SEED") {
        let outcome = sim::run(&Sets::default(), seed, &sim::draw(&Sets::default(), seed));
        println!("seed {seed}:\n{}", outcome.trace.lines().join("\n"));
        let failure = sim::check(&Sets::default(), seed).err();
        println!("sim: 1 schedules, {} broken", u8::from(failure.is_some()));
        assert!(failure.is_none(), "{}", failure.unwrap());
        return;
    }
    let threads = std::thread::available_parallelism().map_or(2, usize::from);
    let seeds = number("PILOTHOUSE_SIM_SEEDS").unwrap_or(GATE);
    let begun = Instant::now();
    let (played, broken) = sim::check_all(&Sets::default(), 0..seeds, threads, ENOUGH);
    let told: Vec<String> = broken.iter().map(ToString::to_string).collect();
    println!("{:.1} s on {threads} threads", begun.elapsed().as_secs_f64());
    println!("sim: {played} schedules, {} broken", broken.len());
    assert!(broken.is_empty(), "{}", told.join("\n\n"));
}

/// Without this no seed could be replayed and no failure made shorter.
#[test]
fn the_same_seed_goes_the_same_way_to_the_last_watch_event() {
    let mut noted = 0;
    for seed in 0..12 {
        let schedule = sim::draw(&Sets::default(), seed);
        // On threads of their own: nothing may hang on what a thread or the process has done before.
        let runs: Vec<sim::Outcome> = std::thread::scope(|scope| {
            let runs = [(); 2].map(|()| scope.spawn(|| sim::run(&Sets::default(), seed, &schedule)));
            runs.into_iter().map(|run| run.join().unwrap()).collect()
        });
        let (first, second) = (runs[0].trace.everything(), runs[1].trace.everything());
        let differ = (0..first.len().max(second.len())).find(|index| first.get(*index) != second.get(*index));
        let around = differ.map(|index| {
            let from = index.saturating_sub(3);
            [first, second].map(|all| all.iter().skip(from).take(6).collect::<Vec<_>>())
        });
        assert!(around.is_none(), "seed {seed}: {around:#?}");
        noted += first.len();
    }
    assert!(noted > 3000, "hardly anything happened: {noted} notes");
}
