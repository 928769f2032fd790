//! Reasons and errors as stable codes with arguments: the browser words them in the reader's language.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Why something is so, or is refused: a stable code, its arguments, and English for people who read REST answers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reason {
    /// Stable, lower case with dashes, for example `left-out-allocated`. Locale key `reason.<code>`.
    pub code: String,
    /// Values that the sentence of the code names.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub args: BTreeMap<String, String>,
    /// The sentence in English.
    pub message: String,
}

impl Reason {
    /// A reason without arguments.
    pub fn new(code: impl Into<String>, message: impl Into<String>) -> Self {
        Self { code: code.into(), args: BTreeMap::new(), message: message.into() }
    }

    /// Adds an argument.
    #[must_use]
    pub fn with(mut self, name: &str, value: impl ToString) -> Self {
        self.args.insert(name.to_owned(), value.to_string());
        self
    }
}

/// The one JSON shape of every error answer of the REST API.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ApiError {
    /// HTTP status again, so that a stored body is complete.
    pub status: u16,
    /// What went wrong.
    pub reason: Reason,
    /// Byte range in the filter text, when the filter is what is wrong.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub span: Option<(usize, usize)>,
    /// What to do, as a command to copy, when there is one (missing CRDs).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
}
