//! What the API tests share: a server with its client, and a custom kind like the one the product has.
#![allow(dead_code, reason = "each test file uses a part of it")]

pub mod kubectl;

use k8s_openapi::api::core::v1::{ConfigMap, Pod};
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::Client;
use kube::api::{Api, DynamicObject, PostParams};
use kube::core::{ApiResource, GroupVersionKind};
use sandbox::api::Server;
use serde_json::{Value, json};

pub fn server() -> (Server, Client) {
    let server = Server::new();
    server.serve_logs(std::sync::Arc::new(sandbox::SimulatedLogs { seed: 1 }));
    let client = server.client();
    (server, client)
}

/// Code and reason of a refusal.
pub fn code<T: std::fmt::Debug>(result: kube::Result<T>) -> (u16, String) {
    match result {
        Err(kube::Error::Api(status)) => (status.code, status.reason.clone()),
        other => panic!("expected a refusal, got {other:?}"),
    }
}

pub fn pod(name: &str) -> Pod {
    let containers = json!([{ "name": "game", "image": "i:1" }, { "name": "side", "image": "s:1" }]);
    serde_json::from_value(json!({ "metadata": { "name": name, "labels": { "app": "x" } }, "spec": { "containers": containers } }))
        .expect("a pod")
}

/// A config map with more fields, if wanted.
pub fn config_map(name: &str, more: Value) -> ConfigMap {
    let mut map = more;
    if map.get("metadata").is_none() {
        map["metadata"] = json!({ "name": name });
    }
    serde_json::from_value(map).expect("a config map")
}

pub fn gameservers() -> ApiResource {
    ApiResource::from_gvk_with_plural(
        &GroupVersionKind::gvk("game.example.com", "v1", "GameServer"),
        "gameservers",
    )
}

pub fn namespaced(client: &Client, namespace: &str) -> Api<DynamicObject> {
    Api::namespaced_with(client.clone(), namespace, &gameservers())
}

pub fn gameserver(name: &str, spec: Value) -> DynamicObject {
    let mut object = DynamicObject::new(name, &gameservers());
    object.data = json!({ "spec": spec });
    object
}

pub fn crd() -> CustomResourceDefinition {
    let container = json!({"type": "object", "required": ["name"], "properties": {
        "name": {"type": "string"}, "image": {"type": "string"}}});
    let spec = json!({"type": "object", "properties": {
        "opsState": {"type": "string", "pattern": "^[A-Za-z]*$", "maxLength": 20},
        "replicas": {"type": "integer", "minimum": 0, "default": 1},
        "priority": {"x-kubernetes-int-or-string": true},
        "containers": {"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"], "items": container},
        "atomic": {"type": "array", "items": {"type": "string"}},
        "template": {"type": "object", "x-kubernetes-preserve-unknown-fields": true},
    }});
    let status = json!({"type": "object", "properties": {"state": {"type": "string"}, "replicas": {"type": "integer"}, "selector": {"type": "string"}}});
    serde_json::from_value(json!({
        "metadata": {"name": "gameservers.game.example.com"},
        "spec": {
            "group": "game.example.com", "scope": "Namespaced",
            "names": {"plural": "gameservers", "singular": "gameserver", "kind": "GameServer", "shortNames": ["gs"], "categories": ["games"]},
            "versions": [{
                "name": "v1", "served": true, "storage": true,
                "schema": {"openAPIV3Schema": {"type": "object", "properties": {"spec": spec, "status": status}}},
                "subresources": {"status": {}, "scale": {"specReplicasPath": ".spec.replicas", "statusReplicasPath": ".status.replicas", "labelSelectorPath": ".status.selector"}},
                "selectableFields": [{"jsonPath": ".spec.opsState"}],
                "additionalPrinterColumns": [
                    {"name": "STATE", "type": "string", "jsonPath": ".status.state"},
                    {"name": "AGE", "type": "date", "jsonPath": ".metadata.creationTimestamp"}],
            }],
        },
    }))
    .expect("a CRD")
}

pub async fn install_gameservers(client: &Client) {
    let crds: Api<CustomResourceDefinition> = Api::all(client.clone());
    crds.create(&PostParams::default(), &crd()).await.expect("the CRD is accepted");
}
