//! Kind BatchEdit: one change for many game servers, who asked for it, and how far it is.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, Time};
use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::kruise::OpsState;
use crate::lenient::is_false;

/// What to change, where, and by whom. Only `cancelled` may change later, and only to true.
#[derive(Clone, CustomResource, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[kube(
    group = "pilothouse.dev",
    version = "v1alpha1",
    kind = "BatchEdit",
    plural = "batchedits",
    shortname = "be",
    namespaced,
    status = "BatchEditStatus",
    derive = "Default",
    derive = "PartialEq",
    doc = "One change for many game servers, applied by the controller with a result for each server.",
    printcolumn(name = "Phase", type_ = "string", json_path = ".status.phase"),
    printcolumn(name = "Total", type_ = "integer", json_path = ".status.totals.total"),
    printcolumn(name = "Changed", type_ = "integer", json_path = ".status.totals.changed"),
    printcolumn(name = "LeftOut", type_ = "integer", json_path = ".status.totals.leftOut"),
    printcolumn(name = "Failed", type_ = "integer", json_path = ".status.totals.failed"),
    printcolumn(name = "Author", type_ = "string", json_path = ".spec.author.user"),
    printcolumn(name = "Age", type_ = "date", json_path = ".metadata.creationTimestamp"),
    printcolumn(name = "Target", type_ = "string", json_path = ".spec.target.query", priority = 1),
    printcolumn(name = "Message", type_ = "string", json_path = ".status.message", priority = 1)
)]
#[schemars(extend("x-kubernetes-validations" = [
    {
        "rule": "self.target == oldSelf.target && self.change == oldSelf.change && has(self.author) == has(oldSelf.author) && (!has(self.author) || self.author == oldSelf.author)",
        "message": "a batch cannot be changed once it was made, only cancelled",
    },
    {
        "rule": "has(self.policy) == has(oldSelf.policy) && (!has(self.policy) || self.policy == oldSelf.policy)",
        "message": "a batch's policy cannot be changed once it was made",
    },
    {
        "rule": "has(self.previewToken) == has(oldSelf.previewToken) && (!has(self.previewToken) || self.previewToken == oldSelf.previewToken) && has(self.idempotencyKey) == has(oldSelf.idempotencyKey) && (!has(self.idempotencyKey) || self.idempotencyKey == oldSelf.idempotencyKey)",
        "message": "a batch's preview token and idempotency key cannot be changed once it was made",
    },
    {
        "rule": "!(has(oldSelf.cancelled) && oldSelf.cancelled) || (has(self.cancelled) && self.cancelled)",
        "message": "a cancelled batch stays cancelled",
    },
]))]
pub struct BatchEditSpec {
    /// Who asked for it; nobody in particular when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub author: Option<Author>,
    /// Which servers.
    pub target: BatchTarget,
    /// What to change on each of them.
    pub change: BatchChange,
    /// What the author allowed to happen to servers that are in use.
    #[serde(
        default,
        skip_serializing_if = "BatchPolicy::is_default",
        deserialize_with = "crate::lenient::null_is_default"
    )]
    pub policy: BatchPolicy,
    /// Token of the preview that the author saw. With it the targets must come out the same, or the batch fails.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 256))]
    pub preview_token: Option<String>,
    /// Key that the requester chose, so that a repeated request makes no second batch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 256))]
    pub idempotency_key: Option<String>,
    /// Stops the batch: what was changed stays, the rest is left alone.
    #[serde(default, skip_serializing_if = "is_false", deserialize_with = "crate::lenient::null_is_default")]
    pub cancelled: bool,
}

/// A Kubernetes identity.
#[derive(Clone, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Author {
    /// User name.
    #[schemars(length(min = 1, max = 1024))]
    pub user: String,
    /// Groups of the user.
    #[serde(
        default,
        skip_serializing_if = "Vec::is_empty",
        deserialize_with = "crate::lenient::null_is_default"
    )]
    #[schemars(length(max = 256))]
    pub groups: Vec<String>,
    /// Unique id of the user, where the cluster has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 256))]
    pub uid: Option<String>,
}

/// Which servers a batch is for: exactly one of a filter and a list.
#[derive(Clone, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("x-kubernetes-validations" = [{
    "rule": "has(self.query) != (has(self.keys) && self.keys.size() > 0)",
    "message": "the target of a batch is either a query or keys",
}]))]
pub struct BatchTarget {
    /// Filter text, in the language of the search box.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 4096))]
    pub query: Option<String>,
    /// Explicit servers, each as `family/namespace/name`.
    #[serde(
        default,
        skip_serializing_if = "Vec::is_empty",
        deserialize_with = "crate::lenient::null_is_default"
    )]
    #[schemars(length(max = 5000), inner(length(max = 350), regex(pattern = r"^[a-z]+/[^/]+/[^/]+$")))]
    pub keys: Vec<String>,
}

/// What to change. At least one field is given; what is absent stays as it is.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("x-kubernetes-validations" = [{
    "rule": "has(self.opsState) || has(self.deletionPriority) || (has(self.images) && self.images.size() > 0)",
    "message": "a batch changes at least one field",
}]))]
pub struct BatchChange {
    /// New operational state.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ops_state: Option<OpsState>,
    /// New deletion priority; a higher number is deleted first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deletion_priority: Option<i32>,
    /// New images, one per container.
    #[serde(
        default,
        skip_serializing_if = "Vec::is_empty",
        deserialize_with = "crate::lenient::null_is_default"
    )]
    #[schemars(length(max = 32), extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["container"]))]
    pub images: Vec<ImageChange>,
}

/// New image of one container.
#[derive(Clone, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ImageChange {
    /// Name of the container.
    #[schemars(length(min = 1, max = 63))]
    pub container: String,
    /// Image reference.
    #[schemars(length(min = 1, max = 1024))]
    pub image: String,
}

/// What may happen to servers that are in use (Allocated, or with players).
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct BatchPolicy {
    /// A change that stops a server (opsState `Kill`) also reaches servers in use.
    #[serde(default, skip_serializing_if = "is_false", deserialize_with = "crate::lenient::null_is_default")]
    pub override_in_use: bool,
    /// A change that restarts containers also reaches servers in use; without it they are left out.
    #[serde(default, skip_serializing_if = "is_false", deserialize_with = "crate::lenient::null_is_default")]
    pub also_restart_in_use: bool,
}

impl BatchPolicy {
    /// Whether nothing special was allowed.
    #[must_use]
    pub fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

/// How far a batch is.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, Hash, JsonSchema, PartialEq, Serialize)]
pub enum BatchPhase {
    /// Nobody has looked at it yet.
    #[default]
    Pending,
    /// The targets are being frozen.
    Resolving,
    /// Servers are being changed.
    Running,
    /// Every target has its result; some of them may be failures.
    Done,
    /// Stopped by its author.
    Cancelled,
    /// Could not be run at all; `message` says why.
    Failed,
}

impl BatchPhase {
    /// Whether nothing more will happen.
    #[must_use]
    pub fn is_final(self) -> bool {
        matches!(self, Self::Done | Self::Cancelled | Self::Failed)
    }
}

/// What became of a batch so far.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct BatchEditStatus {
    /// How far it is.
    #[serde(default, deserialize_with = "crate::lenient::null_is_default")]
    pub phase: BatchPhase,
    /// Results, counted.
    #[serde(default, deserialize_with = "crate::lenient::null_is_default")]
    pub totals: BatchTotals,
    /// Number of target pieces; absent until all of them are written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target_pieces: Option<i32>,
    /// When the first server was about to be changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub started_at: Option<Time>,
    /// When the last result was known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub finished_at: Option<Time>,
    /// Details for people and machines.
    #[serde(
        default,
        skip_serializing_if = "Vec::is_empty",
        deserialize_with = "crate::lenient::null_is_default"
    )]
    #[schemars(extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["type"]))]
    pub conditions: Vec<Condition>,
    /// One sentence for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
}

/// Counted results; the parts add up to `total`.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct BatchTotals {
    /// All targets.
    #[serde(default, deserialize_with = "crate::lenient::null_is_default")]
    pub total: i32,
    /// Changed by this batch.
    #[serde(default, deserialize_with = "crate::lenient::null_is_default")]
    pub changed: i32,
    /// Had the new value already.
    #[serde(default, deserialize_with = "crate::lenient::null_is_default")]
    pub unchanged: i32,
    /// Left alone on purpose, such as servers in use.
    #[serde(default, deserialize_with = "crate::lenient::null_is_default")]
    pub left_out: i32,
    /// Tried without success.
    #[serde(default, deserialize_with = "crate::lenient::null_is_default")]
    pub failed: i32,
    /// Not tried yet.
    #[serde(default, deserialize_with = "crate::lenient::null_is_default")]
    pub pending: i32,
}
