//! Which kinds there are: asked from the API server, so that custom resources are collected like built-in ones.

use std::collections::HashMap;
use std::sync::Arc;

use futures::StreamExt;
use kube::Client;
use kube::api::Api;
use kube::core::ApiResource;
use kube::discovery::{Discovery, Scope, verbs};
use kube::runtime::{WatchStreamExt, watcher};
use tokio::sync::mpsc;
use tokio_util::sync::{CancellationToken, DropGuard};
use tracing::debug;

use super::item::{Item, Kind, Meta};

/// Something that a watch saw.
#[derive(Debug)]
pub struct Seen {
    /// Of which kind.
    pub kind: Arc<Kind>,
    /// What.
    pub change: Change,
}

/// What a watch saw.
#[derive(Debug)]
pub enum Change {
    /// A list begins.
    ListBegins,
    /// An object, as part of a list.
    Listed(Item),
    /// The list is complete: what was not in it is gone.
    ListEnds,
    /// An object was made or changed.
    Applied(Item),
    /// The object of this uid is gone.
    Deleted(Arc<str>),
}

/// Asks for all kinds that can be listed and deleted.
///
/// # Errors
/// The API server did not answer, or a group vanished while it was asked for.
pub async fn discover(client: Client) -> kube::Result<Vec<Kind>> {
    let discovery = Discovery::new(client).run().await?;
    let mut kinds = Vec::new();
    for group in discovery.groups() {
        for (resource, capabilities) in group.recommended_resources() {
            let all = [verbs::LIST, verbs::DELETE].iter().all(|verb| capabilities.supports_operation(verb));
            if all {
                let watched = resource.kind != "Event" && capabilities.supports_operation(verbs::WATCH);
                kinds.push(Kind { namespaced: capabilities.scope == Scope::Namespaced, watched, resource });
            }
        }
    }
    Ok(kinds)
}

/// The kinds in force and their watches. A watch ends when its kind is dropped here.
#[derive(Default)]
pub struct Kinds {
    all: HashMap<ApiResource, (Arc<Kind>, DropGuard)>,
}

impl Kinds {
    /// Brings the watches in line with what was discovered. Returns the kinds that are new and those that are no more.
    pub fn update(
        &mut self,
        client: &Client,
        found: Vec<Kind>,
        seen: &mpsc::Sender<Seen>,
    ) -> (Vec<Arc<Kind>>, Vec<Arc<Kind>>) {
        let mut before = std::mem::take(&mut self.all);
        let mut new = Vec::new();
        for kind in found {
            let key = kind.resource.clone();
            let entry = match before.remove(&key) {
                Some((old, guard)) if *old == kind => (old, guard),
                _ => {
                    let kind = Arc::new(kind);
                    let stop = CancellationToken::new();
                    if kind.watched {
                        tokio::spawn(watch(client.clone(), kind.clone(), seen.clone(), stop.clone()));
                    }
                    new.push(kind.clone());
                    (kind, stop.drop_guard())
                }
            };
            self.all.insert(key, entry);
        }
        let lost = before.into_values().map(|(kind, _)| kind);
        // A kind that is now served in another version is still the same kind.
        let lost =
            lost.filter(|kind| self.find(&kind.resource.group, &kind.resource.kind).is_none()).collect();
        (new, lost)
    }

    /// The kind of this group and name, in whatever version it is watched.
    pub fn find(&self, group: &str, kind: &str) -> Option<Arc<Kind>> {
        let fits = |found: &&ApiResource| found.group == group && found.kind == kind;
        self.all.keys().find(fits).and_then(|key| self.all.get(key)).map(|(kind, _)| kind.clone())
    }

    /// All kinds that live in namespaces.
    pub fn namespaced(&self) -> Vec<Arc<Kind>> {
        self.all.values().filter(|(kind, _)| kind.namespaced).map(|(kind, _)| kind.clone()).collect()
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.all.len()
    }
}

/// Watches one kind and passes on what happens, until it is told to stop or nobody listens.
async fn watch(client: Client, kind: Arc<Kind>, seen: mpsc::Sender<Seen>, stop: CancellationToken) {
    let api: Api<Meta> = Api::all_with(client, &kind.resource);
    let mut events = std::pin::pin!(watcher(api, watcher::Config::default()).default_backoff());
    loop {
        let event = tokio::select! {
            () = stop.cancelled() => return,
            event = events.next() => event,
        };
        let change = match event {
            None => return,
            Some(Err(error)) => {
                debug!(kind = kind.resource.kind, %error, "a watch of the cluster controllers broke, it is opened again");
                continue;
            }
            Some(Ok(watcher::Event::Init)) => Some(Change::ListBegins),
            Some(Ok(watcher::Event::InitDone)) => Some(Change::ListEnds),
            Some(Ok(watcher::Event::InitApply(meta))) => Item::new(&kind, meta.metadata).map(Change::Listed),
            Some(Ok(watcher::Event::Apply(meta))) => Item::new(&kind, meta.metadata).map(Change::Applied),
            Some(Ok(watcher::Event::Delete(meta))) => {
                meta.metadata.uid.map(|uid| Change::Deleted(uid.into()))
            }
        };
        let Some(change) = change else { continue };
        let passed = seen.send(Seen { kind: kind.clone(), change });
        tokio::select! {
            () = stop.cancelled() => return,
            sent = passed => if sent.is_err() { return },
        }
    }
}
