//! Cases in prose, each bound by its id to a property over random sets.

use controllers::kruise::{
    observe::PodFacts,
    ordinals::{Ordinal, OrdinalSet},
    scale::{ScaleChoice, ScaleInput, choose},
    state::Lifecycle,
};
use proptest::{prelude::*, test_runner::TestRunner};
use std::collections::BTreeSet;

/// The property of a case, `None` when the id is bound to none.
pub fn run(id: &str) -> Option<Result<(), String>> {
    match id {
        "SCALE-ID-PROP1" => Some(kept_are_the_first_unreserved()),
        "SCALE-ID-PROP2" => Some(reserve_and_kept_are_apart()),
        _ => None,
    }
}

#[derive(Clone, Debug)]
struct Input {
    spec: OrdinalSet,
    acted: OrdinalSet,
    implicit: OrdinalSet,
    replicas: u32,
    pods: Vec<PodFacts>,
}

fn ids() -> impl Strategy<Value = OrdinalSet> {
    prop::collection::btree_set(0u32..16, 0..8)
        .prop_map(|ids: BTreeSet<u32>| ids.into_iter().filter_map(Ordinal::new).collect())
}

fn pod() -> impl Strategy<Value = PodFacts> {
    let ops =
        prop::sample::select(vec!["None", "Kill", "WaitToBeDeleted", "Allocated", "Maintaining", "", "own"]);
    (ops, -3i64..4, prop::bool::weighted(0.15), prop::bool::weighted(0.15)).prop_map(
        |(ops, priority, deleting, hook)| PodFacts {
            ops_state: ops.to_owned(),
            deletion_priority: priority.to_string(),
            deleting,
            lifecycle: if hook { Lifecycle::PreparingDelete } else { Lifecycle::Quiet },
            ..PodFacts::default()
        },
    )
}

/// Any input, settled or not.
fn any_input() -> impl Strategy<Value = Input> {
    let pods = prop::collection::btree_map(0u32..16, pod(), 0..12);
    (ids(), ids(), ids(), 0u32..14, pods).prop_map(|(spec, acted, implicit, replicas, pods)| Input {
        spec,
        acted,
        implicit,
        replicas,
        pods: pods.into_iter().map(|(id, pod)| PodFacts { ordinal: Ordinal::new(id), ..pod }).collect(),
    })
}

fn decide(input: &Input) -> ScaleChoice {
    choose(ScaleInput {
        spec_reserve: &input.spec,
        acted_reserve: &input.acted,
        implicit: &input.implicit,
        replicas: input.replicas,
        pods: &input.pods,
    })
}

fn check(property: impl Fn(&Input, &ScaleChoice) -> Result<(), TestCaseError>) -> Result<(), String> {
    let mut runner = TestRunner::new(ProptestConfig {
        cases: 4000,
        failure_persistence: None,
        ..ProptestConfig::default()
    });
    runner.run(&any_input(), |input| property(&input, &decide(&input))).map_err(|error| error.to_string())
}

/// Upstream's precondition is a settled set. With ours it holds for every input, also while pods are missing.
fn kept_are_the_first_unreserved() -> Result<(), String> {
    check(|input, choice| {
        let reserve = choice.reserve(&input.spec);
        prop_assert_eq!(reserve.first_free(input.replicas), choice.keep.clone());
        Ok(())
    })
}

fn reserve_and_kept_are_apart() -> Result<(), String> {
    check(|input, choice| {
        let reserve = choice.reserve(&input.spec);
        prop_assert!(input.spec.difference(&reserve).is_empty());
        prop_assert!(choice.keep.is_disjoint(&reserve));
        prop_assert_eq!(choice.keep.len(), u64::from(input.replicas));
        Ok(())
    })
}
