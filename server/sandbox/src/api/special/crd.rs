//! CustomResourceDefinitions: names accepted and versions served as soon as they are written.
use serde_json::{Value, json};

use crate::api::kinds::custom_resources;
use crate::api::value::{list, remove, set, set_default, text};
use crate::api::{Clock, Server};

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
    let mut conditions = vec![
        condition("NamesAccepted", names_reason, &names_message),
        condition("Established", reason, message),
    ];
    conditions.extend(before.iter().filter(|c| text(c, &["type"]) == "Terminating").cloned());
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

/// What holds a definition until its objects are gone.
const CLEANUP: &str = "customresourcecleanup.apiextensions.k8s.io";

/// The objects of a kind go before its definition does.
pub fn hold_deletion(crd: &mut Value) {
    let deleting = !text(crd, &["metadata", "deletionTimestamp"]).is_empty();
    let mut finalizers = list(crd, &["metadata", "finalizers"]).to_vec();
    if !deleting && !finalizers.iter().any(|f| f == CLEANUP) {
        finalizers.push(CLEANUP.into());
        set(crd, &["metadata", "finalizers"], finalizers);
    }
}

/// Says that the objects are about to be deleted.
pub fn mark_deleting(clock: &Clock, crd: &mut Value) {
    let mut conditions = list(crd, &["status", "conditions"]).to_vec();
    conditions.push(json!({
        "type": "Terminating", "status": "True", "reason": "InstanceDeletionPending", "lastTransitionTime": clock.seconds(),
        "message": "CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon",
    }));
    set(crd, &["status", "conditions"], conditions);
}

/// Whether a definition waits for its objects to go.
pub fn is_terminating(crd: &Value) -> bool {
    !text(crd, &["metadata", "deletionTimestamp"]).is_empty()
        && list(crd, &["metadata", "finalizers"]).iter().any(|f| f == CLEANUP)
}

/// Lets a definition go whose objects are gone.
pub fn release(crd: &mut Value) {
    let mut finalizers = list(crd, &["metadata", "finalizers"]).to_vec();
    finalizers.retain(|f| f != CLEANUP);
    if finalizers.is_empty() {
        remove(crd, &["metadata", "finalizers"]);
    } else {
        set(crd, &["metadata", "finalizers"], finalizers);
    }
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
