//! (b) Once `status.observedGeneration` has caught up, no id is both live and reserved by people. Live is a pod without a
//! deletion timestamp that does not wait for its preDelete hook.

use crate::facts::{self, PODS, SETS, label, number, text};
use sandbox::sim::{Broken, Entry, history::History};

pub const NAME: &str = "no id is live and reserved when the status is up to date";

pub fn check(history: &History, entry: &Entry) -> Result<(), Broken> {
    let set_name = match entry.resource.as_str() {
        SETS => entry.name.as_str(),
        PODS => entry.after.as_ref().map_or("", |pod| label(pod, "game.kruise.io/owner-gss")),
        _ => return Ok(()),
    };
    let Some(set) = history.get(SETS, &entry.namespace, set_name) else { return Ok(()) };
    let observed = number(&set, "/status/observedGeneration");
    if facts::is_deleting(&set) || observed != number(&set, "/metadata/generation") {
        return Ok(());
    }
    let reserved = facts::reserved(&set);
    let servers = facts::servers(history, set_name, u64::MAX, u64::MAX);
    match servers.iter().find(|server| server.lives() && reserved.contains(&server.id)) {
        Some(server) => {
            let generation = observed.unwrap_or(0);
            let uid = text(&set, "/metadata/uid");
            let what = format!(
                "{} is live and reserved in generation {generation} of {set_name} ({uid})",
                server.id
            );
            Err(Broken::new(NAME, what))
        }
        None => Ok(()),
    }
}
