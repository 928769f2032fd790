//! Slim Pod: where it runs, what its containers are and how they are.

use std::sync::Arc;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{ObjectMeta, Time};
use kube::core::NamespaceResourceScope;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

use super::shared::share;
use super::{SlimCondition, slim_metadata, slim_resource};
use crate::lenient::{items, or_default};

/// A pod as the caches hold it.
#[derive(Clone, Debug, Default, Deserialize, PartialEq)]
pub struct SlimPod {
    /// Metadata without managedFields and kubectl's copy.
    #[serde(default, deserialize_with = "slim_metadata")]
    pub metadata: ObjectMeta,
    /// What it should be.
    #[serde(default, deserialize_with = "or_default")]
    pub spec: SlimPodSpec,
    /// What it is.
    #[serde(default, deserialize_with = "or_default")]
    pub status: SlimPodStatus,
}

slim_resource!(SlimPod, "Pod", "", "v1", "pods", NamespaceResourceScope, [spec as "spec", status as "status"]);

/// What a pod should be.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SlimPodSpec {
    /// Node that it was bound to.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "or_default")]
    pub node_name: Option<String>,
    /// Which scheduler binds it.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "or_default")]
    pub scheduler_name: Option<String>,
    /// Its containers, without the init containers.
    #[serde(default, deserialize_with = "items")]
    pub containers: Vec<SlimContainer>,
    /// Its volumes, each with the claim behind it.
    #[serde(default, skip_serializing_if = "Vec::is_empty", deserialize_with = "items")]
    pub volumes: Vec<SlimVolume>,
}

impl SlimPodSpec {
    /// The names of the claims that the pod uses.
    pub fn claim_names(&self) -> impl Iterator<Item = &str> {
        self.volumes
            .iter()
            .filter_map(|volume| volume.persistent_volume_claim.as_ref())
            .map(|claim| claim.claim_name.as_str())
    }
}

/// One container of a pod.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SlimContainer {
    /// Its name.
    pub name: String,
    /// Its image reference.
    #[serde(default, deserialize_with = "or_default")]
    pub image: String,
    /// Its resources as written, shared by all containers that say the same; absent when there are none.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "resources")]
    pub resources: Option<Arc<Value>>,
}

/// Most containers carry an empty object here; it is not worth an allocation.
fn resources<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Arc<Value>>, D::Error> {
    let value = Value::deserialize(deserializer)?;
    Ok(if value.as_object().is_none_or(serde_json::Map::is_empty) { None } else { Some(share(value)) })
}

/// One volume of a pod; only claims are kept.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SlimVolume {
    /// Its name in the pod.
    pub name: String,
    /// The claim behind it.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "or_default")]
    pub persistent_volume_claim: Option<SlimClaimSource>,
}

/// Reference of a volume to its claim.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SlimClaimSource {
    /// Name of the claim in the pod's namespace.
    pub claim_name: String,
}

/// What a pod is.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SlimPodStatus {
    /// `Pending`, `Running`, `Succeeded`, `Failed`, `Unknown`; empty before anybody wrote it.
    #[serde(default, deserialize_with = "or_default")]
    pub phase: String,
    /// Stable word, such as `Evicted`.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "or_default")]
    pub reason: Option<String>,
    /// Sentence for people.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "or_default")]
    pub message: Option<String>,
    /// Its conditions, readiness gates included.
    #[serde(default, skip_serializing_if = "Vec::is_empty", deserialize_with = "items")]
    pub conditions: Vec<SlimCondition>,
    /// Address inside the cluster.
    #[serde(
        default,
        rename = "podIP",
        skip_serializing_if = "Option::is_none",
        deserialize_with = "or_default"
    )]
    pub pod_ip: Option<String>,
    /// Address of the node.
    #[serde(
        default,
        rename = "hostIP",
        skip_serializing_if = "Option::is_none",
        deserialize_with = "or_default"
    )]
    pub host_ip: Option<String>,
    /// When the kubelet took it on.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "or_default")]
    pub start_time: Option<Time>,
    /// How its init containers are.
    #[serde(default, skip_serializing_if = "Vec::is_empty", deserialize_with = "items")]
    pub init_container_statuses: Vec<SlimContainerStatus>,
    /// How its containers are.
    #[serde(default, skip_serializing_if = "Vec::is_empty", deserialize_with = "items")]
    pub container_statuses: Vec<SlimContainerStatus>,
}

impl SlimPod {
    /// The condition of a type.
    #[must_use]
    pub fn condition(&self, type_: &str) -> Option<&SlimCondition> {
        self.status.condition(type_)
    }
}

impl SlimPodStatus {
    /// The condition of a type.
    #[must_use]
    pub fn condition(&self, type_: &str) -> Option<&SlimCondition> {
        self.conditions.iter().find(|condition| condition.type_ == type_)
    }
}

/// How one container is.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SlimContainerStatus {
    /// Its name.
    pub name: String,
    /// The image that runs, in the runtime's words.
    #[serde(default, deserialize_with = "or_default")]
    pub image: String,
    /// Digest of the image that runs.
    #[serde(default, rename = "imageID", deserialize_with = "or_default")]
    pub image_id: String,
    /// Whether its probes are content.
    #[serde(default, deserialize_with = "or_default")]
    pub ready: bool,
    /// How often it was started again.
    #[serde(default, deserialize_with = "or_default")]
    pub restart_count: i32,
    /// What it is doing.
    #[serde(default, deserialize_with = "or_default")]
    pub state: SlimContainerState,
    /// What became of the run before.
    #[serde(default, deserialize_with = "or_default")]
    pub last_state: SlimContainerState,
}

/// What a container is doing; at most one part is there.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SlimContainerState {
    /// It runs.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "or_default")]
    pub running: Option<SlimRunning>,
    /// It waits.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "or_default")]
    pub waiting: Option<SlimWaiting>,
    /// It ended.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "or_default")]
    pub terminated: Option<SlimTerminated>,
}

/// A container that runs.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SlimRunning {
    /// Since when.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "or_default")]
    pub started_at: Option<Time>,
}

/// A container that waits.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SlimWaiting {
    /// Stable word, such as `CrashLoopBackOff`.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "or_default")]
    pub reason: Option<String>,
    /// Sentence for people.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "or_default")]
    pub message: Option<String>,
}

/// A container that ended.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SlimTerminated {
    /// Exit code of the process.
    #[serde(default, deserialize_with = "or_default")]
    pub exit_code: i32,
    /// Stable word, such as `OOMKilled`.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "or_default")]
    pub reason: Option<String>,
    /// Sentence for people.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "or_default")]
    pub message: Option<String>,
    /// When it ended.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "or_default")]
    pub finished_at: Option<Time>,
}
