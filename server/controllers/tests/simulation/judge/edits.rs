//! (e) What people want is not overwritten, and (f, second half) Kill costs exactly the servers that carry it.
//!
//! Of a set's spec a process may change two fields. It may lower `replicas` by the number of servers with opsState Kill that
//! were not counted before, and only from a size that it has seen. It may add ids to the reserve list (strategy
//! `ReserveIds`), and take none away. Of a GameServer's spec it may change nothing. A GameServer that outlives its pod
//! (reclaim policy `Delete`) goes only when its id goes, with its set, or when people marked it; one that goes with its pod
//! goes when the pod is gone.

use crate::facts::{self, NAMESPACE, PODS, SERVERS, SETS, number, owner_uid, text};
use sandbox::sim::{
    Broken, Entry, Writer,
    history::{History, Object, View},
};
use std::collections::BTreeSet;

pub const OVERWRITTEN: &str = "an edit of people is never overwritten";
pub const KILL: &str = "Kill removes exactly that server";
pub const SETTINGS: &str = "a server's settings live as long as the server";

#[derive(Default)]
pub struct Edits {
    /// When people set the size the last time.
    size_set_at: u64,
    /// Pods that were paid for by a lower size, since then.
    counted: BTreeSet<String>,
}

impl Edits {
    pub fn check(&mut self, history: &History, entry: &Entry) -> Result<(), Broken> {
        match (&entry.writer, entry.resource.as_str()) {
            (Writer::User, SETS) => {
                let size = |set: &Option<Object>| set.as_ref().and_then(|set| number(set, "/spec/replicas"));
                let asked = entry.verb == "create" || size(&entry.before) != size(&entry.after);
                if asked {
                    self.size_set_at = entry.revision;
                    self.counted.clear();
                } else if entry.before.as_deref().map(facts::reserved)
                    != entry.after.as_deref().map(facts::reserved)
                {
                    // Other ids are chosen with the killed server among those who live: as with upstream it may be kept to
                    // fill the size, and then costs again.
                    self.counted.clear();
                }
                Ok(())
            }
            (Writer::User, SERVERS) => {
                // Whoever takes a Kill back and asks again, asks for another one.
                if let Some(pod) = history.get(PODS, &entry.namespace, &entry.name) {
                    self.counted.remove(text(&pod, "/metadata/uid"));
                }
                Ok(())
            }
            (Writer::Process(_), SETS) => match (&entry.before, &entry.after, &entry.view) {
                (Some(before), Some(after), Some(view)) => self.set(history, entry, before, after, view),
                _ => Err(Broken::new(OVERWRITTEN, "a process creates or deletes a set")),
            },
            (Writer::Process(_), SERVERS) => server(history, entry),
            _ => Ok(()),
        }
    }

    fn set(
        &mut self,
        history: &History,
        entry: &Entry,
        before: &Object,
        after: &Object,
        view: &View,
    ) -> Result<(), Broken> {
        let rest = |set: &Object| {
            let mut spec = set.get("spec").cloned().unwrap_or_default();
            for field in ["replicas", "reserveGameServerIds"] {
                spec.as_object_mut().map(|spec| spec.remove(field));
            }
            spec
        };
        if rest(before) != rest(after) {
            return Err(Broken::new(OVERWRITTEN, "a process changes the spec of a set"));
        }
        let taken: Vec<u32> = facts::reserved(before).difference(&facts::reserved(after)).copied().collect();
        if !taken.is_empty() {
            return Err(Broken::new(OVERWRITTEN, format!("a process takes {taken:?} off the reserve list")));
        }
        let (from, to) = (number(before, "/spec/replicas"), number(after, "/spec/replicas"));
        if from == to {
            return Ok(());
        }
        let (from, to) = (from.unwrap_or(0), to.unwrap_or(0));
        if to > from {
            return Err(Broken::new(OVERWRITTEN, format!("a process raises replicas from {from} to {to}")));
        }
        if view.latest(SETS) < self.size_set_at {
            let what = format!("replicas {from}, which the process had not seen yet, became {to}");
            return Err(Broken::new(OVERWRITTEN, what));
        }
        let mut moments =
            history.changes(&[PODS, SERVERS], view.of(PODS).min(view.of(SERVERS)), entry.revision);
        moments.push(view.of(PODS).min(view.of(SERVERS)));
        let carries: BTreeSet<String> = moments
            .into_iter()
            .flat_map(|moment| facts::servers(history, &entry.name, moment, moment))
            .filter(|server| server.ops == "Kill" && server.lives() && !self.counted.contains(&server.uid))
            .map(|server| server.uid)
            .collect();
        let killed = usize::try_from(from - to).unwrap_or(0);
        if carries.len() < killed {
            let what = format!(
                "replicas go from {from} to {to} for {} servers that were not counted yet",
                carries.len()
            );
            return Err(Broken::new(KILL, what));
        }
        self.counted.extend(carries.into_iter().take(killed));
        Ok(())
    }
}

fn server(history: &History, entry: &Entry) -> Result<(), Broken> {
    let Some(before) = &entry.before else { return Ok(()) };
    let Some(after) = entry.after.as_ref().filter(|after| !facts::is_deleting(after)) else {
        return removed(history, entry, before);
    };
    if before.get("spec") != after.get("spec") {
        let what = format!("a process changes the spec of the GameServer {}", entry.name);
        return Err(Broken::new(OVERWRITTEN, what));
    }
    Ok(())
}

fn removed(history: &History, entry: &Entry, server: &Object) -> Result<(), Broken> {
    let set_name = facts::label(server, "game.kruise.io/owner-gss");
    let owner = owner_uid(server);
    let set = history.get(SETS, NAMESPACE, set_name);
    let Some(set) = set.filter(|set| !facts::is_deleting(set)) else { return Ok(()) };
    let pod = history.get(PODS, &entry.namespace, &entry.name);
    let pod = pod.filter(|pod| !facts::is_deleting(pod));
    if owner != text(&set, "/metadata/uid") {
        return match pod.filter(|pod| text(pod, "/metadata/uid") == owner) {
            Some(_) => Err(Broken::new(SETTINGS, format!("{} goes, and its pod lives", entry.name))),
            None => Ok(()),
        };
    }
    let since = entry.view.as_ref().map_or(0, |view| view.of(SETS));
    let id = facts::id_of(set_name, &entry.name);
    let goes = history
        .changes(&[SETS], since, entry.revision)
        .into_iter()
        .chain([since])
        .filter_map(|revision| history.get_at(SETS, NAMESPACE, set_name, revision))
        .filter_map(|set| facts::decided(&set))
        .any(|decided| id.is_none_or(|id| !decided.contains(&id)));
    if goes {
        return Ok(());
    }
    Err(Broken::new(SETTINGS, format!("{} goes, and its id stays", entry.name)))
}
