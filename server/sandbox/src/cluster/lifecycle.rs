//! Nodes that are not heard of any more, as the node lifecycle and taint eviction controllers of a real cluster treat them:
//! Ready becomes Unknown, the node is tainted, its pods count as not ready and go when their tolerations end.

use std::collections::BTreeMap;
use std::time::Duration;

use futures::StreamExt;
use k8s_openapi::api::coordination::v1::Lease;
use k8s_openapi::api::core::v1::{Node, Pod};
use kube::api::{Api, DeleteParams, ListParams, Patch, PatchParams, Preconditions};
use kube::runtime::{WatchStreamExt, watcher};
use kube::{Client, ResourceExt};
use serde_json::{Value, json};
use tokio::time::{Instant, MissedTickBehavior};
use tokio_util::sync::CancellationToken;
use tracing::{debug, info};

use super::taints::{self, Fate};
use super::writes::FIELD_MANAGER;
use crate::nodes::clock::Clock;

/// A node that does not renew its lease for so long is not heard of: the default of Kubernetes 1.36.
const GRACE: Duration = Duration::from_secs(50);
/// How often nodes are looked at, as in a real cluster.
const PERIOD: Duration = Duration::from_secs(5);
/// Pods that are marked or evicted at once.
const IN_FLIGHT: usize = 16;
/// Where nodes keep their leases.
const LEASES: &str = "kube-node-lease";

/// Runs until `stop`. Nodes that never had a lease (made by hand) are not expected to be heard of.
pub async fn run(client: Client, stop: CancellationToken) {
    let clock = Clock::starting_now();
    let config = watcher::Config::default;
    let mut nodes = std::pin::pin!(watcher::<Node>(Api::all(client.clone()), config()).default_backoff());
    let leases: Api<Lease> = Api::namespaced(client.clone(), LEASES);
    let mut leases = std::pin::pin!(watcher(leases, config()).default_backoff());
    let mut known: BTreeMap<String, Node> = BTreeMap::new();
    let mut heard: BTreeMap<String, Heard> = BTreeMap::new();
    let mut look = tokio::time::interval(PERIOD);
    look.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            biased;
            () = stop.cancelled() => return,
            Some(event) = nodes.next() => match event {
                Err(error) => debug!(%error, "the watch on nodes broke, it is opened again"),
                Ok(watcher::Event::Init) => known.clear(),
                Ok(watcher::Event::InitApply(node) | watcher::Event::Apply(node)) => {
                    known.insert(node.name_any(), node);
                }
                Ok(watcher::Event::InitDone) => {}
                Ok(watcher::Event::Delete(node)) => {
                    known.remove(&node.name_any());
                }
            },
            Some(event) = leases.next() => match event {
                Err(error) => debug!(%error, "the watch on leases of nodes broke, it is opened again"),
                Ok(watcher::Event::InitApply(lease) | watcher::Event::Apply(lease)) => hear(&mut heard, &lease),
                Ok(watcher::Event::Init | watcher::Event::InitDone) => {}
                Ok(watcher::Event::Delete(lease)) => {
                    heard.remove(&lease.name_any());
                }
            },
            _ = look.tick() => {
                let silent = |name: &String| heard.get(name).is_some_and(|heard| heard.since.elapsed() > GRACE);
                for (name, node) in &known {
                    let treated = treat(&client, node, silent(name), &clock);
                    let treated = tokio::select! {
                        () = stop.cancelled() => return,
                        treated = treated => treated,
                    };
                    if let Err(error) = treated {
                        debug!(node = name, %error, "a write about node {name} failed, it is tried again");
                    }
                }
            }
        }
    }
}

/// When a node was heard of last. The time in the lease is the node's own, so only its change counts.
struct Heard {
    renewed: Option<String>,
    since: Instant,
}

fn hear(heard: &mut BTreeMap<String, Heard>, lease: &Lease) {
    let renewed =
        lease.spec.as_ref().and_then(|spec| spec.renew_time.as_ref()).map(|time| time.0.to_string());
    match heard.get(&lease.name_any()) {
        Some(known) if known.renewed == renewed => {}
        _ => {
            heard.insert(lease.name_any(), Heard { renewed, since: Instant::now() });
        }
    }
}

/// Does what is due about one node. Each write holds only for the version that was looked at.
async fn treat(client: &Client, node: &Node, silent: bool, clock: &Clock) -> kube::Result<()> {
    let Some(ready) = condition(node, "Ready") else { return Ok(()) };
    let nodes: Api<Node> = Api::all(client.clone());
    let (name, now) = (node.name_any(), clock.now());
    let params = PatchParams { field_manager: Some(FIELD_MANAGER.into()), ..PatchParams::default() };
    let ready = if silent { "Unknown" } else { ready };
    let only_this = json!({"uid": node.metadata.uid, "resourceVersion": node.metadata.resource_version});
    if silent && condition(node, "Ready") != Some("Unknown") {
        info!(node = name, "node {name} is not heard of any more");
        let patch = json!({"metadata": only_this, "status": {"conditions": unknown(node, clock)}});
        return unless_changed(nodes.patch_status(&name, &params, &Patch::Merge(patch)).await);
    }
    let known = node.spec.as_ref().and_then(|spec| spec.taints.clone()).unwrap_or_default();
    if let Some(wanted) = taints::wanted(&known, ready, now) {
        let patch = json!({"metadata": only_this, "spec": {"taints": wanted}});
        unless_changed(nodes.patch(&name, &params, &Patch::Merge(patch)).await)?;
    }
    if ready == "True" && known.iter().all(|taint| taint.effect != "NoExecute") {
        return Ok(());
    }
    let pods: Api<Pod> = Api::all(client.clone());
    let here = pods.list(&ListParams::default().fields(&format!("spec.nodeName={name}"))).await?;
    let work = here.items.into_iter().map(|pod| {
        let known = &known;
        async move {
            if ready != "True" {
                mark_unready(client, &pod, clock).await?;
            }
            let tolerations = pod.spec.as_ref().and_then(|spec| spec.tolerations.clone()).unwrap_or_default();
            match taints::fate(known, &tolerations, now) {
                Fate::Goes(when) if when <= now => evict(client, &pod, clock).await,
                _ => Ok(()),
            }
        }
    });
    let results: Vec<kube::Result<()>> = futures::stream::iter(work).buffered(IN_FLIGHT).collect().await;
    results.into_iter().collect()
}

fn condition<'a>(node: &'a Node, kind: &str) -> Option<&'a str> {
    let all = node.status.as_ref()?.conditions.as_ref()?;
    all.iter().find(|condition| condition.type_ == kind).map(|condition| condition.status.as_str())
}

fn time(clock: &Clock) -> String {
    clock.now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

/// The conditions of a node that is not heard of.
fn unknown(node: &Node, clock: &Clock) -> Vec<Value> {
    let all = node.status.as_ref().and_then(|status| status.conditions.clone()).unwrap_or_default();
    let heard_of = ["Ready", "MemoryPressure", "DiskPressure", "PIDPressure"];
    all.into_iter()
        .map(|condition| {
            let mut value = json!(condition);
            if heard_of.contains(&condition.type_.as_str()) {
                value["status"] = json!("Unknown");
                value["reason"] = json!("NodeStatusUnknown");
                value["message"] = json!("Kubelet stopped posting node status.");
                value["lastTransitionTime"] = json!(time(clock));
            }
            value
        })
        .collect()
}

/// A pod on a node that is not ready is not ready, whatever its kubelet said last.
async fn mark_unready(client: &Client, pod: &Pod, clock: &Clock) -> kube::Result<()> {
    let mut conditions = pod.status.as_ref().and_then(|status| status.conditions.clone()).unwrap_or_default();
    let ready =
        conditions.iter_mut().find(|condition| condition.type_ == "Ready" && condition.status == "True");
    let Some(ready) = ready else { return Ok(()) };
    ready.status = "False".into();
    ready.last_transition_time = serde_json::from_value(json!(time(clock))).ok();
    patch_conditions(client, pod, &json!(conditions)).await
}

/// Says why a pod goes, then asks for its deletion.
async fn evict(client: &Client, pod: &Pod, clock: &Clock) -> kube::Result<()> {
    if pod.metadata.deletion_timestamp.is_some() {
        return Ok(());
    }
    let all = pod.status.as_ref().and_then(|status| status.conditions.clone()).unwrap_or_default();
    let mut conditions: Vec<Value> = all
        .iter()
        .filter(|condition| condition.type_ != "DisruptionTarget")
        .map(|condition| json!(condition))
        .collect();
    conditions.push(json!({
        "type": "DisruptionTarget", "status": "True", "reason": "DeletionByTaintManager",
        "message": "Taint manager: deleting due to NoExecute taint", "lastTransitionTime": time(clock),
    }));
    patch_conditions(client, pod, &json!(conditions)).await?;
    let pods: Api<Pod> = Api::namespaced(client.clone(), &pod.namespace().unwrap_or_default());
    let only_this = Preconditions { uid: pod.metadata.uid.clone(), resource_version: None };
    unless_changed(pods.delete(&pod.name_any(), &DeleteParams::default().preconditions(only_this)).await)
}

async fn patch_conditions(client: &Client, pod: &Pod, conditions: &Value) -> kube::Result<()> {
    let pods: Api<Pod> = Api::namespaced(client.clone(), &pod.namespace().unwrap_or_default());
    let params = PatchParams { field_manager: Some(FIELD_MANAGER.into()), ..PatchParams::default() };
    let patch = json!({
        "metadata": {"uid": pod.metadata.uid, "resourceVersion": pod.metadata.resource_version},
        "status": {"conditions": conditions},
    });
    unless_changed(pods.patch_status(&pod.name_any(), &params, &Patch::Merge(patch)).await)
}

/// What is gone or was changed meanwhile is looked at again at the next look.
fn unless_changed<T>(result: kube::Result<T>) -> kube::Result<()> {
    match result {
        Err(kube::Error::Api(status)) if matches!(status.code, 404 | 409) => Ok(()),
        result => result.map(|_| ()),
    }
}
