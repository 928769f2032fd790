//! Which form of an answer a client accepts, and in which form it sends a body.
use http::HeaderMap;
use http::header::{ACCEPT, CONTENT_TYPE};
use serde_json::Value;

use super::protobuf;
use crate::api::error::{ApiError, Result};

/// The form of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// Objects as they are.
    Plain,
    /// Rows and columns for people.
    Table,
    /// Only metadata.
    Metadata,
    /// Discovery in one document.
    Aggregated,
}

/// The first form of `Accept` that we have. Protobuf and CBOR are passed over; when nothing else is listed, 406.
/// Metadata alone has one name for a list of `many` objects and one for a single one, or for those in watch events.
pub fn form(headers: &HeaderMap, many: bool) -> Result<Form> {
    let mut accepted = String::new();
    for value in headers.get_all(ACCEPT) {
        if !accepted.is_empty() {
            accepted.push(',');
        }
        accepted.push_str(value.to_str().unwrap_or_default());
    }
    if accepted.trim().is_empty() {
        return Ok(Form::Plain);
    }
    for range in accepted.split(',') {
        let mut parts = range.split(';').map(str::trim);
        let media = parts.next().unwrap_or_default();
        if !matches!(media, "application/json" | "*/*" | "application/yaml") {
            continue;
        }
        let mut form = Some(Form::Plain);
        for parameter in parts {
            match parameter.split_once('=') {
                Some(("as", "Table")) => form = Some(Form::Table),
                Some(("as", "PartialObjectMetadata")) if !many => form = Some(Form::Metadata),
                Some(("as", "PartialObjectMetadataList")) if many => form = Some(Form::Metadata),
                Some(("as", "APIGroupDiscoveryList")) => form = Some(Form::Aggregated),
                Some(("as", _)) => form = None,
                // Only the current version of discovery and of tables.
                Some(("v", "v2")) if form == Some(Form::Table) => form = None,
                Some(("v", version)) if !matches!(version, "v1" | "v2") => form = None,
                _ => {}
            }
            if form.is_none() {
                break;
            }
        }
        if let Some(form) = form {
            return Ok(form);
        }
    }
    let message = "only the following media types are accepted: application/json";
    Err(ApiError::new(406, "NotAcceptable", message))
}

/// The kinds of patch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PatchType {
    /// RFC 6902.
    Json,
    /// RFC 7386.
    Merge,
    /// Kubernetes' own, by the merge keys of built-in kinds.
    Strategic,
    /// Server-side apply.
    Apply,
}

fn media(headers: &HeaderMap) -> &str {
    let value = headers.get(CONTENT_TYPE).and_then(|v| v.to_str().ok()).unwrap_or_default();
    value.split(';').next().unwrap_or_default().trim()
}

fn unsupported(accepted: &str) -> ApiError {
    let message = format!(
        "the body of the request was in an unknown format - accepted media types include: {accepted}"
    );
    ApiError::new(415, "UnsupportedMediaType", message)
}

/// Custom kinds have no strategic merge patch.
pub fn no_strategic() -> ApiError {
    unsupported("application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml")
}

/// The kind of patch that the content type names.
pub fn patch_type(headers: &HeaderMap) -> Result<PatchType> {
    match media(headers) {
        "application/json-patch+json" => Ok(PatchType::Json),
        "application/merge-patch+json" => Ok(PatchType::Merge),
        "application/strategic-merge-patch+json" => Ok(PatchType::Strategic),
        "application/apply-patch+yaml" => Ok(PatchType::Apply),
        _ => Err(unsupported(
            "application/json-patch+json, application/merge-patch+json, application/strategic-merge-patch+json, application/apply-patch+yaml",
        )),
    }
}

/// Reads a body that holds an object.
pub fn object(headers: &HeaderMap, body: &[u8]) -> Result<Value> {
    match media(headers) {
        "" | "application/json" => json(body),
        "application/yaml" => yaml(body),
        "application/vnd.kubernetes.protobuf" => protobuf::read(body),
        _ => Err(unsupported("application/json, application/yaml")),
    }
}

/// Reads JSON.
pub fn json(body: &[u8]) -> Result<Value> {
    serde_json::from_slice(body)
        .map_err(|e| ApiError::bad_request(format!("couldn't get version/kind; json parse error: {e}")))
}

/// Reads YAML, of which JSON is a part.
pub fn yaml(body: &[u8]) -> Result<Value> {
    // Most clients send JSON here, which is much faster to read.
    if let Ok(value) = serde_json::from_slice(body) {
        return Ok(value);
    }
    // The time that YAML takes grows with the square of its depth, so depth is bounded before it is read.
    if brackets(body) > DEEPEST {
        return Err(ApiError::bad_request(format!("error decoding YAML: deeper than {DEEPEST} levels")));
    }
    serde_yaml::from_slice(body).map_err(|e| ApiError::bad_request(format!("error decoding YAML: {e}")))
}

/// How deep a body may be: what the JSON reader takes too.
const DEEPEST: usize = 128;

/// How many brackets are open at once, at most. Those in texts count too: no manifest has so many of them.
fn brackets(body: &[u8]) -> usize {
    let (mut open, mut most) = (0_usize, 0);
    for byte in body {
        match byte {
            b'{' | b'[' => open += 1,
            b'}' | b']' => open = open.saturating_sub(1),
            _ => {}
        }
        most = most.max(open);
    }
    most
}

#[cfg(test)]
mod tests {
    use super::*;

    fn accept(value: &str) -> Result<Form> {
        let mut headers = HeaderMap::new();
        headers.insert(ACCEPT, value.parse().unwrap());
        form(&headers, false)
    }

    #[test]
    fn json_is_found_behind_protobuf() {
        assert_eq!(accept("application/vnd.kubernetes.protobuf, */*").unwrap(), Form::Plain);
        let kubectl = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json;as=Table;v=v1beta1;g=meta.k8s.io,application/json";
        assert_eq!(accept(kubectl).unwrap(), Form::Table);
        assert_eq!(
            accept("application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1").unwrap(),
            Form::Metadata
        );
        let discovery =
            "application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList,application/json";
        assert_eq!(accept(discovery).unwrap(), Form::Plain);
        assert_eq!(accept("application/vnd.kubernetes.protobuf").unwrap_err().code, 406);
    }

    #[test]
    fn bodies_that_nobody_can_read_are_refused() {
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_TYPE, "application/vnd.kubernetes.protobuf".parse().unwrap());
        assert_eq!(object(&headers, b"x").unwrap_err().code, 400);
        assert_eq!(object(&headers, b"k8s\0x").unwrap_err().code, 415);
        assert_eq!(patch_type(&headers).unwrap_err().code, 415);
    }
}
