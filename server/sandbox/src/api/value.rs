//! Small helpers for reading and changing JSON objects by path.
use serde_json::{Map, Value};

/// The value at a path of keys.
pub fn at<'a>(value: &'a Value, path: &[&str]) -> Option<&'a Value> {
    path.iter().try_fold(value, |v, key| v.get(key))
}

/// The text at a path of keys; empty when it is absent or no text.
pub fn text<'a>(value: &'a Value, path: &[&str]) -> &'a str {
    at(value, path).and_then(Value::as_str).unwrap_or_default()
}

/// The whole number at a path of keys.
pub fn int(value: &Value, path: &[&str]) -> Option<i64> {
    at(value, path).and_then(Value::as_i64)
}

/// The items of the list at a path; empty when there is none.
pub fn list<'a>(value: &'a Value, path: &[&str]) -> &'a [Value] {
    at(value, path).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// The map inside, made when the value is something else.
pub fn as_map(value: &mut Value) -> &mut Map<String, Value> {
    if !value.is_object() {
        *value = Value::Object(Map::new());
    }
    match value {
        Value::Object(map) => map,
        _ => unreachable!("made an object above"),
    }
}

/// The value at a path, with maps made on the way.
pub fn slot<'a>(value: &'a mut Value, path: &[&str]) -> &'a mut Value {
    path.iter().fold(value, |v, key| as_map(v).entry(*key).or_insert(Value::Null))
}

/// Sets the value at a path, with maps made on the way.
pub fn set(value: &mut Value, path: &[&str], new: impl Into<Value>) {
    *slot(value, path) = new.into();
}

/// Sets the value at a path unless there is one already.
pub fn set_default(value: &mut Value, path: &[&str], new: impl Into<Value>) {
    let place = slot(value, path);
    if place.is_null() {
        *place = new.into();
    }
}

/// Removes and returns the value at a path.
pub fn remove(value: &mut Value, path: &[&str]) -> Option<Value> {
    let (last, before) = path.split_last()?;
    let holder = before.iter().try_fold(value, |v, key| v.get_mut(key))?;
    holder.as_object_mut()?.remove(*last)
}

/// Copies the value at a path from one object to another; an absent one is removed.
pub fn carry(from: &Value, to: &mut Value, path: &[&str]) {
    match at(from, path) {
        Some(value) => set(to, path, value.clone()),
        None => {
            remove(to, path);
        }
    }
}

/// What JSON calls the type of a value, in the API server's words.
pub fn type_name(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(n) if n.is_f64() => "number",
        Value::Number(_) => "integer",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn carry_removes_what_the_source_does_not_have() {
        let mut to = json!({"metadata": {"uid": "x"}, "status": {}});
        carry(&json!({}), &mut to, &["metadata", "uid"]);
        carry(&json!({"status": {"a": 1}}), &mut to, &["status"]);
        assert_eq!(to, json!({"metadata": {}, "status": {"a": 1}}));
    }
}
