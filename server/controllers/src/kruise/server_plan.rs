//! Step *plan* of a GameServer: its pod's facts up, its wishes down. Pure.
//!
//! The pod is the meeting point: what people want of a server is copied to labels of its pod, where the decisions about
//! scaling look; what the pod is doing is copied to the GameServer's status, where people look.

use super::{
    observe::{annotation, controller_of, label, state_of, wishes},
    pod::{ServerWishes, rfc3339, set_owner},
    revision::short,
    server_conditions::{NodeSeen, conditions},
    set_plan::PlannedEvent,
    state::ServerState,
};
use crds::{
    hash::hash_json,
    kruise::{GameServerStatus, GameServerTemplate, ReclaimPolicy, keys},
    slim::{SlimGameServer, SlimGameServerSet, SlimPod},
};
use jiff::Timestamp;
use k8s_openapi::apimachinery::pkg::{apis::meta::v1::Time, util::intstr::IntOrString};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// Reason of every event about a change of a server.
pub const STATE_CHANGED: &str = "GsStateChanged";

/// Everything that a plan is made from.
#[derive(Clone, Copy, Debug)]
pub struct ServerObservation<'a> {
    /// Namespace.
    pub namespace: &'a str,
    /// Name of the GameServer and of its pod.
    pub name: &'a str,
    /// The pod.
    pub pod: Option<&'a SlimPod>,
    /// The GameServer.
    pub server: Option<&'a SlimGameServer>,
    /// The set that the pod belongs to.
    pub set: Option<&'a SlimGameServerSet>,
    /// The pod's node.
    pub node: NodeSeen<'a>,
    /// Now.
    pub now: Timestamp,
}

/// One thing to do.
#[derive(Clone, Debug, PartialEq)]
pub enum ServerAction {
    /// Create the GameServer.
    Create(Value),
    /// Delete the GameServer.
    Delete {
        /// uid, as a precondition.
        uid: String,
        /// Make sure by asking the API that there is no pod with this uid: the cache of pods may be behind.
        unless_pod: Option<String>,
        /// Only this version, when it is a mark on the GameServer that says that it goes: the mark may be off again by now.
        version: Option<String>,
    },
    /// Merge patch of the pod's metadata; carries the uid.
    PatchPod(Value),
    /// JSON patch of the pod's images; tests names and old images.
    PatchImages(Value),
    /// Merge patch of the GameServer's metadata; carries the uid.
    PatchServer(Value),
    /// JSON patch of the GameServer's status; tests the uid.
    PatchStatus(Value),
}

/// What is to be done about a server.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ServerPlan {
    /// In this order.
    pub actions: Vec<ServerAction>,
    /// Told about the GameServer after the actions went well.
    pub events: Vec<PlannedEvent>,
}

/// Plans the next steps of a server.
#[must_use]
pub fn plan(seen: ServerObservation<'_>) -> ServerPlan {
    let mut plan = ServerPlan::default();
    match (seen.pod, seen.server) {
        (None, None) => {}
        (None, Some(server)) => plan.actions.extend(without_pod(server)),
        (Some(pod), None) => {
            // A pod on its way out gets no new GameServer: it would only be removed with it. The same goes for a set, whose
            // deletion in the foreground would then never come to its end.
            let stays = |set: &&SlimGameServerSet| {
                pod.metadata.deletion_timestamp.is_none() && set.metadata.deletion_timestamp.is_none()
            };
            if let Some(set) = seen.set.filter(stays) {
                plan.actions.push(ServerAction::Create(new_server(seen, pod, set)));
            }
        }
        (Some(pod), Some(server)) => {
            if let Some(delete) = of_an_earlier_pod(pod, server) {
                plan.actions.push(delete);
            } else if let Some(set) = seen.set.filter(|_| server.metadata.deletion_timestamp.is_none()) {
                sync(seen, pod, server, set, &mut plan);
            }
        }
    }
    plan
}

fn uid(meta: &k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta) -> String {
    meta.uid.clone().unwrap_or_default()
}

fn without_pod(server: &SlimGameServer) -> Option<ServerAction> {
    if server.metadata.deletion_timestamp.is_some() {
        return None;
    }
    let uid = uid(&server.metadata);
    if label(&server.metadata, keys::GS_DELETING) == "true" {
        let version = server.metadata.resource_version.clone();
        return Some(ServerAction::Delete { uid, unless_pod: None, version });
    }
    // Garbage collection would do the same, at 20 objects a second with its usual settings.
    let owner = controller_of(&server.metadata).filter(|owner| owner.kind == "Pod")?;
    Some(ServerAction::Delete { uid, unless_pod: Some(owner.uid.clone()), version: None })
}

/// A GameServer that its former pod owned: its settings end with that pod (reclaim policy `Cascade`).
fn of_an_earlier_pod(pod: &SlimPod, server: &SlimGameServer) -> Option<ServerAction> {
    let owner = controller_of(&server.metadata).filter(|owner| owner.kind == "Pod")?;
    let earlier =
        Some(&owner.uid) != pod.metadata.uid.as_ref() && server.metadata.deletion_timestamp.is_none();
    let unless_pod = Some(owner.uid.clone());
    earlier.then(|| ServerAction::Delete { uid: uid(&server.metadata), unless_pod, version: None })
}

fn template_of(set: &SlimGameServerSet) -> GameServerTemplate {
    set.spec.as_ref().map(|spec| spec.game_server_template.clone()).unwrap_or_default()
}

/// Tells whether the labels and annotations of the template were merged into a GameServer already.
fn metadata_hash(template: &GameServerTemplate) -> String {
    short(hash_json(&json!([template.labels(), template.annotations()])))
}

fn new_server(seen: ServerObservation<'_>, pod: &SlimPod, set: &SlimGameServerSet) -> Value {
    let template = template_of(set);
    let set_name = set.metadata.name.clone().unwrap_or_default();
    let mut labels = template.labels();
    labels.insert(keys::OWNER_GSS.to_owned(), set_name.clone());
    if let Some(node) = pod.spec.node_name.as_ref().filter(|node| !node.is_empty()) {
        labels.insert(keys::NODE_NAME.to_owned(), node.clone());
    }
    let mut annotations = template.annotations();
    annotations.insert(keys::TEMPLATE_METADATA_HASH.to_owned(), metadata_hash(&template));
    let owner = match template.reclaim().unwrap_or_default() {
        ReclaimPolicy::Delete => set_owner(&set_name, &uid(&set.metadata)),
        ReclaimPolicy::Cascade => json!({
            "apiVersion": "v1", "kind": "Pod", "name": seen.name, "uid": uid(&pod.metadata),
            "controller": true, "blockOwnerDeletion": true,
        }),
    };
    json!({
        "apiVersion": "game.kruise.io/v1alpha1",
        "kind": "GameServer",
        "metadata": {
            "name": seen.name,
            "namespace": seen.namespace,
            "labels": labels,
            "annotations": annotations,
            "ownerReferences": [owner],
        },
        "spec": { "opsState": "None", "updatePriority": 0, "deletionPriority": 0, "networkDisabled": false },
    })
}

fn sync(
    seen: ServerObservation<'_>,
    pod: &SlimPod,
    server: &SlimGameServer,
    set: &SlimGameServerSet,
    plan: &mut ServerPlan,
) {
    let wishes = wishes(server);
    let state = state_of(pod);
    let template = template_of(set);
    let applied = pod_metadata(seen, pod, &wishes, state, &template, plan);
    pod_images(pod, &wishes, plan);
    server_metadata(pod, server, &template, plan);
    server_status(seen, pod, server, &wishes, state, &applied, plan);
}

/// Labels as the pod carries them after the patch.
struct Applied {
    deletion_priority: String,
    update_priority: String,
}

fn pod_metadata(
    seen: ServerObservation<'_>,
    pod: &SlimPod,
    wishes: &ServerWishes,
    state: ServerState,
    template: &GameServerTemplate,
    plan: &mut ServerPlan,
) -> Applied {
    let mut labels = Map::new();
    let mut annotations = Map::new();
    let network_disabled = wishes.network_disabled.to_string();
    let bookkeeping: [(&str, &str, &str); 5] = [
        (keys::GS_DELETE_PRIORITY, "DeletionPriority", &wishes.deletion_priority),
        (keys::GS_UPDATE_PRIORITY, "UpdatePriority", &wishes.update_priority),
        (keys::GS_OPS_STATE, "OpsState", &wishes.ops_state),
        (keys::NETWORK_DISABLED, "NetworkDisabled", &network_disabled),
        (keys::GS_STATE, "State", state.as_str()),
    ];
    for (key, words, new) in bookkeeping {
        let old = label(&pod.metadata, key);
        // What no label can hold would make every patch of this pod fail for ever.
        if old == new || !is_label_value(new) {
            continue;
        }
        labels.insert(key.to_owned(), json!(new));
        if key == keys::GS_OPS_STATE {
            annotations.insert(keys::OPS_STATE_LAST_CHANGED_TIME.to_owned(), json!(rfc3339(seen.now)));
        }
        if old.is_empty() {
            continue;
        }
        if key == keys::GS_STATE {
            annotations.insert(keys::STATE_LAST_CHANGED_TIME.to_owned(), json!(rfc3339(seen.now)));
        }
        plan.events.push(PlannedEvent {
            warning: matches!((words, new), ("OpsState", "Maintaining") | ("State", "Crash")),
            reason: STATE_CHANGED,
            message: format!("{words} turn from {old} to {new} "),
        });
    }
    for (key, value) in &wishes.sync_labels {
        if label(&pod.metadata, key) != value {
            labels.insert(key.clone(), json!(value));
        }
    }
    for (key, value) in &wishes.sync_annotations {
        if annotation(&pod.metadata, key) != Some(value) {
            annotations.insert(key.clone(), json!(value));
        }
    }
    let updating = match state {
        ServerState::PreUpdate => Some(containers_to_update(pod, template)).filter(|list| !list.is_empty()),
        ServerState::Updating => {
            annotation(&pod.metadata, keys::GS_UPDATING_CONTAINERS).map(ToOwned::to_owned)
        }
        _ => None,
    };
    if updating.as_deref() != annotation(&pod.metadata, keys::GS_UPDATING_CONTAINERS) {
        annotations.insert(keys::GS_UPDATING_CONTAINERS.to_owned(), json!(updating));
    }
    let after = |key: &str| {
        let new = labels.get(key).and_then(Value::as_str);
        new.unwrap_or_else(|| label(&pod.metadata, key)).to_owned()
    };
    let applied = Applied {
        deletion_priority: after(keys::GS_DELETE_PRIORITY),
        update_priority: after(keys::GS_UPDATE_PRIORITY),
    };
    if let Some(patch) = metadata_patch(&uid(&pod.metadata), labels, annotations) {
        plan.actions.push(ServerAction::PatchPod(patch));
    }
    applied
}

fn containers_to_update(pod: &SlimPod, template: &GameServerTemplate) -> String {
    let statuses = pod.status.container_statuses.iter();
    let differ = statuses
        .filter(|status| template.container_image(&status.name).is_some_and(|image| image != status.image))
        .map(|status| status.name.as_str());
    differ.collect::<Vec<_>>().join(",")
}

fn pod_images(pod: &SlimPod, wishes: &ServerWishes, plan: &mut ServerPlan) {
    let mut patch = Vec::new();
    for (index, container) in pod.spec.containers.iter().enumerate() {
        let wanted = wishes.containers.iter().filter(|wish| wish.name == container.name).find_map(|wish| {
            wish.image.as_ref().filter(|image| !image.is_empty() && **image != container.image)
        });
        let Some(image) = wanted else { continue };
        let path = format!("/spec/containers/{index}");
        patch.push(json!({ "op": "test", "path": format!("{path}/name"), "value": container.name }));
        patch.push(json!({ "op": "test", "path": format!("{path}/image"), "value": container.image }));
        patch.push(json!({ "op": "replace", "path": format!("{path}/image"), "value": image }));
    }
    if patch.is_empty() || pod.metadata.deletion_timestamp.is_some() {
        return;
    }
    patch.insert(0, json!({ "op": "test", "path": "/metadata/uid", "value": uid(&pod.metadata) }));
    plan.actions.push(ServerAction::PatchImages(Value::Array(patch)));
}

fn server_metadata(
    pod: &SlimPod,
    server: &SlimGameServer,
    template: &GameServerTemplate,
    plan: &mut ServerPlan,
) {
    let mut labels = Map::new();
    let mut annotations = Map::new();
    let hash = metadata_hash(template);
    if annotation(&server.metadata, keys::TEMPLATE_METADATA_HASH) != Some(&hash) {
        let differing = |own: Option<&BTreeMap<String, String>>, template: BTreeMap<String, String>| {
            let own = own.cloned().unwrap_or_default();
            template
                .into_iter()
                .filter(move |(key, value)| own.get(key) != Some(value))
                .map(|(k, v)| (k, json!(v)))
        };
        labels.extend(differing(server.metadata.labels.as_ref(), template.labels()));
        annotations.extend(differing(server.metadata.annotations.as_ref(), template.annotations()));
        annotations.insert(keys::TEMPLATE_METADATA_HASH.to_owned(), json!(hash));
    }
    if let Some(node) = pod.spec.node_name.as_ref().filter(|node| !node.is_empty())
        && label(&server.metadata, keys::NODE_NAME) != node
    {
        labels.insert(keys::NODE_NAME.to_owned(), json!(node));
    }
    if let Some(patch) = metadata_patch(&uid(&server.metadata), labels, annotations) {
        plan.actions.push(ServerAction::PatchServer(patch));
    }
}

fn server_status(
    seen: ServerObservation<'_>,
    pod: &SlimPod,
    server: &SlimGameServer,
    wishes: &ServerWishes,
    state: ServerState,
    applied: &Applied,
    plan: &mut ServerPlan,
) {
    let old = server.status.clone().unwrap_or_default();
    let illegal = Some(wishes.ops_state.as_str()).filter(|text| !is_label_value(text));
    let new = GameServerStatus {
        desired_state: Some("Ready".to_owned()),
        current_state: Some(state.as_str().to_owned()),
        deletion_priority: Some(IntOrString::String(applied.deletion_priority.clone())),
        update_priority: Some(IntOrString::String(applied.update_priority.clone())),
        conditions: conditions(pod, seen.node, illegal, &old.conditions, seen.now),
        ..old.clone()
    };
    let pod_status = serde_json::to_value(&pod.status).unwrap_or_default();
    let pod_changed = server.pod_status_hash != Some(hash_json(&pod_status));
    if new == old && !pod_changed {
        return;
    }
    for condition in
        new.conditions.iter().filter(|new| new.status == "False" && !old.conditions.contains(new))
    {
        plan.events.push(PlannedEvent {
            warning: true,
            reason: STATE_CHANGED,
            message: format!(
                "{}: {}",
                condition.reason.as_deref().unwrap_or_default(),
                condition.message.as_deref().unwrap_or_default()
            ),
        });
    }
    let new = GameServerStatus { last_transition_time: Some(Time(seen.now)), ..new };
    let before = server.status.as_ref().map(|status| serde_json::to_value(status).unwrap_or_default());
    let after = serde_json::to_value(&new).unwrap_or_default();
    let patch =
        status_patch(&uid(&server.metadata), before.as_ref(), &after, pod_changed.then_some(pod_status));
    plan.actions.push(ServerAction::PatchStatus(patch));
}

/// A JSON patch, field by field: a merge patch would leave fields of an older copy of the pod's status behind, and then
/// the copy would never be the same again.
fn status_patch(uid: &str, before: Option<&Value>, after: &Value, pod_status: Option<Value>) -> Value {
    let mut patch = vec![json!({ "op": "test", "path": "/metadata/uid", "value": uid })];
    if before.is_none() {
        patch.push(json!({ "op": "add", "path": "/status", "value": {} }));
    }
    let empty = Map::new();
    let fields = |value: Option<&Value>| value.and_then(Value::as_object).unwrap_or(&empty).clone();
    let (before, after) = (fields(before), fields(Some(after)));
    for key in before.keys().filter(|key| !after.contains_key(*key)) {
        patch.push(json!({ "op": "remove", "path": format!("/status/{key}") }));
    }
    for (key, value) in after.iter().filter(|(key, value)| before.get(*key) != Some(value)) {
        patch.push(json!({ "op": "add", "path": format!("/status/{key}"), "value": value }));
    }
    if let Some(pod_status) = pod_status {
        patch.push(json!({ "op": "add", "path": "/status/podStatus", "value": pod_status }));
    }
    Value::Array(patch)
}

fn metadata_patch(uid: &str, labels: Map<String, Value>, annotations: Map<String, Value>) -> Option<Value> {
    if labels.is_empty() && annotations.is_empty() {
        return None;
    }
    let mut metadata = json!({ "uid": uid });
    for (key, map) in [("labels", labels), ("annotations", annotations)] {
        if !map.is_empty() {
            metadata[key] = Value::Object(map);
        }
    }
    Some(json!({ "metadata": metadata }))
}

fn is_label_value(text: &str) -> bool {
    let ends_well = |c: Option<char>| c.is_none_or(|c| c.is_ascii_alphanumeric());
    text.len() <= 63
        && ends_well(text.chars().next())
        && ends_well(text.chars().next_back())
        && text.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.'))
}

#[cfg(test)]
#[path = "server_plan_tests.rs"]
mod tests;
