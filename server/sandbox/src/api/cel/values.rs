//! From stored JSON to the values that an expression sees; the schema says what a text or number stands for.
use std::collections::HashMap;

use cel::common::types::{
    CelBool, CelBytes, CelDouble, CelDuration, CelInt, CelList, CelMap, CelMapKey, CelNull, CelString,
    CelTimestamp,
};
use cel::common::value::Val;
use serde_json::Value;

use super::types::escape;
use crate::api::schema::{Schema, Type};

/// A value as CEL sees it; fields that have no type are left out. `root`: a whole object, of whose metadata only the names count.
pub fn of<'v>(schema: &Schema, value: &'v Value, root: bool) -> Box<dyn Val + 'v> {
    let format = schema.limits.as_ref().and_then(|limits| limits.format.as_deref());
    match value {
        Value::Null => Box::new(CelNull),
        Value::Bool(flag) => Box::new(CelBool::from(*flag)),
        Value::Number(number) => match (schema.kind, number.as_i64()) {
            (Type::Number, _) | (_, None) => Box::new(CelDouble::from(number.as_f64().unwrap_or_default())),
            (_, Some(whole)) => Box::new(CelInt::from(whole)),
        },
        Value::String(text) => match (schema.kind, format) {
            (Type::String, Some("date-time" | "date")) => timestamp(text).unwrap_or_else(|| plain(text)),
            (Type::String, Some("duration")) => duration(text).unwrap_or_else(|| plain(text)),
            (Type::Bytes, _) => bytes(text).unwrap_or_else(|| plain(text)),
            _ => plain(text),
        },
        Value::Array(items) => {
            let anything = Schema::default();
            let schema = schema.items.as_deref().unwrap_or(&anything);
            let items: Vec<Box<dyn Val + 'v>> = items.iter().map(|item| of(schema, item, false)).collect();
            Box::new(CelList::from(items))
        }
        Value::Object(map) => {
            let mut out: HashMap<CelMapKey<'v>, Box<dyn Val + 'v>> = HashMap::with_capacity(map.len());
            for (name, child) in map {
                if name == "metadata" && (root || schema.embedded) {
                    out.insert(CelMapKey::from(name.as_str()), names_of(child));
                } else if (root || schema.embedded) && matches!(name.as_str(), "apiVersion" | "kind") {
                    out.insert(CelMapKey::from(name.as_str()), of(&Schema::default(), child, false));
                } else if let Some(property) = schema.properties.get(name) {
                    if let Some(escaped) = escape(name).filter(|_| property.kind != Type::Any) {
                        out.insert(CelMapKey::from(escaped), of(property, child, false));
                    }
                } else if let Some(additional) = schema.additional.as_deref() {
                    out.insert(CelMapKey::from(name.as_str()), of(additional, child, false));
                }
            }
            Box::new(CelMap::from(out))
        }
    }
}

fn plain(text: &str) -> Box<dyn Val + '_> {
    Box::new(CelString::from(text))
}

/// Of metadata a rule sees the names only.
fn names_of(metadata: &Value) -> Box<dyn Val + '_> {
    let names = ["name", "generateName"].into_iter();
    let entries = names.filter_map(|key| Some((key, metadata.get(key)?.as_str()?)));
    let map: HashMap<CelMapKey<'_>, Box<dyn Val + '_>> =
        entries.map(|(key, text)| (CelMapKey::from(key), plain(text))).collect();
    Box::new(CelMap::from(map))
}

fn timestamp<'v>(text: &str) -> Option<Box<dyn Val + 'v>> {
    let whole = if text.len() == 10 { format!("{text}T00:00:00Z") } else { text.to_owned() };
    let time: jiff::Timestamp = whole.parse().ok()?;
    let time = chrono_time(time)?;
    Some(Box::new(CelTimestamp::from(time)))
}

fn chrono_time(time: jiff::Timestamp) -> Option<chrono::DateTime<chrono::FixedOffset>> {
    let nanos = u32::try_from(time.subsec_nanosecond()).ok()?;
    chrono::DateTime::from_timestamp(time.as_second(), nanos).map(|utc| utc.fixed_offset())
}

/// `1h30m`, `2 days`, `150ms`: what OpenAPI's format `duration` takes.
fn duration<'v>(text: &str) -> Option<Box<dyn Val + 'v>> {
    let span: jiff::SignedDuration = text.trim().parse().ok()?;
    let nanos = u32::try_from(span.subsec_nanos()).ok()?;
    chrono::Duration::new(span.as_secs(), nanos).map(|d| Box::new(CelDuration::from(d)) as Box<dyn Val>)
}

fn bytes<'v>(text: &str) -> Option<Box<dyn Val + 'v>> {
    let decoded: k8s_openapi::ByteString = serde_json::from_value(Value::String(text.to_owned())).ok()?;
    Some(Box::new(CelBytes::from(decoded.0)))
}
