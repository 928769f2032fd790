//! The state of a game server as its pod shows it, with upstream's words and upstream's order of checks.

use std::fmt;

/// Where the pod's lifecycle stands, from the label `lifecycle.apps.kruise.io/state`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Lifecycle {
    /// No label, or one that changes nothing about the state (`Normal`, `PreparingNormal`, `Updated`).
    #[default]
    Quiet,
    /// A hook runs before an in-place update.
    PreparingUpdate,
    /// An in-place update runs.
    Updating,
    /// A hook runs before the removal.
    PreparingDelete,
}

impl Lifecycle {
    /// The value of the label for a pod that a hook keeps before its removal.
    pub const PREPARING_DELETE: &'static str = "PreparingDelete";

    /// Reads the label's value.
    #[must_use]
    pub fn parse(label: &str) -> Self {
        match label {
            "PreparingUpdate" => Self::PreparingUpdate,
            "Updating" => Self::Updating,
            Self::PREPARING_DELETE => Self::PreparingDelete,
            _ => Self::Quiet,
        }
    }
}

/// The phase of a pod.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Phase {
    /// Accepted, not all containers run yet.
    Pending,
    /// At least one container runs or restarts.
    Running,
    /// All containers ended well.
    Succeeded,
    /// All containers ended, one of them badly, or the pod was evicted.
    Failed,
    /// `Unknown`, not set, or a word that we do not know.
    #[default]
    Unknown,
}

impl Phase {
    /// Reads `status.phase`.
    #[must_use]
    pub fn parse(text: &str) -> Self {
        match text {
            "Pending" => Self::Pending,
            "Running" => Self::Running,
            "Succeeded" => Self::Succeeded,
            "Failed" => Self::Failed,
            _ => Self::Unknown,
        }
    }

    /// Whether the pod has ended and will not run again by itself.
    #[must_use]
    pub fn has_ended(self) -> bool {
        matches!(self, Self::Succeeded | Self::Failed)
    }
}

/// The state of a game server: the label `game.kruise.io/gs-state` and `status.currentState`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ServerState {
    /// The pod is being removed.
    Deleting,
    /// An in-place update runs.
    Updating,
    /// A hook runs before an in-place update.
    PreUpdate,
    /// A hook runs before the removal.
    PreDelete,
    /// Running and ready.
    Ready,
    /// Running and not ready.
    NotReady,
    /// The pod failed.
    Crash,
    /// The pod is pending.
    Creating,
    /// The pod ended well or its phase is not known.
    Unknown,
    /// Running without a Ready condition: upstream writes an empty text.
    Empty,
}

impl ServerState {
    /// Upstream's word.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Deleting => "Deleting",
            Self::Updating => "Updating",
            Self::PreUpdate => "PreUpdate",
            Self::PreDelete => "PreDelete",
            Self::Ready => "Ready",
            Self::NotReady => "NotReady",
            Self::Crash => "Crash",
            Self::Creating => "Creating",
            Self::Unknown => "Unknown",
            Self::Empty => "",
        }
    }

    /// The state of a pod. `ready` is the Ready condition: true only for status `True`, `None` when there is none.
    #[must_use]
    pub fn of_pod(phase: Phase, deleting: bool, lifecycle: Lifecycle, ready: Option<bool>) -> Self {
        match phase {
            Phase::Running if deleting => Self::Deleting,
            Phase::Running => match (lifecycle, ready) {
                (Lifecycle::Updating, _) => Self::Updating,
                (Lifecycle::PreparingUpdate, _) => Self::PreUpdate,
                (Lifecycle::PreparingDelete, _) => Self::PreDelete,
                (Lifecycle::Quiet, Some(true)) => Self::Ready,
                (Lifecycle::Quiet, Some(false)) => Self::NotReady,
                (Lifecycle::Quiet, None) => Self::Empty,
            },
            Phase::Failed => Self::Crash,
            // Upstream's order: a pending pod is Creating even while it is being deleted.
            Phase::Pending => Self::Creating,
            Phase::Succeeded | Phase::Unknown => Self::Unknown,
        }
    }
}

impl fmt::Display for ServerState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
