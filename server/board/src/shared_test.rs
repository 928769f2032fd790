//! The shared board: news, lists, readers that hold on.

use serde_json::json;

use super::*;
use crate::testing::{node, pod, server, set};

#[test]
fn news_are_told_once_and_only_for_a_difference() {
    let board = SharedBoard::default();
    let mut changed = board.changed();
    assert!(!changed.has_changed().unwrap());
    board.apply_server(&server("a/game-0", json!({})));
    assert!(changed.has_changed().unwrap());
    assert_eq!(*changed.borrow_and_update(), board.version());
    board.apply_server(&server("a/game-0", json!({})));
    assert!(!changed.has_changed().unwrap());
}

#[test]
fn a_list_takes_the_place_of_everything() {
    let board = SharedBoard::default();
    let servers: Vec<Arc<SlimGameServer>> =
        (0..600).map(|id| Arc::new(server(&format!("a/game-{id}"), json!({})))).collect();
    let pods: Vec<Arc<SlimPod>> =
        (0..600).map(|id| Arc::new(pod(&format!("a/game-{id}"), json!({})))).collect();
    board.replace_servers(&servers);
    board.replace_pods(&pods);
    board.replace_sets(&[set("a/game", 600, json!({}))]);
    board.replace_nodes(&[Arc::new(node("n1", true))]);
    assert_eq!((board.totals().servers, board.sets("").len()), (600, 1));
    board.replace_servers(&servers[..10]);
    board.replace_pods(&pods[..10]);
    board.replace_sets(&[]);
    board.replace_nodes(&[]);
    assert_eq!((board.totals().servers, board.sets("").len()), (10, 0));
    let version = board.version();
    board.replace_servers(&servers[..10]);
    assert_eq!(board.version(), version);
}

#[test]
fn a_reader_that_holds_on_holds_up_nobody() {
    let board = SharedBoard::default();
    board.apply_server(&server("a/game-0", json!({})));
    let held = board.snapshot();
    board.apply_server(&server("a/game-1", json!({})));
    assert_eq!((held.len(), board.snapshot().len()), (1, 2));
    assert!(board.version() > held.version());
}

#[test]
fn questions_are_answered_as_of_now() {
    let board = SharedBoard::new("annotation:players".parse().unwrap());
    board.apply_server(&server("a/game-0", json!({ "metadata": { "annotations": { "players": "4" } } })));
    let key = "kruise/a/game-0".parse().unwrap();
    assert_eq!((board.players(&key), board.server(&key).map(|row| row.id)), (Some(4), Some(Some(0))));
    assert_eq!(board.keys("players>0", "a"), Ok(vec![key]));
    assert_eq!(board.servers(&ServersQuery { limit: 5, ..ServersQuery::default() }).unwrap().rows.len(), 1);
    assert_eq!(board.deck(&DeckQuery::default()).unwrap().matched, 1);
    assert_eq!(board.values("set", "", "", 5)[0].value, "game");
    assert_eq!(board.set(&"kruise/a/game".parse().unwrap()), None);
    assert_eq!(
        board.servers(&ServersQuery { q: "(".to_owned(), ..ServersQuery::default() }).unwrap_err().status,
        400
    );
}

#[test]
fn every_answer_fits_together_while_others_write() {
    const SERVERS: u32 = 50;
    let board = SharedBoard::default();
    let all: Vec<Arc<SlimGameServer>> =
        (0..SERVERS).map(|id| Arc::new(server(&format!("a/game-{id}"), json!({})))).collect();
    board.replace_servers(&all);
    let query = ServersQuery { limit: SERVERS, ..ServersQuery::default() };
    std::thread::scope(|scope| {
        for writer in 0..2 {
            let board = &board;
            scope.spawn(move || {
                for round in 0..200 {
                    let ops = ["None", "Allocated", "Kill"][round % 3];
                    let path = format!("a/game-{}", (writer * 25) + round % 25);
                    board.apply_server(&server(&path, json!({ "spec": { "opsState": ops } })));
                }
            });
        }
        for _ in 0..2 {
            scope.spawn(|| {
                let mut last = 0;
                for _ in 0..200 {
                    let window = board.servers(&query).unwrap();
                    let allocated = window.rows.iter().filter(|row| row.ops == "Allocated").count();
                    let told = window.counts.ops.iter().find(|count| count.value == "Allocated");
                    assert_eq!(told.map_or(0, |count| count.count as usize), allocated);
                    assert_eq!((window.matched, window.rows.len()), (SERVERS, SERVERS as usize));
                    assert!(window.version >= last, "time goes forwards");
                    last = window.version;
                }
            });
        }
    });
    assert_eq!(*board.changed().borrow(), board.version());
}
