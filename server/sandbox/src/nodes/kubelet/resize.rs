//! Resize in place: what was asked for is set aside if the machine has room, and is in force a moment later. Pure.
//!
//! As in Kubernetes 1.36: what does not fit now is deferred, with a condition, and tried again when others use less. What
//! could never fit is refused by the API server before it comes here.

use jiff::Timestamp;

use super::super::clock::after;
use super::super::pod::{Container, Pod, Resources};
use super::super::schedule::Demand;
use super::{Local, Machine, Memory, Plan};

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
pub fn asks_for_room(pod: &Pod, local: &Local) -> bool {
    !pod.is_deleting()
        && !pod.is_terminal()
        && pairs(pod, local).any(|(memory, spec)| is_resized(memory, spec))
}

fn pairs<'a>(pod: &'a Pod, local: &'a Local) -> impl Iterator<Item = (&'a Memory, &'a Container)> {
    let (init, app) =
        (local.init.iter().zip(&pod.spec.init_containers), local.app.iter().zip(&pod.spec.containers));
    init.chain(app)
}

fn is_resized(memory: &Memory, spec: &Container) -> bool {
    memory.allocated.as_ref().is_some_and(|allocated| *allocated != spec.resources)
}

/// Brings what is set aside, and what is in force, to where they are now.
pub fn settle(pod: &Pod, local: &mut Local, now: Timestamp, machine: &Machine<'_>, plan: &mut Plan) {
    let asks = asks_for_room(pod, local);
    let refusal = asks.then(|| no_room(pod, machine)).flatten();
    let generation = pod.metadata.generation;
    if let Some(message) = refusal {
        plan.cramped = true;
        local.resizing.pending = Some(Told { message, generation });
    } else {
        local.resizing.pending = None;
        if asks {
            let until = after(now, machine.timing.resize);
            local.resizing.going_on = Some((Told { message: String::new(), generation }, until));
        }
        let init = local.init.iter_mut().zip(&pod.spec.init_containers);
        for (memory, spec) in init.chain(local.app.iter_mut().zip(&pod.spec.containers)) {
            if let Some(old) = memory.allocated.replace(spec.resources.clone())
                && old != spec.resources
                && memory.running_since().is_some()
            {
                memory.restart_for_size |= needs_restart(&old, spec);
            }
        }
    }
    match local.resizing.going_on {
        Some((_, until)) if until > now => plan.wake_at(until),
        _ => {
            local.resizing.going_on = None;
            for memory in local.init.iter_mut().chain(&mut local.app) {
                memory.in_force.clone_from(&memory.allocated);
            }
        }
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
    spec.resize_policy
        .iter()
        .any(|policy| policy.restart_policy == "RestartContainer" && changed(&policy.resource_name))
}
