//! What people do to sets and servers. Servers are named by their place among those that live at the moment, so that an
//! action still means something when an earlier one is left out.

use crate::facts::{self, NAMESPACE, PODS, SERVERS, SETS, label, text};
use crate::plain_set::set_object;
use sandbox::sim::{Call, Random, history::History};
use serde_json::{Value, json};
use std::fmt;

#[derive(Clone, Debug)]
pub enum Action {
    Scale(u32),
    /// The whole list of reserved ids.
    Reserve(Vec<u32>),
    /// The id of a server that lives is reserved, too.
    ReserveServer(usize),
    Ops(usize, &'static str),
    DeletionPriority(usize, i64),
    ServerImage(usize, u64),
    TemplateImage(u64),
    DeletePod(usize),
    /// A game ends or crashes for good.
    PodEnds(usize, &'static str),
    DeleteSet,
}

impl Action {
    pub fn draw(random: &mut Random) -> Self {
        let nth = usize::try_from(random.between(0, 7)).unwrap();
        match random.between(0, 99) {
            0..=26 => Self::Scale(u32::try_from(random.between(0, 7)).unwrap()),
            27..=33 => {
                let count = random.between(0, 3);
                Self::Reserve((0..count).map(|_| u32::try_from(random.between(0, 6)).unwrap()).collect())
            }
            34..=39 => Self::ReserveServer(nth),
            40..=59 => Self::Ops(
                nth,
                random.pick(&["Allocated", "Maintaining", "WaitToBeDeleted", "None", "Allocated"]),
            ),
            60..=67 => Self::Ops(nth, "Kill"),
            68..=78 => Self::DeletionPriority(nth, random.pick(&[0, 5, 10, 10, 100])),
            79..=83 => Self::ServerImage(nth, random.between(2, 4)),
            84..=86 => Self::TemplateImage(random.between(2, 4)),
            87..=93 => Self::DeletePod(nth),
            94..=97 => Self::PodEnds(nth, random.pick(&["Failed", "Succeeded"])),
            _ => Self::DeleteSet,
        }
    }

    pub fn perform(&self, history: &History) -> Option<Call> {
        let set_path = format!("/apis/game.kruise.io/v1alpha1/namespaces/{NAMESPACE}/gameserversets/g");
        let server = |nth: usize, patch: Value| {
            let name = nth_of(history, SERVERS, nth)?;
            let path = format!("/apis/game.kruise.io/v1alpha1/namespaces/{NAMESPACE}/gameservers/{name}");
            Some(Call::merge(path, json!({ "spec": patch })))
        };
        let set = history.get(SETS, NAMESPACE, "g").filter(|set| !facts::is_deleting(set));
        let Some(set) = set else {
            // Whoever wants something of a set that is gone makes it again.
            let Self::Scale(replicas) = self else { return None };
            let path = format!("/apis/game.kruise.io/v1alpha1/namespaces/{NAMESPACE}/gameserversets");
            return Some(Call::create(path, set_object(json!({ "replicas": replicas }))));
        };
        match self {
            Self::Scale(replicas) => Some(Call::merge(set_path, json!({ "spec": { "replicas": replicas } }))),
            Self::Reserve(ids) => {
                Some(Call::merge(set_path, json!({ "spec": { "reserveGameServerIds": ids } })))
            }
            Self::ReserveServer(nth) => {
                let id = facts::id_of("g", &nth_of(history, PODS, *nth)?)?;
                let mut ids = facts::reserved(&set);
                ids.insert(id);
                Some(Call::merge(set_path, json!({ "spec": { "reserveGameServerIds": ids } })))
            }
            Self::Ops(nth, ops) => server(*nth, json!({ "opsState": ops })),
            Self::DeletionPriority(nth, priority) => server(*nth, json!({ "deletionPriority": priority })),
            Self::ServerImage(nth, tag) => {
                server(*nth, json!({ "containers": [{ "name": "main", "image": format!("game:{tag}") }] }))
            }
            Self::TemplateImage(tag) => {
                let containers = json!([{ "name": "main", "image": format!("game:{tag}") }]);
                let patch =
                    json!({ "spec": { "gameServerTemplate": { "spec": { "containers": containers } } } });
                Some(Call::merge(set_path, patch))
            }
            Self::DeletePod(nth) => {
                let name = nth_of(history, PODS, *nth)?;
                Some(Call::delete(format!("/api/v1/namespaces/{NAMESPACE}/pods/{name}")))
            }
            Self::PodEnds(nth, phase) => {
                let name = nth_of(history, PODS, *nth)?;
                let status =
                    json!({ "phase": phase, "conditions": [{ "type": "Ready", "status": "False" }] });
                let path = format!("/api/v1/namespaces/{NAMESPACE}/pods/{name}/status");
                Some(Call::merge(path, json!({ "status": status })))
            }
            Self::DeleteSet => Some(Call::delete(set_path)),
        }
    }
}

/// The name of the n-th living object of a kind that belongs to the set.
fn nth_of(history: &History, resource: &str, nth: usize) -> Option<String> {
    let all = history.all(resource);
    let living: Vec<&str> = all
        .iter()
        .filter(|o| label(o, "game.kruise.io/owner-gss") == "g" && !facts::is_deleting(o))
        .map(|o| text(o, "/metadata/name"))
        .collect();
    let index = nth.checked_rem(living.len())?;
    Some(living[index].to_owned())
}

impl fmt::Display for Action {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Scale(replicas) => write!(f, "scale to {replicas}"),
            Self::Reserve(ids) => write!(f, "reserve {ids:?}"),
            Self::ReserveServer(nth) => write!(f, "reserve the id of server no. {nth}"),
            Self::Ops(nth, ops) => write!(f, "opsState {ops} for server no. {nth}"),
            Self::DeletionPriority(nth, priority) => {
                write!(f, "deletionPriority {priority} for server no. {nth}")
            }
            Self::ServerImage(nth, tag) => write!(f, "image game:{tag} for server no. {nth}"),
            Self::TemplateImage(tag) => write!(f, "image game:{tag} in the template"),
            Self::DeletePod(nth) => write!(f, "delete the pod of server no. {nth}"),
            Self::PodEnds(nth, phase) => write!(f, "the pod of server no. {nth} ends: {phase}"),
            Self::DeleteSet => write!(f, "delete the set"),
        }
    }
}
