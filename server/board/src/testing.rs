//! Objects for tests, as short as they can be said.

use std::sync::Arc;

use crds::slim::{SlimGameServer, SlimGameServerSet, SlimNode, SlimPod};
use serde_json::{Value, json};

use crate::board::Board;
use crate::snapshot::Snapshot;

/// The time of day in tests: 2026-01-01T12:00:00Z.
pub(crate) const NOW: i64 = 1_767_268_800;

/// A time that many seconds ago.
pub(crate) fn ago(seconds: i64) -> String {
    jiff::Timestamp::from_second(NOW - seconds).unwrap().to_string()
}

/// Lays `over` onto `base`, object by object.
pub(crate) fn merged(mut base: Value, over: Value) -> Value {
    match (&mut base, over) {
        (Value::Object(base), Value::Object(over)) => {
            for (key, value) in over {
                let old = base.remove(&key).unwrap_or(Value::Null);
                base.insert(key, merged(old, value));
            }
        }
        (base, over) => *base = over,
    }
    base
}

/// `ns/set-3` is server 3 of the set `set`, Ready, an hour old, unless `over` says otherwise.
pub(crate) fn server(path: &str, over: Value) -> SlimGameServer {
    let (namespace, name) = path.split_once('/').unwrap();
    let set = name.rsplit_once('-').map_or("", |(set, _)| set);
    let base = json!({
        "metadata": {
            "namespace": namespace,
            "name": name,
            "uid": format!("uid-{name}"),
            "creationTimestamp": ago(3_600),
            "labels": { "game.kruise.io/owner-gss": set },
        },
        "spec": { "opsState": "None" },
        "status": { "currentState": "Ready" },
    });
    serde_json::from_value(merged(base, over)).unwrap()
}

/// The pod of such a server: running and ready on node n1 with the image game:1.
pub(crate) fn pod(path: &str, over: Value) -> SlimPod {
    let (namespace, name) = path.split_once('/').unwrap();
    let set = name.rsplit_once('-').map_or("", |(set, _)| set);
    let base = json!({
        "metadata": {
            "namespace": namespace,
            "name": name,
            "creationTimestamp": ago(3_600),
            "labels": { "game.kruise.io/owner-gss": set, "controller-revision-hash": "rev-1" },
        },
        "spec": { "nodeName": "n1", "containers": [{ "name": "game", "image": "game:1" }] },
        "status": {
            "phase": "Running",
            "podIP": "10.0.0.1",
            "conditions": [{ "type": "Ready", "status": "True", "lastTransitionTime": ago(3_000) }],
            "containerStatuses": [{ "name": "game", "image": "game:1", "ready": true, "restartCount": 0 }],
        },
    });
    serde_json::from_value(merged(base, over)).unwrap()
}

/// A set of that many replicas.
pub(crate) fn set(path: &str, replicas: i32, over: Value) -> Arc<SlimGameServerSet> {
    let (namespace, name) = path.split_once('/').unwrap();
    let base = json!({
        "metadata": {
            "namespace": namespace,
            "name": name,
            "uid": format!("uid-{name}"),
            "creationTimestamp": ago(7_200),
        },
        "spec": {
            "replicas": replicas,
            "gameServerTemplate": { "spec": { "containers": [{ "name": "game", "image": "game:1" }] } },
        },
    });
    Arc::new(serde_json::from_value(merged(base, over)).unwrap())
}

/// A node.
pub(crate) fn node(name: &str, ready: bool) -> SlimNode {
    let status = if ready { "True" } else { "Unknown" };
    let node = json!({
        "metadata": { "name": name },
        "status": { "conditions": [{ "type": "Ready", "status": status }] },
    });
    serde_json::from_value(node).unwrap()
}

/// A board with these servers and a pod for each.
pub(crate) fn board(servers: &[(&str, Value)]) -> Board {
    let mut board = Board::default();
    for (path, over) in servers {
        board.apply_server(&server(path, over.clone()));
        board.apply_pod(&pod(path, json!({})));
    }
    board
}

/// Names that a filter matches, in order.
pub(crate) fn names(snapshot: &Snapshot, q: &str) -> Vec<String> {
    snapshot.matching(q, "", NOW).unwrap().iter().map(|row| row.name.to_string()).collect()
}
