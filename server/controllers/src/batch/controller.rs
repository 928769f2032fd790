//! The controller of batches: one task a batch that is not at its end, only on the leader.

use super::execute::{self, ClientFor, Run};
use super::target::Resolver;
use crate::cache::{Cache, CacheEvent, CacheOptions, Cached, Caches, Health, Indexer, Key, Namespaces};
use crds::pilothouse::{BATCH_LABEL, BatchEdit, BatchEditProgress, BatchEditTargets};
use futures::StreamExt;
use kube::{Api, Client, Resource, ResourceExt};
use std::{collections::HashMap, sync::Arc, time::Duration};
use tokio::{sync::watch, task::JoinHandle};
use tokio_util::sync::CancellationToken;
use wire::ServerKey;

/// Index of pieces and progress by their batch.
pub const BY_BATCH: &str = "batch";

/// Watches over the objects of batches.
#[derive(Clone)]
pub struct BatchCaches {
    /// Where the batches lie.
    pub namespace: String,
    /// Batches.
    pub edits: Cache<BatchEdit>,
    /// Frozen targets.
    pub targets: Cache<BatchEditTargets>,
    /// Results.
    pub progress: Cache<BatchEditProgress>,
}

impl BatchCaches {
    /// Starts watching the batches in their namespace.
    #[must_use]
    pub fn start(client: &Client, namespace: &str, stop: &CancellationToken) -> Self {
        Self {
            namespace: namespace.to_owned(),
            edits: cache(client, namespace, Vec::new(), stop),
            targets: cache(client, namespace, by_batch(), stop),
            progress: cache(client, namespace, by_batch(), stop),
        }
    }

    /// How the watches fare right now, one entry a kind.
    #[must_use]
    pub fn health(&self) -> Vec<Health> {
        [self.edits.health(), self.targets.health(), self.progress.health()]
            .into_iter()
            .map(|receiver| receiver.borrow().clone())
            .collect()
    }
}

fn cache<K: Cached>(
    client: &Client,
    namespace: &str,
    indexers: Vec<Indexer<K>>,
    stop: &CancellationToken,
) -> Cache<K> {
    let namespaces = Namespaces::Only(vec![namespace.to_owned()]);
    Cache::start(client, CacheOptions { namespaces, indexers, ..CacheOptions::default() }, stop)
}

fn by_batch<K: Resource>() -> Vec<Indexer<K>> {
    vec![Indexer { name: BY_BATCH, value: |object| object.labels().get(BATCH_LABEL).cloned() }]
}

/// What the controller needs.
#[derive(Clone)]
pub struct BatchContext {
    /// The process's own client, for the batch objects.
    pub client: Client,
    /// The client that acts for an author.
    pub client_for: ClientFor,
    /// Batches.
    pub batches: BatchCaches,
    /// Servers.
    pub caches: Caches,
    /// Finds servers.
    pub resolver: Arc<dyn Resolver>,
    /// Edits under way at once, per batch.
    pub workers: usize,
}

/// Runs batches until stopped. While this process is not the leader nothing is written.
pub async fn run(context: BatchContext, mut leader: watch::Receiver<bool>, stop: CancellationToken) {
    let mut running: HashMap<String, JoinHandle<()>> = HashMap::new();
    loop {
        let leads = *leader.borrow_and_update();
        if !leads {
            running.drain().for_each(|(_, task)| task.abort());
            tokio::select! {
                changed = leader.changed() => if changed.is_err() { return },
                () = stop.cancelled() => return,
            }
            continue;
        }
        let mut events = context.batches.edits.subscribe();
        loop {
            tokio::select! {
                event = events.next() => match event {
                    None => return,
                    Some(CacheEvent::Applied(edit)) => start(&context, &mut running, &edit),
                    Some(CacheEvent::Restarted(edits)) => {
                        edits.iter().for_each(|edit| start(&context, &mut running, &edit));
                    }
                    Some(CacheEvent::Deleted(edit)) => {
                        if let Some(task) = edit.uid().and_then(|uid| running.remove(&uid)) {
                            task.abort();
                        }
                    }
                },
                changed = leader.changed() => {
                    if changed.is_err() { return }
                    break;
                }
                () = stop.cancelled() => {
                    running.drain().for_each(|(_, task)| task.abort());
                    return;
                }
            }
        }
    }
}

fn start(context: &BatchContext, running: &mut HashMap<String, JoinHandle<()>>, edit: &BatchEdit) {
    running.retain(|_, task| !task.is_finished());
    let Some(uid) = edit.uid() else { return };
    let over = edit.status.as_ref().is_some_and(|status| status.phase.is_final());
    if over || running.contains_key(&uid) || edit.metadata.deletion_timestamp.is_some() {
        return;
    }
    running.insert(uid, tokio::spawn(drive(context.clone(), Key::of(edit))));
}

/// Runs one batch to its end, again and again while the API stands in the way.
async fn drive(context: BatchContext, key: Key) {
    // The board must know the servers before a filter is resolved.
    context.caches.servers.wait_synced().await;
    context.caches.pods.wait_synced().await;
    let mut wait = Duration::from_millis(200);
    loop {
        // Always from the API: the cache may not show this controller's own last status yet.
        let api: Api<BatchEdit> = Api::namespaced(context.client.clone(), &key.namespace);
        let edit = match api.get_opt(&key.name).await {
            Ok(Some(edit)) => edit,
            Ok(None) => return,
            Err(error) => {
                tracing::warn!(%error, batch = %key, "batch {key} could not be read; trying again");
                tokio::time::sleep(wait).await;
                wait = (wait * 2).min(Duration::from_secs(30));
                continue;
            }
        };
        let run = a_run(&context, &key, &edit);
        match execute::run(&run, edit).await {
            Ok(()) => return,
            Err(error) => tracing::warn!(%error, batch = %key, "batch {key} was interrupted; trying again"),
        }
        tokio::time::sleep(wait).await;
        wait = (wait * 2).min(Duration::from_secs(30));
    }
}

fn a_run(context: &BatchContext, key: &Key, edit: &BatchEdit) -> Run {
    let servers = context.caches.servers.clone();
    let edits = context.batches.edits.clone();
    let key = key.clone();
    Run {
        own: context.client.clone(),
        author: (context.client_for)(edit.spec.author.as_ref()),
        resolver: context.resolver.clone(),
        cached: Arc::new(move |server: &ServerKey| servers.get(&Key::new(&server.namespace, &server.name))),
        cancelled: Arc::new(move || edits.get(&key).is_some_and(|edit| edit.spec.cancelled)),
        workers: context.workers,
    }
}
