//! The sandbox answers as the real API server does: requests from `differential/*.yaml` and from the table of rules of our own
//! kinds, answers of a real server recorded in `differential/groups.recorded.json`, and random sequences on both.
//!
//! The ignored tests want `PILOTHOUSE_TEST_BARE_KUBECONFIG`, an API server that nobody else works on (`./dev cluster up --bare`): there the
//! same requests must agree with the record, and the random sequences are run; `PILOTHOUSE_RECORD=1` writes the record anew.
//! What differs between any two servers (ids, versions, times) is masked. `./dev test differential` does all of it.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]
mod common;
#[path = "differential/compare.rs"]
mod compare;
#[path = "differential/exchange.rs"]
mod exchange;
#[path = "differential/mask.rs"]
mod mask;
#[path = "differential/our_rules.rs"]
mod our_rules;
#[path = "differential/random.rs"]
mod random;
#[path = "differential/steps.rs"]
mod steps;

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use kube::Client;
use kube::config::{KubeConfigOptions, Kubeconfig};
use serde_json::Value;

/// The real server that is there for us alone.
async fn real_client() -> Client {
    let path =
        std::env::var("PILOTHOUSE_TEST_BARE_KUBECONFIG").expect("PILOTHOUSE_TEST_BARE_KUBECONFIG is set");
    let parsed = Kubeconfig::read_from(path).unwrap();
    let config = kube::Config::from_custom_kubeconfig(parsed, &KubeConfigOptions::default()).await.unwrap();
    Client::try_from(config).unwrap()
}

/// One answer a line, so that changes can be read.
fn written(answers: &BTreeMap<String, Vec<Value>>) -> String {
    let group = |(name, answers): (&String, &Vec<Value>)| {
        let lines: Vec<String> = answers.iter().map(Value::to_string).collect();
        format!("{name:?}: [\n{}\n]", lines.join(",\n"))
    };
    format!("{{\n{}\n}}\n", answers.iter().map(group).collect::<Vec<_>>().join(",\n"))
}

fn record() -> PathBuf {
    steps::folder().join("groups.recorded.json")
}

fn recorded() -> BTreeMap<String, Vec<Value>> {
    serde_json::from_str(&std::fs::read_to_string(record()).unwrap()).unwrap()
}

#[tokio::test]
async fn every_request_is_answered_as_the_real_server_does() {
    let answers = exchange::run(&common::server().1, &steps::groups()).await;
    let told = compare::groups(&recorded(), &answers);
    println!("{}", told.differ.join("\n"));
    for (name, (agree, differ)) in &told.table {
        println!("{name:<18} {agree:>4} agree {differ:>4} differ");
    }
    println!("differential: {} agree, {} differ", told.agree, told.differ.len());
    assert!(told.agree >= 400, "the list of requests has shrunk");
    let found: BTreeSet<&str> = told.differ.iter().filter_map(|words| words.lines().next()).collect();
    if std::env::var("PILOTHOUSE_RECORD").is_ok() {
        std::fs::write(listed(), found.iter().map(|line| format!("{line}\n")).collect::<String>()).unwrap();
    }
    let text = std::fs::read_to_string(listed()).unwrap();
    let listed: BTreeSet<&str> = text.lines().collect();
    let new: Vec<&&str> = found.difference(&listed).collect();
    assert!(new.is_empty(), "answers that differ from those of a real server: {new:#?}");
    let gone: Vec<&&str> = listed.difference(&found).collect();
    assert!(gone.is_empty(), "these agree now, take them out of differences.txt: {gone:#?}");
}

/// The differences that are known and told in docs/sandbox.md: nothing may be added without being written down.
fn listed() -> PathBuf {
    steps::folder().join("differences.txt")
}

#[tokio::test]
#[ignore = "needs a real API server (./dev test cluster)"]
async fn the_record_is_what_a_real_server_answers() {
    let answers = exchange::run(&real_client().await, &steps::groups()).await;
    if std::env::var("PILOTHOUSE_RECORD").is_ok() {
        std::fs::write(record(), written(&answers)).unwrap();
    }
    let told = compare::groups(&recorded(), &answers);
    assert!(
        told.differ.is_empty(),
        "the real server does not answer as recorded:\n{}",
        told.differ.join("\n")
    );
}

/// `PILOTHOUSE_SEED` runs one sequence again.
#[tokio::test]
#[ignore = "needs a real API server (./dev test cluster)"]
async fn random_sequences_are_answered_alike() {
    let steps = if std::env::var_os("PILOTHOUSE_TEST_FULL").is_some() { 20_000 } else { 2_000 };
    let seed = std::env::var("PILOTHOUSE_SEED").ok().and_then(|seed| seed.parse().ok());
    let told = random::compare(&real_client().await, &common::server().1, steps, seed).await;
    println!("{}", told.differ.values().cloned().collect::<Vec<_>>().join("\n"));
    println!("random: {} steps agree, {} sequences differ", told.steps, told.differ.len());
    let file = steps::folder().join("sequences.txt");
    if std::env::var("PILOTHOUSE_RECORD").is_ok() {
        std::fs::write(&file, told.differ.keys().map(|seed| format!("{seed}\n")).collect::<String>())
            .unwrap();
    }
    // Seeds whose differences are known, and told in docs/sandbox.md.
    let listed: BTreeSet<u64> =
        std::fs::read_to_string(&file).unwrap().lines().filter_map(|line| line.parse().ok()).collect();
    let new: Vec<u64> = told.differ.keys().copied().filter(|seed| !listed.contains(seed)).collect();
    assert!(new.is_empty(), "sequences differ that are not listed: {new:?}");
}
