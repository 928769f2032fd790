//! The pod as simulated nodes see it: a slim watch type that holds only what scheduler and kubelet read.
//!
//! Managed fields, environment, probes and most of volumes are dropped while parsing, so that thousands of pods cost
//! little. Every list and map also accepts an explicit `null`: one odd object must not stop the watch for all others.

use std::borrow::Cow;
use std::collections::BTreeMap;

use k8s_openapi::NamespaceResourceScope;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{ObjectMeta, Time};
use serde::{Deserialize, Deserializer, Serialize};

use super::affinity::Affinity;
use super::amount::Amount;
use super::game::PLAYERS_ANNOTATION;

/// Prefix of the annotations by which somebody makes trouble for one pod; see [`super`].
pub const ANNOTATION_PREFIX: &str = "sim.pilothouse.dev/";

/// The same under a name that OpenKruiseGame copies from a GameServer to its pods, so that trouble can be asked for on the
/// GameServer and lasts when its pod is replaced.
pub const SYNCED_PREFIX: &str = "gs-sync/sim.pilothouse.dev.";

/// One pod. `metadata` holds name, namespace, uid, versions, deletion, finalizers, labels and our own annotations only.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Pod {
    /// Slim metadata.
    #[serde(deserialize_with = "slim_metadata")]
    pub metadata: ObjectMeta,
    /// What shall run.
    #[serde(deserialize_with = "or_default")]
    pub spec: PodSpec,
    /// What the API server says that runs.
    #[serde(deserialize_with = "or_default")]
    pub status: PodStatus,
}

impl Pod {
    /// The uid, or an empty text before the API server gave one.
    pub fn uid(&self) -> &str {
        self.metadata.uid.as_deref().unwrap_or_default()
    }

    /// The name.
    pub fn name(&self) -> &str {
        self.metadata.name.as_deref().unwrap_or_default()
    }

    /// The namespace.
    pub fn namespace(&self) -> &str {
        self.metadata.namespace.as_deref().unwrap_or_default()
    }

    /// The value of our annotation `sim.pilothouse.dev/<key>`, else of the one that comes from its GameServer.
    pub fn wish(&self, key: &str) -> Option<&str> {
        let annotations = self.metadata.annotations.as_ref()?;
        let of = |prefix: &str| {
            let wanted = |name: &&String| name.strip_prefix(prefix) == Some(key);
            annotations.iter().find(|(name, _)| wanted(name)).map(|(_, value)| value.trim())
        };
        of(ANNOTATION_PREFIX).or_else(|| of(SYNCED_PREFIX))
    }

    /// True once the pod has ended for good; nothing in it runs again.
    pub fn is_terminal(&self) -> bool {
        matches!(self.status.phase.as_deref(), Some("Succeeded" | "Failed"))
    }

    /// True once somebody asked for its deletion.
    pub fn is_deleting(&self) -> bool {
        self.metadata.deletion_timestamp.is_some()
    }
}

impl kube::Resource for Pod {
    type DynamicType = ();
    type Scope = NamespaceResourceScope;

    fn kind((): &()) -> Cow<'_, str> {
        "Pod".into()
    }
    fn group((): &()) -> Cow<'_, str> {
        "".into()
    }
    fn version((): &()) -> Cow<'_, str> {
        "v1".into()
    }
    fn plural((): &()) -> Cow<'_, str> {
        "pods".into()
    }
    fn meta(&self) -> &ObjectMeta {
        &self.metadata
    }
    fn meta_mut(&mut self) -> &mut ObjectMeta {
        &mut self.metadata
    }
}

/// The part of the pod's spec that decides where and how it runs.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(rename_all = "camelCase", default)]
pub struct PodSpec {
    /// The node that runs it; absent until it is bound.
    pub node_name: Option<String>,
    /// Which scheduler binds it.
    pub scheduler_name: Option<String>,
    /// Labels that the node must have.
    #[serde(deserialize_with = "or_default")]
    pub node_selector: BTreeMap<String, String>,
    /// Taints that it accepts.
    #[serde(deserialize_with = "or_default")]
    pub tolerations: Vec<Toleration>,
    /// The containers.
    #[serde(deserialize_with = "or_default")]
    pub containers: Vec<Container>,
    /// Containers that run, one after the other, before the others start.
    #[serde(deserialize_with = "or_default")]
    pub init_containers: Vec<Container>,
    /// `Always` (also when absent), `OnFailure` or `Never`.
    pub restart_policy: Option<String>,
    /// Conditions that others set and without which the pod is not Ready.
    #[serde(deserialize_with = "or_default")]
    pub readiness_gates: Vec<ReadinessGate>,
    /// Gates that keep the scheduler away while any is there.
    #[serde(deserialize_with = "or_default")]
    pub scheduling_gates: Vec<serde_json::Value>,
    /// Seconds that a stop may take; 30 when absent.
    pub termination_grace_period_seconds: Option<i64>,
    /// True when the pod has the node's address.
    #[serde(deserialize_with = "or_default")]
    pub host_network: bool,
    /// What the runtime itself costs, on top of the containers.
    #[serde(deserialize_with = "or_default")]
    pub overhead: BTreeMap<String, Amount>,
    /// Which nodes it wants, and beside which pods. Boxed, because most pods have none.
    pub affinity: Option<Box<Affinity>>,
    /// Names of the claims among its volumes.
    #[serde(rename = "volumes", deserialize_with = "claim_names", skip_serializing)]
    pub claims: Vec<String>,
}

/// One container of the spec.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Container {
    /// Its name, unique in the pod.
    pub name: String,
    /// The image to run.
    #[serde(deserialize_with = "or_default")]
    pub image: String,
    /// Requests and limits.
    #[serde(deserialize_with = "or_default")]
    pub resources: Resources,
    /// `Always` on an init container makes it a sidecar that keeps running.
    pub restart_policy: Option<String>,
    /// Ports that it takes on the node itself; others are dropped.
    #[serde(deserialize_with = "host_ports")]
    pub ports: Vec<HostPort>,
    /// Resources, `cpu` or `memory`, that cannot be changed without a restart.
    #[serde(rename = "resizePolicy", deserialize_with = "restart_on_resize", skip_serializing)]
    pub restart_on_resize: Vec<String>,
}

/// A port that a container takes on the node.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "camelCase", default)]
pub struct HostPort {
    /// The port; 0 is none.
    #[serde(deserialize_with = "or_default")]
    pub host_port: u16,
    /// On which address of the node; empty or `0.0.0.0` means all.
    #[serde(rename = "hostIP", deserialize_with = "or_default")]
    pub host_ip: String,
    /// `TCP` (also when empty), `UDP` or `SCTP`.
    #[serde(deserialize_with = "or_default")]
    pub protocol: String,
}

/// Requests and limits, by resource name.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Resources {
    /// What may be used at most.
    #[serde(deserialize_with = "or_default", skip_serializing_if = "BTreeMap::is_empty")]
    pub limits: BTreeMap<String, Amount>,
    /// What is set aside on the node.
    #[serde(deserialize_with = "or_default", skip_serializing_if = "BTreeMap::is_empty")]
    pub requests: BTreeMap<String, Amount>,
}

/// A taint that the pod accepts.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Toleration {
    /// The taint's key; absent with operator `Exists` means all keys.
    pub key: Option<String>,
    /// `Equal` (also when absent) or `Exists`.
    pub operator: Option<String>,
    /// The taint's value.
    pub value: Option<String>,
    /// The taint's effect; absent means all effects.
    pub effect: Option<String>,
}

/// A condition that others set and without which the pod is not Ready.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ReadinessGate {
    /// The type of that condition.
    pub condition_type: String,
}

/// The part of the pod's status that scheduler and kubelet write.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
#[serde(rename_all = "camelCase", default)]
pub struct PodStatus {
    /// Generation of the spec that this status speaks of.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,
    /// `Pending`, `Running`, `Succeeded` or `Failed`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub phase: Option<String>,
    /// Why the phase is what it is, in one word.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The same in a sentence.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// Conditions, also those of other writers.
    #[serde(deserialize_with = "or_default", skip_serializing_if = "Vec::is_empty")]
    pub conditions: Vec<Condition>,
    /// Address of the node.
    #[serde(rename = "hostIP", skip_serializing_if = "Option::is_none")]
    pub host_ip: Option<String>,
    /// The same as a list.
    #[serde(rename = "hostIPs", deserialize_with = "or_default", skip_serializing_if = "Vec::is_empty")]
    pub host_ips: Vec<Address>,
    /// Address of the pod.
    #[serde(rename = "podIP", skip_serializing_if = "Option::is_none")]
    pub pod_ip: Option<String>,
    /// The same as a list.
    #[serde(rename = "podIPs", deserialize_with = "or_default", skip_serializing_if = "Vec::is_empty")]
    pub pod_ips: Vec<Address>,
    /// When the kubelet saw the pod first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub start_time: Option<Time>,
    /// One entry for each init container.
    #[serde(deserialize_with = "or_default", skip_serializing_if = "Vec::is_empty")]
    pub init_container_statuses: Vec<ContainerStatus>,
    /// One entry for each container.
    #[serde(deserialize_with = "or_default", skip_serializing_if = "Vec::is_empty")]
    pub container_statuses: Vec<ContainerStatus>,
}

impl PodStatus {
    /// The condition of this type.
    pub fn condition(&self, kind: &str) -> Option<&Condition> {
        self.conditions.iter().find(|condition| condition.kind == kind)
    }
}

/// One IP address in the shape of `podIPs` and `hostIPs`.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
#[serde(default)]
pub struct Address {
    /// The address as text.
    pub ip: String,
}

/// One condition of a pod.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Condition {
    /// Its type, such as `Ready`.
    #[serde(rename = "type")]
    pub kind: String,
    /// `True`, `False` or `Unknown`.
    pub status: String,
    /// When somebody last looked (kept for conditions of others).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_probe_time: Option<Time>,
    /// When the status last changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_transition_time: Option<Time>,
    /// Why, in one word.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Why, in a sentence.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// Generation of the spec that it speaks of.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,
}

/// What one container does.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ContainerStatus {
    /// The container's name.
    pub name: String,
    /// What it does now.
    #[serde(deserialize_with = "or_default")]
    pub state: ContainerState,
    /// How it ended the last time.
    #[serde(deserialize_with = "or_default")]
    pub last_state: ContainerState,
    /// True when it can serve.
    pub ready: bool,
    /// How often it was started again.
    pub restart_count: u32,
    /// The image that runs, or shall run when none does.
    pub image: String,
    /// The digest of the image that runs; empty when none does.
    #[serde(rename = "imageID")]
    pub image_id: String,
    /// The runtime's id of the container.
    #[serde(rename = "containerID", skip_serializing_if = "Option::is_none")]
    pub container_id: Option<String>,
    /// True once it has started.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub started: Option<bool>,
    /// Requests that the node set aside. Without these the API server refuses a resize.
    #[serde(deserialize_with = "or_default", skip_serializing_if = "BTreeMap::is_empty")]
    pub allocated_resources: BTreeMap<String, Amount>,
    /// Requests and limits in force.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resources: Option<Resources>,
}

/// At most one of the three is there.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ContainerState {
    /// It does not run yet, or not now.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub waiting: Option<Waiting>,
    /// It runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub running: Option<Running>,
    /// It ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub terminated: Option<Terminated>,
}

/// Why a container does not run.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Waiting {
    /// In one word, such as `ContainerCreating`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// In a sentence.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
}

/// Since when a container runs.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Running {
    /// The start.
    pub started_at: Option<Time>,
}

/// How a container ended.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Terminated {
    /// Exit code of its process.
    pub exit_code: i32,
    /// `Completed` or `Error`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The start.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub started_at: Option<Time>,
    /// The end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub finished_at: Option<Time>,
    /// The runtime's id of the container that ended.
    #[serde(rename = "containerID", skip_serializing_if = "Option::is_none")]
    pub container_id: Option<String>,
}

/// Reads an explicit `null` as the default value.
pub(super) fn or_default<'de, D, T>(deserializer: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de> + Default,
{
    Ok(Option::<T>::deserialize(deserializer)?.unwrap_or_default())
}

/// Reads ports and keeps those that are taken on the node.
fn host_ports<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<HostPort>, D::Error> {
    let mut ports: Vec<HostPort> = or_default(deserializer)?;
    ports.retain(|port| port.host_port != 0);
    ports.shrink_to_fit();
    Ok(ports)
}

/// Reads resize policies and keeps the names of resources whose change restarts the container.
fn restart_on_resize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Policy {
        resource_name: String,
        restart_policy: String,
    }
    let policies = Option::<Vec<Policy>>::deserialize(deserializer)?.unwrap_or_default();
    let restarts = policies.into_iter().filter(|policy| policy.restart_policy == "RestartContainer");
    Ok(restarts.map(|policy| policy.resource_name).collect())
}

/// Reads volumes and keeps the names of claims.
fn claim_names<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Volume {
        persistent_volume_claim: Option<Claim>,
    }
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Claim {
        claim_name: String,
    }
    let volumes = Option::<Vec<Volume>>::deserialize(deserializer)?.unwrap_or_default();
    Ok(volumes.into_iter().filter_map(|volume| Some(volume.persistent_volume_claim?.claim_name)).collect())
}

/// Reads metadata and keeps only what simulated nodes use.
fn slim_metadata<'de, D: Deserializer<'de>>(deserializer: D) -> Result<ObjectMeta, D::Error> {
    #[derive(Default, Deserialize)]
    #[serde(rename_all = "camelCase", default)]
    struct Slim {
        name: Option<String>,
        namespace: Option<String>,
        uid: Option<String>,
        resource_version: Option<String>,
        generation: Option<i64>,
        creation_timestamp: Option<Time>,
        deletion_timestamp: Option<Time>,
        deletion_grace_period_seconds: Option<i64>,
        finalizers: Option<Vec<String>>,
        annotations: Option<BTreeMap<String, String>>,
        labels: Option<BTreeMap<String, String>>,
    }
    let slim = Option::<Slim>::deserialize(deserializer)?.unwrap_or_default();
    let annotations = slim.annotations.map(|mut all| {
        let ours = |key: &str| key.starts_with(ANNOTATION_PREFIX) || key.starts_with(SYNCED_PREFIX);
        all.retain(|key, _| ours(key) || key == PLAYERS_ANNOTATION);
        all
    });
    Ok(ObjectMeta {
        name: slim.name,
        namespace: slim.namespace,
        uid: slim.uid,
        resource_version: slim.resource_version,
        generation: slim.generation,
        creation_timestamp: slim.creation_timestamp,
        deletion_timestamp: slim.deletion_timestamp,
        deletion_grace_period_seconds: slim.deletion_grace_period_seconds,
        finalizers: slim.finalizers.filter(|list| !list.is_empty()),
        annotations: annotations.filter(|map| !map.is_empty()),
        labels: slim.labels.filter(|map| !map.is_empty()),
        ..ObjectMeta::default()
    })
}

#[cfg(test)]
mod tests {
    use super::Pod;

    #[test]
    fn only_what_is_used_is_kept() {
        let pod: Pod = serde_json::from_value(serde_json::json!({
            "metadata": {"name": "a-0", "namespace": "x", "uid": "u", "resourceVersion": "7",
                "labels": {"a": "b"}, "managedFields": [{"manager": "m"}],
                "annotations": {"sim.pilothouse.dev/crash": " 3 ", "other": "y", "gs-sync/sim.pilothouse.dev.crash": "4",
                    "gs-sync/sim.pilothouse.dev.exit": "5", "gs-sync/other": "z"}},
            "spec": {"containers": [{"name": "c", "image": "i", "env": [], "resources": {"requests": {"cpu": 1}},
                    "ports": [{"containerPort": 1}, {"containerPort": 2, "hostPort": 3, "protocol": "UDP"}]}],
                "volumes": [{"name": "a", "emptyDir": {}}, {"name": "b", "persistentVolumeClaim": {"claimName": "data-a-0"}}],
                "nodeSelector": null, "tolerations": null, "initContainers": null},
            "status": null,
        }))
        .unwrap();
        assert!(pod.metadata.labels.is_some() && pod.metadata.managed_fields.is_none());
        assert_eq!(pod.spec.claims, ["data-a-0"]);
        assert_eq!(pod.spec.containers[0].ports.len(), 1);
        assert_eq!(pod.wish("crash"), Some("3"));
        assert_eq!(pod.wish("exit"), Some("5"));
        assert_eq!(pod.metadata.annotations.as_ref().unwrap().len(), 3);
        assert_eq!(pod.spec.containers[0].resources.requests["cpu"].milli(), 1000);
    }

    #[test]
    fn a_real_status_survives_a_round_trip() {
        let status = serde_json::json!({
            "observedGeneration": 1, "phase": "Running", "hostIP": "10.0.0.1", "hostIPs": [{"ip": "10.0.0.1"}],
            "podIP": "10.2.0.4", "podIPs": [{"ip": "10.2.0.4"}], "startTime": "2026-11-29T10:00:00Z",
            "conditions": [{"type": "Ready", "status": "True", "lastTransitionTime": "2026-11-29T10:00:05Z"}],
            "containerStatuses": [{"name": "c", "state": {"running": {"startedAt": "2026-11-29T10:00:03Z"}},
                "lastState": {}, "ready": true, "restartCount": 0, "image": "i:1", "imageID": "i@sha256:0",
                "containerID": "containerd://1", "started": true, "allocatedResources": {"cpu": "1"},
                "resources": {"requests": {"cpu": "1"}}}],
        });
        let pod: Pod = serde_json::from_value(serde_json::json!({"metadata": {}, "status": status})).unwrap();
        assert_eq!(serde_json::to_value(&pod.status).unwrap(), status);
    }
}
