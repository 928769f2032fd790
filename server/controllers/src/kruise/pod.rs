//! Building a server's pod and claims: everything is in them from the start, so no webhook has to add it later.
//!
//! The pod is built as JSON from the user's JSON, so that pod fields newer than this program go through unharmed and
//! what is wrong with them is said by the API server. Identity is a StatefulSet's: hostname, subdomain, claims
//! `<template>-<set>-<id>`, labels for Services that select one pod.

use super::{ordinals::Ordinal, state::ServerState};
use crds::kruise::{GameServerContainer, keys};
use jiff::Timestamp;
use k8s_openapi::api::core::v1::PersistentVolumeClaim;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// Pod label with the id, which Kubernetes' own StatefulSets carry since 1.28.
pub const POD_INDEX: &str = "apps.kubernetes.io/pod-index";

/// What a pod gets from its GameServer. The default is what a new GameServer says.
#[derive(Clone, Debug, PartialEq)]
pub struct ServerWishes {
    /// Label of the opsState.
    pub ops_state: String,
    /// Label of the deletion priority.
    pub deletion_priority: String,
    /// Label of the update priority.
    pub update_priority: String,
    /// Label `network-disabled`.
    pub network_disabled: bool,
    /// Labels whose keys begin with `gs-sync/`.
    pub sync_labels: BTreeMap<String, String>,
    /// Annotations whose keys begin with `gs-sync/`.
    pub sync_annotations: BTreeMap<String, String>,
    /// Images and resources of single containers.
    pub containers: Vec<GameServerContainer>,
}

impl Default for ServerWishes {
    fn default() -> Self {
        Self {
            ops_state: "None".to_owned(),
            deletion_priority: "0".to_owned(),
            update_priority: "0".to_owned(),
            network_disabled: false,
            sync_labels: BTreeMap::new(),
            sync_annotations: BTreeMap::new(),
            containers: Vec::new(),
        }
    }
}

/// Everything that a pod is made from.
#[derive(Clone, Copy, Debug)]
pub struct PodRecipe<'a> {
    /// Namespace of the set.
    pub namespace: &'a str,
    /// Name of the set.
    pub set_name: &'a str,
    /// uid of the set.
    pub set_uid: &'a str,
    /// Subdomain.
    pub service_name: &'a str,
    /// The template with the labels and annotations of every pod, see [`super::revision::pod_template`].
    pub template: &'a Value,
    /// Claims that every server gets one of each.
    pub claims: &'a [PersistentVolumeClaim],
    /// Name of the revision.
    pub revision: &'a str,
    /// The id.
    pub ordinal: Ordinal,
    /// What its GameServer says, when it outlived the pod before.
    pub wishes: &'a ServerWishes,
    /// Now.
    pub now: Timestamp,
}

/// The owner reference that makes the set the controller of an object.
#[must_use]
pub fn set_owner(set_name: &str, set_uid: &str) -> Value {
    json!({
        "apiVersion": "game.kruise.io/v1alpha1",
        "kind": "GameServerSet",
        "name": set_name,
        "uid": set_uid,
        "controller": true,
        "blockOwnerDeletion": true,
    })
}

/// The pod of one server.
#[must_use]
pub fn build_pod(recipe: PodRecipe<'_>) -> Value {
    let name = recipe.ordinal.member_name(recipe.set_name);
    let mut metadata = part(recipe.template, "metadata");
    // A template's own name or namespace would take the pod out of the set.
    for identity in ["name", "generateName", "namespace", "uid", "resourceVersion", "creationTimestamp"] {
        metadata.remove(identity);
    }
    let mut labels = part(&Value::Object(metadata.clone()), "labels");
    let mut annotations = part(&Value::Object(metadata.clone()), "annotations");
    for (key, value) in &recipe.wishes.sync_labels {
        labels.insert(key.clone(), json!(value));
    }
    for (key, value) in &recipe.wishes.sync_annotations {
        annotations.insert(key.clone(), json!(value));
    }
    let bookkeeping = [
        (keys::OWNER_GSS, recipe.set_name.to_owned()),
        (keys::POD_NAME, name.clone()),
        (POD_INDEX, recipe.ordinal.to_string()),
        (keys::CONTROLLER_REVISION_HASH, recipe.revision.to_owned()),
        (keys::GS_OPS_STATE, recipe.wishes.ops_state.clone()),
        (keys::GS_DELETE_PRIORITY, recipe.wishes.deletion_priority.clone()),
        (keys::GS_UPDATE_PRIORITY, recipe.wishes.update_priority.clone()),
        (keys::NETWORK_DISABLED, recipe.wishes.network_disabled.to_string()),
        (keys::GS_STATE, ServerState::Creating.as_str().to_owned()),
    ];
    for (key, value) in bookkeeping {
        labels.insert(key.to_owned(), json!(value));
    }
    annotations.insert(keys::OPS_STATE_LAST_CHANGED_TIME.to_owned(), json!(rfc3339(recipe.now)));
    metadata.insert("name".to_owned(), json!(name));
    metadata.insert("namespace".to_owned(), json!(recipe.namespace));
    metadata.insert("labels".to_owned(), Value::Object(labels));
    metadata.insert("annotations".to_owned(), Value::Object(annotations));
    metadata.insert("ownerReferences".to_owned(), json!([set_owner(recipe.set_name, recipe.set_uid)]));

    let mut spec = part(recipe.template, "spec");
    spec.insert("hostname".to_owned(), json!(name));
    spec.insert("subdomain".to_owned(), json!(recipe.service_name));
    mount_claims(&mut spec, &recipe);
    override_containers(&mut spec, &recipe.wishes.containers);
    json!({ "apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec })
}

/// The claims of one server. They belong to nobody, as a StatefulSet's do: data outlives its server.
#[must_use]
pub fn build_claims(recipe: PodRecipe<'_>) -> Vec<PersistentVolumeClaim> {
    recipe
        .claims
        .iter()
        .map(|template| {
            let mut claim = template.clone();
            claim.metadata.name = Some(claim_name(template, &recipe));
            claim.metadata.namespace = Some(recipe.namespace.to_owned());
            let labels = claim.metadata.labels.get_or_insert_default();
            labels.insert(keys::OWNER_GSS.to_owned(), recipe.set_name.to_owned());
            claim.status = None;
            claim
        })
        .collect()
}

/// Time as it stands in annotations: RFC 3339 with whole seconds.
#[must_use]
pub fn rfc3339(time: Timestamp) -> String {
    time.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

fn claim_name(template: &PersistentVolumeClaim, recipe: &PodRecipe<'_>) -> String {
    let name = template.metadata.name.as_deref().unwrap_or_default();
    format!("{name}-{}", recipe.ordinal.member_name(recipe.set_name))
}

/// The claims come first and take the place of template volumes of the same name, as in a StatefulSet.
fn mount_claims(spec: &mut Map<String, Value>, recipe: &PodRecipe<'_>) {
    if recipe.claims.is_empty() {
        return;
    }
    let name_of = |claim: &PersistentVolumeClaim| claim.metadata.name.clone().unwrap_or_default();
    let mut volumes: Vec<Value> = recipe
        .claims
        .iter()
        .map(|claim| {
            json!({ "name": name_of(claim), "persistentVolumeClaim": { "claimName": claim_name(claim, recipe) } })
        })
        .collect();
    let own = spec.get("volumes").and_then(Value::as_array).cloned().unwrap_or_default();
    volumes.extend(own.into_iter().filter(|volume| {
        !recipe.claims.iter().any(|claim| volume.get("name").and_then(Value::as_str) == Some(&name_of(claim)))
    }));
    spec.insert("volumes".to_owned(), Value::Array(volumes));
}

fn override_containers(spec: &mut Map<String, Value>, overrides: &[GameServerContainer]) {
    let Some(containers) = spec.get_mut("containers").and_then(Value::as_array_mut) else { return };
    for container in containers.iter_mut().filter_map(Value::as_object_mut) {
        let name = container.get("name").and_then(Value::as_str).unwrap_or_default();
        let Some(wish) = overrides.iter().find(|wish| wish.name == name) else { continue };
        if let Some(image) = wish.image.as_ref().filter(|image| !image.is_empty()) {
            container.insert("image".to_owned(), json!(image));
        }
        let Some(resources) = &wish.resources else { continue };
        let mut merged = container.get("resources").and_then(Value::as_object).cloned().unwrap_or_default();
        for (key, quantities) in [("limits", &resources.limits), ("requests", &resources.requests)] {
            let mut amounts = merged.get(key).and_then(Value::as_object).cloned().unwrap_or_default();
            // Only cpu and memory are taken over, as upstream does.
            for resource in ["cpu", "memory"] {
                if let Some(quantity) = quantities.get(resource) {
                    amounts.insert(resource.to_owned(), json!(quantity));
                }
            }
            if !amounts.is_empty() {
                merged.insert(key.to_owned(), Value::Object(amounts));
            }
        }
        container.insert("resources".to_owned(), Value::Object(merged));
    }
}

fn part(value: &Value, key: &str) -> Map<String, Value> {
    value.get(key).and_then(Value::as_object).cloned().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn claims() -> Vec<PersistentVolumeClaim> {
        let claim = json!({ "metadata": { "name": "data" }, "spec": { "accessModes": ["ReadWriteOnce"] } });
        vec![serde_json::from_value(claim).unwrap()]
    }

    fn recipe<'a>(
        template: &'a Value,
        claims: &'a [PersistentVolumeClaim],
        wishes: &'a ServerWishes,
    ) -> PodRecipe<'a> {
        PodRecipe {
            namespace: "prod",
            set_name: "mc",
            set_uid: "u-1",
            service_name: "mc-dns",
            template,
            claims,
            revision: "mc-abc",
            ordinal: Ordinal::new(7).unwrap(),
            wishes,
            now: "2026-11-29T10:00:00.5Z".parse().unwrap(),
        }
    }

    #[test]
    fn a_whole_pod() {
        let template = json!({
            "metadata": { "name": "odd", "labels": { "app": "mc", "game.kruise.io/owner-gss": "mc" }, "annotations": { "a": "b" } },
            "spec": {
                "containers": [{ "name": "main", "image": "game:1", "fromTheFuture": 1 }],
                "volumes": [{ "name": "data", "emptyDir": {} }, { "name": "tmp", "emptyDir": {} }],
                "readinessGates": [{ "conditionType": "own" }],
            },
        });
        let claims = claims();
        let pod = build_pod(recipe(&template, &claims, &ServerWishes::default()));
        assert_eq!(
            pod,
            json!({
                "apiVersion": "v1",
                "kind": "Pod",
                "metadata": {
                    "name": "mc-7",
                    "namespace": "prod",
                    "labels": {
                        "app": "mc",
                        "game.kruise.io/owner-gss": "mc",
                        "statefulset.kubernetes.io/pod-name": "mc-7",
                        "apps.kubernetes.io/pod-index": "7",
                        "controller-revision-hash": "mc-abc",
                        "game.kruise.io/gs-opsState": "None",
                        "game.kruise.io/gs-delete-priority": "0",
                        "game.kruise.io/gs-update-priority": "0",
                        "game.kruise.io/network-disabled": "false",
                        "game.kruise.io/gs-state": "Creating",
                    },
                    "annotations": { "a": "b", "game.kruise.io/opsState-last-changed-time": "2026-11-29T10:00:00Z" },
                    "ownerReferences": [{
                        "apiVersion": "game.kruise.io/v1alpha1",
                        "kind": "GameServerSet",
                        "name": "mc",
                        "uid": "u-1",
                        "controller": true,
                        "blockOwnerDeletion": true,
                    }],
                },
                "spec": {
                    "hostname": "mc-7",
                    "subdomain": "mc-dns",
                    "containers": [{ "name": "main", "image": "game:1", "fromTheFuture": 1 }],
                    "volumes": [
                        { "name": "data", "persistentVolumeClaim": { "claimName": "data-mc-7" } },
                        { "name": "tmp", "emptyDir": {} },
                    ],
                    "readinessGates": [{ "conditionType": "own" }],
                },
            })
        );
    }

    #[test]
    fn a_server_that_outlived_its_pod_gets_its_settings_back() {
        let template = json!({ "spec": { "containers": [
            { "name": "main", "image": "game:1", "resources": { "limits": { "cpu": "1", "gpu": "1" } } },
            { "name": "side", "image": "side:1" },
        ]}});
        let containers = json!([
            { "name": "main", "image": "game:2", "resources": { "limits": { "cpu": "2", "gpu": "9" }, "requests": { "memory": "1Gi" } } },
            { "name": "unknown", "image": "x" },
        ]);
        let wishes = ServerWishes {
            ops_state: "Allocated".into(),
            deletion_priority: "100".into(),
            network_disabled: true,
            sync_labels: BTreeMap::from([("gs-sync/room".into(), "7".into())]),
            containers: serde_json::from_value(containers).unwrap(),
            ..ServerWishes::default()
        };
        let pod = build_pod(recipe(&template, &[], &wishes));
        assert_eq!(pod["metadata"]["labels"][keys::GS_OPS_STATE], "Allocated");
        assert_eq!(pod["metadata"]["labels"][keys::GS_DELETE_PRIORITY], "100");
        assert_eq!(pod["metadata"]["labels"][keys::NETWORK_DISABLED], "true");
        assert_eq!(pod["metadata"]["labels"]["gs-sync/room"], "7");
        assert_eq!(
            pod["spec"]["containers"],
            json!([
                { "name": "main", "image": "game:2", "resources": { "limits": { "cpu": "2", "gpu": "1" }, "requests": { "memory": "1Gi" } } },
                { "name": "side", "image": "side:1" },
            ])
        );
    }

    #[test]
    fn claims_are_named_after_the_server_and_owned_by_nobody() {
        let (template, claims) = (json!({}), claims());
        let built = build_claims(recipe(&template, &claims, &ServerWishes::default()));
        assert_eq!(built[0].metadata.name.as_deref(), Some("data-mc-7"));
        assert_eq!(built[0].metadata.namespace.as_deref(), Some("prod"));
        assert_eq!(built[0].metadata.owner_references, None);
    }
}
