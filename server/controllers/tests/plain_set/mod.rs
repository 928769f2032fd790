//! The plain set that tests of sets begin with.

use serde_json::{Value, json};

/// The set `g`; `spec` is merged over a plain one.
pub fn set_object(spec: Value) -> Value {
    let mut set = json!({
        "apiVersion": "game.kruise.io/v1alpha1", "kind": "GameServerSet", "metadata": { "name": "g" },
        "spec": {
            "replicas": 3,
            "gameServerTemplate": {
                "metadata": { "labels": { "app": "x" } },
                "spec": { "containers": [{ "name": "main", "image": "game:1" }], "terminationGracePeriodSeconds": 5 },
            },
        },
    });
    json_patch::merge(&mut set["spec"], &spec);
    set
}
