//! Discovery: which groups, versions and kinds there are, in the old form and in one document.
use axum::body::Body;
use http::{HeaderMap, HeaderValue, Response, StatusCode};
use serde_json::{Value, json};

use super::error::Result;
use super::http::answer;
use super::http::negotiate::{self, Form};
use super::kinds::{Gvk, Kinds, Resource};

const AGGREGATED: &str = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";

/// `/version`.
pub fn version() -> Value {
    json!({
        "major": "1", "minor": "36", "gitVersion": super::VERSION, "gitCommit": "", "gitTreeState": "clean",
        "buildDate": "1970-01-01T00:00:00Z", "goVersion": "none", "compiler": "rustc",
        "platform": format!("{}/{}", std::env::consts::OS, std::env::consts::ARCH),
        "emulationMajor": "1", "emulationMinor": "36", "minCompatibilityMajor": "1", "minCompatibilityMinor": "35",
    })
}

/// `/api`.
pub fn core(kinds: &Kinds, headers: &HeaderMap) -> Result<Response<Body>> {
    if negotiate::form(headers, false)? == Form::Aggregated {
        return Ok(aggregated(kinds, str::is_empty));
    }
    let versions = json!({
        "kind": "APIVersions", "versions": ["v1"],
        "serverAddressByClientCIDRs": [{ "clientCIDR": "0.0.0.0/0", "serverAddress": "127.0.0.1:443" }],
    });
    Ok(answer::json(StatusCode::OK, &versions))
}

/// `/apis`.
pub fn groups(kinds: &Kinds, headers: &HeaderMap) -> Result<Response<Body>> {
    if negotiate::form(headers, false)? == Form::Aggregated {
        return Ok(aggregated(kinds, |group| !group.is_empty()));
    }
    let named = kinds.groups().iter().filter(|(group, _)| !group.is_empty());
    let groups: Vec<Value> = named.map(|(group, versions)| group_value(group, versions)).collect();
    Ok(answer::json(StatusCode::OK, &json!({ "kind": "APIGroupList", "apiVersion": "v1", "groups": groups })))
}

/// `/apis/GROUP`.
pub fn group(kinds: &Kinds, name: &str) -> Option<Response<Body>> {
    let (group, versions) = kinds.groups().iter().find(|(group, _)| group == name && !group.is_empty())?;
    let mut value = group_value(group, versions);
    value["kind"] = "APIGroup".into();
    value["apiVersion"] = "v1".into();
    Some(answer::json(StatusCode::OK, &value))
}

fn group_value(group: &str, versions: &[String]) -> Value {
    let version = |v: &String| json!({ "groupVersion": format!("{group}/{v}"), "version": v });
    let all: Vec<Value> = versions.iter().map(version).collect();
    json!({ "name": group, "versions": all, "preferredVersion": versions.first().map(version) })
}

/// `/api/v1`, `/apis/GROUP/VERSION`.
pub fn resources(kinds: &Kinds, group: &str, version: &str) -> Option<Response<Body>> {
    let exists =
        kinds.groups().iter().any(|(g, versions)| g == group && versions.iter().any(|v| v == version));
    if !exists {
        return None;
    }
    let mut resources = Vec::new();
    for resource in kinds.of(group, version) {
        let mut entry = json!({
            "name": resource.plural, "singularName": resource.singular, "namespaced": resource.namespaced,
            "kind": resource.gvk.kind, "verbs": resource.verbs,
        });
        own_group(&mut entry, &resource.gvk, group, version);
        if !resource.short_names.is_empty() {
            entry["shortNames"] = json!(resource.short_names);
        }
        if !resource.categories.is_empty() {
            entry["categories"] = json!(resource.categories);
        }
        resources.push(entry);
        for subresource in &resource.subresources {
            let mut entry = json!({
                "name": format!("{}/{}", resource.plural, subresource.name), "singularName": "",
                "namespaced": resource.namespaced, "kind": subresource.kind.kind, "verbs": subresource.verbs,
            });
            own_group(&mut entry, &subresource.kind, group, version);
            resources.push(entry);
        }
    }
    let group_version =
        Gvk { group: group.into(), version: version.into(), kind: String::new() }.api_version();
    let list = json!({
        "kind": "APIResourceList", "apiVersion": "v1", "groupVersion": group_version, "resources": resources,
    });
    Some(answer::json(StatusCode::OK, &list))
}

/// Group and version of a kind are written only where they are not those of the list.
fn own_group(entry: &mut Value, gvk: &Gvk, group: &str, version: &str) {
    if gvk.group != group || gvk.version != version {
        entry["group"] = gvk.group.clone().into();
        entry["version"] = gvk.version.clone().into();
    }
}

fn aggregated(kinds: &Kinds, wanted: impl Fn(&str) -> bool) -> Response<Body> {
    let items: Vec<Value> = kinds
        .groups()
        .iter()
        .filter(|(group, _)| wanted(group))
        .map(|(group, versions)| {
            let versions: Vec<Value> = versions
                .iter()
                .map(|version| {
                    let resources: Vec<Value> =
                        kinds.of(group, version).map(|r| aggregated_resource(r)).collect();
                    json!({ "version": version, "resources": resources, "freshness": "Current" })
                })
                .collect();
            let mut metadata = json!({});
            if !group.is_empty() {
                metadata["name"] = group.clone().into();
            }
            json!({ "metadata": metadata, "versions": versions })
        })
        .collect();
    let list = json!({
        "kind": "APIGroupDiscoveryList", "apiVersion": "apidiscovery.k8s.io/v2", "metadata": {}, "items": items,
    });
    let mut response = answer::json(StatusCode::OK, &list);
    response.headers_mut().insert(http::header::CONTENT_TYPE, HeaderValue::from_static(AGGREGATED));
    response.headers_mut().insert(http::header::VARY, HeaderValue::from_static("Accept"));
    response
}

fn aggregated_resource(resource: &Resource) -> Value {
    let kind = |gvk: &Gvk| json!({ "group": gvk.group, "version": gvk.version, "kind": gvk.kind });
    let mut entry = json!({
        "resource": resource.plural, "responseKind": kind(&resource.gvk), "singularResource": resource.singular,
        "scope": if resource.namespaced { "Namespaced" } else { "Cluster" }, "verbs": resource.verbs,
    });
    if !resource.short_names.is_empty() {
        entry["shortNames"] = json!(resource.short_names);
    }
    if !resource.categories.is_empty() {
        entry["categories"] = json!(resource.categories);
    }
    if !resource.subresources.is_empty() {
        let subresources = resource.subresources.iter();
        let subresources: Vec<Value> = subresources
            .map(|s| json!({ "subresource": s.name, "responseKind": kind(&s.kind), "verbs": s.verbs }))
            .collect();
        entry["subresources"] = subresources.into();
    }
    entry
}
