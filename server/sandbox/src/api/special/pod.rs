//! Pods: what is filled in, what is refused, what may change.
use std::collections::HashSet;

use serde_json::{Value, json};

use super::quantity;
use crate::api::error::{ApiError, FieldError, Result};
use crate::api::validate::names;
use crate::api::value::{at, carry, int, list, remove, set, set_default, text};

/// Both lists of containers, with their paths.
const CONTAINERS: [&str; 2] = ["initContainers", "containers"];

/// Fills in what depends on other fields; the rest are plain defaults.
pub fn fill_defaults(pod: &mut Value) {
    for group in CONTAINERS {
        if let Some(Value::Array(containers)) = pod.get_mut("spec").and_then(|s| s.get_mut(group)) {
            containers.iter_mut().for_each(fill_requests);
        }
    }
    fill_containers(&mut pod["spec"]);
    set_default(pod, &["spec", "enableServiceLinks"], true);
    if int(pod, &["spec", "terminationGracePeriodSeconds"]).is_some_and(|grace| grace < 0) {
        set(pod, &["spec", "terminationGracePeriodSeconds"], 1);
    }
}

/// What admission adds and a new pod starts with.
pub fn prepare_create(pod: &mut Value) {
    set_default(pod, &["spec", "priority"], 0);
    set_default(pod, &["spec", "preemptionPolicy"], "PreemptLowerPriority");
    add_default_tolerations(pod);
    let qos = qos_class(pod);
    set(pod, &["status"], json!({ "phase": "Pending", "qosClass": qos }));
}

/// Fills in the pull policies of a pod or of a template.
pub fn fill_containers(spec: &mut Value) {
    for group in CONTAINERS {
        if let Some(Value::Array(containers)) = spec.get_mut(group) {
            containers.iter_mut().for_each(fill_pull_policy);
        }
    }
}

fn fill_pull_policy(container: &mut Value) {
    let image = text(container, &["image"]);
    let after_slash = image.rsplit('/').next().unwrap_or_default();
    let name = after_slash.split('@').next().unwrap_or_default();
    let tag = name.split_once(':').map(|(_, tag)| tag);
    let newest = tag == Some("latest") || (tag.is_none() && !after_slash.contains('@'));
    let policy = if newest { "Always" } else { "IfNotPresent" };
    set_default(container, &["imagePullPolicy"], policy);
}

/// A limit without a request is also the request.
fn fill_requests(container: &mut Value) {
    let limits =
        at(container, &["resources", "limits"]).and_then(Value::as_object).cloned().unwrap_or_default();
    for (name, amount) in limits {
        set_default(container, &["resources", "requests", &name], amount);
    }
}

/// Pods stay five minutes on a node that does not answer, unless they say otherwise.
fn add_default_tolerations(pod: &mut Value) {
    for key in ["node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"] {
        let tolerated = list(pod, &["spec", "tolerations"]).iter().any(|t| {
            (text(t, &["key"]) == key || text(t, &["key"]).is_empty())
                && matches!(text(t, &["effect"]), "" | "NoExecute")
        });
        if !tolerated {
            let mut all = list(pod, &["spec", "tolerations"]).to_vec();
            all.push(
                json!({ "key": key, "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300 }),
            );
            set(pod, &["spec", "tolerations"], all);
        }
    }
}

/// Guaranteed, Burstable or BestEffort, by the requests and limits of cpu and memory.
fn qos_class(pod: &Value) -> &'static str {
    let containers: Vec<&Value> = CONTAINERS.iter().flat_map(|group| list(pod, &["spec", group])).collect();
    let amount = |container: &Value, part: &str, name: &str| {
        quantity::parse(text(container, &["resources", part, name])).filter(|n| *n != 0)
    };
    let names = ["cpu", "memory"];
    let any = containers
        .iter()
        .any(|c| names.iter().any(|n| amount(c, "requests", n).or(amount(c, "limits", n)).is_some()));
    let all = containers.iter().all(|c| {
        names
            .iter()
            .all(|n| amount(c, "limits", n).is_some() && amount(c, "limits", n) == amount(c, "requests", n))
    });
    match (any, all) {
        (false, _) => "BestEffort",
        (true, true) => "Guaranteed",
        (true, false) => "Burstable",
    }
}

/// What is wrong with a new pod.
pub fn validate(pod: &Value) -> Vec<FieldError> {
    let mut errors = Vec::new();
    let spec = &pod["spec"];
    let mut volumes = HashSet::new();
    for (i, volume) in list(spec, &["volumes"]).iter().enumerate() {
        let name = text(volume, &["name"]);
        check_name(name, &format!("spec.volumes[{i}].name"), &mut errors);
        if !volumes.insert(name) {
            errors.push(FieldError::duplicate(format!("spec.volumes[{i}].name"), name));
        }
    }
    if list(spec, &["containers"]).is_empty() {
        errors.push(FieldError::required("spec.containers", ""));
    }
    let mut seen = HashSet::new();
    for group in CONTAINERS {
        for (i, container) in list(spec, &[group]).iter().enumerate() {
            let path = format!("spec.{group}[{i}]");
            let name = text(container, &["name"]);
            check_name(name, &format!("{path}.name"), &mut errors);
            if !name.is_empty() && !seen.insert(name) {
                errors.push(FieldError::duplicate(format!("{path}.name"), name));
            }
            validate_container(container, &path, &volumes, &mut errors);
        }
    }
    let one_of = |key: &str, known: &[&str], errors: &mut Vec<FieldError>| {
        let value = text(spec, &[key]);
        if !known.contains(&value) {
            let known: Vec<String> = known.iter().map(|k| (*k).to_owned()).collect();
            errors.push(FieldError::not_supported(format!("spec.{key}"), value, &known));
        }
    };
    one_of("restartPolicy", &["Always", "OnFailure", "Never"], &mut errors);
    one_of("dnsPolicy", &["ClusterFirst", "ClusterFirstWithHostNet", "Default", "None"], &mut errors);
    if let Some(deadline) = int(spec, &["activeDeadlineSeconds"]).filter(|d| *d < 1) {
        errors.push(FieldError::invalid(
            "spec.activeDeadlineSeconds",
            deadline,
            "must be between 1 and 2147483647, inclusive",
        ));
    }
    crate::api::validate::metadata::labels(spec, &["nodeSelector"], "spec.nodeSelector", &mut errors);
    let node = text(spec, &["nodeName"]);
    if !node.is_empty()
        && let Err(why) = names::subdomain(node)
    {
        errors.push(FieldError::invalid("spec.nodeName", node, why));
    }
    errors
}

fn check_name(name: &str, path: &str, errors: &mut Vec<FieldError>) {
    if name.is_empty() {
        errors.push(FieldError::required(path, ""));
    } else if let Err(why) = names::label(name) {
        errors.push(FieldError::invalid(path, name, why));
    }
}

fn validate_container(container: &Value, path: &str, volumes: &HashSet<&str>, errors: &mut Vec<FieldError>) {
    let image = text(container, &["image"]);
    if image.is_empty() {
        errors.push(FieldError::required(format!("{path}.image"), ""));
    } else if image.trim() != image {
        errors.push(FieldError::invalid(
            format!("{path}.image"),
            image,
            "must not have leading or trailing whitespace",
        ));
    }
    for (i, port) in list(container, &["ports"]).iter().enumerate() {
        for (key, required) in [("containerPort", true), ("hostPort", false)] {
            let place = format!("{path}.ports[{i}].{key}");
            match int(port, &[key]) {
                None | Some(0) if required => errors.push(FieldError::required(place, "")),
                None | Some(0) => {}
                Some(n) if !(1..=65535).contains(&n) => {
                    errors.push(FieldError::invalid(place, n, "must be between 1 and 65535, inclusive"));
                }
                Some(_) => {}
            }
        }
        let protocol = text(port, &["protocol"]);
        if !matches!(protocol, "TCP" | "UDP" | "SCTP") {
            let known = ["SCTP", "TCP", "UDP"].map(str::to_owned);
            errors.push(FieldError::not_supported(format!("{path}.ports[{i}].protocol"), protocol, &known));
        }
    }
    for (i, variable) in list(container, &["env"]).iter().enumerate() {
        let name = text(variable, &["name"]);
        let place = format!("{path}.env[{i}].name");
        if name.is_empty() {
            errors.push(FieldError::required(place, ""));
        } else if name.contains('=') || !name.bytes().all(|b| (0x20..0x7f).contains(&b)) {
            let detail = "a valid environment variable name must consist only of printable ASCII characters other than '='";
            errors.push(FieldError::invalid(place, name, detail));
        }
    }
    for (i, mount) in list(container, &["volumeMounts"]).iter().enumerate() {
        let name = text(mount, &["name"]);
        if !volumes.contains(name) {
            let mut error = FieldError::invalid(format!("{path}.volumeMounts[{i}].name"), name, "");
            error.kind = crate::api::error::FieldErrorKind::NotFound;
            errors.push(error);
        }
        if text(mount, &["mountPath"]).is_empty() {
            errors.push(FieldError::required(format!("{path}.volumeMounts[{i}].mountPath"), ""));
        }
    }
    validate_resources(container, path, errors);
}

fn validate_resources(container: &Value, path: &str, errors: &mut Vec<FieldError>) {
    for part in ["limits", "requests"] {
        for (name, amount) in
            at(container, &["resources", part]).and_then(Value::as_object).into_iter().flatten()
        {
            let place = format!("{path}.resources.{part}[{name}]");
            let written = amount.as_str().unwrap_or_default();
            match quantity::parse(written) {
                None => errors.push(FieldError::invalid(place, written, "must be a quantity")),
                Some(n) if n < 0 => {
                    errors.push(FieldError::invalid(place, written, "must be greater than or equal to 0"));
                }
                Some(n) if part == "requests" => {
                    let limit = text(container, &["resources", "limits", name]);
                    if quantity::parse(limit).is_some_and(|limit| n > limit) {
                        let detail = format!("must be less than or equal to {name} limit of {limit}");
                        errors.push(FieldError::invalid(
                            format!("{path}.resources.requests"),
                            written,
                            detail,
                        ));
                    }
                }
                Some(_) => {}
            }
        }
    }
}

/// The class is decided once, and admission fills in on every write what it filled in on the first.
pub fn keep_admitted(old: &Value, new: &mut Value) {
    carry(old, new, &["status"]);
    for key in ["priority", "preemptionPolicy"] {
        if at(new, &["spec", key]).is_none() {
            carry(old, new, &["spec", key]);
        }
    }
    add_default_tolerations(new);
}

/// What may not change through the main resource.
pub fn validate_update(pod: &Value, old: &Value) -> Vec<FieldError> {
    let mut errors = validate(pod);
    for group in CONTAINERS {
        let (now, before) = (list(pod, &["spec", group]), list(old, &["spec", group]));
        if now.len() != before.len() {
            errors.push(FieldError::forbidden(
                format!("spec.{group}"),
                "pod updates may not add or remove containers",
            ));
            return errors;
        }
    }
    let (now, before) =
        (int(pod, &["spec", "activeDeadlineSeconds"]), int(old, &["spec", "activeDeadlineSeconds"]));
    match (now, before) {
        (Some(now), Some(before)) if now > before => {
            let detail = "must be less than or equal to previous value";
            errors.push(FieldError::invalid("spec.activeDeadlineSeconds", now, detail));
        }
        (None, Some(_)) => {
            let detail = "must not update from a positive integer to nil value";
            errors.push(FieldError::invalid("spec.activeDeadlineSeconds", Value::Null, detail));
        }
        _ => {}
    }
    let tolerations = list(pod, &["spec", "tolerations"]);
    if list(old, &["spec", "tolerations"]).iter().any(|t| !tolerations.contains(t)) {
        let detail = "existing toleration can not be modified except its tolerationSeconds";
        errors.push(FieldError::forbidden("spec.tolerations", detail));
    }
    let gates = list(old, &["spec", "schedulingGates"]);
    if list(pod, &["spec", "schedulingGates"]).iter().any(|g| !gates.contains(g)) {
        errors.push(FieldError::forbidden("spec.schedulingGates", "only deletion is allowed"));
    }
    let mut munged = pod["spec"].clone();
    for key in ["activeDeadlineSeconds", "tolerations", "schedulingGates"] {
        carry(&old["spec"], &mut munged, &[key]);
    }
    for group in CONTAINERS {
        each_pair(&mut munged, &old["spec"], group, |container, before| carry(before, container, &["image"]));
    }
    if munged != old["spec"] {
        let changed: Vec<String> = difference(&munged, &old["spec"]);
        let detail = format!(
            "pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)\nchanged: {}",
            changed.join(", ")
        );
        errors.push(FieldError::forbidden("spec", detail));
    }
    errors
}

fn each_pair(spec: &mut Value, old: &Value, group: &str, mut change: impl FnMut(&mut Value, &Value)) {
    if let Some(Value::Array(containers)) = spec.get_mut(group) {
        for (container, before) in containers.iter_mut().zip(list(old, &[group])) {
            change(container, before);
        }
    }
}

fn difference(new: &Value, old: &Value) -> Vec<String> {
    let keys = |v: &Value| v.as_object().map(|m| m.keys().cloned().collect::<Vec<_>>()).unwrap_or_default();
    let all: std::collections::BTreeSet<String> = keys(new).into_iter().chain(keys(old)).collect();
    all.into_iter().filter(|key| new.get(key) != old.get(key)).collect()
}

/// Through the resize subresource only resources and their resize policy change.
pub fn keep_all_but_resources(old: &Value, new: &mut Value) {
    let wanted = new["spec"].clone();
    let version = at(new, &["metadata", "resourceVersion"]).cloned();
    let managed = at(new, &["metadata", "managedFields"]).cloned();
    *new = old.clone();
    for (key, value) in [("resourceVersion", version), ("managedFields", managed)] {
        match value {
            Some(value) => set(new, &["metadata", key], value),
            None => drop(remove(new, &["metadata", key])),
        }
    }
    for group in CONTAINERS {
        let by_name =
            |name: &str| list(&wanted, &[group]).iter().find(|c| text(c, &["name"]) == name).cloned();
        if let Some(Value::Array(containers)) = new.get_mut("spec").and_then(|s| s.get_mut(group)) {
            for container in containers {
                if let Some(wanted) = by_name(text(container, &["name"])) {
                    carry(&wanted, container, &["resources"]);
                    carry(&wanted, container, &["resizePolicy"]);
                }
            }
        }
    }
}

/// What a resize may not do.
pub fn validate_resize(pod: &Value, old: &Value) -> Vec<FieldError> {
    let mut errors = validate(pod);
    let now = qos_class(pod);
    if now != qos_class(old) {
        let class = text(old, &["status", "qosClass"]);
        errors.push(FieldError::invalid(
            "spec",
            class,
            "Pod QOS Class may not change as a result of resizing",
        ));
    }
    let running =
        list(old, &["status", "containerStatuses"]).iter().find(|s| at(s, &["state", "running"]).is_some());
    if running.is_some_and(|status| status.get("resources").is_none()) {
        errors.push(FieldError::forbidden("spec", "Pod running on node without support for resize"));
    }
    for group in CONTAINERS {
        for (i, (container, before)) in
            list(pod, &["spec", group]).iter().zip(list(old, &["spec", group])).enumerate()
        {
            for part in ["requests", "limits"] {
                let names = |c: &Value| {
                    let map = at(c, &["resources", part]).and_then(Value::as_object);
                    map.map(|m| m.keys().cloned().collect::<HashSet<_>>()).unwrap_or_default()
                };
                let (has, had) = (names(container), names(before));
                if !had.is_subset(&has) {
                    let word = part.trim_end_matches('s');
                    let detail = format!("resource {word}s cannot be removed");
                    errors.push(FieldError::forbidden(format!("spec.{group}[{i}].resources.{part}"), detail));
                }
            }
            let other = |c: &Value| {
                let mut resources = at(c, &["resources"]).cloned().unwrap_or_default();
                for part in ["requests", "limits"] {
                    for name in ["cpu", "memory"] {
                        remove(&mut resources, &[part, name]);
                    }
                    if at(&resources, &[part])
                        .and_then(Value::as_object)
                        .is_some_and(serde_json::Map::is_empty)
                    {
                        remove(&mut resources, &[part]);
                    }
                }
                resources
            };
            if other(container) != other(before) {
                errors.push(FieldError::forbidden("spec", "only cpu and memory resources are mutable"));
            }
        }
    }
    errors
}

/// What a binding makes of a pod.
pub fn bind(pod: &Value, binding: &Value, now: &str) -> Result<Value> {
    let name = text(pod, &["metadata", "name"]);
    let refuse = |why: String| {
        let what = crate::api::error::Named { group: "", name: "pods/binding" };
        ApiError::conflict(what, name, &why)
    };
    if at(pod, &["metadata", "deletionTimestamp"]).is_some() {
        return Err(refuse(format!("pod {name} is being deleted, cannot be assigned to a host")));
    }
    let present = text(pod, &["spec", "nodeName"]);
    if !present.is_empty() {
        return Err(refuse(format!("pod {name} is already assigned to node {present:?}")));
    }
    if !list(pod, &["spec", "schedulingGates"]).is_empty() {
        return Err(refuse(format!("pod {name} has non-empty .spec.schedulingGates")));
    }
    let mut bound = pod.clone();
    set(&mut bound, &["spec", "nodeName"], text(binding, &["target", "name"]));
    remove(&mut bound, &["status", "nominatedNodeName"]);
    for part in ["annotations", "labels"] {
        for (key, value) in at(binding, &["metadata", part]).and_then(Value::as_object).into_iter().flatten()
        {
            set(&mut bound, &["metadata", part, key], value.clone());
        }
    }
    let mut conditions = list(&bound, &["status", "conditions"]).to_vec();
    conditions.retain(|c| text(c, &["type"]) != "PodScheduled");
    conditions.push(
        json!({ "type": "PodScheduled", "status": "True", "lastProbeTime": null, "lastTransitionTime": now }),
    );
    set(&mut bound, &["status", "conditions"], conditions);
    Ok(bound)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pod() -> Value {
        let mut pod = json!({"metadata": {"name": "p"}, "spec": {"restartPolicy": "Always", "dnsPolicy": "ClusterFirst",
            "containers": [{"name": "game", "image": "i:1", "resources": {"requests": {"cpu": "1"}, "limits": {"cpu": "2"}}}]}});
        fill_defaults(&mut pod);
        prepare_create(&mut pod);
        pod
    }

    fn words(errors: &[FieldError]) -> Vec<String> {
        errors.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn new_pods_get_what_depends_on_other_fields() {
        let pod = pod();
        assert_eq!(pod["spec"]["containers"][0]["imagePullPolicy"], "IfNotPresent");
        assert_eq!(pod["status"], json!({"phase": "Pending", "qosClass": "Burstable"}));
        assert_eq!(pod["spec"]["tolerations"].as_array().unwrap().len(), 2);
        assert!(validate(&pod).is_empty());
    }

    #[test]
    fn bad_pods_are_refused_field_by_field() {
        let mut bad = pod();
        bad["spec"]["containers"] = json!([{"name": "A", "ports": [{"containerPort": 70000, "protocol": "TCP"}],
            "volumeMounts": [{"name": "none", "mountPath": "/x"}], "resources": {"requests": {"cpu": "3"}, "limits": {"cpu": "x"}}}]);
        let fields: Vec<String> = validate(&bad).into_iter().map(|e| e.field).collect();
        assert_eq!(
            fields,
            [
                "spec.containers[0].name",
                "spec.containers[0].image",
                "spec.containers[0].ports[0].containerPort",
                "spec.containers[0].volumeMounts[0].name",
                "spec.containers[0].resources.limits[cpu]",
            ]
        );
        bad["spec"]["containers"] = json!([]);
        assert_eq!(words(&validate(&bad)), ["spec.containers: Required value"]);
    }

    #[test]
    fn only_few_fields_change_in_place() {
        let old = pod();
        let mut new = old.clone();
        new["spec"]["containers"][0]["image"] = "i:2".into();
        new["spec"]["activeDeadlineSeconds"] = 10.into();
        new["spec"]["tolerations"].as_array_mut().unwrap().push(json!({"key": "x"}));
        assert_eq!(validate_update(&new, &old), []);
        new["spec"]["nodeSelector"] = json!({"a": "b"});
        let errors = validate_update(&new, &old);
        assert!(errors[0].detail.contains("changed: nodeSelector"), "{errors:?}");
        new["spec"]["containers"] = json!([]);
        assert!(validate_update(&new, &old).iter().any(|e| e.detail.contains("add or remove containers")));
    }

    #[test]
    fn resize_changes_amounts_only_and_keeps_the_class() {
        let old = pod();
        let mut new = old.clone();
        new["spec"]["containers"][0]["resources"]["requests"]["cpu"] = "1500m".into();
        new["spec"]["containers"][0]["image"] = "other".into();
        keep_all_but_resources(&old, &mut new);
        assert_eq!(new["spec"]["containers"][0]["image"], "i:1");
        assert_eq!(validate_resize(&new, &old), []);
        let mut removed = new.clone();
        remove(&mut removed["spec"]["containers"][0], &["resources", "limits"]);
        assert!(!validate_resize(&removed, &old).is_empty());
        let mut unsupported = old.clone();
        unsupported["status"]["containerStatuses"] = json!([{"name": "game", "state": {"running": {}}}]);
        assert_eq!(
            words(&validate_resize(&new, &unsupported)),
            ["spec: Forbidden: Pod running on node without support for resize"]
        );
    }
}
