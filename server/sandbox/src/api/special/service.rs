//! Services: cluster addresses, node ports, and what must not change.
use std::collections::HashSet;
use std::ops::RangeInclusive;

use serde_json::{Value, json};

use crate::api::Server;
use crate::api::error::FieldError;
use crate::api::store::{PageQuery, Stored};
use crate::api::value::{at, carry, int, list, remove, set, set_default, text};

/// Ports that nodes may open for services (`--service-node-port-range`).
const NODE_PORTS: RangeInclusive<i64> = 30_000..=32_767;

fn kind(object: &Value) -> &str {
    text(object, &["spec", "type"])
}

/// Whether nodes open ports for it.
fn has_node_ports(object: &Value) -> bool {
    match kind(object) {
        "NodePort" => true,
        "LoadBalancer" => at(object, &["spec", "allocateLoadBalancerNodePorts"]) != Some(&Value::Bool(false)),
        _ => false,
    }
}

fn each_port(object: &mut Value, mut change: impl FnMut(&mut Value)) {
    if let Some(Value::Array(ports)) = object.get_mut("spec").and_then(|spec| spec.get_mut("ports")) {
        ports.iter_mut().for_each(&mut change);
    }
}

/// What follows from the type: ports lead to ports of the same number unless they say otherwise.
pub fn fill_defaults(object: &mut Value) {
    each_port(object, |port| {
        if let Some(number) = port.get("port").cloned() {
            set_default(port, &["targetPort"], number);
        }
    });
    match kind(object) {
        "ExternalName" => drop(remove(object, &["spec", "internalTrafficPolicy"])),
        "NodePort" => set_default(object, &["spec", "externalTrafficPolicy"], "Cluster"),
        "LoadBalancer" => {
            set_default(object, &["spec", "externalTrafficPolicy"], "Cluster");
            set_default(object, &["spec", "allocateLoadBalancerNodePorts"], true);
        }
        _ => {}
    }
}

/// Gives a service an address and ports of its own.
pub fn allocate(server: &Server, object: &mut Value) {
    let others = others(server, object);
    if kind(object) == "ExternalName" {
        return;
    }
    if text(object, &["spec", "clusterIP"]).is_empty() {
        let taken: HashSet<&str> = others.iter().filter_map(|s| s.fields.first().map(|ip| &**ip)).collect();
        let free = (1..65_000_u32)
            .map(|n| format!("10.96.{}.{}", n >> 8, n & 255))
            .find(|ip| !taken.contains(ip.as_str()));
        if let Some(ip) = free {
            set(object, &["spec", "clusterIP"], ip);
        }
    }
    let ip = text(object, &["spec", "clusterIP"]).to_owned();
    if !ip.is_empty() {
        set_default(object, &["spec", "clusterIPs"], vec![ip]);
        set_default(object, &["spec", "ipFamilies"], vec!["IPv4"]);
        set_default(object, &["spec", "ipFamilyPolicy"], "SingleStack");
    }
    if has_node_ports(object) {
        let mut taken: HashSet<i64> = others.iter().flat_map(|s| node_ports(&s.value())).collect();
        taken.extend(node_ports(object));
        each_port(object, |port| {
            if int(port, &["nodePort"]).unwrap_or(0) == 0
                && let Some(free) = NODE_PORTS.into_iter().find(|port| !taken.contains(port))
            {
                taken.insert(free);
                set(port, &["nodePort"], free);
            }
        });
    }
}

fn node_ports(service: &Value) -> Vec<i64> {
    list(service, &["spec", "ports"]).iter().filter_map(|port| int(port, &["nodePort"])).collect()
}

/// The services besides this one.
fn others(server: &Server, object: &Value) -> Vec<std::sync::Arc<Stored>> {
    let uid = text(object, &["metadata", "uid"]);
    let kinds = server.registry().kinds();
    let Some(services) = kinds.find("", "v1", "services") else { return Vec::new() };
    services.shelf.page(&PageQuery::default(), |s| &*s.uid != uid).map(|page| page.items).unwrap_or_default()
}

/// An update that leaves addresses and node ports out keeps them; a change of the type gives up what it no longer has.
pub fn keep_addresses(server: &Server, old: &Value, new: &mut Value) {
    if kind(new) == "ExternalName" && kind(old) != "ExternalName" {
        for key in ["clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy"] {
            if at(new, &["spec", key]) == at(old, &["spec", key]) {
                remove(new, &["spec", key]);
            }
        }
    } else if kind(new) != "ExternalName" {
        for key in ["clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy"] {
            if at(new, &["spec", key]).is_none() {
                carry(old, new, &["spec", key]);
            }
        }
    }
    if !has_node_ports(new) && has_node_ports(old) {
        let before = node_ports(old);
        each_port(new, |port| {
            if int(port, &["nodePort"]).is_some_and(|n| before.contains(&n)) {
                remove(port, &["nodePort"]);
            }
        });
    }
    if has_node_ports(new) {
        let before = list(old, &["spec", "ports"]).to_vec();
        each_port(new, |port| {
            let same =
                before.iter().find(|b| ["port", "protocol"].iter().all(|key| b.get(*key) == port.get(*key)));
            if let Some(number) = same.and_then(|b| b.get("nodePort")) {
                set_default(port, &["nodePort"], number.clone());
            }
        });
    }
    if !matches!(kind(new), "NodePort" | "LoadBalancer")
        && at(new, &["spec", "externalTrafficPolicy"]) == at(old, &["spec", "externalTrafficPolicy"])
    {
        remove(new, &["spec", "externalTrafficPolicy"]);
    }
    if kind(new) != "LoadBalancer"
        && at(new, &["spec", "allocateLoadBalancerNodePorts"])
            == at(old, &["spec", "allocateLoadBalancerNodePorts"])
    {
        remove(new, &["spec", "allocateLoadBalancerNodePorts"]);
    }
    allocate(server, new);
}

/// What is wrong with a service.
pub fn validate(object: &Value) -> Vec<FieldError> {
    let mut errors = Vec::new();
    let ports = list(object, &["spec", "ports"]);
    let headless = text(object, &["spec", "clusterIP"]) == "None";
    if ports.is_empty() && !headless && kind(object) != "ExternalName" {
        errors.push(FieldError::required("spec.ports", ""));
    }
    if kind(object) == "ExternalName" && text(object, &["spec", "externalName"]).is_empty() {
        errors.push(FieldError::required("spec.externalName", ""));
    }
    if !matches!(kind(object), "ClusterIP" | "NodePort" | "LoadBalancer" | "ExternalName") {
        let known = ["ClusterIP", "ExternalName", "LoadBalancer", "NodePort"].map(str::to_owned);
        errors.push(FieldError::not_supported("spec.type", kind(object), &known));
    }
    let mut names = HashSet::new();
    for (i, port) in ports.iter().enumerate() {
        let place = |key: &str| format!("spec.ports[{i}].{key}");
        let name = text(port, &["name"]);
        if name.is_empty() && ports.len() > 1 {
            errors.push(FieldError::required(place("name"), ""));
        } else if !name.is_empty() && !names.insert(name) {
            errors.push(FieldError::duplicate(place("name"), name));
        }
        match int(port, &["port"]) {
            Some(n) if (1..=65535).contains(&n) => {}
            n => {
                let why = "must be between 1 and 65535, inclusive";
                errors.push(FieldError::invalid(place("port"), n.unwrap_or(0), why));
            }
        }
        if let Some(n) = int(port, &["targetPort"]).filter(|n| !(1..=65535).contains(n)) {
            errors.push(FieldError::invalid(
                place("targetPort"),
                n,
                "must be between 1 and 65535, inclusive",
            ));
        }
        if !matches!(text(port, &["protocol"]), "TCP" | "UDP" | "SCTP") {
            let known = ["SCTP", "TCP", "UDP"].map(str::to_owned);
            errors.push(FieldError::not_supported(place("protocol"), text(port, &["protocol"]), &known));
        }
        let number = int(port, &["nodePort"]).unwrap_or(0);
        if number != 0 && matches!(kind(object), "ClusterIP") {
            errors
                .push(FieldError::forbidden(place("nodePort"), "may not be used when `type` is 'ClusterIP'"));
        }
    }
    errors
}

/// What is wrong with the status of a service.
pub fn validate_status(object: &Value) -> Vec<FieldError> {
    let ingress = ["status", "loadBalancer", "ingress"];
    if kind(object) == "LoadBalancer" || list(object, &ingress).is_empty() {
        return Vec::new();
    }
    vec![FieldError::forbidden(ingress.join("."), "may only be used when `spec.type` is 'LoadBalancer'")]
}

/// What is wrong with the ports that a service wants on nodes. The real server asks its allocator, so a dry run is not told.
pub fn validate_node_ports(server: &Server, object: &Value) -> Vec<FieldError> {
    let mut errors = Vec::new();
    if !has_node_ports(object) {
        return errors;
    }
    let taken: HashSet<i64> = others(server, object).iter().flat_map(|s| node_ports(&s.value())).collect();
    for (i, port) in list(object, &["spec", "ports"]).iter().enumerate() {
        let Some(number) = int(port, &["nodePort"]).filter(|n| *n != 0) else { continue };
        let place = format!("spec.ports[{i}].nodePort");
        if !NODE_PORTS.contains(&number) {
            let why = "provided port is not in the valid range. The range of valid ports is 30000-32767";
            errors.push(FieldError::invalid(place, number, why));
        } else if taken.contains(&number) {
            errors.push(FieldError::invalid(place, number, "provided port is already allocated"));
        }
    }
    errors
}

/// The address stays, once there is one.
pub fn validate_update(object: &Value, old: &Value) -> Vec<FieldError> {
    let mut errors = Vec::new();
    let was = text(old, &["spec", "clusterIP"]);
    if !was.is_empty() && was != text(object, &["spec", "clusterIP"]) && kind(object) != "ExternalName" {
        let value = text(object, &["spec", "clusterIP"]);
        errors.push(FieldError::invalid("spec.clusterIPs[0]", json!([value]), "may not change once set"));
    }
    errors
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn node_ports_are_given_kept_and_taken_away() {
        let server = Server::new();
        let mut service = json!({"metadata": {"uid": "a"}, "spec": {"type": "NodePort", "ports": [
            {"port": 80, "protocol": "TCP", "name": "a"}, {"port": 81, "protocol": "TCP", "name": "b", "nodePort": 30_000}]}});
        fill_defaults(&mut service);
        allocate(&server, &mut service);
        assert_eq!(node_ports(&service), [30_001, 30_000]);
        assert!(validate(&service).is_empty() && validate_node_ports(&server, &service).is_empty());
        let mut inside = service.clone();
        inside["spec"]["type"] = "ClusterIP".into();
        keep_addresses(&server, &service, &mut inside);
        assert!(node_ports(&inside).is_empty() && at(&inside, &["spec", "externalTrafficPolicy"]).is_none());
        service["spec"]["ports"][0]["nodePort"] = 80.into();
        assert_eq!(validate_node_ports(&server, &service)[0].field, "spec.ports[0].nodePort");
    }
}
