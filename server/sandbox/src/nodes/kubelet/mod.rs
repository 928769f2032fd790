//! The simulated kubelet as a pure state machine: [`plan`] takes a pod, what the kubelet remembers of its containers
//! and the time, and says which status the pod should have and when to look again. No client, no clock, no randomness.

mod container;
mod recover;
mod resize;
mod say;
mod status;
#[cfg(test)]
mod tests;
mod trouble;
#[cfg(test)]
mod trouble_tests;

use std::collections::HashSet;
use std::time::Duration;

use jiff::Timestamp;

use super::clock::after;
use super::demand::Demand;
use super::events::Note;
use super::ids::mix;
use super::options::Timing;
use super::pod::{Container, Pod, PodStatus};
pub use container::{Memory, State};
use resize::Resizing;
pub use resize::asks_for_room;

/// What the machine contributes to a decision.
#[derive(Clone, Copy, Debug)]
pub struct Machine<'a> {
    /// Its address, which becomes `hostIP`.
    pub ip: &'a str,
    /// Images that it has already.
    pub images: &'a HashSet<String>,
    /// How long things take.
    pub timing: &'a Timing,
    /// Makes spread and ids repeatable.
    pub seed: u64,
    /// What it has, for pods that [ask for it](asks_for_room); absent when it is not known.
    pub room: Option<&'a Room>,
}

/// What a machine has, and what other pods use of it.
#[derive(Clone, Debug, Default)]
pub struct Room {
    /// What all pods may use together.
    pub size: Demand,
    /// What all others use.
    pub others: Demand,
}

impl Machine<'_> {
    /// A span, spread by the jitter in a way that depends only on the seed and `parts`.
    fn spread(&self, span: Duration, parts: &[&str]) -> Duration {
        // 20 bits are plenty for a spread, and exact as f64.
        let share =
            f64::from(u32::try_from(mix(self.seed, parts) >> 44).unwrap_or(0)) / f64::from(1_u32 << 20);
        span.mul_f64((1.0 + self.timing.jitter * (2.0 * share - 1.0)).max(0.0))
    }

    /// The wait after the `tries`-th failure in a row, counted from 1: doubles up to the longest.
    fn backoff(&self, tries: u32) -> Duration {
        let doubled = self.timing.backoff.saturating_mul(1 << tries.saturating_sub(1).min(20));
        doubled.min(self.timing.backoff_max)
    }
}

/// What the kubelet remembers of one pod between two looks.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Local {
    /// The pod's address.
    pub ip: Option<String>,
    /// When the kubelet saw the pod first.
    pub started: Option<Timestamp>,
    /// When it saw that the pod shall go.
    pub asked_to_stop: Option<Timestamp>,
    /// Init containers, in the order of the spec.
    pub init: Vec<Memory>,
    /// Containers, in the order of the spec.
    pub app: Vec<Memory>,
    /// What goes on about other sizes.
    pub resizing: Resizing,
}

/// The outcome of one look at a pod.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Plan {
    /// The status that the pod should have; absent when it has it.
    pub status: Option<PodStatus>,
    /// When to look again, if nothing happens before.
    pub wake: Option<Timestamp>,
    /// All has stopped and the pod shall go: after the status, delete it for good.
    pub remove: bool,
    /// Images that the machine has from now on.
    pub pulled: Vec<String>,
    /// A resize waits for room: look again when other pods of the machine use less.
    pub cramped: bool,
    /// What the kubelet has to say.
    pub notes: Vec<Note>,
}

impl Plan {
    /// Remembers the earliest of several times to look again.
    fn wake_at(&mut self, when: Timestamp) {
        self.wake = Some(self.wake.map_or(when, |earlier| earlier.min(when)));
    }
}

/// Decides what happens in one pod that is bound to a machine.
///
/// `local` is brought up to date; on first sight ([`Local::default`] with an address) it is taken from the pod's
/// status, so that a restarted simulation goes on without restarting any container.
pub fn plan(pod: &Pod, local: &mut Local, now: Timestamp, machine: &Machine<'_>) -> Plan {
    let mut plan = Plan::default();
    if local.started.is_none() {
        recover::recover(pod, local, now, machine);
    }
    if pod.is_terminal() && !pod.is_deleting() {
        return plan;
    }
    local.follow_spec(pod);
    if pod.is_deleting() {
        let asked = *local.asked_to_stop.get_or_insert_with(|| {
            plan.notes.extend(container::farewells(&local.init, &local.app));
            now
        });
        let stopped_at = after(asked, trouble::stop_span(pod, machine));
        if stopped_at > now {
            plan.wake_at(stopped_at);
        } else {
            // A grace period of zero means that the API server has already let go: finalizers hold the object.
            plan.remove = pod.metadata.deletion_grace_period_seconds != Some(0);
            local.end_everything(|spec| trouble::stop_code(pod, spec, machine), pod, stopped_at);
        }
    } else {
        match pod.wish("phase") {
            Some("Failed") => local.end_everything(|_| 1, pod, now),
            Some("Succeeded") => local.end_everything(|_| 0, pod, now),
            _ => {
                resize::settle(pod, local, now, machine, &mut plan);
                container::advance_all(pod, local, now, machine, &mut plan);
            }
        }
    }
    let wanted = status::status(pod, local, now, machine);
    if wanted != pod.status {
        plan.status = Some(wanted);
    }
    plan
}

impl Local {
    /// Gives every container of the spec a memory, in the order of the spec.
    fn follow_spec(&mut self, pod: &Pod) {
        for (memories, specs) in
            [(&mut self.init, &pod.spec.init_containers), (&mut self.app, &pod.spec.containers)]
        {
            let same =
                memories.len() == specs.len() && memories.iter().zip(specs).all(|(m, s)| m.name == s.name);
            if !same {
                let mut old = std::mem::take(memories);
                *memories = specs
                    .iter()
                    .map(|spec| {
                        let known = old.iter().position(|memory| memory.name == spec.name);
                        known.map_or_else(|| Memory::new(&spec.name), |at| old.swap_remove(at))
                    })
                    .collect();
            }
        }
    }

    /// Ends all containers for good: those that run with their code, those that never ran as a kubelet reports them.
    fn end_everything(&mut self, code: impl Fn(&Container) -> i32, pod: &Pod, when: Timestamp) {
        self.resizing = Resizing::default();
        let init = self.init.iter_mut().zip(&pod.spec.init_containers);
        for (memory, spec) in init.chain(self.app.iter_mut().zip(&pod.spec.containers)) {
            memory.end_for_good(code(spec), when);
        }
    }
}

/// The grace period: that of the deletion, else that of the spec.
fn grace(pod: &Pod) -> Option<Duration> {
    let seconds = pod
        .metadata
        .deletion_grace_period_seconds
        .or(pod.spec.termination_grace_period_seconds)
        .unwrap_or(30);
    u64::try_from(seconds).ok().map(Duration::from_secs)
}
