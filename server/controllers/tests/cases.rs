//! Behaviour cases as data: every case is run by the adapter of its area against the real planning code.
//!
//! `PILOTHOUSE_CASES=<file or folder>` runs other files of the same shape. A case flagged `defect: true`, or whose id
//! `docs/differences.md` lists, counts as listed. One that no adapter understands fails, also when only a field of it is
//! unknown: an expectation that nobody looks at would pass for ever.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

#[path = "cases_support/mod.rs"]
mod cases_support;

use cases_support::{Case, Outcome, adapters};
use std::{collections::BTreeMap, collections::BTreeSet, path::PathBuf, process::ExitCode};

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    // As with cargo's own runner: only what is marked as ignored, of which there is nothing here.
    if arguments.iter().any(|argument| argument == "--list" || argument == "--ignored") {
        return ExitCode::SUCCESS;
    }
    let filters: Vec<&String> = arguments.iter().filter(|argument| !argument.starts_with('-')).collect();
    let home = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    let place = std::env::var_os("PILOTHOUSE_CASES").map_or_else(|| home.join("tests/cases"), PathBuf::from);
    let cases = match cases_support::load(&place) {
        Ok(cases) => cases,
        Err(error) => {
            eprintln!("cannot read the cases in {}: {error}", place.display());
            return ExitCode::FAILURE;
        }
    };
    let listed = match cases_support::listed_ids(&home.join("../../docs/differences.md")) {
        Ok(listed) => listed,
        Err(error) => {
            eprintln!("cannot read docs/differences.md: {error}");
            return ExitCode::FAILURE;
        }
    };
    run(&cases, &listed, &filters)
}

fn run(cases: &[Case], listed: &BTreeSet<String>, filters: &[&String]) -> ExitCode {
    let wanted = |case: &Case| {
        filters.is_empty()
            || filters.iter().any(|f| case.id.contains(f.as_str()) || case.area.contains(f.as_str()))
    };
    let mut areas: BTreeMap<&str, [usize; 3]> = BTreeMap::new();
    let mut seen = BTreeSet::new();
    let mut failures = Vec::new();
    for case in cases.iter().filter(|case| wanted(case)) {
        let mut outcome = if case.defect || listed.contains(&case.id) {
            Outcome::Listed
        } else {
            match adapters::run(case) {
                Ok(()) => Outcome::Passed,
                Err(why) => Outcome::Failed(why),
            }
        };
        if !seen.insert(&case.id) {
            outcome = Outcome::Failed("the id is used twice".to_owned());
        }
        let counts = areas.entry(&case.area).or_default();
        match outcome {
            Outcome::Passed => counts[0] += 1,
            Outcome::Listed => counts[2] += 1,
            Outcome::Failed(why) => {
                counts[1] += 1;
                failures.push(format!("{} ({}): {why}", case.id, case.area));
            }
        }
    }
    println!("{:<24} {:>7} {:>7} {:>7}", "area", "passed", "failed", "listed");
    for (area, [passed, failed, listed]) in &areas {
        println!("{area:<24} {passed:>7} {failed:>7} {listed:>7}");
    }
    for failure in &failures {
        println!("FAILED {failure}");
    }
    let sum = |index: usize| areas.values().map(|counts| counts[index]).sum::<usize>();
    let (passed, failed, listed) = (sum(0), sum(1), sum(2));
    let nothing = cases.is_empty();
    if nothing {
        println!("FAILED there are no cases at all");
    }
    let good = failed == 0 && !nothing;
    // The line that everybody counts by is libtest's; listed cases count as ignored there.
    println!(
        "test result: {}. {passed} passed; {failed} failed; {listed} ignored; 0 measured; 0 filtered out",
        if good { "ok" } else { "FAILED" }
    );
    println!("cases: {passed} passed, {failed} failed, {listed} listed");
    if good { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
