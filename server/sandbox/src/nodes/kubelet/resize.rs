//! Resize in place: what was asked for is set aside if the machine has room, and is in force a moment later. Pure.
//!
//! As in Kubernetes 1.36: what does not fit now is deferred, with a condition, and tried again when others use less. What
//! could never fit is refused by the API server before it comes here.

use std::collections::BTreeMap;

use jiff::Timestamp;

use super::super::amount::Amount;
use super::super::clock::after;
use super::super::demand::Demand;
use super::super::pod::{Container, ContainerStatus, Pod, Resources};
use super::{Local, Machine, Plan};

/// Something about a resize that a condition of the pod tells.
#[derive(Clone, Debug, PartialEq)]
pub struct Told {
    /// Why it waits; empty while it goes on.
    pub message: String,
    /// Generation of the spec that asked.
    pub generation: Option<i64>,
}

/// What the kubelet remembers of resizes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Resizing {
    /// It waits for room.
    pub pending: Option<Told>,
    /// It is set aside, and in force at this time.
    pub going_on: Option<(Told, Timestamp)>,
}

/// True when a pod asks for other resources than were set aside for it: then the plan needs to know the machine's room.
///
/// What is set aside stands in the pod's status, and only there: copies for every pod would cost more than all the rest.
pub fn asks_for_room(pod: &Pod, local: &Local) -> bool {
    let going_on =
        local.resizing.going_on.as_ref().is_some_and(|(told, _)| told.generation == pod.metadata.generation);
    !going_on
        && !pod.is_deleting()
        && !pod.is_terminal()
        && specs(pod).any(|spec| set_aside(pod, &spec.name).is_some_and(|old| old != spec.resources))
}

fn specs(pod: &Pod) -> impl Iterator<Item = &Container> {
    pod.spec.init_containers.iter().chain(&pod.spec.containers)
}

fn known<'a>(pod: &'a Pod, container: &str) -> Option<&'a ContainerStatus> {
    let all = pod.status.init_container_statuses.iter().chain(&pod.status.container_statuses);
    all.into_iter().find(|status| status.name == container)
}

/// What the status says that is set aside. It has requests only; limits are those in force.
fn set_aside(pod: &Pod, container: &str) -> Option<Resources> {
    let status = known(pod, container)?;
    let limits = status.resources.as_ref()?.limits.clone();
    Some(Resources { requests: status.allocated_resources.clone(), limits })
}

/// Requests that are set aside for a container, and its resources in force, as its status shall tell them.
pub fn told(pod: &Pod, local: &Local, spec: &Container) -> (BTreeMap<String, Amount>, Resources) {
    let old = known(pod, &spec.name);
    let allocated = match &local.resizing.pending {
        Some(_) => old.map(|status| status.allocated_resources.clone()),
        None => None,
    };
    let changes = local.resizing.pending.is_some() || local.resizing.going_on.is_some();
    let in_force = if changes { old.and_then(|status| status.resources.clone()) } else { None };
    (
        allocated.unwrap_or_else(|| spec.resources.requests.clone()),
        in_force.unwrap_or_else(|| spec.resources.clone()),
    )
}

/// Brings what goes on about other sizes to where it is now.
pub fn settle(pod: &Pod, local: &mut Local, now: Timestamp, machine: &Machine<'_>, plan: &mut Plan) {
    let generation = pod.metadata.generation;
    local.resizing.pending = None;
    if asks_for_room(pod, local) {
        if let Some(message) = no_room(pod, machine) {
            plan.cramped = true;
            local.resizing.pending = Some(Told { message, generation });
        } else {
            let until = after(now, machine.timing.resize);
            local.resizing.going_on = Some((Told { message: String::new(), generation }, until));
            let init = local.init.iter_mut().zip(&pod.spec.init_containers);
            for (memory, spec) in init.chain(local.app.iter_mut().zip(&pod.spec.containers)) {
                let old = set_aside(pod, &spec.name);
                let restarts = old.is_some_and(|old| needs_restart(&old, spec));
                memory.restart_for_size |= restarts && memory.running_since().is_some();
            }
        }
    }
    match local.resizing.going_on {
        Some((_, until)) if until > now => plan.wake_at(until),
        _ => local.resizing.going_on = None,
    }
}

/// Why a pod cannot have what it asks for now, in the words of a kubelet. Amounts are in thousandths and bytes.
fn no_room(pod: &Pod, machine: &Machine<'_>) -> Option<String> {
    let room = machine.room?;
    let wanted = Demand::of(pod);
    let short = |name: &str, wanted: u64, used: u64, capacity: u64| {
        (used.saturating_add(wanted) > capacity).then(|| {
            format!("Node didn't have enough resource: {name}, requested: {wanted}, used: {used}, capacity: {capacity}")
        })
    };
    short("cpu", wanted.cpu_milli, room.others.cpu_milli, room.size.cpu_milli)
        .or_else(|| short("memory", wanted.memory, room.others.memory, room.size.memory))
}

fn needs_restart(old: &Resources, spec: &Container) -> bool {
    let changed = |name: &str| {
        old.requests.get(name) != spec.resources.requests.get(name)
            || old.limits.get(name) != spec.resources.limits.get(name)
    };
    spec.restart_on_resize.iter().any(|name| changed(name))
}
