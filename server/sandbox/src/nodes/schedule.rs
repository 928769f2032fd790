//! The simulated scheduler's decision, pure: a pod, the machines and what is used of them in, a machine or the reason out.
//!
//! Judged are, in this order: cordons, taints of effect NoSchedule and NoExecute, `nodeSelector` and required node
//! affinity, host ports, requests and the number of pods, affinity to other pods. Claims are judged before
//! ([`super::volumes`]). Spread constraints and preferences about other pods neither attract nor repel.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use super::affinity::Rules;
use super::demand::Demand;
use super::node::{Node, SIMULATED_TAINT, Taint};
use super::pod::{Pod, Toleration};

/// What the real scheduler says when there is no node at all.
const NO_NODES: &str = "no nodes available to schedule pods";

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
#[path = "schedule_tests.rs"]
mod tests;
