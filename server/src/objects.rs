//! Whole objects read and written for a caller, outside the caches.

use crate::http::errors::{Answer, Failure};
use axum::http::StatusCode;
use kube::{
    Api, Client,
    api::{Patch, PatchParams},
    core::{ApiResource, DynamicObject, GroupVersionKind},
};
use serde_json::json;
use wire::{
    error::Reason,
    key::{Family, ServerKey, SetKey},
    set::ScaleRequest,
};

/// The resource behind servers or sets of a family.
fn resource(family: Family, set: bool) -> ApiResource {
    let (group, version, kind, plural) = match (family, set) {
        (Family::Kruise, false) => ("game.kruise.io", "v1alpha1", "GameServer", "gameservers"),
        (Family::Kruise, true) => ("game.kruise.io", "v1alpha1", "GameServerSet", "gameserversets"),
        (Family::Minato, false) => ("operator.minato.io", "v1", "GameServer", "gameservers"),
        (Family::Minato, true) => ("operator.minato.io", "v1", "GameServerFleet", "gameserverfleets"),
        (Family::Agones, false) => ("agones.dev", "v1", "GameServer", "gameservers"),
        (Family::Agones, true) => ("agones.dev", "v1", "Fleet", "fleets"),
    };
    ApiResource::from_gvk_with_plural(&GroupVersionKind::gvk(group, version, kind), plural)
}

/// The YAML of a game server, without the bookkeeping of field managers.
///
/// # Errors
/// What the API server answers.
pub async fn server_yaml(client: &Client, key: &ServerKey) -> Answer<String> {
    yaml(client, &resource(key.family, false), &key.namespace, &key.name).await
}

/// The YAML of a set, without the bookkeeping of field managers.
///
/// # Errors
/// What the API server answers.
pub async fn set_yaml(client: &Client, key: &SetKey) -> Answer<String> {
    yaml(client, &resource(key.family, true), &key.namespace, &key.name).await
}

async fn yaml(client: &Client, resource: &ApiResource, namespace: &str, name: &str) -> Answer<String> {
    let api: Api<DynamicObject> = Api::namespaced_with(client.clone(), namespace, resource);
    let mut object = api.get(name).await?;
    object.metadata.managed_fields = None;
    serde_yaml::to_string(&object).map_err(|error| {
        Failure::new(
            StatusCode::INTERNAL_SERVER_ERROR,
            Reason::new("no-yaml", format!("no YAML of it: {error}")),
        )
    })
}

/// Writes the replicas of a set. With a resourceVersion only on exactly that version: 409 otherwise.
///
/// # Errors
/// What the API server answers.
pub async fn scale_set(client: &Client, key: &SetKey, request: &ScaleRequest) -> Answer<()> {
    let api: Api<DynamicObject> =
        Api::namespaced_with(client.clone(), &key.namespace, &resource(key.family, true));
    let mut patch = json!({ "spec": { "replicas": request.replicas } });
    if let Some(version) = &request.resource_version {
        patch["metadata"] = json!({ "resourceVersion": version });
    }
    let params = PatchParams { field_manager: Some(crate::auth::MANAGER.into()), ..PatchParams::default() };
    api.patch(&key.name, &params, &Patch::Merge(patch)).await?;
    Ok(())
}
