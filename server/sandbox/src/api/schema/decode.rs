//! Reading a body by its schema: dropping what is not declared, and refusing wrong JSON types of built-in kinds.
use serde_json::Value;

use super::{Schema, Type};
use crate::api::special::quantity;
use crate::api::validate::formats;
use crate::api::value::type_name;

/// A path to a field that was dropped, such as `spec.foo`.
pub type Unknown = String;

/// Drops undeclared fields and returns their paths.
pub fn prune(schema: &Schema, value: &mut Value) -> Vec<Unknown> {
    let mut unknown = Vec::new();
    walk(schema, value, "", &mut unknown);
    unknown
}

fn walk(schema: &Schema, value: &mut Value, path: &str, unknown: &mut Vec<Unknown>) {
    let schema = schema.resolve();
    match value {
        Value::Object(map) => {
            if !schema.preserve_unknown && schema.additional.is_none() && schema.kind != Type::Any {
                let embedded = schema.embedded;
                map.retain(|name, _| {
                    let known = schema.properties.contains_key(name)
                        || (embedded && matches!(name.as_str(), "apiVersion" | "kind" | "metadata"));
                    if !known {
                        unknown.push(join(path, name));
                    }
                    known
                });
            }
            for (name, child) in map.iter_mut() {
                if let Some(field) = schema.field(name) {
                    walk(field, child, &join(path, name), unknown);
                } else if schema.embedded && name == "metadata" {
                    walk(super::builtin::object_meta(), child, &join(path, name), unknown);
                }
            }
        }
        Value::Array(items) => {
            if let Some(item_schema) = &schema.items {
                for (i, item) in items.iter_mut().enumerate() {
                    walk(item_schema, item, &format!("{path}[{i}]"), unknown);
                }
            }
        }
        _ => {}
    }
}

fn join(path: &str, name: &str) -> String {
    if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") }
}

/// An object of a built-in kind in which nothing was ever set, as the real server would write it.
pub fn unset(schema: &Schema) -> Value {
    let schema = schema.resolve();
    let mut map = serde_json::Map::new();
    for (name, property) in &schema.properties {
        let written = match &property.zero {
            Some(Value::Object(_)) => unset(property),
            Some(zero) => zero.clone(),
            None if schema.always_written.contains(name) => Value::Null,
            None => continue,
        };
        map.insert(name.clone(), written);
    }
    Value::Object(map)
}

/// Refuses values of a built-in kind whose JSON type cannot be decoded, and writes the rest as the real server would after
/// decoding it into typed fields: without nulls and empty lists, with the parts that are always there, amounts as text.
/// Returns what is wrong, with the path.
pub fn check_types(schema: &Schema, value: &mut Value) -> Result<(), String> {
    types(schema, value, "")
}

fn types(schema: &Schema, value: &mut Value, path: &str) -> Result<(), String> {
    let schema = schema.resolve();
    let wrong = |value: &Value| {
        let found = match value {
            Value::Bool(_) => "bool",
            Value::Number(_) => "number",
            other => type_name(other),
        };
        let wanted = match schema.kind {
            Type::Object => "an object",
            Type::Array => "a list",
            Type::String => "a string",
            Type::Integer => "an integer",
            Type::Number => "a number",
            Type::Boolean => "a boolean",
            Type::IntOrString => "an integer or a string",
            Type::Quantity => "a quantity",
            Type::Bytes => "base64 text",
            Type::Any => "a value",
        };
        Err(format!("json: cannot unmarshal {found} into field {path} that must be {wanted}"))
    };
    match (schema.kind, &mut *value) {
        (Type::Object, Value::Object(map)) => {
            if !schema.preserve_unknown {
                map.retain(|_, child| !child.is_null());
            }
            for (name, child) in map.iter_mut() {
                if let Some(field) = schema.field(name) {
                    types(field, child, &join(path, name))?;
                }
            }
            map.retain(|name, child| {
                schema.always_written.contains(name) || !is_left_out(schema, name, child)
            });
            for (name, property) in &schema.properties {
                if let Some(zero) = property.zero.as_ref().filter(|_| !map.contains_key(name)) {
                    let mut written = zero.clone();
                    types(property, &mut written, "")?;
                    map.insert(name.clone(), written);
                }
            }
            Ok(())
        }
        (Type::Array, Value::Array(items)) => {
            if let Some(item_schema) = &schema.items {
                for (i, item) in items.iter_mut().enumerate() {
                    types(item_schema, item, &format!("{path}[{i}]"))?;
                }
            }
            Ok(())
        }
        (Type::Quantity, Value::Number(_) | Value::String(_)) => {
            let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            let Some(written) = quantity::canonical(&text) else {
                return Err(format!(
                    "{path}: quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
                ));
            };
            *value = Value::String(written);
            Ok(())
        }
        (Type::Bytes, Value::String(text)) if !formats::holds("byte", text) => {
            Err(format!("{path}: illegal base64 data"))
        }
        (Type::Integer, Value::Number(n)) if n.is_f64() => wrong(value),
        (Type::Any, _)
        | (_, Value::Null)
        | (Type::String | Type::IntOrString | Type::Bytes, Value::String(_))
        | (Type::Integer | Type::Number | Type::IntOrString, Value::Number(_))
        | (Type::Boolean, Value::Bool(_)) => Ok(()),
        _ => wrong(value),
    }
}

/// Empty lists and maps of plain values are not written, nor are some plain values; an empty part with fields of its own (`emptyDir: {}`) says something.
fn is_left_out(schema: &Schema, name: &str, child: &Value) -> bool {
    let Some(field) = schema.properties.get(name) else { return false };
    match child {
        Value::Array(items) => items.is_empty(),
        Value::Object(map) => map.is_empty() && field.additional.is_some(),
        Value::String(text) => field.omit_zero && text.is_empty(),
        Value::Bool(flag) => field.omit_zero && !flag,
        Value::Number(number) => field.omit_zero && number.as_f64() == Some(0.0),
        Value::Null => false,
    }
}

#[cfg(test)]
mod tests {
    use super::super::builtin::of_kind;
    use super::*;
    use serde_json::json;

    #[test]
    fn unknown_fields_go_and_are_named() {
        let schema = of_kind("", "v1", "Pod").unwrap();
        let mut pod = json!({"kind": "Pod", "metadata": {"name": "a", "labels": {"x": "y"}, "foo": 1},
            "spec": {"containers": [{"name": "a", "imago": "x"}], "nodeSelector": {"any": "key"}}});
        assert_eq!(prune(schema, &mut pod), ["metadata.foo", "spec.containers[0].imago"]);
        assert_eq!(pod["spec"], json!({"containers": [{"name": "a"}], "nodeSelector": {"any": "key"}}));
    }

    #[test]
    fn wrong_types_are_refused_and_amounts_become_text() {
        let schema = of_kind("", "v1", "Pod").unwrap();
        let mut pod = json!({"spec": {"containers": [{"name": "a", "resources": {"limits": {"cpu": 2}}, "args": null}]}});
        check_types(schema, &mut pod).unwrap();
        assert_eq!(pod["spec"]["containers"][0], json!({"name": "a", "resources": {"limits": {"cpu": "2"}}}));
        assert_eq!(pod["status"], json!({}));
        let mut pod = json!({"spec": {"containers": {"name": "a"}}});
        assert!(check_types(schema, &mut pod).unwrap_err().contains("spec.containers"));
        let mut map = json!({"data": {"a": 1}});
        assert!(check_types(of_kind("", "v1", "ConfigMap").unwrap(), &mut map).is_err());
    }
}
