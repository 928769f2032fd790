//! Decks: cells, legends, and deltas that come out the same.

use proptest::prelude::*;
use serde_json::json;
use wire::row::Count;

use super::*;
use crate::board::Board;
use crate::deck_diff::diff_deck;
use crate::testing::{NOW, board, pod, server, set};

fn deck(board: &mut Board, q: &str, by: &str) -> DeckSnapshot {
    let query = DeckQuery { q: q.to_owned(), by: by.to_owned(), ..DeckQuery::default() };
    board.snapshot().deck(&query, NOW).unwrap()
}

fn counted(legend: &[Count]) -> Vec<String> {
    legend
        .iter()
        .filter(|count| count.count > 0)
        .map(|count| format!("{}={}", count.value, count.count))
        .collect()
}

fn fleet() -> Board {
    let lone = json!({ "metadata": { "labels": { "game.kruise.io/owner-gss": null } } });
    let mut board = board(&[
        ("a/game-10", json!({ "status": { "currentState": "Crash" } })),
        (
            "a/game-2",
            json!({ "spec": { "opsState": "Allocated" }, "metadata": { "labels": { "zone": "z1" } } }),
        ),
        ("a/game-0", json!({})),
        ("b/game-0", json!({ "metadata": { "labels": { "zone": "z2" } } })),
        ("b/lone", lone),
    ]);
    board.apply_set(&set("a/game", 5, json!({})));
    board.apply_set(&set("b/empty", 0, json!({})));
    board
}

#[test]
fn cells_stand_by_id_and_say_their_state() {
    let deck = deck(&mut fleet(), "", "");
    assert_eq!((deck.total, deck.matched), (5, 5));
    let keys: Vec<String> = deck.sets.iter().map(|set| set.key.to_string()).collect();
    assert_eq!(keys, ["kruise/a/game", "kruise/b/", "kruise/b/empty", "kruise/b/game"]);
    let game = &deck.sets[0];
    assert_eq!((game.ids.as_slice(), game.names.is_empty()), (&[0, 2, 10][..], true));
    let told = |at: usize| {
        let word = |words: &[String], place: usize| words[place].clone();
        let category = deck.legend[usize::from(game.category[at])].value.clone();
        (word(&deck.states, game.state[at].into()), word(&deck.ops, game.ops[at].into()), category)
    };
    let own = |state: &str, ops: &str| (state.to_owned(), ops.to_owned(), state.to_owned());
    assert_eq!(
        [told(0), told(1), told(2)],
        [own("Ready", "None"), own("Ready", "Allocated"), own("Crash", "None")]
    );
    assert_eq!((game.wanted, game.ready, game.server_name(2)), (Some(5), 2, Some("game-10".to_owned())));
    assert_eq!(
        (deck.sets[1].wanted, deck.sets[1].ready, deck.sets[1].server_name(0)),
        (None, 1, Some("lone".to_owned()))
    );
    assert_eq!(counted(&deck.legend), ["Ready=4", "Crash=1"]);
}

#[test]
fn a_filter_leaves_out_cells_and_empty_decks_but_not_the_size_of_the_set() {
    let deck = deck(&mut fleet(), "state:Crash", "");
    assert_eq!((deck.total, deck.matched, deck.sets.len()), (5, 1, 1));
    assert_eq!(
        (deck.sets[0].ids.as_slice(), deck.sets[0].wanted, deck.sets[0].ready),
        (&[10][..], Some(5), 2)
    );
}

#[test]
fn names_are_told_where_ids_do_not_tell_them() {
    let mut board = board(&[("a/game-0", json!({}))]);
    board.apply_server(&server(
        "a/odd-x",
        json!({ "metadata": { "labels": { "game.kruise.io/owner-gss": "game" } } }),
    ));
    let deck = deck(&mut board, "", "");
    assert_eq!(
        (deck.sets[0].ids.clone(), deck.sets[0].names.clone()),
        (vec![0, 1], vec!["game-0".to_owned(), "odd-x".to_owned()])
    );
}

#[test]
fn every_dimension_has_a_legend() {
    let mut board = Board::new("annotation:players".parse().unwrap());
    for (id, players) in [(0, "0"), (1, "3"), (2, "200"), (3, "")] {
        let path = format!("a/game-{id}");
        board.apply_server(&server(
            &path,
            json!({ "metadata": { "annotations": { "players": players }, "labels": { "zone": "z" } } }),
        ));
        board.apply_pod(&pod(&path, json!({ "spec": { "nodeName": format!("n{id}") } })));
    }
    board.apply_server(&server("a/game-4", json!({})));
    for (by, wanted) in [
        ("state", &["Ready=5"][..]),
        ("ops", &["None=5"]),
        ("image", &["game:1=4", "=1"]),
        ("node", &["n0=1", "n1=1", "n2=1", "n3=1", "=1"]),
        ("players", &["0=1", "1-4=1", "100-=1", "=2"]),
        ("age", &["1h-5h=5"]),
        ("label.zone", &["z=4", "=1"]),
        ("label.none", &["=5"]),
    ] {
        assert_eq!(counted(&deck(&mut board, "", by).legend), wanted, "{by}");
    }
    let refused = board.snapshot().deck(&DeckQuery { by: "moon".to_owned(), ..DeckQuery::default() }, NOW);
    assert_eq!(refused.unwrap_err().reason.code, "unknown-dimension");
}

#[test]
fn a_click_on_a_legend_finds_what_it_counted() {
    let mut board = fleet();
    for by in ["state", "ops", "image", "node", "players", "age", "label.zone"] {
        for count in deck(&mut board, "", by).legend {
            let q = wire::filter::toggle_in("", by, &count.value).unwrap();
            assert_eq!(deck(&mut board, &q, by).matched, count.count, "{q}");
        }
    }
}

#[test]
fn hundreds_of_custom_words_fit_into_a_byte() {
    let mut board = Board::default();
    for id in 0..400 {
        board.apply_server(&server(
            &format!("a/game-{id}"),
            json!({ "spec": { "opsState": format!("custom-{id}") } }),
        ));
    }
    let deck = deck(&mut board, "", "ops");
    assert_eq!((deck.ops.len(), deck.sets[0].ops.len(), deck.legend.len()), (256, 400, 405));
    assert_eq!(deck.ops.last().map(String::as_str), Some(crate::category::OTHERS));
}

#[test]
fn small_changes_are_small_deltas() {
    let servers: Vec<(String, serde_json::Value)> =
        (0..20).map(|id| (format!("a/game-{id}"), json!({}))).collect();
    let servers: Vec<(&str, serde_json::Value)> =
        servers.iter().map(|(path, over)| (path.as_str(), over.clone())).collect();
    let mut board = board(&servers);
    board.apply_set(&set("a/game", 20, json!({})));
    let old = deck(&mut board, "", "");
    assert_eq!(diff_deck(&old, &deck(&mut board, "", "")), None);
    board.apply_server(&server("a/game-7", json!({ "status": { "currentState": "Crash" } })));
    let new = deck(&mut board, "", "");
    let delta = diff_deck(&old, &new).unwrap();
    assert_eq!((delta.sets.len(), delta.gone.len()), (0, 0));
    assert_eq!((delta.cells[0].1.len(), delta.cells[0].1[0].0, delta.figures.len()), (1, 7, 1));
    let mut shown = old;
    shown.apply(delta);
    assert_eq!(shown, new);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Random changes: the delta brings the old deck exactly to the new one.
    #[test]
    fn a_delta_leads_to_the_new_deck(
        steps in prop::collection::vec((prop::sample::select(vec!["a/game", "a/zeta", "b/game"]), 0_usize..6, prop::sample::select(vec!["None", "Allocated", "mine", "gone"])), 1..40),
        cut in 0_usize..40,
        by in prop::sample::select(vec!["state", "ops", "node", "label.zone"]),
    ) {
        let mut board = Board::default();
        board.apply_set(&set("a/game", 5, json!({})));
        let mut old = deck(&mut board, "-ops:Kill", by);
        for (index, (path, id, ops)) in steps.iter().enumerate() {
            let gs = server(&format!("{path}-{id}"), json!({
                "spec": { "opsState": ops },
                "metadata": { "labels": { "zone": ops } },
            }));
            if *ops == "gone" { board.remove_server(&gs) } else { board.apply_server(&gs) }
            if index == cut {
                old = deck(&mut board, "-ops:Kill", by);
            }
        }
        let new = deck(&mut board, "-ops:Kill", by);
        match diff_deck(&old, &new) {
            Some(delta) => old.apply(delta),
            None => old.version = new.version,
        }
        prop_assert_eq!(old, new);
    }
}
