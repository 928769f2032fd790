//! Strategic merge patch: maps merge, lists of built-in kinds merge by the keys that their schemas name, directives rule the rest.
use serde_json::{Map, Value};

use crate::api::error::{ApiError, Result};
use crate::api::schema::Schema;

const PATCH: &str = "$patch";
const RETAIN: &str = "$retainKeys";
const DELETE_PRIMITIVES: &str = "$deleteFromPrimitiveList/";
const ORDER: &str = "$setElementOrder/";

/// The object that a patch makes of another one.
pub fn apply(schema: &Schema, old: &Value, patch: &Value) -> Result<Value> {
    let Some(patch) = patch.as_object() else {
        return Err(ApiError::bad_request("the patch must be an object"));
    };
    if patch.get(PATCH).is_some_and(|directive| directive != "merge") {
        return Err(ApiError::bad_request("a whole object can neither be deleted nor replaced by a patch"));
    }
    Ok(Value::Object(merge_maps(schema, old.as_object(), patch)?))
}

fn merge_maps(
    schema: &Schema,
    old: Option<&Map<String, Value>>,
    patch: &Map<String, Value>,
) -> Result<Map<String, Value>> {
    let schema = schema.resolve();
    match patch.get(PATCH).map(|d| d.as_str().unwrap_or_default()) {
        None | Some("merge") => {}
        Some("replace") => return Ok(plain(patch)),
        Some("delete") => return Ok(Map::new()),
        Some(other) => return Err(unknown_directive(other)),
    }
    let mut new = old.cloned().unwrap_or_default();
    if let Some(kept) = patch.get(RETAIN).and_then(Value::as_array) {
        new.retain(|key, _| kept.iter().any(|k| k == key.as_str()));
    }
    for (key, value) in patch {
        if let Some(field) = key.strip_prefix(DELETE_PRIMITIVES) {
            let gone = value.as_array().map_or(&[][..], Vec::as_slice);
            if let Some(Value::Array(items)) = new.get_mut(field) {
                items.retain(|item| !gone.contains(item));
            }
        }
    }
    for (key, value) in patch {
        if key.starts_with('$') {
            continue;
        }
        let field = schema.field(key);
        match value {
            Value::Null => {
                new.remove(key);
            }
            Value::Object(map) => {
                let anything = Schema::default();
                let merged =
                    merge_maps(field.unwrap_or(&anything), new.get(key).and_then(Value::as_object), map)?;
                let deleted = map.get(PATCH).and_then(Value::as_str) == Some("delete");
                if deleted {
                    new.remove(key);
                } else {
                    new.insert(key.clone(), Value::Object(merged));
                }
            }
            Value::Array(items) => {
                let merged = match field {
                    Some(field) if field.merge_list => {
                        let old = new.get(key).and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
                        merge_lists(field, old, items)?
                    }
                    _ => items.clone(),
                };
                new.insert(key.clone(), Value::Array(merged));
            }
            other => {
                new.insert(key.clone(), other.clone());
            }
        }
    }
    for (key, order) in patch {
        if let (Some(field), Some(order)) = (key.strip_prefix(ORDER), order.as_array())
            && let Some(Value::Array(items)) = new.get_mut(field)
        {
            let merge_key = schema.field(field).and_then(|f| f.merge_key.as_deref());
            sort(items, order, merge_key);
        }
    }
    Ok(new)
}

fn merge_lists(field: &Schema, old: &[Value], patch: &[Value]) -> Result<Vec<Value>> {
    let Some(key) = &field.merge_key else {
        // A set of plain values: what is new is added.
        let mut items = old.to_vec();
        for value in patch {
            if !items.contains(value) {
                items.push(value.clone());
            }
        }
        return Ok(items);
    };
    if patch.iter().any(|item| item.get(PATCH).and_then(Value::as_str) == Some("replace")) {
        return Ok(patch.iter().filter(|item| item.get(PATCH).is_none()).cloned().collect());
    }
    let anything = Schema::default();
    let item_schema = field.items.as_deref().unwrap_or(&anything);
    let mut items = old.to_vec();
    for change in patch {
        let Some(change_map) = change.as_object() else {
            return Err(ApiError::bad_request("a list of maps cannot be merged with plain values"));
        };
        let Some(id) = change_map.get(key) else {
            return Err(ApiError::bad_request(format!(
                "map: {change} does not contain declared merge key: {key}"
            )));
        };
        let found = items.iter().position(|item| item.get(key) == Some(id));
        match (change_map.get(PATCH).and_then(Value::as_str), found) {
            (Some("delete"), Some(_)) => items.retain(|item| item.get(key) != Some(id)),
            (Some("delete"), None) => {}
            (Some(other), _) if other != "merge" => return Err(unknown_directive(other)),
            (_, Some(i)) => {
                let merged = merge_maps(item_schema, items[i].as_object(), change_map)?;
                items[i] = Value::Object(merged);
            }
            (_, None) => items.push(Value::Object(merge_maps(item_schema, None, change_map)?)),
        }
    }
    Ok(items)
}

/// Puts items that the order names into that order, at the places where such items were.
fn sort(items: &mut [Value], order: &[Value], merge_key: Option<&str>) {
    let id = |value: &Value| match merge_key {
        Some(key) => value.get(key).cloned().unwrap_or_default(),
        None => value.clone(),
    };
    let rank = |item: &Value| order.iter().position(|wanted| id(wanted) == id(item));
    let places: Vec<usize> = (0..items.len()).filter(|i| rank(&items[*i]).is_some()).collect();
    let mut named: Vec<Value> = places.iter().map(|i| items[*i].clone()).collect();
    named.sort_by_key(|item| rank(item));
    for (place, item) in places.into_iter().zip(named) {
        items[place] = item;
    }
}

/// A patch used as a value: its directives and nulls are no content.
fn plain(patch: &Map<String, Value>) -> Map<String, Value> {
    patch
        .iter()
        .filter(|(key, value)| !key.starts_with('$') && !value.is_null())
        .map(|(k, v)| (k.clone(), v.clone()))
        .collect()
}

fn unknown_directive(directive: &str) -> ApiError {
    ApiError::bad_request(format!("Unknown patch type: {directive}"))
}

#[cfg(test)]
#[allow(clippy::needless_pass_by_value, reason = "literals read better without a reference")]
mod tests {
    use super::*;
    use crate::api::schema::builtin::of_kind;
    use serde_json::json;

    fn pod() -> Value {
        json!({"metadata": {"name": "p", "labels": {"a": "1", "b": "2"}, "finalizers": ["x/a", "x/b"]},
            "spec": {"containers": [{"name": "game", "image": "i:1", "args": ["x"]}, {"name": "side", "image": "s"}],
                     "volumes": [{"name": "v", "emptyDir": {}}]}})
    }

    fn patched(patch: Value) -> Value {
        apply(of_kind("", "v1", "Pod").unwrap(), &pod(), &patch).unwrap()
    }

    #[test]
    fn containers_merge_by_name() {
        let new = patched(
            json!({"spec": {"containers": [{"name": "game", "image": "i:2"}, {"name": "new", "image": "n"}]}}),
        );
        let names: Vec<&str> = new["spec"]["containers"]
            .as_array()
            .unwrap()
            .iter()
            .map(|c| c["name"].as_str().unwrap())
            .collect();
        assert_eq!(names, ["game", "side", "new"]);
        assert_eq!(new["spec"]["containers"][0], json!({"name": "game", "image": "i:2", "args": ["x"]}));
    }

    #[test]
    fn directives_delete_replace_and_order() {
        let new = patched(
            json!({"metadata": {"labels": {"a": null}, "$deleteFromPrimitiveList/finalizers": ["x/a"]},
            "spec": {"containers": [{"name": "side", "$patch": "delete"}],
                     "volumes": [{"name": "v", "$retainKeys": ["name", "configMap"], "configMap": {"name": "c"}}]}}),
        );
        assert_eq!(new["metadata"]["labels"], json!({"b": "2"}));
        assert_eq!(new["metadata"]["finalizers"], json!(["x/b"]));
        assert_eq!(new["spec"]["containers"].as_array().unwrap().len(), 1);
        assert_eq!(new["spec"]["volumes"], json!([{"name": "v", "configMap": {"name": "c"}}]));
        let new =
            patched(json!({"spec": {"$setElementOrder/containers": [{"name": "side"}, {"name": "game"}]}}));
        assert_eq!(new["spec"]["containers"][0]["name"], "side");
        let new = patched(json!({"spec": {"containers": [{"$patch": "replace"}, {"name": "only"}]}}));
        assert_eq!(new["spec"]["containers"], json!([{"name": "only"}]));
    }

    #[test]
    fn nonsense_is_refused() {
        let schema = of_kind("", "v1", "Pod").unwrap();
        for bad in [
            json!({"spec": {"$patch": "x"}}),
            json!({"spec": {"containers": [{"image": "x"}]}}),
            json!([]),
            json!({"spec": {"containers": ["x"]}}),
        ] {
            assert!(apply(schema, &pod(), &bad).is_err(), "{bad}");
        }
    }
}
