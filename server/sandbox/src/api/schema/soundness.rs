//! What makes a schema of a definition unsound besides its structure: list and map types, defaults, logic, and what OpenAPI has
//! but Kubernetes has not. Each rule is one of apiextensions-apiserver's.
use serde_json::{Map, Value};

use super::compile;
use crate::api::error::FieldError;
use crate::api::validate::schema::validate;

/// Adds what is wrong with one node of a schema.
pub fn check(source: &Map<String, Value>, path: &str, root: bool, errors: &mut Vec<FieldError>) {
    let text = |key: &str| source.get(key).and_then(Value::as_str);
    let flag = |key: &str| source.get(key).and_then(Value::as_bool);
    let kind = text("type").unwrap_or_default();
    let place = |key: &str| format!("{path}.{key}");
    if source.get("items").is_some_and(Value::is_array) {
        errors.push(FieldError::forbidden(place("items"), "items must be a schema object and not an array"));
    }
    for key in [
        "$ref",
        "definitions",
        "dependencies",
        "deprecated",
        "discriminator",
        "id",
        "patternProperties",
        "readOnly",
        "writeOnly",
        "xml",
    ] {
        if source.contains_key(key) {
            errors.push(FieldError::forbidden(place(key), format!("{key} is not supported")));
        }
    }
    if root && flag("nullable") == Some(true) {
        errors.push(FieldError::forbidden(place("nullable"), "nullable cannot be true at the root"));
    }
    if flag("x-kubernetes-preserve-unknown-fields") == Some(false) {
        let why = "must be true or undefined";
        errors.push(FieldError::invalid(place("x-kubernetes-preserve-unknown-fields"), false, why));
    }
    if flag("x-kubernetes-int-or-string") == Some(true)
        && flag("x-kubernetes-preserve-unknown-fields") == Some(true)
    {
        let why = "must be false if x-kubernetes-int-or-string is true";
        errors.push(FieldError::invalid(place("x-kubernetes-preserve-unknown-fields"), true, why));
    }
    let keeps_all = flag("x-kubernetes-preserve-unknown-fields") == Some(true);
    if flag("x-kubernetes-embedded-resource") == Some(true)
        && !keeps_all
        && !source.contains_key("properties")
    {
        let why = "must not be empty if x-kubernetes-embedded-resource is true without x-kubernetes-preserve-unknown-fields";
        errors.push(FieldError::required(place("properties"), why));
    }
    lists_and_maps(source, kind, path, errors);
    logic(source, path, errors);
    if root {
        root_fields(source, path, errors);
    }
    // A default is judged by the schema it stands in, once that is sound.
    if let Some(default) = source.get("default").filter(|default| !default.is_null() && errors.is_empty())
        && !root
    {
        let mut holder = Map::new();
        holder.insert("type".into(), "object".into());
        holder.insert("properties".into(), serde_json::json!({ "default": Value::Object(source.clone()) }));
        let schema = compile(&Value::Object(holder));
        let mut object = serde_json::json!({ "default": default });
        for mut error in validate(&schema, &object, None) {
            error.field = format!("{path}.{}", error.field);
            errors.push(error);
        }
        let unknown = super::prune(&schema, &mut object);
        if errors.is_empty() && !unknown.is_empty() {
            let why = format!("must not have unknown fields: {}", unknown.join(", "));
            errors.push(FieldError::invalid(place("default"), default.clone(), why));
        }
    }
}

fn lists_and_maps(source: &Map<String, Value>, kind: &str, path: &str, errors: &mut Vec<FieldError>) {
    let text = |key: &str| source.get(key).and_then(Value::as_str);
    let place = |key: &str| format!("{path}.{key}");
    let item = |key: &str| source.get("items").and_then(|items| items.get(key));
    if let Some(list) = text("x-kubernetes-list-type") {
        if !matches!(list, "atomic" | "set" | "map") {
            let known = ["atomic", "map", "set"].map(str::to_owned);
            errors.push(FieldError::not_supported(place("x-kubernetes-list-type"), list, &known));
        } else if kind != "array" {
            let why = "must be array if x-kubernetes-list-type is specified";
            errors.push(FieldError::invalid(place("type"), kind, why));
        } else if list == "map" && item("type").is_some_and(|kind| kind != "object") {
            let why = "must be object if parent array's x-kubernetes-list-type is map";
            errors.push(FieldError::invalid(
                place("items.type"),
                item("type").cloned().unwrap_or_default(),
                why,
            ));
        } else if list == "set" {
            if item("nullable") == Some(&Value::Bool(true)) {
                let why = "cannot be nullable when x-kubernetes-list-type is set";
                errors.push(FieldError::forbidden(place("items.nullable"), why));
            }
            if item("type").is_some_and(|kind| kind == "object")
                && item("x-kubernetes-map-type") != Some(&"atomic".into())
            {
                let why = "must be atomic as item of a list with x-kubernetes-list-type=set";
                errors.push(FieldError::invalid(place("items.x-kubernetes-map-type"), Value::Null, why));
            }
        }
    } else if source.get("x-kubernetes-list-map-keys").is_some() {
        let why = "must be map if x-kubernetes-list-map-keys is non-empty";
        errors.push(FieldError::required(place("x-kubernetes-list-type"), why));
    }
    let keys = source.get("x-kubernetes-list-map-keys").and_then(Value::as_array);
    let mut seen = std::collections::HashSet::new();
    for key in keys.into_iter().flatten().filter_map(Value::as_str) {
        if !seen.insert(key) {
            let why = "must not contain duplicate entries";
            errors.push(FieldError::invalid(place("x-kubernetes-list-map-keys"), key, why));
        }
    }
    if let Some(map) = text("x-kubernetes-map-type") {
        if !matches!(map, "atomic" | "granular") {
            let known = ["atomic", "granular"].map(str::to_owned);
            errors.push(FieldError::not_supported(place("x-kubernetes-map-type"), map, &known));
        } else if kind != "object" {
            let why = "must be object if x-kubernetes-map-type is specified";
            errors.push(FieldError::invalid(place("type"), kind, why));
        }
    }
}

/// Below allOf, anyOf, oneOf and not stand bounds only.
fn logic(source: &Map<String, Value>, path: &str, errors: &mut Vec<FieldError>) {
    let mut nested = Vec::new();
    for key in ["allOf", "anyOf", "oneOf"] {
        for (i, schema) in source.get(key).and_then(Value::as_array).into_iter().flatten().enumerate() {
            nested.push((format!("{path}.{key}[{i}]"), schema));
        }
    }
    if let Some(schema) = source.get("not") {
        nested.push((format!("{path}.not"), schema));
    }
    for (place, schema) in nested {
        bounds_only(schema, &place, errors);
    }
}

fn bounds_only(schema: &Value, path: &str, errors: &mut Vec<FieldError>) {
    for key in ["default", "type", "additionalProperties", "nullable", "title", "description"] {
        let int_or_string =
            key == "type" && schema.get("type").is_some_and(|kind| kind == "integer" || kind == "string");
        if schema.get(key).is_some()
            && !(int_or_string
                && path.rsplit('.').next().is_some_and(|last| last.starts_with("anyOf["))
                && schema.as_object().is_some_and(|s| s.len() == 1))
        {
            errors.push(FieldError::forbidden(format!("{path}.{key}"), "must be empty to be structural"));
        }
    }
    for (name, property) in schema.get("properties").and_then(Value::as_object).into_iter().flatten() {
        bounds_only(property, &format!("{path}.properties[{name}]"), errors);
    }
    if let Some(items) = schema.get("items") {
        bounds_only(items, &format!("{path}.items"), errors);
    }
}

/// apiVersion and kind are texts, and of metadata only the names may be bound.
fn root_fields(source: &Map<String, Value>, path: &str, errors: &mut Vec<FieldError>) {
    let property = |name: &str| source.get("properties").and_then(|p| p.get(name));
    for (name, wanted) in [("apiVersion", "string"), ("kind", "string"), ("metadata", "object")] {
        if let Some(kind) = property(name).and_then(|p| p.get("type")).filter(|kind| *kind != wanted) {
            let place = format!("{path}.properties[{name}].type");
            errors.push(FieldError::invalid(place, kind.clone(), format!("must be {wanted}")));
        }
    }
    let bound = property("metadata").and_then(|p| p.get("properties")).and_then(Value::as_object);
    if bound.is_some_and(|bound| bound.keys().any(|name| !matches!(name.as_str(), "name" | "generateName"))) {
        let why = "must not specify anything other than name and generateName, but metadata is implicitly specified";
        errors.push(FieldError::forbidden(format!("{path}.properties[metadata]"), why));
    }
}
