//! opsState: what operators and matchmakers say about a server. Five values are known; any other legal label
//! value is a custom one and ranks like `None`.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Value, json};

use crate::schema::{LABEL_VALUE_MAX, LABEL_VALUE_PATTERN};

/// The operational state of a game server, as text in `spec.opsState` and in the pod's label.
#[derive(Clone, Debug, Default, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum OpsState {
    /// Nothing special; the value of a new server.
    #[default]
    None,
    /// First to go when the set gets smaller.
    WaitToBeDeleted,
    /// Under maintenance: last to go when the set gets smaller.
    Maintaining,
    /// In use: has players, or is promised to some.
    Allocated,
    /// Delete this server now and lower the set's replicas by one.
    Kill,
    /// Anything else, exactly as written; also the empty text.
    Custom(String),
}

/// Why a text cannot be an opsState.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum OpsStateError {
    /// It equals a known value except for case or blanks, which is a typing mistake and never meant as a custom value.
    #[error("opsState {text:?} looks like {meant}: write {meant}")]
    LooksLike {
        /// What was written.
        text: String,
        /// The known value it resembles.
        meant: &'static str,
    },
    /// It is copied into a pod label, and a label cannot hold it.
    #[error("opsState {0:?} is not a legal label value (at most 63 letters, digits, '-', '_', '.')")]
    NotALabelValue(String),
}

impl OpsState {
    /// The known values, in the order in which interfaces offer them.
    pub const KNOWN: [&'static str; 5] = ["None", "WaitToBeDeleted", "Maintaining", "Allocated", "Kill"];

    /// The text as it is stored.
    #[must_use]
    pub fn as_str(&self) -> &str {
        match self {
            Self::None => "None",
            Self::WaitToBeDeleted => "WaitToBeDeleted",
            Self::Maintaining => "Maintaining",
            Self::Allocated => "Allocated",
            Self::Kill => "Kill",
            Self::Custom(text) => text,
        }
    }

    /// Whether this is one of [`Self::KNOWN`].
    #[must_use]
    pub fn is_known(&self) -> bool {
        !matches!(self, Self::Custom(_))
    }

    /// The known value that `text` equals except for case or blanks, when it does not equal it exactly.
    #[must_use]
    pub fn looks_like(text: &str) -> Option<&'static str> {
        let squeezed: String = text.chars().filter(|c| !c.is_whitespace()).collect();
        Self::KNOWN.into_iter().find(|known| squeezed.eq_ignore_ascii_case(known) && text != *known)
    }

    /// Reads what a person typed, by the same rules as the CRD.
    ///
    /// # Errors
    /// When the text resembles a known value without being it, or is no legal label value.
    pub fn checked(text: &str) -> Result<Self, OpsStateError> {
        if let Some(meant) = Self::looks_like(text) {
            return Err(OpsStateError::LooksLike { text: text.to_owned(), meant });
        }
        if !is_label_value(text) {
            return Err(OpsStateError::NotALabelValue(text.to_owned()));
        }
        Ok(Self::from(text))
    }
}

/// Whether Kubernetes accepts `text` as the value of a label.
fn is_label_value(text: &str) -> bool {
    let alphanumeric = |c: Option<char>| c.is_some_and(|c| c.is_ascii_alphanumeric());
    text.is_empty()
        || (text.len() <= LABEL_VALUE_MAX
            && alphanumeric(text.chars().next())
            && alphanumeric(text.chars().next_back())
            && text.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.')))
}

impl From<&str> for OpsState {
    fn from(text: &str) -> Self {
        match text {
            "None" => Self::None,
            "WaitToBeDeleted" => Self::WaitToBeDeleted,
            "Maintaining" => Self::Maintaining,
            "Allocated" => Self::Allocated,
            "Kill" => Self::Kill,
            other => Self::Custom(other.to_owned()),
        }
    }
}

impl From<String> for OpsState {
    fn from(text: String) -> Self {
        match Self::from(text.as_str()) {
            Self::Custom(_) => Self::Custom(text),
            known => known,
        }
    }
}

impl fmt::Display for OpsState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl Serialize for OpsState {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for OpsState {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Self::from(String::deserialize(deserializer)?))
    }
}

impl JsonSchema for OpsState {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "OpsState".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "string",
            "maxLength": LABEL_VALUE_MAX,
            "pattern": LABEL_VALUE_PATTERN,
            "x-kubernetes-validations": [looks_like_rule("")],
        })
    }
}

/// The CEL twin of [`OpsState::looks_like`]. `unless` is a CEL condition that ends in `||`, or empty.
pub(crate) fn looks_like_rule(unless: &str) -> Value {
    let known = OpsState::KNOWN.map(|known| format!("'{known}'")).join(", ");
    let squeezed = "self.trim().replace(' ', '').lowerAscii()";
    json!({
        "rule": format!("{unless}[{known}].all(known, self == known || {squeezed} != known.lowerAscii())"),
        "message": format!("opsState differs only in case or blanks from one of {}", OpsState::KNOWN.join(", ")),
        "messageExpression": format!(
            "'opsState looks like a known value: write ' + [{known}].filter(known, {squeezed} == known.lowerAscii())[0]"
        ),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_values_and_custom_ones_survive_a_round_trip() {
        for text in OpsState::KNOWN.into_iter().chain(["", "A", "user-define", "kill"]) {
            assert_eq!(OpsState::from(text).as_str(), text);
            assert_eq!(OpsState::from(text), OpsState::from(text.to_owned()));
        }
        assert!(OpsState::from("Kill").is_known());
        assert!(!OpsState::from("kill").is_known());
    }

    #[test]
    fn near_misses_name_the_right_value() {
        for (text, meant) in [
            ("kill", "Kill"),
            (" Kill", "Kill"),
            ("KILL\t", "Kill"),
            ("wait to be deleted", "WaitToBeDeleted"),
            ("none", "None"),
        ] {
            assert_eq!(OpsState::checked(text), Err(OpsStateError::LooksLike { text: text.into(), meant }));
        }
        assert_eq!(OpsState::checked("Killed"), Ok(OpsState::Custom("Killed".into())));
        assert_eq!(OpsState::checked("Kill"), Ok(OpsState::Kill));
    }

    #[test]
    fn custom_values_must_fit_a_label() {
        for bad in ["a b", "-a", "a-", "ä", &"x".repeat(64)] {
            assert_eq!(OpsState::checked(bad), Err(OpsStateError::NotALabelValue(bad.into())));
        }
        for good in ["", "a", "a-b_c.d", &"x".repeat(63)] {
            assert!(OpsState::checked(good).is_ok());
        }
    }
}
