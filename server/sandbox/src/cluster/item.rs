//! One object of any kind as garbage collection sees it: its identity, owners and finalizers, nothing else.

use std::borrow::Cow;
use std::sync::Arc;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{ObjectMeta, OwnerReference};
use kube::Resource;
use kube::core::{ApiResource, DynamicResourceScope};
use serde::{Deserialize, Deserializer, Serialize};

/// Finalizer that says: delete my dependents first.
pub const FOREGROUND: &str = "foregroundDeletion";
/// Finalizer that says: release my dependents, do not delete them.
pub const ORPHAN: &str = "orphan";

/// A kind that can be listed, watched and deleted.
#[derive(Debug, PartialEq, Eq)]
pub struct Kind {
    /// How to address it.
    pub resource: ApiResource,
    /// True when its objects live in namespaces.
    pub namespaced: bool,
    /// True when its objects are watched. Events are not: they own nothing, nobody owns them, and there are many.
    pub watched: bool,
}

impl Kind {
    /// True for pods, which leave a namespace before everything else.
    pub fn is_pod(&self) -> bool {
        self.resource.group.is_empty() && self.resource.kind == "Pod"
    }
}

/// One object.
#[derive(Clone, Debug)]
pub struct Item {
    /// Its uid.
    pub uid: Arc<str>,
    /// Its kind.
    pub kind: Arc<Kind>,
    /// Its namespace; absent for cluster-wide kinds.
    pub namespace: Option<String>,
    /// Its name.
    pub name: String,
    /// Its version, so that a decision holds only for what was seen.
    pub version: String,
    /// Its owners.
    pub owners: Vec<OwnerReference>,
    /// Its finalizers.
    pub finalizers: Vec<String>,
    /// True once somebody asked for its deletion.
    pub deleting: bool,
}

impl Item {
    /// Takes what is needed out of an object's metadata; none without a uid.
    pub fn new(kind: &Arc<Kind>, meta: ObjectMeta) -> Option<Self> {
        Some(Self {
            uid: meta.uid?.into(),
            kind: kind.clone(),
            namespace: meta.namespace.filter(|namespace| !namespace.is_empty()),
            name: meta.name.unwrap_or_default(),
            version: meta.resource_version.unwrap_or_default(),
            owners: meta.owner_references.unwrap_or_default(),
            finalizers: meta.finalizers.unwrap_or_default(),
            deleting: meta.deletion_timestamp.is_some(),
        })
    }

    /// True while it waits for its dependents to go.
    pub fn waits_for_dependents(&self) -> bool {
        self.deleting && self.has_finalizer(FOREGROUND)
    }

    /// True while it waits for its dependents to be released.
    pub fn waits_for_release(&self) -> bool {
        self.deleting && self.has_finalizer(ORPHAN)
    }

    /// True when this finalizer is there.
    pub fn has_finalizer(&self, name: &str) -> bool {
        self.finalizers.iter().any(|finalizer| finalizer == name)
    }

    /// `Kind namespace/name` for messages.
    pub fn label(&self) -> String {
        let kind = &self.kind.resource.kind;
        match &self.namespace {
            Some(namespace) => format!("{kind} {namespace}/{}", self.name),
            None => format!("{kind} {}", self.name),
        }
    }
}

/// Watch type of any kind that asks the API server for metadata only.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Meta {
    /// The parts of the metadata that [`Item`] needs.
    #[serde(deserialize_with = "needed_metadata")]
    pub metadata: ObjectMeta,
}

impl Resource for Meta {
    type DynamicType = ApiResource;
    type Scope = DynamicResourceScope;

    fn metadata_api() -> bool {
        true
    }
    fn kind(resource: &ApiResource) -> Cow<'_, str> {
        resource.kind.as_str().into()
    }
    fn group(resource: &ApiResource) -> Cow<'_, str> {
        resource.group.as_str().into()
    }
    fn version(resource: &ApiResource) -> Cow<'_, str> {
        resource.version.as_str().into()
    }
    fn plural(resource: &ApiResource) -> Cow<'_, str> {
        resource.plural.as_str().into()
    }
    fn meta(&self) -> &ObjectMeta {
        &self.metadata
    }
    fn meta_mut(&mut self) -> &mut ObjectMeta {
        &mut self.metadata
    }
}

/// Labels, annotations and managed fields are skipped while parsing.
fn needed_metadata<'de, D: Deserializer<'de>>(deserializer: D) -> Result<ObjectMeta, D::Error> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Needed {
        name: Option<String>,
        namespace: Option<String>,
        uid: Option<String>,
        resource_version: Option<String>,
        deletion_timestamp: Option<k8s_openapi::apimachinery::pkg::apis::meta::v1::Time>,
        finalizers: Option<Vec<String>>,
        owner_references: Option<Vec<OwnerReference>>,
    }
    let needed = Needed::deserialize(deserializer)?;
    Ok(ObjectMeta {
        name: needed.name,
        namespace: needed.namespace,
        uid: needed.uid,
        resource_version: needed.resource_version,
        deletion_timestamp: needed.deletion_timestamp,
        finalizers: needed.finalizers,
        owner_references: needed.owner_references,
        ..ObjectMeta::default()
    })
}
