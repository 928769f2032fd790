//! Compiling the schema of a CustomResourceDefinition.
use serde_json::{Map, Value};

use super::{Limits, ListType, Schema, Type, common, rules, soundness};
use crate::api::error::FieldError;

/// Compiles `openAPIV3Schema` of a custom kind; the outermost map gets the fields that every object has.
pub fn compile(source: &Value) -> Schema {
    let mut schema = convert_as(source, true);
    schema.kind = Type::Object;
    let text = || Schema { kind: Type::String, ..Schema::default() };
    schema.properties.insert("apiVersion".into(), text());
    schema.properties.insert("kind".into(), text());
    let meta = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta";
    schema.properties.insert("metadata".into(), Schema { reference: Some(meta.into()), ..Schema::default() });
    schema
}

fn convert(source: &Value) -> Schema {
    convert_as(source, false)
}

fn convert_as(source: &Value, root: bool) -> Schema {
    let Some(map) = source.as_object() else { return Schema { preserve_unknown: true, ..Schema::default() } };
    let mut schema = common(map, &convert);
    schema.limits = limits(map).map(Box::new);
    let rules = rules::compile(map, &schema, root);
    let children =
        schema.properties.values().chain(schema.additional.as_deref()).chain(schema.items.as_deref());
    schema.has_rules = !rules.is_empty() || children.into_iter().any(|child| child.has_rules);
    if let Some(limits) = &mut schema.limits {
        limits.rules = rules;
    }
    schema
}

fn limits(source: &Map<String, Value>) -> Option<Limits> {
    let number = |key: &str| source.get(key).and_then(Value::as_f64);
    let count = |key: &str| source.get(key).and_then(Value::as_u64);
    let flag = |key: &str| source.get(key).and_then(Value::as_bool).unwrap_or(false);
    let text = |key: &str| source.get(key).and_then(Value::as_str);
    let many = |key: &str| source.get(key).and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    let schemas = |key: &str| many(key).iter().map(convert).collect();
    let limits = Limits {
        required: many("required").iter().filter_map(|r| r.as_str().map(str::to_owned)).collect(),
        one_of_values: many("enum").to_vec(),
        pattern: text("pattern").and_then(|p| regex::Regex::new(p).ok()),
        format: text("format").map(str::to_owned),
        minimum: number("minimum").map(|n| (n, flag("exclusiveMinimum"))),
        maximum: number("maximum").map(|n| (n, flag("exclusiveMaximum"))),
        multiple_of: number("multipleOf"),
        min_length: count("minLength"),
        max_length: count("maxLength"),
        min_items: count("minItems"),
        max_items: count("maxItems"),
        min_properties: count("minProperties"),
        max_properties: count("maxProperties"),
        all_of: schemas("allOf"),
        any_of: schemas("anyOf"),
        one_of: schemas("oneOf"),
        not: source.get("not").map(|n| Box::new(convert(n))),
        rules: Vec::new(),
    };
    let keys = [
        "required",
        "enum",
        "pattern",
        "format",
        "minimum",
        "maximum",
        "multipleOf",
        "minLength",
        "maxLength",
        "minItems",
        "maxItems",
        "minProperties",
        "maxProperties",
        "allOf",
        "anyOf",
        "oneOf",
        "not",
        "x-kubernetes-validations",
    ];
    keys.iter().any(|key| source.contains_key(*key)).then_some(limits)
}

/// What makes a schema not structural, or unusable: each with the path in the CRD.
pub fn structural_errors(source: &Value, path: &str) -> Vec<FieldError> {
    let mut errors = Vec::new();
    check(source, path, true, &mut errors);
    // Rules are compiled against the types of the schema, so it has to be sound first.
    if errors.is_empty() {
        rules::check(&compile(source), path, None, &mut errors);
    }
    errors
}

fn check(source: &Value, path: &str, root: bool, errors: &mut Vec<FieldError>) {
    let Some(map) = source.as_object() else { return };
    let flag = |key: &str| map.get(key).and_then(Value::as_bool).unwrap_or(false);
    let kind = map.get("type").and_then(Value::as_str).unwrap_or_default();
    let typed = !kind.is_empty() || map.contains_key("$ref");
    if !typed && !flag("x-kubernetes-int-or-string") && !flag("x-kubernetes-preserve-unknown-fields") {
        let detail = if root {
            "must not be empty at the root"
        } else {
            "must not be empty for specified object fields"
        };
        errors.push(FieldError::required(format!("{path}.type"), detail));
    } else if root && kind != "object" {
        errors.push(FieldError::invalid(format!("{path}.type"), kind, "must be object at the root"));
    } else if !matches!(kind, "" | "object" | "array" | "string" | "integer" | "number" | "boolean") {
        let known = ["array", "boolean", "integer", "number", "object", "string"].map(str::to_owned);
        errors.push(FieldError::not_supported(format!("{path}.type"), kind, &known));
    }
    if let Some(pattern) = map.get("pattern").and_then(Value::as_str)
        && let Err(error) = regex::Regex::new(pattern)
    {
        let detail = format!("must be a valid regular expression, but isn't: {error}");
        errors.push(FieldError::invalid(format!("{path}.pattern"), pattern, detail));
    }
    soundness::check(map, path, root, errors);
    if map.contains_key("properties") && map.contains_key("additionalProperties") {
        errors.push(FieldError::forbidden(
            format!("{path}.additionalProperties"),
            "additionalProperties and properties are mutual exclusive",
        ));
    }
    if flag("uniqueItems") {
        errors.push(FieldError::forbidden(
            format!("{path}.uniqueItems"),
            "uniqueItems cannot be set to true since the runtime complexity becomes quadratic",
        ));
    }
    if kind == "array" && !map.contains_key("items") {
        errors.push(FieldError::required(format!("{path}.items"), "must be specified"));
    }
    check_list_map(map, path, errors);
    rules::check_form(source, path, errors);
    for (name, property) in map.get("properties").and_then(Value::as_object).into_iter().flatten() {
        if root && name == "metadata" {
            continue;
        }
        check(property, &format!("{path}.properties[{name}]"), false, errors);
    }
    if let Some(items) = map.get("items") {
        check(items, &format!("{path}.items"), false, errors);
    }
    if let Some(additional @ Value::Object(_)) = map.get("additionalProperties") {
        check(additional, &format!("{path}.additionalProperties"), false, errors);
    }
}

/// The keys of a map list must be declared scalars that are always there.
fn check_list_map(map: &Map<String, Value>, path: &str, errors: &mut Vec<FieldError>) {
    let ListType::Map(keys) = common(map, &|_| Schema::default()).list else { return };
    let keys_path = format!("{path}.x-kubernetes-list-map-keys");
    // What the keys belong to is judged first.
    if map.get("items").and_then(|items| items.get("type")).is_some_and(|kind| kind != "object") {
        return;
    }
    if keys.is_empty() {
        errors.push(FieldError::required(keys_path, "must not be empty if x-kubernetes-list-type is map"));
        return;
    }
    let items = map.get("items").cloned().unwrap_or_default();
    let required = items.get("required").and_then(Value::as_array).cloned().unwrap_or_default();
    for key in &keys {
        let Some(property) = items.get("properties").and_then(|p| p.get(key)) else {
            errors.push(FieldError::invalid(
                keys_path.clone(),
                key.as_str(),
                "entries must all be names of item properties",
            ));
            continue;
        };
        if !required.iter().any(|r| r == key.as_str()) && property.get("default").is_none() {
            let place = format!("{path}.items.properties[{key}].default");
            errors.push(FieldError::required(place, "this property is in x-kubernetes-list-map-keys, so it must have a default or be a required property"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_schema_that_is_not_structural_is_named_by_path() {
        let source = json!({"type": "object", "properties": {
            "spec": {"type": "object", "properties": {
                "a": {}, "b": {"type": "array"}, "c": {"type": "string", "pattern": "("},
                "d": {"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"],
                      "items": {"type": "object", "properties": {"name": {"type": "string"}}}},
            }},
            "free": {"x-kubernetes-preserve-unknown-fields": true},
        }});
        let fields: Vec<String> = structural_errors(&source, "s").into_iter().map(|e| e.field).collect();
        let spec = "s.properties[spec].properties";
        assert_eq!(
            fields,
            [
                format!("{spec}[a].type"),
                format!("{spec}[b].items"),
                format!("{spec}[c].pattern"),
                format!("{spec}[d].items.properties[name].default"),
            ]
        );
    }
}
