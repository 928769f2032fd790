//! The writes of simulated scheduler and kubelets, one function each, and what became of them.

use std::time::Duration;

use k8s_openapi::api::core::v1::{Binding, ObjectReference, PersistentVolumeClaim};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::Client;
use kube::api::{Api, DeleteParams, Patch, PatchParams, PostParams, Preconditions};
use serde_json::{Map, Value, json};

use super::pod::{Pod, PodStatus};
use super::volumes::SELECTED_NODE;

/// Field manager of everything that simulated nodes write.
pub const FIELD_MANAGER: &str = "pilothouse-simulated-node";
/// After this long a write counts as failed. It may still have taken effect; the next look at the pod tells.
const TIME_LIMIT: Duration = Duration::from_secs(30);

/// One write about one pod.
#[derive(Debug)]
pub enum Write {
    /// Say on which node it runs.
    Bind(String),
    /// Tell claims of its namespace that this node was chosen for it.
    Select(String, Vec<String>),
    /// Bring its status up to date.
    Status(Value),
    /// Bring an annotation up to date.
    Annotate(Value),
    /// All has stopped: report the end, then delete the object for good.
    Remove(Option<Value>),
}

/// What became of a write.
#[derive(Debug)]
pub enum Outcome {
    /// The status is stored; this is the pod now.
    Stored(Box<Pod>),
    /// The pod is bound.
    Bound,
    /// It is done; the pod itself has not changed by it.
    Done,
    /// The pod is gone, or goes as soon as its finalizers are gone.
    Gone,
    /// Somebody wrote in between; this is the pod now.
    Changed(Box<Pod>),
    /// It did not work, and may work later.
    Failed(Failure),
}

/// Why a write did not work.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// The API server refused it or could not be reached.
    #[error(transparent)]
    Kube(Box<kube::Error>),
    /// No answer in time.
    #[error("no answer from the API server in {} s", TIME_LIMIT.as_secs())]
    Late,
}

impl From<kube::Error> for Failure {
    fn from(error: kube::Error) -> Self {
        Self::Kube(Box::new(error))
    }
}

/// The part of a status that differs, as a merge patch that only holds for the version it was computed from: lists are
/// replaced whole, so a condition that somebody else wrote in between must not get lost.
pub fn status_patch(pod: &Pod, wanted: &PodStatus) -> Result<Value, serde_json::Error> {
    let (mut old, mut new) = (object(&pod.status)?, object(wanted)?);
    let keys: Vec<String> = old.keys().chain(new.keys()).cloned().collect();
    let mut status = Map::new();
    for key in keys {
        match (old.remove(&key), new.remove(&key)) {
            (Some(_), None) => {
                status.insert(key, Value::Null);
            }
            (before, Some(value)) if before.as_ref() != Some(&value) => {
                status.insert(key, value);
            }
            _ => {}
        }
    }
    Ok(json!({
        "metadata": {"uid": pod.metadata.uid, "resourceVersion": pod.metadata.resource_version},
        "status": status,
    }))
}

fn object(status: &PodStatus) -> Result<Map<String, Value>, serde_json::Error> {
    Ok(match serde_json::to_value(status)? {
        Value::Object(map) => map,
        _ => Map::new(),
    })
}

/// Carries out one write.
pub async fn perform(client: Client, namespace: String, name: String, uid: String, write: Write) -> Outcome {
    let pods: Api<Pod> = Api::namespaced(client.clone(), &namespace);
    let tried = try_perform(&client, &pods, &namespace, &name, &uid, write);
    match tokio::time::timeout(TIME_LIMIT, tried).await {
        Err(_) => Outcome::Failed(Failure::Late),
        Ok(Ok(outcome)) => outcome,
        Ok(Err(kube::Error::Api(status))) if status.code == 404 => Outcome::Gone,
        Ok(Err(kube::Error::Api(status))) if status.code == 409 => read_again(&pods, &name, &uid).await,
        Ok(Err(error)) => Outcome::Failed(error.into()),
    }
}

async fn try_perform(
    client: &Client,
    pods: &Api<Pod>,
    namespace: &str,
    name: &str,
    uid: &str,
    write: Write,
) -> kube::Result<Outcome> {
    let params = PatchParams { field_manager: Some(FIELD_MANAGER.into()), ..PatchParams::default() };
    match write {
        Write::Bind(node) => {
            let binding = Binding {
                metadata: ObjectMeta {
                    name: Some(name.into()),
                    uid: Some(uid.into()),
                    ..ObjectMeta::default()
                },
                target: ObjectReference {
                    api_version: Some("v1".into()),
                    kind: Some("Node".into()),
                    name: Some(node),
                    ..ObjectReference::default()
                },
            };
            let _: Value = pods.create_subresource("binding", name, &PostParams::default(), &binding).await?;
            Ok(Outcome::Bound)
        }
        Write::Select(node, claims) => {
            let api: Api<PersistentVolumeClaim> = Api::namespaced(client.clone(), namespace);
            let patch = json!({"metadata": {"annotations": {SELECTED_NODE: node}}});
            for claim in claims {
                match api.patch_metadata(&claim, &params, &Patch::Merge(&patch)).await {
                    // The watch on claims tells what became of it.
                    Err(kube::Error::Api(status)) if matches!(status.code, 404 | 409) => {}
                    result => result.map(|_| ())?,
                }
            }
            Ok(Outcome::Done)
        }
        Write::Annotate(patch) => {
            let pod = pods.patch(name, &params, &Patch::Merge(patch)).await?;
            Ok(Outcome::Stored(Box::new(pod)))
        }
        Write::Status(patch) => {
            let pod = pods.patch_status(name, &params, &Patch::Merge(patch)).await?;
            Ok(Outcome::Stored(Box::new(pod)))
        }
        Write::Remove(patch) => {
            if let Some(patch) = patch {
                pods.patch_status(name, &params, &Patch::Merge(patch)).await?;
            }
            let only_this = Preconditions { uid: Some(uid.into()), resource_version: None };
            pods.delete(name, &DeleteParams::default().grace_period(0).preconditions(only_this)).await?;
            Ok(Outcome::Gone)
        }
    }
}

/// After a conflict: the pod as it is now. Another pod of the same name means that ours is gone.
async fn read_again(pods: &Api<Pod>, name: &str, uid: &str) -> Outcome {
    match tokio::time::timeout(TIME_LIMIT, pods.get_opt(name)).await {
        Err(_) => Outcome::Failed(Failure::Late),
        Ok(Err(error)) => Outcome::Failed(error.into()),
        Ok(Ok(Some(pod))) if pod.uid() == uid => Outcome::Changed(Box::new(pod)),
        Ok(Ok(_)) => Outcome::Gone,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{Pod, status_patch};

    #[test]
    fn only_differences_are_written_and_only_onto_the_version_seen() {
        let pod: Pod = serde_json::from_value(json!({
            "metadata": {"name": "p", "uid": "u", "resourceVersion": "5"},
            "status": {"phase": "Pending", "reason": "Old", "hostIP": "172.31.0.1",
                "conditions": [{"type": "Theirs", "status": "True"}]},
        }))
        .unwrap();
        let mut wanted = pod.status.clone();
        wanted.phase = Some("Running".into());
        wanted.reason = None;
        assert_eq!(
            status_patch(&pod, &wanted).unwrap(),
            json!({"metadata": {"uid": "u", "resourceVersion": "5"}, "status": {"phase": "Running", "reason": null}})
        );
    }
}
