//! Kind BatchEditTargets: an immutable piece of a batch's frozen targets, written once by the controller.

use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// How many targets one piece holds: about 100 kB, which the API server writes in some tens of milliseconds.
pub const TARGETS_PER_PIECE: usize = 500;

/// A run of targets in the batch's order. It never changes.
#[derive(Clone, CustomResource, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[kube(
    group = "pilothouse.dev",
    version = "v1alpha1",
    kind = "BatchEditTargets",
    plural = "batchedittargets",
    singular = "batchedittargets",
    shortname = "bet",
    namespaced,
    derive = "Default",
    derive = "PartialEq",
    doc = "A piece of the frozen targets of a BatchEdit; written once, only by the controller.",
    printcolumn(name = "Batch", type_ = "string", json_path = ".spec.batch"),
    printcolumn(name = "Index", type_ = "integer", json_path = ".spec.index"),
    printcolumn(name = "Age", type_ = "date", json_path = ".metadata.creationTimestamp")
)]
#[schemars(extend("x-kubernetes-validations" = [{
    "rule": "self == oldSelf",
    "message": "the targets of a batch are frozen",
}]))]
pub struct BatchEditTargetsSpec {
    /// Name of the batch, in the same namespace.
    #[schemars(length(max = 253))]
    pub batch: String,
    /// Which piece this is, from 0.
    #[schemars(range(min = 0))]
    pub index: i32,
    /// The targets.
    #[schemars(length(max = 1000), extend("x-kubernetes-list-type" = "atomic"))]
    pub targets: Vec<FrozenTarget>,
}

/// One server as it was when the batch was accepted.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct FrozenTarget {
    /// `family/namespace/name`.
    #[schemars(length(max = 350))]
    pub key: String,
    /// Unique id of the object; a server that was replaced meanwhile has another one.
    #[schemars(length(max = 64))]
    pub uid: String,
    /// Unique id of the pod at that time, where the change stops or restarts it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 64))]
    pub pod_uid: Option<String>,
    /// What changes, from what to what.
    #[serde(
        default,
        skip_serializing_if = "Vec::is_empty",
        deserialize_with = "crate::lenient::null_is_default"
    )]
    #[schemars(length(max = 64))]
    pub fields: Vec<FieldChange>,
    /// What the batch will do with it.
    #[serde(default, skip_serializing_if = "Verdict::is_change")]
    pub verdict: Verdict,
    /// Stable word that says why it is left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 64))]
    pub reason: Option<String>,
}

/// One field of a target. An absent `old` means that the field was absent.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct FieldChange {
    /// Which field.
    pub field: TargetField,
    /// Name of the container, for fields of one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 63))]
    pub container: Option<String>,
    /// The value in the object when the target was frozen, exactly as stored: it guards the edit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "crate::schema::any_value")]
    pub old: Option<Value>,
    /// The value that the object gets; absent takes the field away.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "crate::schema::any_value")]
    pub new: Option<Value>,
}

/// Fields that a batch can change.
#[derive(
    Clone, Copy, Debug, Default, Deserialize, Eq, Hash, JsonSchema, Ord, PartialEq, PartialOrd, Serialize,
)]
#[serde(rename_all = "camelCase")]
pub enum TargetField {
    /// `spec.opsState`.
    #[default]
    OpsState,
    /// `spec.deletionPriority`.
    DeletionPriority,
    /// `spec.containers[name].image`.
    Image,
}

/// What a batch does with a target.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, Hash, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Verdict {
    /// Change it.
    #[default]
    Change,
    /// Nothing: it has the new values already.
    Unchanged,
    /// Nothing, on purpose; `reason` says why.
    LeftOut,
}

impl Verdict {
    /// Whether the target is to be changed.
    #[must_use]
    pub fn is_change(&self) -> bool {
        *self == Self::Change
    }
}
