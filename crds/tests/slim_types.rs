//! The slim types take any object, keep what is used, drop what is not, and pass for the real kinds.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use crds::kruise::{GameServer, GameServerSet, OpsState};
use crds::slim::{Pack, SlimGameServer, SlimGameServerSet, SlimNode, SlimPod};
use k8s_openapi::api::core::v1::{Node, Pod};
use kube::core::{ObjectList, WatchEvent};
use kube::{Resource, ResourceExt};
use serde_json::{Value, json};

fn identity<K: Resource<DynamicType = ()>>() -> String {
    format!("{} {} {}", K::api_version(&()), K::kind(&()), K::url_path(&(), None))
}

#[test]
fn they_have_the_identity_of_the_real_kinds() {
    assert_eq!(identity::<SlimGameServer>(), identity::<GameServer>());
    assert_eq!(identity::<SlimGameServerSet>(), identity::<GameServerSet>());
    assert_eq!(identity::<SlimPod>(), identity::<Pod>());
    assert_eq!(identity::<SlimNode>(), identity::<Node>());
}

fn pod() -> Value {
    json!({
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": "minecraft-0",
            "namespace": "default",
            "uid": "u",
            "resourceVersion": "7",
            "generation": 3,
            "creationTimestamp": "2024-01-02T03:04:05Z",
            "labels": { "game.kruise.io/owner-gss": "minecraft" },
            "annotations": { "kubectl.kubernetes.io/last-applied-configuration": "{}", "keep": "me" },
            "ownerReferences": [{ "apiVersion": "v1", "kind": "X", "name": "x", "uid": "y", "controller": true }],
            "finalizers": ["a/b"],
            "managedFields": [{ "manager": "m", "operation": "Apply", "fieldsV1": { "f:spec": {} } }],
        },
        "spec": {
            "nodeName": "node-1",
            "schedulerName": "default-scheduler",
            "dnsPolicy": "ClusterFirst",
            "containers": [
                { "name": "main", "image": "game:1", "resources": { "limits": { "cpu": "1" } }, "env": [{ "name": "A" }] },
                { "name": "side", "image": "side:1", "resources": {} },
            ],
            "volumes": [{ "name": "data", "persistentVolumeClaim": { "claimName": "data-minecraft-0" } }, { "name": "tmp", "emptyDir": {} }],
        },
        "status": {
            "phase": "Running",
            "podIP": "10.0.0.1",
            "hostIP": "10.1.0.1",
            "startTime": "2024-01-02T03:04:06Z",
            "conditions": [{ "type": "Ready", "status": "False", "reason": "R", "lastProbeTime": null, "lastTransitionTime": "2024-01-02T03:04:07Z" }],
            "containerStatuses": [{
                "name": "main", "image": "game:1", "imageID": "sha256:1", "ready": false, "restartCount": 2, "started": false,
                "state": { "waiting": { "reason": "CrashLoopBackOff", "message": "back-off" } },
                "lastState": { "terminated": { "exitCode": 137, "reason": "OOMKilled", "finishedAt": "2024-01-02T03:04:07Z" } },
            }],
        },
    })
}

#[test]
fn a_pod_keeps_what_is_used_and_drops_the_rest() {
    let slim: SlimPod = serde_json::from_value(pod()).unwrap();
    assert_eq!(slim.name_any(), "minecraft-0");
    assert_eq!(slim.labels()["game.kruise.io/owner-gss"], "minecraft");
    assert_eq!(slim.annotations().keys().collect::<Vec<_>>(), ["keep"]);
    assert!(slim.metadata.managed_fields.is_none());
    assert_eq!(slim.owner_references()[0].controller, Some(true));
    assert_eq!(slim.spec.claim_names().collect::<Vec<_>>(), ["data-minecraft-0"]);
    assert_eq!(slim.spec.containers[0].resources.as_ref().unwrap()["limits"]["cpu"], "1");
    assert!(slim.spec.containers[1].resources.is_none());
    assert_eq!(slim.condition("Ready").map(|ready| ready.status.as_str()), Some("False"));
    let main = &slim.status.container_statuses[0];
    assert_eq!((main.restart_count, main.image_id.as_str()), (2, "sha256:1"));
    assert_eq!(main.last_state.terminated.as_ref().map(|ended| ended.exit_code), Some(137));

    let written = serde_json::to_value(&slim).unwrap();
    assert_eq!((&written["apiVersion"], &written["kind"]), (&json!("v1"), &json!("Pod")));
    let text = written.to_string();
    for dropped in ["managedFields", "last-applied", "dnsPolicy", "env", "emptyDir"] {
        assert!(!text.contains(dropped), "{dropped}");
    }
    assert_eq!(serde_json::from_value::<SlimPod>(written).unwrap(), slim);
}

#[test]
fn lists_and_watch_events_hold_them() {
    let list = json!({ "apiVersion": "v1", "kind": "PodList", "metadata": { "resourceVersion": "9" }, "items": [pod(), { "metadata": { "name": "bare" } }] });
    let list: ObjectList<SlimPod> = serde_json::from_value(list).unwrap();
    assert_eq!(list.items.len(), 2);
    assert_eq!(list.items[1].status.phase, "");
    let event = json!({ "type": "DELETED", "object": pod() }).to_string();
    assert!(
        matches!(serde_json::from_str(&event).unwrap(), WatchEvent::<SlimPod>::Deleted(pod) if pod.name_any() == "minecraft-0")
    );
}

#[test]
fn odd_values_hide_only_themselves() {
    let mut odd = pod();
    odd["spec"]["containers"][1] = json!("no container");
    odd["spec"]["volumes"] = json!(7);
    odd["status"]["startTime"] = json!("yesterday");
    odd["status"]["containerStatuses"][0]["restartCount"] = json!("many");
    odd["metadata"]["labels"]["n"] = json!(1);
    let slim: SlimPod = serde_json::from_value(odd).unwrap();
    assert_eq!(slim.spec.containers.len(), 1);
    assert!(slim.spec.volumes.is_empty());
    assert!(slim.status.start_time.is_none());
    assert_eq!(slim.status.container_statuses[0].restart_count, 0);
    assert_eq!(slim.status.pod_ip.as_deref(), Some("10.0.0.1"));

    for nothing in [
        json!({}),
        json!({ "metadata": {}, "spec": null, "status": null }),
        json!({ "spec": 1, "status": [] }),
    ] {
        serde_json::from_value::<SlimPod>(nothing.clone()).unwrap();
        serde_json::from_value::<SlimNode>(nothing.clone()).unwrap();
        serde_json::from_value::<SlimGameServer>(nothing.clone()).unwrap();
        serde_json::from_value::<SlimGameServerSet>(nothing).unwrap();
    }
}

#[test]
fn a_game_server_without_status_or_spec_is_readable() {
    let slim: SlimGameServer = serde_json::from_value(json!({ "metadata": { "name": "a-0" } })).unwrap();
    assert_eq!((slim.spec, slim.spec_error, slim.status), (Default::default(), None, None));
}

#[test]
fn a_game_server_drops_the_copy_of_the_pods_status() {
    let value = json!({
        "metadata": { "name": "a-0" },
        "spec": { "opsState": "Kill" },
        "status": { "currentState": "Ready", "podStatus": { "phase": "Running" }, "deletionPriority": "5", "unknown": 1 },
    });
    let slim: SlimGameServer = serde_json::from_value(value).unwrap();
    assert_eq!(slim.spec.ops_state, Some(OpsState::Kill));
    let status = slim.status.unwrap();
    assert_eq!(status.current_state.as_deref(), Some("Ready"));
    assert!(status.pod_status.is_none());
}

#[test]
fn a_game_server_with_an_odd_field_keeps_the_others_and_says_so() {
    let value = json!({ "metadata": {}, "spec": { "opsState": "Allocated", "containers": "none" }, "status": { "currentState": "Ready", "conditions": 1 } });
    let slim: SlimGameServer = serde_json::from_value(value).unwrap();
    assert_eq!(slim.spec.ops_state, Some(OpsState::Allocated));
    assert!(slim.spec_error.is_some_and(|error| error.contains("none")));
    assert_eq!(slim.status.and_then(|status| status.current_state).as_deref(), Some("Ready"));
}

#[test]
fn half_a_sets_spec_is_none_so_that_nobody_acts_on_it() {
    let value = json!({ "metadata": { "name": "a" }, "spec": { "replicas": "three" }, "status": { "actedReplicas": 3 } });
    let slim: SlimGameServerSet = serde_json::from_value(value).unwrap();
    assert!(slim.spec.is_none());
    assert!(slim.spec_error.is_some_and(|error| error.contains("three")));
    assert_eq!(slim.status.and_then(|status| status.acted_replicas), Some(3));

    let value = json!({ "metadata": { "name": "a" }, "spec": { "replicas": 3, "reserveGameServerIds": [1, "2-x", 1.5] } });
    let slim: SlimGameServerSet = serde_json::from_value(value).unwrap();
    assert_eq!(slim.spec.map(|spec| spec.reserve_game_server_ids.len()), Some(3));
}

#[test]
fn a_node_keeps_its_conditions_and_whether_it_is_cordoned() {
    let value = json!({ "metadata": { "name": "n" }, "spec": { "unschedulable": true, "podCIDR": "x" }, "status": { "conditions": [{ "type": "Ready", "status": "True" }], "images": [] } });
    let slim: SlimNode = serde_json::from_value(value).unwrap();
    assert!(slim.spec.unschedulable);
    assert_eq!(slim.status.conditions[0].type_, "Ready");
}

fn comes_back<T: Pack + Clone + PartialEq + std::fmt::Debug>(object: &T) -> usize {
    // The second time every text that both have is a word of the dictionary.
    (0..3).for_each(|_| assert_eq!(T::unpack(&object.pack()), *object));
    object.pack().size()
}

#[test]
fn packed_objects_come_back_as_they_were() {
    let read: SlimPod = serde_json::from_value(pod()).unwrap();
    comes_back(&read);
    comes_back(&SlimPod::default());
    comes_back(&SlimGameServer::default());
    let server: SlimGameServer = serde_json::from_value(json!({
        "metadata": {
            "name": "minecraft-0", "namespace": "default", "resourceVersion": "8", "deletionTimestamp": "2026-01-02T03:04:05.123Z",
            "uid": "0f0e0d0c-0b0a-4999-8777-0123456789ab", "deletionGracePeriodSeconds": 30, "labels": { "a": "" },
            "ownerReferences": [{ "apiVersion": "v1", "kind": "Pod", "name": "minecraft-0", "uid": "u", "blockOwnerDeletion": true }],
        },
        "spec": {
            "opsState": "Rehearsal", "updatePriority": 5, "deletionPriority": "7", "networkDisabled": false,
            "containers": [{ "name": "game", "image": "game:2", "resources": { "limits": { "cpu": "1500m" } } }],
            "odd": 1,
        },
        "status": {
            "desiredState": "Ready", "currentState": "NotReady", "updatePriority": 5, "lastTransitionTime": "2026-01-02T03:04:05Z",
            "podStatus": { "phase": "Running" },
            "conditions": [{ "type": "PodNormal", "status": "False", "reason": "R", "message": "M", "lastProbeTime": "2026-01-02T03:04:05Z" }],
            "serviceQualitiesConditions": [{ "name": "idle", "status": "True", "result": "0", "lastActionTransitionTime": "2026-01-02T03:04:05Z" }],
            "networkStatus": {
                "networkType": "HostPort", "desiredNetworkState": "Ready", "currentNetworkState": "Waiting", "createTime": "2026-01-02T03:04:05Z",
                "internalAddresses": [{ "ip": "10.0.0.1", "ports": [{ "name": "80", "protocol": "TCP", "port": 80 }] }],
                "externalAddresses": [{ "ip": "203.0.113.7", "endPoint": "x.example", "portRange": { "protocol": "UDP", "portRange": "500-502" } }],
            },
        },
    }))
    .unwrap();
    assert!(
        server.pod_status_hash.is_some() && server.status.is_some() && !server.spec.containers.is_empty()
    );
    comes_back(&server);
    let odd: SlimGameServer =
        serde_json::from_value(json!({ "metadata": { "name": "x" }, "spec": { "opsState": 7 } })).unwrap();
    assert!(odd.spec_error.is_some());
    comes_back(&odd);
}

#[test]
fn a_packed_pod_is_small() {
    let read: SlimPod = serde_json::from_value(pod()).unwrap();
    let size = comes_back(&read);
    assert!(size < 250, "{size} bytes");
}
