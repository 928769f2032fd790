//! What the manifests refuse and accept: a table of objects with the verdict of the API server, and a runner that
//! tries all of them on a server. The same table is the proof on a real API server and the exam of the sandbox.

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::api::{Api, DeleteParams, DynamicObject, PostParams};
use kube::core::{ApiResource, GroupVersionKind};
use kube::{Client, ResourceExt};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::manifest::all;

/// The table, as it lies beside the tests.
const TABLE: &str = include_str!("../tests/rules.yaml");

/// One object and what becomes of it.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Row {
    /// Name of the row: what it shows.
    pub id: String,
    /// Kind of the object.
    pub kind: String,
    /// The object without `apiVersion`, `kind` and `metadata`.
    pub object: Value,
    /// The object before, when the row is about an update.
    #[serde(default)]
    pub from: Option<Value>,
    /// Whether `object` is written through the status subresource.
    #[serde(default)]
    pub status: bool,
    /// Part of the message of the refusal; accepted when absent.
    #[serde(default)]
    pub refuse: Option<String>,
    /// What a server must be able to judge so that it refuses.
    #[serde(default)]
    pub by: Judge,
}

/// What a server must be able to judge.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq)]
#[serde(rename_all = "camelCase")]
pub enum Judge {
    /// Types, bounds, patterns, list keys.
    #[default]
    Schema,
    /// Rules in CEL.
    Cel,
}

/// A row that did not come out as the table says.
#[derive(Clone, Debug)]
pub struct Mismatch {
    /// The row.
    pub id: String,
    /// What happened instead.
    pub what: String,
}

/// Reads the table.
///
/// # Errors
/// When the table is malformed.
pub fn table() -> Result<Vec<Row>, serde_yaml::Error> {
    serde_yaml::from_str(TABLE)
}

impl Row {
    /// The whole object under a name that is the row's own.
    #[must_use]
    pub fn whole(&self, part: &Value, crd: &CustomResourceDefinition) -> Value {
        let version = crd.spec.versions.first().map(|version| version.name.clone()).unwrap_or_default();
        let mut whole = json!({
            "apiVersion": format!("{}/{version}", crd.spec.group),
            "kind": self.kind,
            "metadata": { "name": self.id },
        });
        if let (Value::Object(whole), Value::Object(part)) = (&mut whole, part) {
            whole.extend(part.clone());
        }
        whole
    }
}

/// The definition of a kind.
#[must_use]
pub fn definition(kind: &str) -> Option<CustomResourceDefinition> {
    all().into_iter().find(|crd| crd.spec.names.kind == kind)
}

/// Tries every row in a namespace of a server that has the definitions, as dry runs where it can, and says which came
/// out differently. `with_cel` is false for a server that does not evaluate CEL: such refusals are then not asked for.
///
/// # Errors
/// When the server cannot be asked at all, or the table is malformed.
pub async fn run(client: &Client, namespace: &str, with_cel: bool) -> Result<Vec<Mismatch>, RunError> {
    let mut mismatches = Vec::new();
    for row in table()? {
        if row.refuse.is_some() && row.by == Judge::Cel && !with_cel {
            continue;
        }
        let Some(crd) = definition(&row.kind) else {
            mismatches.push(Mismatch { what: format!("no kind {}", row.kind), id: row.id });
            continue;
        };
        let verdict = attempt(client, namespace, &row, &crd).await?;
        let what = match (&row.refuse, verdict) {
            (None, None) => continue,
            (Some(part), Some(message)) if message.contains(part.as_str()) => continue,
            (Some(_), None) => "accepted".to_owned(),
            (_, Some(message)) => format!("refused with: {message}"),
        };
        mismatches.push(Mismatch { id: row.id, what });
    }
    Ok(mismatches)
}

/// Why the table could not be tried.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The table is malformed.
    #[error("the table of rules is malformed: {0}")]
    Table(#[from] serde_yaml::Error),
    /// The server could not be asked, or refused the object that a row starts from.
    #[error("row {id}: {source}")]
    Server {
        /// The row.
        id: String,
        /// What went wrong.
        source: Box<kube::Error>,
    },
    /// A row's object is no object.
    #[error("row {id}: {source}")]
    Object {
        /// The row.
        id: String,
        /// What went wrong.
        source: serde_json::Error,
    },
}

/// The message of the refusal; nothing when the object is accepted.
async fn attempt(
    client: &Client,
    namespace: &str,
    row: &Row,
    crd: &CustomResourceDefinition,
) -> Result<Option<String>, RunError> {
    let id = &row.id;
    let server = |source| RunError::Server { id: id.clone(), source: Box::new(source) };
    let object = |part: &Value| -> Result<DynamicObject, RunError> {
        serde_json::from_value(row.whole(part, crd))
            .map_err(|source| RunError::Object { id: id.clone(), source })
    };
    let version = crd.spec.versions.first().map(|version| version.name.clone()).unwrap_or_default();
    let kind = GroupVersionKind::gvk(&crd.spec.group, &version, &row.kind);
    let resource = ApiResource::from_gvk_with_plural(&kind, &crd.spec.names.plural);
    let api = Api::<DynamicObject>::namespaced_with(client.clone(), namespace, &resource);
    let dry = PostParams { dry_run: true, field_manager: None };
    let outcome = if row.from.is_none() && !row.status {
        api.create(&dry, &object(&row.object)?).await
    } else {
        let before = object(row.from.as_ref().unwrap_or(&Value::Null))?;
        let created = api.create(&PostParams::default(), &before).await.map_err(server)?;
        let mut after = object(&row.object)?;
        after.metadata.resource_version = created.resource_version();
        let outcome = if row.status {
            api.replace_status(id, &dry, &after).await
        } else {
            api.replace(id, &dry, &after).await
        };
        api.delete(id, &DeleteParams::default()).await.map_err(server)?;
        outcome
    };
    match outcome {
        Ok(_) => Ok(None),
        Err(kube::Error::Api(status)) if status.code < 500 => Ok(Some(status.message.clone())),
        Err(error) => Err(server(error)),
    }
}
