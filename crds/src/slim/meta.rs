//! Object metadata without what nobody reads: managedFields, which are often larger than the object, and kubectl's
//! copy of the applied manifest.

use std::collections::BTreeMap;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{ObjectMeta, OwnerReference, Time};
use serde::{Deserialize, Deserializer};

use crate::kruise::keys::LAST_APPLIED;
use crate::lenient::{items, or_default};

/// The fields that are kept. serde skips all others without building them.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct KeptMeta {
    name: Option<String>,
    generate_name: Option<String>,
    namespace: Option<String>,
    uid: Option<String>,
    resource_version: Option<String>,
    generation: Option<i64>,
    creation_timestamp: Option<Time>,
    deletion_timestamp: Option<Time>,
    deletion_grace_period_seconds: Option<i64>,
    #[serde(deserialize_with = "or_default")]
    labels: Option<BTreeMap<String, String>>,
    #[serde(deserialize_with = "or_default")]
    annotations: Option<BTreeMap<String, String>>,
    #[serde(deserialize_with = "items")]
    owner_references: Vec<OwnerReference>,
    #[serde(deserialize_with = "items")]
    finalizers: Vec<String>,
}

/// Reads metadata and keeps only what is used.
///
/// # Errors
/// When a name, version or time has the wrong shape: without these an object has no identity.
pub fn slim_metadata<'de, D: Deserializer<'de>>(deserializer: D) -> Result<ObjectMeta, D::Error> {
    let kept = KeptMeta::deserialize(deserializer)?;
    let annotations = kept.annotations.and_then(|mut annotations| {
        annotations.remove(LAST_APPLIED);
        if annotations.is_empty() { None } else { Some(annotations) }
    });
    Ok(ObjectMeta {
        name: kept.name,
        generate_name: kept.generate_name,
        namespace: kept.namespace,
        uid: kept.uid,
        resource_version: kept.resource_version,
        generation: kept.generation,
        creation_timestamp: kept.creation_timestamp,
        deletion_timestamp: kept.deletion_timestamp,
        deletion_grace_period_seconds: kept.deletion_grace_period_seconds,
        labels: kept.labels.filter(|labels| !labels.is_empty()),
        annotations,
        owner_references: if kept.owner_references.is_empty() { None } else { Some(kept.owner_references) },
        finalizers: if kept.finalizers.is_empty() { None } else { Some(kept.finalizers) },
        ..ObjectMeta::default()
    })
}
