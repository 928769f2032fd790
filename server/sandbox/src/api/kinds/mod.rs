//! Which kinds there are: the built-in ones from the recording, the custom ones from their CRDs.
mod behaviour;
mod crd;

use std::collections::BTreeMap;
use std::sync::{Arc, PoisonError, RwLock};

use serde_json::Value;

pub use behaviour::Behaviour;
pub use crd::resources as custom_resources;

use crate::api::error::{FieldError, Named};
use crate::api::schema::{Schema, builtin};
use crate::api::store::{Shelf, Store};
use crate::api::table::Column;
use crate::api::value::{list, text};

/// The schema of a kind: borrowed from the recording or owned by a CRD.
#[derive(Debug, Clone)]
pub enum KindSchema {
    /// Recorded from a real server.
    Builtin(&'static Schema),
    /// Compiled from a CRD.
    Custom(Arc<Schema>),
}

impl std::ops::Deref for KindSchema {
    type Target = Schema;
    fn deref(&self) -> &Schema {
        match self {
            Self::Builtin(schema) => schema,
            Self::Custom(schema) => schema,
        }
    }
}

/// Group, version and kind.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Gvk {
    /// API group, empty for core.
    pub group: String,
    /// API version.
    pub version: String,
    /// Kind.
    pub kind: String,
}

impl Gvk {
    /// `v1` or `apps/v1`.
    pub fn api_version(&self) -> String {
        if self.group.is_empty() { self.version.clone() } else { format!("{}/{}", self.group, self.version) }
    }
}

/// A part of an object that has its own URL.
#[derive(Debug, Clone)]
pub struct Subresource {
    /// Name, such as `status`.
    pub name: String,
    /// Kind that it reads or takes.
    pub kind: Gvk,
    /// Allowed verbs.
    pub verbs: Vec<String>,
}

/// What only custom kinds have.
#[derive(Debug, Clone, Default)]
pub struct Custom {
    /// The definition is being deleted: nothing new comes.
    pub terminating: bool,
    /// Name of the CRD.
    pub crd: String,
    /// Paths of the scale subresource: replicas in spec, in status, and the selector in status.
    pub scale: Option<ScalePaths>,
    /// The apiVersion under which objects are stored, when the CRD has more than one version.
    pub stored_as: Option<String>,
    /// Raw `openAPIV3Schema`, for `/openapi`.
    pub raw_schema: Value,
}

/// Where the scale subresource finds its numbers; paths as keys from the top.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ScalePaths {
    /// Wanted number.
    pub spec: Vec<String>,
    /// Present number.
    pub status: Vec<String>,
    /// Label selector as text.
    pub selector: Option<Vec<String>>,
}

/// One kind in one version.
#[derive(Debug, Clone)]
pub struct Resource {
    /// Group, version and kind.
    pub gvk: Gvk,
    /// Name in URLs.
    pub plural: String,
    /// Name of one.
    pub singular: String,
    /// Kind of lists.
    pub list_kind: String,
    /// Abbreviations.
    pub short_names: Vec<String>,
    /// Groups of kinds for `kubectl get all`.
    pub categories: Vec<String>,
    /// Whether objects live in namespaces.
    pub namespaced: bool,
    /// Allowed verbs.
    pub verbs: Vec<String>,
    /// Parts with their own URL.
    pub subresources: Vec<Subresource>,
    /// Paths for field selectors besides name and namespace.
    pub selectable: Vec<Vec<String>>,
    /// What objects look like.
    pub schema: KindSchema,
    /// Columns of tables besides name and age; empty for the built-in printers.
    pub columns: Vec<Column>,
    /// What the kind does differently from others.
    pub behaviour: Behaviour,
    /// Custom kinds only.
    pub custom: Option<Custom>,
    /// Where the objects are.
    pub shelf: Arc<Shelf>,
}

impl Resource {
    /// For errors about objects: `pods`.
    pub fn named(&self) -> Named<'_> {
        Named { group: &self.gvk.group, name: &self.plural }
    }

    /// For errors about contents: `Pod`.
    pub fn named_kind(&self) -> Named<'_> {
        Named { group: &self.gvk.group, name: &self.gvk.kind }
    }

    /// A subresource by name.
    pub fn subresource(&self, name: &str) -> Option<&Subresource> {
        self.subresources.iter().find(|s| s.name == name)
    }

    /// Whether status has its own URL and so is apart from the rest.
    pub fn has_status(&self) -> bool {
        self.subresource("status").is_some()
    }

    /// `deployments.apps`, `pods`.
    pub fn full_name(&self) -> String {
        if self.gvk.group.is_empty() {
            self.plural.clone()
        } else {
            format!("{}.{}", self.plural, self.gvk.group)
        }
    }

    /// An answer to content that is wrong.
    pub fn invalid(&self, name: &str, errors: &[FieldError]) -> crate::api::error::ApiError {
        crate::api::error::ApiError::invalid(self.named_kind(), name, errors)
    }
}

/// The kinds at one moment.
#[derive(Debug, Default, Clone)]
pub struct Kinds {
    /// By group, version and plural name.
    by_path: BTreeMap<(String, String, String), Arc<Resource>>,
    /// Groups with their versions, the preferred one first, in the order of discovery.
    groups: Vec<(String, Vec<String>)>,
}

impl Kinds {
    /// A kind by what its URL says.
    pub fn find(&self, group: &str, version: &str, plural: &str) -> Option<&Arc<Resource>> {
        self.by_path.get(&(group.to_owned(), version.to_owned(), plural.to_owned()))
    }

    /// The kinds of a group's version, by name.
    pub fn of(&self, group: &str, version: &str) -> impl Iterator<Item = &Arc<Resource>> {
        let start = (group.to_owned(), version.to_owned(), String::new());
        let (group, version) = (group.to_owned(), version.to_owned());
        self.by_path.range(start..).take_while(move |(k, _)| k.0 == group && k.1 == version).map(|(_, r)| r)
    }

    /// All kinds.
    pub fn all(&self) -> impl Iterator<Item = &Arc<Resource>> {
        self.by_path.values()
    }

    /// Groups with their versions, the preferred one first; core is the empty name.
    pub fn groups(&self) -> &[(String, Vec<String>)] {
        &self.groups
    }

    fn add(&mut self, resource: Resource) {
        let gvk = resource.gvk.clone();
        self.by_path
            .insert((gvk.group.clone(), gvk.version.clone(), resource.plural.clone()), Arc::new(resource));
        match self.groups.iter_mut().find(|(group, _)| *group == gvk.group) {
            Some((_, versions)) if versions.contains(&gvk.version) => {}
            Some((_, versions)) => {
                versions.push(gvk.version);
                versions.sort_by_key(|version| std::cmp::Reverse(version_rank(version)));
            }
            None => self.groups.push((gvk.group, vec![gvk.version])),
        }
    }

    fn remove_crd(&mut self, crd: &str) {
        self.by_path.retain(|_, r| r.custom.as_ref().is_none_or(|c| c.crd != crd));
        let left: Vec<(String, String)> =
            self.by_path.keys().map(|(group, version, _)| (group.clone(), version.clone())).collect();
        for (group, versions) in &mut self.groups {
            versions.retain(|version| left.iter().any(|(g, v)| g == group && v == version));
        }
        self.groups.retain(|(_, versions)| !versions.is_empty());
    }
}

/// Kubernetes' order of versions: v2 before v1 before v1beta1 before v1alpha1.
fn version_rank(version: &str) -> (u8, u32, u32) {
    let Some(rest) = version.strip_prefix('v') else { return (0, 0, 0) };
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    let major = rest[..digits].parse().unwrap_or(0);
    let rest = &rest[digits..];
    if let Some(minor) = rest.strip_prefix("beta") {
        (2, major, minor.parse().unwrap_or(0))
    } else if let Some(minor) = rest.strip_prefix("alpha") {
        (1, major, minor.parse().unwrap_or(0))
    } else {
        (if rest.is_empty() { 3 } else { 0 }, major, 0)
    }
}

/// The changing set of kinds; readers take a snapshot.
#[derive(Debug)]
pub struct Registry {
    current: RwLock<Arc<Kinds>>,
}

impl Registry {
    /// The built-in kinds.
    pub fn new(store: &Store) -> Self {
        let mut kinds = Kinds::default();
        for group in builtin::groups() {
            let group_name = text(group, &["metadata", "name"]);
            for version in list(group, &["versions"]) {
                for source in list(version, &["resources"]) {
                    kinds.add(builtin_resource(group_name, text(version, &["version"]), source, store));
                }
            }
        }
        Self { current: RwLock::new(Arc::new(kinds)) }
    }

    /// The kinds now.
    pub fn kinds(&self) -> Arc<Kinds> {
        self.current.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Replaces what a CRD serves.
    pub fn set_crd(&self, crd: &str, resources: Vec<Resource>) {
        let mut current = self.current.write().unwrap_or_else(PoisonError::into_inner);
        let mut kinds = Kinds::clone(&current);
        kinds.remove_crd(crd);
        for resource in resources {
            kinds.add(resource);
        }
        *current = Arc::new(kinds);
    }
}

fn texts(source: &Value, key: &str) -> Vec<String> {
    list(source, &[key]).iter().filter_map(|v| v.as_str().map(str::to_owned)).collect()
}

fn builtin_resource(group: &str, version: &str, source: &Value, store: &Store) -> Resource {
    let kind_of = |source: &Value| {
        let or =
            |value: &str, default: &str| if value.is_empty() { default.to_owned() } else { value.to_owned() };
        let kind = text(source, &["responseKind", "kind"]).to_owned();
        let own_group = text(source, &["responseKind", "group"]);
        let own_version = text(source, &["responseKind", "version"]);
        // An empty version means the same group and version as the resource.
        let group = if own_version.is_empty() { or(own_group, group) } else { own_group.to_owned() };
        Gvk { group, version: or(own_version, version), kind }
    };
    let gvk = kind_of(source);
    let plural = text(source, &["resource"]).to_owned();
    let schema = builtin::of_kind(&gvk.group, &gvk.version, &gvk.kind);
    let behaviour = Behaviour::of(group, &plural);
    let full_name = if group.is_empty() { plural.clone() } else { format!("{plural}.{group}") };
    let subresources = list(source, &["subresources"])
        .iter()
        .map(|s| Subresource {
            name: text(s, &["subresource"]).to_owned(),
            kind: kind_of(s),
            verbs: texts(s, "verbs"),
        })
        .collect();
    Resource {
        list_kind: format!("{}List", gvk.kind),
        gvk,
        singular: text(source, &["singularResource"]).to_owned(),
        short_names: texts(source, "shortNames"),
        categories: texts(source, "categories"),
        namespaced: text(source, &["scope"]) == "Namespaced",
        verbs: texts(source, "verbs"),
        subresources,
        selectable: behaviour.selectable(),
        schema: KindSchema::Builtin(schema.unwrap_or_else(|| builtin::definition(""))),
        columns: Vec::new(),
        behaviour,
        custom: None,
        // Events of both groups are one kind.
        shelf: store.shelf(if full_name == "events.events.k8s.io" { "events" } else { &full_name }),
        plural,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn built_in_kinds_come_from_the_recording() {
        let registry = Registry::new(&Store::new(1 << 20));
        let kinds = registry.kinds();
        let pods = kinds.find("", "v1", "pods").expect("pods");
        assert_eq!(pods.gvk.kind, "Pod");
        assert!(pods.namespaced && pods.has_status() && pods.short_names == ["po"]);
        assert_eq!(pods.subresource("eviction").expect("eviction").kind.api_version(), "policy/v1");
        let sets = kinds.find("apps", "v1", "statefulsets").expect("statefulsets");
        assert_eq!(sets.gvk.api_version(), "apps/v1");
        assert_eq!(sets.subresource("scale").expect("scale").kind.api_version(), "autoscaling/v1");
        assert_eq!(kinds.groups()[0].0, "");
    }

    #[test]
    fn stable_versions_come_first() {
        let mut versions = ["v1alpha1", "v2", "v1", "v1beta2", "v10", "foo"];
        versions.sort_by_key(|v| std::cmp::Reverse(version_rank(v)));
        assert_eq!(versions, ["v10", "v2", "v1", "v1beta2", "v1alpha1", "foo"]);
    }
}
