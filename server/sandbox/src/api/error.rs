//! Errors of the API as clients see them: a `Status` object with code, reason, message and details.
//!
//! Shapes and wordings follow the real API server, because client libraries branch on code and reason and people search for the words.
use serde_json::{Value, json};

/// A refusal that becomes a `Status` answer.
#[derive(Debug, Clone, thiserror::Error)]
#[error("{message}")]
pub struct ApiError {
    /// HTTP status code.
    pub code: u16,
    /// Machine-readable reason, such as `NotFound`.
    pub reason: &'static str,
    /// Words for people.
    pub message: String,
    /// `details` of the Status, if any.
    pub details: Option<Value>,
}

/// The result of an API operation.
pub type Result<T> = std::result::Result<T, ApiError>;

/// Group and a name in it: of a resource (plural) or of a kind, as the `details` want it.
#[derive(Debug, Clone, Copy)]
pub struct Named<'a> {
    /// API group, empty for core.
    pub group: &'a str,
    /// Plural resource name or kind.
    pub name: &'a str,
}

impl Named<'_> {
    /// `pods` or `gameservers.game.kruise.io`.
    fn qualified(&self) -> String {
        if self.group.is_empty() { self.name.to_owned() } else { format!("{}.{}", self.name, self.group) }
    }
}

impl ApiError {
    /// An error without details.
    pub fn new(code: u16, reason: &'static str, message: impl Into<String>) -> Self {
        Self { code, reason, message: message.into(), details: None }
    }

    fn detailed(code: u16, reason: &'static str, message: String, what: Named<'_>, name: &str) -> Self {
        let mut details = json!({ "kind": what.name });
        if !name.is_empty() {
            details["name"] = name.into();
        }
        if !what.group.is_empty() {
            details["group"] = what.group.into();
        }
        Self { code, reason, message, details: Some(details) }
    }

    /// 400: the request itself is wrong.
    pub fn bad_request(message: impl Into<String>) -> Self {
        Self::new(400, "BadRequest", message)
    }

    /// 404 for an object.
    pub fn not_found(what: Named<'_>, name: &str) -> Self {
        Self::detailed(404, "NotFound", format!("{} {name:?} not found", what.qualified()), what, name)
    }

    /// 409 on create.
    pub fn already_exists(what: Named<'_>, name: &str) -> Self {
        Self::detailed(
            409,
            "AlreadyExists",
            format!("{} {name:?} already exists", what.qualified()),
            what,
            name,
        )
    }

    /// 409 on create where the one before is on its way out.
    pub fn still_there(what: Named<'_>, name: &str) -> Self {
        let error = Self::already_exists(what, name);
        Self { message: format!("object is being deleted: {}", error.message), ..error }
    }

    /// 409 because of a newer version or a precondition.
    pub fn conflict(what: Named<'_>, name: &str, why: &str) -> Self {
        let message = format!("Operation cannot be fulfilled on {} {name:?}: {why}", what.qualified());
        Self::detailed(409, "Conflict", message, what, name)
    }

    /// The usual 409 of a stale `resourceVersion`.
    pub fn stale(what: Named<'_>, name: &str) -> Self {
        let why =
            "the object has been modified; please apply your changes to the latest version and try again";
        Self::conflict(what, name, why)
    }

    /// 403.
    pub fn forbidden(what: Named<'_>, name: &str, why: &str) -> Self {
        let message = if name.is_empty() {
            format!("{} is forbidden: {why}", what.qualified())
        } else {
            format!("{} {name:?} is forbidden: {why}", what.qualified())
        };
        Self::detailed(403, "Forbidden", message, what, name)
    }

    /// 405.
    pub fn method_not_allowed(message: impl Into<String>) -> Self {
        Self { details: Some(json!({})), ..Self::new(405, "MethodNotAllowed", message) }
    }

    /// 410 with reason `Expired`: the version asked for is no longer in the history.
    pub fn expired(message: impl Into<String>) -> Self {
        Self::new(410, "Expired", message)
    }

    /// 422 with one cause per field. `what.name` is the kind here.
    pub fn invalid(what: Named<'_>, name: &str, errors: &[FieldError]) -> Self {
        let mut words: Vec<String> = Vec::new();
        for word in errors.iter().map(ToString::to_string) {
            // The real server finds some things twice; it says them once.
            if !words.contains(&word) {
                words.push(word);
            }
        }
        let joined =
            if let [one] = words.as_slice() { one.clone() } else { format!("[{}]", words.join(", ")) };
        let causes: Vec<Value> = errors
            .iter()
            .map(|e| json!({ "reason": e.kind.reason(), "message": e.body(), "field": e.field }))
            .collect();
        let mut error = Self::detailed(
            422,
            "Invalid",
            format!("{} {name:?} is invalid: {joined}", what.qualified()),
            what,
            name,
        );
        if let Some(details) = &mut error.details {
            details["causes"] = causes.into();
        }
        error
    }

    /// 422 about the options of a request, such as `ListOptions`.
    pub fn invalid_options(kind: &str, group: &str, error: &FieldError) -> Self {
        Self::invalid(Named { group, name: kind }, "", std::slice::from_ref(error))
    }

    /// 500.
    pub fn internal(message: impl Into<String>) -> Self {
        Self::new(500, "InternalError", message)
    }

    /// The `Status` object.
    pub fn status(&self) -> Value {
        let mut status = json!({
            "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure",
            "message": self.message, "reason": self.reason, "code": self.code,
        });
        if self.reason.is_empty() {
            status.as_object_mut().map(|map| map.remove("reason"));
        }
        if let Some(details) = &self.details {
            status["details"] = details.clone();
        }
        status
    }
}

/// What is wrong with a field; decides the wording and the `reason` of the cause.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FieldErrorKind {
    /// The field must be there.
    Required,
    /// The value is malformed or changed where it must not.
    Invalid,
    /// The value has the wrong JSON type.
    TypeInvalid,
    /// The value occurs twice.
    Duplicate,
    /// The value is not one of a fixed list.
    NotSupported,
    /// The value names something that is not there.
    NotFound,
    /// The field must not be set or changed.
    Forbidden,
    /// A text is too long.
    TooLong,
    /// A list has too many items.
    TooMany,
}

impl FieldErrorKind {
    /// After such a mistake the rules of a custom kind are not judged.
    pub fn blocks_rules(self) -> bool {
        matches!(
            self,
            Self::NotSupported | Self::Required | Self::TooLong | Self::TooMany | Self::TypeInvalid
        )
    }

    fn reason(self) -> &'static str {
        match self {
            Self::Required => "FieldValueRequired",
            Self::Invalid => "FieldValueInvalid",
            Self::TypeInvalid => "FieldValueTypeInvalid",
            Self::Duplicate => "FieldValueDuplicate",
            Self::NotSupported => "FieldValueNotSupported",
            Self::NotFound => "FieldValueNotFound",
            Self::Forbidden => "FieldValueForbidden",
            Self::TooLong => "FieldValueTooLong",
            Self::TooMany => "FieldValueTooMany",
        }
    }
}

/// One wrong field.
#[derive(Debug, Clone, PartialEq)]
pub struct FieldError {
    /// What is wrong.
    pub kind: FieldErrorKind,
    /// Path such as `spec.containers[0].name`.
    pub field: String,
    /// The offending value; `None` where it is too large to be shown.
    pub value: Option<Value>,
    /// The rest of the sentence.
    pub detail: String,
}

impl FieldError {
    fn new(kind: FieldErrorKind, field: impl Into<String>, value: Value, detail: impl Into<String>) -> Self {
        Self { kind, field: field.into(), value: Some(value), detail: detail.into() }
    }
    /// Any kind; without a value it is left out of the words.
    pub fn about(kind: FieldErrorKind, field: String, value: Option<Value>, detail: String) -> Self {
        Self { kind, field, value, detail }
    }
    /// `Required value`.
    pub fn required(field: impl Into<String>, detail: impl Into<String>) -> Self {
        Self::new(FieldErrorKind::Required, field, Value::Null, detail)
    }
    /// `Invalid value`.
    pub fn invalid(field: impl Into<String>, value: impl Into<Value>, detail: impl Into<String>) -> Self {
        Self::new(FieldErrorKind::Invalid, field, value.into(), detail)
    }
    /// `Invalid value` of the wrong JSON type.
    pub fn wrong_type(field: impl Into<String>, found: &str, detail: impl Into<String>) -> Self {
        Self::new(FieldErrorKind::TypeInvalid, field, found.into(), detail)
    }
    /// `Duplicate value`.
    pub fn duplicate(field: impl Into<String>, value: impl Into<Value>) -> Self {
        Self::new(FieldErrorKind::Duplicate, field, value.into(), "")
    }
    /// `Unsupported value`, with the list of the supported ones.
    pub fn not_supported(field: impl Into<String>, value: impl Into<Value>, supported: &[String]) -> Self {
        let list: Vec<String> = supported.iter().map(|s| format!("{s:?}")).collect();
        Self::new(
            FieldErrorKind::NotSupported,
            field,
            value.into(),
            format!("supported values: {}", list.join(", ")),
        )
    }
    /// `Forbidden`.
    pub fn forbidden(field: impl Into<String>, detail: impl Into<String>) -> Self {
        Self::new(FieldErrorKind::Forbidden, field, Value::Null, detail)
    }
    /// `Too long`, in bytes.
    pub fn too_long(field: impl Into<String>, most: u64) -> Self {
        Self::new(FieldErrorKind::TooLong, field, Value::Null, format!("may not be more than {most} bytes"))
    }
    /// `Too many` items.
    pub fn too_many(field: impl Into<String>, found: usize, most: u64) -> Self {
        Self::new(FieldErrorKind::TooMany, field, found.into(), format!("must have at most {most} items"))
    }

    /// The words without the field's path.
    pub fn body(&self) -> String {
        let head = match self.kind {
            FieldErrorKind::Required => "Required value".to_owned(),
            FieldErrorKind::Forbidden => "Forbidden".to_owned(),
            FieldErrorKind::TooLong => "Too long".to_owned(),
            FieldErrorKind::Invalid | FieldErrorKind::TypeInvalid => self.with_value("Invalid value"),
            FieldErrorKind::Duplicate => self.with_value("Duplicate value"),
            FieldErrorKind::NotSupported => self.with_value("Unsupported value"),
            FieldErrorKind::TooMany => self.with_value("Too many"),
            FieldErrorKind::NotFound => self.with_value("Not found"),
        };
        if self.detail.is_empty() { head } else { format!("{head}: {}", self.detail) }
    }

    fn with_value(&self, words: &str) -> String {
        self.value.as_ref().map_or_else(|| words.to_owned(), |value| format!("{words}: {value}"))
    }
}

impl std::fmt::Display for FieldError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.field.is_empty() {
            f.write_str(&self.body())
        } else {
            write!(f, "{}: {}", self.field, self.body())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_wrong_field_reads_as_kube_writes_it() {
        let what = Named { group: "", name: "Pod" };
        let error = ApiError::invalid(what, "a", &[FieldError::required("spec.containers", "")]);
        assert_eq!(error.message, "Pod \"a\" is invalid: spec.containers: Required value");
        let status = error.status();
        assert_eq!(status["details"]["causes"][0]["reason"], "FieldValueRequired");
        assert_eq!(status["details"]["causes"][0]["field"], "spec.containers");
        assert_eq!(status["code"], 422);
    }

    #[test]
    fn resources_of_a_group_are_qualified() {
        let error = ApiError::not_found(Named { group: "game.kruise.io", name: "gameservers" }, "a-0");
        assert_eq!(error.message, "gameservers.game.kruise.io \"a-0\" not found");
        assert_eq!(error.status()["details"]["group"], "game.kruise.io");
    }
}
