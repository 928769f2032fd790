//! Leader election by a Lease, with client-go's rules: the holder renews often, gives up in time before others may take
//! over, and lets go at the end so that nobody has to wait.
//!
//! Clocks of different machines are never compared: a candidate measures with its own clock how long the Lease has not
//! moved.

use crate::clock::Clock;
use k8s_openapi::{
    api::coordination::v1::{Lease, LeaseSpec},
    apimachinery::pkg::apis::meta::v1::MicroTime,
};
use kube::{
    Api, Client,
    api::{ObjectMeta, PostParams},
};
use std::time::Duration;
use tokio::{sync::watch, task::JoinHandle, time::Instant};
use tokio_util::sync::CancellationToken;

/// How the election is held. The defaults are client-go's.
#[derive(Clone, Debug)]
pub struct Election {
    /// Namespace of the Lease.
    pub namespace: String,
    /// Name of the Lease.
    pub name: String,
    /// Who this process is; must be unique among the candidates.
    pub identity: String,
    /// How long a Lease that does not move keeps others out.
    pub lease_duration: Duration,
    /// How long the holder tries to renew before it gives up; shorter than `lease_duration`.
    pub renew_deadline: Duration,
    /// Pause between two attempts.
    pub retry_period: Duration,
    /// Why the Lease cannot be had, while the API answers and refuses. Whoever wants to show it subscribes before the start.
    pub refused: watch::Sender<Option<Refusal>>,
    /// What time is written into the Lease, for people; no decision looks at it.
    pub clock: Clock,
}

/// What the API said to an attempt to take the Lease: rights are missing (401, 403), or its namespace is (404).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// HTTP status.
    pub status: u16,
    /// The API's own words.
    pub message: String,
}

impl Refusal {
    fn of(error: &kube::Error) -> Option<Self> {
        match error {
            kube::Error::Api(status) if matches!(status.code, 401 | 403 | 404) => {
                Some(Self { status: status.code, message: status.message.clone() })
            }
            _ => None,
        }
    }
}

impl Election {
    /// An election with client-go's times.
    pub fn new(namespace: impl Into<String>, name: impl Into<String>, identity: impl Into<String>) -> Self {
        Self {
            namespace: namespace.into(),
            name: name.into(),
            identity: identity.into(),
            lease_duration: Duration::from_secs(15),
            renew_deadline: Duration::from_secs(10),
            retry_period: Duration::from_secs(2),
            refused: watch::Sender::new(None),
            clock: Clock::default(),
        }
    }

    /// Stands for election until `stop`. The receiver is true while this process leads; the task ends after the Lease
    /// was let go.
    #[must_use]
    pub fn start(self, client: Client, stop: CancellationToken) -> (watch::Receiver<bool>, JoinHandle<()>) {
        let (leads, receiver) = watch::channel(false);
        let candidate = Candidate {
            api: Api::namespaced(client, &self.namespace),
            election: self,
            observed: None,
            leads,
        };
        (receiver, tokio::spawn(candidate.run(stop)))
    }
}

/// A receiver that is always true, for a process that is alone.
#[must_use]
pub fn alone() -> watch::Receiver<bool> {
    watch::channel(true).1
}

struct Observed {
    lease: Lease,
    since: Instant,
}

struct Candidate {
    api: Api<Lease>,
    election: Election,
    observed: Option<Observed>,
    leads: watch::Sender<bool>,
}

impl Candidate {
    async fn run(mut self, stop: CancellationToken) {
        tokio::select! {
            biased;
            () = stop.cancelled() => {}
            () = self.stand() => {}
        }
        // First the work stops, then somebody else may begin.
        let led = self.leads.send_replace(false);
        if led && let Err(error) = self.release().await {
            tracing::warn!(%error, "the lease could not be let go: others wait until it runs out");
        }
    }

    async fn stand(&mut self) {
        let mut renewed = Instant::now();
        loop {
            let deadline = self.election.renew_deadline;
            // A call that hangs must not outlive the deadline while this process still thinks that it leads.
            let patience =
                if *self.leads.borrow() { deadline.saturating_sub(renewed.elapsed()) } else { deadline };
            let begun = Instant::now();
            let answer = tokio::time::timeout(patience, self.acquire_or_renew()).await;
            let refusal = match &answer {
                Ok(Err(error)) => Refusal::of(error),
                _ => None,
            };
            self.election
                .refused
                .send_if_modified(|told| std::mem::replace(told, refusal.clone()) != refusal);
            match answer {
                Ok(Ok(true)) => {
                    // Counted from before the request: others count from when they see it, which is later.
                    renewed = begun;
                    self.tell(true);
                }
                Ok(Ok(false)) => self.tell(false),
                Ok(Err(error)) => {
                    tracing::warn!(%error, lease = %self.election.name, "leader election: no answer");
                }
                Err(_) => {
                    tracing::warn!(lease = %self.election.name, "leader election: the API does not answer in time");
                }
            }
            if *self.leads.borrow() && renewed.elapsed() >= deadline {
                self.tell(false);
            }
            let mut pause = self.election.retry_period;
            if *self.leads.borrow() {
                pause = pause.min(deadline.saturating_sub(renewed.elapsed()));
            }
            tokio::time::sleep(pause).await;
        }
    }

    fn tell(&self, leads: bool) {
        self.leads.send_if_modified(|now| {
            if *now == leads {
                return false;
            }
            *now = leads;
            tracing::info!(leads, identity = %self.election.identity, "leadership changed");
            true
        });
    }

    async fn acquire_or_renew(&mut self) -> kube::Result<bool> {
        let Some(current) = self.api.get_opt(&self.election.name).await? else {
            let lease = Lease {
                metadata: ObjectMeta { name: Some(self.election.name.clone()), ..ObjectMeta::default() },
                spec: Some(self.record(None)),
            };
            return match self.api.create(&PostParams::default(), &lease).await {
                Ok(lease) => Ok(self.observe(lease)),
                Err(kube::Error::Api(status)) if status.is_already_exists() => Ok(false),
                Err(error) => Err(error),
            };
        };
        let ours = self.observe(current.clone());
        if !ours && self.is_held(&current) {
            return Ok(false);
        }
        let mut next = current;
        next.spec = Some(self.record(next.spec.as_ref()));
        // The version that was read goes along: of two candidates one gets a conflict.
        match self.api.replace(&self.election.name, &PostParams::default(), &next).await {
            Ok(lease) => Ok(self.observe(lease)),
            Err(kube::Error::Api(status)) if status.is_conflict() => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Remembers when the Lease was last seen moving; tells whether we hold it.
    fn observe(&mut self, lease: Lease) -> bool {
        let ours = holder(&lease) == self.election.identity;
        if self.observed.as_ref().is_none_or(|observed| observed.lease.spec != lease.spec) {
            self.observed = Some(Observed { lease, since: Instant::now() });
        }
        ours
    }

    fn is_held(&self, lease: &Lease) -> bool {
        if holder(lease).is_empty() {
            return false;
        }
        let seconds = lease.spec.as_ref().and_then(|spec| spec.lease_duration_seconds);
        let duration = seconds
            .and_then(|seconds| u64::try_from(seconds).ok())
            .map_or(self.election.lease_duration, Duration::from_secs);
        self.observed.as_ref().is_none_or(|observed| observed.since.elapsed() < duration)
    }

    fn record(&self, old: Option<&LeaseSpec>) -> LeaseSpec {
        let now = Some(MicroTime(self.election.clock.now()));
        let was_ours = old.is_some_and(|old| old.holder_identity.as_ref() == Some(&self.election.identity));
        let transitions = old.and_then(|old| old.lease_transitions).unwrap_or(0);
        LeaseSpec {
            holder_identity: Some(self.election.identity.clone()),
            lease_duration_seconds: i32::try_from(self.election.lease_duration.as_secs()).ok(),
            acquire_time: if was_ours { old.and_then(|old| old.acquire_time.clone()) } else { now.clone() },
            renew_time: now,
            lease_transitions: Some(if was_ours || old.is_none() { transitions } else { transitions + 1 }),
            ..old.cloned().unwrap_or_default()
        }
    }

    async fn release(&mut self) -> kube::Result<()> {
        let Some(mut lease) = self.api.get_opt(&self.election.name).await? else { return Ok(()) };
        if holder(&lease) != self.election.identity {
            return Ok(());
        }
        let spec = lease.spec.get_or_insert_default();
        spec.holder_identity = Some(String::new());
        spec.lease_duration_seconds = Some(1);
        spec.renew_time = Some(MicroTime(self.election.clock.now()));
        self.api.replace(&self.election.name, &PostParams::default(), &lease).await.map(|_| ())
    }
}

fn holder(lease: &Lease) -> &str {
    lease.spec.as_ref().and_then(|spec| spec.holder_identity.as_deref()).unwrap_or_default()
}
