//! The simulated scheduler's decision, pure: a pod, the machines and what is used of them in, a machine or the reason out.
//!
//! Judged are, in this order: cordons, taints of effect NoSchedule and NoExecute, `nodeSelector` and required node
//! affinity, host ports, requests and the number of pods, affinity to other pods. Claims are judged before
//! ([`super::volumes`]). Spread constraints and preferences about other pods neither attract nor repel.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use super::affinity::Rules;
use super::amount::Amount;
use super::node::{Node, SIMULATED_TAINT, Taint};
use super::pod::{Container, HostPort, Pod, Toleration};

/// What the real scheduler says when there is no node at all.
const NO_NODES: &str = "no nodes available to schedule pods";

/// What a pod asks for, or what is used of a machine.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Demand {
    /// CPU in thousandths.
    pub cpu_milli: u64,
    /// Memory in bytes.
    pub memory: u64,
    /// Scratch space in bytes.
    pub storage: u64,
    /// Number of pods.
    pub pods: u64,
    /// Other resources by name, in whole units (devices).
    pub others: BTreeMap<String, u64>,
    /// Ports of the node.
    pub ports: Vec<HostPort>,
}

impl Demand {
    /// What a pod asks for: the larger of all its containers together and its largest init container, plus overhead.
    pub fn of(pod: &Pod) -> Self {
        let mut all = Self::default();
        let mut sidecars = Self::default();
        for container in &pod.spec.containers {
            all.add(&Self::of_container(container));
        }
        let mut peak = Self::default();
        for container in &pod.spec.init_containers {
            let mut with_sidecars = Self::of_container(container);
            if container.restart_policy.as_deref() == Some("Always") {
                sidecars.add(&with_sidecars);
            } else {
                with_sidecars.add(&sidecars);
                peak.raise_to(&with_sidecars);
            }
        }
        all.add(&sidecars);
        all.raise_to(&peak);
        all.add(&Self::from_amounts(&pod.spec.overhead));
        all.pods = 1;
        all.ports = pod.spec.containers.iter().flat_map(|container| container.ports.clone()).collect();
        all
    }

    /// True when a port of this is taken by the other.
    fn clashes(&self, other: &Self) -> bool {
        let everywhere = |port: &HostPort| matches!(port.host_ip.as_str(), "" | "0.0.0.0" | "::");
        let protocol =
            |port: &HostPort| if port.protocol.is_empty() { "TCP".into() } else { port.protocol.clone() };
        let same = |a: &HostPort, b: &HostPort| {
            a.host_port == b.host_port
                && protocol(a) == protocol(b)
                && (everywhere(a) || everywhere(b) || a.host_ip == b.host_ip)
        };
        self.ports.iter().any(|port| other.ports.iter().any(|taken| same(port, taken)))
    }

    /// A container's requests; where one is missing, its limit, as the API server would fill in.
    fn of_container(container: &Container) -> Self {
        let mut amounts = container.resources.limits.clone();
        amounts.extend(container.resources.requests.clone());
        Self::from_amounts(&amounts)
    }

    /// Reads a list of amounts by resource name.
    pub fn from_amounts(amounts: &BTreeMap<String, Amount>) -> Self {
        let mut demand = Self::default();
        for (name, amount) in amounts {
            match name.as_str() {
                "cpu" => demand.cpu_milli = amount.milli(),
                "memory" => demand.memory = amount.units(),
                "ephemeral-storage" => demand.storage = amount.units(),
                "pods" => demand.pods = amount.units(),
                _ => {
                    demand.others.insert(name.clone(), amount.units());
                }
            }
        }
        demand
    }

    /// Adds another demand to this one.
    pub fn add(&mut self, other: &Self) {
        self.cpu_milli = self.cpu_milli.saturating_add(other.cpu_milli);
        self.memory = self.memory.saturating_add(other.memory);
        self.storage = self.storage.saturating_add(other.storage);
        self.pods = self.pods.saturating_add(other.pods);
        for (name, units) in &other.others {
            let sum = self.others.entry(name.clone()).or_default();
            *sum = sum.saturating_add(*units);
        }
        self.ports.extend_from_slice(&other.ports);
    }

    /// Takes another demand out of this one.
    pub fn remove(&mut self, other: &Self) {
        self.cpu_milli = self.cpu_milli.saturating_sub(other.cpu_milli);
        self.memory = self.memory.saturating_sub(other.memory);
        self.storage = self.storage.saturating_sub(other.storage);
        self.pods = self.pods.saturating_sub(other.pods);
        for (name, units) in &other.others {
            if let Some(sum) = self.others.get_mut(name) {
                *sum = sum.saturating_sub(*units);
            }
        }
        for port in &other.ports {
            if let Some(at) = self.ports.iter().position(|taken| taken == port) {
                self.ports.swap_remove(at);
            }
        }
    }

    fn raise_to(&mut self, other: &Self) {
        self.cpu_milli = self.cpu_milli.max(other.cpu_milli);
        self.memory = self.memory.max(other.memory);
        self.storage = self.storage.max(other.storage);
        for (name, units) in &other.others {
            let most = self.others.entry(name.clone()).or_default();
            *most = (*most).max(*units);
        }
    }
}

/// A machine that may take pods.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Candidate {
    /// Its name.
    pub name: String,
    /// Its labels.
    pub labels: BTreeMap<String, String>,
    /// Its taints: key, value, effect.
    pub taints: Vec<(String, String, String)>,
    /// True after `kubectl cordon`.
    pub cordoned: bool,
    /// What pods may use together.
    pub size: Demand,
    /// True while somebody plays that the machine is down.
    pub is_down: bool,
}

impl From<&Node> for Candidate {
    fn from(node: &Node) -> Self {
        let taint = |taint: &Taint| (taint.key.clone(), taint.value.clone(), taint.effect.clone());
        Self {
            name: node.name().to_owned(),
            labels: node.metadata.labels.clone().unwrap_or_default(),
            taints: node.spec.taints.iter().map(taint).collect(),
            cordoned: node.spec.unschedulable,
            size: Demand::from_amounts(&node.status.allocatable),
            is_down: node.is_down(),
        }
    }
}

/// What the scheduler decided.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Decision {
    /// The machine that takes the pod.
    Bind(String),
    /// None can; the message has the shape of the real scheduler's condition.
    Unschedulable(String),
}

/// Decides where a pod runs: among the machines that can take it, the one that it prefers, then the one with the fewest
/// pods for its size, then with the least used, then the first by name. `rules` says what other pods mean for it.
pub fn schedule(
    pod: &Pod,
    machines: &[Arc<Candidate>],
    usage: &HashMap<String, Demand>,
    rules: &Rules,
) -> Decision {
    let demand = Demand::of(pod);
    let nothing = Demand::default();
    let affinity = pod.spec.affinity.as_ref().map(|affinity| &affinity.node_affinity);
    let mut best: Option<(i64, u64, u64, &str)> = None;
    let mut reasons: BTreeMap<String, usize> = BTreeMap::new();
    let mut could_preempt = 0;
    for machine in machines {
        let used = usage.get(&machine.name).unwrap_or(&nothing);
        let (why, preemptible) = refuse(pod, &demand, machine, used, rules);
        if why.is_empty() {
            let dislike = -affinity.map_or(0, |affinity| affinity.preference(machine));
            let pods = share(used.pods, machine.size.pods);
            let rank = (dislike, pods, fullness(used, &machine.size), machine.name.as_str());
            if best.is_none_or(|other| rank < other) {
                best = Some(rank);
            }
        }
        could_preempt += usize::from(preemptible);
        for reason in why {
            *reasons.entry(reason).or_default() += 1;
        }
    }
    match best {
        Some((.., name)) => Decision::Bind(name.to_owned()),
        None => Decision::Unschedulable(message(machines.len(), &reasons, could_preempt)),
    }
}

/// The message about a pod that no machine can take whatever runs on it.
pub fn refused_everywhere(machines: usize, why: &str) -> String {
    if machines == 0 {
        return NO_NODES.into();
    }
    format!(
        "0/{machines} nodes are available: {why}. preemption: 0/{machines} nodes are available: {machines} Preemption \
         is not helpful for scheduling."
    )
}

/// Why a machine cannot take a pod, by the first judge that says no, and whether removing pods from it could help.
fn refuse(
    pod: &Pod,
    demand: &Demand,
    machine: &Candidate,
    used: &Demand,
    rules: &Rules,
) -> (Vec<String>, bool) {
    if let Some(reason) = excluded(pod, machine) {
        return (vec![reason.into()], false);
    }
    if demand.clashes(used) {
        return (vec!["node(s) didn't have free ports for the requested pod ports".into()], true);
    }
    let lacks = lacks(demand, &machine.size, used);
    if !lacks.is_empty() {
        return (lacks, true);
    }
    match rules.refuse(machine) {
        Some((reason, preemptible)) => (vec![reason.into()], preemptible),
        None => (Vec::new(), false),
    }
}

/// Why a machine is out of the question whatever else runs on it.
fn excluded(pod: &Pod, machine: &Candidate) -> Option<&'static str> {
    if machine.cordoned && !tolerates(pod, "node.kubernetes.io/unschedulable", "", "NoSchedule") {
        return Some("node(s) were unschedulable");
    }
    let repels = |(key, value, effect): &(String, String, String)| {
        matches!(effect.as_str(), "NoSchedule" | "NoExecute")
            && key != SIMULATED_TAINT
            && !(machine.cordoned && key == "node.kubernetes.io/unschedulable")
            && !tolerates(pod, key, value, effect)
    };
    if machine.taints.iter().any(repels) {
        return Some("node(s) had untolerated taint(s)");
    }
    let selected = pod.spec.node_selector.iter().all(|(key, value)| machine.labels.get(key) == Some(value));
    let wanted = pod.spec.affinity.as_ref().is_none_or(|affinity| affinity.node_affinity.allows(machine));
    (!selected || !wanted).then_some("node(s) didn't match Pod's node affinity/selector")
}

fn tolerates(pod: &Pod, key: &str, value: &str, effect: &str) -> bool {
    pod.spec.tolerations.iter().any(|toleration: &Toleration| {
        let exists = toleration.operator.as_deref() == Some("Exists");
        let key_fits = match toleration.key.as_deref() {
            None | Some("") => exists,
            Some(wanted) => wanted == key,
        };
        let value_fits = exists || toleration.value.as_deref().unwrap_or_default() == value;
        let effect_fits =
            toleration.effect.as_deref().is_none_or(|wanted| wanted.is_empty() || wanted == effect);
        key_fits && value_fits && effect_fits
    })
}

/// Which resources are too small, worded as the real scheduler does.
fn lacks(demand: &Demand, size: &Demand, used: &Demand) -> Vec<String> {
    let mut lacks = Vec::new();
    let short = |wanted: u64, has: u64, used: u64| wanted > 0 && used.saturating_add(wanted) > has;
    if short(demand.pods, size.pods, used.pods) {
        lacks.push("Too many pods".into());
    }
    if short(demand.cpu_milli, size.cpu_milli, used.cpu_milli) {
        lacks.push("Insufficient cpu".into());
    }
    if short(demand.memory, size.memory, used.memory) {
        lacks.push("Insufficient memory".into());
    }
    if short(demand.storage, size.storage, used.storage) {
        lacks.push("Insufficient ephemeral-storage".into());
    }
    for (name, wanted) in &demand.others {
        let of = |demand: &Demand| demand.others.get(name).copied().unwrap_or_default();
        if short(*wanted, of(size), of(used)) {
            lacks.push(format!("Insufficient {name}"));
        }
    }
    lacks
}

/// The text of the real scheduler (`FitError` of Kubernetes 1.36). Nothing is ever preempted here.
fn message(machines: usize, reasons: &BTreeMap<String, usize>, could_preempt: usize) -> String {
    if machines == 0 {
        return NO_NODES.into();
    }
    let listed = |counts: Vec<(usize, &str)>| {
        let mut parts: Vec<String> =
            counts.iter().map(|(count, reason)| format!("{count} {reason}")).collect();
        parts.sort();
        parts.join(", ")
    };
    let why = listed(reasons.iter().map(|(reason, count)| (*count, reason.as_str())).collect());
    let mut preemption = Vec::new();
    if could_preempt > 0 {
        preemption.push((could_preempt, "No preemption victims found for incoming pod"));
    }
    if machines > could_preempt {
        preemption.push((machines - could_preempt, "Preemption is not helpful for scheduling"));
    }
    let preemption = listed(preemption);
    format!(
        "0/{machines} nodes are available: {why}. preemption: 0/{machines} nodes are available: {preemption}."
    )
}

/// A share in ten-thousandths.
fn share(used: u64, size: u64) -> u64 {
    if size == 0 {
        u64::MAX
    } else {
        u64::try_from(u128::from(used) * 10_000 / u128::from(size)).unwrap_or(u64::MAX)
    }
}

fn fullness(used: &Demand, size: &Demand) -> u64 {
    share(used.cpu_milli, size.cpu_milli).max(share(used.memory, size.memory))
}

#[cfg(test)]
mod tests {
    use super::{
        Arc, BTreeMap, Candidate, Decision, Demand, HashMap, Pod, Rules, SIMULATED_TAINT, refused_everywhere,
        schedule,
    };
    use serde_json::json;

    fn machine(name: &str, pods: u64) -> Candidate {
        Candidate {
            name: name.into(),
            labels: BTreeMap::from([("zone".to_owned(), name.to_owned())]),
            size: Demand { cpu_milli: 4000, memory: 8 << 30, storage: 1 << 40, pods, ..Demand::default() },
            ..Candidate::default()
        }
    }

    fn pod(spec: &serde_json::Value) -> Pod {
        serde_json::from_value(json!({"metadata": {"name": "p", "namespace": "n", "uid": "u"}, "spec": spec}))
            .unwrap()
    }

    fn with_requests(requests: &serde_json::Value) -> Pod {
        pod(&json!({"containers": [{"name": "c", "image": "i", "resources": {"requests": requests}}]}))
    }

    fn all(machines: &[Candidate]) -> Vec<Arc<Candidate>> {
        machines.iter().cloned().map(Arc::new).collect()
    }

    fn bound(decision: Decision) -> String {
        match decision {
            Decision::Bind(name) => name,
            Decision::Unschedulable(message) => panic!("unschedulable: {message}"),
        }
    }

    fn refused(decision: Decision) -> String {
        match decision {
            Decision::Bind(name) => panic!("bound to {name}"),
            Decision::Unschedulable(message) => message,
        }
    }

    #[test]
    fn pods_spread_over_machines_by_their_size() {
        let machines = [machine("a", 10), machine("b", 20)];
        let mut usage: HashMap<String, Demand> = HashMap::new();
        let mut counts: BTreeMap<String, u32> = BTreeMap::new();
        for _ in 0..30 {
            let pod = with_requests(&json!({}));
            let name = bound(schedule(&pod, &all(&machines), &usage, &Rules::default()));
            usage.entry(name.clone()).or_default().add(&Demand::of(&pod));
            *counts.entry(name).or_default() += 1;
        }
        assert_eq!(counts, BTreeMap::from([("a".into(), 10), ("b".into(), 20)]));
        assert_eq!(
            refused(schedule(&with_requests(&json!({})), &all(&machines), &usage, &Rules::default())),
            "0/2 nodes are available: 2 Too many pods. preemption: 0/2 nodes are available: \
             2 No preemption victims found for incoming pod."
        );
    }

    #[test]
    fn requests_must_fit_into_what_is_left() {
        let machines = [machine("a", 10)];
        let used = HashMap::from([("a".to_owned(), Demand { cpu_milli: 3500, ..Demand::default() })]);
        assert_eq!(
            bound(schedule(
                &with_requests(&json!({"cpu": "500m"})),
                &all(&machines),
                &used,
                &Rules::default()
            )),
            "a"
        );
        let message = refused(schedule(
            &with_requests(&json!({"cpu": "501m", "memory": "9Gi"})),
            &all(&machines),
            &used,
            &Rules::default(),
        ));
        assert!(
            message.starts_with("0/1 nodes are available: 1 Insufficient cpu, 1 Insufficient memory. "),
            "{message}"
        );
        let message = refused(schedule(
            &with_requests(&json!({"example.com/gpu": 1})),
            &all(&machines),
            &used,
            &Rules::default(),
        ));
        assert!(message.contains("1 Insufficient example.com/gpu"), "{message}");
    }

    #[test]
    fn limits_stand_in_for_missing_requests_and_init_containers_for_their_peak() {
        let pod = pod(&json!({
            "containers": [{"name": "a", "resources": {"limits": {"cpu": "1", "memory": "1Gi"}}},
                {"name": "b", "resources": {"limits": {"cpu": "2"}, "requests": {"cpu": "500m"}}}],
            "initContainers": [{"name": "i", "resources": {"requests": {"cpu": "3"}}}],
            "overhead": {"cpu": "100m"},
        }));
        let demand = Demand::of(&pod);
        assert_eq!((demand.cpu_milli, demand.memory, demand.pods), (3100, 1 << 30, 1));
    }

    #[test]
    fn selectors_cordons_and_taints_keep_pods_away() {
        let mut machines = [machine("a", 10), machine("b", 10), machine("c", 10)];
        let pick = |zone: &str| pod(&json!({"containers": [], "nodeSelector": {"zone": zone}}));
        assert_eq!(bound(schedule(&pick("b"), &all(&machines), &HashMap::new(), &Rules::default())), "b");
        machines[0].cordoned = true;
        machines[1].taints = vec![("dedicated".into(), "x".into(), "NoSchedule".into())];
        assert_eq!(
            refused(schedule(&pick("b"), &all(&machines), &HashMap::new(), &Rules::default())),
            "0/3 nodes are available: 1 node(s) didn't match Pod's node affinity/selector, 1 node(s) had untolerated \
             taint(s), 1 node(s) were unschedulable. preemption: 0/3 nodes are available: \
             3 Preemption is not helpful for scheduling."
        );
        let tolerant = pod(&json!({"containers": [], "nodeSelector": {"zone": "b"},
            "tolerations": [{"key": "dedicated", "value": "x", "effect": "NoSchedule"}]}));
        assert_eq!(bound(schedule(&tolerant, &all(&machines), &HashMap::new(), &Rules::default())), "b");
        let any = pod(
            &json!({"containers": [], "nodeSelector": {"zone": "a"}, "tolerations": [{"operator": "Exists"}]}),
        );
        assert_eq!(bound(schedule(&any, &all(&machines), &HashMap::new(), &Rules::default())), "a");
    }

    #[test]
    fn ports_of_a_node_are_taken_once() {
        let with_port = |ip: &str, port: u16, protocol: &str| {
            let port = json!({"containerPort": 1, "hostPort": port, "hostIP": ip, "protocol": protocol});
            pod(&json!({"containers": [{"name": "c", "ports": [port]}]}))
        };
        let machines = [machine("a", 10)];
        let mut used = HashMap::from([("a".to_owned(), Demand::of(&with_port("", 7777, "UDP")))]);
        for (ip, port, protocol, free) in [
            ("", 7777, "UDP", false),
            ("10.0.0.1", 7777, "UDP", false),
            ("", 7777, "TCP", true),
            ("", 7778, "UDP", true),
        ] {
            match schedule(&with_port(ip, port, protocol), &all(&machines), &used, &Rules::default()) {
                Decision::Bind(_) => assert!(free, "{ip}:{port}/{protocol}"),
                Decision::Unschedulable(message) => {
                    assert!(
                        !free
                            && message
                                .contains("1 node(s) didn't have free ports for the requested pod ports")
                    );
                    assert!(message.contains("1 No preemption victims found"), "{message}");
                }
            }
        }
        used.get_mut("a").unwrap().remove(&Demand::of(&with_port("", 7777, "UDP")));
        assert_eq!(
            bound(schedule(&with_port("", 7777, "UDP"), &all(&machines), &used, &Rules::default())),
            "a"
        );
    }

    #[test]
    fn affinity_decides_and_preference_ranks() {
        let machines = [machine("a", 10), machine("b", 10), machine("c", 10)];
        let in_zones = |zones: &[&str]| json!([{"key": "zone", "operator": "In", "values": zones}]);
        let wants = pod(&json!({"containers": [], "affinity": {"nodeAffinity": {
            "requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [{"matchExpressions": in_zones(&["b", "c"])}]},
            "preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 1, "preference": {"matchExpressions": in_zones(&["c"])}}],
        }}}));
        assert_eq!(bound(schedule(&wants, &all(&machines), &HashMap::new(), &Rules::default())), "c");
        let only_a = &machines[..1];
        let message = refused(schedule(&wants, &all(only_a), &HashMap::new(), &Rules::default()));
        assert!(message.contains("1 node(s) didn't match Pod's node affinity/selector"), "{message}");
    }

    #[test]
    fn claims_refuse_all_machines_at_once() {
        assert_eq!(
            refused_everywhere(3, "persistentvolumeclaim \"x\" not found"),
            "0/3 nodes are available: persistentvolumeclaim \"x\" not found. preemption: 0/3 nodes are available: \
             3 Preemption is not helpful for scheduling."
        );
    }

    #[test]
    fn our_own_taint_repels_only_other_schedulers() {
        let mut only = machine("a", 10);
        only.taints = vec![(SIMULATED_TAINT.into(), "true".into(), "NoSchedule".into())];
        assert_eq!(
            bound(schedule(&with_requests(&json!({})), &all(&[only]), &HashMap::new(), &Rules::default())),
            "a"
        );
    }

    #[test]
    fn without_machines_the_message_is_that_of_the_real_scheduler() {
        let message = refused(schedule(&with_requests(&json!({})), &[], &HashMap::new(), &Rules::default()));
        assert_eq!(message, "no nodes available to schedule pods");
    }
}
