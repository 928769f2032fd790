//! Tests of trouble by annotation, of what is said about it, and of resizes.

use std::time::Duration;

use serde_json::json;

use super::super::demand::Demand;
use super::Room;
use super::tests::Life;

/// Reasons and messages of what was said since the last time.
fn said(life: &mut Life) -> Vec<String> {
    let notes = std::mem::take(&mut life.notes);
    notes.into_iter().map(|note| format!("{}: {}", note.reason, note.message)).collect()
}

#[test]
fn a_start_is_told_step_by_step_and_rest_is_silent() {
    let mut life = Life::game("game:1");
    life.seconds(10);
    let notes = life.notes.clone();
    assert!(notes.iter().all(|note| note.field == "spec.containers{game}" && !note.warning));
    let said_first = said(&mut life);
    assert_eq!(said_first[0], "Pulling: Pulling image \"game:1\"");
    assert!(
        said_first[1]
            .starts_with("Pulled: Successfully pulled image \"game:1\" in 1.2s (1.2s including waiting).")
    );
    assert_eq!(said_first[2..], ["Created: Container created", "Started: Container started"]);
    life.seconds(3600);
    assert!(said(&mut life).is_empty());
    life.pod.metadata.deletion_timestamp = serde_json::from_value(json!("2026-11-29T11:00:00Z")).unwrap();
    life.seconds(10);
    assert_eq!(said(&mut life), ["Killing: Stopping container game"]);
}

#[test]
fn an_image_that_is_there_is_told_so() {
    let mut life = Life::game("game:1");
    life.images.insert("game:1".into());
    life.seconds(10);
    assert_eq!(
        said(&mut life)[0],
        "Pulled: Container image \"game:1\" already present on machine and can be accessed by the pod"
    );
}

#[test]
fn a_bad_image_and_a_crash_loop_are_told() {
    let mut life = Life::game("does-not-exist:1");
    life.seconds(3);
    let told = said(&mut life);
    assert!(told[1].starts_with("Failed: Failed to pull image \"does-not-exist:1\": "), "{told:?}");
    assert_eq!(
        told[2..],
        [
            "Failed: Error: ErrImagePull",
            "BackOff: Back-off pulling image \"does-not-exist:1\"",
            "Failed: Error: ImagePullBackOff"
        ]
    );
    let mut life = Life::game("game:1");
    life.wish("crash", "3");
    life.seconds(10);
    let told = said(&mut life);
    assert_eq!(
        told.last().unwrap(),
        "BackOff: Back-off restarting failed container game in pod game-0_prod(u-1)"
    );
}

#[test]
fn one_image_can_be_bad_while_others_are_good() {
    let mut life = Life::game("game:1");
    life.wish("pull", "fail=game:2");
    life.seconds(10);
    assert!(life.container().ready);
    life.pod.spec.containers[0].image = "game:2".into();
    life.seconds(10);
    assert_eq!(life.waiting(), "ImagePullBackOff");
}

#[test]
fn a_container_crashes_once_for_each_wish() {
    let mut life = Life::game("game:1");
    life.seconds(60);
    life.wish("crash-once", "3");
    life.seconds(60);
    assert_eq!((life.container().restart_count, life.container().ready), (1, true));
    assert_eq!(life.container().last_state.terminated.as_ref().unwrap().exit_code, 3);
    life.local = super::Local::default();
    life.seconds(60);
    assert_eq!(life.container().restart_count, 1, "a simulation that starts again remembers");
    life.wish("crash-once", "game=3@again");
    life.seconds(60);
    assert_eq!(life.container().restart_count, 2);
    life.wish("crash-once", "side=3");
    life.seconds(60);
    assert_eq!(life.container().restart_count, 2, "there is no container of this name");
}

#[test]
fn a_container_that_does_not_answer_is_killed_and_starts_again() {
    let mut life = Life::game("game:1");
    life.wish("liveness", "fail");
    life.seconds(10);
    assert_eq!(life.container().restart_count, 1);
    let last = life.container().last_state.terminated.clone().unwrap();
    assert_eq!((last.exit_code, last.reason.as_deref()), (137, Some("Error")));
    let told = said(&mut life);
    assert!(
        told.contains(&"Unhealthy: Liveness probe failed: HTTP probe failed with statuscode: 503".into())
    );
    assert!(told.contains(&"Killing: Container game failed liveness probe, will be restarted".into()));
    life.seconds(8);
    assert_eq!(life.waiting(), "CrashLoopBackOff", "again and again it backs off");
    life.pod.metadata.annotations = None;
    life.seconds(600);
    assert!(life.container().ready);
}

#[test]
fn readiness_that_fails_is_told_once() {
    let mut life = Life::game("game:1");
    life.seconds(10);
    said(&mut life);
    life.wish("ready", "fail");
    life.seconds(60);
    assert_eq!(life.condition("Ready").0, "False");
    assert_eq!(
        said(&mut life),
        ["Unhealthy: Readiness probe failed: HTTP probe failed with statuscode: 503"]
    );
    life.pod.metadata.annotations = None;
    life.seconds(1);
    assert_eq!(life.condition("Ready").0, "True");
}

#[test]
fn a_slow_start_runs_before_it_is_started() {
    let mut life = Life::game("game:1");
    life.wish("start", "45s");
    life.seconds(40);
    let container = life.container();
    assert!(container.state.running.is_some());
    assert_eq!((container.started, container.ready), (Some(false), false));
    life.seconds(10);
    assert_eq!((life.container().started, life.container().ready), (Some(true), true));
}

#[test]
fn a_stuck_process_is_cut_off_by_the_grace_period() {
    let mut life = Life::of(
        json!({"containers": [{"name": "game", "image": "g"}], "terminationGracePeriodSeconds": 20}),
    );
    life.wish("stop", "stuck");
    life.seconds(10);
    life.pod.metadata.deletion_timestamp = serde_json::from_value(json!("2026-11-29T10:00:30Z")).unwrap();
    life.pod.metadata.deletion_grace_period_seconds = Some(20);
    life.seconds(19);
    assert!(!life.removed);
    life.seconds(2);
    assert!(life.removed);
    assert_eq!(life.container().state.terminated.as_ref().unwrap().exit_code, 137);
}

#[test]
fn the_code_of_a_graceful_end_can_be_chosen() {
    let mut life = Life::game("game:1");
    life.wish("exit", "7");
    life.seconds(10);
    life.pod.metadata.deletion_timestamp = serde_json::from_value(json!("2026-11-29T10:00:30Z")).unwrap();
    life.seconds(10);
    assert_eq!(life.container().state.terminated.as_ref().unwrap().exit_code, 7);
    assert_eq!(life.phase(), "Failed");
}

fn cpu(life: &mut Life, text: &str) {
    life.pod.spec.containers[0].resources.requests.insert("cpu".into(), text.into());
    life.pod.metadata.generation = life.pod.metadata.generation.map(|generation| generation + 1);
}

fn room(size: u64, others: u64) -> Option<Room> {
    let cpu = |cpu_milli: u64| Demand { cpu_milli, memory: 8 << 30, ..Demand::default() };
    Some(Room { size: cpu(size), others: Demand { memory: 0, ..cpu(others) } })
}

#[test]
fn a_resize_is_set_aside_then_in_force_without_a_restart() {
    let mut life = Life::game("game:1");
    life.room = room(4000, 1000);
    life.seconds(10);
    let id = life.container().container_id.clone();
    cpu(&mut life, "2");
    life.look();
    assert_eq!(life.container().allocated_resources["cpu"].0, "2");
    assert_eq!(life.container().resources.as_ref().unwrap().requests["cpu"].0, "500m");
    assert_eq!(life.condition("PodResizeInProgress"), ("True", ""));
    life.seconds(2);
    assert_eq!(life.container().resources.as_ref().unwrap().requests["cpu"].0, "2");
    assert!(life.pod.status.condition("PodResizeInProgress").is_none());
    assert_eq!(life.container().container_id, id);
    assert_eq!(life.look().status, None);
}

#[test]
fn a_resize_without_room_waits_with_a_condition() {
    let mut life = Life::game("game:1");
    life.room = room(4000, 3000);
    life.seconds(10);
    cpu(&mut life, "2");
    assert!(life.look().cramped);
    assert_eq!(life.condition("PodResizePending"), ("True", "Deferred"));
    let condition = life.pod.status.condition("PodResizePending").unwrap();
    assert_eq!(
        condition.message.as_deref(),
        Some("Node didn't have enough resource: cpu, requested: 2000, used: 3000, capacity: 4000")
    );
    assert_eq!(condition.observed_generation, Some(2));
    assert_eq!(life.container().allocated_resources["cpu"].0, "500m");
    life.local = super::Local::default();
    life.seconds(60);
    assert_eq!(
        life.condition("PodResizePending"),
        ("True", "Deferred"),
        "also after a restart of the simulation"
    );
    life.room = room(4000, 1000);
    life.seconds(5);
    assert_eq!(life.container().resources.as_ref().unwrap().requests["cpu"].0, "2");
    assert!(life.pod.status.condition("PodResizePending").is_none());
}

#[test]
fn a_resize_restarts_where_the_policy_says_so() {
    let policy = json!([{"resourceName": "memory", "restartPolicy": "RestartContainer"}]);
    let mut life = Life::of(json!({"containers": [{"name": "game", "image": "g", "resizePolicy": policy,
        "resources": {"requests": {"cpu": "1", "memory": "1Gi"}}}]}));
    life.seconds(10);
    cpu(&mut life, "2");
    life.seconds(10);
    assert_eq!(life.container().restart_count, 0, "cpu needs no restart");
    life.pod.spec.containers[0].resources.requests.insert("memory".into(), "2Gi".into());
    life.seconds(10);
    assert_eq!(life.container().restart_count, 1);
    assert_eq!(life.container().resources.as_ref().unwrap().requests["memory"].0, "2Gi");
    assert!(said(&mut life).contains(&"Killing: Container game resize requires restart".into()));
}

#[test]
fn everything_at_once_needs_no_second_write_for_a_resize() {
    let mut life = Life::game("game:1");
    life.timing = super::Timing::instant();
    life.pass(Duration::from_millis(10));
    let writes = life.writes;
    cpu(&mut life, "2");
    life.pass(Duration::from_millis(10));
    assert_eq!(life.writes, writes + 1);
}
