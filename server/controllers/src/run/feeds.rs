//! From changes in the caches to keys in the queues.

use super::Shared;
use crate::cache::{CacheEvent, Key, POD_NODE, SERVER_SET};
use crds::{
    kruise::keys,
    slim::{SlimGameServerSet, SlimNode, SlimPod},
};
use futures::StreamExt;
use kube::ResourceExt;
use std::{
    collections::HashMap,
    hash::{DefaultHasher, Hash, Hasher},
};

/// Follows all caches for ever. Each feed begins with everything there is.
pub(super) async fn run(shared: &Shared) {
    tokio::join!(sets(shared), servers(shared), pods(shared), nodes(shared));
}

async fn sets(shared: &Shared) {
    let mut generations: HashMap<Key, i64> = HashMap::new();
    let mut look_at = |set: &SlimGameServerSet| {
        let key = Key::of(set);
        let generation = set.metadata.generation.unwrap_or_default();
        if generations.insert(key.clone(), generation).is_some_and(|old| old != generation) {
            // Labels of the template go to the GameServers, and so do changes of the reclaim policy.
            let servers = shared.caches.servers.indexed_keys(SERVER_SET, &key.to_string());
            servers.iter().for_each(|server| shared.servers.add(Key::clone(server)));
        }
        shared.sets.add(key);
    };
    let mut events = shared.caches.sets.subscribe();
    while let Some(event) = events.next().await {
        match event {
            CacheEvent::Applied(set) => look_at(&set),
            CacheEvent::Restarted(sets) => sets.iter().for_each(|set| look_at(&set)),
            CacheEvent::Deleted(set) => look_at(&set),
        }
    }
}

async fn servers(shared: &Shared) {
    let mut events = shared.caches.servers.subscribe();
    while let Some(event) = events.next().await {
        match event {
            CacheEvent::Applied(server) | CacheEvent::Deleted(server) => {
                shared.servers.add(Key::of(&*server));
            }
            CacheEvent::Restarted(servers) => {
                servers.iter().for_each(|server| shared.servers.add(Key::of(&*server)));
            }
        }
    }
}

async fn pods(shared: &Shared) {
    let look_at = |pod: &SlimPod| {
        shared.servers.add(Key::of(pod));
        if let (Some(set), Some(namespace)) = (pod.labels().get(keys::OWNER_GSS), pod.namespace()) {
            shared.sets.add(Key::new(namespace, set));
        }
    };
    let mut events = shared.caches.pods.subscribe();
    while let Some(event) = events.next().await {
        match event {
            CacheEvent::Applied(pod) | CacheEvent::Deleted(pod) => look_at(&pod),
            CacheEvent::Restarted(pods) => pods.iter().for_each(|pod| look_at(&pod)),
        }
    }
}

/// Nodes count only when a condition says something else than before: kubelets renew the times of their conditions all
/// the time, and that concerns nobody.
async fn nodes(shared: &Shared) {
    let mut told: HashMap<String, u64> = HashMap::new();
    let mut events = shared.caches.nodes.subscribe();
    let enqueue = |node: &str| {
        let pods = shared.caches.pods.indexed_keys(POD_NODE, node);
        pods.iter().for_each(|pod| shared.servers.add(Key::clone(pod)));
    };
    while let Some(event) = events.next().await {
        match event {
            CacheEvent::Applied(node) => {
                let (name, says) = (node.name_any(), what_it_says(&node));
                if told.insert(name.clone(), says) != Some(says) {
                    enqueue(&name);
                }
            }
            CacheEvent::Deleted(node) => {
                told.remove(&node.name_any());
                enqueue(&node.name_any());
            }
            CacheEvent::Restarted(nodes) => {
                for node in nodes.iter() {
                    let (name, says) = (node.name_any(), what_it_says(&node));
                    if told.insert(name.clone(), says) != Some(says) {
                        enqueue(&name);
                    }
                }
            }
        }
    }
}

fn what_it_says(node: &SlimNode) -> u64 {
    let mut hasher = DefaultHasher::new();
    for condition in &node.status.conditions {
        (&condition.type_, &condition.status, &condition.reason, &condition.message).hash(&mut hasher);
    }
    hasher.finish()
}
