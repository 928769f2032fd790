//! Which ids live: the rules of a scale step, as upstream's `computeToScaleGs` with its known faults put right.
//!
//! Differences from upstream, each with a test below and a line in `docs/differences.md`:
//! - Every id below the highest kept one that is not kept is reserved. So the kept ids are always the first `replicas`
//!   ids that are not reserved, also while a lower pod is missing or terminating, and no protected server is removed in
//!   the place of another.
//! - An id that is kept is never at the same time reserved by the controller.
//! - With `ReserveIds` an id that the user took out of the list is not written back.

use super::{
    delete_order,
    observe::PodFacts,
    ordinals::{Ordinal, OrdinalSet},
    state::Lifecycle,
};
use std::collections::BTreeMap;

/// What a scale step starts from.
#[derive(Clone, Copy, Debug)]
pub struct ScaleInput<'a> {
    /// `spec.reserveGameServerIds`.
    pub spec_reserve: &'a OrdinalSet,
    /// The explicit reserve that was acted on the last time.
    pub acted_reserve: &'a OrdinalSet,
    /// Ids that the controller itself keeps free, because a scale down took them.
    pub implicit: &'a OrdinalSet,
    /// `spec.replicas`.
    pub replicas: u32,
    /// The pods of the set.
    pub pods: &'a [PodFacts],
}

/// Why a pod is not kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Leaves {
    /// Its id is in the reserve list.
    Reserved,
    /// There are more servers than wanted, and the delete order put it there.
    Surplus,
}

/// What a scale step decides.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ScaleChoice {
    /// Ids that live afterwards.
    pub keep: OrdinalSet,
    /// Ids that the controller keeps free afterwards.
    pub implicit: OrdinalSet,
    /// Of these, the ids that this step freed: with `ReserveIds` they are written into the user's list.
    pub freed: OrdinalSet,
    /// Kept ids that have no counted pod yet.
    pub joining: OrdinalSet,
    /// Counted pods that are not kept, as indexes into the input's pods, in the order in which they go.
    pub leaving: Vec<(usize, Leaves)>,
}

impl ScaleChoice {
    /// Everything that is reserved afterwards, explicit and implicit.
    #[must_use]
    pub fn reserve(&self, spec_reserve: &OrdinalSet) -> OrdinalSet {
        self.implicit.union(spec_reserve)
    }
}

/// Whether a scale step is due: the size or the set of reserved ids is not the one that was acted on.
#[must_use]
pub fn is_due(
    replicas: u32,
    acted_replicas: u32,
    spec_reserve: &OrdinalSet,
    acted_reserve: &OrdinalSet,
) -> bool {
    replicas != acted_replicas || spec_reserve != acted_reserve
}

/// Chooses the ids that live.
#[must_use]
pub fn choose(input: ScaleInput<'_>) -> ScaleChoice {
    let ScaleInput { spec_reserve, acted_reserve, implicit, replicas, pods } = input;
    let newly_reserved = spec_reserve.difference(acted_reserve);
    let released = acted_reserve.difference(spec_reserve);
    let mut implicit_after = implicit.difference(&newly_reserved).union(&released);

    let mut counted: BTreeMap<Ordinal, usize> = BTreeMap::new();
    let mut blocked = OrdinalSet::new();
    let mut leaving = Vec::new();
    for (index, pod) in pods.iter().enumerate() {
        let Some(ordinal) = pod.ordinal.filter(|_| !pod.deleting) else { continue };
        if pod.lifecycle == Lifecycle::PreparingDelete {
            blocked.insert(ordinal);
        } else if spec_reserve.contains(ordinal) {
            leaving.push((index, Leaves::Reserved));
        } else {
            counted.insert(ordinal, index);
        }
    }
    leaving.sort_by(|(a, _), (b, _)| delete_order::compare(&pods[*a], &pods[*b]));

    let wanted = usize::try_from(replicas).unwrap_or(usize::MAX);
    let surplus = counted.len().saturating_sub(wanted);
    let mut order: Vec<usize> = counted.values().copied().collect();
    order.sort_by(|a, b| delete_order::compare(&pods[*a], &pods[*b]));
    for index in order.into_iter().take(surplus) {
        if let Some(ordinal) = pods[index].ordinal {
            counted.remove(&ordinal);
            implicit_after.insert(ordinal);
        }
        leaving.push((index, Leaves::Surplus));
    }

    let mut keep: OrdinalSet = counted.keys().copied().collect();
    let missing = u32::try_from(wanted.saturating_sub(counted.len())).unwrap_or(0);
    let joining = keep.union(spec_reserve).union(&blocked).first_free(missing);
    keep = keep.union(&joining);

    // What makes "the first `replicas` ids that are not reserved" true whatever pods are missing right now.
    let implicit_after = implicit_after.union(&keep.gaps()).difference(&keep).difference(spec_reserve);
    let freed = implicit_after.difference(implicit).difference(&released);
    ScaleChoice { keep, implicit: implicit_after, freed, joining, leaving }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ids(ids: &[u32]) -> OrdinalSet {
        ids.iter().filter_map(|id| Ordinal::new(*id)).collect()
    }

    fn pod(id: u32) -> PodFacts {
        PodFacts { ordinal: Ordinal::new(id), ops_state: "None".into(), ..PodFacts::default() }
    }

    fn pods(list: &[u32]) -> Vec<PodFacts> {
        list.iter().map(|id| pod(*id)).collect()
    }

    fn run(spec: &[u32], acted: &[u32], implicit: &[u32], replicas: u32, pods: &[PodFacts]) -> ScaleChoice {
        choose(ScaleInput {
            spec_reserve: &ids(spec),
            acted_reserve: &ids(acted),
            implicit: &ids(implicit),
            replicas,
            pods,
        })
    }

    /// Upstream removes server 4 here, although it is Allocated, because pod 2 is terminating.
    #[test]
    fn an_allocated_server_survives_a_scale_down_while_a_lower_pod_terminates() {
        let mut list = pods(&[0, 1, 2, 3, 4]);
        list[2].deleting = true;
        list[4].ops_state = "Allocated".into();
        let choice = run(&[], &[], &[], 4, &list);
        assert_eq!(choice.keep, ids(&[0, 1, 3, 4]));
        assert_eq!(choice.implicit, ids(&[2]));
        assert_eq!(choice.reserve(&ids(&[])).first_free(4), choice.keep);
        assert!(choice.leaving.is_empty());
    }

    /// Upstream keeps 0, 2, 4 and its workload then runs 0, 2, 3 (case SCALE-ID-D29).
    #[test]
    fn a_server_is_not_replaced_because_lower_pods_do_not_exist_yet() {
        let choice = run(&[1], &[], &[], 3, &pods(&[0, 1, 4]));
        assert_eq!(choice.keep, ids(&[0, 2, 4]));
        assert_eq!(choice.reserve(&ids(&[1])), ids(&[1, 3]));
        assert_eq!(choice.reserve(&ids(&[1])).first_free(3), choice.keep);
    }

    /// Upstream keeps 0, 1, 3 and its workload then runs 0, 1, 2, where 2 waits for its hook (case SCALE-ID-D17).
    #[test]
    fn a_pod_that_waits_for_its_hook_keeps_its_id_blocked() {
        let mut list = pods(&[0, 1, 2]);
        list[2].lifecycle = Lifecycle::PreparingDelete;
        let choice = run(&[], &[], &[], 3, &list);
        assert_eq!(choice.keep, ids(&[0, 1, 3]));
        assert_eq!(choice.implicit, ids(&[2]));
    }

    /// A scale down that was taken back before its pods were deleted: upstream would replace servers 3 and 4 by 5 and 6.
    #[test]
    fn servers_that_still_live_are_kept_when_a_scale_down_is_taken_back() {
        let choice = run(&[], &[], &[3, 4], 5, &pods(&[0, 1, 2, 3, 4]));
        assert_eq!(choice.keep, ids(&[0, 1, 2, 3, 4]));
        assert!(choice.implicit.is_empty());
    }

    /// Row 11 of upstream's list of defects (case SCALE-APPLY-D4): 2 was released by the user, 4 and 6 go.
    #[test]
    fn released_ids_are_not_among_the_freed_ones() {
        let choice = run(&[0, 4], &[0, 2], &[], 3, &pods(&[1, 3, 4, 5, 6]));
        assert_eq!(choice.keep, ids(&[1, 3, 5]));
        assert_eq!(choice.implicit, ids(&[2, 6]));
        assert_eq!(choice.freed, ids(&[6]));
    }

    #[test]
    fn the_order_of_leaving_is_the_delete_order() {
        let mut list = pods(&[0, 1, 2, 3]);
        list[1].ops_state = "WaitToBeDeleted".into();
        list[0].deletion_priority = "5".into();
        let choice = run(&[], &[], &[], 1, &list);
        let order: Vec<usize> = choice.leaving.iter().map(|(index, _)| *index).collect();
        assert_eq!(order, [1, 0, 3]);
    }
}
