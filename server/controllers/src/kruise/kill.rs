//! opsState `Kill`: the set gets smaller by the servers that carry it, and the scale step then removes exactly those.

use super::observe::PodFacts;

/// The opsState that asks for removal.
pub const KILL: &str = "Kill";

/// What spec.replicas becomes. Unchanged while the set has not converged: acted replicas, pods and spec must agree and
/// no pod may be on its way out, or the same Kill would be counted twice.
#[must_use]
pub fn replicas_after_kill(replicas: u32, acted: u32, pods: &[PodFacts]) -> u32 {
    let settled = replicas == acted
        && usize::try_from(replicas).is_ok_and(|n| n == pods.len())
        && pods.iter().all(|pod| !pod.deleting);
    if !settled {
        return replicas;
    }
    let kills = pods.iter().filter(|pod| pod.ops_state == KILL).count();
    replicas.saturating_sub(u32::try_from(kills).unwrap_or(u32::MAX))
}
