//! Tests of the simulated logs: any part of a log is the same part of the whole, and it agrees with the players.

use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

use super::{ContainerLog, LogError};
use crate::nodes::game::Game;

fn time(text: &str) -> Timestamp {
    text.parse().unwrap()
}

/// A pod whose container `game` has this state, and whose container `side` runs.
fn pod(state: &Value, last_state: &Value, restarts: u32) -> Value {
    let status = |name: &str, state: &Value, last: &Value, restarts: u32| {
        json!({"name": name, "image": format!("{name}:1"), "imageID": "", "ready": true, "state": state,
            "lastState": last, "restartCount": restarts})
    };
    let running = json!({"running": {"startedAt": "2026-11-29T10:00:00Z"}});
    json!({
        "metadata": {"name": "a-0", "namespace": "x", "uid": "u",
            "annotations": {"sim.pilothouse.dev/players": "max=16"}},
        "spec": {"nodeName": "n", "containers": [{"name": "game", "image": "game:1"}, {"name": "side", "image": "side:1"}]},
        "status": {"containerStatuses": [status("game", state, last_state, restarts), status("side", &running, &json!({}), 0)]},
    })
}

fn running() -> Value {
    pod(&json!({"running": {"startedAt": "2026-11-29T10:00:00Z"}}), &json!({}), 0)
}

fn crashed() -> Value {
    json!({"terminated": {"exitCode": 3, "startedAt": "2026-11-29T10:00:00Z", "finishedAt": "2026-11-29T10:30:00Z"}})
}

fn of(pod: &Value, container: &str, previous: bool) -> Result<ContainerLog, LogError> {
    ContainerLog::of(pod, Some(container), previous, 1)
}

#[test]
fn every_part_of_a_log_is_the_same_part_of_the_whole() {
    let log = of(&running(), "game", false).unwrap();
    let (start, now) = (time("2026-11-29T10:00:00Z"), time("2026-11-29T12:00:00Z"));
    let whole: Vec<_> = log.between(Timestamp::MIN, now).collect();
    assert!(whole.len() > 150 && whole.len() < 1000, "{} lines in two hours", whole.len());
    assert_eq!((whole[0].time, whole[0].text.as_str()), (start, "[INFO] starting game from game:1"));
    assert!(whole.is_sorted_by_key(|line| line.time));
    for minutes in [1, 17, 60, 119] {
        let cut = start + SignedDuration::from_mins(minutes);
        let before = log.between(start, cut - SignedDuration::from_nanos(1));
        assert_eq!(before.chain(log.between(cut, now)).collect::<Vec<_>>(), whole, "cut at {minutes} min");
    }
    for count in [0, 1, 10, 100, 10_000] {
        assert_eq!(log.last(count, now), whole[whole.len().saturating_sub(count)..], "the last {count}");
    }
}

#[test]
fn a_reader_that_follows_is_told_when_to_look() {
    let log = of(&running(), "game", false).unwrap();
    let now = time("2026-11-29T11:00:00Z");
    let whole: Vec<_> = log.between(Timestamp::MIN, now).map(|line| line.time).collect();
    let (mut at, mut seen) = (Timestamp::UNIX_EPOCH, Vec::new());
    while let Some(next) = log.next_after(at).filter(|next| *next <= now) {
        seen.push(next);
        at = next;
    }
    let mut distinct = whole;
    distinct.dedup();
    assert_eq!(seen, distinct);
}

#[test]
fn the_log_tells_of_the_players_that_are_counted() {
    let log = of(&running(), "game", false).unwrap();
    let game = Game::wished("max=16", 1, "u").unwrap();
    let start = time("2026-11-29T10:00:00Z");
    for minutes in [3, 20, 45, 90] {
        let now = start + SignedDuration::from_mins(minutes) + SignedDuration::from_secs(5);
        let mut there: Vec<String> = Vec::new();
        // Comers and goers of a slot are all told of within it: look at its end.
        let end = game.begin(game.slot(now) + 1) - SignedDuration::from_nanos(1);
        for line in log.between(start, end) {
            let Some((name, what)) = line.text.trim_start_matches("[INFO] ").split_once(' ') else {
                continue;
            };
            if what.starts_with("joined") {
                there.push(name.to_owned());
            } else if what.starts_with("left") {
                assert_eq!(there.pop().as_deref(), Some(name));
            }
        }
        assert_eq!(u32::try_from(there.len()).unwrap(), game.at(start, now).0, "after {minutes} min");
    }
}

#[test]
fn containers_beside_the_game_have_no_players() {
    let log = of(&running(), "side", false).unwrap();
    let text: Vec<_> =
        log.between(Timestamp::MIN, time("2026-11-29T11:00:00Z")).map(|line| line.text).collect();
    assert!(
        text.iter().all(|line| !line.contains("joined")) && text.iter().any(|line| line.contains("alive"))
    );
}

#[test]
fn an_end_has_last_words_unless_it_was_a_kill() {
    let now = time("2026-11-29T11:00:00Z");
    let text_of = |code: i32| {
        let mut state = crashed();
        state["terminated"]["exitCode"] = json!(code);
        let log = of(&pod(&state, &json!({}), 0), "game", false).unwrap();
        assert_eq!(log.ended(), Some(time("2026-11-29T10:30:00Z")));
        assert_eq!(log.next_after(now), None);
        log.last(1, now).remove(0).text
    };
    assert_eq!(text_of(3), "[FATAL] the game cannot go on, ending with code 3");
    assert_eq!(text_of(0), "[INFO] saved, good night");
    assert!(!text_of(137).contains("code"));
}

#[test]
fn between_two_runs_the_last_one_is_read_and_previous_is_the_same() {
    let waits = json!({"waiting": {"reason": "CrashLoopBackOff"}});
    let pod = pod(&waits, &crashed(), 4);
    let now = time("2026-11-29T11:00:00Z");
    let current = of(&pod, "game", false).unwrap();
    assert_eq!(current.ended(), Some(time("2026-11-29T10:30:00Z")));
    assert_eq!(of(&pod, "game", true).unwrap().last(1, now)[0].text, current.last(1, now)[0].text);
}

#[test]
fn refusals_have_the_words_of_the_real_server() {
    let text = |result: Result<ContainerLog, LogError>| result.unwrap_err().to_string();
    assert_eq!(
        text(ContainerLog::of(&running(), None, false, 1)),
        "a container name must be specified for pod a-0, choose one of: [game side]"
    );
    assert_eq!(text(of(&running(), "x", false)), "container x is not valid for pod a-0");
    assert_eq!(
        text(of(&running(), "game", true)),
        "previous terminated container \"game\" in pod \"a-0\" not found"
    );
    for (reason, said) in [
        ("ContainerCreating", "ContainerCreating"),
        ("ErrImagePull", "image can't be pulled"),
        ("ImagePullBackOff", "trying and failing to pull image"),
    ] {
        let waits = pod(&json!({"waiting": {"reason": reason}}), &json!({}), 0);
        assert_eq!(
            text(of(&waits, "game", false)),
            format!("container \"game\" in pod \"a-0\" is waiting to start: {said}")
        );
    }
    let mut unbound = running();
    unbound["spec"]["nodeName"] = Value::Null;
    assert_eq!(of(&unbound, "game", false).unwrap_err(), LogError::NotBound);
}
