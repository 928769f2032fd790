//! Batches: preview, start, list, one.

use crate::{
    auth::Caller,
    http::{
        AppState,
        errors::{Answer, Failure},
        extract::Body,
    },
};
use axum::{
    Json,
    extract::{Path, State},
    http::StatusCode,
    response::IntoResponse,
};
use controllers::batch::{
    self, change,
    plan::{self, Allow, PlannedTarget},
};
use crds::pilothouse::{Author, BatchEdit};
use kube::{Api, api::PostParams};
use wire::{BatchRequest, BatchTarget, BatchView, Preview, PreviewRequest, error::Reason};

/// `POST batches/preview`: what it would do, to each server.
pub async fn preview(
    State(state): State<AppState>,
    _caller: Caller,
    Body(request): Body<PreviewRequest>,
) -> Answer<Json<Preview>> {
    let planned = planned(&state, &request)?;
    Ok(Json(plan::preview(&planned, &request.change, &state.reader.resolver().sets())))
}

/// Resolves and plans a request against the board as it is.
fn planned(state: &AppState, request: &PreviewRequest) -> Answer<Vec<PlannedTarget>> {
    change::validate(&request.change)
        .map_err(|error| Failure::new(StatusCode::BAD_REQUEST, error.reason()))?;
    let target = match &request.target {
        BatchTarget::Query(query) => BatchTarget::Query(batch::namespaced_query(query, &request.namespace)),
        BatchTarget::Keys(keys) => BatchTarget::Keys(keys.clone()),
    };
    let resolver = state.reader.resolver();
    let allow = Allow::from(request.policy);
    let keys = resolver.keys(&target).map_err(Failure::from)?;
    Ok(keys
        .iter()
        .map(|key| match resolver.observe(key) {
            Some(observed) => plan::plan_target(key, &observed, &request.change, allow),
            None => plan::missing(key),
        })
        .collect())
}

/// `POST batches`: stores the batch; the controller carries it out. 201, or 200 when the key named it before.
pub async fn create(
    State(state): State<AppState>,
    caller: Caller,
    Body(request): Body<BatchRequest>,
) -> Answer<impl IntoResponse> {
    let author = Author { user: caller.user.clone(), groups: caller.groups.clone(), uid: caller.uid.clone() };
    let edit = batch::edit_of(&request, author)
        .map_err(|error| Failure::new(StatusCode::BAD_REQUEST, error.reason()))?;
    let name = edit.metadata.name.clone().unwrap_or_default();
    let api: Api<BatchEdit> =
        Api::namespaced(state.clients.client_for(&caller), state.reader.batches_namespace());
    // The same request again must find its batch even when the servers have changed since, by that very batch.
    match api.get_opt(&name).await {
        Ok(None) => {}
        Ok(Some(before)) => return same_or_refused(&state, &before, &edit),
        // Not the batch is unknown, which would be no error, but its kind.
        Err(kube::Error::Api(status)) if status.code == 404 => {
            return Err(Failure::from(state.reader.batches_missing()));
        }
        Err(error) => return Err(error.into()),
    }
    let planned = planned(&state, &request.preview)?;
    if let Some(token) = &request.token
        && *token != plan::token(&planned)
    {
        return Err(Failure::new(
            StatusCode::CONFLICT,
            Reason::new(
                "preview-outdated",
                "the servers or their values changed since the preview; look again",
            ),
        ));
    }
    let post = PostParams { field_manager: Some(crate::auth::MANAGER.into()), ..PostParams::default() };
    match api.create(&post, &edit).await {
        Ok(stored) => {
            tracing::info!(batch = name, user = caller.user, targets = planned.len(), "batch {name} stored");
            Ok((StatusCode::CREATED, Json(batch::view::view(&stored, &[], &[]))))
        }
        Err(kube::Error::Api(status)) if status.code == 409 => {
            let before = api.get(&name).await?;
            same_or_refused(&state, &before, &edit)
        }
        Err(kube::Error::Api(status)) if status.code == 404 => {
            Err(Failure::from(state.reader.batches_missing()))
        }
        Err(error) => Err(error.into()),
    }
}

fn same_or_refused(
    state: &AppState,
    before: &BatchEdit,
    edit: &BatchEdit,
) -> Answer<(StatusCode, Json<BatchView>)> {
    let name = before.metadata.name.as_deref().unwrap_or_default();
    if before.spec != edit.spec {
        return Err(Failure::new(
            StatusCode::UNPROCESSABLE_ENTITY,
            Reason::new("idempotency-key-used", "this idempotency key names another batch")
                .with("batch", name),
        ));
    }
    let view = state.reader.batch(name).unwrap_or_else(|| batch::view::view(before, &[], &[]));
    Ok((StatusCode::OK, Json(view)))
}

/// `GET batches`: newest first, without results.
pub async fn list(State(state): State<AppState>, _caller: Caller) -> Json<Vec<BatchView>> {
    Json(state.reader.batches())
}

/// `GET batches/{name}`.
pub async fn one(
    State(state): State<AppState>,
    _caller: Caller,
    Path(name): Path<String>,
) -> Answer<Json<BatchView>> {
    state.reader.batch(&name).map(Json).ok_or_else(|| Failure::not_found(&format!("batch {name}")))
}
