//! Sets: list, one whole, its YAML, scale with preview.

use super::family;
use crate::{
    auth::Caller,
    http::{
        AppState,
        errors::{Answer, Failure},
        extract::{Body, Params},
    },
    objects,
};
use axum::{
    Json,
    extract::{Path, State},
    http::{StatusCode, header},
    response::IntoResponse,
};
use serde::Deserialize;
use wire::{
    error::Reason,
    key::SetKey,
    set::{ScalePreview, ScaleRequest, SetDetail, SetRow},
};

/// Largest set that one may ask for by hand; a typing accident above it would fill the cluster.
const MAX_REPLICAS: u32 = 100_000;

/// Parameters of the list.
#[derive(Default, Deserialize)]
#[serde(default)]
pub struct ListParams {
    ns: String,
}

/// Parameters of a scale preview.
#[derive(Deserialize)]
pub struct ScaleParams {
    replicas: u32,
}

/// `GET gameserversets`.
pub async fn list(
    State(state): State<AppState>,
    _caller: Caller,
    Params(params): Params<ListParams>,
) -> Json<Vec<SetRow>> {
    Json(state.reader.sets(&params.ns))
}

/// `GET gameserversets/{family}/{namespace}/{name}`.
pub async fn one(
    State(state): State<AppState>,
    caller: Caller,
    Path((word, namespace, name)): Path<(String, String, String)>,
) -> Answer<Json<SetDetail>> {
    let key = SetKey::new(family(&word)?, namespace, name);
    let mut detail = state.reader.set(&key).ok_or_else(|| Failure::not_found(&format!("set {key}")))?;
    detail.events = crate::events::of_set(&state.clients.client_for(&caller), &key).await;
    Ok(Json(detail))
}

/// `GET …/yaml`.
pub async fn yaml(
    State(state): State<AppState>,
    caller: Caller,
    Path((word, namespace, name)): Path<(String, String, String)>,
) -> Answer<impl IntoResponse> {
    let key = SetKey::new(family(&word)?, namespace, name);
    let text = objects::set_yaml(&state.clients.client_for(&caller), &key).await?;
    Ok(([(header::CONTENT_TYPE, "application/yaml; charset=utf-8")], text))
}

/// `GET …/scale?replicas=N`: who goes, who joins, decided by the code that does it.
pub async fn scale_preview(
    State(state): State<AppState>,
    _caller: Caller,
    Path((word, namespace, name)): Path<(String, String, String)>,
    Params(params): Params<ScaleParams>,
) -> Answer<Json<ScalePreview>> {
    let key = SetKey::new(family(&word)?, namespace, name);
    bounded(params.replicas)?;
    let preview = state
        .reader
        .scale_preview(&key, params.replicas)
        .ok_or_else(|| Failure::not_found(&format!("set {key}")))?;
    Ok(Json(preview))
}

/// `POST …/scale`: writes the replicas, if the set is still the one of the preview.
pub async fn scale(
    State(state): State<AppState>,
    caller: Caller,
    Path((word, namespace, name)): Path<(String, String, String)>,
    Body(request): Body<ScaleRequest>,
) -> Answer<impl IntoResponse> {
    let key = SetKey::new(family(&word)?, namespace, name);
    bounded(request.replicas)?;
    objects::scale_set(&state.clients.client_for(&caller), &key, &request).await?;
    tracing::info!(set = %key, user = caller.user, replicas = request.replicas, "set {key} scaled");
    Ok(StatusCode::NO_CONTENT)
}

fn bounded(replicas: u32) -> Result<(), Failure> {
    if replicas <= MAX_REPLICAS {
        return Ok(());
    }
    Err(Failure::new(
        StatusCode::BAD_REQUEST,
        Reason::new("too-many-replicas", format!("at most {MAX_REPLICAS} replicas"))
            .with("most", MAX_REPLICAS),
    ))
}
