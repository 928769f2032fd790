//! Validating custom objects against their structural schema.
use serde_json::Value;

use super::formats;
use crate::api::error::{FieldError, FieldErrorKind};
use crate::api::schema::{Limits, ListType, Schema, Type, builtin};
use crate::api::value::type_name;

/// Everything that is wrong with a value. `old` is the stored value, for rules about transitions.
pub fn validate(schema: &Schema, value: &Value, old: Option<&Value>) -> Vec<FieldError> {
    let mut errors = Vec::new();
    // metadata of the object itself has its own rules.
    node(schema, value, old, "", &mut errors);
    errors
}

/// What is wrong with the number that a scale subresource reads.
pub fn validate_scale(path: &[String], object: &Value) -> Option<FieldError> {
    let place = format!(".{}", path.join("."));
    let go_type = |value: &Value| match value {
        Value::Null => "<nil>",
        Value::Bool(_) => "bool",
        Value::Number(n) if n.is_f64() => "float64",
        Value::Number(_) => "int64",
        Value::String(_) => "string",
        Value::Array(_) => "[]interface {}",
        Value::Object(_) => "map[string]interface {}",
    };
    let mut here = object;
    for key in path {
        let Some(map) = here.as_object() else {
            let wanted = "map[string]interface{}";
            let detail =
                format!("{place} accessor error: {here} is of the type {}, expected {wanted}", go_type(here));
            return Some(FieldError::invalid(place, 0, detail));
        };
        here = map.get(key)?;
    }
    match here.as_i64() {
        Some(n) if n < 0 => Some(FieldError::invalid(place, n, "should be a non-negative integer")),
        Some(n) if n > i64::from(i32::MAX) => {
            Some(FieldError::invalid(place, n, format!("should be less than or equal to {}", i32::MAX)))
        }
        Some(_) => None,
        None => {
            let shown = here.as_str().map_or_else(|| here.to_string(), str::to_owned);
            let detail =
                format!("{place} accessor error: {shown} is of the type {}, expected int64", go_type(here));
            Some(FieldError::invalid(place, 0, detail))
        }
    }
}

fn join(path: &str, name: &str) -> String {
    if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") }
}

fn node(schema: &Schema, value: &Value, old: Option<&Value>, path: &str, errors: &mut Vec<FieldError>) {
    if schema.reference.is_some() {
        return;
    }
    if value.is_null() && schema.nullable {
        return;
    }
    // What was stored before a rule existed may stay as long as nobody changes it.
    if old == Some(value) {
        return;
    }
    if !type_fits(schema.kind, value) {
        let wanted = match schema.kind {
            Type::IntOrString => "integer,string".to_owned(),
            Type::Bytes => "string".to_owned(),
            other => format!("{other:?}").to_lowercase(),
        };
        let found = type_name(value);
        let place = if path.is_empty() { "<nil>" } else { path };
        errors.push(FieldError::wrong_type(
            path,
            found,
            format!("{place} in body must be of type {wanted}: {found:?}"),
        ));
        return;
    }
    if let Some(limits) = &schema.limits {
        check_limits(limits, value, path, errors);
    }
    match value {
        Value::Object(map) => {
            if schema.embedded {
                embedded(value, path, errors);
            }
            for (name, child) in map {
                if let Some(field) = schema.field(name) {
                    let before = old.and_then(|o| o.get(name));
                    node(field, child, before, &join(path, name), errors);
                }
            }
        }
        Value::Array(items) => {
            unique(schema, items, path, errors);
            if let Some(item_schema) = &schema.items {
                for (i, item) in items.iter().enumerate() {
                    let before = old.and_then(|o| matching(schema, item, o));
                    node(item_schema, item, before, &format!("{path}[{i}]"), errors);
                }
            }
        }
        _ => {}
    }
}

fn type_fits(kind: Type, value: &Value) -> bool {
    match kind {
        Type::Any => true,
        Type::Object => value.is_object(),
        Type::Array => value.is_array(),
        Type::String | Type::Quantity | Type::Bytes => value.is_string(),
        Type::Boolean => value.is_boolean(),
        Type::Number => value.is_number(),
        Type::Integer => whole(value),
        Type::IntOrString => value.is_string() || whole(value),
    }
}

fn whole(value: &Value) -> bool {
    value.is_i64() || value.is_u64() || value.as_f64().is_some_and(|n| n.fract() == 0.0)
}

/// The old item that a new one continues: only map lists know.
fn matching<'a>(schema: &Schema, item: &Value, old: &'a Value) -> Option<&'a Value> {
    let ListType::Map(keys) = &schema.list else { return None };
    old.as_array()?.iter().find(|o| keys.iter().all(|key| o.get(key) == item.get(key)))
}

fn unique(schema: &Schema, items: &[Value], path: &str, errors: &mut Vec<FieldError>) {
    let identity = |item: &Value| match &schema.list {
        ListType::Atomic => None,
        ListType::Set => Some(item.clone()),
        ListType::Map(keys) => {
            Some(keys.iter().map(|key| (key.clone(), item.get(key).cloned().unwrap_or_default())).collect())
        }
    };
    let mut seen = std::collections::HashSet::new();
    for (i, item) in items.iter().enumerate() {
        if let Some(id) = identity(item)
            && !seen.insert(id.to_string())
        {
            errors.push(FieldError::duplicate(format!("{path}[{i}]"), id));
        }
    }
}

fn embedded(value: &Value, path: &str, errors: &mut Vec<FieldError>) {
    for key in ["apiVersion", "kind"] {
        if value.get(key).and_then(Value::as_str).is_none_or(str::is_empty) {
            errors.push(FieldError::required(join(path, key), "must not be empty"));
        }
    }
    if let Some(metadata) = value.get("metadata") {
        let mut copy = metadata.clone();
        if let Err(why) = crate::api::schema::check_types(builtin::object_meta(), &mut copy) {
            errors.push(FieldError::invalid(join(path, "metadata"), metadata.clone(), why));
        }
    }
}

fn check_limits(limits: &Limits, value: &Value, path: &str, errors: &mut Vec<FieldError>) {
    let body = |rule: String| format!("{path} in body {rule}");
    if !limits.one_of_values.is_empty() && !limits.one_of_values.contains(value) {
        let supported: Vec<String> = limits
            .one_of_values
            .iter()
            .map(|v| v.as_str().map_or_else(|| v.to_string(), str::to_owned))
            .collect();
        errors.push(FieldError::not_supported(path, value.clone(), &supported));
    }
    match value {
        Value::String(text) => check_text(limits, text, path, errors),
        Value::Number(number) => {
            let n = number.as_f64().unwrap_or_default();
            if let Some((least, excluded)) = limits.minimum
                && (n < least || (excluded && n <= least))
            {
                let word = if excluded { "greater than" } else { "greater than or equal to" };
                errors.push(FieldError::invalid(
                    path,
                    value.clone(),
                    body(format!("should be {word} {least}")),
                ));
            }
            if let Some((most, excluded)) = limits.maximum
                && (n > most || (excluded && n >= most))
            {
                let word = if excluded { "less than" } else { "less than or equal to" };
                errors.push(FieldError::invalid(
                    path,
                    value.clone(),
                    body(format!("should be {word} {most}")),
                ));
            }
            if let Some(step) = limits.multiple_of
                && step > 0.0
                && (n / step).fract() != 0.0
            {
                errors.push(FieldError::invalid(
                    path,
                    value.clone(),
                    body(format!("should be a multiple of {step}")),
                ));
            }
        }
        Value::Array(items) => {
            if let Some(most) = limits.max_items.filter(|most| items.len() as u64 > *most) {
                errors.push(FieldError::too_many(path, items.len(), most));
            }
            if let Some(least) = limits.min_items.filter(|least| (items.len() as u64) < *least) {
                errors.push(FieldError::invalid(
                    path,
                    items.len(),
                    body(format!("should have at least {least} items")),
                ));
            }
        }
        Value::Object(map) => {
            for name in limits.required.iter().filter(|name| !map.contains_key(*name)) {
                errors.push(FieldError::required(join(path, name), ""));
            }
            if let Some(most) = limits.max_properties.filter(|most| map.len() as u64 > *most) {
                let mut error = FieldError::too_many(path, map.len(), most);
                error.detail = format!("must have at most {most} items");
                errors.push(error);
            }
            if let Some(least) = limits.min_properties.filter(|least| (map.len() as u64) < *least) {
                errors.push(FieldError::invalid(
                    path,
                    map.len(),
                    body(format!("should have at least {least} properties")),
                ));
            }
        }
        _ => {}
    }
    check_logic(limits, value, path, errors);
}

fn check_text(limits: &Limits, text: &str, path: &str, errors: &mut Vec<FieldError>) {
    let body = |rule: String| format!("{path} in body {rule}");
    let length = text.chars().count() as u64;
    // Only the first of these is told.
    if let Some(most) = limits.max_length.filter(|most| length > *most) {
        errors.push(FieldError::too_long(path, most));
    } else if let Some(least) = limits.min_length.filter(|least| length < *least) {
        errors.push(FieldError::invalid(path, text, body(format!("should be at least {least} chars long"))));
    } else if let Some(pattern) = limits.pattern.as_ref().filter(|pattern| !pattern.is_match(text)) {
        errors.push(FieldError::invalid(path, text, body(format!("should match '{pattern}'"))));
    }
    if let Some(format) = limits.format.as_ref().filter(|format| !formats::holds(format, text)) {
        // To the real server a text in a wrong format is of a wrong type.
        let mut error = FieldError::invalid(path, text, body(format!("must be of type {format}: {text:?}")));
        error.kind = FieldErrorKind::TypeInvalid;
        errors.push(error);
    }
}

fn check_logic(limits: &Limits, value: &Value, path: &str, errors: &mut Vec<FieldError>) {
    let wrong = |schema: &Schema| {
        let mut found = Vec::new();
        node(schema, value, None, path, &mut found);
        found
    };
    for schema in &limits.all_of {
        errors.extend(wrong(schema));
    }
    let body = |rule: &str| format!("{path} in body {rule}");
    if !limits.any_of.is_empty() && limits.any_of.iter().all(|schema| !wrong(schema).is_empty()) {
        let rule = "must validate at least one schema (anyOf)";
        errors.push(FieldError::invalid(path, value.clone(), body(rule)));
        errors.extend(limits.any_of.first().map(wrong).unwrap_or_default());
    }
    if !limits.one_of.is_empty() {
        let fitting = limits.one_of.iter().filter(|schema| wrong(schema).is_empty()).count();
        if fitting != 1 {
            let rule =
                format!("must validate one and only one schema (oneOf). Found {fitting} valid alternatives");
            errors.push(FieldError::invalid(path, value.clone(), body(&rule)));
        }
    }
    if limits.not.as_deref().is_some_and(|schema| wrong(schema).is_empty()) {
        errors.push(FieldError::invalid(path, value.clone(), body("must not validate the schema (not)")));
    }
}

#[cfg(test)]
#[allow(clippy::needless_pass_by_value, reason = "literals read better without a reference")]
mod tests {
    use super::*;
    use crate::api::schema::{apply_defaults, compile, prune};
    use serde_json::json;

    fn schema() -> Schema {
        compile(
            &json!({"type": "object", "properties": {"spec": {"type": "object", "required": ["replicas"], "properties": {
                "replicas": {"type": "integer", "minimum": 0, "maximum": 10},
                "state": {"type": "string", "enum": ["A", "B"], "default": "A"},
                "name": {"type": "string", "pattern": "^[a-z]+$", "maxLength": 3},
                "port": {"x-kubernetes-int-or-string": true},
                "containers": {"type": "array", "maxItems": 2, "x-kubernetes-list-type": "map",
                    "x-kubernetes-list-map-keys": ["name"],
                    "items": {"type": "object", "required": ["name"], "properties": {"name": {"type": "string"}}}},
                "free": {"type": "object", "x-kubernetes-preserve-unknown-fields": true},
                "choice": {"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "string"}},
                    "oneOf": [{"required": ["a"]}, {"required": ["b"]}]},
            }}}}),
        )
    }

    fn fields(spec: Value) -> Vec<String> {
        validate(&schema(), &json!({"spec": spec}), None).into_iter().map(|e| e.to_string()).collect()
    }

    #[test]
    fn good_objects_pass_and_get_defaults() {
        let mut object = json!({"metadata": {"name": "a"}, "spec": {"replicas": 1, "port": "http", "extra": 1, "free": {"x": {"y": 1}}}});
        assert_eq!(prune(&schema(), &mut object), ["spec.extra"]);
        apply_defaults(&schema(), &mut object);
        assert_eq!(object["spec"]["state"], "A");
        assert_eq!(object["spec"]["free"]["x"]["y"], 1);
        assert_eq!(validate(&schema(), &object, None), []);
    }

    #[test]
    fn what_does_not_change_is_not_judged_again() {
        let old =
            json!({"spec": {"replicas": 11, "name": "ok", "containers": [{"name": "a"}, {"name": "a"}]}});
        let mut new = old.clone();
        new["spec"]["name"] = "oh".into();
        assert_eq!(validate(&schema(), &new, Some(&old)), []);
        new["spec"]["replicas"] = 12.into();
        assert_eq!(validate(&schema(), &new, Some(&old)).len(), 1);
    }

    #[test]
    fn each_rule_refuses() {
        for (spec, expected) in [
            (json!({}), "spec.replicas: Required value"),
            (
                json!({"replicas": "1"}),
                "spec.replicas: Invalid value: \"string\": spec.replicas in body must be of type integer: \"string\"",
            ),
            (
                json!({"replicas": -1}),
                "spec.replicas: Invalid value: -1: spec.replicas in body should be greater than or equal to 0",
            ),
            (
                json!({"replicas": 1, "state": "C"}),
                "spec.state: Unsupported value: \"C\": supported values: \"A\", \"B\"",
            ),
            (
                json!({"replicas": 1, "name": "A"}),
                "spec.name: Invalid value: \"A\": spec.name in body should match '^[a-z]+$'",
            ),
            (json!({"replicas": 1, "name": "abcd"}), "spec.name: Too long: may not be more than 3 bytes"),
            (
                json!({"replicas": 1, "containers": [{"name": "a"}, {"name": "a"}]}),
                "spec.containers[1]: Duplicate value: {\"name\":\"a\"}",
            ),
            (
                json!({"replicas": 1, "choice": {}}),
                "spec.choice: Invalid value: {}: spec.choice in body must validate one and only one schema (oneOf). Found 0 valid alternatives",
            ),
        ] {
            assert_eq!(fields(spec), [expected]);
        }
        let many = json!({"replicas": 1, "containers": [{"name": "a"}, {"name": "b"}, {"name": "c"}]});
        assert_eq!(fields(many), ["spec.containers: Too many: 3: must have at most 2 items"]);
    }
}
