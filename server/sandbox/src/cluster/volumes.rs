//! Binds claims and volumes, as the volume controller of a real cluster does: it asks provisioners for volumes, joins the
//! two halves, and releases volumes whose claim is gone. Making and deleting volumes is the provisioner's work.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use futures::StreamExt;
use k8s_openapi::api::core::v1::{PersistentVolume, PersistentVolumeClaim};
use k8s_openapi::api::storage::v1::StorageClass;
use kube::api::Api;
use kube::runtime::{WatchStreamExt, watcher};
use kube::{Client, ResourceExt};
use tokio::time::MissedTickBehavior;
use tokio_util::sync::CancellationToken;
use tracing::debug;

use super::binding::{self, Key, Step, World};

/// What failed is tried again this often.
const RETRY: Duration = Duration::from_secs(2);

/// Runs until `stop`. One write is under way at a time: a sandbox has few volumes, and each write decides the next.
pub async fn run(client: Client, stop: CancellationToken) {
    let (claims, classes, volumes) =
        (Api::all(client.clone()), Api::all(client.clone()), Api::all(client.clone()));
    let config = watcher::Config::default;
    let mut claims = std::pin::pin!(watcher::<PersistentVolumeClaim>(claims, config()).default_backoff());
    let mut classes = std::pin::pin!(watcher::<StorageClass>(classes, config()).default_backoff());
    let mut volumes = std::pin::pin!(watcher::<PersistentVolume>(volumes, config()).default_backoff());
    let mut seen = Seen::default();
    let mut retry = tokio::time::interval(RETRY);
    retry.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        let event = tokio::select! {
            biased;
            () = stop.cancelled() => return,
            Some(event) = classes.next() => seen.class(event),
            Some(event) = volumes.next() => seen.volume(event),
            Some(event) = claims.next() => seen.claim(event),
            _ = retry.tick(), if !seen.touched.is_empty() => Ok(()),
        };
        if let Err(error) = event {
            debug!(%error, "a watch of the volume controller broke, it is opened again");
        }
        if !seen.is_complete() {
            continue;
        }
        for touched in std::mem::take(&mut seen.touched) {
            if let Some(step) = seen.decide(&touched) {
                let written = tokio::select! {
                    () = stop.cancelled() => return,
                    written = binding::write(&client, &step) => written,
                };
                // What was written comes back as an event, and the next step with it.
                if let Err(error) = written {
                    debug!(?touched, %error, "a write of the volume controller failed, it is tried again");
                    seen.touched.insert(touched);
                }
            }
        }
    }
}

/// A claim or a volume that may have to be looked at.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Touched {
    Volume(String),
    Claim(Key),
}

/// All that was seen.
#[derive(Default)]
struct Seen {
    world: World,
    touched: BTreeSet<Touched>,
    listed: (bool, bool, bool),
}

type Event<K> = watcher::Result<watcher::Event<K>>;

impl Seen {
    fn is_complete(&self) -> bool {
        self.listed == (true, true, true)
    }

    fn all_claims(&mut self) {
        self.touched.extend(self.world.claims.keys().cloned().map(Touched::Claim));
    }

    fn class(&mut self, event: Event<StorageClass>) -> Result<(), watcher::Error> {
        let name = |class: &StorageClass| class.name_any();
        self.listed.0 |= apply(&mut self.world.classes, event?, name);
        self.all_claims();
        Ok(())
    }

    fn claim(&mut self, event: Event<PersistentVolumeClaim>) -> Result<(), watcher::Error> {
        let event = event?;
        if let watcher::Event::Apply(claim)
        | watcher::Event::InitApply(claim)
        | watcher::Event::Delete(claim) = &event
        {
            self.touched.insert(Touched::Claim(binding::key(claim)));
            let volume = claim.spec.as_ref().and_then(|spec| spec.volume_name.clone());
            self.touched.extend(volume.map(Touched::Volume));
        }
        let done = apply(&mut self.world.claims, event, binding::key);
        if done {
            // Claims may have gone while nobody watched.
            self.touched.extend(self.world.volumes.keys().cloned().map(Touched::Volume));
        }
        self.listed.1 |= done;
        Ok(())
    }

    fn volume(&mut self, event: Event<PersistentVolume>) -> Result<(), watcher::Error> {
        let event = event?;
        if let watcher::Event::Apply(volume)
        | watcher::Event::InitApply(volume)
        | watcher::Event::Delete(volume) = &event
        {
            self.touched.insert(Touched::Volume(volume.name_any()));
            match binding::claim_of(volume) {
                Some(key) => {
                    self.touched.insert(Touched::Claim(key));
                }
                // Anybody's claim may like it.
                None => self.all_claims(),
            }
        }
        let done = apply(&mut self.world.volumes, event, |volume: &PersistentVolume| volume.name_any());
        if done {
            self.all_claims();
        }
        self.listed.2 |= done;
        Ok(())
    }

    fn decide(&self, touched: &Touched) -> Option<Step> {
        match touched {
            Touched::Claim(key) => self.world.step_of_claim(key),
            Touched::Volume(name) => self.world.step_of_volume(name),
        }
    }
}

/// Takes in an event; true when a list is complete.
fn apply<I: Ord, K: ResourceExt>(
    known: &mut BTreeMap<I, K>,
    event: watcher::Event<K>,
    id: impl Fn(&K) -> I,
) -> bool {
    match event {
        watcher::Event::Init => known.clear(),
        watcher::Event::InitApply(mut object) | watcher::Event::Apply(mut object) => {
            object.meta_mut().managed_fields = None;
            known.insert(id(&object), object);
        }
        watcher::Event::Delete(object) => {
            known.remove(&id(&object));
        }
        watcher::Event::InitDone => return true,
    }
    false
}
