//! The state of a server whose GameServer does not tell it (no status yet, or only the pod exists): from the pod, by
//! the rules of OpenKruiseGame's own controller.

use crds::kruise::GameServerState;
use crds::kruise::keys::{LIFECYCLE_STATE, lifecycle_states};
use crds::slim::SlimPod;

/// The state that the pod alone tells; `None` for a running pod without a Ready condition.
pub(crate) fn of_pod(pod: &SlimPod) -> Option<&'static str> {
    match pod.status.phase.as_str() {
        "Running" => running(pod),
        "Failed" => Some(GameServerState::CRASH),
        // Also while it is being deleted. Nobody has written a phase yet: it has just been created.
        "Pending" | "" => Some(GameServerState::CREATING),
        _ => Some(GameServerState::UNKNOWN),
    }
}

fn running(pod: &SlimPod) -> Option<&'static str> {
    if pod.metadata.deletion_timestamp.is_some() {
        return Some(GameServerState::DELETING);
    }
    let labels = pod.metadata.labels.as_ref();
    match labels.and_then(|labels| labels.get(LIFECYCLE_STATE)).map(String::as_str) {
        Some(lifecycle_states::UPDATING) => return Some(GameServerState::UPDATING),
        Some(lifecycle_states::PREPARING_UPDATE) => return Some(GameServerState::PRE_UPDATE),
        Some(lifecycle_states::PREPARING_DELETE) => return Some(GameServerState::PRE_DELETE),
        _ => {}
    }
    pod.condition("Ready").map(|ready| match ready.status.as_str() {
        "True" => GameServerState::READY,
        _ => GameServerState::NOT_READY,
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn states_by_the_rules_of_the_controller() {
        let gone = "2026-01-01T00:00:00Z";
        let ready = |status: &str| json!([{ "type": "Ready", "status": status }]);
        for (phase, deleted, lifecycle, conditions, wanted) in [
            ("Running", false, "Normal", ready("True"), Some("Ready")),
            ("Running", false, "", ready("False"), Some("NotReady")),
            ("Running", false, "", ready("Unknown"), Some("NotReady")),
            ("Running", false, "", json!([]), None),
            ("Running", true, "Updating", ready("True"), Some("Deleting")),
            ("Running", false, "Updating", ready("True"), Some("Updating")),
            ("Running", false, "PreparingUpdate", ready("True"), Some("PreUpdate")),
            ("Running", false, "PreparingDelete", ready("True"), Some("PreDelete")),
            ("Pending", true, "", json!([]), Some("Creating")),
            ("", false, "", json!([]), Some("Creating")),
            ("Failed", true, "", json!([]), Some("Crash")),
            ("Succeeded", false, "", json!([]), Some("Unknown")),
        ] {
            let mut pod = json!({
                "metadata": { "name": "a", "labels": { LIFECYCLE_STATE: lifecycle } },
                "status": { "phase": phase, "conditions": conditions },
            });
            if deleted {
                pod["metadata"]["deletionTimestamp"] = json!(gone);
            }
            let pod: SlimPod = serde_json::from_value(pod).unwrap();
            assert_eq!(of_pod(&pod), wanted, "{phase} {deleted} {lifecycle} {conditions}");
        }
    }
}
