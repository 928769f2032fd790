//! What a scale would do, decided by the code that does it: who goes and why, who stays against the plain order of ids,
//! and which ids join.

use super::{
    delete_order,
    observe::PodFacts,
    ordinals::{Ordinal, OrdinalSet},
    scale::Leaves,
    set_plan::{self, SetObservation},
    validate::{Problem, ValidScale},
};

/// Why a server goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum LeavingReason {
    /// opsState `Kill`.
    Kill,
    /// opsState `WaitToBeDeleted`.
    WaitToBeDeleted,
    /// Its deletion priority is above 0.
    DeletionPriority,
    /// The highest ids go when nothing else decides.
    HighestId,
    /// It is Allocated, and nothing less protected is left.
    Allocated,
    /// It is Maintaining, and nothing less protected is left.
    Maintaining,
    /// Its id is in the reserve list.
    Reserved,
}

impl LeavingReason {
    /// Stable code, lower case with dashes.
    #[must_use]
    pub fn code(self) -> &'static str {
        match self {
            Self::Kill => "leaves-kill",
            Self::WaitToBeDeleted => "leaves-wait-to-be-deleted",
            Self::DeletionPriority => "leaves-deletion-priority",
            Self::HighestId => "leaves-highest-id",
            Self::Allocated => "leaves-allocated",
            Self::Maintaining => "leaves-maintaining",
            Self::Reserved => "leaves-reserved",
        }
    }

    /// The reason in English.
    #[must_use]
    pub fn message(self) -> &'static str {
        match self {
            Self::Kill => "its opsState is Kill",
            Self::WaitToBeDeleted => "its opsState is WaitToBeDeleted",
            Self::DeletionPriority => "its deletion priority is above 0",
            Self::HighestId => "the highest ids go first",
            Self::Allocated => "it is Allocated, and nothing less protected is left",
            Self::Maintaining => "it is Maintaining, and nothing less protected is left",
            Self::Reserved => "its id is in the reserve list",
        }
    }

    fn of(pod: &PodFacts, leaves: Leaves) -> Self {
        match (leaves, pod.ops_state.as_str()) {
            (Leaves::Reserved, _) => Self::Reserved,
            (Leaves::Surplus, "Kill") => Self::Kill,
            (Leaves::Surplus, "WaitToBeDeleted") => Self::WaitToBeDeleted,
            (Leaves::Surplus, "Allocated") => Self::Allocated,
            (Leaves::Surplus, "Maintaining") => Self::Maintaining,
            (Leaves::Surplus, _) if delete_order::priority(&pod.deletion_priority) > 0 => {
                Self::DeletionPriority
            }
            (Leaves::Surplus, _) => Self::HighestId,
        }
    }
}

/// Why a server stays although a server with a lower id goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum StayingReason {
    /// It is Allocated.
    Allocated,
    /// It is Maintaining.
    Maintaining,
    /// Others go first by opsState or deletion priority.
    OthersFirst,
}

impl StayingReason {
    /// Stable code, lower case with dashes.
    #[must_use]
    pub fn code(self) -> &'static str {
        match self {
            Self::Allocated => "stays-allocated",
            Self::Maintaining => "stays-maintaining",
            Self::OthersFirst => "stays-others-first",
        }
    }

    /// The reason in English.
    #[must_use]
    pub fn message(self) -> &'static str {
        match self {
            Self::Allocated => "not removed: Allocated",
            Self::Maintaining => "not removed: Maintaining",
            Self::OthersFirst => "not removed: others go first",
        }
    }
}

/// A server with the reason why it goes or stays.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Judged<R> {
    /// Name of the server.
    pub name: String,
    /// Its id.
    pub ordinal: Ordinal,
    /// Its opsState.
    pub ops_state: String,
    /// Why.
    pub reason: R,
}

/// What a scale would do.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ScalePreview {
    /// Replicas now.
    pub from: u32,
    /// Replicas afterwards.
    pub to: u32,
    /// Who goes, in this order.
    pub leaving: Vec<Judged<LeavingReason>>,
    /// Who stays against the plain order of ids.
    pub staying: Vec<Judged<StayingReason>>,
    /// Ids that join. Kept as ranges: `to` may be beyond all sense, so never expand it without a bound.
    pub joining: OrdinalSet,
    /// Ids that are written into the user's reserve list (strategy `ReserveIds`).
    pub newly_reserved: OrdinalSet,
    /// What is wrong with the spec so that nothing happens until it is put right.
    pub blocked: Vec<Problem>,
}

/// What a change of `spec.replicas` to `to` would do, all else staying as it is.
#[must_use]
pub fn preview_scale(seen: &SetObservation, to: u32) -> ScalePreview {
    let members = set_plan::members(&seen.pods);
    let from = seen
        .spec
        .scale
        .as_ref()
        .map_or_else(|| seen.acted.as_ref().map_or(0, |a| a.replicas), |s| s.replicas);
    let Some(scale) = &seen.spec.scale else {
        return ScalePreview { from, to, blocked: seen.spec.problems.clone(), ..ScalePreview::default() };
    };
    let wanted = ValidScale { replicas: to, ..scale.clone() };
    let choice =
        set_plan::choose_ids(seen.acted.as_ref(), seen.set.reserve_annotation.as_deref(), &wanted, &members);
    let judged = |pod: &PodFacts, reason| {
        Some(Judged {
            name: pod.name.clone(),
            ordinal: pod.ordinal?,
            ops_state: pod.ops_state.clone(),
            reason,
        })
    };
    let leaving: Vec<_> = choice
        .leaving
        .iter()
        .filter_map(|(index, leaves)| {
            let pod = members.get(*index)?;
            judged(pod, LeavingReason::of(pod, *leaves))
        })
        .collect();
    let lowest_surplus =
        leaving.iter().filter(|one| one.reason != LeavingReason::Reserved).map(|one| one.ordinal).min();
    let mut staying: Vec<_> = members
        .iter()
        .filter(|pod| {
            pod.counts()
                && pod.ordinal.is_some_and(|o| choice.keep.contains(o))
                && pod.ordinal > lowest_surplus
        })
        .filter(|_| lowest_surplus.is_some())
        .filter_map(|pod| {
            let reason = match pod.ops_state.as_str() {
                "Allocated" => StayingReason::Allocated,
                "Maintaining" => StayingReason::Maintaining,
                _ => StayingReason::OthersFirst,
            };
            Some(Judged {
                name: pod.name.clone(),
                ordinal: pod.ordinal?,
                ops_state: pod.ops_state.clone(),
                reason,
            })
        })
        .collect();
    staying.sort_by_key(|one| one.ordinal);
    let live: OrdinalSet = members.iter().filter(|pod| pod.counts()).filter_map(|pod| pod.ordinal).collect();
    let now = seen.acted.as_ref().map(set_plan::Acted::desired).unwrap_or_default().union(&live);
    let newly_reserved = match wanted.strategy {
        crds::kruise::ScaleDownStrategyType::ReserveIds => choice.freed,
        crds::kruise::ScaleDownStrategyType::General => OrdinalSet::new(),
    };
    ScalePreview {
        from,
        to,
        leaving,
        staying,
        joining: choice.keep.difference(&now),
        newly_reserved,
        blocked: Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kruise::{set_plan::Acted, validate::ValidSet};
    use crds::kruise::ScaleDownStrategyType;

    fn seen(ops: &[&str]) -> SetObservation {
        let pods = ops.iter().enumerate().map(|(id, ops)| PodFacts {
            name: format!("g-{id}"),
            ordinal: Ordinal::new(u32::try_from(id).unwrap()),
            ops_state: (*ops).to_owned(),
            ..PodFacts::default()
        });
        let replicas = u32::try_from(ops.len()).unwrap();
        SetObservation {
            pods: pods.collect(),
            acted: Some(Acted { replicas, ..Acted::default() }),
            spec: ValidSet {
                scale: Some(ValidScale { replicas, ..ValidScale::default() }),
                ..ValidSet::default()
            },
            ..SetObservation::default()
        }
    }

    #[test]
    fn who_goes_and_who_stays_with_the_reason() {
        let mut seen = seen(&["None", "WaitToBeDeleted", "None", "Allocated", "Maintaining", "None"]);
        seen.pods[0].deletion_priority = "3".into();
        let preview = preview_scale(&seen, 3);
        let leaving: Vec<_> = preview.leaving.iter().map(|l| (l.name.as_str(), l.reason.code())).collect();
        assert_eq!(
            leaving,
            [
                ("g-1", "leaves-wait-to-be-deleted"),
                ("g-0", "leaves-deletion-priority"),
                ("g-5", "leaves-highest-id")
            ]
        );
        let staying: Vec<_> = preview.staying.iter().map(|s| (s.name.as_str(), s.reason.code())).collect();
        assert_eq!(
            staying,
            [("g-2", "stays-others-first"), ("g-3", "stays-allocated"), ("g-4", "stays-maintaining")]
        );
        assert!(preview.joining.is_empty());
    }

    #[test]
    fn the_preview_is_what_the_plan_then_does() {
        let mut seen = seen(&["None", "Allocated", "WaitToBeDeleted", "None", "None"]);
        for to in 0..8 {
            let preview = preview_scale(&seen, to);
            if let Some(scale) = &mut seen.spec.scale {
                scale.replicas = to;
            }
            let plan = set_plan::plan(&seen);
            let deleted: Vec<String> = plan
                .actions
                .iter()
                .filter_map(|action| match action {
                    set_plan::SetAction::DeletePod { name, .. } => Some(name.clone()),
                    _ => None,
                })
                .collect();
            let leaving: Vec<String> = preview.leaving.iter().map(|one| one.name.clone()).collect();
            assert_eq!(deleted, leaving, "to {to}");
            let live: OrdinalSet = seen.pods.iter().filter_map(|pod| pod.ordinal).collect();
            assert_eq!(preview.joining, plan.desired.difference(&live), "to {to}");
        }
    }

    #[test]
    fn with_reserve_ids_the_preview_says_what_is_written_to_the_list() {
        let mut seen = seen(&["None", "None", "None"]);
        if let Some(scale) = &mut seen.spec.scale {
            scale.strategy = ScaleDownStrategyType::ReserveIds;
        }
        assert_eq!(preview_scale(&seen, 1).newly_reserved.to_string(), "1,2");
    }

    #[test]
    fn a_spec_with_a_fault_says_what_blocks() {
        let mut seen = seen(&["None"]);
        seen.spec.scale = None;
        seen.spec.problems = vec![Problem { field: "spec.replicas".into(), message: "x".into() }];
        let preview = preview_scale(&seen, 0);
        assert_eq!(preview.blocked.len(), 1);
        assert!(preview.leaving.is_empty());
    }
}
