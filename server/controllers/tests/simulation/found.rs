//! What the simulation has found, each as the short schedule that showed it.

use crate::{actions::Action, facts::SERVERS, scenario::Sets};
use sandbox::sim::{
    self, Step,
    fault::{Fault, How, Moment},
};
use serde_json::{Value, json};
use std::time::Duration;

fn seconds(seconds: f64) -> Duration {
    Duration::from_secs_f64(seconds)
}

/// Nothing is broken when these steps are taken at these times (in seconds) on a set with this spec.
fn holds(spec: Value, steps: Vec<(f64, Step<Action>)>) {
    let scenario = Sets { spec: Some(spec) };
    let schedule = steps.into_iter().map(|(at, step)| (seconds(at), step)).collect();
    let outcome = sim::run(&scenario, 1, &schedule);
    let told = outcome.trace.lines().join("\n");
    assert!(outcome.broken.is_none(), "{told}");
}

fn user(action: Action) -> Step<Action> {
    Step::User(action)
}

/// The next writes take so long to arrive.
fn slow(by: f64, times: u32) -> Step<Action> {
    Step::Fault(Fault::Slow { process: 0, by: seconds(by), times })
}

/// The status was up to date after the id was reserved, and before its server went.
#[test]
fn observed_generation_waits_until_no_server_lives_under_a_reserved_id() {
    let reserving = json!({ "replicas": 4, "scaleStrategy": { "scaleDownStrategyType": "ReserveIds" } });
    holds(reserving, vec![(10.0, user(Action::Ops(3, "Kill")))]);
}

/// The label of the pod still said WaitToBeDeleted when the set was scaled down.
#[test]
fn an_ops_state_counts_before_the_label_has_followed() {
    let cut = Step::Fault(Fault::CutWatches { process: 0, broken: true });
    let steps = vec![
        (24.094, user(Action::Ops(0, "WaitToBeDeleted"))),
        (24.108, cut),
        (24.114, user(Action::Ops(0, "Maintaining"))),
        (24.447, user(Action::Scale(1))),
    ];
    holds(json!({ "replicas": 4, "gameServerTemplate": { "reclaimPolicy": "Delete" } }), steps);
}

/// A process dies after it has decided who goes; before the next one deletes the pod, its server is Allocated.
#[test]
fn a_server_that_is_allocated_between_the_decision_and_its_end_stays() {
    let back_after = seconds(5.0);
    let dies = Step::Fault(Fault::Crash { process: 0, at_write: Some(Moment::After), back_after });
    let steps =
        vec![(10.0, dies), (10.001, user(Action::Scale(2))), (12.0, user(Action::Ops(2, "Allocated")))];
    holds(json!({ "replicas": 3 }), steps);
}

/// The decision takes long to be written, and meanwhile the process is told that the server is Allocated.
#[test]
fn what_was_learnt_while_a_decision_was_written_counts() {
    let steps = vec![
        (10.0, slow(3.0, 1)),
        (10.001, user(Action::Scale(2))),
        (11.0, user(Action::Ops(2, "Allocated"))),
    ];
    holds(json!({ "replicas": 3 }), steps);
}

/// The lower size after a Kill is on its way while people set another size and then the old one again.
#[test]
fn a_kill_does_not_lower_a_size_that_people_have_set_since() {
    let steps = vec![
        (10.0, slow(3.0, 2)),
        (10.001, user(Action::Ops(1, "Kill"))),
        (14.0, user(Action::Scale(5))),
        (15.0, user(Action::Scale(3))),
    ];
    holds(json!({ "replicas": 3 }), steps);
}

/// The id of a server comes back while its pod ends, and the cache of GameServers still shows the mark that it goes.
#[test]
fn settings_stay_when_the_id_came_back_and_the_mark_was_taken_off() {
    let stale = Fault::Hold { process: 0, resource: Some(SERVERS), lasts: seconds(10.0) };
    for scale_up in [10.1, 10.3, 10.6, 11.0, 11.5] {
        let steps = vec![
            (8.0, user(Action::Ops(2, "WaitToBeDeleted"))),
            (10.0, user(Action::Scale(2))),
            (10.05, Step::Fault(stale.clone())),
            (scale_up, user(Action::Scale(3))),
        ];
        holds(json!({ "replicas": 3, "gameServerTemplate": { "reclaimPolicy": "Delete" } }), steps);
    }
}

/// A conflict that was none: the mark had not changed, and nothing came to have the deletion tried again.
#[test]
fn a_marked_game_server_goes_although_its_deletion_met_a_conflict() {
    let conflicts =
        Fault::Fail { process: 0, writes: true, moment: Moment::Before, how: How::Status(409), times: 2 };
    for at in [11.0, 11.2, 11.5, 12.0] {
        let steps = vec![(10.0, user(Action::Scale(1))), (at, Step::Fault(conflicts.clone()))];
        holds(json!({ "replicas": 3, "gameServerTemplate": { "reclaimPolicy": "Delete" } }), steps);
    }
}
