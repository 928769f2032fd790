//! Windows: filter, order, place, counters, and deltas that come out the same.

use proptest::prelude::*;
use serde_json::json;
use wire::row::{ServersQuery, SortKey};

use super::*;
use crate::board::Board;
use crate::testing::{NOW, ago, board, pod, server};
use crate::window_diff::diff_window;

fn names(window: &ServersWindow) -> Vec<&str> {
    window.rows.iter().map(|row| row.key.name.as_str()).collect()
}

fn query(q: &str, sort: SortKey, desc: bool) -> ServersQuery {
    ServersQuery { q: q.to_owned(), sort, desc, limit: 100, ..ServersQuery::default() }
}

/// Four servers that differ in everything one can sort by.
fn mixed() -> Board {
    let mut board = Board::new("annotation:players".parse().unwrap());
    for (name, players, state, ops, dp, age, image, ip, restarts, node, rev) in [
        ("game-0", "5", "Ready", "None", json!(10), 10, "g:1.9", "10.0.0.9", 3, "n10", "b"),
        ("game-1", "", "Crash", "Allocated", json!("-2"), 20, "g:1.12", "10.0.0.10", 1, "n9", "a"),
        ("game-2", "12", "Ready", "None", json!("odd"), 5, "g:1.9", "fd00::1", 2, "n9", "b"),
        ("game-10", "0", "NotReady", "Kill", json!(3), 30, "g:2", "10.0.0.1", 0, "n1", "c"),
    ] {
        board.apply_server(&server(
            &format!("prod/{name}"),
            json!({
                "metadata": { "annotations": { "players": players }, "creationTimestamp": ago(age) },
                "spec": { "opsState": ops, "deletionPriority": dp, "updatePriority": dp },
                "status": { "currentState": state },
            }),
        ));
        board.apply_pod(&pod(&format!("prod/{name}"), json!({
            "metadata": { "labels": { "controller-revision-hash": rev } },
            "spec": { "nodeName": node, "containers": [{ "name": "game", "image": image }] },
            "status": { "podIP": ip, "containerStatuses": [{ "name": "game", "restartCount": restarts }] },
        })));
    }
    board.apply_server(&server(
        "prod/game-3",
        json!({ "metadata": { "creationTimestamp": null }, "status": null }),
    ));
    board
}

#[test]
fn every_column_sorts_with_unknown_last_and_ties_in_order() {
    let snapshot = mixed().snapshot();
    for (sort, up, down) in [
        (SortKey::Name, [0, 1, 2, 3, 10], [10, 3, 2, 1, 0]),
        (SortKey::State, [1, 10, 0, 2, 3], [0, 2, 10, 1, 3]),
        (SortKey::Ops, [1, 10, 0, 2, 3], [0, 2, 3, 10, 1]),
        (SortKey::Image, [0, 2, 1, 10, 3], [10, 1, 0, 2, 3]),
        (SortKey::Node, [10, 1, 2, 0, 3], [0, 1, 2, 10, 3]),
        (SortKey::Players, [10, 0, 2, 1, 3], [2, 0, 10, 1, 3]),
        (SortKey::Restarts, [10, 1, 2, 0, 3], [0, 2, 1, 10, 3]),
        (SortKey::Age, [2, 0, 1, 10, 3], [10, 1, 0, 2, 3]),
        (SortKey::Dp, [1, 10, 0, 2, 3], [0, 10, 1, 2, 3]),
        (SortKey::Up, [1, 10, 0, 2, 3], [0, 10, 1, 2, 3]),
        (SortKey::Rev, [1, 0, 2, 10, 3], [10, 0, 2, 1, 3]),
        (SortKey::Ip, [10, 0, 1, 2, 3], [2, 1, 0, 10, 3]),
    ] {
        for (desc, wanted) in [(false, up), (true, down)] {
            let window = snapshot.servers(&query("", sort, desc), NOW).unwrap();
            let wanted = wanted.map(|id| format!("game-{id}"));
            assert_eq!(names(&window), wanted, "{sort:?} {desc}");
        }
    }
}

#[test]
fn counters_are_over_the_match_and_totals_over_the_namespace() {
    let mut board = mixed();
    board.apply_server(&server("other/game-0", json!({})));
    let snapshot = board.snapshot();
    let window = snapshot
        .servers(
            &ServersQuery { ns: "prod".to_owned(), limit: 1, ..query("-state:Crash", SortKey::Name, false) },
            NOW,
        )
        .unwrap();
    assert_eq!(
        (window.total, window.matched, window.rows.len(), window.version),
        (5, 4, 1, snapshot.version())
    );
    let counted = |counts: &[wire::row::Count]| {
        counts.iter().map(|c| format!("{}={}", c.value, c.count)).collect::<Vec<_>>()
    };
    assert_eq!(counted(&window.counts.state), ["Ready=2", "=1", "NotReady=1"]);
    assert_eq!(counted(&window.counts.ops), ["None=3", "Kill=1"]);
    assert_eq!((window.counts.in_use, window.counts.players), (2, Some(17)));
    let all = snapshot.servers(&query("", SortKey::Name, false), NOW).unwrap();
    assert_eq!((all.total, all.counts.in_use), (6, 3), "Allocated is in use without players too");
    let unknown = snapshot.servers(&query("players:", SortKey::Name, false), NOW).unwrap();
    assert_eq!(unknown.counts.players, None, "unknown is not 0");
}

#[test]
fn windows_are_cut_and_moved_back() {
    let snapshot = mixed().snapshot();
    let window = |offset, limit| {
        let window =
            snapshot.servers(&ServersQuery { offset, limit, ..ServersQuery::default() }, NOW).unwrap();
        (window.offset, window.rows.len())
    };
    assert_eq!(window(0, 2), (0, 2));
    assert_eq!(window(4, 2), (4, 1));
    assert_eq!(window(5, 2), (3, 2), "behind the end the last rows are shown");
    assert_eq!(window(50, 9), (0, 5));
    assert_eq!(window(0, 0), (0, 0));
    assert_eq!(window(u32::MAX, u32::MAX), (0, 5));
}

#[test]
fn a_wrong_filter_is_refused_with_its_place() {
    let error = mixed().snapshot().servers(&query("a stat:Ready", SortKey::Name, false), NOW).unwrap_err();
    assert_eq!(
        (error.status, error.span, error.reason.code.as_str()),
        (400, Some((2, 6)), "filter-unknown-field")
    );
}

#[test]
fn ages_are_asked_anew_as_time_passes() {
    let snapshot = mixed().snapshot();
    let matched = |now| snapshot.servers(&query("age>8s", SortKey::Name, false), now).unwrap().matched;
    assert_eq!((matched(NOW), matched(NOW + 10), matched(NOW - 100)), (3, 4, 0));
}

#[test]
fn an_empty_namespace_of_that_name_is_empty() {
    let snapshot = mixed().snapshot();
    for ns in ["aaa", "prodd", "zzz", "pro"] {
        let window = snapshot
            .servers(&ServersQuery { ns: ns.to_owned(), limit: 9, ..ServersQuery::default() }, NOW)
            .unwrap();
        assert_eq!((window.total, window.rows.len()), (0, 0), "{ns}");
    }
}

#[test]
fn nothing_new_is_no_delta() {
    let mut board = board(&[("a/game-0", json!({})), ("a/game-1", json!({})), ("b/game-0", json!({}))]);
    let in_view = ServersQuery { ns: "a".to_owned(), limit: 1, ..ServersQuery::default() };
    let window = |board: &mut Board| board.snapshot().servers(&in_view, NOW).unwrap();
    let old = window(&mut board);
    board.apply_server(&server("b/game-0", json!({ "spec": { "opsState": "Kill" } })));
    assert_eq!(diff_window(&old, &window(&mut board)), None, "another namespace");
    board.apply_server(&server("a/game-1", json!({ "spec": { "opsState": "Kill" } })));
    let delta = diff_window(&old, &window(&mut board)).unwrap();
    assert_eq!(
        (delta.rows.len(), delta.order, delta.counts.is_some()),
        (0, None, true),
        "out of view, but counted"
    );
    board.apply_server(&server("a/game-0", json!({ "spec": { "opsState": "Kill" } })));
    let delta = diff_window(&old, &window(&mut board)).unwrap();
    assert_eq!((delta.rows.len(), delta.order), (1, None));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Random changes: the delta brings the old window exactly to the new one.
    #[test]
    fn a_delta_leads_to_the_new_window(
        steps in prop::collection::vec((0_usize..8, prop::sample::select(vec!["None", "Allocated", "gone"])), 1..30),
        cut in 0_usize..30,
        offset in 0_u32..6,
        sort in prop::sample::select(vec![SortKey::Name, SortKey::Ops]),
    ) {
        let mut board = Board::default();
        let in_view = ServersQuery { sort, desc: true, offset, limit: 3, q: "-ops:Kill".to_owned(), ..ServersQuery::default() };
        let mut old = board.snapshot().servers(&in_view, NOW).unwrap();
        for (index, (id, ops)) in steps.iter().enumerate() {
            let gs = server(&format!("a/game-{id}"), json!({ "spec": { "opsState": ops } }));
            if *ops == "gone" { board.remove_server(&gs) } else { board.apply_server(&gs) }
            if index != cut {
                continue;
            }
            old = board.snapshot().servers(&in_view, NOW).unwrap();
        }
        let new = board.snapshot().servers(&in_view, NOW).unwrap();
        match diff_window(&old, &new) {
            Some(delta) => old.apply(delta),
            None => old.version = new.version,
        }
        prop_assert_eq!(old, new);
    }
}
