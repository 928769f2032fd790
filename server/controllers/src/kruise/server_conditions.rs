//! Conditions of a GameServer: whether its pod and its node are well, in upstream's words and joined by upstream's rule.

use crds::{
    kruise::{GameServerCondition, condition_types},
    slim::{SlimContainerState, SlimNode, SlimPod},
};
use jiff::Timestamp;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;

/// Condition: the opsState could be copied to the pod. Only there when it could not.
pub const OPS_STATE_APPLIED: &str = "OpsStateApplied";

/// A condition without its time. An empty reason and message mean that all is well.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Verdict {
    /// Joined reasons.
    pub reason: String,
    /// Joined messages.
    pub message: String,
}

impl Verdict {
    /// Whether there is nothing wrong.
    #[must_use]
    pub fn is_well(&self) -> bool {
        self.reason.is_empty() && self.message.is_empty()
    }

    /// Adds one more fault. Each field is appended unless the old text already holds it.
    pub fn join(&mut self, reason: &str, message: &str) {
        if self.is_well() {
            reason.clone_into(&mut self.reason);
            message.clone_into(&mut self.message);
            return;
        }
        for (old, new) in [(&mut self.reason, reason), (&mut self.message, message)] {
            if !old.contains(new) {
                old.push_str("; ");
                old.push_str(new);
            }
        }
    }
}

/// What is wrong with the pod.
#[must_use]
pub fn pod_normal(pod: &SlimPod) -> Verdict {
    let mut verdict = Verdict::default();
    let text = |text: &Option<String>| text.clone().unwrap_or_default();
    if let Some(reason) = pod.status.reason.as_ref().filter(|reason| !reason.is_empty()) {
        verdict.join(reason, &text(&pod.status.message));
    }
    let containers_ready =
        pod.condition("ContainersReady").is_some_and(|condition| condition.status == "True");
    for condition in &pod.status.conditions {
        let bad = match condition.type_.as_str() {
            "PodScheduled" | "Initialized" | "ContainersReady" => condition.status != "True",
            // Otherwise it only repeats what ContainersReady says.
            "Ready" => condition.status == "False" && containers_ready,
            _ => false,
        };
        if bad {
            verdict.join(&text(&condition.reason), &text(&condition.message));
        }
    }
    for status in pod.status.init_container_statuses.iter().chain(&pod.status.container_statuses) {
        let mut container = Verdict::default();
        if let Some(waiting) = status.state.waiting.as_ref().filter(|waiting| waiting.reason.is_some()) {
            container.join(&text(&waiting.reason), &text(&waiting.message));
        }
        let ended = ending(&status.state);
        let ended =
            if status.state.running.is_none() { ended.or_else(|| ending(&status.last_state)) } else { ended };
        if let Some((reason, message)) = ended {
            container.join(&reason, &message);
        }
        if !container.reason.is_empty() && !container.message.is_empty() {
            verdict.join(&container.reason, &container.message);
        }
    }
    verdict
}

fn ending(state: &SlimContainerState) -> Option<(String, String)> {
    let terminated = state.terminated.as_ref()?;
    let reason = terminated.reason.as_ref().filter(|reason| !reason.is_empty())?;
    let message =
        format!("{} ExitCode: {}", terminated.message.as_deref().unwrap_or_default(), terminated.exit_code);
    Some((format!("ContainerTerminated:{reason}"), message))
}

/// What is wrong with the node: `Ready` and `SufficientIP` have to be True, every other condition False.
#[must_use]
pub fn node_normal(node: &SlimNode) -> Verdict {
    let mut verdict = Verdict::default();
    for condition in &node.status.conditions {
        let wanted =
            if matches!(condition.type_.as_str(), "Ready" | "SufficientIP") { "True" } else { "False" };
        if condition.status != wanted {
            let reason = format!("{}:{}", condition.type_, condition.reason.as_deref().unwrap_or_default());
            verdict.join(&reason, condition.message.as_deref().unwrap_or_default());
        }
    }
    verdict
}

/// What is known of the pod's node.
#[derive(Clone, Copy, Debug)]
pub enum NodeSeen<'a> {
    /// Nodes are not watched, or the pod has none: nothing is said about it.
    Unknown,
    /// There is no node of that name.
    Missing(&'a str),
    /// It is there.
    Found(&'a SlimNode),
}

/// The conditions afterwards, with the time of the old one where nothing but the time would change.
#[must_use]
pub fn conditions(
    pod: &SlimPod,
    node: NodeSeen<'_>,
    illegal_ops_state: Option<&str>,
    old: &[GameServerCondition],
    now: Timestamp,
) -> Vec<GameServerCondition> {
    let mut verdicts = vec![(condition_types::POD_NORMAL, pod_normal(pod))];
    match node {
        NodeSeen::Unknown => {}
        NodeSeen::Found(node) => verdicts.push((condition_types::NODE_NORMAL, node_normal(node))),
        NodeSeen::Missing(name) => verdicts.push((
            condition_types::NODE_NORMAL,
            Verdict { reason: "NodeNotFound".into(), message: format!("there is no node named {name}") },
        )),
    }
    if pod.spec.claim_names().next().is_none() {
        // Claims are not watched yet: with claims nothing is said, without them nothing can be wrong.
        verdicts.push((condition_types::PERSISTENT_VOLUME_NORMAL, Verdict::default()));
    }
    if let Some(text) = illegal_ops_state {
        verdicts.push((
            OPS_STATE_APPLIED,
            Verdict {
                reason: "NotALabelValue".into(),
                message: format!("opsState `{text}` cannot be a pod label"),
            },
        ));
    }
    let keep = |text: String| Some(text).filter(|text| !text.is_empty());
    verdicts
        .into_iter()
        .map(|(type_, verdict)| {
            let status = if verdict.is_well() { "True" } else { "False" };
            let (reason, message) = (keep(verdict.reason), keep(verdict.message));
            let same = old
                .iter()
                .find(|old| (old.type_.as_str(), old.status.as_str()) == (type_, status))
                .filter(|old| old.reason == reason && old.message == message);
            same.cloned().unwrap_or_else(|| GameServerCondition {
                type_: type_.to_owned(),
                status: status.to_owned(),
                last_probe_time: None,
                last_transition_time: Some(Time(now)),
                reason,
                message,
            })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn pod(status: Value) -> Verdict {
        pod_normal(
            &serde_json::from_value(json!({ "metadata": { "name": "g-0" }, "status": status })).unwrap(),
        )
    }

    fn node(conditions: Value) -> Verdict {
        let node = json!({ "metadata": { "name": "n" }, "status": { "conditions": conditions } });
        node_normal(&serde_json::from_value(node).unwrap())
    }

    fn verdict(reason: &str, message: &str) -> Verdict {
        Verdict { reason: reason.into(), message: message.into() }
    }

    #[test]
    fn joining_keeps_what_is_already_said() {
        let mut joined = verdict("reason_0", "");
        joined.join("reason_1", "message_1");
        assert_eq!(joined, verdict("reason_0; reason_1", "; message_1"));
        let mut joined = verdict("MemoryPressure:NodeStatusUnknown", "Kubelet stopped posting node status.");
        joined.join("PIDPressure:NodeStatusUnknown", "Kubelet stopped posting node status.");
        assert_eq!(
            joined,
            verdict(
                "MemoryPressure:NodeStatusUnknown; PIDPressure:NodeStatusUnknown",
                "Kubelet stopped posting node status."
            )
        );
    }

    #[test]
    fn pods_are_judged_by_status_conditions_and_containers() {
        assert_eq!(
            pod(
                json!({ "conditions": [{ "type": "PodScheduled", "status": "False", "reason": "R", "message": "M" }] })
            ),
            verdict("R", "M")
        );
        assert_eq!(
            pod(json!({ "conditions": [
                { "type": "ContainersReady", "status": "True" },
                { "type": "Ready", "status": "False", "reason": "Readiness Failed", "message": "probe failed" },
            ]})),
            verdict("Readiness Failed", "probe failed")
        );
        assert_eq!(
            pod(json!({
                "conditions": [
                    { "type": "ContainersReady", "status": "False", "reason": "reason_1", "message": "message_1" },
                    { "type": "Ready", "status": "False", "reason": "reason_2", "message": "message_2" },
                ],
                "containerStatuses": [{ "name": "c", "state": { "terminated": { "exitCode": 137, "message": "message_0", "reason": "reason_0" } } }],
            })),
            verdict("reason_1; ContainerTerminated:reason_0", "message_1; message_0 ExitCode: 137")
        );
        assert_eq!(
            pod(json!({ "reason": "Evicted", "message": "low memory" })),
            verdict("Evicted", "low memory")
        );
        assert!(pod(json!({ "conditions": [{ "type": "PodScheduled", "status": "True" }] })).is_well());
    }

    #[test]
    fn a_container_that_runs_is_well_whatever_happened_before() {
        let last = json!({ "terminated": { "reason": "Error", "exitCode": 1, "message": "x" } });
        let with = |state: Value| {
            pod(json!({ "containerStatuses": [{ "name": "c", "state": state, "lastState": last }] }))
        };
        assert!(with(json!({ "running": {} })).is_well());
        assert_eq!(
            with(json!({ "waiting": { "reason": "CrashLoopBackOff", "message": "back-off" } })),
            verdict("CrashLoopBackOff; ContainerTerminated:Error", "back-off; x ExitCode: 1")
        );
        let creating = json!([{ "name": "c", "state": { "waiting": { "reason": "ContainerCreating" } } }]);
        assert!(pod(json!({ "containerStatuses": creating })).is_well());
    }

    #[test]
    fn nodes_are_judged_by_type() {
        assert!(
            node(
                json!([{ "type": "Ready", "status": "True" }, { "type": "DiskPressure", "status": "False" }])
            )
            .is_well()
        );
        assert_eq!(
            node(json!([
                { "type": "Ready", "status": "False", "reason": "KubeletNotReady", "message": "not posting" },
                { "type": "DiskPressure", "status": "True", "reason": "Full", "message": "disk" },
            ])),
            verdict("Ready:KubeletNotReady; DiskPressure:Full", "not posting; disk")
        );
        assert_eq!(
            node(json!([{ "type": "SufficientIP", "status": "False", "reason": "NoIP", "message": "m" }])),
            verdict("SufficientIP:NoIP", "m")
        );
    }
}
