//! The simulation on small processes that are wrong in known ways: it finds what is wrong, makes it short, and repeats it.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use k8s_openapi::api::core::v1::ConfigMap;
use kube::{
    Api, Client,
    api::{Patch, PatchParams},
};
use sandbox::sim::{self, Broken, Call, Entry, History, Invariants, Launch, Random, Scenario, Writer};
use serde_json::{Value, json};
use std::{fmt, time::Duration};
use tokio::task::AbortHandle;

const MAPS: &str = "/api/v1/namespaces/default/configmaps";

/// How the process is wrong.
#[derive(Clone, Copy, PartialEq)]
enum Wrong {
    Nothing,
    /// After a failed write it never tries again.
    GivesUp,
    /// It writes although nothing has changed.
    Restless,
    /// It writes back what it read before, without a look at what it has become.
    WritesBlindly,
}

/// A process that copies what is wished in one ConfigMap to another.
struct Copy(Wrong);

#[derive(Clone, Debug, PartialEq)]
struct Wish(u64);

impl fmt::Display for Wish {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "wish for {}", self.0)
    }
}

fn value(map: &Value) -> &str {
    map.pointer("/data/value").and_then(Value::as_str).unwrap_or_default()
}

impl Scenario for Copy {
    type Action = Wish;

    fn world(&self, _: u64) -> Vec<(String, Value)> {
        let map = |name: &str| json!({ "metadata": { "name": name }, "data": { "value": "0" } });
        ["wish", "copy"].map(|name| (MAPS.to_owned(), map(name))).into()
    }
    fn processes(&self, _: u64) -> usize {
        1
    }
    fn resources(&self) -> &'static [&'static str] {
        &["configmaps"]
    }
    fn owned(&self) -> &'static [(&'static str, &'static str)] {
        &[]
    }
    fn action(&self, random: &mut Random) -> Wish {
        Wish(random.between(1, 9))
    }
    fn perform(&self, Wish(wish): &Wish, _: &History) -> Option<Call> {
        Some(Call::merge(format!("{MAPS}/wish"), json!({ "data": { "value": wish.to_string() } })))
    }
    fn start(&self, launch: Launch) -> Vec<AbortHandle> {
        vec![tokio::spawn(copy(launch.client, self.0)).abort_handle()]
    }
    fn invariants(&self, _: u64) -> Box<dyn Invariants> {
        Box::new(NobodysWish)
    }
    fn goal(&self, history: &History) -> Result<(), String> {
        let [wish, copy] = ["wish", "copy"].map(|name| history.get("configmaps", "default", name).unwrap());
        if value(&wish) == value(&copy) {
            Ok(())
        } else {
            Err(format!("{} is not {}", value(&copy), value(&wish)))
        }
    }
}

/// The process may not write into the wish.
struct NobodysWish;

impl Invariants for NobodysWish {
    fn committed(&mut self, _: &History, entry: &Entry) -> Result<(), Broken> {
        match (&entry.writer, entry.name.as_str()) {
            (Writer::Process(who), "wish") => {
                Err(Broken::new("wishes are people's own", format!("{who} wrote it")))
            }
            _ => Ok(()),
        }
    }
}

async fn copy(client: Client, wrong: Wrong) {
    let maps: Api<ConfigMap> = Api::default_namespaced(client);
    let mut written = String::new();
    loop {
        tokio::time::sleep(Duration::from_millis(300)).await;
        let Ok(wish) = maps.get("wish").await else { continue };
        let wished = wish.data.unwrap()["value"].clone();
        if wished == written && wrong != Wrong::Restless {
            continue;
        }
        let data = |value: &str| Patch::Merge(json!({ "data": { "value": value } }));
        let result = maps.patch("copy", &PatchParams::default(), &data(&wished)).await;
        match result {
            Ok(_) => written = wished.clone(),
            Err(_) if wrong == Wrong::GivesUp => return,
            Err(_) => continue,
        }
        if wrong == Wrong::Restless {
            // The content makes it a commit of its own.
            let stamp = tokio::time::Instant::now().elapsed().as_nanos().to_string() + &wished;
            let annotated = json!({ "metadata": { "annotations": { "stamp": stamp } } });
            let _ = maps.patch("copy", &PatchParams::default(), &Patch::Merge(annotated)).await;
        }
        if wrong == Wrong::WritesBlindly && wished == "7" {
            let _ = maps.patch("wish", &PatchParams::default(), &data("8")).await;
        }
    }
}

/// The first seed that breaks something.
fn first(wrong: Wrong) -> sim::Failure {
    *(0..200).find_map(|seed| sim::check(&Copy(wrong), seed).err()).expect("200 seeds, and nothing found")
}

#[test]
fn a_process_that_does_its_work_breaks_nothing_whatever_happens() {
    let (played, broken) = sim::check_all(&Copy(Wrong::Nothing), 0..25, 2, 1);
    assert_eq!(played, 25);
    assert!(broken.is_empty(), "{}", broken[0]);
}

#[test]
fn a_goal_that_is_not_reached_is_found_with_the_one_fault_that_it_takes() {
    let failure = first(Wrong::GivesUp);
    assert_eq!(failure.broken.invariant, "the goal is reached");
    assert!(failure.steps.0 <= 2 && failure.steps.0 <= failure.steps.1, "{failure}");
    assert!(failure.schedule.iter().any(|line| line.contains("process 0")), "{failure}");
    assert!(failure.to_string().contains(&format!("PILOTHOUSE_SIM_SEED={}", failure.seed)));
}

#[test]
fn work_without_a_reason_is_found() {
    let failure = first(Wrong::Restless);
    assert_eq!(failure.broken.invariant, "nothing is written when all is done");
    assert_eq!(failure.steps.0, 0, "no step is needed: {failure}");
}

#[test]
fn a_broken_invariant_is_found_at_the_commit_that_breaks_it() {
    let failure = first(Wrong::WritesBlindly);
    assert_eq!(failure.broken.invariant, "wishes are people's own");
    assert_eq!(failure.steps.0, 1, "{failure}");
    assert!(failure.schedule[0].contains("wish for 7"), "{failure}");
    assert!(failure.trace.last().is_some_and(|line| line.contains("configmaps default/wish")), "{failure}");
}

#[test]
fn the_same_seed_gives_the_same_trace() {
    for seed in 0..6 {
        let schedule = sim::draw(&Copy(Wrong::Nothing), seed);
        assert_eq!(schedule, sim::draw(&Copy(Wrong::Nothing), seed));
        let [first, second] = [(); 2].map(|()| sim::run(&Copy(Wrong::Nothing), seed, &schedule));
        assert_eq!(first.trace.everything(), second.trace.everything(), "seed {seed}");
    }
}
