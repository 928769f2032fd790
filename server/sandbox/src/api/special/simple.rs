//! Kinds with a line or two of behaviour: namespaces, secrets, config maps.
use k8s_openapi::ByteString;
use serde_json::{Value, json};

use crate::api::error::FieldError;
use crate::api::kinds::{Behaviour, Resource};
use crate::api::value::{as_map, at, carry, list, remove, set, set_default, slot, text};

/// A namespace carries its own name as a label.
pub fn label_namespace(object: &mut Value) {
    let name = text(object, &["metadata", "name"]).to_owned();
    if !name.is_empty() {
        set(object, &["metadata", "labels", "kubernetes.io/metadata.name"], name);
    }
}

/// A namespace is held by the finalizer that empties it.
pub fn prepare_namespace(object: &mut Value) {
    label_namespace(object);
    if !list(object, &["spec", "finalizers"]).iter().any(|f| f == "kubernetes") {
        let mut finalizers = list(object, &["spec", "finalizers"]).to_vec();
        finalizers.push("kubernetes".into());
        set(object, &["spec", "finalizers"], finalizers);
    }
    set(object, &["status", "phase"], "Active");
}

/// Only the finalize subresource changes what holds a namespace.
pub fn keep_namespace_finalizers(old: &Value, new: &mut Value) {
    carry(old, new, &["spec"]);
}

/// Through the finalize subresource only `spec.finalizers` changes.
pub fn keep_all_but_finalizers(old: &Value, new: &mut Value) {
    let finalizers = list(new, &["spec", "finalizers"]).to_vec();
    let version = at(new, &["metadata", "resourceVersion"]).cloned();
    *new = old.clone();
    if finalizers.is_empty() {
        remove(new, &["spec", "finalizers"]);
    } else {
        set(new, &["spec", "finalizers"], finalizers);
    }
    if let Some(version) = version {
        set(new, &["metadata", "resourceVersion"], version);
    }
}

/// What a node does not say about itself.
pub fn fill_node(object: &mut Value) {
    let cidr = text(object, &["spec", "podCIDR"]).to_owned();
    if !cidr.is_empty() {
        set_default(object, &["spec", "podCIDRs"], vec![cidr]);
    }
    if let Some(capacity) = at(object, &["status", "capacity"]).cloned() {
        set_default(object, &["status", "allocatable"], capacity);
    }
}

/// Pod templates get the defaults that pods get; a strategy that does not roll has no parameters for it.
pub fn fill_workload(object: &mut Value) {
    for path in [&["spec", "template", "spec"][..], &["spec", "jobTemplate", "spec", "template", "spec"]] {
        if at(object, path).is_some() {
            super::pod::fill_containers(slot(object, path));
        }
    }
    for strategy in ["strategy", "updateStrategy"] {
        if !matches!(text(object, &["spec", strategy, "type"]), "" | "RollingUpdate") {
            remove(object, &["spec", strategy, "rollingUpdate"]);
        }
    }
}

/// `stringData` is a way to write `data`, and is never stored.
pub fn merge_string_data(object: &mut Value) {
    let Some(Value::Object(plain)) = as_map(object).remove("stringData") else { return };
    for (key, value) in plain {
        let bytes = ByteString(value.as_str().unwrap_or_default().as_bytes().to_vec());
        if let Ok(encoded) = serde_json::to_value(bytes) {
            set(object, &["data", &key], encoded);
        }
    }
}

/// What is wrong with a new object of a kind that has few rules.
pub fn validate(resource: &Resource, object: &Value) -> Vec<FieldError> {
    let mut errors = Vec::new();
    match (resource.behaviour, resource.plural.as_str()) {
        (Behaviour::Plain, "configmaps" | "secrets") => {
            for part in ["data", "binaryData"] {
                for key in at(object, &[part]).and_then(Value::as_object).into_iter().flat_map(|m| m.keys()) {
                    let fits = !key.is_empty()
                        && key.len() <= 253
                        && key.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.'));
                    if !fits {
                        let detail = "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')";
                        errors.push(FieldError::invalid(format!("{part}[{key}]"), key.as_str(), detail));
                    }
                }
            }
        }
        (Behaviour::Workload, _) => {
            if let Some(replicas) =
                at(object, &["spec", "replicas"]).and_then(Value::as_i64).filter(|r| *r < 0)
            {
                errors.push(FieldError::invalid(
                    "spec.replicas",
                    replicas,
                    "must be greater than or equal to 0",
                ));
            }
        }
        _ => {}
    }
    errors
}

/// What must not change in kinds that have few rules.
pub fn validate_update(resource: &Resource, object: &Value, old: &Value) -> Vec<FieldError> {
    let mut errors = validate(resource, object);
    let immutable = |path: &[&str], errors: &mut Vec<FieldError>| {
        if at(object, path) != at(old, path) {
            let value = at(object, path).cloned().unwrap_or_default();
            errors.push(FieldError::invalid(path.join("."), value, "field is immutable"));
        }
    };
    match (resource.behaviour, resource.plural.as_str()) {
        (Behaviour::Plain, "configmaps" | "secrets") if at(old, &["immutable"]) == Some(&json!(true)) => {
            for part in ["data", "binaryData", "immutable"] {
                if at(object, &[part]) != at(old, &[part]) {
                    errors.push(FieldError::forbidden(part, "field is immutable when `immutable` is set"));
                }
            }
        }
        (Behaviour::Plain, "controllerrevisions") => immutable(&["data"], &mut errors),
        (Behaviour::Plain, "storageclasses") => {
            immutable(&["provisioner"], &mut errors);
            immutable(&["parameters"], &mut errors);
        }
        (Behaviour::Workload, "deployments" | "replicasets" | "daemonsets") => {
            immutable(&["spec", "selector"], &mut errors);
        }
        (Behaviour::PersistentVolumeClaim, _) => {
            let fixed = |object: &Value| {
                let mut spec = at(object, &["spec"]).cloned().unwrap_or_default();
                for key in ["resources", "volumeName", "storageClassName", "volumeAttributesClassName"] {
                    remove(&mut spec, &[key]);
                }
                spec
            };
            if fixed(object) != fixed(old) {
                let detail = "spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims";
                errors.push(FieldError::forbidden("spec", detail));
            }
        }
        _ => {}
    }
    errors
}
