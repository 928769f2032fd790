//! The options of a request, from its query string.
use http::Uri;

use crate::api::error::{ApiError, FieldError, Result};

/// How unknown and duplicate fields are treated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum FieldValidation {
    /// They are dropped silently.
    Ignore,
    /// They are dropped and named in a `Warning` header.
    #[default]
    Warn,
    /// The request is refused.
    Strict,
}

/// `resourceVersionMatch`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum VersionMatch {
    /// Exactly this version.
    Exact,
    /// This version or a newer one.
    NotOlderThan,
}

/// All options that we know, of every verb.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// `watch`.
    pub watch: bool,
    /// `labelSelector`, unparsed.
    pub label_selector: String,
    /// `fieldSelector`, unparsed.
    pub field_selector: String,
    /// `resourceVersion`.
    pub resource_version: Option<u64>,
    /// `resourceVersionMatch`.
    pub version_match: Option<VersionMatch>,
    /// `limit`; 0 means no limit.
    pub limit: usize,
    /// `continue`.
    pub continue_token: Option<String>,
    /// `timeoutSeconds`.
    pub timeout_seconds: Option<u64>,
    /// `allowWatchBookmarks`.
    pub bookmarks: bool,
    /// `sendInitialEvents`.
    pub send_initial_events: Option<bool>,
    /// `dryRun=All`.
    pub dry_run: bool,
    /// `fieldManager`.
    pub field_manager: Option<String>,
    /// `force`, of an apply.
    pub force: bool,
    /// `fieldValidation`.
    pub field_validation: FieldValidation,
    /// `gracePeriodSeconds`.
    pub grace_period_seconds: Option<i64>,
    /// `propagationPolicy`.
    pub propagation_policy: Option<String>,
    /// `orphanDependents` is given.
    pub orphan_dependents: bool,
    /// `includeObject`, of tables.
    pub include_object: Option<String>,
    /// `pretty`.
    pub pretty: bool,
}

/// The names and values of a query, decoded.
pub fn pairs(uri: &Uri) -> Result<Vec<(String, String)>> {
    let pairs = axum::extract::Query::<Vec<(String, String)>>::try_from_uri(uri);
    pairs.map(|pairs| pairs.0).map_err(|e| ApiError::bad_request(format!("malformed query: {e}")))
}

impl Options {
    /// Reads the query of a URL. Unknown names are ignored, as Kubernetes does.
    pub fn parse(uri: &Uri) -> Result<Self> {
        let mut options = Self::default();
        for (name, value) in pairs(uri)? {
            options.set(&name, value)?;
        }
        Ok(options)
    }

    fn set(&mut self, name: &str, value: String) -> Result<()> {
        match name {
            "watch" => self.watch = flag(&value),
            "labelSelector" => self.label_selector = value,
            "fieldSelector" => self.field_selector = value,
            "resourceVersion" => self.resource_version = resource_version(&value)?,
            "resourceVersionMatch" => {
                self.version_match = match value.as_str() {
                    "" => None,
                    "Exact" => Some(VersionMatch::Exact),
                    "NotOlderThan" => Some(VersionMatch::NotOlderThan),
                    other => {
                        let known = ["Exact", "NotOlderThan", ""].map(str::to_owned);
                        let error = FieldError::not_supported("resourceVersionMatch", other, &known);
                        return Err(ApiError::invalid_options("ListOptions", "meta.k8s.io", &error));
                    }
                }
            }
            "limit" => self.limit = usize::try_from(number::<i64>(name, &value)?.unwrap_or(0)).unwrap_or(0),
            "continue" => self.continue_token = Some(value).filter(|v| !v.is_empty()),
            "timeoutSeconds" => self.timeout_seconds = number(name, &value)?,
            "allowWatchBookmarks" => self.bookmarks = flag(&value),
            "sendInitialEvents" => self.send_initial_events = Some(flag(&value)),
            "dryRun" => match value.as_str() {
                "All" => self.dry_run = true,
                other => {
                    let error = FieldError::not_supported("dryRun", other, &["All".to_owned()]);
                    return Err(ApiError::invalid_options("Options", "meta.k8s.io", &error));
                }
            },
            "fieldManager" => {
                // The rules of the real server for names of managers.
                let refuse =
                    |error: &FieldError| Err(ApiError::invalid_options("PatchOptions", "meta.k8s.io", error));
                if value.len() > 128 {
                    return refuse(&FieldError::too_long("fieldManager", 128));
                }
                if let Some(odd) = value.chars().find(|c| c.is_control()) {
                    let why = format!("should not contain the control character {odd:?}");
                    return refuse(&FieldError::invalid("fieldManager", value.as_str(), why));
                }
                self.field_manager = Some(value).filter(|v| !v.is_empty());
            }
            "force" => self.force = flag(&value),
            "orphanDependents" => self.orphan_dependents = true,
            "fieldValidation" => {
                self.field_validation = match value.as_str() {
                    "" | "Warn" => FieldValidation::Warn,
                    "Ignore" => FieldValidation::Ignore,
                    "Strict" => FieldValidation::Strict,
                    other => {
                        let known = ["", "Ignore", "Strict", "Warn"].map(str::to_owned);
                        let error = FieldError::not_supported("fieldValidation", other, &known);
                        return Err(ApiError::invalid_options("PatchOptions", "meta.k8s.io", &error));
                    }
                }
            }
            "gracePeriodSeconds" => self.grace_period_seconds = number(name, &value)?,
            "propagationPolicy" => self.propagation_policy = Some(value).filter(|v| !v.is_empty()),
            "includeObject" => self.include_object = Some(value),
            "pretty" => self.pretty = value == "true" || value == "1",
            _ => {}
        }
        Ok(())
    }
}

/// Reads a resourceVersion; empty means none.
pub fn resource_version(text: &str) -> Result<Option<u64>> {
    number("resourceVersion", text)
}

/// Everything is true that does not say no, as in the real server.
fn flag(value: &str) -> bool {
    !matches!(value, "0") && !value.eq_ignore_ascii_case("false")
}

fn number<T: std::str::FromStr>(name: &str, value: &str) -> Result<Option<T>> {
    if value.is_empty() {
        return Ok(None);
    }
    value.parse().map(Some).map_err(|_| ApiError::bad_request(format!("{name}: {value:?} is not a number")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_read_and_decoded() {
        let uri: Uri =
            "/x?watch=true&labelSelector=a%3Db%2Cc&resourceVersion=&limit=5&other=1".parse().unwrap();
        let options = Options::parse(&uri).unwrap();
        assert!(options.watch);
        assert_eq!(options.label_selector, "a=b,c");
        assert_eq!((options.resource_version, options.limit), (None, 5));
        for (bad, code) in [("/x?resourceVersion=x", 400), ("/x?dryRun=Some", 422)] {
            assert_eq!(Options::parse(&bad.parse().unwrap()).unwrap_err().code, code, "{bad}");
        }
    }
}
