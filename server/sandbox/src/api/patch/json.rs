//! JSON Patch (RFC 6902) with Kubernetes' answers.
use json_patch::{AddOperation, PatchOperation};
use serde_json::Value;

use crate::api::error::{ApiError, Result};

/// A patch that was read.
pub type Operations = json_patch::Patch;

/// More operations than this in one patch are refused, as in the real server.
const MOST_OPERATIONS: usize = 10_000;

/// Reads a patch.
pub fn read(body: &[u8]) -> Result<Operations> {
    let list: Vec<Value> = serde_json::from_slice(body)
        .map_err(|e| ApiError::bad_request(format!("error decoding patch: {e}")))?;
    // A list that holds something else than operations is content that is wrong.
    let operations: Operations = serde_json::from_value(Value::Array(list))
        .map_err(|e| ApiError::new(422, "Invalid", format!("the patch cannot be applied: {e}")))?;
    if operations.0.len() > MOST_OPERATIONS {
        let message = format!(
            "The allowed maximum operations in a JSON patch is {MOST_OPERATIONS}, got {}",
            operations.0.len()
        );
        return Err(ApiError::new(413, "RequestEntityTooLarge", message));
    }
    Ok(operations)
}

/// To replace a member that an object does not have is to add it, in the real server's library.
fn fills_gap(operation: &PatchOperation, object: &Value) -> Option<PatchOperation> {
    let PatchOperation::Replace(replace) = operation else { return None };
    let path = replace.path.as_str();
    let (parent, _) = path.rsplit_once('/')?;
    let gap = object.pointer(parent).is_some_and(Value::is_object) && object.pointer(path).is_none();
    let (path, value) = (replace.path.clone(), replace.value.clone());
    gap.then_some(PatchOperation::Add(AddOperation { path, value }))
}

/// Applies a patch. A failed `test` and a path that leads nowhere both answer 422, as the real server does.
pub fn apply(operations: &Operations, old: &Value) -> Result<Value> {
    let mut new = old.clone();
    for operation in &operations.0 {
        let filled = fills_gap(operation, &new);
        let operation = filled.as_ref().unwrap_or(operation);
        json_patch::patch(&mut new, std::slice::from_ref(operation)).map_err(|_| {
            // The real server does not say which operation failed either.
            let words = "the server rejected our request due to an error in our request";
            ApiError { details: Some(serde_json::json!({})), ..ApiError::new(422, "Invalid", words) }
        })?;
    }
    if !new.is_object() {
        return Err(ApiError::bad_request("the patch does not leave an object"));
    }
    Ok(new)
}

#[cfg(test)]
#[allow(clippy::needless_pass_by_value, reason = "literals read better without a reference")]
mod tests {
    use super::*;
    use serde_json::json;

    fn patched(old: &Value, patch: Value) -> Result<Value> {
        apply(&read(patch.to_string().as_bytes())?, old)
    }

    #[test]
    fn a_failed_test_is_422_and_changes_nothing() {
        let old = json!({"spec": {"a": 1}});
        let guard = json!([{"op": "test", "path": "/spec/a", "value": 2}, {"op": "replace", "path": "/spec/a", "value": 3}]);
        assert_eq!(patched(&old, guard).unwrap_err().code, 422);
        let good = json!([{"op": "test", "path": "/spec/a", "value": 1}, {"op": "add", "path": "/spec/b", "value": 3}]);
        assert_eq!(patched(&old, good).unwrap()["spec"]["b"], 3);
    }

    #[test]
    fn nonsense_is_refused() {
        let old = json!({"a": 1});
        assert_eq!(patched(&old, json!({"op": "add"})).unwrap_err().code, 400);
        assert_eq!(patched(&old, json!([{"op": "remove", "path": "/x"}])).unwrap_err().code, 422);
        assert_eq!(patched(&old, json!([{"op": "replace", "path": "", "value": 1}])).unwrap_err().code, 400);
    }
}
