//! What can be wrong with a filter: a stable code with arguments for the locale files, the place, and a way out.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

use super::ast::Span;
use crate::error::{ApiError, Reason};

/// Why a filter was not understood.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("{message} (at {})", .span.start)]
pub struct FilterError {
    /// Where, in bytes of the filter's text.
    pub span: Span,
    /// What, for looking up a sentence in a locale file.
    pub code: FilterErrorCode,
    /// Arguments of that sentence, by name.
    pub args: BTreeMap<String, String>,
    /// The same in English, for people who use REST.
    pub message: String,
    /// Text that could stand at `span` instead.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub suggestion: Option<String>,
}

/// The kinds of [`FilterError`]. Names are stable: locale files and REST users look them up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FilterErrorCode {
    /// More text than a filter may have. Args: `max` (bytes).
    TooLong,
    /// Parentheses and nots nested too deep. Args: `max`.
    TooDeep,
    /// A quote is not closed.
    UnclosedQuote,
    /// A parenthesis is not closed.
    UnclosedParenthesis,
    /// A parenthesis is closed that was not opened.
    UnexpectedParenthesis,
    /// A condition is missing, for instance after `or`. Args: `after` (may be empty).
    ExpectedTerm,
    /// An operator without a field before it. Args: `operator`.
    MissingField,
    /// No such field. Args: `field`.
    UnknownField,
    /// `label`, `ann`, `sq`, `cond` without a key. Args: `field`.
    NeedsKey,
    /// A key behind a field that has none. Args: `field`.
    TakesNoKey,
    /// Nothing behind an operator that needs a value. Args: `field`, `operator`.
    MissingValue,
    /// Not a whole number or a range of them. Args: `field`, `value`.
    BadNumber,
    /// Not an age such as 30m, 2h, 3d. Args: `field`, `value`.
    BadAge,
    /// A range whose end is before its start. Args: `field`, `value`.
    BadRange,
    /// An operator that does not exist or not for this field. Args: `field`, `operator`.
    BadOperator,
}

impl FilterErrorCode {
    /// Every code, so that a test can check that every locale file has them all.
    pub const ALL: [Self; 15] = [
        Self::TooLong,
        Self::TooDeep,
        Self::UnclosedQuote,
        Self::UnclosedParenthesis,
        Self::UnexpectedParenthesis,
        Self::ExpectedTerm,
        Self::MissingField,
        Self::UnknownField,
        Self::NeedsKey,
        Self::TakesNoKey,
        Self::MissingValue,
        Self::BadNumber,
        Self::BadAge,
        Self::BadRange,
        Self::BadOperator,
    ];

    /// The stable name, as in JSON and in locale files.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::TooLong => "too-long",
            Self::TooDeep => "too-deep",
            Self::UnclosedQuote => "unclosed-quote",
            Self::UnclosedParenthesis => "unclosed-parenthesis",
            Self::UnexpectedParenthesis => "unexpected-parenthesis",
            Self::ExpectedTerm => "expected-term",
            Self::MissingField => "missing-field",
            Self::UnknownField => "unknown-field",
            Self::NeedsKey => "needs-key",
            Self::TakesNoKey => "takes-no-key",
            Self::MissingValue => "missing-value",
            Self::BadNumber => "bad-number",
            Self::BadAge => "bad-age",
            Self::BadRange => "bad-range",
            Self::BadOperator => "bad-operator",
        }
    }

    fn english(self, args: &BTreeMap<String, String>) -> String {
        let arg = |name: &str| args.get(name).map_or("", String::as_str);
        match self {
            Self::TooLong => format!("the filter is longer than {} bytes", arg("max")),
            Self::TooDeep => format!("more than {} parentheses or nots in each other", arg("max")),
            Self::UnclosedQuote => "this quote is not closed".to_owned(),
            Self::UnclosedParenthesis => "this parenthesis is not closed".to_owned(),
            Self::UnexpectedParenthesis => "this parenthesis closes nothing".to_owned(),
            Self::ExpectedTerm if arg("after").is_empty() => "a condition is missing here".to_owned(),
            Self::ExpectedTerm => format!("a condition is missing after \"{}\"", arg("after")),
            Self::MissingField => format!("a field is missing before \"{}\"", arg("operator")),
            Self::UnknownField => format!("there is no field \"{}\"", arg("field")),
            Self::NeedsKey => format!("\"{0}\" needs a key, such as {0}.KEY", arg("field")),
            Self::TakesNoKey => format!("\"{}\" takes no key", arg("field")),
            Self::MissingValue => format!("a value is missing after \"{}{}\"", arg("field"), arg("operator")),
            Self::BadNumber => {
                format!(
                    "\"{}\" is not a whole number or a range such as 0-499; {} needs one",
                    arg("value"),
                    arg("field")
                )
            }
            Self::BadAge => format!("\"{}\" is not an age; write 90s, 30m, 2h, 3d or 1w", arg("value")),
            Self::BadRange => format!("the range \"{}\" ends before it starts", arg("value")),
            Self::BadOperator => format!("\"{}\" does not work with {}", arg("operator"), arg("field")),
        }
    }
}

impl fmt::Display for FilterErrorCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FilterError {
    pub(super) fn new(span: Span, code: FilterErrorCode, args: &[(&str, &str)]) -> Self {
        let args: BTreeMap<String, String> =
            args.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        let message = code.english(&args);
        Self { span, code, args, message, suggestion: None }
    }

    /// The answer of the REST API: 400 with the code `filter-<code>`, the place, and the suggestion as an argument.
    #[must_use]
    pub fn to_api_error(&self) -> ApiError {
        let mut args = self.args.clone();
        args.extend(self.suggestion.clone().map(|text| ("suggestion".to_owned(), text)));
        let reason = Reason { code: format!("filter-{}", self.code), args, message: self.message.clone() };
        ApiError { status: 400, reason, span: Some((self.span.start, self.span.end)), command: None }
    }

    pub(super) fn suggest(mut self, suggestion: Option<String>) -> Self {
        if let Some(text) = &suggestion {
            self.message = format!("{}; did you mean \"{text}\"?", self.message);
        }
        self.suggestion = suggestion;
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_in_json_equal_the_stable_names() {
        for code in FilterErrorCode::ALL {
            assert_eq!(serde_json::to_value(code).unwrap(), serde_json::json!(code.as_str()));
        }
    }

    #[test]
    fn an_error_survives_json() {
        let error = FilterError::new(Span::new(2, 5), FilterErrorCode::UnknownField, &[("field", "stat")])
            .suggest(Some("state".to_owned()));
        let back: FilterError = serde_json::from_str(&serde_json::to_string(&error).unwrap()).unwrap();
        assert_eq!(back, error);
        let answer = error.to_api_error();
        assert_eq!(
            (answer.status, answer.span, answer.reason.code.as_str()),
            (400, Some((2, 5)), "filter-unknown-field")
        );
        assert_eq!(answer.reason.args["suggestion"], "state");
        assert_eq!(error.to_string(), "there is no field \"stat\"; did you mean \"state\"? (at 2)");
    }
}
