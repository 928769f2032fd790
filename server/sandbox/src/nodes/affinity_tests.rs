//! Tests of affinity: nodes by labels, pods beside and away from pods.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::{Affinity, Placed, Rules};
use crate::nodes::labels::{LabelPool, Labels};
use crate::nodes::schedule::Candidate;

fn node(name: &str, zone: &str) -> Candidate {
    let labels = [("zone", zone), ("kubernetes.io/hostname", name), ("size", &zone.len().to_string())];
    let labels = labels.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
    Candidate { name: name.into(), labels, ..Candidate::default() }
}

fn labels(app: &str) -> Labels {
    LabelPool::default().share(&BTreeMap::from([("app".to_owned(), app.to_owned())]))
}

fn affinity(value: &Value) -> Affinity {
    serde_json::from_value(value.clone()).unwrap()
}

fn term(app: &str, key: &str, more: &Value) -> Value {
    let mut term = json!({"labelSelector": {"matchLabels": {"app": app}}, "topologyKey": key});
    json_patch::merge(&mut term, more);
    term
}

fn required(kind: &str, term: &Value) -> Affinity {
    affinity(&json!({kind: {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}))
}

/// Which of the nodes a pod `app` in namespace `x` may use, beside one `game` on node a1 in namespace `x`.
fn allowed(affinity: Option<&Affinity>, app: &str, game_is_away_from: Option<&Affinity>) -> Vec<String> {
    let nodes = [node("a1", "a"), node("a2", "a"), node("b1", "bb")];
    let game = labels("game");
    let away_from = game_is_away_from.map_or(&[][..], |affinity| &affinity.pod_anti_affinity.required);
    let placed = [Placed { namespace: "x", labels: &game, node: &nodes[0], away_from }];
    let rules = Rules::of(affinity, "x", &labels(app), placed.into_iter());
    nodes.iter().filter(|node| rules.refuse(node).is_none()).map(|node| node.name.clone()).collect()
}

#[test]
fn required_nodes_are_found_by_labels_and_fields() {
    let terms = |terms: Value| {
        affinity(
            &json!({"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}}),
        )
    };
    let zone_a = json!({"matchExpressions": [{"key": "zone", "operator": "In", "values": ["a"]}]});
    let named = json!({"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["b1"]}]});
    let both = json!({"matchExpressions": [{"key": "zone", "operator": "Exists"}, {"key": "size", "operator": "Gt", "values": ["1"]}]});
    for (wanted, expected) in [
        (json!([zone_a]), [true, false]),
        (json!([zone_a, named]), [true, true]),
        (json!([both]), [false, true]),
        (json!([{}]), [false, false]),
        (json!([]), [false, false]),
    ] {
        let affinity = terms(wanted.clone()).node_affinity;
        assert_eq!(
            [node("a1", "a"), node("b1", "bb")].map(|node| affinity.allows(&node)),
            expected,
            "{wanted}"
        );
    }
    assert!(Affinity::default().node_affinity.allows(&node("a1", "a")));
}

#[test]
fn preferences_add_up() {
    let preference = |weight: i64, zone: &str| json!({"weight": weight, "preference": {"matchExpressions": [{"key": "zone", "operator": "In", "values": [zone]}]}});
    let all = json!([preference(5, "a"), preference(7, "a"), preference(50, "bb")]);
    let affinity =
        affinity(&json!({"nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": all}}));
    assert_eq!(affinity.node_affinity.preference(&node("a1", "a")), 12);
}

#[test]
fn a_pod_stays_beside_or_away_from_others() {
    for (kind, key, expected) in [
        ("podAffinity", "zone", &["a1", "a2"][..]),
        ("podAffinity", "kubernetes.io/hostname", &["a1"]),
        ("podAffinity", "no-such-label", &[]),
        ("podAntiAffinity", "zone", &["b1"]),
        ("podAntiAffinity", "kubernetes.io/hostname", &["a2", "b1"]),
        ("podAntiAffinity", "no-such-label", &["a1", "a2", "b1"]),
    ] {
        let affinity = required(kind, &term("game", key, &json!({})));
        assert_eq!(allowed(Some(&affinity), "other", None), expected, "{kind} {key}");
    }
    assert_eq!(allowed(None, "other", None).len(), 3);
}

#[test]
fn pods_that_are_there_keep_others_away() {
    let lonely = required("podAntiAffinity", &term("other", "zone", &json!({})));
    assert_eq!(allowed(None, "other", Some(&lonely)), ["b1"]);
    assert_eq!(allowed(None, "game", Some(&lonely)).len(), 3);
}

#[test]
fn the_first_of_a_group_may_begin_anywhere() {
    let own = required("podAffinity", &term("other", "zone", &json!({})));
    assert_eq!(allowed(Some(&own), "other", None).len(), 3, "it means itself");
    assert_eq!(allowed(Some(&own), "third", None).len(), 0, "it waits for one that is not there");
    let nowhere = required("podAffinity", &term("other", "no-such-label", &json!({})));
    assert_eq!(allowed(Some(&nowhere), "other", None).len(), 0);
}

#[test]
fn terms_look_into_the_namespaces_that_they_name() {
    for (more, found) in [
        (json!({}), true),
        (json!({"namespaces": ["y"]}), false),
        (json!({"namespaces": ["x", "y"]}), true),
        (json!({"namespaceSelector": {}}), true),
        (json!({"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "x"}}}), true),
        (json!({"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "y"}}}), false),
        (json!({"labelSelector": null}), false),
    ] {
        let affinity = required("podAntiAffinity", &term("game", "zone", &more));
        assert_eq!(allowed(Some(&affinity), "other", None).len() == 1, found, "{more}");
    }
}

#[test]
fn a_claim_that_gets_its_volume_on_a_node_holds_its_pods_there() {
    let rules = Rules { pinned: Some("a1".into()), ..Rules::default() };
    assert_eq!(rules.refuse(&node("a1", "a")), None);
    assert_eq!(
        rules.refuse(&node("a2", "a")),
        Some(("node(s) didn't find available persistent volumes to bind", false))
    );
}
