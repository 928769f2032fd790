//! Label, annotation, condition and gate names that OpenKruiseGame's users and tools depend on.
//!
//! The names must stay exactly as they are: dashboards, autoscaler triggers and user scripts read them.

/// Pod and game server label: name of the set. Selector for everything that belongs to a set.
pub const OWNER_GSS: &str = "game.kruise.io/owner-gss";
/// Pod label: state of the game server, see [`super::GameServerState`].
pub const GS_STATE: &str = "game.kruise.io/gs-state";
/// Pod label: copy of the game server's `spec.opsState`.
pub const GS_OPS_STATE: &str = "game.kruise.io/gs-opsState";
/// Pod label: update priority as text; a higher number is updated first.
pub const GS_UPDATE_PRIORITY: &str = "game.kruise.io/gs-update-priority";
/// Pod label: deletion priority as text; a higher number is deleted first.
pub const GS_DELETE_PRIORITY: &str = "game.kruise.io/gs-delete-priority";
/// Pod label `true` or `false`: whether the network plugin isolates the server.
pub const NETWORK_DISABLED: &str = "game.kruise.io/network-disabled";
/// Prefix of labels and annotations that are copied from the game server to its pod.
pub const GS_SYNC_PREFIX: &str = "gs-sync/";
/// Pod label `true`: an in-place update waits until the Service accepts endpoints that are not ready.
pub const INPLACE_UPDATE_NOT_READY_BLOCKER: &str = "game.kruise.io/inplace-update-not-ready-blocker";
/// Pod label `true`: the set is being deleted.
pub const GSS_DELETING: &str = "game.kruise.io/gss-deleting";
/// Pod label of the lifecycle: one of the values in [`lifecycle_states`].
pub const LIFECYCLE_STATE: &str = "lifecycle.apps.kruise.io/state";
/// Pod label: name of the pod, for Services that select one server.
pub const POD_NAME: &str = "statefulset.kubernetes.io/pod-name";
/// Pod label: name of the controller revision that the pod was made from.
pub const CONTROLLER_REVISION_HASH: &str = "controller-revision-hash";

/// Pod annotation: name of the network plugin.
pub const NETWORK_TYPE: &str = "game.kruise.io/network-type";
/// Pod annotation: JSON list of `{name, value}` for the plugin.
pub const NETWORK_CONF: &str = "game.kruise.io/network-conf";
/// Pod annotation: JSON [`super::NetworkStatus`] written by the plugin.
pub const NETWORK_STATUS: &str = "game.kruise.io/network-status";
/// Pod annotation: RFC 3339 time at which the network was last asked for again.
pub const NETWORK_TRIGGER_TIME: &str = "game.kruise.io/network-trigger-time";
/// Pod annotation: RFC 3339 time of the last change of the opsState label.
pub const OPS_STATE_LAST_CHANGED_TIME: &str = "game.kruise.io/opsState-last-changed-time";
/// Pod annotation: RFC 3339 time of the last change of the state label.
pub const STATE_LAST_CHANGED_TIME: &str = "game.kruise.io/state-last-changed-time";
/// Pod annotation: comma list of the containers that are about to be updated in place.
pub const GS_UPDATING_CONTAINERS: &str = "game.kruise.io/gs-updating-containers";

/// Game server label `true`: delete the game server once its pod is gone; `false`: its id came back.
pub const GS_DELETING: &str = "game.kruise.io/gs-deleting";
/// Game server label: node of its pod.
pub const NODE_NAME: &str = "game.kruise.io/node-name";
/// Game server annotation: hash of the labels and annotations of the template that were merged in.
pub const TEMPLATE_METADATA_HASH: &str = "game.kruise.io/gsTemplate-metadata-hash";

/// Set annotation: the explicit reserve list that was last applied, such as `0,2,4-6`, without blanks.
pub const RESERVE_IDS: &str = "game.kruise.io/reserve-ids";

/// Readiness gate and pod condition that an in-place update closes while it restarts containers.
pub const IN_PLACE_UPDATE_READY: &str = "InPlaceUpdateReady";
/// Prefix of the pod condition that carries the result of a service quality; its name follows.
pub const QUALITY_CONDITION_PREFIX: &str = "game.kruise.io/";

/// kubectl's copy of the applied manifest; as large as the object and never read by us.
pub const LAST_APPLIED: &str = "kubectl.kubernetes.io/last-applied-configuration";

/// Values of the label [`LIFECYCLE_STATE`].
pub mod lifecycle_states {
    /// The pod was created and its `preNormal` hook is still open.
    pub const PREPARING_NORMAL: &str = "PreparingNormal";
    /// The pod serves.
    pub const NORMAL: &str = "Normal";
    /// An in-place update waits for its hook.
    pub const PREPARING_UPDATE: &str = "PreparingUpdate";
    /// An in-place update is going on.
    pub const UPDATING: &str = "Updating";
    /// An in-place update is done and waits for its hook.
    pub const UPDATED: &str = "Updated";
    /// A deletion waits for its hook: not counted as existing, its id is blocked.
    pub const PREPARING_DELETE: &str = "PreparingDelete";
}
