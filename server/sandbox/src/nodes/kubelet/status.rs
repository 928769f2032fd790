//! From the kubelet's memory to the pod status it reports: phases, conditions and container states as the real one
//! words them (`pkg/kubelet/kubelet_pods.go` and `pkg/kubelet/status/generate.go` of Kubernetes 1.36).

use jiff::Timestamp;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;

use super::super::ids;
use super::super::pod::{
    Address, Condition, Container, ContainerState, ContainerStatus, Pod, PodStatus, Running, Terminated,
    Waiting,
};
use super::container::{Exit, Memory, State};
use super::say::{go_duration, pull_error};
use super::{Local, Machine, resize};

/// The whole status that the pod should have. Conditions of other writers are kept, and times move only on change.
pub fn status(pod: &Pod, local: &Local, now: Timestamp, machine: &Machine<'_>) -> PodStatus {
    let old = &pod.status;
    // A deletion raises the generation too. The status says so when all has ended, not in a write of its own.
    let ending = pod.is_deleting() && local.app.iter().any(|memory| memory.final_exit().is_none());
    let generation = if ending { old.observed_generation } else { pod.metadata.generation };
    let forced = forced_phase(pod).filter(|_| !pod.is_deleting());
    let initialized = initialized(pod, local);
    let statuses = |memories: &[Memory], specs: &[Container], waits_for: &str| -> Vec<ContainerStatus> {
        let pairs = memories.iter().zip(specs);
        pairs.map(|(memory, spec)| container_status(pod, local, memory, spec, waits_for, machine)).collect()
    };
    let init = statuses(&local.init, &pod.spec.init_containers, "PodInitializing");
    let waits_for = if initialized { "ContainerCreating" } else { "PodInitializing" };
    let app = statuses(&local.app, &pod.spec.containers, waits_for);
    let phase = forced.map_or_else(|| phase(pod, local), Into::into);
    let ip = if pod.spec.host_network { Some(machine.ip.to_owned()) } else { local.ip.clone() };
    let mut wanted = PodStatus {
        observed_generation: generation,
        phase: Some(phase),
        reason: forced.map(|_| "Simulated".into()).or_else(|| old.reason.clone()),
        message: forced
            .map(|phase| format!("the annotation sim.pilothouse.dev/phase asks for {phase}"))
            .or_else(|| old.message.clone()),
        conditions: Vec::new(),
        host_ip: Some(machine.ip.to_owned()),
        host_ips: vec![Address { ip: machine.ip.to_owned() }],
        pod_ips: ip.iter().map(|ip| Address { ip: ip.clone() }).collect(),
        pod_ip: ip,
        start_time: local.started.map(second),
        init_container_statuses: init,
        container_statuses: app,
    };
    wanted.conditions = conditions(pod, &wanted, initialized, now);
    tell_resize(&mut wanted.conditions, local, now);
    wanted
}

/// The phase that an annotation asks for.
fn forced_phase(pod: &Pod) -> Option<&'static str> {
    match pod.wish("phase") {
        Some("Failed") => Some("Failed"),
        Some("Succeeded") => Some("Succeeded"),
        _ => None,
    }
}

/// True when all init containers have done what the others wait for.
fn initialized(pod: &Pod, local: &Local) -> bool {
    local.init.iter().zip(&pod.spec.init_containers).all(|(memory, spec)| {
        if spec.restart_policy.as_deref() == Some("Always") {
            memory.running_since().is_some() || pod.is_deleting()
        } else {
            memory.final_exit().is_some_and(|exit| exit.code == 0)
        }
    })
}

fn phase(pod: &Pod, local: &Local) -> String {
    let policy = pod.spec.restart_policy.as_deref().unwrap_or("Always");
    let all_final = local.app.iter().all(|memory| memory.final_exit().is_some());
    let ended_well = || local.app.iter().all(|memory| memory.final_exit().is_some_and(|exit| exit.code == 0));
    if pod.is_deleting() && all_final {
        return if ended_well() { "Succeeded" } else { "Failed" }.into();
    }
    let init_failed = local.init.iter().any(|memory| memory.final_exit().is_some_and(|exit| exit.code != 0));
    if policy == "Never" && init_failed {
        return "Failed".into();
    }
    let never_ran = |memory: &Memory| memory.running_since().is_none() && memory.ended.is_none();
    if !initialized(pod, local) || local.app.iter().any(never_ran) {
        return "Pending".into();
    }
    if all_final {
        return match policy {
            "Always" => "Running",
            _ if ended_well() => "Succeeded",
            _ => "Failed",
        }
        .into();
    }
    "Running".into()
}

/// One container as the kubelet reports it.
fn container_status(
    pod: &Pod,
    local: &Local,
    memory: &Memory,
    spec: &Container,
    waits_for: &str,
    machine: &Machine<'_>,
) -> ContainerStatus {
    let id = |run: u32| ids::container_id(machine.seed, pod.uid(), &memory.name, run);
    let ended = |exit: &Exit, run: u32| ContainerState {
        terminated: Some(Terminated {
            exit_code: exit.code,
            reason: Some(exit.reason.into()),
            started_at: exit.started.map(second),
            finished_at: exit.finished.map(second),
            container_id: exit.started.map(|_| id(run)),
        }),
        ..ContainerState::default()
    };
    let waiting = |reason: &str, message: Option<String>| ContainerState {
        waiting: Some(Waiting { reason: Some(reason.into()), message }),
        ..ContainerState::default()
    };
    // The run before this one; where the current run has ended too and something else shows, that one is the last.
    let before = || {
        memory
            .before
            .as_ref()
            .map_or_else(ContainerState::default, |exit| ended(exit, memory.restarts.saturating_sub(1)))
    };
    let last = || memory.ended.as_ref().map_or_else(before, |exit| ended(exit, memory.restarts));
    let not_begun = || match &memory.ended {
        Some(exit) => (ended(exit, memory.restarts), before()),
        None => (waiting(waits_for, None), before()),
    };
    let (state, last_state) = match &memory.state {
        State::Running { since } | State::Stopping { since, .. } => {
            let running = Running { started_at: Some(second(*since)) };
            (ContainerState { running: Some(running), ..ContainerState::default() }, before())
        }
        State::PullFailed { image, fresh: true, .. } => {
            (waiting("ErrImagePull", Some(pull_error(image))), last())
        }
        State::PullFailed { image, .. } => (waiting("ImagePullBackOff", Some(pull_backoff(image))), last()),
        State::Pulling { image, failures, .. } if *failures > 0 => {
            (waiting("ImagePullBackOff", Some(pull_backoff(image))), last())
        }
        State::Ended { backing_off: true, .. } => {
            (waiting("CrashLoopBackOff", Some(crash_backoff(pod, memory, machine))), last())
        }
        State::Waiting | State::Pulling { .. } | State::Starting { .. } | State::Ended { .. } => not_begun(),
    };
    let (allocated_resources, resources) = resize::told(pod, local, spec);
    let has_run = memory.image.is_some();
    let image = memory.image.as_deref().unwrap_or(&spec.image);
    ContainerStatus {
        name: memory.name.clone(),
        state,
        last_state,
        ready: memory.ready || is_completed_init(memory, pod),
        restart_count: memory.restarts,
        image: image.to_owned(),
        image_id: if has_run { ids::image_id(image) } else { String::new() },
        container_id: has_run.then(|| id(memory.restarts)),
        started: Some(memory.started),
        allocated_resources,
        resources: Some(resources),
    }
}

/// A completed init container counts as ready.
fn is_completed_init(memory: &Memory, pod: &Pod) -> bool {
    let is_init = pod.spec.init_containers.iter().any(|spec| spec.name == memory.name);
    is_init && memory.final_exit().is_some_and(|exit| exit.code == 0)
}

fn pull_backoff(image: &str) -> String {
    format!("Back-off pulling image \"{image}\": ErrImagePull: {}", pull_error(image))
}

fn crash_backoff(pod: &Pod, memory: &Memory, machine: &Machine<'_>) -> String {
    let wait = machine.backoff(memory.crashes.saturating_sub(1));
    let (container, name, namespace, uid) = (&memory.name, pod.name(), pod.namespace(), pod.uid());
    format!(
        "back-off {} restarting failed container={container} pod={name}_{namespace}({uid})",
        go_duration(wait)
    )
}

/// True, or why not: reason and message.
type Verdict = Result<(), (&'static str, String)>;

/// The kubelet's conditions merged into those that are there.
fn conditions(pod: &Pod, wanted: &PodStatus, initialized: bool, now: Timestamp) -> Vec<Condition> {
    let containers_ready = containers_ready(wanted);
    let ready = containers_ready.clone().and_then(|()| gates_open(pod));
    let done = wanted.phase.as_deref() == Some("Succeeded");
    let initialized = if initialized || done { Ok(()) } else { Err(incomplete(wanted)) };
    let has_sandbox =
        wanted.pod_ip.is_some() && !matches!(wanted.phase.as_deref(), Some("Succeeded" | "Failed"));
    let has_sandbox = if has_sandbox { Ok(()) } else { Err(("", String::new())) };
    let mine: [(&str, Verdict, Option<&str>); 5] = [
        ("PodReadyToStartContainers", has_sandbox, None),
        ("Initialized", initialized, done.then_some("PodCompleted")),
        ("Ready", ready, None),
        ("ContainersReady", containers_ready, None),
        ("PodScheduled", Ok(()), None),
    ];
    let mut all = pod.status.conditions.clone();
    for (kind, verdict, reason_when_true) in mine {
        let (status, reason, message) = match verdict {
            Ok(()) => ("True", reason_when_true.unwrap_or_default(), String::new()),
            Err((reason, message)) => ("False", reason, message),
        };
        let text = |text: String| (!text.is_empty()).then_some(text);
        let mut new = Condition {
            kind: kind.into(),
            status: status.into(),
            last_probe_time: None,
            last_transition_time: Some(second(now)),
            reason: text(reason.into()),
            message: text(message),
            observed_generation: wanted.observed_generation,
        };
        match all.iter_mut().find(|condition| condition.kind == kind) {
            Some(old) => {
                if old.status == new.status {
                    new.last_transition_time = old.last_transition_time.take();
                }
                *old = new;
            }
            None => all.push(new),
        }
    }
    all
}

/// The conditions about a resize are there only while it waits or goes on.
fn tell_resize(conditions: &mut Vec<Condition>, local: &Local, now: Timestamp) {
    let pending = local.resizing.pending.as_ref().map(|told| (told, Some("Deferred")));
    let going_on = local.resizing.going_on.as_ref().map(|(told, _)| (told, None));
    for (kind, told) in [("PodResizePending", pending), ("PodResizeInProgress", going_on)] {
        let known = conditions.iter().position(|condition| condition.kind == kind);
        let Some((told, reason)) = told else {
            known.map(|at| conditions.remove(at));
            continue;
        };
        let since = known.and_then(|at| conditions[at].last_transition_time.clone());
        let new = Condition {
            kind: kind.into(),
            status: "True".into(),
            last_probe_time: None,
            last_transition_time: since.or_else(|| Some(second(now))),
            reason: reason.map(str::to_owned),
            message: Some(told.message.clone()).filter(|text| !text.is_empty()),
            observed_generation: told.generation,
        };
        match known {
            Some(at) => conditions[at] = new,
            None => conditions.push(new),
        }
    }
}

fn containers_ready(wanted: &PodStatus) -> Verdict {
    match wanted.phase.as_deref() {
        Some("Succeeded") => return Err(("PodCompleted", String::new())),
        Some("Failed") => return Err(("PodFailed", String::new())),
        _ => {}
    }
    let unready: Vec<&str> = wanted
        .container_statuses
        .iter()
        .filter(|status| !status.ready)
        .map(|status| status.name.as_str())
        .collect();
    if unready.is_empty() {
        return Ok(());
    }
    Err(("ContainersNotReady", format!("containers with unready status: [{}]", unready.join(" "))))
}

/// A kubelet only reads the conditions of readiness gates; whoever owns a gate sets its condition.
fn gates_open(pod: &Pod) -> Verdict {
    let closed: Vec<String> = pod
        .spec
        .readiness_gates
        .iter()
        .filter_map(|gate| {
            let kind = &gate.condition_type;
            match pod.status.condition(kind) {
                None => {
                    Some(format!("corresponding condition of pod readiness gate \"{kind}\" does not exist."))
                }
                Some(condition) if condition.status == "True" => None,
                Some(condition) => Some(format!(
                    "the status of pod readiness gate \"{kind}\" is not \"True\", but {}",
                    condition.status
                )),
            }
        })
        .collect();
    if closed.is_empty() { Ok(()) } else { Err(("ReadinessGatesNotReady", closed.join(", "))) }
}

fn incomplete(wanted: &PodStatus) -> (&'static str, String) {
    let names: Vec<&str> = wanted
        .init_container_statuses
        .iter()
        .filter(|status| !status.ready)
        .map(|status| status.name.as_str())
        .collect();
    ("ContainersNotInitialized", format!("containers with incomplete status: [{}]", names.join(" ")))
}

/// Kubernetes keeps whole seconds.
fn second(when: Timestamp) -> Time {
    Time(Timestamp::from_second(when.as_second()).unwrap_or(when))
}
