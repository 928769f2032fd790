//! One look of the simulated scheduler at one pod that has no node.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;
use tracing::warn;

use super::{Engine, Uid};
use crate::nodes::affinity::{Placed, Rules};
use crate::nodes::events::{Note, Speaker};
use crate::nodes::pod::{Condition, Pod, PodStatus};
use crate::nodes::schedule::{Candidate, Decision, refused_everywhere, schedule};
use crate::nodes::volumes::Waits;
use crate::nodes::write::{Write, status_patch};

/// A pod that fits nowhere is told at once; when only the words change, at most this often. (Two schedulers that both
/// look after a pod would otherwise correct each other without end.)
const REWORD_EVERY: Duration = Duration::from_secs(10);

impl Engine {
    pub(super) fn step_scheduler(&mut self, uid: &Uid) {
        let candidates = self.candidates.borrow().clone();
        let (Some(entry), Some(candidates)) = (self.pods.get(uid), candidates) else { return };
        let pod = &entry.pod;
        if !pod.spec.scheduling_gates.is_empty() || pod.is_deleting() || pod.is_terminal() {
            return;
        }
        if !pod.spec.claims.is_empty() && !self.claims.is_complete() {
            return;
        }
        let waits = self.claims.judge(pod.namespace(), &pod.spec.claims);
        if let Some(node) = entry.assumed.clone() {
            let still_there = candidates.iter().any(|machine| machine.name == node);
            match &waits {
                Waits::Nothing if entry.awaits_claims && still_there => return self.bind(uid, node),
                Waits::FirstUse(claims) if still_there && pinned(claims).is_none_or(|pin| pin == node) => {
                    return;
                }
                _ if !entry.awaits_claims => return,
                _ => self.give_up(uid),
            }
        }
        let Some(entry) = self.pods.get(uid) else { return };
        let decision = match &waits {
            Waits::Refused(why) => Decision::Unschedulable(refused_everywhere(candidates.len(), why)),
            _ => {
                let mut rules = self.rules(uid, &candidates);
                if let Waits::FirstUse(claims) = &waits {
                    let is_there = |pin: &&str| candidates.iter().any(|machine| machine.name == *pin);
                    rules.pinned = pinned(claims).filter(is_there).map(str::to_owned);
                }
                schedule(&entry.pod, &candidates, &self.usage, &rules)
            }
        };
        match (decision, waits) {
            (Decision::Bind(node), Waits::FirstUse(claims)) => self.select(uid, node, &claims),
            (Decision::Bind(node), _) => self.bind(uid, node),
            (Decision::Unschedulable(message), _) => self.unschedulable(uid, message),
        }
    }

    fn bind(&mut self, uid: &Uid, node: String) {
        let Some(entry) = self.pods.get_mut(uid) else { return };
        entry.assumed = Some(node.clone());
        entry.awaits_claims = false;
        self.charge(uid);
        self.begin(uid, Write::Bind(node));
    }

    /// Chooses a node, and tells the claims that need to know: the pod is bound once they have their volumes.
    fn select(&mut self, uid: &Uid, node: String, claims: &[(String, Option<String>)]) {
        let Some(entry) = self.pods.get_mut(uid) else { return };
        entry.assumed = Some(node.clone());
        entry.awaits_claims = true;
        self.charge(uid);
        let untold = claims.iter().filter(|(_, selected)| selected.as_deref() != Some(node.as_str()));
        let untold: Vec<String> = untold.map(|(claim, _)| claim.clone()).collect();
        if !untold.is_empty() {
            self.begin(uid, Write::Select(node, untold));
        }
    }

    /// The chosen node is gone, or the claims are not what they were.
    fn give_up(&mut self, uid: &Uid) {
        let Some(entry) = self.pods.get_mut(uid) else { return };
        entry.assumed = None;
        entry.awaits_claims = false;
        self.charge(uid);
    }

    /// What other pods mean for where this one can go. They are looked at only when somebody has a say about others.
    fn rules(&self, uid: &Uid, candidates: &[Arc<Candidate>]) -> Rules {
        let Some(entry) = self.pods.get(uid) else { return Rules::default() };
        let affinity = entry.pod.spec.affinity.as_deref();
        let has_terms = affinity.is_some_and(|affinity| {
            !affinity.pod_affinity.required.is_empty() || !affinity.pod_anti_affinity.required.is_empty()
        });
        if !has_terms && self.repelling.is_empty() {
            return Rules::default();
        }
        let nodes: HashMap<&str, &Candidate> =
            candidates.iter().map(|machine| (machine.name.as_str(), machine.as_ref())).collect();
        let place = |other: &Uid| {
            let other = self.pods.get(other)?;
            let (node, _) = other.charged.as_ref()?;
            let away = other.pod.spec.affinity.as_ref();
            Some(Placed {
                namespace: other.pod.namespace(),
                labels: &other.labels,
                node: nodes.get(node.as_str())?,
                away_from: away.map_or(&[], |affinity| &affinity.pod_anti_affinity.required),
            })
        };
        let (namespace, labels) = (entry.pod.namespace(), &entry.labels);
        // The answer does not depend on the order in which others are looked at.
        if has_terms {
            let others = self.pods.keys().filter(|other| *other != uid);
            Rules::of(affinity, namespace, labels, others.filter_map(place))
        } else {
            Rules::of(affinity, namespace, labels, self.repelling.iter().filter_map(place))
        }
    }

    fn unschedulable(&mut self, uid: &Uid, message: String) {
        self.stuck.insert(uid.clone());
        let Some(entry) = self.pods.get_mut(uid) else { return };
        let Some(wanted) = unschedulable(&entry.pod, &message, self.clock.now()) else { return };
        let known = entry.pod.status.condition("PodScheduled");
        let only_words = known.is_some_and(|known| known.reason.as_deref() == Some("Unschedulable"));
        let since = entry.told.map_or(REWORD_EVERY, |told| told.elapsed());
        if only_words && since < REWORD_EVERY {
            return self.wake_in(uid, REWORD_EVERY - since);
        }
        match status_patch(&entry.pod, &wanted) {
            Ok(patch) if Self::unless_futile(entry, &patch) => {
                entry.told = Some(Instant::now());
                let pod = &self.pods[uid].pod;
                self.tell_events(pod, &Speaker::Scheduler, vec![Note::warning("FailedScheduling", message)]);
                self.begin(uid, Write::Status(patch));
            }
            Ok(_) => {}
            Err(error) => warn!(%error, "a simulated condition cannot be written as JSON"),
        }
    }
}

/// The node that was chosen for a claim already, by another pod or before: it stays so until the claim has its volume.
fn pinned(claims: &[(String, Option<String>)]) -> Option<&str> {
    claims.iter().find_map(|(_, selected)| selected.as_deref())
}

/// The status of a pod that fits nowhere, unless it says so already.
fn unschedulable(pod: &Pod, message: &str, now: jiff::Timestamp) -> Option<PodStatus> {
    let mut status = pod.status.clone();
    let seconds = jiff::Timestamp::from_second(now.as_second()).unwrap_or(now);
    let mut condition = Condition {
        kind: "PodScheduled".into(),
        status: "False".into(),
        last_probe_time: None,
        last_transition_time: Some(k8s_openapi::apimachinery::pkg::apis::meta::v1::Time(seconds)),
        reason: Some("Unschedulable".into()),
        message: Some(message.to_owned()),
        observed_generation: pod.metadata.generation,
    };
    match status.conditions.iter_mut().find(|old| old.kind == condition.kind) {
        Some(old) => {
            if old.status == condition.status {
                condition.last_transition_time = old.last_transition_time.take();
            }
            *old = condition;
        }
        None => status.conditions.push(condition),
    }
    (status != pod.status).then_some(status)
}
