//! Pods whose node is gone: after a while they are marked as failed and deleted, as a real cluster does.

use std::collections::{BTreeSet, HashSet};
use std::time::Duration;

use futures::{StreamExt, TryStreamExt};
use k8s_openapi::api::core::v1::{Node, Pod};
use kube::api::{Api, DeleteParams, ListParams, Patch, PatchParams, Preconditions};
use kube::core::{PartialObjectMeta, Resource};
use kube::runtime::{WatchStreamExt, watcher};
use kube::{Client, ResourceExt};
use serde_json::json;
use tokio_util::sync::CancellationToken;
use tokio_util::time::DelayQueue;
use tracing::{debug, info, warn};

use super::writes::FIELD_MANAGER;

/// A node may come back this soon without its pods being lost. A real cluster waits 40 s; here nobody likes to wait.
const QUARANTINE: Duration = Duration::from_secs(10);
/// After this long a collection that failed is tried again.
const RETRY: Duration = Duration::from_secs(2);
/// Pods that are collected at once.
const IN_FLIGHT: usize = 16;

/// Runs until `stop`.
pub async fn run(client: Client, stop: CancellationToken) {
    let nodes: Api<PartialObjectMeta<Node>> = Api::all(client.clone());
    let mut events = std::pin::pin!(watcher(nodes, watcher::Config::default()).default_backoff());
    let mut alive: HashSet<String> = HashSet::new();
    let mut listed: Option<HashSet<String>> = None;
    let mut suspects: DelayQueue<String> = DelayQueue::new();
    loop {
        tokio::select! {
            () = stop.cancelled() => return,
            Some(event) = events.next() => match event {
                Err(error) => debug!(%error, "the watch on nodes broke, it is opened again"),
                Ok(watcher::Event::Init) => listed = Some(HashSet::new()),
                Ok(watcher::Event::InitApply(node)) => {
                    if let Some(names) = &mut listed {
                        names.insert(node.name_any());
                    }
                }
                Ok(watcher::Event::InitDone) => {
                    alive = listed.take().unwrap_or_default();
                    match nodes_in_use(&client).await {
                        Ok(used) => {
                            for name in used.into_iter().filter(|name| !alive.contains(name)) {
                                suspects.insert(name, QUARANTINE);
                            }
                        }
                        Err(error) => debug!(%error, "could not list pods to find those without a node"),
                    }
                }
                Ok(watcher::Event::Apply(node)) => {
                    alive.insert(node.name_any());
                }
                Ok(watcher::Event::Delete(node)) => {
                    alive.remove(&node.name_any());
                    suspects.insert(node.name_any(), QUARANTINE);
                }
            },
            Some(expired) = suspects.next(), if !suspects.is_empty() => {
                let node = expired.into_inner();
                if alive.contains(&node) {
                    continue;
                }
                match collect(&client, &node).await {
                    Ok(0) => {}
                    Ok(count) => info!(node, count, "deleted {count} pods of node {node}, which is gone"),
                    Err(error) => {
                        warn!(node, %error, "could not delete the pods of node {node}, which is gone");
                        suspects.insert(node, RETRY);
                    }
                }
            }
        }
    }
}

/// The nodes that pods name.
async fn nodes_in_use(client: &Client) -> kube::Result<BTreeSet<String>> {
    let pods: Api<Pod> = Api::all(client.clone());
    let mut names = BTreeSet::new();
    let mut params = ListParams::default().limit(500);
    loop {
        let page = pods.list(&params).await?;
        names.extend(page.items.into_iter().filter_map(|pod| pod.spec?.node_name));
        match page.metadata.continue_.filter(|token| !token.is_empty()) {
            Some(token) => params = params.continue_token(&token),
            None => return Ok(names),
        }
    }
}

/// Marks the pods of a node that is gone as failed and deletes them at once; returns how many.
async fn collect(client: &Client, node: &str) -> kube::Result<usize> {
    let nodes: Api<PartialObjectMeta<Node>> = Api::all(client.clone());
    if nodes.get_opt(node).await?.is_some() {
        return Ok(0);
    }
    let pods: Api<Pod> = Api::all(client.clone());
    let found = pods.list(&ListParams::default().fields(&format!("spec.nodeName={node}"))).await?;
    let here = |pod: &Pod| pod.spec.as_ref().and_then(|spec| spec.node_name.as_deref()) == Some(node);
    let lost: Vec<Pod> = found.items.into_iter().filter(here).collect();
    let count = lost.len();
    futures::stream::iter(lost.into_iter().map(Ok))
        .try_for_each_concurrent(IN_FLIGHT, |pod| async move { collect_pod(client, &pod).await })
        .await?;
    Ok(count)
}

async fn collect_pod(client: &Client, pod: &Pod) -> kube::Result<()> {
    let pods: Api<Pod> = Api::namespaced(client.clone(), &pod.namespace().unwrap_or_default());
    let name = pod.name_any();
    let phase = pod.status.as_ref().and_then(|status| status.phase.as_deref());
    if !matches!(phase, Some("Failed" | "Succeeded")) {
        let params = PatchParams { field_manager: Some(FIELD_MANAGER.into()), ..PatchParams::default() };
        let patch = json!({
            "metadata": {"uid": pod.meta().uid},
            "status": {"phase": "Failed", "reason": "NodeLost", "message": "PodGC: node no longer exists"},
        });
        ignore_gone(pods.patch_status(&name, &params, &Patch::Merge(patch)).await)?;
    }
    let only_this = Preconditions { uid: pod.meta().uid.clone(), resource_version: None };
    ignore_gone(pods.delete(&name, &DeleteParams::default().grace_period(0).preconditions(only_this)).await)
}

fn ignore_gone<T>(result: kube::Result<T>) -> kube::Result<()> {
    match result {
        Err(kube::Error::Api(status)) if matches!(status.code, 404 | 409) => Ok(()),
        result => result.map(|_| ()),
    }
}
