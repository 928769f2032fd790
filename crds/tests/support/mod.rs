//! A small judge of structural schemas: types, bounds, patterns, list keys, unknown fields. No CEL.
//! Its words follow the API server's, so that one table fits both.

use std::collections::BTreeSet;

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::{
    CustomResourceDefinition, JSONSchemaProps, JSONSchemaPropsOrArray, JSONSchemaPropsOrBool,
};
use regex::Regex;
use serde_json::Value;

/// What is wrong with a whole object, by the schema of its definition.
pub fn judge(crd: &CustomResourceDefinition, object: &Value) -> Vec<String> {
    let version = &crd.spec.versions[0];
    let schema =
        version.schema.as_ref().and_then(|schema| schema.open_api_v3_schema.as_ref()).expect("a schema");
    let mut object = object.clone();
    for known in ["apiVersion", "kind", "metadata"] {
        object.as_object_mut().expect("an object").remove(known);
    }
    let mut errors = Vec::new();
    check(schema, &object, "", &mut errors);
    errors
}

fn check(schema: &JSONSchemaProps, value: &Value, path: &str, errors: &mut Vec<String>) {
    let mut say = |what: String| errors.push(format!("{path}: Invalid value: {path} in body {what}"));
    if !type_fits(schema, value) {
        say(format!("must be of type {}", schema.type_.as_deref().unwrap_or("integer or string")));
        return;
    }
    if let Some(allowed) = &schema.enum_
        && !allowed.iter().any(|allowed| allowed.0 == *value)
    {
        say(format!("Unsupported value: {value}"));
    }
    match value {
        Value::String(text) => {
            let length = i64::try_from(text.chars().count()).expect("a length");
            if let Some(max) = schema.max_length.filter(|max| length > *max) {
                say(format!("may not be more than {max} bytes"));
            }
            if let Some(min) = schema.min_length.filter(|min| length < *min) {
                say(format!("should be at least {min} chars long"));
            }
            if let Some(pattern) = &schema.pattern
                && !Regex::new(pattern).expect("a pattern").is_match(text)
            {
                say(format!("should match '{pattern}'"));
            }
        }
        Value::Number(number) => {
            let number = number.as_f64().expect("a number");
            if let Some(min) = schema.minimum.filter(|min| number < *min) {
                say(format!("should be greater than or equal to {min}"));
            }
        }
        Value::Array(items) => check_list(schema, items, path, errors),
        Value::Object(_) => check_object(schema, value, path, errors),
        Value::Null | Value::Bool(_) => {}
    }
}

fn type_fits(schema: &JSONSchemaProps, value: &Value) -> bool {
    if schema.x_kubernetes_int_or_string == Some(true) {
        return value.is_i64() || value.is_string();
    }
    match schema.type_.as_deref() {
        Some("string") => value.is_string(),
        Some("integer") => value.is_i64(),
        Some("boolean") => value.is_boolean(),
        Some("array") => value.is_array(),
        Some("object") => value.is_object(),
        Some(other) => panic!("no rule for type {other}"),
        None => true,
    }
}

fn check_list(schema: &JSONSchemaProps, items: &[Value], path: &str, errors: &mut Vec<String>) {
    let many = i64::try_from(items.len()).expect("a length");
    if let Some(max) = schema.max_items.filter(|max| many > *max) {
        errors.push(format!("{path}: Too many: {many}: must have at most {max} items"));
    }
    if schema.x_kubernetes_list_type.as_deref() == Some("map") {
        let keys = schema.x_kubernetes_list_map_keys.clone().unwrap_or_default();
        let mut seen = BTreeSet::new();
        for item in items {
            if !seen.insert(keys.iter().map(|key| item[key].to_string()).collect::<Vec<_>>()) {
                errors.push(format!("{path}: Duplicate value"));
            }
        }
    }
    if let Some(JSONSchemaPropsOrArray::Schema(of)) = &schema.items {
        for (index, item) in items.iter().enumerate() {
            check(of, item, &format!("{path}[{index}]"), errors);
        }
    }
}

fn check_object(schema: &JSONSchemaProps, value: &Value, path: &str, errors: &mut Vec<String>) {
    let below = |key: &str| if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") };
    for required in schema.required.iter().flatten() {
        if value.get(required).is_none_or(Value::is_null) {
            errors.push(format!("{}: Required value", below(required)));
        }
    }
    for (key, field) in value.as_object().into_iter().flatten() {
        let known = schema.properties.as_ref().and_then(|properties| properties.get(key));
        match (known, &schema.additional_properties) {
            // A null where none is allowed is dropped before anything is judged.
            (Some(of), _) if !field.is_null() => check(of, field, &below(key), errors),
            (None, Some(JSONSchemaPropsOrBool::Schema(of))) => check(of, field, &below(key), errors),
            (None, None) if schema.x_kubernetes_preserve_unknown_fields != Some(true) => {
                errors.push(format!("{}: unknown field", below(key)));
            }
            _ => {}
        }
    }
}
