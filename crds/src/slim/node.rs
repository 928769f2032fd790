//! Slim Node: whether game servers on it are well.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::core::ClusterResourceScope;
use serde::{Deserialize, Serialize};

use super::{SlimCondition, slim_metadata, slim_resource};
use crate::lenient::{items, or_default};

/// A node as the caches hold it.
#[derive(Clone, Debug, Default, Deserialize, PartialEq)]
pub struct SlimNode {
    /// Metadata without managedFields and kubectl's copy.
    #[serde(default, deserialize_with = "slim_metadata")]
    pub metadata: ObjectMeta,
    /// What it should be.
    #[serde(default, deserialize_with = "or_default")]
    pub spec: SlimNodeSpec,
    /// What it is.
    #[serde(default, deserialize_with = "or_default")]
    pub status: SlimNodeStatus,
}

slim_resource!(SlimNode, "Node", "", "v1", "nodes", ClusterResourceScope, [spec as "spec", status as "status"]);

/// What a node should be.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SlimNodeSpec {
    /// Cordoned: no new pods.
    #[serde(default, deserialize_with = "or_default")]
    pub unschedulable: bool,
}

/// What a node is.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SlimNodeStatus {
    /// Its conditions.
    #[serde(default, skip_serializing_if = "Vec::is_empty", deserialize_with = "items")]
    pub conditions: Vec<SlimCondition>,
}
