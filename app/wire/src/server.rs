//! One server whole: facts, containers, conditions, events.

use crate::{error::Reason, row::ServerRow};
use serde::{Deserialize, Serialize};

/// A condition of any object.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConditionView {
    /// Type.
    pub kind: String,
    /// `True`, `False`, `Unknown`.
    pub status: String,
    /// Stable reason.
    pub reason: String,
    /// Words.
    pub message: String,
    /// Last change, Unix seconds.
    pub since: Option<i64>,
    /// Which object it stands on: `GameServer`, `Pod`, `GameServerSet`.
    pub object: String,
}

/// An event of Kubernetes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EventView {
    /// Last time it happened, Unix seconds.
    pub time: i64,
    /// `Normal` or `Warning`.
    pub kind: String,
    /// Reason.
    pub reason: String,
    /// Words.
    pub message: String,
    /// How often.
    pub count: u32,
    /// Kind and name of the object, `Pod/minecraft-3`.
    pub object: String,
}

/// One container: from the template to what runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ContainerDetail {
    /// Name.
    pub name: String,
    /// Image of the set's template; empty without a set.
    pub template_image: String,
    /// Image of the server's override; empty without one.
    pub override_image: String,
    /// Image of the live pod.
    pub live_image: String,
    /// Requests and limits of the live pod, `cpu 500m, memory 1Gi`; empty when none.
    pub requests: String,
    /// As `requests`.
    pub limits: String,
    /// Ready by the kubelet.
    pub ready: bool,
    /// Restarts.
    pub restarts: u32,
    /// `Running`, `Waiting: CrashLoopBackOff`, `Terminated: Error (137)`.
    pub state: String,
    /// How it ended the last time; empty when never.
    pub last_end: String,
}

/// One server whole.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ServerDetail {
    /// The row.
    pub row: ServerRow,
    /// Containers.
    pub containers: Vec<ContainerDetail>,
    /// Conditions of the GameServer and of the pod.
    pub conditions: Vec<ConditionView>,
    /// Addresses: label, text.
    pub addresses: Vec<(String, String)>,
    /// Why it is as it is: reasons, most important first.
    pub why: Vec<Reason>,
    /// Recent events of the server and its pod, newest first.
    pub events: Vec<EventView>,
    /// Annotations.
    pub annotations: Vec<(String, String)>,
}
