//! Filling in defaults.
use serde_json::Value;

use super::Schema;

/// Fills in defaults where fields are absent, from the outside in, so that a default map gets the defaults of its own fields.
pub fn apply_defaults(schema: &Schema, value: &mut Value) {
    let schema = schema.resolve();
    match value {
        Value::Object(map) => {
            for (name, property) in &schema.properties {
                if let Some(default) =
                    property.default.as_ref().or_else(|| property.resolve().default.as_ref())
                {
                    let absent = match map.get(name) {
                        None => true,
                        Some(present) => present.is_null() && !property.nullable,
                    };
                    if absent {
                        map.insert(name.clone(), default.clone());
                    }
                }
            }
            for (name, child) in map.iter_mut() {
                if let Some(field) = schema.field(name) {
                    apply_defaults(field, child);
                }
            }
        }
        Value::Array(items) => {
            if let Some(item_schema) = &schema.items {
                for item in items {
                    apply_defaults(item_schema, item);
                }
            }
        }
        _ => {}
    }
}
