//! Slim GameServer and GameServerSet: the typed spec as it is, and the status without the copy of the pod's.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::core::NamespaceResourceScope;
use serde::{Deserialize, Deserializer};
use serde_json::Value;

use super::{slim_metadata, slim_resource};
use crate::hash::hash_json;
use crate::kruise::{GameServerSetSpec, GameServerSetStatus, GameServerSpec, GameServerStatus};
use crate::lenient::salvage;

/// A game server as the caches hold it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SlimGameServer {
    /// Metadata without managedFields and kubectl's copy.
    pub metadata: ObjectMeta,
    /// The spec; fields of the wrong shape are absent and [`Self::spec_error`] says so.
    pub spec: GameServerSpec,
    /// What could not be read of the spec.
    pub spec_error: Option<String>,
    /// The status without `podStatus`; absent when there is none yet.
    pub status: Option<GameServerStatus>,
    /// [`hash_json`] of `status.podStatus`, which is not kept: enough to see whether the copy is current.
    pub pod_status_hash: Option<u64>,
}

slim_resource!(
    SlimGameServer,
    "GameServer",
    crate::kruise::GROUP,
    "v1alpha1",
    "gameservers",
    NamespaceResourceScope,
    [spec as "spec", status as "status"]
);

/// A set as the caches hold it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SlimGameServerSet {
    /// Metadata without managedFields and kubectl's copy.
    pub metadata: ObjectMeta,
    /// The spec, whole or not at all: acting on half a spec would delete servers. Absent means that
    /// [`Self::spec_error`] says why, and that nothing may be done to the set.
    pub spec: Option<GameServerSetSpec>,
    /// What could not be read of the spec.
    pub spec_error: Option<String>,
    /// The status; absent when there is none yet.
    pub status: Option<GameServerSetStatus>,
}

slim_resource!(
    SlimGameServerSet,
    "GameServerSet",
    crate::kruise::GROUP,
    "v1alpha1",
    "gameserversets",
    NamespaceResourceScope,
    [spec as "spec", status as "status"]
);

/// Any object with its parts still unread.
#[derive(Deserialize)]
struct Raw {
    #[serde(default, deserialize_with = "slim_metadata")]
    metadata: ObjectMeta,
    #[serde(default)]
    spec: Value,
    #[serde(default)]
    status: Value,
}

/// A status that is an object, best effort; anything else is none.
fn status<T: Default + serde::de::DeserializeOwned>(value: Value) -> Option<T> {
    if value.is_object() { Some(salvage(value).0) } else { None }
}

impl<'de> Deserialize<'de> for SlimGameServer {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut raw = Raw::deserialize(deserializer)?;
        let pod_status = raw.status.as_object_mut().and_then(|status| status.remove("podStatus"));
        let (spec, spec_error) =
            if raw.spec.is_null() { (GameServerSpec::default(), None) } else { salvage(raw.spec) };
        let pod_status_hash = pod_status.as_ref().map(hash_json);
        Ok(Self { metadata: raw.metadata, spec, spec_error, status: status(raw.status), pod_status_hash })
    }
}

impl<'de> Deserialize<'de> for SlimGameServerSet {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = Raw::deserialize(deserializer)?;
        let (spec, spec_error) = match serde_json::from_value(raw.spec) {
            Ok(spec) => (Some(spec), None),
            Err(error) => (None, Some(error.to_string())),
        };
        Ok(Self { metadata: raw.metadata, spec, spec_error, status: status(raw.status) })
    }
}
