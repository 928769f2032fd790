//! How a set updates and scales its servers. The words are OpenKruise's.

use k8s_openapi::apimachinery::pkg::util::intstr::IntOrString;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How servers get a new template.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct UpdateStrategy {
    /// `RollingUpdate` (also when empty) or `OnDelete`. A `rollingUpdate` block makes it `RollingUpdate`.
    #[serde(default, rename = "type", skip_serializing_if = "Option::is_none")]
    #[schemars(extend("enum" = ["", "RollingUpdate", "OnDelete"]))]
    pub type_: Option<String>,
    /// Details of a rolling update.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rolling_update: Option<RollingUpdate>,
}

/// Details of a rolling update.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RollingUpdate {
    /// How many servers stay on the old template; by default 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0))]
    pub partition: Option<i32>,
    /// How many servers, or what share such as `20%`, may be unavailable at once; by default 1.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "crate::lenient::optional_int_or_string"
    )]
    #[schemars(schema_with = "crate::schema::int_or_string")]
    pub max_unavailable: Option<IntOrString>,
    /// `ReCreate` (also when empty), `InPlaceIfPossible` or `InPlaceOnly`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("enum" = ["", "ReCreate", "InPlaceIfPossible", "InPlaceOnly"]))]
    pub pod_update_policy: Option<String>,
    /// Holds the update; by default false.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub paused: Option<bool>,
    /// Details of updates in place.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub in_place_update_strategy: Option<InPlaceUpdateStrategy>,
    /// How long, in seconds, a server must be ready before it counts as available; by default 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0))]
    pub min_ready_seconds: Option<i32>,
}

/// Details of updates in place.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct InPlaceUpdateStrategy {
    /// Seconds between making a pod not ready and changing its images; by default 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub grace_period_seconds: Option<i32>,
}

/// How a set scales.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ScaleStrategy {
    /// How many servers, or what share, may be not ready while others are created; unset means no bound.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "crate::lenient::optional_int_or_string"
    )]
    #[schemars(schema_with = "crate::schema::int_or_string")]
    pub max_unavailable: Option<IntOrString>,
    /// What becomes of the ids that a scale down removes. General (also when empty): the next scale up uses them again.
    /// ReserveIds: they stay reserved until somebody takes them out of the list. Other texts act as General.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scale_down_strategy_type: Option<String>,
}

/// What becomes of the ids that a scale down removes.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum ScaleDownStrategyType {
    /// They are used again by the next scale up.
    #[default]
    General,
    /// They are written into the reserve list and stay unused until the user takes them out.
    ReserveIds,
}

impl ScaleStrategy {
    /// The strategy meant by the text; `None` when it is neither empty nor known.
    #[must_use]
    pub fn scale_down(&self) -> Option<ScaleDownStrategyType> {
        match self.scale_down_strategy_type.as_deref() {
            None | Some("" | "General") => Some(ScaleDownStrategyType::General),
            Some("ReserveIds") => Some(ScaleDownStrategyType::ReserveIds),
            Some(_) => None,
        }
    }
}

/// What becomes of volume claims when servers go.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ClaimRetentionPolicy {
    /// When the set is deleted: `Retain` (also when empty) or `Delete`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub when_deleted: Option<String>,
    /// When the set gets smaller: `Retain` (also when empty) or `Delete`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub when_scaled: Option<String>,
}
