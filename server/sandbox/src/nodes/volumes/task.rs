//! The loop of the provisioner: watches claims, classes and volumes, tells the scheduler, begins what has to be written.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::time::Duration;

use futures::StreamExt;
use k8s_openapi::api::core::v1::{PersistentVolume, PersistentVolumeClaim};
use k8s_openapi::api::storage::v1::StorageClass;
use kube::api::Api;
use kube::runtime::{WatchStreamExt, watcher};
use kube::{Client, ResourceExt};
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio::time::MissedTickBehavior;
use tokio_util::sync::CancellationToken;
use tracing::{debug, warn};

use super::claims::{ClaimKey, News};
use super::{objects, provision};

/// Volumes that are made or deleted at once.
const IN_FLIGHT: usize = 16;
/// What failed is tried again this often, and what no watch event told of.
const RETRY: Duration = Duration::from_secs(2);

/// A piece of work: a volume to be made for a claim, or to be deleted.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum Job {
    Classes,
    Make(ClaimKey),
    Delete(String),
}

/// Plays the provisioner until `stop`, and tells the scheduler how claims stand.
pub async fn run(client: Client, news: mpsc::Sender<News>, stop: CancellationToken) {
    let (claims, classes, volumes) =
        (Api::all(client.clone()), Api::all(client.clone()), Api::all(client.clone()));
    let config = watcher::Config::default;
    let mut claims = std::pin::pin!(watcher::<PersistentVolumeClaim>(claims, config()).default_backoff());
    let mut classes = std::pin::pin!(watcher::<StorageClass>(classes, config()).default_backoff());
    let mut volumes = std::pin::pin!(watcher::<PersistentVolume>(volumes, config()).default_backoff());
    let mut state = State {
        client,
        claims: BTreeMap::new(),
        classes: BTreeMap::new(),
        volumes: BTreeMap::new(),
        relisted: BTreeSet::new(),
        classes_listed: false,
        jobs: BTreeSet::from([Job::Classes]),
        underway: HashSet::new(),
        tasks: JoinSet::new(),
        news: Vec::new(),
    };
    let mut retry = tokio::time::interval(RETRY);
    retry.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        for told in state.news.drain(..) {
            tokio::select! {
                biased;
                () = stop.cancelled() => return,
                sent = news.send(told) => if sent.is_err() { return },
            }
        }
        tokio::select! {
            biased;
            () = stop.cancelled() => break,
            Some(event) = classes.next() => state.see_class(event),
            Some(event) = claims.next() => state.see_claim(event),
            Some(event) = volumes.next() => state.see_volume(event),
            Some(done) = state.tasks.join_next(), if !state.tasks.is_empty() => state.finished(done),
            _ = retry.tick(), if !state.jobs.is_empty() => state.begin(),
        }
    }
    state.tasks.shutdown().await;
}

struct State {
    client: Client,
    claims: BTreeMap<ClaimKey, PersistentVolumeClaim>,
    classes: BTreeMap<String, StorageClass>,
    /// Volumes of ours that shall go: name and uid.
    volumes: BTreeMap<String, Option<String>>,
    /// Claims seen since a list began.
    relisted: BTreeSet<ClaimKey>,
    classes_listed: bool,
    /// What is to be done, some of it again.
    jobs: BTreeSet<Job>,
    underway: HashSet<Job>,
    tasks: JoinSet<(Job, kube::Result<()>)>,
    /// What the scheduler is to be told.
    news: Vec<News>,
}

impl State {
    fn see_class(&mut self, event: watcher::Result<watcher::Event<StorageClass>>) {
        match event {
            Err(error) => debug!(%error, "the watch on storage classes broke, it is opened again"),
            Ok(watcher::Event::Init) => self.classes.clear(),
            Ok(watcher::Event::InitApply(class) | watcher::Event::Apply(class)) => {
                let name = class.name_any();
                self.classes.insert(name.clone(), class);
                self.judge_claims_of(&name);
            }
            Ok(watcher::Event::InitDone) => {
                self.classes_listed = true;
                let all: Vec<ClaimKey> = self.claims.keys().cloned().collect();
                all.iter().for_each(|key| self.judge(key));
            }
            Ok(watcher::Event::Delete(class)) => {
                self.classes.remove(&class.name_any());
                self.judge_claims_of(&class.name_any());
            }
        }
        self.begin();
    }

    fn judge_claims_of(&mut self, class: &str) {
        let of_class = self.claims.iter().filter(|(_, claim)| objects::class_name(claim) == Some(class));
        let keys: Vec<ClaimKey> = of_class.map(|(key, _)| key.clone()).collect();
        keys.iter().for_each(|key| self.judge(key));
    }

    fn see_claim(&mut self, event: watcher::Result<watcher::Event<PersistentVolumeClaim>>) {
        match event {
            Err(error) => debug!(%error, "the watch on claims broke, it is opened again"),
            Ok(watcher::Event::Init) => self.relisted.clear(),
            Ok(watcher::Event::InitApply(claim)) => {
                self.relisted.insert(key(&claim));
                self.keep(claim);
            }
            Ok(watcher::Event::Apply(claim)) => self.keep(claim),
            Ok(watcher::Event::InitDone) => {
                let listed = std::mem::take(&mut self.relisted);
                self.claims.retain(|key, _| listed.contains(key));
                self.news.push(News::AllTold(listed));
            }
            Ok(watcher::Event::Delete(claim)) => {
                let key = key(&claim);
                self.claims.remove(&key);
                self.jobs.remove(&Job::Make(key.clone()));
                self.news.push(News::Stands(key, None));
            }
        }
        self.begin();
    }

    fn keep(&mut self, mut claim: PersistentVolumeClaim) {
        claim.metadata.managed_fields = None;
        let key = key(&claim);
        self.claims.insert(key.clone(), claim);
        self.judge(&key);
    }

    /// Tells the scheduler how a claim stands, and notes whether a volume is to be made for it.
    fn judge(&mut self, key: &ClaimKey) {
        let Some(claim) = self.claims.get(key) else { return };
        if !self.classes_listed {
            return;
        }
        let class = objects::class_name(claim).and_then(|name| self.classes.get(name));
        self.news.push(News::Stands(key.clone(), Some(objects::standing(claim, class))));
        let job = Job::Make(key.clone());
        if class.is_some_and(|class| objects::wanted_volume(claim, class).is_some()) {
            self.jobs.insert(job);
        } else {
            self.jobs.remove(&job);
        }
    }

    fn see_volume(&mut self, event: watcher::Result<watcher::Event<PersistentVolume>>) {
        match event {
            Err(error) => debug!(%error, "the watch on volumes broke, it is opened again"),
            Ok(watcher::Event::Init) => self.volumes.clear(),
            Ok(watcher::Event::InitApply(volume) | watcher::Event::Apply(volume)) => {
                let name = volume.name_any();
                if objects::shall_be_deleted(&volume) {
                    self.volumes.insert(name.clone(), volume.uid());
                    self.jobs.insert(Job::Delete(name));
                } else {
                    self.volumes.remove(&name);
                    self.jobs.remove(&Job::Delete(name));
                }
            }
            Ok(watcher::Event::InitDone) => {
                let volumes = &self.volumes;
                self.jobs.retain(|job| !matches!(job, Job::Delete(name) if !volumes.contains_key(name)));
            }
            Ok(watcher::Event::Delete(volume)) => {
                self.volumes.remove(&volume.name_any());
                self.jobs.remove(&Job::Delete(volume.name_any()));
            }
        }
        self.begin();
    }

    /// Begins as much of what is to be done as may be under way at once. A job stays noted until it succeeded or what it
    /// was for has changed.
    fn begin(&mut self) {
        let room = IN_FLIGHT.saturating_sub(self.tasks.len());
        let next: Vec<Job> =
            self.jobs.iter().filter(|job| !self.underway.contains(*job)).take(room).cloned().collect();
        for job in next {
            let client = self.client.clone();
            match &job {
                Job::Classes => {
                    let done = job.clone();
                    self.tasks.spawn(async move { (done, provision::install_classes(&client).await) });
                }
                Job::Make(key) => {
                    let claim = self.claims.get(key);
                    let class = claim.and_then(objects::class_name).and_then(|name| self.classes.get(name));
                    let volume =
                        claim.zip(class).and_then(|(claim, class)| objects::wanted_volume(claim, class));
                    let Some(volume) = volume else {
                        self.jobs.remove(&job);
                        continue;
                    };
                    let done = job.clone();
                    self.tasks.spawn(async move { (done, provision::make(&client, volume).await) });
                }
                Job::Delete(name) => {
                    let (name, uid) = (name.clone(), self.volumes.get(name).cloned().flatten());
                    let done = job.clone();
                    self.tasks.spawn(async move { (done, provision::delete(&client, &name, uid).await) });
                }
            }
            self.underway.insert(job);
        }
    }

    fn finished(&mut self, done: Result<(Job, kube::Result<()>), tokio::task::JoinError>) {
        match done {
            Ok((job, result)) => {
                self.underway.remove(&job);
                match result {
                    Ok(()) => {
                        self.jobs.remove(&job);
                        self.begin();
                    }
                    // The next tick tries again.
                    Err(error) => debug!(?job, %error, "a write of the simulated provisioner failed"),
                }
            }
            Err(error) => warn!(%error, "a write of the simulated provisioner was lost"),
        }
    }
}

fn key(claim: &PersistentVolumeClaim) -> ClaimKey {
    (claim.namespace().unwrap_or_default(), claim.name_any())
}
