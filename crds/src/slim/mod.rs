//! What watch caches hold: only the fields that are used, without managedFields and kubectl's copy of the manifest.
//!
//! Each type stands for a real kind (same group, version and plural), so kube's watcher, reflector and `Api` take
//! it as it is. Reading never fails on an odd object: unknown fields are skipped, missing ones are absent, and
//! what has the wrong shape is left out (see [`crate::lenient`]).
//! They are for reading: what a write needs beyond these fields is not in them, so never `replace` with one.

mod game;
mod meta;
mod node;
mod packed;
mod pod;
mod shared;

pub use game::{SlimGameServer, SlimGameServerSet};
pub use meta::slim_metadata;
pub use node::{SlimNode, SlimNodeSpec, SlimNodeStatus};
pub use packed::{Pack, Packed};
pub use pod::{
    SlimClaimSource, SlimContainer, SlimContainerState, SlimContainerStatus, SlimPod, SlimPodSpec,
    SlimPodStatus, SlimRunning, SlimTerminated, SlimVolume, SlimWaiting,
};

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use serde::{Deserialize, Serialize};

/// A condition of a pod or a node.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SlimCondition {
    /// Kind of condition.
    #[serde(rename = "type")]
    pub type_: String,
    /// `True`, `False` or `Unknown`.
    #[serde(default)]
    pub status: String,
    /// Stable word for machines.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Sentence for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// When it was last looked at.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "crate::lenient::or_default"
    )]
    pub last_probe_time: Option<Time>,
    /// When the status last changed.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "crate::lenient::or_default"
    )]
    pub last_transition_time: Option<Time>,
}

/// Gives a slim type the identity of the real kind, and the `apiVersion` and `kind` that kube expects in JSON.
macro_rules! slim_resource {
    ($type:ident, $kind:literal, $group:expr, $version:literal, $plural:literal, $scope:ty, [$($field:ident as $name:literal),*]) => {
        impl kube::Resource for $type {
            type DynamicType = ();
            type Scope = $scope;

            fn kind(&(): &()) -> std::borrow::Cow<'_, str> {
                $kind.into()
            }
            fn group(&(): &()) -> std::borrow::Cow<'_, str> {
                $group.into()
            }
            fn version(&(): &()) -> std::borrow::Cow<'_, str> {
                $version.into()
            }
            fn plural(&(): &()) -> std::borrow::Cow<'_, str> {
                $plural.into()
            }
            fn meta(&self) -> &k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta {
                &self.metadata
            }
            fn meta_mut(&mut self) -> &mut k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta {
                &mut self.metadata
            }
        }

        impl serde::Serialize for $type {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                use serde::ser::SerializeMap;
                let mut map = serializer.serialize_map(None)?;
                map.serialize_entry("apiVersion", &<Self as kube::Resource>::api_version(&()))?;
                map.serialize_entry("kind", $kind)?;
                map.serialize_entry("metadata", &self.metadata)?;
                $(map.serialize_entry($name, &self.$field)?;)*
                map.end()
            }
        }
    };
}
use slim_resource;
