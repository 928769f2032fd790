//! OpenAPI, as far as clients need it: schemas of all kinds with their group, version and kind, in both editions.
use axum::body::Body;
use http::{HeaderMap, Response, StatusCode};
use serde_json::{Map, Value, json};

use super::error::{ApiError, Result};
use super::http::answer;
use super::kinds::{Gvk, Kinds, Resource};
use super::schema::builtin;

/// `/openapi/v2` in JSON. kubectl would rather have protobuf, and takes the third edition when it gets 406 here.
pub fn v2(kinds: &Kinds, headers: &HeaderMap) -> Result<Response<Body>> {
    let accepted = headers.get(http::header::ACCEPT).and_then(|v| v.to_str().ok()).unwrap_or_default();
    if !accepted.is_empty() && !accepted.contains("json") && !accepted.contains("*/*") {
        return Err(ApiError::new(406, "NotAcceptable", "only application/json is served"));
    }
    let mut definitions = builtin::raw_definitions().clone();
    for resource in kinds.all().filter(|r| r.custom.is_some()) {
        definitions.insert(definition_name(resource), custom_schema(resource, "#/definitions/"));
    }
    let document = json!({
        "swagger": "2.0", "info": { "title": "Kubernetes", "version": super::VERSION }, "paths": paths(kinds, None),
        "definitions": definitions,
    });
    Ok(answer::json(StatusCode::OK, &document))
}

/// `/openapi/v3`: where the documents are.
pub fn index(kinds: &Kinds) -> Response<Body> {
    let mut paths = Map::new();
    for (group, versions) in kinds.groups() {
        for version in versions {
            let path =
                if group.is_empty() { format!("api/{version}") } else { format!("apis/{group}/{version}") };
            // The URL changes when the kinds do, so that clients may keep a document.
            let hash = kinds.of(group, version).count();
            let url = format!("/openapi/v3/{path}?hash={hash}");
            paths.insert(path, json!({ "serverRelativeURL": url }));
        }
    }
    answer::json(StatusCode::OK, &json!({ "paths": paths }))
}

/// One document of `/openapi/v3`.
pub fn v3(kinds: &Kinds, document: &str) -> Option<Response<Body>> {
    let (group, version) = match document.split('/').collect::<Vec<_>>().as_slice() {
        ["api", version] => (String::new(), (*version).to_owned()),
        ["apis", group, version] => ((*group).to_owned(), (*version).to_owned()),
        _ => return None,
    };
    kinds.groups().iter().find(|(g, versions)| *g == group && versions.contains(&version))?;
    let mut schemas = Map::new();
    for resource in kinds.of(&group, &version) {
        if resource.custom.is_some() {
            let schema = custom_schema(resource, "#/components/schemas/");
            with_references(&schema, &mut schemas);
            schemas.insert(definition_name(resource), schema);
        } else if let Some(name) = builtin_name(&resource.gvk) {
            add(name, &mut schemas);
        }
    }
    let document = json!({
        "openapi": "3.0.0", "info": { "title": "Kubernetes", "version": super::VERSION },
        "paths": paths(kinds, Some((&group, &version))), "components": { "schemas": schemas },
    });
    Some(answer::json(StatusCode::OK, &document))
}

fn builtin_name(gvk: &Gvk) -> Option<&'static str> {
    let wanted = json!({ "group": gvk.group, "version": gvk.version, "kind": gvk.kind });
    builtin::raw_definitions()
        .iter()
        .find(|(_, d)| {
            d["x-kubernetes-group-version-kind"].as_array().is_some_and(|all| all.contains(&wanted))
        })
        .map(|(name, _)| name.as_str())
}

/// Adds a built-in definition and what it refers to, with references of the third edition.
fn add(name: &str, schemas: &mut Map<String, Value>) {
    if schemas.contains_key(name) {
        return;
    }
    let Some(definition) = builtin::raw_definitions().get(name) else { return };
    let mut definition = definition.clone();
    point_to_components(&mut definition);
    schemas.insert(name.to_owned(), definition.clone());
    with_references(&definition, schemas);
}

fn with_references(schema: &Value, schemas: &mut Map<String, Value>) {
    match schema {
        Value::Object(map) => {
            if let Some(name) = map.get("$ref").and_then(Value::as_str) {
                add(name.rsplit('/').next().unwrap_or_default(), schemas);
            }
            map.values().for_each(|child| with_references(child, schemas));
        }
        Value::Array(items) => items.iter().for_each(|child| with_references(child, schemas)),
        _ => {}
    }
}

fn point_to_components(schema: &mut Value) {
    match schema {
        Value::Object(map) => {
            for (key, child) in map.iter_mut() {
                if key == "$ref"
                    && let Some(reference) = child.as_str()
                {
                    *child = reference.replace("#/definitions/", "#/components/schemas/").into();
                } else {
                    point_to_components(child);
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(point_to_components),
        _ => {}
    }
}

/// `io.kruise.game.v1alpha1.GameServer`.
fn definition_name(resource: &Resource) -> String {
    let mut group: Vec<&str> = resource.gvk.group.split('.').collect();
    group.reverse();
    format!("{}.{}.{}", group.join("."), resource.gvk.version, resource.gvk.kind)
}

fn custom_schema(resource: &Resource, prefix: &str) -> Value {
    let mut schema = resource.custom.as_ref().map(|custom| custom.raw_schema.clone()).unwrap_or_default();
    if !schema.is_object() {
        schema = json!({ "type": "object", "x-kubernetes-preserve-unknown-fields": true });
    }
    let meta = format!("{prefix}io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta");
    schema["properties"]["apiVersion"] = json!({ "type": "string" });
    schema["properties"]["kind"] = json!({ "type": "string" });
    schema["properties"]["metadata"] = json!({ "$ref": meta });
    schema["x-kubernetes-group-version-kind"] =
        json!([{ "group": resource.gvk.group, "version": resource.gvk.version, "kind": resource.gvk.kind }]);
    schema
}

/// The paths that kubectl looks at: which kinds take `fieldValidation` and server-side apply.
fn paths(kinds: &Kinds, only: Option<(&str, &str)>) -> Map<String, Value> {
    let mut paths = Map::new();
    for resource in kinds.all() {
        let gvk = &resource.gvk;
        if only.is_some_and(|(group, version)| gvk.group != group || gvk.version != version) {
            continue;
        }
        let base = if gvk.group.is_empty() { "/api/".to_owned() } else { format!("/apis/{}/", gvk.group) };
        let space = if resource.namespaced { "namespaces/{namespace}/" } else { "" };
        let path = format!("{base}{}/{space}{}/{{name}}", gvk.version, resource.plural);
        let kind = json!({ "group": gvk.group, "version": gvk.version, "kind": gvk.kind });
        let parameters: Vec<Value> = ["dryRun", "fieldManager", "fieldValidation", "force"]
            .iter()
            .map(|name| json!({ "name": name, "in": "query", "schema": { "type": "string" }, "type": "string" }))
            .collect();
        let patch = json!({
            "x-kubernetes-action": "patch", "x-kubernetes-group-version-kind": kind, "parameters": parameters,
            "responses": { "200": { "description": "OK" } },
        });
        paths.insert(path, json!({ "patch": patch }));
    }
    paths
}
