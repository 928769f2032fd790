//! Objects for people: rows and columns, and metadata alone.
mod cells;
mod path;

use bytes::BytesMut;
use jiff::Timestamp;
use serde_json::{Value, json};

use super::http::negotiate::Form;
use super::store::Stored;
use super::value::text;
use super::verbs::Context;
use super::{Server, special};
use crate::api::kinds::Resource;
use std::sync::Arc;

pub use cells::Column;

/// Columns and cells for one request.
fn columns(resource: &Resource) -> Vec<Column> {
    cells::columns(resource)
}

fn definitions(columns: &[Column]) -> Vec<Value> {
    columns
        .iter()
        .map(|c| {
            json!({ "name": c.name, "type": c.kind, "format": c.format, "description": c.description, "priority": c.priority })
        })
        .collect()
}

fn row(columns: &[Column], object: &Value, now: Timestamp, include: Include) -> Value {
    let cells: Vec<Value> = columns.iter().map(|c| c.cell(object, now)).collect();
    let mut row = json!({ "cells": cells });
    match include {
        Include::Metadata => row["object"] = partial_metadata(object),
        Include::Object => row["object"] = object.clone(),
        Include::None => {}
    }
    row
}

/// How much of an object comes along with its row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Include {
    None,
    Metadata,
    Object,
}

impl Include {
    fn of(context: &Context<'_>) -> Self {
        match context.options.include_object.as_deref() {
            Some("None") => Self::None,
            Some("Object") => Self::Object,
            _ => Self::Metadata,
        }
    }
}

/// A table of many objects.
pub fn many(context: &Context<'_>, objects: &[Value], metadata: &Value) -> Value {
    let columns = columns(&context.resource);
    let (now, include) = (context.server.clock().now(), Include::of(context));
    let rows: Vec<Value> = objects.iter().map(|object| row(&columns, object, now, include)).collect();
    json!({
        "kind": "Table", "apiVersion": "meta.k8s.io/v1", "metadata": metadata,
        "columnDefinitions": definitions(&columns), "rows": rows,
    })
}

/// One object in a form that is not plain.
pub fn one(context: &Context<'_>, object: &Value) -> Value {
    match context.form {
        Form::Metadata => partial_metadata(object),
        Form::Table => {
            let metadata = json!({ "resourceVersion": text(object, &["metadata", "resourceVersion"]) });
            many(context, std::slice::from_ref(object), &metadata)
        }
        Form::Plain | Form::Aggregated => object.clone(),
    }
}

/// An object's metadata alone.
pub fn partial_metadata(object: &Value) -> Value {
    json!({ "kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1", "metadata": object["metadata"] })
}

/// Writes watch events in the form that a client asked for.
pub struct Renderer {
    server: Server,
    resource: Arc<Resource>,
    form: Form,
    include: Include,
    columns: Vec<Column>,
    /// Columns are described in the first event only.
    described: bool,
}

impl Renderer {
    /// The renderer of a request.
    pub fn of(context: &Context<'_>) -> Self {
        let columns = if context.form == Form::Table { columns(&context.resource) } else { Vec::new() };
        Self {
            server: context.server.clone(),
            resource: context.resource.clone(),
            form: context.form,
            include: Include::of(context),
            columns,
            described: false,
        }
    }

    /// Appends one event; `revision` replaces that of the object.
    pub fn event(&mut self, out: &mut BytesMut, kind: &str, stored: &Stored, revision: Option<u64>) {
        out.extend_from_slice(b"{\"type\":\"");
        out.extend_from_slice(kind.as_bytes());
        out.extend_from_slice(b"\",\"object\":");
        match (self.form, revision) {
            (Form::Plain | Form::Aggregated, None) => {
                out.extend_from_slice(&special::bytes_in_request_version(&self.resource, stored));
            }
            (form, revision) => {
                let bytes =
                    revision.map_or_else(|| stored.bytes.clone(), |revision| stored.at_revision(revision));
                let object = serde_json::from_slice(&bytes).unwrap_or_default();
                let object = special::to_request_version(&self.resource, object);
                let shown = match form {
                    Form::Table => self.table(&object),
                    Form::Metadata => partial_metadata(&object),
                    Form::Plain | Form::Aggregated => object,
                };
                out.extend_from_slice(shown.to_string().as_bytes());
            }
        }
        out.extend_from_slice(b"}\n");
    }

    fn table(&mut self, object: &Value) -> Value {
        let definitions = if self.described { Vec::new() } else { definitions(&self.columns) };
        self.described = true;
        json!({
            "kind": "Table", "apiVersion": "meta.k8s.io/v1",
            "metadata": { "resourceVersion": text(object, &["metadata", "resourceVersion"]) },
            "columnDefinitions": definitions,
            "rows": [row(&self.columns, object, self.server.clock().now(), self.include)],
        })
    }

    /// A bookmark: nothing up to this revision is missing.
    pub fn bookmark(&mut self, revision: u64, ends_initial_state: bool) -> Vec<u8> {
        let mut metadata = json!({ "resourceVersion": revision.to_string() });
        if ends_initial_state {
            metadata["annotations"] = json!({ "k8s.io/initial-events-end": "true" });
        }
        let object = match self.form {
            Form::Table => json!({
                "kind": "Table", "apiVersion": "meta.k8s.io/v1", "metadata": metadata, "columnDefinitions": [], "rows": [],
            }),
            Form::Metadata => {
                json!({ "kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1", "metadata": metadata })
            }
            Form::Plain | Form::Aggregated => json!({
                "kind": self.resource.gvk.kind, "apiVersion": self.resource.gvk.api_version(), "metadata": metadata,
            }),
        };
        format!("{}\n", json!({ "type": "BOOKMARK", "object": object })).into_bytes()
    }
}
