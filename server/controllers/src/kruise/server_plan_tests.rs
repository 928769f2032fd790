//! Plans of servers: objects in, patches and events out.

use super::*;
use crds::slim::SlimNode;

fn pod(over: Value) -> SlimPod {
    let mut pod = json!({
        "metadata": {
            "name": "g-0", "namespace": "ns", "uid": "p0",
            "labels": {
                "game.kruise.io/owner-gss": "g", "game.kruise.io/gs-opsState": "None", "game.kruise.io/gs-delete-priority": "0",
                "game.kruise.io/gs-update-priority": "0", "game.kruise.io/network-disabled": "false", "game.kruise.io/gs-state": "Ready",
            },
        },
        "spec": { "nodeName": "n", "containers": [{ "name": "main", "image": "game:1" }, { "name": "side", "image": "side:1" }] },
        "status": { "phase": "Running", "podIP": "10.0.0.1", "conditions": [{ "type": "Ready", "status": "True" }] },
    });
    json_patch::merge(&mut pod, &over);
    serde_json::from_value(pod).unwrap()
}

fn set(over: Value) -> SlimGameServerSet {
    let mut set = json!({
        "metadata": { "name": "g", "namespace": "ns", "uid": "u" },
        "spec": { "replicas": 1, "gameServerTemplate": { "metadata": { "labels": { "app": "x" } }, "spec": { "containers": [{ "name": "main", "image": "game:1" }] } } },
    });
    json_patch::merge(&mut set, &over);
    serde_json::from_value(set).unwrap()
}

/// The GameServer of [`pod`], as it is when everything has been copied.
fn settled(over: Value) -> SlimGameServer {
    let mut server = json!({
        "metadata": { "name": "g-0", "namespace": "ns", "uid": "s0",
            "ownerReferences": [{ "apiVersion": "v1", "kind": "Pod", "name": "g-0", "uid": "p0", "controller": true }] },
        "spec": { "opsState": "None", "updatePriority": 0, "deletionPriority": 0, "networkDisabled": false },
    });
    let (pod, set) = (pod(json!({})), set(json!({})));
    let bare: SlimGameServer = serde_json::from_value(server.clone()).unwrap();
    for action in plan(observation(Some(&pod), Some(&bare), Some(&set))).actions {
        match action {
            ServerAction::PatchServer(patch) => json_patch::merge(&mut server, &patch),
            ServerAction::PatchStatus(patch) => apply(&mut server, &patch),
            other => panic!("a settled pod needs no {other:?}"),
        }
    }
    json_patch::merge(&mut server, &over);
    serde_json::from_value(server).unwrap()
}

/// Carries a JSON patch out, tests included.
fn apply(object: &mut Value, patch: &Value) {
    json_patch::patch(object, &serde_json::from_value::<json_patch::Patch>(patch.clone()).unwrap()).unwrap();
}

/// What a status patch writes into a field.
fn written<'a>(patch: &'a Value, field: &str) -> &'a Value {
    let path = format!("/status/{field}");
    let operation = patch.as_array().unwrap().iter().find(|operation| operation["path"] == path.as_str());
    &operation.unwrap()["value"]
}

fn observation<'a>(
    pod: Option<&'a SlimPod>,
    server: Option<&'a SlimGameServer>,
    set: Option<&'a SlimGameServerSet>,
) -> ServerObservation<'a> {
    ServerObservation {
        namespace: "ns",
        name: "g-0",
        pod,
        server,
        set,
        node: NodeSeen::Unknown,
        now: "2026-01-01T00:00:00Z".parse().unwrap(),
    }
}

fn both(pod: &SlimPod, server: &SlimGameServer) -> ServerPlan {
    plan(observation(Some(pod), Some(server), Some(&set(json!({})))))
}

fn told(plan: &ServerPlan) -> Vec<(bool, &str)> {
    plan.events.iter().map(|event| (event.warning, event.message.as_str())).collect()
}

#[test]
fn a_settled_server_has_nothing_to_do() {
    assert_eq!(both(&pod(json!({})), &settled(json!({}))), ServerPlan::default());
}

#[test]
fn a_new_pod_gets_a_game_server_that_ends_with_it() {
    let (pod, set) = (pod(json!({})), set(json!({})));
    let plan = plan(observation(Some(&pod), None, Some(&set)));
    let [ServerAction::Create(server)] = plan.actions.as_slice() else { panic!("{:?}", plan.actions) };
    assert_eq!(server["metadata"]["ownerReferences"][0]["kind"], "Pod");
    assert_eq!(server["metadata"]["ownerReferences"][0]["uid"], "p0");
    assert_eq!(
        server["metadata"]["labels"],
        json!({ "app": "x", "game.kruise.io/owner-gss": "g", "game.kruise.io/node-name": "n" })
    );
    assert_eq!(
        server["spec"],
        json!({ "opsState": "None", "updatePriority": 0, "deletionPriority": 0, "networkDisabled": false })
    );
}

#[test]
fn with_reclaim_policy_delete_the_set_owns_it() {
    let (pod, set) =
        (pod(json!({})), set(json!({ "spec": { "gameServerTemplate": { "reclaimPolicy": "Delete" } } })));
    let plan = plan(observation(Some(&pod), None, Some(&set)));
    let [ServerAction::Create(server)] = plan.actions.as_slice() else { panic!("{:?}", plan.actions) };
    assert_eq!(server["metadata"]["ownerReferences"][0]["kind"], "GameServerSet");
}

#[test]
fn wishes_become_labels_with_upstreams_events() {
    let server = settled(
        json!({ "spec": { "opsState": "Maintaining", "deletionPriority": 100, "networkDisabled": true } }),
    );
    let plan = both(&pod(json!({})), &server);
    let ServerAction::PatchPod(patch) = &plan.actions[0] else { panic!("{:?}", plan.actions) };
    assert_eq!(
        *patch,
        json!({ "metadata": {
            "uid": "p0",
            "labels": {
                "game.kruise.io/gs-opsState": "Maintaining",
                "game.kruise.io/gs-delete-priority": "100",
                "game.kruise.io/network-disabled": "true",
            },
            "annotations": { "game.kruise.io/opsState-last-changed-time": "2026-01-01T00:00:00Z" },
        }})
    );
    assert_eq!(
        told(&plan),
        [
            (false, "DeletionPriority turn from 0 to 100 "),
            (true, "OpsState turn from None to Maintaining "),
            (false, "NetworkDisabled turn from false to true "),
        ]
    );
    let ServerAction::PatchStatus(status) = &plan.actions[1] else { panic!("{:?}", plan.actions) };
    assert_eq!(written(status, "deletionPriority"), "100", "what the pod carries now");
}

#[test]
fn the_first_labels_of_a_pod_tell_no_events() {
    let bare = pod(json!({ "metadata": { "labels": {
        "game.kruise.io/gs-opsState": null, "game.kruise.io/gs-state": null, "game.kruise.io/gs-delete-priority": null,
        "game.kruise.io/gs-update-priority": null, "game.kruise.io/network-disabled": null,
    }}}));
    let plan = both(&bare, &settled(json!({})));
    let ServerAction::PatchPod(patch) = &plan.actions[0] else { panic!("{:?}", plan.actions) };
    assert_eq!(patch["metadata"]["labels"].as_object().unwrap().len(), 5);
    let annotations = patch["metadata"]["annotations"].as_object().unwrap();
    assert_eq!(annotations.keys().collect::<Vec<_>>(), ["game.kruise.io/opsState-last-changed-time"]);
    assert!(plan.events.is_empty());
}

#[test]
fn a_crash_is_a_warning_and_its_time_is_noted() {
    let failed = pod(json!({ "status": { "phase": "Failed" } }));
    let plan = both(&failed, &settled(json!({})));
    assert_eq!(told(&plan)[0], (true, "State turn from Ready to Crash "));
    let ServerAction::PatchPod(patch) = &plan.actions[0] else { panic!("{:?}", plan.actions) };
    assert_eq!(
        patch["metadata"]["annotations"]["game.kruise.io/state-last-changed-time"],
        "2026-01-01T00:00:00Z"
    );
}

#[test]
fn keys_to_sync_are_copied_and_never_taken_away() {
    let server = settled(json!({ "metadata": {
        "labels": { "gs-sync/pre-deleting": "false" },
        "annotations": { "gs-sync/match-id": "x", "meaningless-key": "y" },
    }}));
    let synced = pod(
        json!({ "metadata": { "labels": { "gs-sync/old": "1" }, "annotations": { "gs-sync/match-id": "w" } } }),
    );
    let plan = both(&synced, &server);
    assert_eq!(
        plan.actions,
        [ServerAction::PatchPod(json!({ "metadata": {
            "uid": "p0", "labels": { "gs-sync/pre-deleting": "false" }, "annotations": { "gs-sync/match-id": "x" },
        }}))]
    );
}

#[test]
fn an_image_is_pushed_to_the_live_container_and_guarded_by_the_old_one() {
    let containers = json!([{ "name": "side", "image": "side:2" }, { "name": "main", "image": "" }, { "name": "none", "image": "x" }]);
    let plan = both(&pod(json!({})), &settled(json!({ "spec": { "containers": containers } })));
    assert_eq!(
        plan.actions,
        [ServerAction::PatchImages(json!([
            { "op": "test", "path": "/metadata/uid", "value": "p0" },
            { "op": "test", "path": "/spec/containers/1/name", "value": "side" },
            { "op": "test", "path": "/spec/containers/1/image", "value": "side:1" },
            { "op": "replace", "path": "/spec/containers/1/image", "value": "side:2" },
        ]))]
    );
}

#[test]
fn an_ops_state_that_no_label_can_hold_is_said_and_does_not_block_the_rest() {
    let server = settled(json!({ "spec": { "opsState": "not a label", "deletionPriority": 5 } }));
    let plan = both(&pod(json!({})), &server);
    let ServerAction::PatchPod(patch) = &plan.actions[0] else { panic!("{:?}", plan.actions) };
    assert_eq!(patch["metadata"]["labels"], json!({ "game.kruise.io/gs-delete-priority": "5" }));
    let ServerAction::PatchStatus(status) = &plan.actions[1] else { panic!("{:?}", plan.actions) };
    let conditions = written(status, "conditions").as_array().unwrap();
    assert!(conditions.iter().any(|c| c["type"] == "OpsStateApplied" && c["status"] == "False"));
}

#[test]
fn a_new_template_merges_labels_and_takes_none_away() {
    let (pod, server) = (pod(json!({})), settled(json!({ "metadata": { "labels": { "own": "1" } } })));
    let set = set(
        json!({ "spec": { "gameServerTemplate": { "metadata": { "labels": { "app": null, "zone": "8001" } } } } }),
    );
    let plan = plan(observation(Some(&pod), Some(&server), Some(&set)));
    let [ServerAction::PatchServer(patch)] = plan.actions.as_slice() else { panic!("{:?}", plan.actions) };
    assert_eq!(patch["metadata"]["labels"], json!({ "zone": "8001" }));
}

#[test]
fn a_copy_of_the_pod_status_that_says_more_is_replaced_whole() {
    // As upstream leaves it: with fields that our caches do not hold.
    let server = settled(
        json!({ "status": { "podStatus": { "podIPs": [{ "ip": "10.0.0.1" }], "qosClass": "BestEffort" } } }),
    );
    let plan = both(&pod(json!({})), &server);
    let [ServerAction::PatchStatus(patch)] = plan.actions.as_slice() else { panic!("{:?}", plan.actions) };
    let copy = written(patch, "podStatus");
    assert_eq!((&copy["phase"], copy.get("qosClass")), (&json!("Running"), None));
    assert_eq!(copy["conditions"], json!([{ "type": "Ready", "status": "True" }]));
}

#[test]
fn a_node_that_is_not_well_or_gone_is_a_condition() {
    let (pod, server, set) = (pod(json!({})), settled(json!({})), set(json!({})));
    let node: SlimNode = serde_json::from_value(json!({
        "metadata": { "name": "n" },
        "status": { "conditions": [{ "type": "Ready", "status": "Unknown", "reason": "NodeStatusUnknown", "message": "gone quiet" }] },
    }))
    .unwrap();
    for (node, expected) in
        [(NodeSeen::Found(&node), "Ready:NodeStatusUnknown"), (NodeSeen::Missing("n"), "NodeNotFound")]
    {
        let plan = plan(ServerObservation { node, ..observation(Some(&pod), Some(&server), Some(&set)) });
        let [ServerAction::PatchStatus(patch)] = plan.actions.as_slice() else {
            panic!("{:?}", plan.actions)
        };
        let conditions = written(patch, "conditions").as_array().unwrap();
        let told = conditions.iter().find(|c| c["type"] == "NodeNormal").unwrap();
        assert_eq!((&told["status"], &told["reason"]), (&json!("False"), &json!(expected)));
        assert!(plan.events[0].warning);
    }
}

#[test]
fn a_game_server_without_pod_goes_when_it_is_marked_or_its_pod_owned_it() {
    let set = set(json!({}));
    let owned_by_pod = settled(json!({}));
    assert_eq!(
        plan(observation(None, Some(&owned_by_pod), Some(&set))).actions,
        [ServerAction::Delete { uid: "s0".into(), unless_pod: Some("p0".into()), version: None }]
    );
    let owner = json!([{ "apiVersion": "game.kruise.io/v1alpha1", "kind": "GameServerSet", "name": "g", "uid": "u", "controller": true }]);
    for (marked, gone) in [(json!("true"), true), (json!("false"), false), (json!(null), false)] {
        let server = settled(
            json!({ "metadata": { "ownerReferences": owner, "labels": { "game.kruise.io/gs-deleting": marked } } }),
        );
        let actions = plan(observation(None, Some(&server), Some(&set))).actions;
        assert_eq!(
            actions == [ServerAction::Delete { uid: "s0".into(), unless_pod: None, version: None }],
            gone
        );
        assert_eq!(actions.is_empty(), !gone);
    }
}

#[test]
fn the_settings_of_an_earlier_pod_end_with_it() {
    let again = pod(json!({ "metadata": { "uid": "p1" } }));
    let plan = both(&again, &settled(json!({ "spec": { "opsState": "Allocated" } })));
    assert_eq!(
        plan.actions,
        [ServerAction::Delete { uid: "s0".into(), unless_pod: Some("p0".into()), version: None }]
    );
}

#[test]
fn without_its_set_nothing_is_done() {
    let (pod, server) = (pod(json!({})), settled(json!({ "spec": { "opsState": "Kill" } })));
    assert_eq!(plan(observation(Some(&pod), Some(&server), None)), ServerPlan::default());
    assert_eq!(plan(observation(Some(&pod), None, None)), ServerPlan::default());
}

#[test]
fn what_is_being_deleted_gets_no_new_game_server() {
    let deleting = json!({ "metadata": { "deletionTimestamp": "2026-01-01T00:00:00Z" } });
    for (pod, set) in [(pod(deleting.clone()), set(json!({}))), (pod(json!({})), set(deleting))] {
        assert_eq!(plan(observation(Some(&pod), None, Some(&set))), ServerPlan::default());
    }
}
