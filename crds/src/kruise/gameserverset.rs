//! Kind GameServerSet: a number of game servers made from one template.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use k8s_openapi::apimachinery::pkg::util::intstr::IntOrString;
use kube::CustomResource;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};

use super::UpdateStrategy;
use super::{ClaimRetentionPolicy, GameServerTemplate, Lifecycle, Network, ScaleStrategy, ServiceQuality};

/// What a set should be.
#[derive(Clone, CustomResource, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[kube(
    group = "game.kruise.io",
    version = "v1alpha1",
    kind = "GameServerSet",
    plural = "gameserversets",
    shortname = "gss",
    namespaced,
    status = "GameServerSetStatus",
    derive = "Default",
    derive = "PartialEq",
    doc = "A set of game servers made from one template.",
    scale(
        spec_replicas_path = ".spec.replicas",
        status_replicas_path = ".status.replicas",
        label_selector_path = ".status.labelSelector"
    ),
    printcolumn(name = "DESIRED", type_ = "integer", json_path = ".spec.replicas"),
    printcolumn(name = "CURRENT", type_ = "integer", json_path = ".status.currentReplicas"),
    printcolumn(name = "UPDATED", type_ = "integer", json_path = ".status.updatedReplicas"),
    printcolumn(name = "READY", type_ = "integer", json_path = ".status.readyReplicas"),
    printcolumn(name = "Maintaining", type_ = "integer", json_path = ".status.maintainingReplicas"),
    printcolumn(name = "WaitToBeDeleted", type_ = "integer", json_path = ".status.waitToBeDeletedReplicas"),
    printcolumn(name = "PreDelete", type_ = "integer", json_path = ".status.preDeleteReplicas"),
    printcolumn(name = "AGE", type_ = "date", json_path = ".metadata.creationTimestamp")
)]
pub struct GameServerSetSpec {
    /// How many servers there should be.
    #[schemars(range(min = 0))]
    pub replicas: i32,
    /// Template of the pods.
    #[serde(
        default,
        skip_serializing_if = "GameServerTemplate::is_empty",
        deserialize_with = "crate::lenient::null_is_default"
    )]
    pub game_server_template: GameServerTemplate,
    /// Name of the headless Service; the set's name when empty.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub service_name: Option<String>,
    /// Ids that must not be used: plain ids, or inclusive ranges as text such as `3-6`.
    #[serde(
        default,
        skip_serializing_if = "Vec::is_empty",
        deserialize_with = "crate::lenient::int_or_string_list"
    )]
    #[schemars(schema_with = "reserve_ids")]
    pub reserve_game_server_ids: Vec<IntOrString>,
    /// Probes and what their results do.
    #[serde(
        default,
        skip_serializing_if = "Vec::is_empty",
        deserialize_with = "crate::lenient::null_is_default"
    )]
    #[schemars(length(max = 32))]
    pub service_qualities: Vec<ServiceQuality>,
    /// How servers get a new template.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub update_strategy: Option<UpdateStrategy>,
    /// How the set scales.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scale_strategy: Option<ScaleStrategy>,
    /// How players reach the servers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub network: Option<Network>,
    /// Hooks that hold steps of a pod.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lifecycle: Option<Lifecycle>,
    /// What becomes of volume claims when servers go.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub persistent_volume_claim_retention_policy: Option<ClaimRetentionPolicy>,
}

/// What a set is. The counters are upstream's; what follows them is ours and additive.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct GameServerSetStatus {
    /// Generation of the spec that this status is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,
    /// `spec.replicas` as last seen; read by the scale subresource.
    #[serde(default, deserialize_with = "crate::lenient::null_is_default")]
    pub replicas: i32,
    /// Pods that exist, terminating ones included.
    #[serde(default, deserialize_with = "crate::lenient::null_is_default")]
    pub current_replicas: i32,
    /// Pods that are ready.
    #[serde(default, deserialize_with = "crate::lenient::null_is_default")]
    pub ready_replicas: i32,
    /// Pods that have been ready for `minReadySeconds`.
    #[serde(default, deserialize_with = "crate::lenient::null_is_default")]
    pub available_replicas: i32,
    /// Pods on the newest template.
    #[serde(default, deserialize_with = "crate::lenient::null_is_default")]
    pub updated_replicas: i32,
    /// Pods on the newest template that are ready.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub updated_ready_replicas: Option<i32>,
    /// Servers with opsState `Maintaining`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub maintaining_replicas: Option<i32>,
    /// Servers with opsState `WaitToBeDeleted`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wait_to_be_deleted_replicas: Option<i32>,
    /// Servers whose deletion a hook holds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pre_delete_replicas: Option<i32>,
    /// Selector of the set's pods as text; read by the scale subresource.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label_selector: Option<String>,
    /// The number of replicas that the controller last acted on, written before it creates or deletes anything.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub acted_replicas: Option<i32>,
    /// Ids that scale downs removed and that the user did not reserve, as ids and ranges.
    #[serde(
        default,
        skip_serializing_if = "Vec::is_empty",
        deserialize_with = "crate::lenient::int_or_string_list"
    )]
    #[schemars(schema_with = "id_list")]
    pub implicit_reserve_ids: Vec<IntOrString>,
    /// The explicit reserve list that the controller last acted on, as ids and ranges.
    #[serde(
        default,
        skip_serializing_if = "Vec::is_empty",
        deserialize_with = "crate::lenient::int_or_string_list"
    )]
    #[schemars(schema_with = "id_list")]
    pub acted_reserve_ids: Vec<IntOrString>,
    /// Revision that most pods are on until an update is through.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub current_revision: Option<String>,
    /// Revision of the newest template.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub update_revision: Option<String>,
    /// Counter that tells revisions of equal content apart.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub collision_count: Option<i32>,
    /// Why the set is not, or not yet, what its spec says.
    #[serde(
        default,
        skip_serializing_if = "Vec::is_empty",
        deserialize_with = "crate::lenient::null_is_default"
    )]
    #[schemars(extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["type"]))]
    pub conditions: Vec<Condition>,
}

/// Most entries of a reserve list, and most bytes of one: bounds that the cost of the rule needs.
pub const MAX_RESERVE_IDS: usize = 1000;

/// Ids as numbers, or ranges `a-b` as text with a ≤ b; blanks around the numbers of a range are legal, as upstream trims
/// them. A single id in quotes is refused: upstream's reader takes such a list for an empty one.
fn reserve_ids(_: &mut SchemaGenerator) -> Schema {
    json_schema!({
        "type": "array",
        "maxItems": MAX_RESERVE_IDS,
        "items": {
            "x-kubernetes-int-or-string": true,
            "maxLength": 21,
            "minimum": 0,
            "pattern": "^ *[0-9]{1,10} *(- *[0-9]{1,10} *)?$",
            "x-kubernetes-validations": [{
                "rule": "type(self) == int || self.contains('-')",
                "message": "a single reserved id must be written as a number, without quotes",
            }, {
                "rule": "type(self) == int || !self.matches('^ *[0-9]{1,10} *- *[0-9]{1,10} *$') || int(self.split('-')[0].trim()) <= int(self.split('-')[1].trim())",
                "message": "a reserved range must be written from the lower to the higher id, such as 3-6",
            }],
        },
    })
}

/// A list of ids and ranges that only controllers write.
fn id_list(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "array", "items": { "x-kubernetes-int-or-string": true } })
}
