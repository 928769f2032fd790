//! Plans of sets in every situation that matters: objects in, actions out.

use super::*;
use crate::kruise::{observe::observe_set, state::Phase};
use crds::slim::{SlimGameServer, SlimGameServerSet, SlimPod};
use serde_json::{Value, json};

/// A set with the given spec and status, and its pods as `(id, opsState)`.
fn seen(spec: Value, status: Value, pods: &[(u32, &str)]) -> SetObservation {
    let mut whole = json!({ "gameServerTemplate": { "spec": { "containers": [{ "name": "main", "image": "game:1" }] } } });
    json_patch::merge(&mut whole, &spec);
    let set = json!({ "metadata": { "name": "g", "namespace": "ns", "uid": "u" }, "spec": whole, "status": status });
    let set: SlimGameServerSet = serde_json::from_value(set).unwrap();
    let pods: Vec<SlimPod> = pods
        .iter()
        .map(|(id, ops)| {
            serde_json::from_value(json!({
                "metadata": {
                    "name": format!("g-{id}"), "namespace": "ns", "uid": format!("p{id}"),
                    "creationTimestamp": "2026-01-01T00:00:00Z",
                    "labels": { "game.kruise.io/gs-opsState": ops },
                    "ownerReferences": [{ "apiVersion": "game.kruise.io/v1alpha1", "kind": "GameServerSet", "name": "g", "uid": "u", "controller": true }],
                },
                "status": { "phase": "Running", "conditions": [{ "type": "Ready", "status": "True" }] },
            }))
            .unwrap()
        })
        .collect();
    let mut seen =
        observe_set(&set, &pods, &[] as &[SlimGameServer], "2026-01-01T00:01:00Z".parse().unwrap());
    seen.revision_stored = true;
    seen
}

fn none(ids: &[u32]) -> Vec<(u32, &'static str)> {
    ids.iter().map(|id| (*id, "None")).collect()
}

/// Actions in short words.
fn words(plan: &SetPlan) -> Vec<String> {
    let word = |action: &SetAction| match action {
        SetAction::LowerReplicas { from, to } => format!("replicas {from}->{to}"),
        SetAction::WriteReserve(ids) => format!("reserve {ids}"),
        SetAction::WriteActed(a) => format!("acted {} [{}] [{}]", a.replicas, a.reserve, a.implicit),
        SetAction::MirrorReserve(text) => format!("annotation {text}"),
        SetAction::StoreRevision => "revision".to_owned(),
        SetAction::MarkServer { name, leaving, .. } => format!("mark {name} {leaving}"),
        SetAction::HoldPod { name, .. } => format!("hold {name}"),
        SetAction::DeletePod { name, uid } => format!("delete {name} {uid}"),
        SetAction::AdoptPod { name, .. } => format!("adopt {name}"),
        SetAction::CreatePod(ordinal) => format!("create {ordinal}"),
    };
    plan.actions.iter().map(word).collect()
}

#[test]
fn a_new_set_writes_what_it_acts_on_before_it_creates_anything() {
    let mut seen = seen(json!({ "replicas": 3, "reserveGameServerIds": [0] }), json!({}), &[]);
    seen.revision_stored = false;
    let plan = plan(&seen);
    assert_eq!(
        words(&plan),
        ["acted 3 [0] []", "annotation 0", "revision", "create 1", "create 2", "create 3"]
    );
    assert_eq!(plan.events[0].message, "scale from 0 to 3");
}

#[test]
fn a_settled_set_has_nothing_to_do() {
    let plan = plan(&seen(json!({ "replicas": 2 }), json!({ "actedReplicas": 2 }), &none(&[0, 1])));
    assert_eq!(plan, SetPlan { desired: plan.desired.clone(), ..SetPlan::default() });
}

#[test]
fn a_set_that_upstream_ran_is_taken_over_without_touching_its_servers() {
    let mut seen =
        seen(json!({ "replicas": 4, "reserveGameServerIds": ["1-2"] }), json!({}), &none(&[0, 3, 5, 9]));
    seen.set.reserve_annotation = Some("1,2".into());
    assert_eq!(words(&plan(&seen)), ["acted 4 [1,2] [4,6-8]"]);
}

#[test]
fn a_scale_down_removes_in_the_delete_order_with_the_uid() {
    let pods = [(0, "None"), (1, "WaitToBeDeleted"), (2, "Allocated"), (3, "None")];
    let plan = plan(&seen(json!({ "replicas": 2 }), json!({ "actedReplicas": 4 }), &pods));
    assert_eq!(words(&plan), ["acted 2 [] [1,3]", "delete g-1 p1", "delete g-3 p3"]);
}

#[test]
fn a_crash_after_the_status_was_written_leads_to_the_same_end() {
    let pods = [(0, "None"), (1, "WaitToBeDeleted"), (2, "Allocated"), (3, "None")];
    let status = json!({ "actedReplicas": 2, "implicitReserveIds": [1, 3] });
    assert_eq!(
        words(&plan(&seen(json!({ "replicas": 2 }), status, &pods))),
        ["delete g-1 p1", "delete g-3 p3"]
    );
}

#[test]
fn a_missing_server_is_created_again_with_its_id() {
    let plan = plan(&seen(json!({ "replicas": 3 }), json!({ "actedReplicas": 3 }), &none(&[0, 2])));
    assert_eq!(words(&plan), ["create 1"]);
}

#[test]
fn a_terminating_server_is_waited_for() {
    let mut seen = seen(json!({ "replicas": 2 }), json!({ "actedReplicas": 2 }), &none(&[0, 1]));
    seen.pods[1].deleting = true;
    let plan = plan(&seen);
    assert!(plan.actions.is_empty());
    assert_eq!(plan.waits, [Wait::Removal(vec!["g-1".into()])]);
}

#[test]
fn reserve_ids_writes_the_users_list_first_and_then_acts() {
    let spec = json!({ "replicas": 1, "scaleStrategy": { "scaleDownStrategyType": "ReserveIds" } });
    let first = plan(&seen(spec.clone(), json!({ "actedReplicas": 3 }), &none(&[0, 1, 2])));
    assert_eq!(words(&first), ["reserve 1,2"]);
    assert!(first.replan);
    let mut spec = spec;
    spec["reserveGameServerIds"] = json!([1, 2]);
    let mut written = seen(spec, json!({ "actedReplicas": 3 }), &none(&[0, 1, 2]));
    written.set.reserve_annotation = Some("1,2".into());
    assert_eq!(words(&plan(&written)), ["acted 1 [1,2] []", "delete g-2 p2", "delete g-1 p1"]);
}

/// Upstream's case SCALE-APPLY-D4, whose value is a fault of upstream.
#[test]
fn an_id_that_the_user_released_is_not_written_back() {
    let spec = json!({ "replicas": 3, "reserveGameServerIds": [0, 4], "scaleStrategy": { "scaleDownStrategyType": "ReserveIds" } });
    let status = json!({ "actedReplicas": 5, "actedReserveIds": [0, 2] });
    let first = plan(&seen(spec.clone(), status.clone(), &none(&[1, 3, 4, 5, 6])));
    assert_eq!(words(&first), ["reserve 0,4,6"]);
    let mut spec = spec;
    spec["reserveGameServerIds"] = json!([0, 4, 6]);
    let mut written = seen(spec, status, &none(&[1, 3, 4, 5, 6]));
    written.set.reserve_annotation = Some("0,4,6".into());
    let second = plan(&written);
    assert_eq!(words(&second), ["acted 3 [0,4,6] [2]", "delete g-6 p6", "delete g-4 p4"]);
    assert_eq!(second.desired.to_string(), "1,3,5");
}

/// Upstream's cases SCALE-NEED-D5 and D6, whose values are faults of upstream.
#[test]
fn a_bad_reserve_entry_changes_nothing_and_is_named() {
    for (bad, entry) in [(json!(["5-3"]), 0), (json!([1, "x"]), 1)] {
        let spec = json!({ "replicas": 9, "reserveGameServerIds": bad });
        let mut seen = seen(spec, json!({ "actedReplicas": 2, "actedReserveIds": [1] }), &none(&[0, 2]));
        seen.set.reserve_annotation = Some("1".into());
        assert!(plan(&seen).actions.is_empty());
        assert_eq!(seen.spec.problems[0].field, format!("spec.reserveGameServerIds[{entry}]"));
        // The last good state keeps running: a server that is lost comes back.
        seen.pods.remove(1);
        assert_eq!(words(&plan(&seen)), ["create 2"]);
    }
}

#[test]
fn a_bad_spec_that_was_never_acted_on_leaves_everything_alone() {
    let plan =
        plan(&seen(json!({ "replicas": 1, "reserveGameServerIds": ["5-3"] }), json!({}), &none(&[0, 4])));
    assert!(plan.actions.is_empty());
    assert_eq!(plan.desired.to_string(), "0,4");
}

#[test]
fn kill_lowers_the_replicas_once_and_then_removes_exactly_those() {
    let pods = [(0, "Allocated"), (1, "Kill"), (2, "None")];
    let first = plan(&seen(json!({ "replicas": 3 }), json!({ "actedReplicas": 3 }), &pods));
    assert_eq!(words(&first), ["replicas 3->2"]);
    assert_eq!(first.events[0].message, "replicas lowered from 3 to 2 for g-1");
    let second = plan(&seen(json!({ "replicas": 2 }), json!({ "actedReplicas": 3 }), &pods));
    assert_eq!(words(&second), ["acted 2 [] [1]", "delete g-1 p1"]);
    let third = plan(&seen(
        json!({ "replicas": 2 }),
        json!({ "actedReplicas": 2, "implicitReserveIds": [1] }),
        &pods,
    ));
    assert_eq!(words(&third), ["delete g-1 p1"], "not counted a second time");
}

#[test]
fn game_servers_are_marked_before_their_pods_go_and_unmarked_when_the_id_comes_back() {
    let spec =
        |replicas| json!({ "replicas": replicas, "gameServerTemplate": { "reclaimPolicy": "Delete" } });
    let server =
        |marked| ServerFacts { uid: "s".into(), marked, owned_by_set: true, ..ServerFacts::default() };
    let mut down = seen(spec(1), json!({ "actedReplicas": 2 }), &none(&[0, 1]));
    down.servers = [0, 1].into_iter().filter_map(|id| Some((Ordinal::new(id)?, server(false)))).collect();
    assert_eq!(words(&plan(&down)), ["acted 1 [] [1]", "mark g-1 true", "delete g-1 p1"]);
    let mut up = seen(spec(2), json!({ "actedReplicas": 1, "implicitReserveIds": [1] }), &none(&[0]));
    up.servers = [(0, false), (1, true)]
        .into_iter()
        .filter_map(|(id, m)| Some((Ordinal::new(id)?, server(m))))
        .collect();
    assert_eq!(words(&plan(&up)), ["acted 2 [] []", "mark g-1 false", "create 1"]);
}

#[test]
fn a_pod_that_ended_rests_before_it_is_created_again() {
    let mut seen = seen(json!({ "replicas": 1 }), json!({ "actedReplicas": 1 }), &none(&[0]));
    seen.pods[0].phase = Phase::Failed;
    seen.now = "2026-01-01T00:00:04Z".parse().unwrap();
    let resting = plan(&seen);
    assert!(resting.actions.is_empty());
    assert_eq!(resting.look_again, Some(Duration::from_secs(6)));
    seen.now = "2026-01-01T00:00:10Z".parse().unwrap();
    assert_eq!(words(&plan(&seen)), ["delete g-0 p0"]);
}

#[test]
fn a_pre_delete_hook_holds_the_removal() {
    let mut seen = seen(json!({ "replicas": 0 }), json!({ "actedReplicas": 0 }), &none(&[0]));
    seen.pods[0].held = true;
    assert_eq!(words(&plan(&seen)), ["hold g-0"]);
    seen.pods[0].lifecycle = Lifecycle::PreparingDelete;
    assert_eq!(plan(&seen).waits, [Wait::Hook(vec!["g-0".into()])]);
    assert!(plan(&seen).actions.is_empty());
    seen.pods[0].held = false;
    assert_eq!(words(&plan(&seen)), ["delete g-0 p0"]);
}

#[test]
fn max_unavailable_bounds_how_many_are_created_at_once() {
    let spec = json!({ "replicas": 5, "scaleStrategy": { "maxUnavailable": 2 } });
    let mut seen = seen(spec, json!({ "actedReplicas": 5 }), &none(&[0, 1]));
    seen.pods[1].ready = Some(false);
    let plan = plan(&seen);
    assert_eq!(words(&plan), ["create 2"]);
    assert!(plan.waits.contains(&Wait::NotReady(2)));
}

#[test]
fn pods_of_others_are_left_alone_and_orphans_are_adopted() {
    let mut seen = seen(json!({ "replicas": 2 }), json!({ "actedReplicas": 2 }), &none(&[0, 1, 7]));
    seen.pods[0].controller = Controller::Other("StatefulSet/g".into());
    seen.pods[1].controller = Controller::Nobody;
    seen.pods[2].controller = Controller::Other("StatefulSet/g".into());
    let plan = plan(&seen);
    assert_eq!(words(&plan), ["adopt g-1"]);
    assert_eq!(plan.waits, [Wait::NameTaken(vec!["g-0 (StatefulSet/g)".into()])]);
}

#[test]
fn a_refused_template_is_not_tried_again_before_its_time_and_a_new_one_at_once() {
    let mut seen = seen(json!({ "replicas": 1 }), json!({ "actedReplicas": 1 }), &[]);
    let retry_at = "2026-01-01T00:01:30Z".parse().unwrap();
    seen.refusal = Some(Refusal { revision: seen.revision.clone(), message: "no".into(), retry_at });
    let refused = plan(&seen);
    assert!(refused.actions.is_empty());
    assert_eq!(
        (refused.waits.as_slice(), refused.look_again),
        (&[Wait::Refused("no".into())][..], Some(Duration::from_secs(30)))
    );
    seen.now = retry_at;
    assert_eq!(words(&plan(&seen)), ["create 0"]);
    seen.now = "2026-01-01T00:01:00Z".parse().unwrap();
    seen.refusal = seen.refusal.map(|refusal| Refusal { revision: "other".into(), ..refusal });
    assert_eq!(words(&plan(&seen)), ["create 0"]);
}

#[test]
fn a_bad_template_creates_nothing_and_removes_nothing() {
    let spec = json!({ "replicas": 2, "gameServerTemplate": { "spec": { "containers": [] } } });
    let plan = plan(&seen(spec, json!({ "actedReplicas": 2 }), &none(&[0])));
    assert!(plan.actions.is_empty());
    assert_eq!(plan.waits, [Wait::NoTemplate]);
}

#[test]
fn a_set_that_is_being_deleted_is_left_to_garbage_collection() {
    let mut seen = seen(json!({ "replicas": 5 }), json!({ "actedReplicas": 2 }), &none(&[0, 1]));
    seen.set.deleting = true;
    assert!(plan(&seen).actions.is_empty());
}

#[test]
fn a_size_beyond_all_sense_costs_nothing_and_can_be_taken_back() {
    let huge = plan(&seen(json!({ "replicas": 2_000_000_000 }), json!({ "actedReplicas": 1 }), &none(&[0])));
    assert_eq!(huge.actions.len(), 1 + CREATIONS_AT_ONCE);
    assert_eq!(huge.desired.len(), 2_000_000_000);
    let back =
        plan(&seen(json!({ "replicas": 2 }), json!({ "actedReplicas": 2_000_000_000 }), &none(&[0, 1, 2])));
    assert_eq!(words(&back), ["acted 2 [] [2]", "delete g-2 p2"]);
}

/// Found by the simulation: the process that had chosen server 2 died before it deleted the pod, and then it was Allocated.
#[test]
fn the_choice_is_made_again_when_one_who_was_to_go_is_ranked_after_one_who_stays() {
    let spec = json!({ "replicas": 2 });
    let acted = json!({ "actedReplicas": 2, "implicitReserveIds": [2] });
    let choose = |ops: [&'static str; 3]| {
        let pods: Vec<_> = (0..).zip(ops).collect();
        words(&plan(&seen(spec.clone(), acted.clone(), &pods)))
    };
    assert_eq!(choose(["None", "None", "None"]), ["delete g-2 p2"]);
    assert_eq!(choose(["None", "None", "Allocated"]), ["acted 2 [] [1]", "delete g-1 p1"]);
    assert_eq!(choose(["WaitToBeDeleted", "None", "None"]), ["acted 2 [] [0]", "delete g-0 p0"]);
    // Between those who are equal the first choice stands, and nothing is written over and over.
    assert_eq!(choose(["Allocated", "Allocated", "Allocated"]), ["delete g-2 p2"]);
}
