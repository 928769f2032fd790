//! Deleting many objects at once.
use axum::body::Body;
use http::{Response, StatusCode};
use serde_json::{Value, json};

use super::context::Context;
use super::delete::{DeleteOptions, delete_key};
use super::list::Selection;
use crate::api::error::{ApiError, Result};
use crate::api::http::answer;
use crate::api::store::PageQuery;

/// DELETE of a collection: every selected object, each as if it had been named.
pub fn delete(context: &Context<'_>, body: &[u8]) -> Result<Response<Body>> {
    let options = DeleteOptions::read(context, body)?;
    let selection = Selection::of(context)?;
    let query = PageQuery { namespace: selection.namespace.clone(), ..PageQuery::default() };
    let page = context
        .resource
        .shelf
        .page(&query, |object| selection.matches(object))
        .map_err(|_| ApiError::expired("the list is too old"))?;
    let mut items: Vec<Value> = Vec::with_capacity(page.items.len());
    for stored in &page.items {
        match delete_key(context, &stored.key, &options) {
            Ok(_) => items.push(context.show(stored)),
            // Somebody else was faster.
            Err(error) if error.code == 404 => {}
            Err(error) => return Err(error),
        }
    }
    let resource = &context.resource;
    let list = json!({
        "apiVersion": resource.gvk.api_version(), "kind": resource.list_kind,
        "metadata": { "resourceVersion": context.server.revision().to_string() }, "items": items,
    });
    Ok(answer::json(StatusCode::OK, &list))
}
