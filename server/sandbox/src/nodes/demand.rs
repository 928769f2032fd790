//! What pods ask for and machines have: amounts of resources, and ports of nodes.

use std::collections::BTreeMap;

use super::amount::Amount;
use super::pod::{Container, HostPort, Pod};

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
    pub fn clashes(&self, other: &Self) -> bool {
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
