//! One look of a simulated kubelet at one of its pods.

use std::time::Duration;

use serde_json::json;
use tracing::warn;

use super::{Engine, Uid};
use crate::nodes::events::Speaker;
use crate::nodes::game::{Game, PLAYERS_ANNOTATION};
use crate::nodes::kubelet;
use crate::nodes::node::machine_ip;
use crate::nodes::write::{Write, status_patch};
use tokio::time::Instant;

impl Engine {
    pub(super) fn step_kubelet(&mut self, uid: &Uid) {
        let Some(entry) = self.pods.get(uid) else { return };
        let Some(node) = entry.pod.spec.node_name.clone() else { return };
        let Some(index) = self.options.machine_index(&node) else { return };
        if self.down.contains(&index) {
            return;
        }
        let room = kubelet::asks_for_room(&entry.pod, &entry.local).then(|| self.room(uid, &node)).flatten();
        let Some(entry) = self.pods.get_mut(uid) else { return };
        if entry.local.ip.is_none() && !entry.pod.spec.host_network && !entry.pod.is_terminal() {
            entry.local.ip = self.addresses.take();
        }
        let images = self.images.entry(index).or_default();
        let machine = kubelet::Machine {
            ip: &machine_ip(index),
            images,
            timing: &self.options.timing,
            seed: self.options.seed,
            room: room.as_ref(),
        };
        let now = self.clock.now();
        let mut plan = kubelet::plan(&entry.pod, &mut entry.local, now, &machine);
        images.extend(plan.pulled);
        if plan.cramped {
            self.cramped.insert(uid.clone());
        }
        let patch = match plan.status.map(|wanted| status_patch(&entry.pod, &wanted)) {
            None => None,
            Some(Ok(patch)) => Some(patch),
            Some(Err(error)) => {
                warn!(%error, pod = entry.pod.name(), "a simulated status cannot be written as JSON");
                None
            }
        };
        let write = match (plan.remove, patch) {
            (true, patch) => Some(Write::Remove(patch)),
            (false, Some(patch)) => Self::unless_futile(entry, &patch).then_some(Write::Status(patch)),
            (false, None) => None,
        };
        let notes = std::mem::take(&mut plan.notes);
        if !notes.is_empty()
            && let Some(entry) = self.pods.get(uid)
        {
            self.tell_events(&entry.pod, &Speaker::Kubelet(node), notes);
        }
        if let Some(write) = write {
            return self.begin(uid, write);
        }
        let (players, next) = self.players(uid);
        if let Some(write) = players {
            return self.begin(uid, write);
        }
        let wakes = [plan.wake.map(|wake| self.clock.until(wake)), next];
        if let Some(wait) = wakes.into_iter().flatten().min() {
            self.wake_in(uid, wait);
        }
    }

    /// What the machine has, and what others use of it.
    fn room(&self, uid: &Uid, node: &str) -> Option<kubelet::Room> {
        let candidates = self.candidates.borrow().clone()?;
        let size = candidates.iter().find(|machine| machine.name == node)?.size.clone();
        let mut others = self.usage.get(node).cloned().unwrap_or_default();
        if let Some((charged, own)) = &self.pods.get(uid)?.charged
            && charged == node
        {
            others.remove(own);
        }
        Some(kubelet::Room { size, others })
    }

    /// The write that brings the number of players up to date, if one is due; else how long that number holds. Pods
    /// without the annotation cost nothing.
    fn players(&mut self, uid: &Uid) -> (Option<Write>, Option<Duration>) {
        let Some(entry) = self.pods.get(uid) else { return (None, None) };
        let pod = &entry.pod;
        let game = pod.wish("players").and_then(|wish| Game::wished(wish, self.options.seed, pod.uid()));
        let Some(game) = game.filter(|_| !pod.is_deleting() && !pod.is_terminal()) else {
            return (None, None);
        };
        let now = self.clock.now();
        // As the status tells it, in whole seconds: so the log counts the same players.
        let since = pod
            .status
            .container_statuses
            .first()
            .and_then(|status| status.state.running.as_ref()?.started_at.as_ref());
        let (number, next) = since.map_or((0, None), |since| game.at(since.0, now));
        let known = pod.metadata.annotations.as_ref().and_then(|all| all.get(PLAYERS_ANNOTATION));
        if known.is_some_and(|known| *known == number.to_string()) {
            return (None, next.map(|next| self.clock.until(next)));
        }
        if let Err(wait) = self.game_pace.take(Instant::now()) {
            return (None, Some(wait));
        }
        let annotations = json!({PLAYERS_ANNOTATION: number.to_string()});
        let patch = json!({"metadata": {"uid": pod.uid(), "annotations": annotations}});
        (Some(Write::Annotate(patch)), None)
    }
}
