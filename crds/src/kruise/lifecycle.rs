//! Lifecycle hooks: labels and finalizers that hold a step of a pod until somebody takes them away.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Hooks at the three steps where a pod can be held.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Lifecycle {
    /// Holds the deletion of a pod.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pre_delete: Option<LifecycleHook>,
    /// Holds an in-place update before it starts and until it is accepted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub in_place_update: Option<LifecycleHook>,
    /// Holds a new pod before it counts as available.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pre_normal: Option<LifecycleHook>,
}

/// One hook: it holds while the pod carries any of its labels or finalizers.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct LifecycleHook {
    /// Labels that hold the step.
    #[serde(
        default,
        skip_serializing_if = "BTreeMap::is_empty",
        deserialize_with = "crate::lenient::null_is_default"
    )]
    pub labels_handler: BTreeMap<String, String>,
    /// Finalizers that hold the step.
    #[serde(
        default,
        skip_serializing_if = "Vec::is_empty",
        deserialize_with = "crate::lenient::null_is_default"
    )]
    pub finalizers_handler: Vec<String>,
    /// Makes the pod not ready while the step is held.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mark_pod_not_ready: Option<bool>,
}
