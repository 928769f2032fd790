//! The requests of the cluster controllers: deleting, releasing and finishing objects, asking for unknown owners,
//! emptying namespaces.

use std::sync::Arc;
use std::time::Duration;

use futures::{StreamExt, TryStreamExt};
use k8s_openapi::api::core::v1::{Namespace, ServiceAccount};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::OwnerReference;
use kube::api::{
    Api, DeleteParams, ListParams, Patch, PatchParams, PostParams, Preconditions, PropagationPolicy,
};
use kube::{Client, Resource};
use serde_json::json;

use super::graph::{Policy, Uid};
use super::item::{FOREGROUND, Item, Kind, Meta, ORPHAN};

/// Field manager of everything that the cluster controllers write.
pub const FIELD_MANAGER: &str = "pilothouse-sandbox-cluster";
/// After this long a request counts as failed.
pub const TIME_LIMIT: Duration = Duration::from_secs(30);
/// Requests about one namespace or one owner that are under way at once.
const IN_FLIGHT: usize = 16;

/// The API for objects of a kind, where this object lives.
fn api(client: &Client, kind: &Kind, namespace: Option<&str>) -> Api<Meta> {
    match namespace {
        Some(namespace) => Api::namespaced_with(client.clone(), namespace, &kind.resource),
        None => Api::all_with(client.clone(), &kind.resource),
    }
}

fn params() -> PatchParams {
    PatchParams { field_manager: Some(FIELD_MANAGER.into()), ..PatchParams::default() }
}

/// True for "there is no such object", which is always what was wanted.
fn is_gone(error: &kube::Error) -> bool {
    matches!(error, kube::Error::Api(status) if status.code == 404)
}

/// True for "it changed meanwhile", which the watch tells about soon.
pub fn is_conflict(error: &kube::Error) -> bool {
    matches!(error, kube::Error::Api(status) if status.code == 409)
}

/// Deletes exactly the object that was judged, at the version that was judged.
pub async fn delete(client: &Client, item: &Item, policy: Policy) -> kube::Result<()> {
    let policy = match policy {
        Policy::Background => PropagationPolicy::Background,
        Policy::Foreground => PropagationPolicy::Foreground,
        Policy::Orphan => PropagationPolicy::Orphan,
    };
    let only_this =
        Preconditions { uid: Some(item.uid.to_string()), resource_version: Some(item.version.clone()) };
    let params = DeleteParams {
        propagation_policy: Some(policy),
        preconditions: Some(only_this),
        ..DeleteParams::default()
    };
    match api(client, &item.kind, item.namespace.as_deref()).delete(&item.name, &params).await {
        Err(error) if is_gone(&error) => Ok(()),
        result => result.map(|_| ()),
    }
}

/// Leaves only these owners.
pub async fn keep_owners(client: &Client, item: &Item, owners: &[OwnerReference]) -> kube::Result<()> {
    patch(client, item, json!({"ownerReferences": owners})).await
}

/// Takes a finalizer away.
pub async fn remove_finalizer(client: &Client, item: &Item, finalizer: &str) -> kube::Result<()> {
    let left: Vec<&String> = item.finalizers.iter().filter(|name| *name != finalizer).collect();
    patch(client, item, json!({"finalizers": left})).await
}

async fn patch(client: &Client, item: &Item, mut metadata: serde_json::Value) -> kube::Result<()> {
    metadata["uid"] = json!(item.uid);
    metadata["resourceVersion"] = json!(item.version);
    let api = api(client, &item.kind, item.namespace.as_deref());
    match api.patch(&item.name, &params(), &Patch::Merge(json!({"metadata": metadata}))).await {
        Err(error) if is_gone(&error) => Ok(()),
        result => result.map(|_| ()),
    }
}

/// Takes an owner out of all its dependents, then lets the owner go.
pub async fn release(client: &Client, owner: &Item, dependents: Vec<Item>) -> kube::Result<()> {
    futures::stream::iter(dependents.into_iter().map(Ok))
        .try_for_each_concurrent(IN_FLIGHT, |dependent| async move {
            let left: Vec<OwnerReference> =
                dependent.owners.iter().filter(|reference| reference.uid != *owner.uid).cloned().collect();
            keep_owners(client, &dependent, &left).await
        })
        .await?;
    remove_finalizer(client, owner, ORPHAN).await
}

/// Lets an owner go whose dependents are gone.
pub async fn finish(client: &Client, owner: &Item) -> kube::Result<()> {
    remove_finalizer(client, owner, FOREGROUND).await
}

/// What the API server says about an owner that no watch has shown.
#[derive(Debug)]
pub enum Found {
    /// It is there; the watch will show it.
    Alive,
    /// No object has this uid.
    Gone(Uid),
}

/// Asks for one owner, by name, in the namespace of its dependent.
pub async fn find_owner(
    client: &Client,
    kind: &Kind,
    namespace: Option<&str>,
    owner: &OwnerReference,
) -> kube::Result<Found> {
    let namespace = namespace.filter(|_| kind.namespaced);
    let found = api(client, kind, namespace).get_opt(&owner.name).await?;
    let alive = found.is_some_and(|meta| meta.meta().uid.as_deref() == Some(owner.uid.as_str()));
    Ok(if alive { Found::Alive } else { Found::Gone(owner.uid.as_str().into()) })
}

/// Deletes whatever is left in a namespace. Returns true when nothing was.
pub async fn empty_namespace(client: &Client, kinds: Vec<Arc<Kind>>, namespace: &str) -> kube::Result<bool> {
    let counts: Vec<usize> = futures::stream::iter(kinds)
        .map(|kind| async move {
            let api = api(client, &kind, Some(namespace));
            let left = match api.list(&ListParams::default().limit(200)).await {
                // A kind that vanished or cannot be listed here holds nothing.
                Err(kube::Error::Api(status)) if matches!(status.code, 404 | 405) => return Ok(0),
                list => list?,
            };
            let count = left.items.len();
            for meta in left.items {
                let Some(item) = Item::new(&kind, meta.metadata) else { continue };
                if item.deleting {
                    continue;
                }
                match delete(client, &item, Policy::Background).await {
                    Err(error) if !is_conflict(&error) => return Err(error),
                    _ => {}
                }
            }
            Ok(count)
        })
        .buffer_unordered(IN_FLIGHT)
        .try_collect()
        .await?;
    Ok(counts.into_iter().sum::<usize>() == 0)
}

/// Tells the API server that an empty namespace may go.
pub async fn finalize_namespace(client: &Client, name: &str, uid: &str) -> kube::Result<()> {
    let namespaces: Api<Namespace> = Api::all(client.clone());
    let Some(mut namespace) = namespaces.get_opt(name).await? else { return Ok(()) };
    let meta = namespace.meta();
    if meta.uid.as_deref() != Some(uid) || meta.deletion_timestamp.is_none() {
        return Ok(());
    }
    if let Some(spec) = &mut namespace.spec {
        spec.finalizers = Some(Vec::new());
    }
    match namespaces.replace_subresource("finalize", name, &PostParams::default(), &namespace).await {
        Err(error) if is_gone(&error) => Ok(()),
        result => result.map(|_| ()),
    }
}

/// Makes the service account `default` of a namespace, unless it is there.
pub async fn create_service_account(client: &Client, namespace: &str) -> kube::Result<()> {
    let accounts: Api<ServiceAccount> = Api::namespaced(client.clone(), namespace);
    let account: ServiceAccount =
        serde_json::from_value(json!({"metadata": {"name": "default"}})).map_err(kube::Error::SerdeError)?;
    let params = PostParams { field_manager: Some(FIELD_MANAGER.into()), ..PostParams::default() };
    match accounts.create(&params, &account).await {
        // There already, or the namespace is going.
        Err(kube::Error::Api(status)) if matches!(status.code, 403 | 404 | 409) => Ok(()),
        result => result.map(|_| ()),
    }
}
