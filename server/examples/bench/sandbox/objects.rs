//! Objects of the size and shape that controllers and kubelets leave.

use serde_json::{Value, json};

/// A GameServer of a set.
pub fn server(set: &str, number: usize) -> Value {
    json!({
        "apiVersion": "game.kruise.io/v1alpha1",
        "kind": "GameServer",
        "metadata": {
            "name": format!("{set}-{number}"),
            "labels": { "game.kruise.io/owner-gss": set, "game.kruise.io/gs-template-metadata-hash": "4f2c8d1b7a" },
        },
        "spec": { "opsState": "None", "updatePriority": 0, "deletionPriority": 0, "networkDisabled": false },
    })
}

/// The status of a GameServer that is Ready; `stamp` makes it differ.
pub fn server_status(stamp: &str) -> Value {
    json!({ "status": {
        "currentState": "Ready",
        "desiredState": "Ready",
        "deletionPriority": 0,
        "updatePriority": 0,
        "networkStatus": {},
        "podStatus": { "phase": "Running", "podIP": "10.244.17.4", "hostIP": "10.0.0.17", "startTime": "2026-01-01T00:00:00Z" },
        "conditions": [
            { "type": "PodNormal", "status": "True", "lastTransitionTime": "2026-01-01T00:00:00Z", "reason": stamp },
            { "type": "NodeNormal", "status": "True", "lastTransitionTime": "2026-01-01T00:00:00Z" },
        ],
    } })
}

/// A pod of a set.
pub fn pod(set: &str, number: usize) -> Value {
    json!({
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": format!("{set}-{number}"),
            "labels": {
                "game.kruise.io/owner-gss": set, "game.kruise.io/gs-state": "Ready", "game.kruise.io/gs-opsState": "None",
                "game.kruise.io/gs-deletion-priority": "0", "game.kruise.io/gs-update-priority": "0",
            },
        },
        "spec": {
            "containers": [{
                "name": "game", "image": "minecraft:1.21",
                "env": [{ "name": "SERVER_ID", "value": number.to_string() }],
                "ports": [{ "containerPort": 25565, "protocol": "TCP" }],
                "resources": { "requests": { "cpu": "500m", "memory": "1Gi" } },
            }],
            "nodeName": format!("node-{}", number % super::NODES),
        },
    })
}

/// The status of a pod that runs.
pub fn pod_status() -> Value {
    let conditions: Vec<Value> = ["PodScheduled", "Initialized", "ContainersReady", "Ready"]
        .iter()
        .map(|kind| json!({ "type": kind, "status": "True", "lastTransitionTime": "2026-01-01T00:00:00Z" }))
        .collect();
    json!({ "status": {
        "phase": "Running",
        "conditions": conditions,
        "podIP": "10.244.17.4",
        "podIPs": [{ "ip": "10.244.17.4" }],
        "hostIP": "10.0.0.17",
        "startTime": "2026-01-01T00:00:00Z",
        "containerStatuses": [{
            "name": "game", "image": "minecraft:1.21", "imageID": "minecraft@sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef",
            "containerID": "containerd://0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef", "ready": true, "started": true, "restartCount": 0,
            "state": { "running": { "startedAt": "2026-01-01T00:00:00Z" } },
        }],
    } })
}

/// A machine.
pub fn node(number: usize) -> Value {
    json!({ "apiVersion": "v1", "kind": "Node", "metadata": { "name": format!("node-{number}"), "labels": { "kubernetes.io/hostname": format!("node-{number}") } } })
}
