//! Sets: counts, the id strip, what is wrong.

use serde_json::json;

use crate::testing::{board, pod, set};

#[test]
fn a_set_counts_its_servers() {
    let mut board = board(&[
        ("a/game-0", json!({})),
        ("a/game-1", json!({ "status": { "currentState": "Crash" }, "spec": { "opsState": "Allocated" } })),
        ("a/game-2", json!({})),
        ("a/gamer-0", json!({})),
    ]);
    board.apply_pod(&pod(
        "a/game-2",
        json!({
            "metadata": { "labels": { "controller-revision-hash": "rev-2" } },
            "spec": { "containers": [{ "name": "game", "image": "game:2" }] },
        }),
    ));
    board.apply_set(&set("a/game", 4, json!({ "status": { "updateRevision": "rev-2", "replicas": 4 } })));
    let row = &board.snapshot().sets("a")[0];
    assert_eq!((row.wanted, row.live, row.ready, row.updated), (4, 3, 2, 1));
    let counted = |counts: &[wire::row::Count]| {
        counts.iter().map(|c| format!("{}={}", c.value, c.count)).collect::<Vec<_>>()
    };
    assert_eq!(counted(&row.states), ["Ready=2", "Crash=1"]);
    assert_eq!(counted(&row.ops), ["None=2", "Allocated=1"]);
    assert_eq!(counted(&row.images), ["game:1=2", "game:2=1"]);
    let detail = board.snapshot().set(&row.key).unwrap();
    assert_eq!(counted(&detail.revisions), ["rev-2=1", "rev-1=2"], "the newest first");
    assert_eq!(detail.template, [("game".to_owned(), "game:1".to_owned())]);
}

#[test]
fn one_set_whole() {
    let mut board = board(&[("a/game-1", json!({})), ("a/game-5", json!({}))]);
    board.apply_set(&set("a/game", 2, json!({
        "spec": {
            "reserveGameServerIds": [0, "7-9", "9-3"],
            "scaleStrategy": { "scaleDownStrategyType": "ReserveIds" },
            "updateStrategy": { "type": "OnDelete", "rollingUpdate": { "podUpdatePolicy": "InPlaceOnly" } },
            "network": { "networkType": "HostPort" },
            "gameServerTemplate": { "reclaimPolicy": "Delete" },
        },
        "status": { "implicitReserveIds": ["2-3"], "replicas": 2 },
    })));
    let detail = board.snapshot().set(&"kruise/a/game".parse().unwrap()).unwrap();
    let strip: Vec<(u32, u32, serde_json::Value)> = detail
        .ids
        .iter()
        .map(|cell| (cell.first, cell.last, serde_json::to_value(&cell.kind).unwrap()["kind"].clone()))
        .collect();
    let wanted = [
        (0, 0, "reserved"),
        (1, 1, "live"),
        (2, 3, "implicit"),
        (4, 4, "gap"),
        (5, 5, "live"),
        (7, 9, "reserved"),
    ];
    assert_eq!(strip, wanted.map(|(first, last, kind)| (first, last, json!(kind))));
    assert_eq!(detail.reserve_ids, ["0", "7-9", "9-3"]);
    assert_eq!(
        (detail.scale_down.as_str(), detail.update_type.as_str(), detail.pod_update_policy.as_str()),
        ("ReserveIds", "OnDelete", "InPlaceOnly")
    );
    assert_eq!((detail.reclaim_policy.as_str(), detail.network_type.as_str()), ("Delete", "HostPort"));
    assert_eq!(board.snapshot().set(&"kruise/a/none".parse().unwrap()), None);
}

#[test]
fn defaults_are_said_in_words() {
    let mut board = board(&[]);
    board.apply_set(&set("a/game", 0, json!({})));
    let detail = board.snapshot().set(&"kruise/a/game".parse().unwrap()).unwrap();
    assert_eq!(
        (detail.scale_down.as_str(), detail.update_type.as_str(), detail.reclaim_policy.as_str()),
        ("General", "RollingUpdate", "Cascade")
    );
    assert!(detail.ids.is_empty() && detail.row.problem.is_none());
}

#[test]
fn what_is_wrong_with_a_set_is_a_reason() {
    let failed = |kind: &str, reason: &str| {
        json!({ "status": { "conditions": [{
            "type": kind, "status": "False", "reason": reason, "message": "because", "lastTransitionTime": "2026-01-01T00:00:00Z",
        }] } })
    };
    for (over, wanted) in [
        (json!({ "spec": { "replicas": "many" } }), Some("set-unreadable")),
        (failed("Valid", "InvalidSpec"), Some("set-invalid")),
        (failed("Scaled", "PodTemplateRefused"), Some("pods-refused")),
        (failed("Scaled", "NameTaken"), Some("name-taken")),
        (failed("Scaled", "Creating"), None),
        (failed("NetworkReady", "PluginNotBuiltIn"), Some("network-not-served")),
        (json!({}), None),
    ] {
        let mut board = board(&[]);
        board.apply_set(&set("a/game", 3, over.clone()));
        let problem = board.snapshot().sets("")[0].problem.clone();
        assert_eq!(problem.as_ref().map(|problem| problem.code.as_str()), wanted, "{over}");
        if let Some(problem) = problem {
            assert_eq!(problem.args["set"], "game");
        }
    }
}

#[test]
fn an_unreadable_set_keeps_the_size_that_was_acted_on() {
    let mut board = board(&[]);
    board.apply_set(&set(
        "a/game",
        3,
        json!({ "spec": { "replicas": "many" }, "status": { "actedReplicas": 7, "replicas": 9 } }),
    ));
    assert_eq!(board.snapshot().sets("")[0].wanted, 7);
}
