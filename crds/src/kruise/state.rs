//! The states a game server can be seen in: text in `status.currentState` and in the pod's state label.

/// Known texts of `status.currentState`. The empty text occurs too: a running pod without a Ready condition.
#[derive(Clone, Copy, Debug)]
pub struct GameServerState;

impl GameServerState {
    /// The pod's phase says nothing useful.
    pub const UNKNOWN: &'static str = "Unknown";
    /// The pod is pending.
    pub const CREATING: &'static str = "Creating";
    /// The pod runs and is ready.
    pub const READY: &'static str = "Ready";
    /// The pod runs and is not ready.
    pub const NOT_READY: &'static str = "NotReady";
    /// The pod failed.
    pub const CRASH: &'static str = "Crash";
    /// The pod is being updated in place.
    pub const UPDATING: &'static str = "Updating";
    /// The pod is terminating.
    pub const DELETING: &'static str = "Deleting";
    /// A hook holds the deletion.
    pub const PRE_DELETE: &'static str = "PreDelete";
    /// A hook holds the update.
    pub const PRE_UPDATE: &'static str = "PreUpdate";

    /// All of them, in the order in which interfaces offer them.
    pub const ALL: [&'static str; 9] = [
        Self::READY,
        Self::NOT_READY,
        Self::CREATING,
        Self::UPDATING,
        Self::PRE_UPDATE,
        Self::PRE_DELETE,
        Self::DELETING,
        Self::CRASH,
        Self::UNKNOWN,
    ];
}
