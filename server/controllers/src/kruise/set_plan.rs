//! Step *plan* of a GameServerSet: from what was seen to what is to be done. Pure; every decision about which servers
//! live and die is here and in [`super::scale`].
//!
//! One plan goes as far as it can without having to look again. Order, so that a crash between any two writes leads to
//! the same end: what was decided is written to the status *before* the first pod is created or deleted; with the
//! strategy `ReserveIds` the user's list is written before that; GameServers are marked before their pods go.

use super::{
    delete_order,
    kill::{KILL, replicas_after_kill},
    observe::{Controller, PodFacts},
    ordinals::{Ordinal, OrdinalSet},
    pod::ServerWishes,
    scale::{self, Leaves, ScaleChoice, ScaleInput},
    state::Lifecycle,
    validate::{ValidScale, ValidSet},
};
use crds::kruise::{ReclaimPolicy, ScaleDownStrategyType};
use jiff::Timestamp;
use std::{collections::BTreeMap, time::Duration};

/// How long a pod that ended is left to be looked at before a new one takes its place. It also keeps a server that fails
/// at once from being created again and again without pause.
pub const FAILED_POD_REST: Duration = Duration::from_secs(10);

/// Pods that one plan creates at most. Then everything is looked at again: who asks for a million servers by mistake can
/// take it back.
pub const CREATIONS_AT_ONCE: usize = 500;

/// The size and ids that were acted on, as the status remembers them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Acted {
    /// `status.actedReplicas`.
    pub replicas: u32,
    /// `status.actedReserveIds`.
    pub reserve: OrdinalSet,
    /// `status.implicitReserveIds`.
    pub implicit: OrdinalSet,
}

impl Acted {
    /// The ids that live by this.
    #[must_use]
    pub fn desired(&self) -> OrdinalSet {
        self.reserve.union(&self.implicit).first_free(self.replicas)
    }
}

/// What is known of a set itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SetFacts {
    /// Namespace.
    pub namespace: String,
    /// Name.
    pub name: String,
    /// uid.
    pub uid: String,
    /// Version that was read; guards writes that replace something.
    pub resource_version: String,
    /// Generation of the spec.
    pub generation: i64,
    /// Whether it has a deletion timestamp.
    pub deleting: bool,
    /// Annotation `game.kruise.io/reserve-ids`.
    pub reserve_annotation: Option<String>,
}

/// What is known of a GameServer of the set.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ServerFacts {
    /// uid.
    pub uid: String,
    /// Whether the label `game.kruise.io/gs-deleting` is `true`.
    pub marked: bool,
    /// Whether the set owns it, so that it outlives its pod.
    pub owned_by_set: bool,
    /// What it wants its pod to be.
    pub wishes: ServerWishes,
}

/// The API refused to create a pod, and until when it is not asked again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// Revision that was refused; another one is tried at once.
    pub revision: String,
    /// What the API said.
    pub message: String,
    /// When to try again.
    pub retry_at: Timestamp,
}

/// Everything that a plan is made from.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SetObservation {
    /// The set.
    pub set: SetFacts,
    /// Its spec.
    pub spec: ValidSet,
    /// What was acted on; `None` before the first time.
    pub acted: Option<Acted>,
    /// All pods that carry the set's label.
    pub pods: Vec<PodFacts>,
    /// Its GameServers by id.
    pub servers: BTreeMap<Ordinal, ServerFacts>,
    /// Name of the revision of the template; empty while the template is not valid.
    pub revision: String,
    /// Whether the revision is known to be stored.
    pub revision_stored: bool,
    /// The API refused a pod not long ago.
    pub refusal: Option<Refusal>,
    /// Now.
    pub now: Timestamp,
}

/// One thing to do.
#[derive(Clone, Debug, PartialEq)]
pub enum SetAction {
    /// Lower `spec.replicas`, because of servers with opsState `Kill`.
    LowerReplicas {
        /// Replicas now.
        from: u32,
        /// Replicas afterwards.
        to: u32,
    },
    /// Write `spec.reserveGameServerIds` and the annotation (strategy `ReserveIds`).
    WriteReserve(OrdinalSet),
    /// Write what is acted on to the status.
    WriteActed(Acted),
    /// Write the annotation `game.kruise.io/reserve-ids`.
    MirrorReserve(String),
    /// Store the template as a ControllerRevision.
    StoreRevision,
    /// Set the label `game.kruise.io/gs-deleting` of a GameServer.
    MarkServer {
        /// Name.
        name: String,
        /// uid.
        uid: String,
        /// The value.
        leaving: bool,
    },
    /// Make a pod wait for its preDelete hook.
    HoldPod {
        /// Name.
        name: String,
        /// uid.
        uid: String,
    },
    /// Delete a pod.
    DeletePod {
        /// Name.
        name: String,
        /// uid, as a precondition.
        uid: String,
    },
    /// Make the set the controller of a pod that has none.
    AdoptPod {
        /// Name.
        name: String,
        /// uid, as a precondition.
        uid: String,
    },
    /// Create a server's claims and pod.
    CreatePod(Ordinal),
}

impl SetAction {
    /// Whether it has to be written before the first pod is touched.
    #[must_use]
    pub fn is_decision(&self) -> bool {
        match self {
            Self::LowerReplicas { .. }
            | Self::WriteReserve(_)
            | Self::WriteActed(_)
            | Self::MirrorReserve(_)
            | Self::StoreRevision
            | Self::MarkServer { .. } => true,
            Self::HoldPod { .. } | Self::DeletePod { .. } | Self::AdoptPod { .. } | Self::CreatePod(_) => {
                false
            }
        }
    }
}

/// Something that the set waits for.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Wait {
    /// The API refuses pods of this template.
    Refused(String),
    /// Pods of other owners have names that are needed.
    NameTaken(Vec<String>),
    /// The template is not valid and servers are missing.
    NoTemplate,
    /// Pods wait for their preDelete hook.
    Hook(Vec<String>),
    /// Pods have to be gone before new ones can have their names.
    Removal(Vec<String>),
    /// Pods ended and rest a moment before they are created again.
    Ended(Vec<String>),
    /// Too many servers are not ready (`scaleStrategy.maxUnavailable`).
    NotReady(u32),
    /// Pods are being created.
    Creating(u32),
    /// Pods are being removed.
    Removing(u32),
}

/// A note for people.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlannedEvent {
    /// Warning, or normal.
    pub warning: bool,
    /// Stable reason.
    pub reason: &'static str,
    /// Words.
    pub message: String,
}

/// What is to be done about a set.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SetPlan {
    /// In this order; the ones of a kind may go side by side.
    pub actions: Vec<SetAction>,
    /// Told after the actions went well.
    pub events: Vec<PlannedEvent>,
    /// The ids that should live.
    pub desired: OrdinalSet,
    /// What stands in the way.
    pub waits: Vec<Wait>,
    /// Look again after this time even when nothing happens.
    pub look_again: Option<Duration>,
    /// The spec was changed by the plan itself: look again as soon as that is seen. Nothing else is done before.
    pub replan: bool,
}

/// Whether a pod counts for the planning: it has an id of the set, and nobody else controls it.
fn is_member(pod: &PodFacts) -> bool {
    pod.ordinal.is_some() && !matches!(pod.controller, Controller::Other(_))
}

/// The pods that count for the planning.
#[must_use]
pub fn members(pods: &[PodFacts]) -> Vec<PodFacts> {
    pods.iter().filter(|pod| is_member(pod)).cloned().collect()
}

/// What a scale step to `wanted` decides.
#[must_use]
pub fn choose_ids(
    acted: Option<&Acted>,
    annotation: Option<&str>,
    wanted: &ValidScale,
    members: &[PodFacts],
) -> ScaleChoice {
    let first_sight;
    let acted_or_first = match acted {
        Some(acted) => acted,
        // A set that upstream ran until now: its explicit reserve is in the annotation, and what it kept free of its own
        // accord shows as gaps between the pods that live.
        None => {
            first_sight = Acted {
                replicas: 0,
                reserve: OrdinalSet::parse_text(annotation.unwrap_or_default(), ","),
                implicit: OrdinalSet::new(),
            };
            &first_sight
        }
    };
    let mut choice = scale::choose(ScaleInput {
        spec_reserve: &wanted.reserve,
        acted_reserve: &acted_or_first.reserve,
        implicit: &acted_or_first.implicit,
        replicas: wanted.replicas,
        pods: members,
    });
    if acted.is_none() {
        // Gaps of a set that is seen for the first time were not freed by this step: they stay out of the user's list.
        let removed: OrdinalSet = choice
            .leaving
            .iter()
            .filter(|(_, why)| *why == Leaves::Surplus)
            .filter_map(|(index, _)| members[*index].ordinal)
            .collect();
        choice.freed = choice.freed.difference(&choice.freed.difference(&removed));
    }
    choice
}

/// Plans the next steps of a set.
#[must_use]
pub fn plan(seen: &SetObservation) -> SetPlan {
    let mut plan = SetPlan::default();
    let members = members(&seen.pods);
    if seen.set.deleting {
        // Its pods go with it, by garbage collection; creating or deleting now would only get in the way.
        plan.desired = live_ids(&members);
        return plan;
    }
    if let Some(lowered) = plan_kill(seen, &members) {
        return lowered;
    }
    let acted = plan_scale(seen, &members, &mut plan);
    if plan.replan {
        return plan;
    }
    let Some(acted) = acted else {
        // Seen for the first time with a bad spec: what lives goes on living, and nothing is decided.
        plan.desired = live_ids(&members);
        return plan;
    };
    plan.desired = acted.desired();
    let mirror = acted.reserve.to_text(",");
    if seen.set.reserve_annotation.as_deref().unwrap_or_default() != mirror {
        plan.actions.push(SetAction::MirrorReserve(mirror));
    }
    plan_marks(seen, &members, &mut plan);
    plan_removals(seen, &members, &mut plan);
    plan_creations(seen, &members, &mut plan);
    plan
}

fn live_ids(members: &[PodFacts]) -> OrdinalSet {
    members.iter().filter(|pod| pod.counts()).filter_map(|pod| pod.ordinal).collect()
}

fn plan_kill(seen: &SetObservation, members: &[PodFacts]) -> Option<SetPlan> {
    let (wanted, acted) = (seen.spec.scale.as_ref()?, seen.acted.as_ref()?);
    if scale::is_due(wanted.replicas, acted.replicas, &wanted.reserve, &acted.reserve)
        || live_ids(members) != acted.desired()
    {
        // While ids are exchanged the killed server may be needed to fill the size, and would be counted twice.
        return None;
    }
    let after = replicas_after_kill(wanted.replicas, acted.replicas, members);
    if after == wanted.replicas {
        return None;
    }
    let names: Vec<String> =
        members.iter().filter(|pod| pod.ops_state == KILL).map(|pod| pod.name.clone()).collect();
    let event = PlannedEvent {
        warning: false,
        reason: "Kill",
        message: format!("replicas lowered from {} to {after} for {}", wanted.replicas, list(&names)),
    };
    Some(SetPlan {
        actions: vec![SetAction::LowerReplicas { from: wanted.replicas, to: after }],
        events: vec![event],
        desired: acted.desired(),
        replan: true,
        ..SetPlan::default()
    })
}

/// Decides the size and ids; returns what is acted on from here.
fn plan_scale(seen: &SetObservation, members: &[PodFacts], plan: &mut SetPlan) -> Option<Acted> {
    let Some(wanted) = &seen.spec.scale else { return seen.acted.clone() };
    if let Some(acted) = &seen.acted
        && !scale::is_due(wanted.replicas, acted.replicas, &wanted.reserve, &acted.reserve)
        && !order_has_changed(acted, wanted, members)
    {
        return Some(acted.clone());
    }
    let choice = choose_ids(seen.acted.as_ref(), seen.set.reserve_annotation.as_deref(), wanted, members);
    if wanted.strategy == ScaleDownStrategyType::ReserveIds && !choice.freed.is_empty() {
        plan.actions.push(SetAction::WriteReserve(wanted.reserve.union(&choice.freed)));
        plan.desired = choice.keep;
        plan.replan = true;
        return None;
    }
    let before =
        seen.acted.as_ref().map_or_else(|| live_ids(members).len(), |acted| u64::from(acted.replicas));
    let acted =
        Acted { replicas: wanted.replicas, reserve: wanted.reserve.clone(), implicit: choice.implicit };
    plan.actions.push(SetAction::WriteActed(acted.clone()));
    let again =
        seen.acted.as_ref().is_some_and(|old| old.replicas == acted.replicas && old.reserve == acted.reserve);
    let message = if again {
        format!("other servers go than were chosen at first: ids {} stay", acted.desired().to_text(","))
    } else {
        format!("scale from {before} to {}", wanted.replicas)
    };
    plan.events.push(PlannedEvent { warning: false, reason: "Scale", message });
    Some(acted)
}

/// Whether a server that was chosen to go still lives, and one that was chosen to stay would go first by now: the choice was
/// made before somebody made the one Allocated or the other WaitToBeDeleted, and nothing is lost by making it again.
fn order_has_changed(acted: &Acted, wanted: &ValidScale, members: &[PodFacts]) -> bool {
    let desired = acted.desired();
    let chosen = |pod: &&PodFacts| {
        pod.counts() && pod.ordinal.is_some_and(|ordinal| !wanted.reserve.contains(ordinal))
    };
    let stays = |pod: &PodFacts| pod.ordinal.is_some_and(|ordinal| desired.contains(ordinal));
    let (staying, going): (Vec<&PodFacts>, Vec<&PodFacts>) =
        members.iter().filter(chosen).partition(|pod| stays(pod));
    let first_staying = staying.into_iter().min_by(|a, b| delete_order::compare(a, b));
    let last_going = going.into_iter().max_by(|a, b| delete_order::compare(a, b));
    first_staying.zip(last_going).is_some_and(|(stays, goes)| delete_order::compare(stays, goes).is_lt())
}

/// Keeps the label that decides whether a GameServer goes with its pod (reclaim policy `Delete`).
fn plan_marks(seen: &SetObservation, members: &[PodFacts], plan: &mut SetPlan) {
    if seen.spec.reclaim != ReclaimPolicy::Delete {
        return;
    }
    let alive: OrdinalSet =
        members.iter().filter(|pod| !pod.deleting).filter_map(|pod| pod.ordinal).collect();
    for (ordinal, server) in &seen.servers {
        let stays = plan.desired.contains(*ordinal);
        let leaving = match (stays, server.marked) {
            (false, false) => true,
            // The id came back. While its pod lives the label is left as somebody set it, as upstream does.
            (true, true) if !alive.contains(*ordinal) => false,
            _ => continue,
        };
        let name = ordinal.member_name(&seen.set.name);
        plan.actions.push(SetAction::MarkServer { name, uid: server.uid.clone(), leaving });
    }
}

fn plan_removals(seen: &SetObservation, members: &[PodFacts], plan: &mut SetPlan) {
    let mut order: Vec<&PodFacts> = members.iter().collect();
    order.sort_by(|a, b| delete_order::compare(a, b));
    let (mut held, mut removing, mut resting) = (Vec::new(), 0, Vec::new());
    for pod in order {
        let stays = pod.ordinal.is_some_and(|ordinal| plan.desired.contains(ordinal));
        let delete = || SetAction::DeletePod { name: pod.name.clone(), uid: pod.uid.clone() };
        if pod.deleting {
            removing += u32::from(!stays);
        } else if pod.lifecycle == Lifecycle::PreparingDelete {
            if pod.held {
                held.push(pod.name.clone());
            } else {
                plan.actions.push(delete());
                removing += 1;
            }
        } else if !stays {
            if pod.held {
                plan.actions.push(SetAction::HoldPod { name: pod.name.clone(), uid: pod.uid.clone() });
                held.push(pod.name.clone());
            } else {
                plan.actions.push(delete());
                removing += 1;
            }
        } else if pod.phase.has_ended() {
            // A StatefulSet does the same: a pod that ended will never run again, its server needs a new one.
            let rest = rest_of(pod, seen.now);
            if rest.is_zero() {
                plan.actions.push(delete());
                plan.events.push(PlannedEvent {
                    warning: true,
                    reason: "RecreatingEndedPod",
                    message: format!("{} ended and is created again", pod.name),
                });
            } else {
                plan.look_again = Some(plan.look_again.map_or(rest, |other| other.min(rest)));
            }
            resting.push(pod.name.clone());
        } else if pod.controller == Controller::Nobody {
            plan.actions.push(SetAction::AdoptPod { name: pod.name.clone(), uid: pod.uid.clone() });
        }
    }
    push_names(plan, held, Wait::Hook);
    push_names(plan, resting, Wait::Ended);
    if removing > 0 {
        plan.waits.push(Wait::Removing(removing));
    }
}

fn rest_of(pod: &PodFacts, now: Timestamp) -> Duration {
    let age = pod.created.map_or(FAILED_POD_REST, |created| {
        Duration::try_from(now.duration_since(created)).unwrap_or(Duration::ZERO)
    });
    FAILED_POD_REST.saturating_sub(age)
}

fn plan_creations(seen: &SetObservation, members: &[PodFacts], plan: &mut SetPlan) {
    let existing: OrdinalSet = members.iter().filter_map(|pod| pod.ordinal).collect();
    let missing = plan.desired.difference(&existing);
    let taken: BTreeMap<Ordinal, String> = seen
        .pods
        .iter()
        .filter_map(|pod| match (&pod.controller, pod.ordinal) {
            (Controller::Other(owner), Some(ordinal)) => Some((ordinal, format!("{} ({owner})", pod.name))),
            _ => None,
        })
        .collect();
    let leaving: Vec<String> = members
        .iter()
        .filter(|pod| pod.deleting && pod.ordinal.is_some_and(|ordinal| plan.desired.contains(ordinal)))
        .map(|pod| pod.name.clone())
        .collect();
    let blocked: Vec<String> = taken
        .iter()
        .filter(|(ordinal, _)| missing.contains(**ordinal))
        .map(|(_, told)| told.clone())
        .collect();
    push_names(plan, leaving, Wait::Removal);
    push_names(plan, blocked, Wait::NameTaken);

    let free = missing.difference(&taken.keys().copied().collect());
    if free.is_empty() {
        return;
    }
    if seen.spec.template.is_none() {
        plan.waits.push(Wait::NoTemplate);
        return;
    }
    if let Some(refusal) = &seen.refusal
        && refusal.revision == seen.revision
    {
        let rest = Duration::try_from(refusal.retry_at.duration_since(seen.now)).unwrap_or(Duration::ZERO);
        plan.waits.push(Wait::Refused(refusal.message.clone()));
        if !rest.is_zero() {
            plan.look_again = Some(plan.look_again.map_or(rest, |other| other.min(rest)));
            return;
        }
    }
    let wanted = u32::try_from(free.len()).unwrap_or(u32::MAX);
    let mut allowed = wanted;
    if let Some(limit) = seen.spec.scale_max_unavailable {
        let total = u32::try_from(plan.desired.len()).unwrap_or(u32::MAX);
        let unready = members
            .iter()
            .filter(|pod| {
                pod.ordinal.is_some_and(|ordinal| plan.desired.contains(ordinal)) && !pod.is_ready()
            })
            .count();
        allowed = limit.of(total).saturating_sub(u32::try_from(unready).unwrap_or(u32::MAX)).min(wanted);
        if allowed < wanted {
            plan.waits.push(Wait::NotReady(wanted - allowed));
        }
    }
    if allowed == 0 {
        return;
    }
    if !seen.revision_stored {
        plan.actions.push(SetAction::StoreRevision);
    }
    plan.waits.push(Wait::Creating(allowed));
    plan.actions.extend(free.iter().take(CREATIONS_AT_ONCE.min(allowed as usize)).map(SetAction::CreatePod));
}

fn push_names(plan: &mut SetPlan, names: Vec<String>, wait: fn(Vec<String>) -> Wait) {
    if !names.is_empty() {
        plan.waits.push(wait(names));
    }
}

/// Names as one text, at most five of them.
pub(super) fn list(names: &[String]) -> String {
    const SHOWN: usize = 5;
    let mut text = names.iter().take(SHOWN).cloned().collect::<Vec<_>>().join(", ");
    if names.len() > SHOWN {
        text.push_str(&format!(" and {} more", names.len() - SHOWN));
    }
    text
}

#[cfg(test)]
#[path = "set_plan_tests.rs"]
mod tests;
