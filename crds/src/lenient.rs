//! Tolerant reading: one odd object must not end a watch over fifty thousand good ones.
//!
//! kube's watcher deserialises a whole list at once, so a single field that does not parse would make every
//! object of the kind invisible. These helpers turn such a field into something harmless instead; deciding
//! what an odd value means is the controllers' work, which is why the text of numbers is kept.

use k8s_openapi::apimachinery::pkg::util::intstr::IntOrString;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer};
use serde_json::Value;

/// Reads a field and falls back to its default when the value has another shape.
///
/// # Errors
/// Only when the input itself is not well-formed.
pub fn or_default<'de, D, T>(deserializer: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: DeserializeOwned + Default,
{
    let value = Value::deserialize(deserializer)?;
    Ok(serde_json::from_value(value).unwrap_or_default())
}

/// Reads a field where null stands for its default, as Go programs write empty lists, maps and times.
///
/// # Errors
/// When the value is neither null nor of the field's shape.
pub fn null_is_default<'de, D, T>(deserializer: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de> + Default,
{
    Ok(Option::<T>::deserialize(deserializer)?.unwrap_or_default())
}

/// Reads a list and leaves out the entries that have another shape; anything but a list is an empty one.
///
/// # Errors
/// Only when the input itself is not well-formed.
pub fn items<'de, D, T>(deserializer: D) -> Result<Vec<T>, D::Error>
where
    D: Deserializer<'de>,
    T: DeserializeOwned,
{
    match Value::deserialize(deserializer)? {
        Value::Array(values) => {
            Ok(values.into_iter().filter_map(|value| serde_json::from_value(value).ok()).collect())
        }
        _ => Ok(Vec::new()),
    }
}

/// An int-or-string from any scalar. The API server accepts 64 bit integers where Kubernetes' own type holds 32:
/// what does not fit, and fractions and booleans, become their text. Null and structures are nothing.
#[must_use]
pub fn int_or_string(value: Value) -> Option<IntOrString> {
    match value {
        Value::String(text) => Some(IntOrString::String(text)),
        Value::Number(number) => Some(
            number
                .as_i64()
                .and_then(|wide| i32::try_from(wide).ok())
                .map_or_else(|| IntOrString::String(number.to_string()), IntOrString::Int),
        ),
        Value::Bool(flag) => Some(IntOrString::String(flag.to_string())),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}

/// [`int_or_string`] for an optional field.
///
/// # Errors
/// Only when the input itself is not well-formed.
pub fn optional_int_or_string<'de, D>(deserializer: D) -> Result<Option<IntOrString>, D::Error>
where
    D: Deserializer<'de>,
{
    Ok(int_or_string(Value::deserialize(deserializer)?))
}

/// [`int_or_string`] for each entry of a list; null reads as an empty list.
///
/// # Errors
/// Only when the input itself is not well-formed.
pub fn int_or_string_list<'de, D>(deserializer: D) -> Result<Vec<IntOrString>, D::Error>
where
    D: Deserializer<'de>,
{
    match Value::deserialize(deserializer)? {
        Value::Array(values) => Ok(values.into_iter().filter_map(int_or_string).collect()),
        _ => Ok(Vec::new()),
    }
}

/// Reads `value` as `T`; when that fails, reads it again with only those top-level fields that parse beside each
/// other. The second part says what was wrong. Without any readable rest the value is the default.
#[must_use]
pub fn salvage<T>(value: Value) -> (T, Option<String>)
where
    T: DeserializeOwned + Default,
{
    let error = match serde_json::from_value::<T>(value.clone()) {
        Ok(read) => return (read, None),
        Err(error) => error.to_string(),
    };
    let mut best = T::default();
    if let Value::Object(fields) = value {
        let mut kept = serde_json::Map::new();
        for (key, field) in fields {
            kept.insert(key.clone(), field);
            match serde_json::from_value(Value::Object(kept.clone())) {
                Ok(read) => best = read,
                Err(_) => {
                    kept.remove(&key);
                }
            }
        }
    }
    (best, Some(error))
}

/// Whether an optional flag or list can be left out of what is written.
pub(crate) fn is_false(flag: &bool) -> bool {
    !*flag
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[derive(Debug, Default, Deserialize, PartialEq)]
    struct Sample {
        #[serde(default)]
        name: String,
        #[serde(default)]
        count: i32,
        #[serde(default, deserialize_with = "items")]
        list: Vec<i32>,
    }

    #[test]
    fn scalars_become_int_or_string_without_losing_digits() {
        assert_eq!(int_or_string(json!(7)), Some(IntOrString::Int(7)));
        assert_eq!(int_or_string(json!(3_000_000_000_i64)), Some(IntOrString::String("3000000000".into())));
        assert_eq!(int_or_string(json!(1.5)), Some(IntOrString::String("1.5".into())));
        assert_eq!(int_or_string(json!(true)), Some(IntOrString::String("true".into())));
        assert_eq!(int_or_string(json!({"a": 1})), None);
    }

    #[test]
    fn salvage_keeps_what_parses_and_says_what_did_not() {
        let (sample, error) = salvage::<Sample>(json!({"name": "a", "count": "many", "list": [1, "x", 3]}));
        assert_eq!(sample, Sample { name: "a".into(), count: 0, list: vec![1, 3] });
        assert!(error.is_some_and(|text| text.contains("many")));
        assert_eq!(salvage::<Sample>(json!("text")).0, Sample::default());
    }
}
