//! What the judges read from objects, in their own way: they must not share a mistake with the controllers.
//!
//! A server is a pod with the GameServer of the same name. What people want of it is what the GameServer says, as long as it
//! is the GameServer of this pod; before there is one, the labels of the pod count.

use sandbox::sim::history::{History, Object};
use serde_json::Value;
use std::cmp::Reverse;
use std::collections::BTreeSet;

pub const SETS: &str = "gameserversets.game.kruise.io";
pub const SERVERS: &str = "gameservers.game.kruise.io";
pub const PODS: &str = "pods";
pub const LEASES: &str = "leases.coordination.k8s.io";
pub const NAMESPACE: &str = "default";

pub fn text<'a>(value: &'a Value, pointer: &str) -> &'a str {
    value.pointer(pointer).and_then(Value::as_str).unwrap_or_default()
}

pub fn label<'a>(object: &'a Value, key: &str) -> &'a str {
    object.pointer("/metadata/labels").and_then(|labels| labels.get(key)?.as_str()).unwrap_or_default()
}

pub fn number(value: &Value, pointer: &str) -> Option<i64> {
    value.pointer(pointer).and_then(Value::as_i64)
}

pub fn is_deleting(object: &Value) -> bool {
    object.pointer("/metadata/deletionTimestamp").is_some()
}

pub fn owner_uid(object: &Value) -> &str {
    let owners = object.pointer("/metadata/ownerReferences").and_then(Value::as_array);
    let controls = |owner: &&Value| owner.get("controller").and_then(Value::as_bool) == Some(true);
    owners.and_then(|owners| owners.iter().find(controls)).map_or("", |owner| text(owner, "/uid"))
}

/// Ids in a list of numbers and ranges `"a-b"`.
pub fn ids(list: Option<&Value>) -> BTreeSet<u32> {
    let mut all = BTreeSet::new();
    for entry in list.and_then(Value::as_array).into_iter().flatten() {
        match entry.as_str().and_then(|range| range.split_once('-')) {
            Some((from, to)) => all.extend(from.parse::<u32>().unwrap()..=to.parse::<u32>().unwrap()),
            None => all.extend(entry.as_u64().and_then(|id| u32::try_from(id).ok())),
        }
    }
    all
}

/// The ids that live by what a set's status says was decided: the first so many that are not reserved. `None` before
/// anything was decided.
pub fn decided(set: &Value) -> Option<BTreeSet<u32>> {
    let replicas = usize::try_from(number(set, "/status/actedReplicas")?).unwrap();
    let mut reserved = ids(set.pointer("/status/actedReserveIds"));
    reserved.extend(ids(set.pointer("/status/implicitReserveIds")));
    Some((0..).filter(|id| !reserved.contains(id)).take(replicas).collect())
}

pub fn reserved(set: &Value) -> BTreeSet<u32> {
    ids(set.pointer("/spec/reserveGameServerIds"))
}

/// One server at a moment.
#[derive(Clone, Debug)]
pub struct Server {
    pub id: u32,
    pub uid: String,
    pub ops: String,
    pub priority: i64,
    /// Has a deletion timestamp.
    pub deleting: bool,
    /// Waits for its preDelete hook: on its way out.
    pub preparing: bool,
    /// Its pod ended and will never run again.
    pub ended: bool,
}

impl Server {
    /// Lower goes first: opsState, then priority, then the highest id (okg §3.7).
    pub fn rank(&self) -> (Reverse<i32>, Reverse<i64>, Reverse<u32>) {
        let ops = match self.ops.as_str() {
            "Kill" => 100,
            "WaitToBeDeleted" => 1,
            "Allocated" => -1,
            "Maintaining" => -2,
            _ => 0,
        };
        (Reverse(ops), Reverse(self.priority), Reverse(self.id))
    }

    pub fn lives(&self) -> bool {
        !self.deleting && !self.preparing
    }
}

pub fn id_of(set: &str, name: &str) -> Option<u32> {
    name.strip_prefix(set)?.strip_prefix('-')?.parse().ok()
}

/// The servers of a set, from the pods at one revision and the GameServers at another.
pub fn servers(history: &History, set: &str, pods_at: u64, servers_at: u64) -> Vec<Server> {
    let pods = history.all_at(PODS, pods_at);
    pods.iter()
        .filter(|pod| label(pod, "game.kruise.io/owner-gss") == set)
        .filter_map(|pod| {
            let name = text(pod, "/metadata/name");
            let uid = text(pod, "/metadata/uid").to_owned();
            let game: Option<Object> = history.get_at(SERVERS, NAMESPACE, name, servers_at);
            // The GameServer of an earlier pod says nothing about this one.
            let game = game.filter(|game| {
                let owner = owner_uid(game);
                owner == uid || owner == owner_uid(pod)
            });
            let (ops, priority) = match &game {
                Some(game) => {
                    let priority = game.pointer("/spec/deletionPriority");
                    let priority = priority.and_then(|p| p.as_i64().or_else(|| p.as_str()?.parse().ok()));
                    (text(game, "/spec/opsState").to_owned(), priority.unwrap_or(0))
                }
                None => (
                    label(pod, "game.kruise.io/gs-opsState").to_owned(),
                    label(pod, "game.kruise.io/gs-delete-priority").parse().unwrap_or(0),
                ),
            };
            Some(Server {
                id: id_of(set, name)?,
                uid,
                ops,
                priority,
                deleting: is_deleting(pod),
                preparing: label(pod, "lifecycle.apps.kruise.io/state") == "PreparingDelete",
                ended: matches!(text(pod, "/status/phase"), "Failed" | "Succeeded"),
            })
        })
        .collect()
}
