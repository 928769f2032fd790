//! Groups: which there are, in which order, what of them is in view, and that the filter language finds them.

use serde_json::json;
use wire::row::{ServersQuery, ServersWindow, SortKey};

use crate::board::Board;
use crate::testing::{NOW, board, server};
use crate::window_diff::diff_window;

/// Two sets of one name, three servers of which two have a zone, and two servers without a set.
fn mixed() -> Board {
    let lone = || json!({ "metadata": { "labels": { "game.kruise.io/owner-gss": null } } });
    board(&[
        ("a/game-0", json!({ "metadata": { "labels": { "zone": "z1" } } })),
        (
            "a/game-1",
            json!({ "status": { "currentState": "Crash" }, "metadata": { "labels": { "zone": "z2" } } }),
        ),
        ("b/game-0", json!({})),
        ("a/lone", lone()),
        ("b/lone", lone()),
    ])
}

fn query(group: &str, folded: &[&str], offset: u32, limit: u32) -> ServersQuery {
    let folded = folded.iter().map(|value| (*value).to_owned()).collect();
    ServersQuery { group: group.to_owned(), folded, offset, limit, ..ServersQuery::default() }
}

/// The lines of a window as they would be drawn: `> head` and `row`; `^ head` for the one above the view.
fn lines(window: &ServersWindow) -> Vec<String> {
    let mut rows = window.rows.iter().map(|row| format!("{}/{}", row.key.namespace, row.key.name));
    let mut heads = window.heads.iter().peekable();
    let mut drawn = Vec::new();
    let mut line = window.offset;
    while let Some(head) = heads.next_if(|head| head.line < window.offset) {
        drawn.push(format!("^ {} {}", head.value, head.count));
    }
    loop {
        if let Some(head) = heads.next_if(|head| head.line == line) {
            let mark = if head.folded { "+" } else { ">" };
            drawn.push(format!("{mark} {} {}", head.value, head.count));
        } else if let Some(row) = rows.next() {
            drawn.push(row);
        } else {
            break;
        }
        line += 1;
    }
    assert_eq!(heads.next(), None, "a head that no line has");
    drawn
}

#[test]
fn rows_stand_under_the_heads_of_their_groups() {
    let snapshot = mixed().snapshot();
    for (by, wanted) in [
        (
            "set",
            &["> a/game 2", "a/game-0", "a/game-1", "> b/game 1", "b/game-0", ">  2", "a/lone", "b/lone"][..],
        ),
        ("state", &["> Ready 4", "a/lone", "a/game-0", "b/lone", "b/game-0", "> Crash 1", "a/game-1"]),
        ("label.zone", &["> z1 1", "a/game-0", "> z2 1", "a/game-1", ">  3", "a/lone", "b/lone", "b/game-0"]),
    ] {
        let window = snapshot.servers(&query(by, &[], 0, 100), NOW).unwrap();
        assert_eq!(lines(&window), wanted, "{by}");
        assert_eq!((window.lines as usize, window.matched), (wanted.len(), 5));
    }
    assert_eq!(
        snapshot.servers(&query("moon", &[], 0, 9), NOW).unwrap_err().reason.code,
        "unknown-dimension"
    );
}

#[test]
fn the_order_asked_for_holds_within_each_group() {
    let snapshot = mixed().snapshot();
    let asked = ServersQuery { desc: true, ..query("set", &[], 0, 100) };
    let window = snapshot.servers(&asked, NOW).unwrap();
    assert_eq!(
        lines(&window),
        ["> a/game 2", "a/game-1", "a/game-0", "> b/game 1", "b/game-0", ">  2", "b/lone", "a/lone"]
    );
    let by_state = ServersQuery { sort: SortKey::State, ..query("set", &[], 0, 3) };
    assert_eq!(lines(&snapshot.servers(&by_state, NOW).unwrap()), ["> a/game 2", "a/game-1", "a/game-0"]);
}

#[test]
fn folded_groups_are_one_line_each() {
    let snapshot = mixed().snapshot();
    let window = snapshot.servers(&query("set", &["a/game", ""], 0, 100), NOW).unwrap();
    assert_eq!(lines(&window), ["+ a/game 2", "> b/game 1", "b/game-0", "+  2"]);
    assert_eq!((window.lines, window.matched), (4, 5), "folded servers still match");
}

#[test]
fn every_window_is_a_cut_of_the_whole() {
    let snapshot = mixed().snapshot();
    for folded in [&[][..], &["a/game"], &["b/game", ""]] {
        let whole = lines(&snapshot.servers(&query("set", folded, 0, 100), NOW).unwrap());
        for offset in 0..whole.len() {
            for limit in 0..=whole.len() {
                let cut = snapshot
                    .servers(
                        &query("set", folded, u32::try_from(offset).unwrap(), u32::try_from(limit).unwrap()),
                        NOW,
                    )
                    .unwrap();
                let mut drawn = lines(&cut);
                let above = drawn.iter().filter(|line| line.starts_with('^')).count();
                let first_is_row = whole[offset].contains("/") && !whole[offset].starts_with(['>', '+']);
                assert_eq!(above, usize::from(first_is_row && limit > 0), "{folded:?} {offset} {limit}");
                drawn.drain(..above);
                assert_eq!(
                    drawn,
                    whole[offset..(offset + limit).min(whole.len())],
                    "{folded:?} {offset} {limit}"
                );
            }
        }
    }
    let behind = snapshot.servers(&query("set", &[], 50, 3), NOW).unwrap();
    assert_eq!(lines(&behind), [">  2", "a/lone", "b/lone"], "behind the end the last lines are shown");
}

#[test]
fn the_filter_language_finds_each_group() {
    let snapshot = mixed().snapshot();
    for by in ["set", "state", "node", "label.zone", "ops", "image", "age"] {
        for q in ["", "state:Ready", "state:Crash or ops:None id:0"] {
            let asked = ServersQuery { q: q.to_owned(), ..query(by, &[], 0, 100) };
            for head in snapshot.servers(&asked, NOW).unwrap().heads {
                let within = wire::filter::within(q, by, &head.value).unwrap();
                let keys = snapshot.keys(&within, "", NOW).unwrap();
                assert_eq!(keys.len(), head.count as usize, "{by} {q}: {within}");
            }
        }
    }
}

#[test]
fn a_delta_leads_to_the_new_heads() {
    let mut board = mixed();
    let asked = query("state", &[], 0, 100);
    let mut old = board.snapshot().servers(&asked, NOW).unwrap();
    board.apply_server(&server("a/game-0", json!({ "status": { "currentState": "Crash" } })));
    let new = board.snapshot().servers(&asked, NOW).unwrap();
    old.apply(diff_window(&old, &new).unwrap());
    assert_eq!(old, new);
    assert_eq!(lines(&old)[0], "> Ready 3");
}
