//! Admission of pod resizes: what a node could never hold is refused at once.
use serde_json::{Value, json};

use super::quantity;
use crate::api::Server;
use crate::api::error::{ApiError, Named, Result};
use crate::api::store::Key;
use crate::api::value::{list, text};

/// Refuses a resize when the node is unknown, runs another system, or has less than the pod would ask for.
pub fn admit(server: &Server, pod: &Value) -> Result<()> {
    let name = text(pod, &["metadata", "name"]);
    let node_name = text(pod, &["spec", "nodeName"]);
    // Before it has a node, any size may be wished for.
    if node_name.is_empty() {
        return Ok(());
    }
    let refuse = |why: &str, cause: Option<&str>| {
        let mut error = ApiError::forbidden(Named { group: "", name: "pods" }, name, why);
        if let (Some(cause), Some(details)) = (cause, &mut error.details) {
            details["causes"] = json!([{ "reason": cause }]);
        }
        Err(error)
    };
    let kinds = server.registry().kinds();
    let stored = kinds.find("", "v1", "nodes").and_then(|nodes| nodes.shelf.get(&Key::new("", node_name)));
    let Some(node) = stored.map(|stored| stored.value()) else {
        return refuse(&format!("node {node_name:?} not found"), None);
    };
    let system = text(&node, &["metadata", "labels", "kubernetes.io/os"]);
    if !matches!(system, "" | "linux") {
        let why = format!("pod resize is only supported on linux nodes, node {node_name:?} is {system:?}");
        return refuse(&why, Some("UnsupportedPlatform"));
    }
    let mut short = Vec::new();
    // Amounts are in billionths: cpu is told in thousandths, memory whole, both rounded up.
    for (resource, unit) in [("cpu", 1_000_000), ("memory", 1_000_000_000)] {
        let wanted = requested(pod, resource);
        let there = quantity::parse(text(&node, &["status", "allocatable", resource])).unwrap_or(0);
        if wanted > there {
            let shown = |n: i128| (n + unit - 1) / unit;
            short.push(format!("{resource}, requested: {}, allocatable: {}", shown(wanted), shown(there)));
        }
    }
    if short.is_empty() {
        return Ok(());
    }
    let why = format!("node didn't have enough allocatable resources: {}", short.join("; "));
    refuse(&why, Some("NodeCapacity"))
}

/// What the containers ask for together, or a single one while the pod starts, if that is more.
fn requested(pod: &Value, resource: &str) -> i128 {
    let of = |container: &Value| {
        quantity::parse(text(container, &["resources", "requests", resource])).unwrap_or(0)
    };
    let together: i128 = list(pod, &["spec", "containers"]).iter().map(of).sum();
    let starting = list(pod, &["spec", "initContainers"]).iter().map(of).max().unwrap_or(0);
    together.max(starting)
}
