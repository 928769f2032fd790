//! Begins writes and takes in what became of them.

use std::time::Duration;

use tracing::{debug, info, warn};

use super::{Engine, Entry, Uid};
use crate::nodes::events::{Note, Speaker};
use crate::nodes::ids::mix;
use crate::nodes::write::{Failure, Outcome, Write, perform};

/// First and longest wait after a write that did not work.
const FAILED_WAIT: Duration = Duration::from_millis(200);
const FAILED_WAIT_MAX: Duration = Duration::from_secs(10);

impl Engine {
    /// False when the very same status was written onto this very version: the API server stores something else than
    /// it was given, and writing it again would never end.
    pub(super) fn unless_futile(entry: &mut Entry, patch: &serde_json::Value) -> bool {
        let digest = mix(0, &[&patch["status"].to_string()]);
        let version = entry.pod.metadata.resource_version.clone().unwrap_or_default();
        if entry.written.as_ref() == Some(&(version, digest)) {
            debug!(pod = entry.pod.name(), "the API server stores another status than it was given");
            return false;
        }
        // The version is filled in when the answer comes.
        entry.written = Some((String::new(), digest));
        true
    }

    pub(super) fn begin(&mut self, uid: &Uid, write: Write) {
        let Some(entry) = self.pods.get_mut(uid) else { return };
        entry.busy = true;
        entry.again = false;
        let (namespace, name) = (entry.pod.namespace().to_owned(), entry.pod.name().to_owned());
        let (client, uid) = (self.client.clone(), uid.clone());
        self.writes.spawn(async move {
            let outcome = perform(client, namespace, name, uid.to_string(), write).await;
            (uid, outcome)
        });
    }

    pub(super) fn finished(&mut self, uid: &Uid, outcome: Outcome) {
        if !matches!(outcome, Outcome::Failed(_)) && !self.healthy {
            self.healthy = true;
            info!("writes of the simulated nodes work again");
        }
        let Some(entry) = self.pods.get_mut(uid) else { return };
        entry.busy = false;
        let again = std::mem::take(&mut entry.again);
        match outcome {
            Outcome::Stored(pod) => {
                entry.failures = 0;
                if let Some((version, _)) = &mut entry.written {
                    *version = pod.metadata.resource_version.clone().unwrap_or_default();
                }
                self.see(*pod);
                self.enqueue(uid);
            }
            Outcome::Bound | Outcome::Done => {
                entry.failures = 0;
                if matches!(outcome, Outcome::Bound) {
                    self.tell_bound(uid);
                }
                if again {
                    self.enqueue(uid);
                }
            }
            Outcome::Gone => entry.gone = true,
            Outcome::Changed(pod) => {
                entry.assumed = None;
                entry.awaits_claims = false;
                entry.written = None;
                entry.failures += 1;
                let failures = entry.failures;
                self.see(*pod);
                self.charge(uid);
                if failures > 3 {
                    self.wake_in(uid, FAILED_WAIT);
                } else {
                    self.enqueue(uid);
                }
            }
            Outcome::Failed(failure) => {
                entry.assumed = None;
                entry.awaits_claims = false;
                entry.written = None;
                entry.failures = entry.failures.saturating_add(1);
                let wait = FAILED_WAIT.saturating_mul(1 << entry.failures.min(8)).min(FAILED_WAIT_MAX);
                let pod = format!("{}/{}", entry.pod.namespace(), entry.pod.name());
                self.tell(&pod, &failure);
                self.charge(uid);
                self.wake_in(uid, wait);
            }
        }
    }

    fn tell_bound(&self, uid: &Uid) {
        let Some(Entry { pod, assumed: Some(node), .. }) = self.pods.get(uid) else { return };
        let text = format!("Successfully assigned {}/{} to {node}", pod.namespace(), pod.name());
        self.tell_events(pod, &Speaker::Scheduler, vec![Note::normal("Scheduled", text)]);
    }

    /// Tells of an outage once, and of the rest only on request.
    fn tell(&mut self, pod: &str, failure: &Failure) {
        if self.healthy {
            self.healthy = false;
            warn!(pod, %failure, "a write of the simulated nodes failed for {pod}; all are tried again");
        } else {
            debug!(pod, %failure, "a write of the simulated nodes failed again");
        }
    }

    pub(super) fn wake_in(&mut self, uid: &Uid, wait: Duration) {
        let Some(entry) = self.pods.get_mut(uid) else { return };
        // The queue of timers has an end at about two years; a day is as good as never for one look.
        let wait = wait.min(Duration::from_secs(86_400));
        match &entry.timer {
            Some(timer) => self.timers.reset(timer, wait),
            None => entry.timer = Some(self.timers.insert(uid.clone(), wait)),
        }
    }
}
