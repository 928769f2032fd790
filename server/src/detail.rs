//! One server and one set whole, joined from what the caches hold. Pure: objects in, wire types out.

use crds::{
    kruise::{GameServerSetSpec, keys},
    slim::{
        SlimContainer, SlimContainerState, SlimContainerStatus, SlimGameServer, SlimGameServerSet, SlimPod,
    },
};
use kube::ResourceExt;
use wire::{
    error::Reason,
    row::ServerRow,
    server::{ConditionView, ContainerDetail, ServerDetail},
};

/// The objects behind one server.
#[derive(Clone, Copy, Debug, Default)]
pub struct Objects<'a> {
    /// Its GameServer.
    pub server: Option<&'a SlimGameServer>,
    /// Its pod.
    pub pod: Option<&'a SlimPod>,
    /// Its set.
    pub set: Option<&'a SlimGameServerSet>,
}

/// Joins the objects of one server. Events are left for who reads them.
#[must_use]
pub fn server(row: ServerRow, objects: Objects<'_>) -> ServerDetail {
    ServerDetail {
        containers: containers(objects),
        conditions: conditions(objects),
        addresses: addresses(objects),
        why: why(&row, objects),
        events: Vec::new(),
        annotations: objects
            .server
            .map(|server| server.annotations().iter().map(|(k, v)| (k.clone(), v.clone())).collect())
            .unwrap_or_default(),
        row,
    }
}

fn spec_of(set: Option<&SlimGameServerSet>) -> Option<&GameServerSetSpec> {
    set.and_then(|set| set.spec.as_ref())
}

/// Containers of the pod in its order; without a pod those of the template.
fn containers(objects: Objects<'_>) -> Vec<ContainerDetail> {
    let template = spec_of(objects.set).map(|spec| &spec.game_server_template);
    let own = |name: &str| {
        let found = objects.server.and_then(|server| server.spec.containers.iter().find(|c| c.name == name));
        found.and_then(|c| c.image.clone()).unwrap_or_default()
    };
    let from_template =
        |name: &str| template.and_then(|t| t.container_image(name)).unwrap_or_default().to_owned();
    if let Some(pod) = objects.pod {
        return pod
            .spec
            .containers
            .iter()
            .map(|container| {
                let status = pod.status.container_statuses.iter().find(|s| s.name == container.name);
                ContainerDetail {
                    name: container.name.clone(),
                    template_image: from_template(&container.name),
                    override_image: own(&container.name),
                    live_image: container.image.clone(),
                    requests: amounts(container, "requests"),
                    limits: amounts(container, "limits"),
                    ready: status.is_some_and(|s| s.ready),
                    restarts: status.map_or(0, |s| u32::try_from(s.restart_count).unwrap_or_default()),
                    state: status.map(|s| state_text(&s.state)).unwrap_or_default(),
                    last_end: status.map(last_end).unwrap_or_default(),
                }
            })
            .collect();
    }
    let Some(template) = template else { return Vec::new() };
    template
        .containers()
        .filter_map(|container| container.get("name").and_then(|name| name.as_str()))
        .map(|name| ContainerDetail {
            name: name.to_owned(),
            template_image: from_template(name),
            override_image: own(name),
            live_image: String::new(),
            requests: String::new(),
            limits: String::new(),
            ready: false,
            restarts: 0,
            state: String::new(),
            last_end: String::new(),
        })
        .collect()
}

/// `cpu 500m, memory 1Gi`.
fn amounts(container: &SlimContainer, part: &str) -> String {
    let found = container.resources.as_ref().and_then(|r| r.get(part)).and_then(|part| part.as_object());
    let Some(amounts) = found else { return String::new() };
    let text = |value: &serde_json::Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    amounts.iter().map(|(name, value)| format!("{name} {}", text(value))).collect::<Vec<_>>().join(", ")
}

fn state_text(state: &SlimContainerState) -> String {
    if let Some(waiting) = &state.waiting {
        return match &waiting.reason {
            Some(reason) => format!("Waiting: {reason}"),
            None => "Waiting".into(),
        };
    }
    if let Some(ended) = &state.terminated {
        return format!("Terminated: {} ({})", ended.reason.as_deref().unwrap_or("ended"), ended.exit_code);
    }
    if state.running.is_some() { "Running".into() } else { String::new() }
}

fn last_end(status: &SlimContainerStatus) -> String {
    let Some(ended) = &status.last_state.terminated else { return String::new() };
    format!("{} ({})", ended.reason.as_deref().unwrap_or("ended"), ended.exit_code)
}

fn conditions(objects: Objects<'_>) -> Vec<ConditionView> {
    let of_server = objects.server.and_then(|s| s.status.as_ref()).into_iter().flat_map(|status| {
        status.conditions.iter().map(|c| ConditionView {
            kind: c.type_.clone(),
            status: c.status.clone(),
            reason: c.reason.clone().unwrap_or_default(),
            message: c.message.clone().unwrap_or_default(),
            since: c.last_transition_time.as_ref().map(|t| t.0.as_second()),
            object: "GameServer".into(),
        })
    });
    let of_pod = objects.pod.into_iter().flat_map(|pod| {
        pod.status.conditions.iter().map(|c| ConditionView {
            kind: c.type_.clone(),
            status: c.status.clone(),
            reason: c.reason.clone().unwrap_or_default(),
            message: c.message.clone().unwrap_or_default(),
            since: c.last_transition_time.as_ref().map(|t| t.0.as_second()),
            object: "Pod".into(),
        })
    });
    of_server.chain(of_pod).collect()
}

/// Conditions of a set.
#[must_use]
pub fn set_conditions(set: &SlimGameServerSet) -> Vec<ConditionView> {
    let Some(status) = &set.status else { return Vec::new() };
    status
        .conditions
        .iter()
        .map(|c| ConditionView {
            kind: c.type_.clone(),
            status: c.status.clone(),
            reason: c.reason.clone(),
            message: c.message.clone(),
            since: Some(c.last_transition_time.0.as_second()),
            object: "GameServerSet".into(),
        })
        .collect()
}

/// Addresses that somebody may want to copy: what the network plugin says, then pod and node.
fn addresses(objects: Objects<'_>) -> Vec<(String, String)> {
    let mut found = Vec::new();
    if let Some(network) =
        objects.server.and_then(|s| s.status.as_ref()).and_then(|s| s.network_status.as_ref())
    {
        for (label, list) in
            [("external", &network.external_addresses), ("internal", &network.internal_addresses)]
        {
            for address in list {
                let host = address.end_point.as_ref().filter(|e| !e.is_empty()).unwrap_or(&address.ip);
                if address.ports.is_empty() && !host.is_empty() {
                    found.push((label.to_owned(), host.clone()));
                }
                for port in &address.ports {
                    let number = port.port.as_ref().map(|port| match port {
                        k8s_openapi::apimachinery::pkg::util::intstr::IntOrString::Int(n) => n.to_string(),
                        k8s_openapi::apimachinery::pkg::util::intstr::IntOrString::String(s) => s.clone(),
                    });
                    found.push((
                        format!("{label} {}", port.name),
                        format!("{host}:{}", number.unwrap_or_default()),
                    ));
                }
            }
        }
    }
    if let Some(pod) = objects.pod {
        found.extend(pod.status.pod_ip.clone().map(|ip| ("pod".into(), ip)));
        found.extend(pod.status.host_ip.clone().map(|ip| ("node".into(), ip)));
    }
    found
}

/// Why the server is as it is, most important first.
fn why(row: &ServerRow, objects: Objects<'_>) -> Vec<Reason> {
    let mut reasons = Vec::new();
    if let Some(error) = objects.server.and_then(|server| server.spec_error.as_ref()) {
        reasons.push(
            Reason::new("spec-unreadable", format!("its spec cannot be read: {error}"))
                .with("message", error),
        );
    }
    match objects.pod {
        None => reasons.push(Reason::new("no-pod", "it has no pod right now")),
        Some(pod) => pod_reasons(pod, &mut reasons),
    }
    let set = row.set.as_deref().unwrap_or_default();
    match row.ops.as_str() {
        "WaitToBeDeleted" => {
            let wanted = spec_of(objects.set).map_or(0, |spec| spec.replicas);
            reasons.push(
                Reason::new(
                    "waits-for-scale-down",
                    format!("WaitToBeDeleted goes first at the next scale down; {set} still wants {wanted} servers"),
                )
                .with("set", set)
                .with("wanted", wanted),
            );
        }
        "Allocated" => reasons.push(Reason::new(
            "protected-allocated",
            "Allocated: goes late at a scale down, and is restarted only with an explicit override",
        )),
        "Maintaining" => {
            reasons.push(Reason::new("protected-maintaining", "Maintaining: goes last at a scale down"));
        }
        "Kill" => reasons.push(Reason::new("being-killed", "Kill: it is removed and its set gets smaller")),
        _ => {}
    }
    reasons
}

fn pod_reasons(pod: &SlimPod, reasons: &mut Vec<Reason>) {
    if pod.metadata.deletion_timestamp.is_some() {
        reasons.push(Reason::new("pod-going", "its pod is being deleted"));
    }
    for status in pod.status.init_container_statuses.iter().chain(&pod.status.container_statuses) {
        if let Some(waiting) = &status.state.waiting
            && let Some(word) = waiting.reason.as_deref().filter(|word| *word != "ContainerCreating")
        {
            let last = last_end(status);
            let message = waiting.message.clone().unwrap_or_default();
            let sentence = format!("container {} waits: {word} {message} (last end: {last})", status.name);
            reasons.push(
                Reason::new("container-waits", sentence)
                    .with("container", &status.name)
                    .with("reason", word)
                    .with("message", message)
                    .with("last", last)
                    .with("restarts", status.restart_count),
            );
        }
        if let Some(ended) = &status.state.terminated {
            let sentence = format!("container {} ended with {}", status.name, ended.exit_code);
            reasons.push(
                Reason::new("container-ended", sentence)
                    .with("container", &status.name)
                    .with("code", ended.exit_code)
                    .with("reason", ended.reason.as_deref().unwrap_or_default()),
            );
        }
    }
    if let Some(scheduled) = pod.condition("PodScheduled")
        && scheduled.status == "False"
    {
        let message = scheduled.message.clone().unwrap_or_default();
        reasons.push(
            Reason::new("not-scheduled", format!("no node takes it: {message}")).with("message", message),
        );
    }
    if pod.status.phase == "Running"
        && pod.condition("Ready").is_some_and(|ready| ready.status != "True")
        && reasons.is_empty()
    {
        let unready: Vec<&str> =
            pod.status.container_statuses.iter().filter(|s| !s.ready).map(|s| s.name.as_str()).collect();
        let names = unready.join(", ");
        reasons.push(Reason::new("not-ready", format!("not ready: {names}")).with("containers", names));
    }
}

/// The set's name that an object carries.
#[must_use]
pub fn owner_of<K: ResourceExt>(object: &K) -> Option<String> {
    object.labels().get(keys::OWNER_GSS).cloned()
}
