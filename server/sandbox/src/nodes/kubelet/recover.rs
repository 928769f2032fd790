//! Takes the kubelet's memory from the pod's status, after the simulation was restarted: containers that run go on.

use jiff::Timestamp;

use super::super::clock::after;
use super::super::pod::{Container, ContainerStatus, Pod, Terminated};
use super::container::{Exit, RESTART_PAUSE, restarts_after, runs_to_its_end};
use super::resize::Told;
use super::{Local, Machine, Memory, State, trouble};

/// Fills `local` from what the API server knows about the pod.
pub fn recover(pod: &Pod, local: &mut Local, now: Timestamp, machine: &Machine<'_>) {
    let status = &pod.status;
    local.started = Some(status.start_time.as_ref().map_or(now, |time| time.0));
    if let Some(ip) = &status.pod_ip {
        local.ip = Some(ip.clone());
    }
    let memories = |known: &[ContainerStatus], specs: &[Container], init: bool| {
        let one = |known: &ContainerStatus| {
            let spec = specs.iter().find(|spec| spec.name == known.name)?;
            let again = |code: i32| restarts_after(pod, spec, init && runs_to_its_end(spec), code);
            let mut memory = memory(known, &spec.image, again, now, machine);
            recall_crash(&mut memory, pod, spec);
            Some(memory)
        };
        known.iter().filter_map(one).collect()
    };
    local.init = memories(&status.init_container_statuses, &pod.spec.init_containers, true);
    local.app = memories(&status.container_statuses, &pod.spec.containers, false);
    if status.condition("PodResizeInProgress").is_some() {
        let told = Told { message: String::new(), generation: pod.metadata.generation };
        local.resizing.going_on = Some((told, now));
    }
}

/// A wish to crash once is taken as fulfilled when the last run ended with its code.
fn recall_crash(memory: &mut Memory, pod: &Pod, spec: &Container) {
    let last = memory.ended.as_ref().or(memory.before.as_ref());
    if let Some((code, wish)) = trouble::crash_once(pod, spec)
        && last.is_some_and(|exit| exit.code == code)
    {
        memory.crashed_for = Some(wish);
    }
}

fn memory(
    known: &ContainerStatus,
    spec_image: &str,
    restarts_after: impl Fn(i32) -> bool,
    now: Timestamp,
    machine: &Machine<'_>,
) -> Memory {
    let mut memory = Memory::new(&known.name);
    memory.restarts = known.restart_count;
    memory.crashes = known.restart_count;
    memory.ready = known.ready;
    memory.started = known.started.unwrap_or_default();
    memory.before = known.last_state.terminated.as_ref().map(exit);
    let has_run = known.container_id.as_deref().is_some_and(|id| !id.is_empty());
    memory.image = has_run.then(|| known.image.clone());
    let waiting = known.state.waiting.as_ref().and_then(|waiting| waiting.reason.as_deref());
    if let Some(running) = &known.state.running {
        memory.state = State::Running { since: running.started_at.as_ref().map_or(now, |time| time.0) };
    } else if let Some(terminated) = &known.state.terminated {
        memory.ended = Some(exit(terminated));
        // A container that was stopped for a new image goes on whatever its policy is.
        let replaced = has_run && spec_image != known.image;
        let again = replaced || restarts_after(terminated.exit_code);
        let resume = again.then(|| after(now, RESTART_PAUSE));
        memory.state = State::Ended { resume, backing_off: false };
    } else if waiting == Some("CrashLoopBackOff") {
        memory.ended = memory.before.take();
        let finished = memory.ended.as_ref().and_then(|exit| exit.finished).unwrap_or(now);
        memory.crashes = known.restart_count.saturating_add(1);
        let wait = machine.backoff(memory.crashes.saturating_sub(1));
        memory.state = State::Ended { resume: Some(after(finished, wait)), backing_off: true };
    } else if has_run {
        // It ran once and waits for its image.
        memory.ended = memory.before.take();
        memory.state = State::Ended { resume: Some(now), backing_off: false };
    }
    memory
}

fn exit(terminated: &Terminated) -> Exit {
    let reason = match terminated.reason.as_deref() {
        Some("Completed") => "Completed",
        Some("ContainerStatusUnknown") => "ContainerStatusUnknown",
        _ => "Error",
    };
    Exit {
        code: terminated.exit_code,
        reason,
        started: terminated.started_at.as_ref().map(|time| time.0),
        finished: terminated.finished_at.as_ref().map(|time| time.0),
    }
}
