//! The seam for `x-kubernetes-validations`: rules are kept in the compiled schema, nothing evaluates them yet.
//!
//! The sandbox therefore accepts what only a CEL rule would refuse; `evaluate` is the one place that will change.
use serde_json::Value;

use crate::api::error::FieldError;
use crate::api::schema::Rule;

/// Evaluates the rules of one schema node on its value; `old` is the value before, for transition rules.
///
/// Returns nothing as long as no evaluator is built in.
pub fn evaluate(_rules: &[Rule], _value: &Value, _old: Option<&Value>, _path: &str) -> Vec<FieldError> {
    Vec::new()
}
