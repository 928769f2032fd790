//! Rows as objects come, change and go.

use serde_json::json;
use wire::key::ServerKey;

use super::*;
use crate::testing::{NOW, ago, board, names, node, pod, server, set};

fn key(path: &str) -> ServerKey {
    format!("kruise/{path}").parse().unwrap()
}

#[test]
fn a_server_and_its_pod_are_one_row() {
    let mut board = Board::default();
    let gs = json!({
        "metadata": {
            "labels": { "zone": "8001", "game.kruise.io/node-name": "n9" },
            "annotations": { "note": "hi" },
        },
        "spec": { "opsState": "Allocated", "deletionPriority": 5, "updatePriority": "7", "networkDisabled": true },
        "status": {
            "currentState": "Updating",
            "deletionPriority": "3",
            "networkStatus": {
                "networkType": "HostPort",
                "currentNetworkState": "Waiting",
                "externalAddresses": [{ "ip": "1.2.3.4", "endPoint": "a.example" }],
            },
            "serviceQualitiesConditions": [{ "name": "room", "status": "True", "result": "idle" }],
            "conditions": [{ "type": "PodNormal", "status": "False", "reason": "Odd" }],
        },
    });
    board.apply_server(&server("prod/game-3", gs));
    board.apply_pod(&pod("prod/game-3", json!({
        "spec": { "containers": [{ "name": "game", "image": "game:1" }, { "name": "side", "image": "side:2" }] },
        "status": { "containerStatuses": [
            { "name": "side", "ready": false, "restartCount": 4 },
            { "name": "game", "ready": true, "restartCount": 2 },
        ] },
    })));
    let snapshot = board.snapshot();
    let row = snapshot.server(&key("prod/game-3")).unwrap();
    assert_eq!(
        (row.set.as_deref(), row.id, row.state.as_str(), row.ops.as_str()),
        (Some("game"), Some(3), "Updating", "Allocated")
    );
    assert_eq!((row.deletion_priority.as_str(), row.update_priority.as_str()), ("5", "7"));
    assert_eq!((row.network.as_str(), row.network_disabled), ("Waiting", true));
    assert_eq!((row.node.as_deref(), row.ip.as_deref(), row.restarts), (Some("n1"), Some("10.0.0.1"), 6));
    assert_eq!(row.containers[1].name, "side");
    assert_eq!((row.containers[1].restarts, row.containers[0].ready), (4, true));
    assert_eq!((row.revision.as_str(), row.players, row.created), ("rev-1", None, NOW - 3_600));
    assert_eq!(row.labels.into_iter().collect::<Vec<_>>(), [("zone".to_owned(), "8001".to_owned())]);
    for q in [
        "set:prod/game id:3 state:updating ops:Allocated label.zone:8001 ann.note:hi",
        "label.game.kruise.io/owner-gss:game",
        "network:Waiting network:HostPort network:Disabled",
        "ip:1.2.3.4 ip:a.example ip:10.0.0.1",
        "sq.room:True sq.room:idle",
        "cond.PodNormal:False cond.podnormal:Odd cond.Ready:True",
        "image:side:2 container:game restarts:6 rev:rev-1 node:n1 dp:5 up:7 age:1h players:",
    ] {
        assert_eq!(names(&snapshot, q), ["game-3"], "{q}");
    }
}

#[test]
fn a_game_server_without_a_status_takes_its_state_from_the_pod() {
    let mut board = Board::default();
    board.apply_server(&server("prod/game-0", json!({ "status": null, "spec": {} })));
    assert_eq!(board.snapshot().server(&key("prod/game-0")).unwrap().state, "");
    board.apply_pod(&pod("prod/game-0", json!({ "status": { "phase": "Pending" } })));
    assert_eq!(board.snapshot().server(&key("prod/game-0")).unwrap().state, "Creating");
    board.apply_pod(&pod("prod/game-0", json!({})));
    let row = board.snapshot().server(&key("prod/game-0")).unwrap();
    assert_eq!((row.state.as_str(), row.ops.as_str()), ("Ready", "None"));
}

#[test]
fn objects_without_anything_are_rows_or_nothing_but_no_panic() {
    let mut board = Board::default();
    board.apply_server(&SlimGameServer::default());
    board.apply_pod(&SlimPod::default());
    board.apply_set(&Arc::default());
    board.apply_node(&SlimNode::default());
    assert_eq!((board.version(), board.snapshot().len()), (0, 0));
    let bare: SlimGameServer = serde_json::from_value(json!({ "metadata": { "name": "x" } })).unwrap();
    board.apply_server(&bare);
    assert_eq!(names(&board.snapshot(), "set: ns: id: state: age: ops:None"), ["x"]);
}

#[test]
fn a_pod_of_a_set_is_a_row_before_its_game_server_is_there() {
    let mut board = Board::default();
    board.apply_pod(&pod(
        "prod/game-1",
        json!({ "metadata": { "labels": { "game.kruise.io/gs-opsState": "Maintaining" } } }),
    ));
    let row = board.snapshot().server(&key("prod/game-1")).unwrap();
    assert_eq!(
        (row.set.as_deref(), row.id, row.uid.as_str(), row.ops.as_str()),
        (Some("game"), Some(1), "", "Maintaining")
    );
    let other = json!({ "metadata": { "labels": { "game.kruise.io/owner-gss": null } } });
    board.apply_pod(&pod("prod/web-1", other));
    assert_eq!(board.snapshot().len(), 1, "other pods are none of ours");
}

#[test]
fn a_row_goes_with_its_last_object() {
    let (gs, its_pod) = (server("prod/game-1", json!({})), pod("prod/game-1", json!({})));
    for server_first in [true, false] {
        let mut board = board(&[("prod/game-1", json!({}))]);
        if server_first {
            board.remove_server(&gs);
            assert_eq!(board.snapshot().server(&key("prod/game-1")).unwrap().uid, "");
            board.remove_pod(&its_pod);
        } else {
            board.remove_pod(&its_pod);
            let row = board.snapshot().server(&key("prod/game-1")).unwrap();
            assert_eq!((row.uid.as_str(), row.containers.len(), row.node), ("uid-game-1", 0, None));
            board.remove_server(&gs);
        }
        assert!(board.snapshot().is_empty());
        assert!(board.rows.is_empty() && board.order.is_empty());
    }
}

#[test]
fn sets_of_one_name_in_two_namespaces_are_two() {
    let mut board = board(&[("a/game-0", json!({})), ("b/game-0", json!({})), ("b/game-1", json!({}))]);
    board.apply_set(&set("a/game", 1, json!({})));
    board.apply_set(&set("b/game", 5, json!({})));
    let snapshot = board.snapshot();
    let figures: Vec<(String, u32, u32)> =
        snapshot.sets("").into_iter().map(|set| (set.key.to_string(), set.wanted, set.live)).collect();
    assert_eq!(figures, [("kruise/a/game".to_owned(), 1, 1), ("kruise/b/game".to_owned(), 5, 2)]);
    assert_eq!(snapshot.sets("b").len(), 1);
    assert_eq!(snapshot.keys("set:b/game", "", NOW).unwrap(), [key("b/game-0"), key("b/game-1")]);
    assert_eq!(snapshot.keys("set:game", "a", NOW).unwrap(), [key("a/game-0")]);
    assert_eq!(snapshot.server(&key("b/game-0")).unwrap().key, key("b/game-0"));
}

#[test]
fn only_a_real_difference_is_a_new_version() {
    let mut board = board(&[("prod/game-1", json!({}))]);
    let (version, snapshot) = (board.version(), board.snapshot());
    let touched = json!({ "metadata": { "resourceVersion": "77", "finalizers": ["x"] } });
    board.apply_server(&server("prod/game-1", touched.clone()));
    board.apply_pod(&pod("prod/game-1", touched));
    board.remove_pod(&pod("prod/other-1", json!({})));
    assert_eq!(board.version(), version);
    assert!(Arc::ptr_eq(&snapshot, &board.snapshot()));
    board.apply_server(&server("prod/game-1", json!({ "spec": { "opsState": "Allocated" } })));
    assert_eq!(board.version(), version + 1);
    assert_eq!(names(&snapshot, "ops:None"), ["game-1"], "an older snapshot stays as it was");
    assert_eq!(names(&board.snapshot(), "ops:Allocated"), ["game-1"]);
}

#[test]
fn what_a_new_list_does_not_have_is_gone() {
    let mut board = board(&[("prod/game-0", json!({})), ("prod/game-1", json!({}))]);
    board.apply_set(&set("prod/game", 2, json!({})));
    board.apply_node(&node("n1", true));
    board.keep_servers(&HashSet::from([Place::new("prod", "game-0")]));
    board.keep_pods(&HashSet::from([Place::new("prod", "game-0")]));
    assert_eq!(names(&board.snapshot(), ""), ["game-0"]);
    let version = board.version();
    board.keep_servers(&HashSet::from([Place::new("prod", "game-0")]));
    assert_eq!(board.version(), version);
    board.keep_sets::<SlimGameServerSet>(&[]);
    board.keep_nodes::<SlimNode>(&[]);
    assert!(board.snapshot().sets("").is_empty() && board.nodes.is_empty());
}

#[test]
fn rows_stand_by_namespace_set_id_and_name() {
    let mut board = board(&[
        ("b/game-2", json!({})),
        ("a/game-10", json!({})),
        ("a/game-9", json!({})),
        ("a/arena-1", json!({})),
        ("a/lone-10", json!({ "metadata": { "labels": { "game.kruise.io/owner-gss": null } } })),
    ]);
    // A server with an odd name in a set has no id.
    board.apply_server(&server(
        "a/odd-x",
        json!({ "metadata": { "labels": { "game.kruise.io/owner-gss": "game" } } }),
    ));
    let snapshot = board.snapshot();
    assert_eq!(names(&snapshot, ""), ["arena-1", "game-9", "game-10", "odd-x", "lone-10", "game-2"]);
    for path in ["b/game-2", "a/game-10", "a/odd-x", "a/lone-10"] {
        assert_eq!(snapshot.server(&key(path)).unwrap().key, key(path));
    }
    assert_eq!(snapshot.server(&key("a/game-11")), None);
}

#[test]
fn a_server_that_changes_its_set_changes_its_place() {
    let mut board = board(&[("a/game-1", json!({}))]);
    board.apply_server(&server(
        "a/game-1",
        json!({ "metadata": { "labels": { "game.kruise.io/owner-gss": "other" } } }),
    ));
    let snapshot = board.snapshot();
    assert_eq!(
        (names(&snapshot, ""), names(&snapshot, "set:other id:")),
        (vec!["game-1".to_owned()], vec!["game-1".to_owned()])
    );
}

#[test]
fn players_come_from_where_one_says() {
    let annotated = json!({ "metadata": { "annotations": { "players": "12" } } });
    let quality =
        json!({ "status": { "serviceQualitiesConditions": [{ "name": "Players", "result": "7" }] } });
    for (from, gs, its_pod, wanted) in [
        ("", annotated.clone(), json!({}), None),
        ("annotation:players", annotated.clone(), json!({}), Some(12)),
        ("annotation:players", json!({}), annotated.clone(), Some(12)),
        (
            "annotation:players",
            json!({ "metadata": { "annotations": { "players": "many" } } }),
            json!({}),
            None,
        ),
        ("quality:players", quality, json!({}), Some(7)),
        ("quality:players", annotated, json!({}), None),
        (
            "quality:players",
            json!({ "status": null }),
            json!({ "status": { "conditions": [{ "type": "game.kruise.io/players", "status": "True", "message": "3\n" }] } }),
            Some(3),
        ),
    ] {
        let mut board = Board::new(from.parse().unwrap());
        board.apply_server(&server("a/game-1", gs.clone()));
        board.apply_pod(&pod("a/game-1", its_pod));
        assert_eq!(board.snapshot().server(&key("a/game-1")).unwrap().players, wanted, "{from} {gs}");
    }
}

#[test]
fn long_annotations_are_cut_at_a_letter() {
    let long = format!("{}é{}", "x".repeat(read::LONGEST_VALUE - 1), "y".repeat(1_000));
    let mut board = Board::default();
    board.apply_server(&server("a/game-1", json!({ "metadata": { "annotations": { "long": long } } })));
    assert_eq!(names(&board.snapshot(), "ann.long~x -ann.long~y"), ["game-1"]);
}

#[test]
fn deleted_pods_say_so() {
    let mut board = Board::default();
    board.apply_pod(&pod("a/game-1", json!({ "metadata": { "deletionTimestamp": ago(10) } })));
    assert_eq!(names(&board.snapshot(), "state:Deleting"), ["game-1"]);
}
