//! What is wrong with a CustomResourceDefinition.
use serde_json::Value;

use crate::api::error::FieldError;
use crate::api::schema::structural_errors;
use crate::api::validate::names;
use crate::api::value::{at, list, text};

/// What is wrong with a CRD.
pub fn validate(crd: &Value, old: Option<&Value>) -> Vec<FieldError> {
    let mut errors = Vec::new();
    let (group, plural) = (text(crd, &["spec", "group"]), text(crd, &["spec", "names", "plural"]));
    let name = text(crd, &["metadata", "name"]);
    if name != format!("{plural}.{group}") {
        errors.push(FieldError::invalid("metadata.name", name, "must be spec.names.plural+\".\"+spec.group"));
    }
    if group.is_empty() {
        errors.push(FieldError::required("spec.group", ""));
    } else if let Err(why) = names::subdomain(group) {
        errors.push(FieldError::invalid("spec.group", group, why));
    } else if !group.contains('.') {
        errors.push(FieldError::invalid("spec.group", group, "should be a domain with at least one dot"));
    }
    for key in ["plural", "kind", "singular", "listKind"] {
        let value = text(crd, &["spec", "names", key]).to_lowercase();
        if value.is_empty() {
            errors.push(FieldError::required(format!("spec.names.{key}"), ""));
        } else if let Err(why) = names::dns1035(&value) {
            errors.push(FieldError::invalid(format!("spec.names.{key}"), value, why));
        }
    }
    for key in ["shortNames", "categories"] {
        for (i, name) in list(crd, &["spec", "names", key]).iter().filter_map(Value::as_str).enumerate() {
            if let Err(why) = names::dns1035(name) {
                errors.push(FieldError::invalid(format!("spec.names.{key}[{i}]"), name, why));
            }
        }
    }
    let (kind, list_kind) =
        (text(crd, &["spec", "names", "kind"]), text(crd, &["spec", "names", "listKind"]));
    if !kind.is_empty() && kind == list_kind {
        let why = "kind and listKind may not be the same";
        errors.push(FieldError::invalid("spec.names.listKind", list_kind, why));
    }
    conversion(crd, &mut errors);
    let scope = text(crd, &["spec", "scope"]);
    if scope.is_empty() {
        errors.push(FieldError::required("spec.scope", ""));
    } else if !matches!(scope, "Namespaced" | "Cluster") {
        let known = ["Cluster", "Namespaced"].map(str::to_owned);
        errors.push(FieldError::not_supported("spec.scope", scope, &known));
    }
    let versions = list(crd, &["spec", "versions"]);
    if versions.iter().filter(|v| v["storage"] == true).count() != 1 {
        let detail = "must have exactly one version marked as storage version";
        errors.push(FieldError::invalid("spec.versions", Value::Array(versions.to_vec()), detail));
    }
    if !versions.iter().any(|v| v["storage"] == true)
        || versions.iter().filter(|v| v["storage"] == true).count() > 1
    {
        let why = "must have the storage version";
        errors.push(FieldError::invalid("status.storedVersions", Value::Null, why));
    }
    let mut seen = std::collections::HashSet::new();
    if versions.iter().any(|version| !seen.insert(text(version, &["name"]))) {
        let why = "must contain unique version names";
        errors.push(FieldError::invalid("spec.versions", Value::Null, why));
    }
    // A schema that all versions share is told about as the one of the whole definition.
    let schema_of = |version: &Value| at(version, &["schema", "openAPIV3Schema"]).cloned();
    let shared = versions.iter().all(|v| schema_of(v) == versions.first().and_then(schema_of));
    for (i, version) in versions.iter().enumerate() {
        let path = format!("spec.versions[{i}]");
        if let Err(why) = names::dns1035(text(version, &["name"])) {
            errors.push(FieldError::invalid(format!("{path}.name"), text(version, &["name"]), why));
        }
        let single = versions.len() == 1;
        columns_and_scale(version, if single { "spec" } else { &path }, &mut errors);
        match at(version, &["schema", "openAPIV3Schema"]) {
            None => {
                errors.push(FieldError::required(
                    format!("{path}.schema.openAPIV3Schema"),
                    "schemas are required",
                ));
            }
            Some(schema) => {
                if shared && i == 0 {
                    errors.extend(structural_errors(schema, "spec.validation.openAPIV3Schema"));
                } else if !shared {
                    errors.extend(structural_errors(schema, &format!("{path}.schema.openAPIV3Schema")));
                }
            }
        }
    }
    if let Some(old) = old {
        for path in [&["spec", "group"][..], &["spec", "scope"], &["spec", "names", "plural"]] {
            if at(old, path) != at(crd, path) {
                let value = at(crd, path).cloned().unwrap_or_default();
                errors.push(FieldError::invalid(path.join("."), value, "field is immutable"));
            }
        }
    }
    errors
}

fn conversion(crd: &Value, errors: &mut Vec<FieldError>) {
    match text(crd, &["spec", "conversion", "strategy"]) {
        "" | "None" => {}
        "Webhook" => {
            let webhook = at(crd, &["spec", "conversion", "webhook"]);
            if webhook.and_then(|w| w.get("clientConfig")).is_none() {
                let why = "required when strategy is set to Webhook";
                errors.push(FieldError::required("spec.conversion.webhookClientConfig", why));
            }
            if list(crd, &["spec", "conversion", "webhook", "conversionReviewVersions"]).is_empty() {
                errors.push(FieldError::required("spec.conversion.conversionReviewVersions", ""));
            }
        }
        other => {
            let known = ["None", "Webhook"].map(str::to_owned);
            errors.push(FieldError::not_supported("spec.conversion.strategy", other, &known));
        }
    }
    if at(crd, &["spec", "preserveUnknownFields"]) == Some(&Value::Bool(true)) {
        let why = "cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead";
        errors.push(FieldError::invalid("spec.preserveUnknownFields", true, why));
    }
}

/// What else a version says: printer columns, paths of scale, selectable fields. `base`: where the real server keeps them.
fn columns_and_scale(version: &Value, base: &str, errors: &mut Vec<FieldError>) {
    for (i, column) in list(version, &["additionalPrinterColumns"]).iter().enumerate() {
        let place = |key: &str| format!("{base}.additionalPrinterColumns[{i}].{key}");
        if text(column, &["name"]).is_empty() {
            errors.push(FieldError::required(place("name"), ""));
        }
        let kind = text(column, &["type"]);
        if kind.is_empty() {
            errors.push(FieldError::required(place("type"), ""));
        } else if !matches!(kind, "integer" | "number" | "string" | "boolean" | "date") {
            errors.push(FieldError::invalid(
                place("type"),
                kind,
                "must be one of boolean,date,integer,number,string",
            ));
        }
        let format = text(column, &["format"]);
        if !matches!(
            format,
            "" | "int32" | "int64" | "float" | "double" | "byte" | "date" | "date-time" | "password"
        ) {
            let why = "must be one of byte,date,date-time,double,float,int32,int64,password";
            errors.push(FieldError::invalid(place("format"), format, why));
        }
        let path = text(column, &["jsonPath"]);
        if path.is_empty() {
            errors.push(FieldError::required(place("JSONPath"), ""));
        } else if !path.starts_with('.') && !path.starts_with("['") {
            errors.push(FieldError::invalid(place("JSONPath"), path, "is an invalid JSON path"));
        }
    }
    if let Some(scale) = at(version, &["subresources", "scale"]) {
        for (key, parent) in [("specReplicasPath", ".spec."), ("statusReplicasPath", ".status.")] {
            let path = text(scale, &[key]);
            let place = format!("{base}.subresources.scale.{key}");
            if path.is_empty() {
                errors.push(FieldError::required(place, ""));
            } else if !path.starts_with(parent) {
                errors.push(FieldError::invalid(
                    place,
                    path,
                    format!("should be a json path under {}", parent.trim_end_matches('.')),
                ));
            }
        }
    }
    for (i, field) in list(version, &["selectableFields"]).iter().enumerate() {
        let place = format!("{base}.selectableFields[{i}].jsonPath");
        let path = text(field, &["jsonPath"]);
        if path.is_empty() {
            errors.push(FieldError::required(place, "must be specified"));
            continue;
        }
        let mut here = at(version, &["schema", "openAPIV3Schema"]);
        for name in path.split('.').skip(1) {
            here = here.and_then(|schema| at(schema, &["properties", name]));
        }
        if here.is_none() {
            errors.push(FieldError::invalid(
                place,
                path,
                "is an invalid path: does not refer to a valid field",
            ));
        }
    }
}
