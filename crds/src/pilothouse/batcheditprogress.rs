//! Kind BatchEditProgress: the results of one piece of targets, written about once a second while it runs.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Results so far of one piece. The fields sit at the root of the object: it is a record and has no wish and state.
#[derive(Clone, CustomResource, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[kube(
    group = "pilothouse.dev",
    version = "v1alpha1",
    kind = "BatchEditProgress",
    plural = "batcheditprogresses",
    shortname = "bep",
    namespaced,
    no_spec,
    derive = "Default",
    derive = "PartialEq",
    doc = "Results of one piece of the targets of a BatchEdit; written only by the controller.",
    printcolumn(name = "Batch", type_ = "string", json_path = ".batch"),
    printcolumn(name = "Piece", type_ = "integer", json_path = ".piece"),
    printcolumn(name = "Updated", type_ = "date", json_path = ".updatedAt"),
    printcolumn(name = "Age", type_ = "date", json_path = ".metadata.creationTimestamp")
)]
pub struct BatchEditProgressSpec {
    /// Name of the batch, in the same namespace.
    #[schemars(length(max = 253))]
    pub batch: String,
    /// Index of the piece that the results are for.
    #[schemars(range(min = 0))]
    pub piece: i32,
    /// Results in the order in which they became known. A target without one is pending.
    #[serde(
        default,
        skip_serializing_if = "Vec::is_empty",
        deserialize_with = "crate::lenient::null_is_default"
    )]
    #[schemars(length(max = 1000), extend("x-kubernetes-list-type" = "atomic"))]
    pub results: Vec<TargetResult>,
    /// Time of the last result.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub updated_at: Option<Time>,
}

/// What became of one target.
#[derive(Clone, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct TargetResult {
    /// Position of the target in its piece, from 0.
    #[schemars(range(min = 0))]
    pub index: i32,
    /// What became of it.
    pub outcome: Outcome,
    /// What the API server said, or the reason why it was left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 1024))]
    pub detail: Option<String>,
}

/// Possible results of one target.
#[derive(
    Clone, Copy, Debug, Default, Deserialize, Eq, Hash, JsonSchema, Ord, PartialEq, PartialOrd, Serialize,
)]
#[serde(rename_all = "camelCase")]
pub enum Outcome {
    /// Changed by this batch.
    #[default]
    Changed,
    /// Had the new values already.
    Unchanged,
    /// Left alone on purpose.
    LeftOut,
    /// Somebody else changed the field meanwhile (409, or a failed test).
    Conflict,
    /// The author may not change it (403).
    Forbidden,
    /// It no longer exists (404).
    NotFound,
    /// Another server has its name now (the uid differs).
    Replaced,
    /// The API server refused the new value (422).
    Invalid,
    /// Anything else went wrong; the detail says what.
    Error,
    /// The batch was cancelled before its turn.
    Cancelled,
}

impl Outcome {
    /// Whether the target counts as failed, and so is offered for another try.
    #[must_use]
    pub fn is_failure(self) -> bool {
        !matches!(self, Self::Changed | Self::Unchanged | Self::LeftOut | Self::Cancelled)
    }
}
