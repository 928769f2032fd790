//! Reconciling one GameServer with its pod: fetch → plan → apply.

use super::{Next, SERVER_CONTROLLER, Shared};
use crate::{
    cache::{Cache, Cached, Expect, Key},
    kruise::{
        observe::label,
        server_conditions::NodeSeen,
        server_plan::{self, ServerAction, ServerObservation},
    },
    write::{Category, Kind, WriteError, Written},
};
use crds::kruise::keys;
use k8s_openapi::api::core::v1::Pod;
use kube::{Api, Resource, ResourceExt};

pub(super) async fn reconcile(shared: &Shared, key: Key) -> Result<Next, WriteError> {
    // Fetch.
    let (pod, server) = (shared.caches.pods.get(&key), shared.caches.servers.get(&key));
    let meta = pod.as_ref().map(|pod| &pod.metadata).or(server.as_ref().map(|server| &server.metadata));
    let Some(set_name) = meta.map(|meta| label(meta, keys::OWNER_GSS).to_owned()) else {
        return Ok(Next { gone: true, ..Next::default() });
    };
    let set = shared.caches.sets.get(&Key::new(&key.namespace, &set_name));
    let node_name = pod.as_ref().and_then(|pod| pod.spec.node_name.clone()).filter(|name| !name.is_empty());
    let node = node_name.as_ref().and_then(|name| shared.caches.nodes.get(&Key::new("", name)));
    let node = match (&node_name, &node) {
        (Some(_), Some(node)) => NodeSeen::Found(node),
        (Some(name), None) if shared.caches.watches_nodes() => NodeSeen::Missing(name),
        _ => NodeSeen::Unknown,
    };
    // Plan.
    let plan = server_plan::plan(ServerObservation {
        namespace: &key.namespace,
        name: &key.name,
        pod: pod.as_deref(),
        server: server.as_deref(),
        set: set.as_deref(),
        node,
        now: shared.options.clock.now(),
    });
    // Apply.
    for action in &plan.actions {
        apply(shared, &key, action).await?;
    }
    if let Some(server) = &server {
        for event in plan.events {
            shared.events.tell(SERVER_CONTROLLER, server.object_ref(&()), event);
        }
    }
    Ok(Next::default())
}

async fn apply(shared: &Shared, key: &Key, action: &ServerAction) -> Result<(), WriteError> {
    let (namespace, name) = (key.namespace.as_str(), key.name.as_str());
    let writer = &shared.writer;
    let caches = &shared.caches;
    match action {
        ServerAction::Create(server) => {
            let created = writer.create(Kind::Server, namespace, server).await;
            seen(shared, &caches.servers, key, but_for(Category::AlreadyExists, created)?).await;
        }
        ServerAction::Delete { uid, unless_pod, version } => {
            if let Some(pod_uid) = unless_pod
                && pod_lives(shared, key, pod_uid).await?
            {
                return Ok(());
            }
            match writer.delete(Kind::Server, namespace, name, uid, version.as_deref()).await {
                Err(error) if error.category != Category::NotFound => return Err(error),
                _ => {
                    let expect = Expect::Removal { uid: uid.clone() };
                    caches.servers.wait_seen(key, expect, shared.options.seen_timeout).await;
                }
            }
        }
        ServerAction::PatchPod(patch) => {
            let patched = writer.merge(Kind::Pod, namespace, name, patch).await;
            seen(shared, &caches.pods, key, but_for(Category::NotFound, patched)?).await;
        }
        ServerAction::PatchImages(patch) => {
            let patched = writer.json(Kind::Pod, namespace, name, patch).await;
            seen(shared, &caches.pods, key, but_for(Category::NotFound, patched)?).await;
        }
        ServerAction::PatchServer(patch) => {
            let patched = writer.merge(Kind::Server, namespace, name, patch).await;
            seen(shared, &caches.servers, key, but_for(Category::NotFound, patched)?).await;
        }
        ServerAction::PatchStatus(patch) => {
            let patched = writer.json(Kind::ServerStatus, namespace, name, patch).await;
            seen(shared, &caches.servers, key, but_for(Category::NotFound, patched)?).await;
        }
    }
    Ok(())
}

/// The answer, or nothing when it failed of what was to be reached anyway; the watch tells the rest.
fn but_for(category: Category, result: Result<Written, WriteError>) -> Result<Option<Written>, WriteError> {
    match result {
        Ok(written) => Ok(Some(written)),
        Err(error) if error.category == category => Ok(None),
        Err(error) => Err(error),
    }
}

async fn seen<K: Cached>(shared: &Shared, cache: &Cache<K>, key: &Key, written: Option<Written>) {
    if let Some(written) = written {
        let expect = Expect::version(written.resource_version.as_deref());
        if !cache.wait_seen(key, expect, shared.options.seen_timeout).await {
            tracing::debug!(key = %key, "the watch is behind: an own write has not come back yet");
        }
    }
}

/// Asks the API whether the pod with this uid is still there.
async fn pod_lives(shared: &Shared, key: &Key, uid: &str) -> Result<bool, WriteError> {
    let api: Api<Pod> = Api::namespaced(shared.client.clone(), &key.namespace);
    match api.get_metadata_opt(&key.name).await {
        Ok(pod) => Ok(pod.is_some_and(|pod| pod.uid().as_deref() == Some(uid))),
        Err(error) => Err(WriteError {
            verb: "get",
            resource: "pods",
            name: key.to_string(),
            category: Category::of(&error),
            message: crate::cache::describe(&error),
        }),
    }
}
