//! Taking a case apart field by field, so that one that nobody asked for is noticed.

use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

/// The fields of a case's input or expectation that were not asked for yet.
pub struct Fields {
    what: &'static str,
    rest: Map<String, Value>,
}

impl Fields {
    pub fn new(what: &'static str, value: &Value) -> Result<Self, String> {
        let rest = value.as_object().ok_or_else(|| format!("{what} is not an object"))?.clone();
        Ok(Self { what, rest })
    }

    /// A field that has to be there.
    pub fn take<T: DeserializeOwned>(&mut self, name: &str) -> Result<T, String> {
        self.take_optional(name)?.ok_or_else(|| format!("{}.{name} is missing", self.what))
    }

    /// A field that may be missing.
    pub fn take_optional<T: DeserializeOwned>(&mut self, name: &str) -> Result<Option<T>, String> {
        let Some(value) = self.rest.remove(name) else { return Ok(None) };
        serde_json::from_value(value).map(Some).map_err(|error| format!("{}.{name}: {error}", self.what))
    }

    /// Fails when something is left.
    pub fn done(self) -> Result<(), String> {
        match self.rest.keys().next() {
            None => Ok(()),
            Some(name) => Err(format!("no adapter understands {}.{name}", self.what)),
        }
    }
}

/// Compares, and says both sides when they differ.
pub fn same<T: PartialEq + std::fmt::Debug>(what: &str, expected: &T, ours: &T) -> Result<(), String> {
    if expected == ours { Ok(()) } else { Err(format!("{what}: expected {expected:?}, ours is {ours:?}")) }
}
