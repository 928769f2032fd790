//! Kind GameServer: one server of a set, its operational wishes (spec) and what was seen of it (status).

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use k8s_openapi::apimachinery::pkg::util::intstr::IntOrString;
use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{GameServerContainer, NetworkStatus, OpsState};

/// What people and tools want of one server. Everything is optional.
#[derive(Clone, CustomResource, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[kube(
    group = "game.kruise.io",
    version = "v1alpha1",
    kind = "GameServer",
    plural = "gameservers",
    shortname = "gs",
    namespaced,
    status = "GameServerStatus",
    derive = "Default",
    derive = "PartialEq",
    doc = "One game server of a GameServerSet; it has the name of its pod.",
    printcolumn(name = "STATE", type_ = "string", json_path = ".status.currentState"),
    printcolumn(name = "OPSSTATE", type_ = "string", json_path = ".spec.opsState"),
    printcolumn(name = "DP", type_ = "string", json_path = ".status.deletionPriority"),
    printcolumn(name = "UP", type_ = "string", json_path = ".status.updatePriority"),
    printcolumn(name = "AGE", type_ = "date", json_path = ".metadata.creationTimestamp")
)]
pub struct GameServerSpec {
    /// Operational state: None, WaitToBeDeleted, Maintaining, Allocated, Kill, or any legal label value of your own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ops_state: Option<OpsState>,
    /// A higher number is updated first.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "crate::lenient::optional_int_or_string"
    )]
    #[schemars(schema_with = "crate::schema::int_or_string")]
    pub update_priority: Option<IntOrString>,
    /// A higher number is deleted first.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "crate::lenient::optional_int_or_string"
    )]
    #[schemars(schema_with = "crate::schema::int_or_string")]
    pub deletion_priority: Option<IntOrString>,
    /// Asks the network plugin to isolate the server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub network_disabled: Option<bool>,
    /// What this server's containers have instead of the template's values.
    #[serde(
        default,
        skip_serializing_if = "Vec::is_empty",
        deserialize_with = "crate::lenient::null_is_default"
    )]
    #[schemars(extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["name"]))]
    pub containers: Vec<GameServerContainer>,
}

/// What was seen of one server.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct GameServerStatus {
    /// Always `Ready`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub desired_state: Option<String>,
    /// Unknown, Creating, Ready, NotReady, Crash, Updating, Deleting, PreDelete, PreUpdate, or empty.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub current_state: Option<String>,
    /// Addresses.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub network_status: Option<NetworkStatus>,
    /// Copy of the pod's status.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "crate::schema::any_object")]
    pub pod_status: Option<Value>,
    /// Last result of each service quality.
    #[serde(
        default,
        skip_serializing_if = "Vec::is_empty",
        deserialize_with = "crate::lenient::null_is_default"
    )]
    pub service_qualities_conditions: Vec<ServiceQualityCondition>,
    /// The update priority that the pod really carries.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "crate::lenient::optional_int_or_string"
    )]
    #[schemars(schema_with = "crate::schema::int_or_string")]
    pub update_priority: Option<IntOrString>,
    /// The deletion priority that the pod really carries.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "crate::lenient::optional_int_or_string"
    )]
    #[schemars(schema_with = "crate::schema::int_or_string")]
    pub deletion_priority: Option<IntOrString>,
    /// When this status last changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_transition_time: Option<Time>,
    /// What is wrong, or not: PodNormal, NodeNormal, PersistentVolumeNormal.
    #[serde(
        default,
        skip_serializing_if = "Vec::is_empty",
        deserialize_with = "crate::lenient::null_is_default"
    )]
    pub conditions: Vec<GameServerCondition>,
}

/// One condition of a game server. Upstream's own shape: reason and message may be absent.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct GameServerCondition {
    /// Kind of condition.
    #[serde(rename = "type")]
    pub type_: String,
    /// `True`, `False` or `Unknown`.
    pub status: String,
    /// Never written; kept because upstream declares it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_probe_time: Option<Time>,
    /// When the status last changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_transition_time: Option<Time>,
    /// Stable word for machines.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Sentence for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
}

/// Types of [`GameServerCondition`].
pub mod condition_types {
    /// About the pod and its containers.
    pub const POD_NORMAL: &str = "PodNormal";
    /// About the node; only when the pod has one.
    pub const NODE_NORMAL: &str = "NodeNormal";
    /// About claims and volumes.
    pub const PERSISTENT_VOLUME_NORMAL: &str = "PersistentVolumeNormal";
}

/// Last result of one service quality.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ServiceQualityCondition {
    /// Name of the service quality.
    pub name: String,
    /// `True`, `False` or `Unknown`; absent when it was never probed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<String>,
    /// What the probe said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<String>,
    /// Time of the last probe.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_probe_time: Option<Time>,
    /// The later of action and probe.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_transition_time: Option<Time>,
    /// When an action last ran.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_action_transition_time: Option<Time>,
}
