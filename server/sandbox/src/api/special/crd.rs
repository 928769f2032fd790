//! CustomResourceDefinitions: names accepted and versions served as soon as they are written.
use serde_json::{Value, json};

use crate::api::Server;
use crate::api::error::FieldError;
use crate::api::kinds::custom_resources;
use crate::api::schema::structural_errors;
use crate::api::validate::names;
use crate::api::value::{at, list, set, set_default, text};

/// Names that follow from the kind.
pub fn fill_names(crd: &mut Value) {
    let kind = text(crd, &["spec", "names", "kind"]).to_owned();
    for (key, name) in [("singular", kind.to_lowercase()), ("listKind", format!("{kind}List"))] {
        if !kind.is_empty() && text(crd, &["spec", "names", key]).is_empty() {
            set(crd, &["spec", "names", key], name);
        }
    }
    set_default(crd, &["spec", "conversion"], json!({ "strategy": "None" }));
}

/// Writes the conditions that a controller of the real server would write a moment later.
pub fn prepare(server: &Server, crd: &mut Value) {
    let clash = clash(server, crd);
    let now = server.clock().seconds();
    let status = |ok: bool| if ok { "True" } else { "False" };
    let (names_reason, names_message) = match &clash {
        None => ("NoConflicts", "no conflicts found".to_owned()),
        Some(why) => ("NameConflict", why.clone()),
    };
    let (reason, message) = match &clash {
        None => ("InitialNamesAccepted", "the initial names have been accepted"),
        Some(_) => ("NotAccepted", "not all names are accepted"),
    };
    let before = list(crd, &["status", "conditions"]).to_vec();
    let condition = |kind: &str, reason: &str, message: &str| {
        let same = before
            .iter()
            .find(|c| text(c, &["type"]) == kind && text(c, &["status"]) == status(clash.is_none()));
        let since = same.map_or(now.as_str(), |c| text(c, &["lastTransitionTime"]));
        json!({ "type": kind, "status": status(clash.is_none()), "reason": reason, "message": message, "lastTransitionTime": since })
    };
    let conditions = vec![
        condition("NamesAccepted", names_reason, &names_message),
        condition("Established", reason, message),
    ];
    set(crd, &["status", "conditions"], conditions);
    let accepted =
        if clash.is_none() { crd["spec"]["names"].clone() } else { json!({ "plural": "", "kind": "" }) };
    set(crd, &["status", "acceptedNames"], accepted);
    let mut stored = list(crd, &["status", "storedVersions"]).to_vec();
    for version in list(crd, &["spec", "versions"]) {
        if version["storage"] == true && !stored.contains(&version["name"]) {
            stored.push(version["name"].clone());
        }
    }
    set(crd, &["status", "storedVersions"], stored);
}

/// Another CRD that has one of the names already.
fn clash(server: &Server, crd: &Value) -> Option<String> {
    let group = text(crd, &["spec", "group"]);
    let own = text(crd, &["metadata", "name"]);
    let wanted = &crd["spec"]["names"];
    server.registry().kinds().all().find_map(|other| {
        let foreign = other.gvk.group == group && other.custom.as_ref().is_none_or(|c| c.crd != own);
        if !foreign {
            return None;
        }
        if other.plural == text(wanted, &["plural"]) {
            Some(format!("{:?} is already in use", other.plural))
        } else if other.gvk.kind == text(wanted, &["kind"]) {
            Some(format!("{:?} is already in use", other.gvk.kind))
        } else {
            None
        }
    })
}

/// What is wrong with a CRD.
pub fn validate(crd: &Value, old: Option<&Value>) -> Vec<FieldError> {
    let mut errors = Vec::new();
    let (group, plural) = (text(crd, &["spec", "group"]), text(crd, &["spec", "names", "plural"]));
    let name = text(crd, &["metadata", "name"]);
    if name != format!("{plural}.{group}") {
        errors.push(FieldError::invalid("metadata.name", name, "must be spec.names.plural+\".\"+spec.group"));
    }
    if group.is_empty() {
        errors.push(FieldError::required("spec.group", ""));
    } else if !group.contains('.') {
        errors.push(FieldError::invalid("spec.group", group, "should be a domain with at least one dot"));
    }
    for key in ["plural", "kind", "singular"] {
        let value = text(crd, &["spec", "names", key]).to_lowercase();
        if value.is_empty() {
            errors.push(FieldError::required(format!("spec.names.{key}"), ""));
        } else if let Err(why) = names::dns1035(&value) {
            errors.push(FieldError::invalid(format!("spec.names.{key}"), value, why));
        }
    }
    let scope = text(crd, &["spec", "scope"]);
    if !matches!(scope, "Namespaced" | "Cluster") {
        let known = ["Cluster", "Namespaced"].map(str::to_owned);
        errors.push(FieldError::not_supported("spec.scope", scope, &known));
    }
    let versions = list(crd, &["spec", "versions"]);
    if versions.iter().filter(|v| v["storage"] == true).count() != 1 {
        let detail = "must have exactly one version marked as storage version";
        errors.push(FieldError::invalid("spec.versions", Value::Array(versions.to_vec()), detail));
    }
    for (i, version) in versions.iter().enumerate() {
        let path = format!("spec.versions[{i}]");
        if let Err(why) = names::dns1035(text(version, &["name"])) {
            errors.push(FieldError::invalid(format!("{path}.name"), text(version, &["name"]), why));
        }
        match at(version, &["schema", "openAPIV3Schema"]) {
            None => {
                errors.push(FieldError::required(
                    format!("{path}.schema.openAPIV3Schema"),
                    "schemas are required",
                ));
            }
            Some(schema) => {
                errors.extend(structural_errors(schema, &format!("{path}.schema.openAPIV3Schema")));
            }
        }
    }
    if let Some(old) = old {
        for path in [&["spec", "group"][..], &["spec", "scope"], &["spec", "names", "plural"]] {
            if at(old, path) != at(crd, path) {
                let value = at(crd, path).cloned().unwrap_or_default();
                errors.push(FieldError::invalid(path.join("."), value, "field is immutable"));
            }
        }
    }
    errors
}

/// Serves what a CRD defines, if its names were accepted.
pub fn register(server: &Server, crd: &Value) {
    let established = list(crd, &["status", "conditions"])
        .iter()
        .any(|c| c["type"] == "Established" && c["status"] == "True");
    let resources = if established { custom_resources(crd, server.store()) } else { Vec::new() };
    server.registry().set_crd(text(crd, &["metadata", "name"]), resources);
}

/// Removes a kind and its objects.
pub fn unregister(server: &Server, crd: &Value) {
    let name = text(crd, &["metadata", "name"]);
    server.registry().set_crd(name, Vec::new());
    let shelf = server.store().shelf(name);
    // Watchers see every object go before their watch ends.
    shelf.clear();
    server.store().drop_shelf(name);
}
