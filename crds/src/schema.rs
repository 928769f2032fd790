//! Pieces of structural schema that several kinds share, and the bounds that keep CEL rules affordable.
//!
//! The API server estimates the worst cost of every rule when a CRD is created and refuses the CRD above a limit,
//! so each rule here goes with the `maxLength` and `maxItems` that were found to be accepted.

use schemars::{Schema, SchemaGenerator, json_schema};
use serde_json::{Value, json};

/// Pattern of a Kubernetes label value (length is bounded apart): empty, or alphanumeric at both ends.
pub const LABEL_VALUE_PATTERN: &str = "^(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?$";

/// Most bytes of a label value, and so of an opsState, which is copied into a pod label.
pub const LABEL_VALUE_MAX: usize = 63;

/// Pattern of a quantity that is not negative; Kubernetes' own pattern without the minus sign.
pub const QUANTITY_PATTERN: &str = r"^\+?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))))?$";

/// Any int-or-string.
#[must_use]
pub fn int_or_string(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "x-kubernetes-int-or-string": true })
}

/// An object whose fields are none of the schema's business.
#[must_use]
pub fn any_object(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "object", "x-kubernetes-preserve-unknown-fields": true })
}

/// Any JSON value at all.
#[must_use]
pub fn any_value(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "x-kubernetes-preserve-unknown-fields": true })
}

/// A map of resource names to quantities that are not negative.
#[must_use]
pub fn quantities(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "object", "additionalProperties": quantity() })
}

/// One quantity that is not negative: the pattern judges text, `minimum` judges numbers.
#[must_use]
pub fn quantity() -> Value {
    json!({ "x-kubernetes-int-or-string": true, "pattern": QUANTITY_PATTERN, "minimum": 0 })
}
