//! (f, first half) Never two live servers with the same id. The API keeps names apart; this also sees `g-03` beside `g-3`.

use crate::facts::{self, PODS, label};
use sandbox::sim::{Broken, Entry, history::History};
use std::collections::BTreeSet;

pub const NAME: &str = "an id is used once";

pub fn check(history: &History, entry: &Entry) -> Result<(), Broken> {
    let (PODS, None, Some(pod)) = (entry.resource.as_str(), &entry.before, &entry.after) else {
        return Ok(());
    };
    let set = label(pod, "game.kruise.io/owner-gss");
    let mut seen = BTreeSet::new();
    let servers = facts::servers(history, set, u64::MAX, u64::MAX);
    match servers.iter().filter(|server| server.lives()).find(|server| !seen.insert(server.id)) {
        Some(server) => Err(Broken::new(NAME, format!("{} of {set} is there twice", server.id))),
        None => Ok(()),
    }
}
