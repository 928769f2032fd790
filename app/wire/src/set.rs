//! Sets of game servers: list rows, one set whole, and the preview of a scale.

use crate::{
    error::Reason,
    key::{ServerKey, SetKey},
    row::Count,
    server::{ConditionView, EventView},
};
use serde::{Deserialize, Serialize};

/// One set in the list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SetRow {
    /// Identity.
    pub key: SetKey,
    /// uid of the object.
    pub uid: String,
    /// Replicas wanted.
    pub wanted: u32,
    /// Servers that exist.
    pub live: u32,
    /// Ready servers.
    pub ready: u32,
    /// Servers on the newest revision.
    pub updated: u32,
    /// Servers by state, most first.
    pub states: Vec<Count>,
    /// Servers by opsState, most first.
    pub ops: Vec<Count>,
    /// Servers by image of the first container, most first: the revision mix.
    pub images: Vec<Count>,
    /// Creation time, Unix seconds.
    pub created: i64,
    /// What is wrong with the set, when something is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub problem: Option<Reason>,
}

/// What an id of a set is right now.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum IdKind {
    /// A server has it.
    Live {
        /// State of the server.
        state: String,
        /// opsState of the server.
        ops: String,
        /// Its key.
        key: ServerKey,
    },
    /// Reserved by the spec.
    Reserved,
    /// Reserved by the controller since a scale down; re-used first on the next scale up.
    Implicit,
    /// Nobody has it and nothing reserves it, below the highest live id.
    Gap,
}

/// One cell of the id strip. Runs of equal non-live kinds are one entry.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "PlainCell")]
pub struct IdCell {
    /// First id.
    pub first: u32,
    /// Last id, equal to `first` for a live one.
    pub last: u32,
    /// What it is.
    #[serde(flatten)]
    pub kind: IdKind,
}

/// An [`IdCell`] as JSON has it. A reader derived with `flatten` goes through values of any kind, which is slow and large
/// in the browser.
#[derive(Deserialize)]
struct PlainCell {
    first: u32,
    last: u32,
    kind: PlainKind,
    state: Option<String>,
    ops: Option<String>,
    key: Option<ServerKey>,
}

#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum PlainKind {
    Live,
    Reserved,
    Implicit,
    Gap,
}

impl TryFrom<PlainCell> for IdCell {
    type Error = &'static str;

    fn try_from(plain: PlainCell) -> Result<Self, Self::Error> {
        let kind = match (plain.kind, plain.state, plain.ops, plain.key) {
            (PlainKind::Live, Some(state), Some(ops), Some(key)) => IdKind::Live { state, ops, key },
            (PlainKind::Live, ..) => return Err("a live id without its server"),
            (PlainKind::Reserved, ..) => IdKind::Reserved,
            (PlainKind::Implicit, ..) => IdKind::Implicit,
            (PlainKind::Gap, ..) => IdKind::Gap,
        };
        Ok(Self { first: plain.first, last: plain.last, kind })
    }
}

/// One set whole.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SetDetail {
    /// The list row.
    pub row: SetRow,
    /// Ids in order.
    pub ids: Vec<IdCell>,
    /// `General` or `ReserveIds`.
    pub scale_down: String,
    /// Reserved ids as the spec writes them.
    pub reserve_ids: Vec<String>,
    /// Update strategy in words of the resource: `RollingUpdate`, `OnDelete`.
    pub update_type: String,
    /// `ReCreate`, `InPlaceIfPossible`, `InPlaceOnly`, or empty.
    pub pod_update_policy: String,
    /// `Cascade` or `Delete`.
    pub reclaim_policy: String,
    /// Network plugin, empty without one.
    pub network_type: String,
    /// Containers of the template: name, image.
    pub template: Vec<(String, String)>,
    /// Revisions of live servers with counts, newest first when known.
    pub revisions: Vec<Count>,
    /// Conditions.
    pub conditions: Vec<ConditionView>,
    /// Recent events.
    pub events: Vec<EventView>,
}

/// One server that a scale down would remove.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Leaving {
    /// The server.
    pub key: ServerKey,
    /// Its id.
    pub id: u32,
    /// opsState.
    pub ops: String,
    /// Whether it is in use.
    pub in_use: bool,
    /// Why it goes at this place in the order.
    pub reason: Reason,
}

/// What a change of replicas would do, decided by the code that does it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ScalePreview {
    /// The set.
    pub set: SetKey,
    /// resourceVersion of the set that the preview was computed from; applying with another one is refused.
    pub resource_version: String,
    /// Replicas now.
    pub from: u32,
    /// Replicas asked for.
    pub to: u32,
    /// Who goes, first to last.
    pub leaving: Vec<Leaving>,
    /// Who stays although the plain order of ids would take it: Allocated, Maintaining, or others go first.
    #[serde(default)]
    pub staying: Vec<Leaving>,
    /// The lowest ids that join; not all of them when they are very many.
    pub joining: Vec<u32>,
    /// How many join.
    pub joining_count: u32,
    /// What to know before.
    pub warnings: Vec<Reason>,
}

/// Body of a scale request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ScaleRequest {
    /// Replicas wanted.
    pub replicas: u32,
    /// resourceVersion of the preview; a set that changed since is refused with 409.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resource_version: Option<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_of_id_is_read_as_it_was_written() {
        let live =
            IdKind::Live { state: "Ready".into(), ops: "None".into(), key: "kruise/a/b-3".parse().unwrap() };
        for kind in [live, IdKind::Reserved, IdKind::Implicit, IdKind::Gap] {
            let cell = IdCell { first: 3, last: 3, kind };
            let text = serde_json::to_string(&cell).unwrap();
            assert_eq!(serde_json::from_str::<IdCell>(&text).unwrap(), cell, "{text}");
        }
        assert!(serde_json::from_str::<IdCell>(r#"{"first":1,"last":1,"kind":"live"}"#).is_err());
    }
}
