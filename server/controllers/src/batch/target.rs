//! Step fetch of a batch: what is known of a server, and who resolves targets.

use super::plan::{Observed, SetFigures};
use crds::{
    kruise::keys,
    slim::{SlimGameServer, SlimPod},
};
use k8s_openapi::apimachinery::pkg::util::intstr::IntOrString;
use kube::ResourceExt;
use std::collections::BTreeMap;
use wire::{ApiError, BatchTarget, ServerKey};

/// Finds servers for batches. The board stands behind it.
pub trait Resolver: Send + Sync {
    /// The servers of a target, in a stable order. Keys that do not exist are among them.
    ///
    /// # Errors
    /// When the filter cannot be understood.
    fn keys(&self, target: &BatchTarget) -> Result<Vec<ServerKey>, ApiError>;

    /// What is known of a server; `None` when there is none of that name.
    fn observe(&self, key: &ServerKey) -> Option<Observed>;

    /// Figures of the sets that a preview warns about, by namespace and name.
    fn sets(&self) -> BTreeMap<(String, String), SetFigures>;
}

/// Reads what a batch needs to know of an OpenKruiseGame server.
#[must_use]
pub fn observe(
    server: Option<&SlimGameServer>,
    pod: Option<&SlimPod>,
    players: Option<i64>,
) -> Option<Observed> {
    let labels = server.map(ResourceExt::labels).or(pod.map(ResourceExt::labels))?;
    let ops_state = server.and_then(|s| s.spec.ops_state.as_ref()).map(ToString::to_string);
    let label = labels.get(keys::GS_OPS_STATE).map(String::as_str);
    let allocated = ops_state.as_deref().or(label) == Some("Allocated");
    Some(Observed {
        uid: server.and_then(ResourceExt::uid).unwrap_or_default(),
        set: labels.get(keys::OWNER_GSS).cloned(),
        ops_state,
        deletion_priority: server.and_then(|s| s.spec.deletion_priority.as_ref()).map(int_text),
        overrides: server.map_or_else(Vec::new, |s| {
            let images = s.spec.containers.iter();
            images.filter_map(|c| c.image.as_ref().map(|image| (c.name.clone(), image.clone()))).collect()
        }),
        live: pod.map_or_else(Vec::new, |pod| {
            pod.spec.containers.iter().map(|c| (c.name.clone(), c.image.clone())).collect()
        }),
        in_use: allocated || players.is_some_and(|n| n > 0),
    })
}

/// An int-or-string as text.
pub(super) fn int_text(value: &IntOrString) -> String {
    match value {
        IntOrString::Int(number) => number.to_string(),
        IntOrString::String(text) => text.clone(),
    }
}
