//! Overrides per server and container: `spec.containers` of a game server.

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::ResourceRequirements;
use k8s_openapi::apimachinery::pkg::api::resource::Quantity;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What one server's container has instead of the template's value.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct GameServerContainer {
    /// Name of the container in the pod template.
    pub name: String,
    /// Image that the live pod's container gets at once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub image: Option<String>,
    /// Resources that the pod gets when it is created next time; only cpu and memory are used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resources: Option<Resources>,
}

/// Compute resources of a container. Kubernetes' own shape, with bounds in its schema.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Resources {
    /// Dynamic resource claims by name; kept as written and not used.
    #[serde(
        default,
        skip_serializing_if = "Vec::is_empty",
        deserialize_with = "crate::lenient::null_is_default"
    )]
    #[schemars(extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["name"]))]
    pub claims: Vec<ResourceClaim>,
    /// The most of each resource that the container may use.
    #[serde(
        default,
        skip_serializing_if = "BTreeMap::is_empty",
        deserialize_with = "crate::lenient::null_is_default"
    )]
    #[schemars(schema_with = "crate::schema::quantities")]
    pub limits: BTreeMap<String, Quantity>,
    /// The least of each resource that the container needs.
    #[serde(
        default,
        skip_serializing_if = "BTreeMap::is_empty",
        deserialize_with = "crate::lenient::null_is_default"
    )]
    #[schemars(schema_with = "crate::schema::quantities")]
    pub requests: BTreeMap<String, Quantity>,
}

/// A reference to one entry of the pod's `spec.resourceClaims`.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ResourceClaim {
    /// Name of the claim in the pod.
    pub name: String,
    /// Name of the request inside the claim; without it everything of the claim.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request: Option<String>,
}

impl From<Resources> for ResourceRequirements {
    fn from(resources: Resources) -> Self {
        let map = |map: BTreeMap<_, _>| if map.is_empty() { None } else { Some(map) };
        let claims: Vec<_> = resources
            .claims
            .into_iter()
            .map(|claim| k8s_openapi::api::core::v1::ResourceClaim {
                name: claim.name,
                request: claim.request,
            })
            .collect();
        Self {
            claims: if claims.is_empty() { None } else { Some(claims) },
            limits: map(resources.limits),
            requests: map(resources.requests),
        }
    }
}
