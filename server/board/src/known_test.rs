//! Known values for completion.

use serde_json::json;

use crate::testing::board;

#[test]
fn values_and_keys_with_counts() {
    let zone =
        |zone: &str| json!({ "metadata": { "labels": { "zone": zone } }, "spec": { "deletionPriority": 5 } });
    let snapshot = board(&[
        ("a/game-0", zone("west")),
        ("a/game-1", zone("east")),
        ("b/lobby-0", zone("west")),
        ("b/lobby-1", json!({ "status": { "currentState": "NotReady" } })),
    ])
    .snapshot();
    for (field, ns, typed, wanted) in [
        ("state", "", "", &["Ready=3", "NotReady=1"][..]),
        ("state", "", "not", &["NotReady=1"]),
        ("state", "a", "", &["Ready=2"]),
        ("label.zone", "", "", &["west=2", "east=1"]),
        ("label.zone", "", "ea", &["east=1"]),
        ("label.", "", "z", &["zone=3"]),
        ("cond.", "", "", &["Ready=4"]),
        ("ann.", "", "", &[]),
        ("set", "", "", &["game=2", "lobby=2"]),
        ("name", "", "lob", &["lobby-0=1", "lobby-1=1"]),
        ("image", "", "", &["game:1=4"]),
        ("dp", "", "", &["5=3"]),
        ("age", "", "", &[]),
        ("nonsense", "", "", &[]),
    ] {
        let found: Vec<String> = snapshot
            .values(field, ns, typed, 10)
            .iter()
            .map(|count| format!("{}={}", count.value, count.count))
            .collect();
        assert_eq!(found, wanted, "{field} {ns} {typed}");
    }
    assert_eq!(snapshot.values("name", "", "", 1).len(), 1);
}

#[test]
fn a_server_with_a_value_twice_counts_once() {
    let mut board = board(&[]);
    let two =
        json!({ "spec": { "containers": [{ "name": "a", "image": "x" }, { "name": "b", "image": "x" }] } });
    board.apply_pod(&crate::testing::pod("a/game-0", two));
    assert_eq!(board.snapshot().values("image", "", "", 9)[0].count, 1);
}
