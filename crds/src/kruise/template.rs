//! `spec.gameServerTemplate`: a pod template without a schema, as upstream publishes it, beside two typed fields.
//!
//! It stays JSON on purpose: a pod field that is newer than this program goes through unharmed, and what is
//! wrong with a template is said by the API server when a pod is created from it.

use std::borrow::Cow;
use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::PersistentVolumeClaim;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// Who owns the game server objects, and so how long they live.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum ReclaimPolicy {
    /// The pod owns the game server: it goes when the pod is created anew.
    #[default]
    Cascade,
    /// The set owns it: it goes when a scale down removes the id, or with the set.
    Delete,
}

/// A part of the template that cannot be read as what it must be.
#[derive(Debug, thiserror::Error)]
#[error("{field}: {reason}")]
pub struct TemplateError {
    /// Path of the field below `spec.gameServerTemplate`.
    pub field: String,
    /// What is wrong with it.
    pub reason: String,
}

/// The template of a set's pods.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct GameServerTemplate {
    /// `Cascade` (also when empty) or `Delete`. Other texts act as `Cascade`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reclaim_policy: Option<String>,
    /// Claims that every server gets one of each; kept as written, see [`Self::claims`].
    #[serde(
        default,
        skip_serializing_if = "Vec::is_empty",
        deserialize_with = "crate::lenient::null_is_default"
    )]
    pub volume_claim_templates: Vec<Value>,
    /// `metadata` and `spec` of the pod, and whatever else was written.
    #[serde(flatten)]
    pub pod: Map<String, Value>,
}

impl GameServerTemplate {
    /// Whether nothing was written at all.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.reclaim_policy.is_none() && self.volume_claim_templates.is_empty() && self.pod.is_empty()
    }

    /// The policy meant by the text; `None` when it is neither empty nor known.
    #[must_use]
    pub fn reclaim(&self) -> Option<ReclaimPolicy> {
        match self.reclaim_policy.as_deref() {
            None | Some("" | "Cascade") => Some(ReclaimPolicy::Cascade),
            Some("Delete") => Some(ReclaimPolicy::Delete),
            Some(_) => None,
        }
    }

    /// The pod's spec as written, when it is an object.
    #[must_use]
    pub fn pod_spec(&self) -> Option<&Map<String, Value>> {
        self.pod.get("spec")?.as_object()
    }

    /// The labels of the template; values that are no text are left out.
    #[must_use]
    pub fn labels(&self) -> BTreeMap<String, String> {
        self.metadata_map("labels")
    }

    /// The annotations of the template; values that are no text are left out.
    #[must_use]
    pub fn annotations(&self) -> BTreeMap<String, String> {
        self.metadata_map("annotations")
    }

    /// The containers as written, without the init containers; entries that are no object are left out.
    pub fn containers(&self) -> impl Iterator<Item = &Map<String, Value>> {
        let list = self.pod_spec().and_then(|spec| spec.get("containers")).and_then(Value::as_array);
        list.into_iter().flatten().filter_map(Value::as_object)
    }

    /// The image of a container by name.
    #[must_use]
    pub fn container_image(&self, name: &str) -> Option<&str> {
        self.containers()
            .find(|container| container.get("name").and_then(Value::as_str) == Some(name))
            .and_then(|container| container.get("image"))
            .and_then(Value::as_str)
    }

    /// `{metadata, spec}` of the pod template alone: what a pod, and a revision, is made from.
    #[must_use]
    pub fn pod_template(&self) -> Value {
        let parts = ["metadata", "spec"].into_iter().filter_map(|key| {
            let part = self.pod.get(key)?;
            Some((key.to_owned(), part.clone()))
        });
        Value::Object(parts.collect())
    }

    /// The claim templates, typed.
    ///
    /// # Errors
    /// Names the first entry that is no claim.
    pub fn claims(&self) -> Result<Vec<PersistentVolumeClaim>, TemplateError> {
        let typed = |(index, value): (usize, &Value)| {
            serde_json::from_value(value.clone()).map_err(|error| TemplateError {
                field: format!("volumeClaimTemplates[{index}]"),
                reason: error.to_string(),
            })
        };
        self.volume_claim_templates.iter().enumerate().map(typed).collect()
    }

    fn metadata_map(&self, key: &str) -> BTreeMap<String, String> {
        let map = self.pod.get("metadata").and_then(|metadata| metadata.get(key)).and_then(Value::as_object);
        let text = |(key, value): (&String, &Value)| Some((key.clone(), value.as_str()?.to_owned()));
        map.into_iter().flatten().filter_map(text).collect()
    }
}

impl JsonSchema for GameServerTemplate {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "GameServerTemplate".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let quantities = crate::schema::quantities(generator);
        json_schema!({
            "type": "object",
            "description": "Template of the pods: metadata and spec as in any pod template, not checked here.",
            "x-kubernetes-preserve-unknown-fields": true,
            "properties": {
                "reclaimPolicy": {
                    "type": "string",
                    "description": "Cascade (also when empty): the pod owns the GameServer. Delete: the GameServer stays until a scale down removes its id.",
                },
                "volumeClaimTemplates": {
                    "type": "array",
                    "description": "Claims that every server gets one of each.",
                    "items": {
                        "type": "object",
                        "x-kubernetes-preserve-unknown-fields": true,
                        "properties": {
                            "metadata": {
                                "type": "object",
                                "x-kubernetes-preserve-unknown-fields": true,
                                "properties": {
                                    "name": { "type": "string" },
                                    "labels": { "type": "object", "additionalProperties": { "type": "string" } },
                                    "annotations": { "type": "object", "additionalProperties": { "type": "string" } },
                                },
                            },
                            "spec": {
                                "type": "object",
                                "x-kubernetes-preserve-unknown-fields": true,
                                "properties": {
                                    "resources": {
                                        "type": "object",
                                        "x-kubernetes-preserve-unknown-fields": true,
                                        "properties": { "limits": quantities, "requests": quantities },
                                    },
                                },
                            },
                        },
                    },
                },
            },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn template() -> GameServerTemplate {
        let value = json!({
            "reclaimPolicy": "Delete",
            "metadata": { "labels": { "app": "x", "odd": 1 }, "annotations": { "a": "b" } },
            "spec": { "containers": [{ "name": "main", "image": "game:1", "newField": { "deep": true } }, "odd"] },
            "volumeClaimTemplates": [{ "metadata": { "name": "data" }, "spec": { "accessModes": ["ReadWriteOnce"] } }],
        });
        serde_json::from_value(value).unwrap()
    }

    #[test]
    fn helpers_read_what_is_well_formed_and_skip_the_rest() {
        let template = template();
        assert_eq!(template.reclaim(), Some(ReclaimPolicy::Delete));
        assert_eq!(template.labels(), BTreeMap::from([("app".to_owned(), "x".to_owned())]));
        assert_eq!(template.annotations().len(), 1);
        assert_eq!(template.container_image("main"), Some("game:1"));
        assert_eq!(template.container_image("other"), None);
        assert_eq!(template.containers().count(), 1);
        assert_eq!(template.claims().unwrap()[0].metadata.name.as_deref(), Some("data"));
    }

    #[test]
    fn unknown_pod_fields_go_through_unharmed() {
        let written = serde_json::to_value(template()).unwrap();
        assert_eq!(written["spec"]["containers"][0]["newField"]["deep"], json!(true));
        let pod = template().pod_template();
        assert_eq!(pod.as_object().map(Map::len), Some(2));
    }

    #[test]
    fn a_claim_that_is_none_is_named() {
        let mut template = template();
        template.volume_claim_templates.push(json!({ "spec": "text" }));
        assert!(template.claims().unwrap_err().to_string().starts_with("volumeClaimTemplates[1]: "));
    }

    #[test]
    fn other_policy_texts_are_not_guessed() {
        let mut template = GameServerTemplate::default();
        assert_eq!(template.reclaim(), Some(ReclaimPolicy::Cascade));
        template.reclaim_policy = Some("delete".into());
        assert_eq!(template.reclaim(), None);
    }
}
