//! The manifests: what `pilothouse crds` prints and what lies in `crds/yaml`.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use k8s_openapi::api::core::v1::Namespace;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::CustomResourceExt;
use kube::api::ObjectMeta;
use serde::Serialize;
use serde_json::Value;

use crate::kruise::{GameServer, GameServerSet};
use crate::pilothouse::{BatchEdit, BatchEditProgress, BatchEditTargets, NAMESPACE};
use crate::structural::finish;

/// First line of every generated file.
const HEADER: &str =
    "# Generated from the types in crds/src by `cargo run -p crds --example generate`; do not edit.\n";

/// Deriving the schemas takes tens of milliseconds in a debug build, and they never change.
static DEFINITIONS: LazyLock<Vec<CustomResourceDefinition>> = LazyLock::new(derive_all);

/// Every resource definition, ready to be installed.
#[must_use]
pub fn all() -> Vec<CustomResourceDefinition> {
    DEFINITIONS.clone()
}

fn derive_all() -> Vec<CustomResourceDefinition> {
    let mut crds = vec![
        GameServerSet::crd(),
        GameServer::crd(),
        BatchEdit::crd(),
        BatchEditTargets::crd(),
        BatchEditProgress::crd(),
    ];
    for crd in &mut crds {
        // Upstream lets a GameServer be without a spec: every field of it is optional.
        let spec_is_optional = crd.spec.names.kind == "GameServer";
        for version in &mut crd.spec.versions {
            if let Some(schema) =
                version.schema.as_mut().and_then(|schema| schema.open_api_v3_schema.as_mut())
            {
                finish(schema);
                if spec_is_optional {
                    schema.required = None;
                }
            }
        }
    }
    crds
}

/// The namespace that batches live in.
#[must_use]
pub fn namespace() -> Namespace {
    Namespace {
        metadata: ObjectMeta { name: Some(NAMESPACE.to_owned()), ..ObjectMeta::default() },
        ..Namespace::default()
    }
}

/// File names and contents of all manifests, the namespace first. The same types always give the same bytes.
///
/// # Errors
/// When something cannot be written as YAML.
pub fn files() -> Result<Vec<(String, String)>, ManifestError> {
    let mut files = vec![("namespace.yaml".to_owned(), document(&namespace())?)];
    for crd in all() {
        let name = crd.metadata.name.clone().unwrap_or_default();
        files.push((format!("{name}.yaml"), document(&crd)?));
    }
    Ok(files)
}

/// All manifests as one stream of documents, the namespace first.
///
/// # Errors
/// When something cannot be written as YAML.
pub fn yaml() -> Result<String, ManifestError> {
    let documents: Vec<String> =
        files()?.into_iter().map(|(_, document)| document.replace(HEADER, "")).collect();
    Ok(format!("{HEADER}---\n{}", documents.join("---\n")))
}

/// Something could not be written as YAML.
#[derive(Debug, thiserror::Error)]
#[error("a manifest could not be written: {0}")]
pub struct ManifestError(String);

fn document<T: Serialize>(object: &T) -> Result<String, ManifestError> {
    let value = serde_json::to_value(object).map_err(|error| ManifestError(error.to_string()))?;
    let text = serde_yaml::to_string(&sorted(value)).map_err(|error| ManifestError(error.to_string()))?;
    Ok(format!("{HEADER}{text}"))
}

/// JSON with its keys in alphabetical order, whatever features serde_json was built with.
#[derive(Serialize)]
#[serde(untagged)]
enum Sorted {
    Map(BTreeMap<String, Sorted>),
    List(Vec<Sorted>),
    Scalar(Value),
}

fn sorted(value: Value) -> Sorted {
    match value {
        Value::Object(fields) => {
            Sorted::Map(fields.into_iter().map(|(key, field)| (key, sorted(field))).collect())
        }
        Value::Array(items) => Sorted::List(items.into_iter().map(sorted).collect()),
        scalar => Sorted::Scalar(scalar),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_stream_holds_the_namespace_and_then_every_definition() {
        let yaml = yaml().unwrap();
        let kinds: Vec<String> = serde_yaml::Deserializer::from_str(&yaml)
            .map(|document| serde::Deserialize::deserialize(document).unwrap())
            .map(|value: Value| {
                format!("{} {}", value["kind"].as_str().unwrap(), value["metadata"]["name"].as_str().unwrap())
            })
            .collect();
        assert_eq!(
            kinds,
            [
                "Namespace pilothouse-system",
                "CustomResourceDefinition gameserversets.game.kruise.io",
                "CustomResourceDefinition gameservers.game.kruise.io",
                "CustomResourceDefinition batchedits.pilothouse.dev",
                "CustomResourceDefinition batchedittargets.pilothouse.dev",
                "CustomResourceDefinition batcheditprogresses.pilothouse.dev",
            ]
        );
    }

    #[test]
    fn what_is_read_back_equals_what_was_written() {
        for (crd, (name, text)) in all().into_iter().zip(files().unwrap().into_iter().skip(1)) {
            let read: CustomResourceDefinition = serde_yaml::from_str(&text).unwrap();
            assert_eq!(read, crd, "{name}");
        }
    }
}
