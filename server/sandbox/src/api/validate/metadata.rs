//! Rules for `metadata`, the same for every kind.
use serde_json::Value;

use super::names::{self, Rule};
use crate::api::error::FieldError;
use crate::api::value::{at, list, text};

/// Which rule the names of a kind follow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NameRule {
    /// RFC 1123 subdomain.
    Subdomain,
    /// RFC 1123 label.
    Label,
    /// Anything that fits into a path.
    Path,
}

impl NameRule {
    fn check(self, name: &str) -> Rule {
        match self {
            Self::Subdomain => names::subdomain(name),
            Self::Label => names::label(name),
            Self::Path => names::path_segment(name),
        }
    }
}

/// What is wrong with the metadata of an object.
pub fn validate(object: &Value, rule: NameRule) -> Vec<FieldError> {
    let mut errors = Vec::new();
    let name = text(object, &["metadata", "name"]);
    if name.is_empty() {
        errors.push(FieldError::required("metadata.name", "name or generateName is required"));
    } else if let Err(why) = rule.check(name) {
        errors.push(FieldError::invalid("metadata.name", name, why));
    }
    labels(object, &["metadata", "labels"], "metadata.labels", &mut errors);
    annotations(object, &mut errors);
    owners(object, &mut errors);
    for (i, finalizer) in list(object, &["metadata", "finalizers"]).iter().enumerate() {
        let finalizer = finalizer.as_str().unwrap_or_default();
        if let Err(why) = names::qualified_name(finalizer) {
            errors.push(FieldError::invalid(format!("metadata.finalizers[{i}]"), finalizer, why));
        } else if !finalizer.contains('/')
            && !matches!(finalizer, "orphan" | "foregroundDeletion" | "kubernetes")
        {
            let detail = "name is neither a standard finalizer name nor is it fully qualified";
            errors.push(FieldError::invalid(format!("metadata.finalizers[{i}]"), finalizer, detail));
        }
    }
    errors
}

/// What is wrong with a map of labels.
pub fn labels(object: &Value, path: &[&str], place: &str, errors: &mut Vec<FieldError>) {
    for (key, value) in at(object, path).and_then(Value::as_object).into_iter().flatten() {
        if let Err(why) = names::qualified_name(key) {
            errors.push(FieldError::invalid(place, key.as_str(), why));
        }
        let value = value.as_str().unwrap_or_default();
        if let Err(why) = names::label_value(value) {
            errors.push(FieldError::invalid(place, value, why));
        }
    }
}

fn annotations(object: &Value, errors: &mut Vec<FieldError>) {
    const MOST: usize = 256 * 1024;
    let mut size = 0;
    for (key, value) in
        at(object, &["metadata", "annotations"]).and_then(Value::as_object).into_iter().flatten()
    {
        // Keys of annotations may have upper case in their domain.
        if let Err(why) = names::qualified_name(&key.to_lowercase()) {
            errors.push(FieldError::invalid("metadata.annotations", key.as_str(), why));
        }
        size += key.len() + value.as_str().unwrap_or_default().len();
    }
    if size > MOST {
        errors.push(FieldError::too_long("metadata.annotations", MOST as u64));
    }
}

fn owners(object: &Value, errors: &mut Vec<FieldError>) {
    let mut controllers = 0;
    for owner in list(object, &["metadata", "ownerReferences"]) {
        for key in ["apiVersion", "kind", "name", "uid"] {
            if text(owner, &[key]).is_empty() {
                let detail =
                    if key == "apiVersion" { "version must not be empty" } else { "must not be empty" };
                errors.push(FieldError::invalid(format!("metadata.ownerReferences.{key}"), "", detail));
            }
        }
        controllers += usize::from(owner.get("controller") == Some(&Value::Bool(true)));
    }
    if controllers > 1 {
        let owners = at(object, &["metadata", "ownerReferences"]).cloned().unwrap_or_default();
        let detail = "Only one reference can have Controller set to true";
        errors.push(FieldError::invalid("metadata.ownerReferences", owners, detail));
    }
}

/// What an update must not change. The fields that the server itself keeps were carried over before.
pub fn validate_update(new: &Value, old: &Value) -> Vec<FieldError> {
    let mut errors = Vec::new();
    if text(old, &["metadata", "deletionTimestamp"]).is_empty() {
        return errors;
    }
    let before = list(old, &["metadata", "finalizers"]);
    let added: Vec<&str> = list(new, &["metadata", "finalizers"])
        .iter()
        .filter(|f| !before.contains(f))
        .filter_map(Value::as_str)
        .collect();
    if !added.is_empty() {
        let found: Vec<String> = added.iter().map(|f| format!("{f:?}")).collect();
        let detail = format!(
            "no new finalizers can be added if the object is being deleted, found new finalizers []string{{{}}}",
            found.join(", ")
        );
        errors.push(FieldError::forbidden("metadata.finalizers", detail));
    }
    errors
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn wrong_metadata_is_named_field_by_field() {
        let object = json!({"metadata": {
            "name": "A", "labels": {"a b": "c", "ok": "not ok"}, "finalizers": ["plain", "example.com/x"],
            "ownerReferences": [{"apiVersion": "v1", "kind": "Pod", "name": "a", "controller": true},
                                {"apiVersion": "v1", "kind": "Pod", "name": "b", "uid": "u", "controller": true}],
        }});
        let fields: Vec<String> =
            validate(&object, NameRule::Subdomain).into_iter().map(|e| e.field).collect();
        assert_eq!(
            fields,
            [
                "metadata.name",
                "metadata.labels",
                "metadata.labels",
                "metadata.ownerReferences.uid",
                "metadata.ownerReferences",
                "metadata.finalizers[0]",
            ]
        );
    }
}
