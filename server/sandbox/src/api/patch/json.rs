//! JSON Patch (RFC 6902) with Kubernetes' answers.
use serde_json::Value;

use crate::api::error::{ApiError, Result};

/// A patch that was read.
pub type Operations = json_patch::Patch;

/// More operations than this in one patch are refused, as in the real server.
const MOST_OPERATIONS: usize = 10_000;

/// Reads a patch.
pub fn read(body: &[u8]) -> Result<Operations> {
    let operations: Operations = serde_json::from_slice(body)
        .map_err(|e| ApiError::bad_request(format!("error decoding patch: {e}")))?;
    if operations.0.len() > MOST_OPERATIONS {
        let message = format!(
            "The allowed maximum operations in a JSON patch is {MOST_OPERATIONS}, got {}",
            operations.0.len()
        );
        return Err(ApiError::new(413, "RequestEntityTooLarge", message));
    }
    Ok(operations)
}

/// Applies a patch. A failed `test` and a path that leads nowhere both answer 422, as the real server does.
pub fn apply(operations: &Operations, old: &Value) -> Result<Value> {
    let mut new = old.clone();
    json_patch::patch(&mut new, &operations.0).map_err(|error| {
        ApiError::new(
            422,
            "Invalid",
            format!("the server rejected our request due to an error in our request: {error}"),
        )
    })?;
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
