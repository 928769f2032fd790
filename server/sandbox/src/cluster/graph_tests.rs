//! Tests of the ownership graph: objects come and go, the verdicts are read.

use std::sync::Arc;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::OwnerReference;
use kube::core::ApiResource;

use super::super::item::{FOREGROUND, Item, Kind, ORPHAN};
use super::{Graph, Policy, Verdict};

fn kind(name: &str, namespaced: bool) -> Arc<Kind> {
    let resource = ApiResource {
        group: String::new(),
        version: "v1".into(),
        api_version: "v1".into(),
        kind: name.into(),
        plural: format!("{}s", name.to_lowercase()),
    };
    Arc::new(Kind { resource, namespaced, watched: true })
}

fn item(name: &str, owners: &[OwnerReference]) -> Item {
    Item {
        uid: format!("uid-{name}").into(),
        kind: kind("Thing", true),
        namespace: Some("prod".into()),
        name: name.into(),
        version: "1".into(),
        owners: owners.to_vec(),
        finalizers: Vec::new(),
        deleting: false,
    }
}

fn owned_by(name: &str) -> OwnerReference {
    OwnerReference {
        api_version: "v1".into(),
        kind: "Thing".into(),
        name: name.into(),
        uid: format!("uid-{name}"),
        block_owner_deletion: Some(true),
        controller: Some(true),
    }
}

fn dying(mut item: Item, finalizer: &str) -> Item {
    item.deleting = true;
    item.finalizers = vec![finalizer.into()];
    item
}

fn names(uids: &[super::Uid]) -> Vec<&str> {
    uids.iter().map(|uid| uid.strip_prefix("uid-").unwrap()).collect()
}

#[test]
fn dependents_go_when_their_owner_has_gone() {
    let mut graph = Graph::default();
    graph.apply(item("set", &[]));
    assert_eq!(names(&graph.apply(item("pod", &[owned_by("set")]))), ["pod"]);
    assert_eq!(graph.judge("uid-pod"), Verdict::Keep);
    assert_eq!(names(&graph.remove("uid-set")), ["pod"]);
    assert_eq!(graph.judge("uid-pod"), Verdict::Delete(Policy::Background));
}

#[test]
fn an_owner_that_was_never_seen_is_asked_for_first() {
    let mut graph = Graph::default();
    graph.apply(item("pod", &[owned_by("set")]));
    assert_eq!(graph.judge("uid-pod"), Verdict::FindOut(vec![owned_by("set")]));
    graph.remember_gone("uid-set".into());
    assert_eq!(graph.judge("uid-pod"), Verdict::Delete(Policy::Background));
}

#[test]
fn one_living_owner_is_enough_and_dead_references_are_dropped() {
    let mut graph = Graph::default();
    for name in ["a", "b"] {
        graph.apply(item(name, &[]));
    }
    graph.apply(item("pod", &[owned_by("a"), owned_by("b")]));
    graph.remove("uid-a");
    assert_eq!(graph.judge("uid-pod"), Verdict::KeepOwners(vec![owned_by("b")]));
    graph.apply(item("pod", &[owned_by("b")]));
    assert_eq!(graph.judge("uid-pod"), Verdict::Keep);
}

#[test]
fn foreground_deletion_waits_for_those_that_block_it() {
    let mut graph = Graph::default();
    graph.apply(item("set", &[]));
    let loose = OwnerReference { block_owner_deletion: None, ..owned_by("set") };
    graph.apply(item("pod", &[owned_by("set")]));
    graph.apply(item("note", &[loose]));
    let touched = graph.apply(dying(item("set", &[]), FOREGROUND));
    assert_eq!(names(&touched), ["note", "pod", "set"]);
    assert_eq!(graph.judge("uid-set"), Verdict::Keep);
    assert_eq!(graph.judge("uid-pod"), Verdict::Delete(Policy::Background));
    assert_eq!(names(&graph.remove("uid-pod")), ["set"]);
    assert_eq!(graph.judge("uid-set"), Verdict::Finish, "the note does not block");
}

#[test]
fn foreground_deletion_goes_down_the_whole_tree() {
    let mut graph = Graph::default();
    graph.apply(item("fleet", &[]));
    graph.apply(item("set", &[owned_by("fleet")]));
    graph.apply(item("pod", &[owned_by("set")]));
    graph.apply(dying(item("fleet", &[]), FOREGROUND));
    assert_eq!(graph.judge("uid-set"), Verdict::Delete(Policy::Foreground));
    assert_eq!(graph.judge("uid-pod"), Verdict::Keep, "its own owner still holds it");
}

#[test]
fn orphaned_dependents_are_released_before_their_owner_goes() {
    let mut graph = Graph::default();
    graph.apply(item("set", &[]));
    graph.apply(item("pod", &[owned_by("set")]));
    assert_eq!(names(&graph.apply(dying(item("set", &[]), ORPHAN))), ["set"]);
    match graph.judge("uid-set") {
        Verdict::Release(dependents) => assert_eq!(names(&dependents), ["pod"]),
        other => panic!("{other:?}"),
    }
    graph.apply(item("pod", &[]));
    assert_eq!(graph.judge("uid-set"), Verdict::Release(Vec::new()));
    graph.remove("uid-set");
    assert_eq!(graph.judge("uid-pod"), Verdict::Keep);
}

#[test]
fn an_owner_in_another_namespace_counts_as_gone() {
    let mut graph = Graph::default();
    let mut set = item("set", &[]);
    set.namespace = Some("other".into());
    graph.apply(set);
    graph.apply(item("pod", &[owned_by("set")]));
    assert_eq!(graph.judge("uid-pod"), Verdict::Delete(Policy::Background));
}

#[test]
fn a_cluster_wide_object_with_an_owner_in_a_namespace_is_left_alone() {
    let mut graph = Graph::default();
    graph.apply(item("set", &[]));
    let mut volume = item("volume", &[owned_by("set")]);
    volume.namespace = None;
    graph.apply(volume);
    assert_eq!(graph.judge("uid-volume"), Verdict::Keep);
}

#[test]
fn what_is_deleted_already_is_not_deleted_again() {
    let mut graph = Graph::default();
    graph.apply(item("set", &[]));
    graph.apply(dying(item("pod", &[owned_by("set")]), "somebody/else"));
    graph.remove("uid-set");
    assert_eq!(graph.judge("uid-pod"), Verdict::Keep);
}

#[test]
fn namespaces_know_their_contents() {
    let mut graph = Graph::default();
    graph.apply(item("a", &[]));
    graph.apply(item("b", &[]));
    graph.remove("uid-a");
    let left: Vec<&str> = graph.in_namespace("prod").map(|item| item.name.as_str()).collect();
    assert_eq!(left, ["b"]);
    graph.remove("uid-b");
    assert_eq!(graph.in_namespace("prod").count(), 0);
}

#[test]
fn memory_of_deleted_objects_is_bounded() {
    let mut graph = Graph::default();
    for number in 0..super::REMEMBERED + 10 {
        graph.remember_gone(format!("{number}").into());
    }
    assert_eq!((graph.gone.len(), graph.gone_in_order.len()), (super::REMEMBERED, super::REMEMBERED));
}
