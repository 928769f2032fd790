//! What needs a hand, and that every filter given with it finds exactly what is counted.

use serde_json::{Value, json};
use wire::live::{Attention, Totals};

use crate::board::Board;
use crate::testing::{NOW, ago, board, node, pod, server, set};

fn attention(board: &mut Board) -> Vec<Attention> {
    board.snapshot().attention(NOW)
}

fn codes(board: &mut Board) -> Vec<String> {
    attention(board).into_iter().map(|found| found.reason.code).collect()
}

fn looping() -> Value {
    json!({ "status": { "containerStatuses": [{
        "name": "game",
        "restartCount": 14,
        "state": { "waiting": { "reason": "CrashLoopBackOff" } },
        "lastState": { "terminated": { "exitCode": 137, "reason": "OOMKilled" } },
    }] } })
}

#[test]
fn a_quiet_board_needs_nothing() {
    let mut board = board(&[("a/game-0", json!({}))]);
    board.apply_set(&set("a/game", 1, json!({})));
    board.apply_node(&node("n1", true));
    assert_eq!(codes(&mut board), Vec::<String>::new());
}

#[test]
fn a_crash_loop_says_what_ended_and_how_often() {
    let mut board = board(&[("a/game-0", json!({ "status": { "currentState": "NotReady" } }))]);
    board.apply_pod(&pod("a/game-0", looping()));
    let found = &attention(&mut board)[0];
    assert_eq!(
        (found.reason.code.as_str(), found.level.as_str(), found.q.as_str()),
        ("crash-loop", "bad", "name:a/game-0")
    );
    let told: Vec<&str> = ["name", "container", "restarts", "exit", "reason", "set"]
        .map(|arg| found.reason.args[arg].as_str())
        .to_vec();
    assert_eq!(told, ["game-0", "game", "14", "137", "OOMKilled", "game"]);
    assert_eq!(
        found.reason.message,
        "game-0 crash loops: container game ended with 137 (OOMKilled), 14 restarts"
    );
    assert!(found.server.is_some());
}

#[test]
fn many_crash_loops_of_a_set_are_one() {
    let mut board = Board::default();
    for id in 0..5 {
        board.apply_server(&server(
            &format!("a/game-{id}"),
            json!({ "status": { "currentState": "NotReady" } }),
        ));
        board.apply_pod(&pod(&format!("a/game-{id}"), looping()));
    }
    let found = attention(&mut board);
    assert_eq!(
        (found.len(), found[0].reason.code.as_str(), found[0].reason.args["count"].as_str()),
        (1, "crash-loops", "5")
    );
    assert_eq!(board.snapshot().keys(&found[0].q, "", NOW).unwrap().len(), 5);
}

#[test]
fn what_takes_too_long_is_told_with_a_filter_that_finds_it() {
    let waiting = |seconds: i64, kind: &str| match kind {
        "ready" => {
            json!({ "status": { "conditions": [{ "type": "Ready", "status": "False", "lastTransitionTime": ago(seconds) }] } })
        }
        "gone" => json!({ "metadata": { "deletionTimestamp": ago(seconds) } }),
        "created" => json!({ "metadata": { "creationTimestamp": ago(seconds) } }),
        _ => {
            json!({ "metadata": { "annotations": { "game.kruise.io/opsState-last-changed-time": ago(seconds) } } })
        }
    };
    for (state, ops, its_pod, wanted) in [
        ("NotReady", "None", waiting(301, "ready"), Some("not-ready-long")),
        ("NotReady", "None", waiting(100, "ready"), None),
        ("Creating", "None", waiting(301, "created"), Some("creating-long")),
        ("Creating", "None", waiting(10, "created"), None),
        ("Deleting", "None", waiting(601, "gone"), Some("deleting-long")),
        ("Ready", "WaitToBeDeleted", waiting(601, "ops"), Some("not-leaving")),
        ("Ready", "WaitToBeDeleted", waiting(60, "ops"), None),
        ("Ready", "WaitToBeDeleted", json!({}), None),
        ("Ready", "Kill", waiting(601, "ops"), Some("kill-waits")),
        ("Crash", "None", json!({}), Some("crashed")),
    ] {
        let mut board = board(&[("a/game-1", json!({}))]);
        board.apply_set(&set("a/game", 2, json!({})));
        board.apply_server(&server(
            "a/game-0",
            json!({ "status": { "currentState": state }, "spec": { "opsState": ops } }),
        ));
        board.apply_pod(&pod("a/game-0", its_pod));
        let found = attention(&mut board);
        assert_eq!(
            found.iter().map(|found| found.reason.code.as_str()).collect::<Vec<_>>(),
            wanted.into_iter().collect::<Vec<_>>(),
            "{state} {ops}"
        );
        if let Some(found) = found.first() {
            let keys = board.snapshot().keys(&found.q, "", NOW).unwrap();
            assert_eq!(
                keys.iter().map(|key| key.name.as_str()).collect::<Vec<_>>(),
                ["game-0"],
                "{}",
                found.q
            );
        }
    }
}

#[test]
fn servers_that_leave_with_a_smaller_set_are_on_their_way() {
    let leaving = json!({ "spec": { "opsState": "WaitToBeDeleted" } });
    let since =
        json!({ "metadata": { "annotations": { "game.kruise.io/opsState-last-changed-time": ago(9_000) } } });
    let mut board = board(&[("a/game-0", leaving), ("a/game-1", json!({}))]);
    board.apply_pod(&pod("a/game-0", since));
    board.apply_set(&set("a/game", 2, json!({})));
    let found = attention(&mut board);
    assert_eq!(
        found[0].reason.message,
        "1 servers of game wait to be deleted, but the set wants 2: scale it to 1 to let them go"
    );
    assert_eq!(
        (found[0].reason.args["to"].as_str(), found[0].reason.args["since"].as_str()),
        ("1", (NOW - 9_000).to_string().as_str())
    );
    board.apply_set(&set("a/game", 1, json!({})));
    assert_eq!(codes(&mut board), Vec::<String>::new());
}

#[test]
fn lost_nodes_and_refused_sets_come_first() {
    let mut board =
        board(&[("a/game-0", json!({})), ("a/game-1", json!({ "status": { "currentState": "Deleting" } }))]);
    board.apply_pod(&pod("a/game-1", json!({ "metadata": { "deletionTimestamp": ago(9_000) } })));
    board.apply_node(&node("n1", false));
    board.apply_node(&node("unused", false));
    board.apply_set(&set("a/bad", 1, json!({ "spec": { "replicas": "many" } })));
    let found = attention(&mut board);
    let told: Vec<(&str, &str)> =
        found.iter().map(|found| (found.level.as_str(), found.reason.code.as_str())).collect();
    assert_eq!(told, [("bad", "nodes-not-ready"), ("bad", "set-unreadable"), ("warn", "deleting-long")]);
    assert_eq!((found[0].q.as_str(), found[0].reason.args["count"].as_str()), ("node:n1", "2"));
    assert_eq!(found[1].set.as_ref().map(ToString::to_string).as_deref(), Some("kruise/a/bad"));
}

#[test]
fn a_set_that_waits_for_long_says_for_what() {
    let waits = |seconds: i64| {
        json!({ "status": { "conditions": [{
            "type": "Scaled", "status": "False", "reason": "WaitingForRemoval", "message": "waiting until game-3 is gone",
            "lastTransitionTime": ago(seconds),
        }] } })
    };
    let mut board = board(&[]);
    board.apply_set(&set("a/game", 1, waits(100)));
    assert_eq!(codes(&mut board), Vec::<String>::new());
    board.apply_set(&set("a/game", 1, waits(1_000)));
    assert_eq!(attention(&mut board)[0].reason.message, "game: waiting until game-3 is gone");
}

#[test]
fn totals_count_everything() {
    let mut board =
        board(&[("a/game-0", json!({})), ("b/game-0", json!({ "spec": { "opsState": "Kill" } }))]);
    board.apply_set(&set("c/game", 1, json!({})));
    let totals = board.snapshot().totals(NOW);
    assert_eq!((totals.servers, totals.sets, totals.players), (2, 1, None));
    assert_eq!(totals.namespaces, ["a", "b", "c"]);
    assert_eq!(totals.ops.len(), 2);
    assert_eq!(Board::default().snapshot().totals(NOW), Totals::default());
}
