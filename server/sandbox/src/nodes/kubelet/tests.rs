//! Tests of the simulated kubelet: a pod lives through made-up time, each wanted status is stored as an API server would.

use std::collections::HashSet;
use std::time::Duration;

use jiff::Timestamp;
use serde_json::{Value, json};

use super::super::clock::after;
use super::super::events::Note;
use super::super::options::Timing;
use super::super::pod::{ContainerStatus, Pod};
use super::{Local, Machine, Plan, Room, plan};

/// One pod on one machine, and everything that was written about it.
pub(super) struct Life {
    pub(super) pod: Pod,
    pub(super) local: Local,
    pub(super) images: HashSet<String>,
    pub(super) timing: Timing,
    pub(super) now: Timestamp,
    pub(super) room: Option<Room>,
    pub(super) notes: Vec<Note>,
    pub(super) writes: usize,
    pub(super) removed: bool,
}

impl Life {
    pub(super) fn of(spec: Value) -> Self {
        let mut spec = spec;
        spec["nodeName"] = json!("sim-node-0");
        let pod = serde_json::from_value(json!({
            "metadata": {"name": "game-0", "namespace": "prod", "uid": "u-1", "generation": 1},
            "spec": spec,
            "status": {"phase": "Pending", "conditions": [
                {"type": "PodScheduled", "status": "True", "lastTransitionTime": "2026-11-29T09:59:59Z"}]},
        }))
        .unwrap();
        Self {
            pod,
            local: Local { ip: Some("10.128.0.1".into()), ..Local::default() },
            images: HashSet::new(),
            timing: Timing { jitter: 0.0, ..Timing::default() },
            now: "2026-11-29T10:00:00Z".parse().unwrap(),
            room: None,
            notes: Vec::new(),
            writes: 0,
            removed: false,
        }
    }

    pub(super) fn game(image: &str) -> Self {
        Self::of(json!({"containers": [{"name": "game", "image": image,
            "resources": {"requests": {"cpu": "500m"}, "limits": {"memory": "1Gi"}}}]}))
    }

    /// One look, stored.
    pub(super) fn look(&mut self) -> Plan {
        let machine = Machine {
            ip: "172.31.0.1",
            images: &self.images,
            timing: &self.timing,
            seed: 1,
            room: self.room.as_ref(),
        };
        let plan = plan(&self.pod, &mut self.local, self.now, &machine);
        self.images.extend(plan.pulled.clone());
        if let Some(status) = &plan.status {
            self.writes += 1;
            let stored = serde_json::to_value(status).unwrap();
            self.pod.status = serde_json::from_value(stored).unwrap();
        }
        self.notes.extend(plan.notes.clone());
        self.removed |= plan.remove;
        plan
    }

    /// Looks until `span` has passed, waking when the plan says so.
    pub(super) fn pass(&mut self, span: Duration) {
        let end = after(self.now, span);
        for _ in 0..10_000 {
            match self.look().wake {
                Some(wake) if wake <= end => self.now = wake.max(self.now),
                _ => {
                    self.now = end;
                    return;
                }
            }
        }
        panic!("the plan never comes to rest");
    }

    pub(super) fn seconds(&mut self, seconds: u64) {
        self.pass(Duration::from_secs(seconds));
    }

    pub(super) fn wish(&mut self, key: &str, value: &str) {
        let annotations = self.pod.metadata.annotations.get_or_insert_default();
        annotations.insert(format!("sim.pilothouse.dev/{key}"), value.into());
    }

    pub(super) fn container(&self) -> &ContainerStatus {
        &self.pod.status.container_statuses[0]
    }

    pub(super) fn phase(&self) -> &str {
        self.pod.status.phase.as_deref().unwrap()
    }

    pub(super) fn waiting(&self) -> &str {
        self.container().state.waiting.as_ref().and_then(|waiting| waiting.reason.as_deref()).unwrap_or("-")
    }

    /// Status and reason of a condition.
    pub(super) fn condition(&self, kind: &str) -> (&str, &str) {
        let condition = self.pod.status.condition(kind).unwrap();
        (&condition.status, condition.reason.as_deref().unwrap_or_default())
    }
}

#[test]
fn a_pod_starts_and_then_rests() {
    let mut life = Life::game("game:1");
    let first = life.look();
    assert_eq!((life.phase(), life.waiting()), ("Pending", "ContainerCreating"));
    assert_eq!(life.condition("Ready"), ("False", "ContainersNotReady"));
    assert_eq!(first.wake, Some(after(life.now, life.timing.image_pull)));
    life.seconds(10);
    assert_eq!(life.phase(), "Running");
    for condition in ["PodReadyToStartContainers", "Initialized", "Ready", "ContainersReady", "PodScheduled"]
    {
        assert_eq!(life.condition(condition).0, "True", "{condition}");
    }
    let container = life.container();
    assert!(container.ready && container.started == Some(true) && container.restart_count == 0);
    assert!(container.image_id.starts_with("game@sha256:"));
    assert!(container.container_id.as_deref().unwrap().starts_with("containerd://"));
    assert_eq!(container.allocated_resources["cpu"].0, "500m");
    assert_eq!(container.resources.as_ref().unwrap().limits["memory"].0, "1Gi");
    assert_eq!(life.pod.status.pod_ip.as_deref(), Some("10.128.0.1"));
    assert_eq!(life.pod.status.host_ips[0].ip, "172.31.0.1");
    assert_eq!(life.pod.status.observed_generation, Some(1));
    assert_eq!(life.writes, 3, "creating, running, ready");
    let rest = life.look();
    assert_eq!((rest.status, rest.wake), (None, None));
}

#[test]
fn times_of_conditions_move_only_when_they_change() {
    let mut life = Life::game("game:1");
    life.seconds(10);
    let scheduled = life.pod.status.condition("PodScheduled").unwrap().last_transition_time.clone();
    assert_eq!(scheduled.unwrap().0.to_string(), "2026-11-29T09:59:59Z");
    let ready = life.pod.status.condition("Ready").unwrap().last_transition_time.clone();
    assert_eq!(ready.unwrap().0.to_string(), "2026-11-29T10:00:02Z");
}

#[test]
fn everything_at_once_takes_one_write() {
    let mut life = Life::game("game:1");
    life.timing = Timing::instant();
    life.look();
    assert_eq!((life.phase(), life.writes), ("Running", 1));
    assert_eq!(life.condition("Ready").0, "True");
}

#[test]
fn a_new_image_restarts_only_its_container_and_passes_through_not_ready() {
    let mut life = Life::of(
        json!({"containers": [{"name": "game", "image": "game:1"}, {"name": "side", "image": "side:1"}]}),
    );
    life.seconds(10);
    let side = life.pod.status.container_statuses[1].clone();
    let old = life.container().clone();
    life.pod.spec.containers[0].image = "game:2".into();
    life.pod.metadata.generation = Some(2);
    life.pass(Duration::from_millis(810));
    let ended = life
        .container()
        .state
        .terminated
        .clone()
        .expect("the old process has ended and the new one not begun");
    assert_eq!((ended.exit_code, ended.reason.as_deref()), (0, Some("Completed")));
    assert_eq!(ended.container_id, old.container_id);
    assert_eq!(life.condition("Ready"), ("False", "ContainersNotReady"));
    assert_eq!(life.phase(), "Running");
    assert_eq!(life.container().image_id, old.image_id);
    life.seconds(10);
    let new = life.container().clone();
    assert_eq!((new.restart_count, new.image.as_str(), new.ready), (1, "game:2", true));
    assert_ne!(new.image_id, old.image_id);
    assert_ne!(new.container_id, old.container_id);
    assert_eq!(new.last_state.terminated.unwrap(), ended);
    assert_eq!(life.pod.status.container_statuses[1], side);
    assert_eq!(life.pod.status.observed_generation, Some(2));
}

#[test]
fn even_when_everything_is_instant_not_ready_is_written_in_between() {
    let mut life = Life::game("game:1");
    life.timing = Timing::instant();
    life.look();
    life.pod.spec.containers[0].image = "game:2".into();
    life.look();
    assert_eq!(life.condition("Ready").0, "False");
    life.seconds(1);
    assert_eq!((life.condition("Ready").0, life.container().restart_count), ("True", 1));
}

#[test]
fn a_gate_stays_closed_until_its_owner_opens_it() {
    let mut life = Life::of(json!({"containers": [{"name": "game", "image": "game:1"}],
        "readinessGates": [{"conditionType": "InPlaceUpdateReady"}]}));
    life.seconds(10);
    assert_eq!(life.condition("ContainersReady").0, "True");
    assert_eq!(life.condition("Ready"), ("False", "ReadinessGatesNotReady"));
    let message = life.pod.status.condition("Ready").unwrap().message.clone().unwrap();
    assert_eq!(
        message,
        "corresponding condition of pod readiness gate \"InPlaceUpdateReady\" does not exist."
    );
    assert!(life.pod.status.condition("InPlaceUpdateReady").is_none());
    for (status, ready) in [("False", "False"), ("True", "True")] {
        life.pod.status.conditions.retain(|condition| condition.kind != "InPlaceUpdateReady");
        life.pod.status.conditions.insert(
            0,
            serde_json::from_value(json!({"type": "InPlaceUpdateReady", "status": status})).unwrap(),
        );
        life.look();
        assert_eq!(life.condition("Ready").0, ready);
        assert_eq!(life.pod.status.conditions[0].kind, "InPlaceUpdateReady", "conditions of others stay");
    }
}

#[test]
fn deletion_waits_for_the_process_and_never_longer_than_the_grace() {
    for (grace, ends_after, code, phase) in [(30, 800, 0, "Succeeded"), (0, 0, 137, "Failed")] {
        let mut life = Life::game("game:1");
        life.seconds(10);
        life.pod.metadata.deletion_timestamp =
            Some(k8s_openapi::apimachinery::pkg::apis::meta::v1::Time(life.now));
        life.pod.metadata.deletion_grace_period_seconds = (grace > 0).then_some(grace);
        life.pod.spec.termination_grace_period_seconds = Some(grace);
        life.pod.metadata.generation = Some(2);
        let writes = life.writes;
        if ends_after > 0 {
            assert_eq!(life.look().wake, Some(after(life.now, Duration::from_millis(ends_after))));
            assert!(!life.removed && life.condition("Ready").0 == "True");
        }
        life.seconds(1);
        assert!(life.removed);
        assert_eq!(life.writes, writes + 1, "one status for the end, none before");
        let ended = life.container().state.terminated.clone().unwrap();
        assert_eq!((ended.exit_code, life.phase()), (code, phase));
        assert_eq!(life.condition("Ready").0, "False");
    }
}

#[test]
fn a_pod_that_only_finalizers_hold_is_left_alone() {
    let mut life = Life::game("game:1");
    life.seconds(10);
    life.pod.metadata.deletion_timestamp =
        Some(k8s_openapi::apimachinery::pkg::apis::meta::v1::Time(life.now));
    life.seconds(5);
    life.removed = false;
    life.pod.metadata.deletion_grace_period_seconds = Some(0);
    let plan = life.look();
    assert_eq!((plan.remove, plan.status, plan.wake), (false, None, None));
}

#[test]
fn a_pod_that_never_started_ends_as_a_kubelet_reports_it() {
    let mut life = Life::game("game:1");
    life.look();
    life.pod.metadata.deletion_timestamp =
        Some(k8s_openapi::apimachinery::pkg::apis::meta::v1::Time(life.now));
    life.seconds(1);
    let ended = life.container().state.terminated.clone().unwrap();
    assert_eq!((ended.exit_code, ended.reason.as_deref()), (137, Some("ContainerStatusUnknown")));
    assert!(life.removed && life.phase() == "Failed");
}

#[test]
fn crashes_back_off_and_end_when_the_annotation_goes() {
    let mut life = Life::game("game:1");
    life.seconds(10);
    life.wish("crash", "3");
    life.look();
    // The first restart comes at once.
    life.seconds(1);
    assert_eq!((life.container().restart_count, life.phase()), (1, "Running"));
    assert_eq!(life.container().last_state.terminated.as_ref().unwrap().exit_code, 3);
    life.seconds(3);
    assert_eq!((life.waiting(), life.phase()), ("CrashLoopBackOff", "Running"));
    let message = life.container().state.waiting.clone().unwrap().message.unwrap();
    assert_eq!(message, "back-off 10s restarting failed container=game pod=game-0_prod(u-1)");
    life.seconds(3600);
    let message = life.container().state.waiting.clone().and_then(|waiting| waiting.message);
    assert!(
        message.is_none_or(|text| text.starts_with("back-off 5m0s")),
        "the wait grows to five minutes and no more"
    );
    let restarts = life.container().restart_count;
    assert!((13..=18).contains(&restarts), "{restarts} restarts in an hour");
    life.pod.metadata.annotations = None;
    life.seconds(400);
    assert_eq!((life.condition("Ready").0, life.container().restart_count), ("True", restarts + 1));
}

#[test]
fn a_new_image_does_not_wait_for_the_back_off_of_the_old_one() {
    let mut life = Life::game("game:1");
    life.wish("crash", "1");
    life.seconds(60);
    assert_eq!(life.waiting(), "CrashLoopBackOff");
    life.pod.metadata.annotations = None;
    life.pod.spec.containers[0].image = "game:2".into();
    life.seconds(3);
    assert_eq!((life.condition("Ready").0, life.container().image.as_str()), ("True", "game:2"));
}

#[test]
fn crashes_can_name_containers() {
    let mut life =
        Life::of(json!({"containers": [{"name": "game", "image": "g"}, {"name": "proxy", "image": "p"}]}));
    life.seconds(10);
    life.wish("crash", "proxy=7");
    life.seconds(1);
    let counts: Vec<u32> =
        life.pod.status.container_statuses.iter().map(|status| status.restart_count).collect();
    assert_eq!(counts, [0, 1]);
}

#[test]
fn an_image_that_cannot_be_had_is_tried_again_until_it_can() {
    let mut life = Life::game("game:does-not-exist");
    life.pass(Duration::from_millis(1300));
    assert_eq!((life.phase(), life.waiting()), ("Pending", "ErrImagePull"));
    life.seconds(2);
    assert_eq!(life.waiting(), "ImagePullBackOff");
    assert!(life.container().image_id.is_empty() && life.container().container_id.is_none());
    life.seconds(600);
    assert_eq!(life.phase(), "Pending");
    life.pod.spec.containers[0].image = "game:1".into();
    life.seconds(5);
    assert_eq!((life.phase(), life.container().restart_count), ("Running", 0));
}

#[test]
fn a_bad_image_in_a_running_pod_keeps_the_memory_of_the_last_run() {
    let mut life = Life::game("game:1");
    life.seconds(10);
    life.pod.spec.containers[0].image = "game:does-not-exist".into();
    life.seconds(6);
    assert_eq!((life.waiting(), life.phase()), ("ImagePullBackOff", "Running"));
    assert_eq!((life.container().restart_count, life.container().image.as_str()), (0, "game:1"));
    assert!(life.container().last_state.terminated.is_some());
    life.pod.spec.containers[0].image = "game:1".into();
    life.seconds(6);
    assert_eq!((life.condition("Ready").0, life.container().restart_count), ("True", 1));
}

#[test]
fn pulls_can_be_slow_or_fail_by_annotation_and_known_images_take_no_time() {
    let mut life = Life::game("game:1");
    life.wish("pull", "slow");
    life.seconds(59);
    assert_eq!(life.waiting(), "ContainerCreating");
    life.seconds(3);
    assert_eq!(life.phase(), "Running");
    let mut second = Life::game("game:1");
    second.images = life.images.clone();
    second.pass(Duration::from_millis(310));
    assert_eq!(second.phase(), "Running");
    let mut third = Life::game("game:1");
    third.wish("pull", "fail");
    third.seconds(2);
    assert_eq!(third.waiting(), "ErrImagePull");
}

#[test]
fn readiness_can_be_withheld() {
    let mut life = Life::game("game:1");
    life.seconds(10);
    life.wish("ready", "false");
    life.look();
    assert_eq!(
        (life.condition("Ready").0, life.phase(), life.container().started),
        ("False", "Running", Some(true))
    );
    life.pod.metadata.annotations = None;
    life.look();
    assert_eq!(life.condition("Ready").0, "True");
}

#[test]
fn restart_policies_decide_what_an_end_means() {
    for (policy, code, phase, reason) in [
        ("Never", "0", "Succeeded", "PodCompleted"),
        ("Never", "2", "Failed", "PodFailed"),
        ("OnFailure", "0", "Succeeded", "PodCompleted"),
    ] {
        let mut life =
            Life::of(json!({"restartPolicy": policy, "containers": [{"name": "job", "image": "j"}]}));
        life.wish("crash", code);
        life.seconds(10);
        assert_eq!(life.phase(), phase, "{policy} {code}");
        assert_eq!(life.condition("Ready"), ("False", reason));
        assert_eq!(life.look(), Plan::default(), "a pod that has ended stays as it is");
    }
    let mut life =
        Life::of(json!({"restartPolicy": "OnFailure", "containers": [{"name": "job", "image": "j"}]}));
    life.wish("crash", "2");
    life.seconds(10);
    assert_eq!((life.phase(), life.waiting()), ("Running", "CrashLoopBackOff"));
}

#[test]
fn a_phase_can_be_forced_and_lasts() {
    let mut life = Life::game("game:1");
    life.seconds(10);
    life.wish("phase", "Failed");
    life.look();
    assert_eq!((life.phase(), life.condition("Ready")), ("Failed", ("False", "PodFailed")));
    assert_eq!(life.pod.status.reason.as_deref(), Some("Simulated"));
    life.pod.metadata.annotations = None;
    life.seconds(100);
    assert_eq!(life.phase(), "Failed");
}

#[test]
fn init_containers_run_first_and_sidecars_stay() {
    let mut life = Life::of(json!({
        "initContainers": [{"name": "load", "image": "l"}, {"name": "mesh", "image": "m", "restartPolicy": "Always"}],
        "containers": [{"name": "game", "image": "g"}],
    }));
    life.look();
    assert_eq!(
        (life.waiting(), life.condition("Initialized")),
        ("PodInitializing", ("False", "ContainersNotInitialized"))
    );
    life.seconds(20);
    assert_eq!(
        (life.phase(), life.condition("Ready").0, life.condition("Initialized").0),
        ("Running", "True", "True")
    );
    let init = &life.pod.status.init_container_statuses;
    assert_eq!(init[0].state.terminated.as_ref().unwrap().reason.as_deref(), Some("Completed"));
    assert!(init[0].ready && init[1].state.running.is_some());
}

#[test]
fn a_failed_init_container_fails_a_pod_that_never_restarts() {
    let mut life = Life::of(json!({"restartPolicy": "Never",
        "initContainers": [{"name": "load", "image": "l"}], "containers": [{"name": "game", "image": "g"}]}));
    life.wish("crash", "load=4");
    life.seconds(20);
    assert_eq!(life.phase(), "Failed");
}

/// Every state is stopped and taken up again from the stored status alone: nothing may restart and nothing be written.
#[test]
fn a_restarted_simulation_goes_on_where_it_was() {
    let mut running = Life::game("game:1");
    running.seconds(10);
    let mut crashing = Life::game("game:1");
    crashing.wish("crash", "1");
    crashing.seconds(60);
    let mut refused = Life::game("game:1");
    refused.seconds(10);
    refused.wish("ready", "false");
    refused.look();
    let mut with_init = Life::of(json!({"initContainers": [{"name": "load", "image": "l"}],
        "containers": [{"name": "game", "image": "g"}]}));
    with_init.seconds(20);
    for (name, mut life) in
        [("running", running), ("crashing", crashing), ("refused", refused), ("init", with_init)]
    {
        let before = life.pod.status.clone();
        life.local = Local { ip: Some("10.128.9.9".into()), ..Local::default() };
        let plan = life.look();
        assert_eq!(plan.status, None, "{name}");
        assert_eq!(life.pod.status, before, "{name}");
    }
}

#[test]
fn a_restart_in_the_middle_of_an_image_change_finishes_it() {
    let mut life = Life::game("game:1");
    life.seconds(10);
    life.pod.spec.containers[0].image = "game:2".into();
    life.pass(Duration::from_millis(810));
    assert!(life.container().state.terminated.is_some());
    life.local = Local::default();
    life.seconds(10);
    assert_eq!((life.container().image.as_str(), life.container().restart_count), ("game:2", 1));
    assert_eq!(life.condition("Ready").0, "True");
}
