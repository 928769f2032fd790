//! Reading a body by its schema: dropping what is not declared, and refusing wrong JSON types of built-in kinds.
use serde_json::Value;

use super::{Schema, Type};
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

/// Refuses values of a built-in kind whose JSON type cannot be decoded, drops nulls as a decoder into typed fields does, and
/// writes amounts as text. Returns what is wrong, with the path.
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
        (Type::Quantity, Value::Number(n)) => {
            *value = Value::String(n.to_string());
            Ok(())
        }
        (Type::Integer, Value::Number(n)) if n.is_f64() => wrong(value),
        (Type::Any, _)
        | (_, Value::Null)
        | (Type::String | Type::IntOrString | Type::Quantity, Value::String(_))
        | (Type::Integer | Type::Number | Type::IntOrString, Value::Number(_))
        | (Type::Boolean, Value::Bool(_)) => Ok(()),
        _ => wrong(value),
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
        let mut pod = json!({"spec": {"containers": {"name": "a"}}});
        assert!(check_types(schema, &mut pod).unwrap_err().contains("spec.containers"));
        let mut map = json!({"data": {"a": 1}});
        assert!(check_types(of_kind("", "v1", "ConfigMap").unwrap(), &mut map).is_err());
    }
}
