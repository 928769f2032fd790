//! A node and a garbage collector that do the least that controllers of pods need, each step a little later, as the seed
//! wants it. They follow the commits themselves, so they are never behind and cost next to nothing.
//!
//! Pods are bound, run and become ready; a changed image is run at once; pods that are deleted end. Objects whose owners
//! are all gone are deleted.
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep_until};

use super::history::{Entry, Object};
use super::hub::Hub;
use super::random::Random;
use super::requests::{Call, carry_out};

/// The kind whose life is played.
const PODS: &str = "pods";
/// Name of the only node. It has no Node object: nobody looks at it but the pods.
const NODE: &str = "node-0";

#[derive(Clone, Debug)]
enum Job {
    /// Bring a pod's status up to date.
    Run { namespace: String, name: String, uid: String },
    /// End a pod.
    End { namespace: String, name: String, uid: String },
    /// Look for objects whose owners are gone.
    Collect,
}

/// Plays the cluster for ever.
pub async fn run(hub: Arc<Hub>, mut committed: mpsc::UnboundedReceiver<Entry>, owned: &[(&str, &str)]) {
    let mut random = Random::of(hub.seed, "cluster");
    let mut jobs: BTreeMap<(Instant, u64), Job> = BTreeMap::new();
    let mut counter = 0;
    loop {
        let next = jobs.first_key_value().map(|((at, _), _)| *at);
        let due = async {
            match next {
                Some(at) => sleep_until(at).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            biased;
            entry = committed.recv() => {
                let Some(entry) = entry else { return };
                for (after, job) in follow(&entry, &mut random) {
                    counter += 1;
                    jobs.insert((Instant::now() + after, counter), job);
                }
            }
            () = due => {
                if let Some((_, job)) = jobs.pop_first() {
                    perform(&hub, job, owned).await;
                }
            }
        }
    }
}

/// What a commit leads to.
fn follow(entry: &Entry, random: &mut Random) -> Vec<(Duration, Job)> {
    let Some(after) = &entry.after else {
        return vec![(random.millis(200, 4000), Job::Collect)];
    };
    let mut jobs = Vec::new();
    if entry.before.is_none() && after.pointer("/metadata/ownerReferences").is_some() {
        // The owner may be gone already.
        jobs.push((random.millis(4000, 8000), Job::Collect));
    }
    if entry.resource == PODS {
        let (namespace, name) = (entry.namespace.clone(), entry.name.clone());
        let uid = text(after, "/metadata/uid").to_owned();
        if after.pointer("/metadata/deletionTimestamp").is_some() {
            jobs.push((random.millis(50, 2500), Job::End { namespace, name, uid }));
        } else if status(after).is_some() {
            jobs.push((random.millis(20, 2500), Job::Run { namespace, name, uid }));
        }
    }
    jobs
}

async fn perform(hub: &Hub, job: Job, owned: &[(&str, &str)]) {
    match job {
        Job::Run { namespace, name, uid } => {
            let Some(pod) = find(hub, &namespace, &name, &uid) else { return };
            let path = format!("/api/v1/namespaces/{namespace}/pods/{name}");
            if text(&pod, "/spec/nodeName").is_empty() {
                let binding = json!({
                    "apiVersion": "v1", "kind": "Binding", "metadata": { "name": name, "uid": uid },
                    "target": { "kind": "Node", "name": NODE },
                });
                carry_out(hub, "cluster", &Call::create(format!("{path}/binding"), binding)).await;
            }
            if let Some(status) = status(&pod) {
                let patch = json!({ "metadata": { "uid": uid }, "status": status });
                carry_out(hub, "cluster", &Call::merge(format!("{path}/status"), patch)).await;
            }
        }
        Job::End { namespace, name, uid } => {
            if find(hub, &namespace, &name, &uid).is_some() {
                let path = format!("/api/v1/namespaces/{namespace}/pods/{name}");
                carry_out(hub, "cluster", &Call::end(path, &uid)).await;
            }
        }
        Job::Collect => {
            for (path, uid) in orphans(hub, owned) {
                carry_out(hub, "cluster", &Call::end(path, &uid)).await;
            }
        }
    }
}

fn find(hub: &Hub, namespace: &str, name: &str, uid: &str) -> Option<Object> {
    hub.state().history.get(PODS, namespace, name).filter(|pod| text(pod, "/metadata/uid") == uid)
}

/// Path and uid of every object whose owners are all gone. `owned` names the kinds that have owners or are owners, each
/// with the beginning of its path.
fn orphans(hub: &Hub, owned: &[(&str, &str)]) -> Vec<(String, String)> {
    let state = hub.state();
    let all: Vec<(&str, &str, Object)> = owned
        .iter()
        .flat_map(|(resource, api)| {
            state.history.all(resource).into_iter().map(move |o| (*resource, *api, o))
        })
        .collect();
    let lives = |uid: &str| all.iter().any(|(_, _, object)| text(object, "/metadata/uid") == uid);
    let mut found = Vec::new();
    for (resource, api, object) in &all {
        let owners = object.pointer("/metadata/ownerReferences").and_then(Value::as_array);
        let orphan = owners.is_some_and(|owners| !owners.iter().any(|owner| lives(text(owner, "/uid"))));
        if orphan && object.pointer("/metadata/deletionTimestamp").is_none() {
            let plural = resource.split('.').next().unwrap_or(resource);
            let (namespace, name) = (text(object, "/metadata/namespace"), text(object, "/metadata/name"));
            let path = format!("{api}/namespaces/{namespace}/{plural}/{name}");
            found.push((path, text(object, "/metadata/uid").to_owned()));
        }
    }
    found
}

/// The status that a pod should have; `None` when it has it or has ended.
fn status(pod: &Value) -> Option<Value> {
    if matches!(text(pod, "/status/phase"), "Failed" | "Succeeded") {
        return None;
    }
    let containers = pod.pointer("/spec/containers").and_then(Value::as_array)?;
    let old = pod.pointer("/status/containerStatuses").and_then(Value::as_array);
    let runs = |name: &str| old.into_iter().flatten().find(|status| text(status, "/name") == name);
    let wanted: Vec<Value> = containers
        .iter()
        .map(|container| {
            let (name, image) = (text(container, "/name"), text(container, "/image"));
            let before = runs(name);
            let restarts = before.and_then(|status| status.get("restartCount")?.as_i64()).unwrap_or(0);
            let same = before.is_none_or(|status| text(status, "/image") == image);
            json!({
                "name": name, "image": image, "imageID": format!("{image}@sim"), "ready": true, "started": true,
                "restartCount": restarts + i64::from(!same),
            })
        })
        .collect();
    let same = |status: &Value| {
        runs(text(status, "/name")).is_some_and(|old| text(old, "/image") == text(status, "/image"))
    };
    if text(pod, "/status/phase") == "Running" && wanted.iter().all(same) {
        return None;
    }
    let gates = pod.pointer("/spec/readinessGates").and_then(Value::as_array);
    let gates = gates.into_iter().flatten().map(|gate| text(gate, "/conditionType"));
    let conditions =
        ["PodScheduled", "Initialized", "ContainersReady"].into_iter().chain(gates).chain(["Ready"]);
    let conditions: Vec<Value> = conditions.map(|kind| json!({ "type": kind, "status": "True" })).collect();
    Some(json!({ "phase": "Running", "conditions": conditions, "containerStatuses": wanted }))
}

fn text<'a>(value: &'a Value, pointer: &str) -> &'a str {
    value.pointer(pointer).and_then(Value::as_str).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::status;
    use serde_json::json;

    #[test]
    fn a_pod_runs_once_and_again_when_its_image_changes() {
        let mut pod = json!({ "spec": { "containers": [{ "name": "a", "image": "x:1" }] }, "status": { "phase": "Pending" } });
        pod["status"] = status(&pod).unwrap();
        assert_eq!(status(&pod), None);
        pod["spec"]["containers"][0]["image"] = "x:2".into();
        let changed = status(&pod).unwrap();
        assert_eq!(changed["containerStatuses"][0]["restartCount"], 1);
        pod["status"]["phase"] = "Failed".into();
        assert_eq!(status(&pod), None);
    }
}
