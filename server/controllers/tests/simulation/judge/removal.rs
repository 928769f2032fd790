//! (a) No server is removed while one that is ranked earlier in the delete order could go.
//!
//! Removed is a server whose pod a process deletes or makes wait for its hook. Fine is that when the id is reserved by
//! people, the server has opsState Kill, or its pod ended (it gets a new one under the same id). Otherwise the status must
//! say that the id goes, and everybody who is ranked earlier must be going as well.
//!
//! Nobody can know what was not told to him yet. So it is enough that this holds for *some* state between what the process
//! had received when it sent the request and the commit: either exactly what its watches had delivered, kind by kind, or
//! the state of everything at one revision of that time.

use crate::facts::{self, NAMESPACE, PODS, SERVERS, SETS, Server, label, text};
use sandbox::sim::{
    Broken, Entry, Writer,
    history::{History, Object},
};
use std::collections::BTreeSet;

pub const NAME: &str = "no server is removed before one that is ranked earlier";

pub fn check(history: &History, entry: &Entry) -> Result<(), Broken> {
    let (Writer::Process(_), Some(view), Some(before)) = (&entry.writer, &entry.view, &entry.before) else {
        return Ok(());
    };
    if entry.resource != PODS || facts::is_deleting(before) {
        return Ok(());
    }
    let preparing = |pod: &Object| label(pod, "lifecycle.apps.kruise.io/state") == "PreparingDelete";
    let leaves = entry.after.as_ref().is_none_or(|after| facts::is_deleting(after) || preparing(after));
    if preparing(before) || !leaves {
        return Ok(());
    }
    let set_name = label(before, "game.kruise.io/owner-gss").to_owned();
    let uid = text(before, "/metadata/uid");
    let last = entry.revision - 1;
    let oldest = [PODS, SERVERS, SETS].iter().map(|kind| view.of(kind)).min().unwrap_or(0);
    let moments = history.changes(&[PODS, SERVERS, SETS], oldest, last).into_iter().chain([oldest]);
    let sets: Vec<Object> = history
        .changes(&[SETS], view.of(SETS), last)
        .into_iter()
        .chain([view.of(SETS)])
        .filter_map(|revision| history.get_at(SETS, NAMESPACE, &set_name, revision))
        .collect();
    let fine = |servers: &[Server], set: Option<Object>| {
        let reserved = set.map(|set| facts::reserved(&set)).unwrap_or_default();
        justified(servers, &reserved, &sets, uid)
    };
    let composed = facts::servers(history, &set_name, view.of(PODS), view.of(SERVERS));
    if fine(&composed, history.get_at(SETS, NAMESPACE, &set_name, view.of(SETS))) {
        return Ok(());
    }
    for moment in moments {
        let servers = facts::servers(history, &set_name, moment, moment);
        if fine(&servers, history.get_at(SETS, NAMESPACE, &set_name, moment)) {
            return Ok(());
        }
    }
    let now = facts::servers(history, &set_name, last, last);
    let who = now.iter().find(|server| server.uid == uid);
    let told = |server: &Server| {
        let state = if server.lives() { "" } else { ", going" };
        format!("{}({}, {}{state})", server.id, server.ops, server.priority)
    };
    let all = now.iter().map(told).collect::<Vec<_>>().join(" ");
    let decided = sets.first().and_then(|set| facts::decided(set)).unwrap_or_default();
    let who = who.map(told).unwrap_or_default();
    Err(Broken::new(NAME, format!("{who} goes of {all}; by the status the ids {decided:?} live")))
}

fn justified(servers: &[Server], reserved: &BTreeSet<u32>, sets: &[Object], uid: &str) -> bool {
    let Some(who) = servers.iter().find(|server| server.uid == uid) else { return false };
    if who.ended || who.ops == "Kill" || reserved.contains(&who.id) {
        return true;
    }
    sets.iter().filter_map(|set| facts::decided(set)).any(|decided| {
        let stays = |server: &&Server| {
            server.lives() && decided.contains(&server.id) && !reserved.contains(&server.id)
        };
        !decided.contains(&who.id) && servers.iter().filter(stays).all(|other| who.rank() < other.rank())
    })
}
