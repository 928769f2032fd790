//! The node as the simulated scheduler sees it: a slim watch type, and the Node object that a machine registers with.

use std::borrow::Cow;
use std::collections::BTreeMap;

use jiff::Timestamp;
use k8s_openapi::ClusterResourceScope;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::amount::Amount;
use super::ids;
use super::options::Options;
use super::pod::or_default;

/// Label that marks the machines of one simulation; its value is [`Options::prefix`].
pub const SIMULATION_LABEL: &str = "sim.pilothouse.dev/simulation";
/// Taint on machines in somebody's cluster, so that its own scheduler leaves them alone.
pub const SIMULATED_TAINT: &str = "sim.pilothouse.dev/simulated";
/// Annotation on a node that plays it down while its value is `true`.
pub const DOWN_ANNOTATION: &str = "sim.pilothouse.dev/down";
/// Beginning of `spec.providerID` of every simulated node. It cannot be changed later, so it is how we know our own.
pub const PROVIDER_PREFIX: &str = "simulated://";

/// One node, as far as scheduling and our own heartbeats need it.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Node {
    /// Metadata; the API's own bookkeeping in it is dropped on arrival.
    pub metadata: ObjectMeta,
    /// What administrators set.
    #[serde(deserialize_with = "or_default")]
    pub spec: NodeSpec,
    /// What the machine reports.
    #[serde(deserialize_with = "or_default")]
    pub status: NodeStatus,
}

impl Node {
    /// The name.
    pub fn name(&self) -> &str {
        self.metadata.name.as_deref().unwrap_or_default()
    }

    /// True when the API server and its controllers believe that the machine works.
    pub fn is_ready(&self) -> bool {
        self.status.conditions.iter().any(|condition| condition.kind == "Ready" && condition.status == "True")
    }

    /// True while somebody plays that the machine is down: no heartbeat, no status, nothing happens to its pods.
    pub fn is_down(&self) -> bool {
        let down = self.metadata.annotations.as_ref().and_then(|all| all.get(DOWN_ANNOTATION));
        down.is_some_and(|value| value.eq_ignore_ascii_case("true"))
    }
}

impl kube::Resource for Node {
    type DynamicType = ();
    type Scope = ClusterResourceScope;

    fn kind((): &()) -> Cow<'_, str> {
        "Node".into()
    }
    fn group((): &()) -> Cow<'_, str> {
        "".into()
    }
    fn version((): &()) -> Cow<'_, str> {
        "v1".into()
    }
    fn plural((): &()) -> Cow<'_, str> {
        "nodes".into()
    }
    fn meta(&self) -> &ObjectMeta {
        &self.metadata
    }
    fn meta_mut(&mut self) -> &mut ObjectMeta {
        &mut self.metadata
    }
}

/// What administrators set on a node.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(rename_all = "camelCase", default)]
pub struct NodeSpec {
    /// True after `kubectl cordon`.
    #[serde(deserialize_with = "or_default")]
    pub unschedulable: bool,
    /// What keeps pods away.
    #[serde(deserialize_with = "or_default")]
    pub taints: Vec<Taint>,
    /// Which machine it is.
    #[serde(rename = "providerID", skip_serializing_if = "Option::is_none")]
    pub provider_id: Option<String>,
}

/// Keeps pods away that do not tolerate it.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Taint {
    /// Its key.
    pub key: String,
    /// Its value.
    #[serde(deserialize_with = "or_default")]
    pub value: String,
    /// `NoSchedule`, `PreferNoSchedule` or `NoExecute`.
    pub effect: String,
}

/// What a machine reports.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(rename_all = "camelCase", default)]
pub struct NodeStatus {
    /// What pods may use together.
    #[serde(deserialize_with = "or_default")]
    pub allocatable: BTreeMap<String, Amount>,
    /// Its conditions.
    #[serde(deserialize_with = "or_default")]
    pub conditions: Vec<NodeCondition>,
}

/// One condition of a node.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(rename_all = "camelCase", default)]
pub struct NodeCondition {
    /// Its type, such as `Ready`.
    #[serde(rename = "type")]
    pub kind: String,
    /// `True`, `False` or `Unknown`.
    pub status: String,
}

/// The address of a machine. The range is private and apart from those of pods and of usual service ranges.
pub fn machine_ip(index: usize) -> String {
    format!("172.31.{}.{}", index / 250, 1 + index % 250)
}

/// The Node object that a machine registers with, status included.
pub fn registration(options: &Options, index: usize, kubelet_version: &str, now: Timestamp) -> Value {
    let name = options.machine_name(index);
    let zone = ["sim-a", "sim-b", "sim-c"][index % 3];
    let mut spec = json!({"providerID": format!("{PROVIDER_PREFIX}{}/{name}", options.prefix)});
    if !options.schedule_all {
        spec["taints"] = json!([{"key": SIMULATED_TAINT, "value": "true", "effect": "NoSchedule"}]);
    }
    json!({
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {
            "name": name,
            "labels": {
                "kubernetes.io/hostname": name,
                "kubernetes.io/os": "linux",
                "kubernetes.io/arch": "amd64",
                "topology.kubernetes.io/region": "sim",
                "topology.kubernetes.io/zone": zone,
                "node.kubernetes.io/instance-type": "simulated",
                SIMULATION_LABEL: options.prefix,
            },
        },
        "spec": spec,
        "status": status(options, index, kubelet_version, now),
    })
}

/// The status that a machine reports.
pub fn status(options: &Options, index: usize, kubelet_version: &str, now: Timestamp) -> Value {
    let name = options.machine_name(index);
    let capacity = json!({
        "cpu": options.capacity.cpu.to_string(),
        "memory": format!("{}Gi", options.capacity.memory_gib),
        "ephemeral-storage": "1Ti",
        "pods": options.capacity.pods.to_string(),
    });
    let now = now.strftime("%Y-%m-%dT%H:%M:%SZ").to_string();
    let condition = |kind: &str, status: &str, reason: &str, message: &str| {
        json!({"type": kind, "status": status, "reason": reason, "message": message,
            "lastHeartbeatTime": now, "lastTransitionTime": now})
    };
    let id = |what: &str| {
        let hex = ids::digest(options.seed, &[&name, what]);
        format!("{}-{}-{}-{}-{}", &hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..32])
    };
    json!({
        "capacity": capacity,
        "allocatable": capacity,
        "addresses": [
            {"type": "InternalIP", "address": machine_ip(index)},
            {"type": "Hostname", "address": name},
        ],
        "conditions": [
            condition("MemoryPressure", "False", "KubeletHasSufficientMemory", "kubelet has sufficient memory available"),
            condition("DiskPressure", "False", "KubeletHasNoDiskPressure", "kubelet has no disk pressure"),
            condition("PIDPressure", "False", "KubeletHasSufficientPID", "kubelet has sufficient PID available"),
            condition("Ready", "True", "KubeletReady", "simulated kubelet is posting ready status"),
        ],
        "nodeInfo": {
            "architecture": "amd64",
            "operatingSystem": "linux",
            "osImage": "Simulated by Pilothouse",
            "kernelVersion": "6.12.0-simulated",
            "containerRuntimeVersion": "containerd://2.1.0",
            "kubeletVersion": kubelet_version,
            "kubeProxyVersion": "",
            "machineID": id("machine"),
            "systemUUID": id("system"),
            "bootID": id("boot"),
        },
    })
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;

    use super::{Node, machine_ip, registration};
    use crate::nodes::Options;

    #[test]
    fn a_registration_is_a_whole_kubernetes_node() {
        let value = registration(&Options::default(), 1, "v1.36.3", Timestamp::UNIX_EPOCH);
        let full: k8s_openapi::api::core::v1::Node = serde_json::from_value(value.clone()).unwrap();
        assert_eq!(full.metadata.name.as_deref(), Some("sim-node-1"));
        assert_eq!(full.spec.unwrap().taints.unwrap().len(), 1);
        let slim: Node = serde_json::from_value(value).unwrap();
        assert!(slim.is_ready());
        assert_eq!(slim.status.allocatable["pods"].units(), 250);
    }

    #[test]
    fn machines_for_everyone_carry_no_taint() {
        let options = Options { schedule_all: true, ..Options::default() };
        assert!(registration(&options, 0, "v1", Timestamp::UNIX_EPOCH)["spec"].get("taints").is_none());
    }

    #[test]
    fn addresses_of_machines_differ() {
        let all: std::collections::HashSet<String> = (0..5000).map(machine_ip).collect();
        assert_eq!(all.len(), 5000);
        assert!(all.iter().all(|ip| ip.parse::<std::net::Ipv4Addr>().is_ok()));
    }
}
