//! Merge patches (RFC 7386) that hold only what differs, so that nothing is written when nothing changed.

use serde_json::{Map, Value};

/// The merge patch that turns `old` into `new`; `None` when they are equal. Lists are replaced whole.
#[must_use]
pub fn merge_diff(old: &Value, new: &Value) -> Option<Value> {
    if old == new {
        return None;
    }
    let (Value::Object(old), Value::Object(new)) = (old, new) else { return Some(new.clone()) };
    let mut patch = Map::new();
    for key in old.keys().filter(|key| !new.contains_key(*key)) {
        patch.insert(key.clone(), Value::Null);
    }
    for (key, value) in new {
        match old.get(key) {
            None => {
                patch.insert(key.clone(), value.clone());
            }
            Some(before) => {
                if let Some(diff) = merge_diff(before, value) {
                    patch.insert(key.clone(), diff);
                }
            }
        }
    }
    Some(Value::Object(patch))
}

/// A key as a part of a JSON pointer.
#[must_use]
pub fn pointer_part(key: &str) -> String {
    key.replace('~', "~0").replace('/', "~1")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn only_what_differs_is_in_the_patch() {
        let old = json!({ "a": 1, "b": { "c": 1, "d": [1, 2] }, "gone": 1 });
        let new = json!({ "a": 1, "b": { "c": 2, "d": [2] }, "new": {} });
        let patch = merge_diff(&old, &new).unwrap();
        assert_eq!(patch, json!({ "b": { "c": 2, "d": [2] }, "gone": null, "new": {} }));
        let mut patched = old.clone();
        json_patch::merge(&mut patched, &patch);
        assert_eq!(patched, new);
        assert_eq!(merge_diff(&new, &new), None);
    }
}
