//! Listing objects: pages of a consistent snapshot, streamed without copying the objects.
use axum::body::Body;
use bytes::{Bytes, BytesMut};
use http::{Response, StatusCode};
use serde_json::{Value, json};

use super::context::Context;
use crate::api::error::{ApiError, FieldError, Result};
use crate::api::http::negotiate::Form;
use crate::api::http::query::VersionMatch;
use crate::api::http::selectors::{FieldSelector, LabelSelector};
use crate::api::http::{answer, chunks};
use crate::api::store::{Key, Page, PageQuery, Stored};
use crate::api::{special, table};

/// Which objects a request is about.
#[derive(Debug, Clone)]
pub struct Selection {
    pub namespace: Option<String>,
    pub name: Option<String>,
    pub labels: LabelSelector,
    pub fields: FieldSelector,
}

impl Selection {
    pub fn of(context: &Context<'_>) -> Result<Self> {
        Ok(Self {
            namespace: context.target.namespace.clone(),
            name: context.target.name.clone(),
            labels: LabelSelector::parse(&context.options.label_selector)?,
            fields: FieldSelector::parse(&context.options.field_selector, &context.resource.selectable)?,
        })
    }

    /// Whether an object in the right namespace is selected.
    pub fn matches(&self, object: &Stored) -> bool {
        self.name.as_deref().is_none_or(|name| *object.key.name == *name)
            && self.labels.matches(&object.labels)
            && self.fields.matches(object)
    }

    /// Whether an object is selected.
    pub fn covers(&self, object: &Stored) -> bool {
        self.namespace.as_deref().is_none_or(|namespace| *object.key.namespace == *namespace)
            && self.matches(object)
    }

    fn is_all(&self) -> bool {
        self.labels.is_empty() && self.fields.is_empty()
    }
}

/// GET of a collection.
pub fn list(context: &Context<'_>) -> Result<Response<Body>> {
    let selection = Selection::of(context)?;
    let options = &context.options;
    if options.send_initial_events.is_some() {
        return Err(forbidden_option("sendInitialEvents", "sendInitialEvents is forbidden for list"));
    }
    if options.continue_token.is_some() && options.version_match.is_some() {
        let why = "resourceVersionMatch is forbidden when continue is provided";
        return Err(forbidden_option("resourceVersionMatch", why));
    }
    // Any version will do then, and the real server takes it from a cache that knows no pages.
    let limit = if options.resource_version == Some(0) { 0 } else { options.limit };
    let (at, after) = match &options.continue_token {
        Some(token) => {
            let (revision, key) = read_token(token)?;
            (Some(revision), Some(key))
        }
        None => (exact_version(context)?, None),
    };
    let query = PageQuery { namespace: selection.namespace.clone(), after, at, limit };
    let page = context.resource.shelf.page(&query, |object| selection.matches(object)).map_err(|_| {
        ApiError::expired(if options.continue_token.is_some() {
            "The provided continue parameter is too old to display a consistent list result. You can start a new list without the continue parameter."
        } else {
            "The resourceVersion for the provided list is too old."
        })
    })?;
    let mut metadata = json!({ "resourceVersion": page.revision.to_string() });
    if let Some(key) = &page.more {
        metadata["continue"] = write_token(page.revision, key).into();
        if selection.is_all() {
            metadata["remainingItemCount"] = page.remaining.into();
        }
    }
    Ok(render(context, &page, &metadata))
}

/// The revision of a list that must show exactly one; refuses revisions that lie in the future.
fn exact_version(context: &Context<'_>) -> Result<Option<u64>> {
    let options = &context.options;
    let exact = options.version_match == Some(VersionMatch::Exact);
    if exact && options.resource_version == Some(0) {
        let detail = "resourceVersionMatch \"exact\" is forbidden for resourceVersion \"0\"";
        return Err(forbidden_option("resourceVersionMatch", detail));
    }
    if options.version_match.is_some() && options.resource_version.is_none() {
        let detail = "resourceVersionMatch is forbidden unless resourceVersion is provided";
        let error = FieldError::forbidden("resourceVersionMatch", detail);
        return Err(ApiError::invalid_options("ListOptions", "meta.k8s.io", &error));
    }
    let Some(wanted) = options.resource_version.filter(|v| *v > 0) else { return Ok(None) };
    let current = context.server.revision();
    if wanted > current {
        return Err(too_new(wanted, current));
    }
    // Without a match rule a limited list shows exactly that version; otherwise anything at least as new will do.
    Ok((exact || (options.version_match.is_none() && options.limit > 0)).then_some(wanted))
}

/// An option that may not be given here.
pub fn forbidden_option(name: &str, why: &str) -> ApiError {
    ApiError::invalid_options("ListOptions", "meta.k8s.io", &FieldError::forbidden(name, why))
}

/// The answer to a version that does not exist yet.
pub fn too_new(wanted: u64, current: u64) -> ApiError {
    let message = format!("Too large resource version: {wanted}, current: {current}");
    let mut error = ApiError::new(504, "Timeout", format!("Timeout: {message}"));
    error.details = Some(json!({
        "causes": [{ "reason": "ResourceVersionTooLarge", "message": "Too large resource version" }],
        "retryAfterSeconds": 1,
    }));
    error
}

fn render(context: &Context<'_>, page: &Page, metadata: &Value) -> Response<Body> {
    let resource = &context.resource;
    match context.form {
        Form::Table => {
            let rows: Vec<Value> = page.items.iter().map(|stored| context.show(stored)).collect();
            answer::json(StatusCode::OK, &table::many(context, &rows, metadata))
        }
        Form::Metadata => {
            let items: Vec<Value> =
                page.items.iter().map(|stored| table::partial_metadata(&context.show(stored))).collect();
            let list = json!({ "kind": "PartialObjectMetadataList", "apiVersion": "meta.k8s.io/v1", "metadata": metadata, "items": items });
            answer::json(StatusCode::OK, &list)
        }
        Form::Plain | Form::Aggregated => {
            let head = format!("{{\"apiVersion\":{:?},\"items\":[", resource.gvk.api_version());
            let tail = format!("],\"kind\":{:?},\"metadata\":{metadata}}}\n", resource.list_kind);
            let items = page.items.iter().map(|stored| special::bytes_in_request_version(resource, stored));
            answer::raw(
                StatusCode::OK,
                "application/json",
                chunks(join(head.as_bytes(), items, tail.as_bytes())),
            )
        }
    }
}

/// The list in chunks of about 64 kB: small enough not to double the memory of a large list, large enough to be cheap.
fn join(head: &[u8], items: impl Iterator<Item = Bytes>, tail: &[u8]) -> Vec<Bytes> {
    const CHUNK: usize = 64 * 1024;
    let mut chunks = Vec::new();
    let mut buffer = BytesMut::from(head);
    for (i, item) in items.enumerate() {
        if i > 0 {
            buffer.extend_from_slice(b",");
        }
        if item.len() > CHUNK / 4 {
            chunks.push(buffer.split().freeze());
            chunks.push(item);
        } else {
            buffer.extend_from_slice(&item);
            if buffer.len() > CHUNK {
                chunks.push(buffer.split().freeze());
            }
        }
    }
    buffer.extend_from_slice(tail);
    chunks.push(buffer.freeze());
    chunks
}

/// A continue token: revision, namespace and name. Letters of URLs only, and opaque enough that nobody builds on it.
fn write_token(revision: u64, key: &Key) -> String {
    let text = format!("{revision}/{}/{}", key.namespace, key.name);
    text.bytes().map(|b| format!("{b:02x}")).collect()
}

fn read_token(token: &str) -> Result<(u64, Key)> {
    let decode = || {
        let bytes: Option<Vec<u8>> = token
            .as_bytes()
            .chunks(2)
            .map(|pair| std::str::from_utf8(pair).ok().and_then(|hex| u8::from_str_radix(hex, 16).ok()))
            .collect();
        let text = String::from_utf8(bytes?).ok()?;
        let mut parts = text.splitn(3, '/');
        let revision = parts.next()?.parse().ok()?;
        Some((revision, Key::new(parts.next()?, parts.next()?)))
    };
    decode().ok_or_else(|| ApiError::bad_request("continue key is not valid"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_come_back_and_nonsense_is_refused() {
        let key = Key::new("a", "b/c");
        assert_eq!(read_token(&write_token(7, &key)).unwrap(), (7, key));
        for bad in ["", "x", "zz", "37", "372f"] {
            assert_eq!(read_token(bad).unwrap_err().code, 400, "{bad}");
        }
    }
}
