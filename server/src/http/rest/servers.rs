//! Game servers: windows, keys of a filter, one whole, its YAML.

use super::family;
use crate::{
    auth::Caller,
    http::{
        AppState,
        errors::{Answer, Failure},
        extract::Params,
    },
    objects,
};
use axum::{
    Json,
    extract::{Path, State},
    http::header,
    response::IntoResponse,
};
use serde::Deserialize;
use wire::{
    key::ServerKey,
    row::{MAX_WINDOW, ServersQuery, ServersWindow, SortKey},
    server::ServerDetail,
};

/// Parameters of a window.
#[derive(Default, Deserialize)]
#[serde(default)]
pub struct ListParams {
    q: String,
    ns: String,
    sort: Option<String>,
    desc: bool,
    offset: u32,
    limit: Option<u32>,
    group: String,
    /// Values of folded groups, each ended by a comma, so that the empty value can be told: `a,,` are `a` and it.
    folded: String,
}

/// `GET gameservers`: a window.
pub async fn list(
    State(state): State<AppState>,
    _caller: Caller,
    Params(params): Params<ListParams>,
) -> Answer<Json<ServersWindow>> {
    let sort = match params.sort.as_deref() {
        None | Some("") => SortKey::default(),
        Some(word) => SortKey::parse(word).ok_or_else(|| {
            let known: Vec<&str> = SortKey::ALL.iter().map(|(_, word)| *word).collect();
            Failure::bad_parameter("sort", format!("`{word}` is no sort key; known are {}", known.join(", ")))
        })?,
    };
    let limit = params.limit.unwrap_or(100);
    if limit > MAX_WINDOW {
        return Err(Failure::bad_parameter("limit", format!("at most {MAX_WINDOW} rows at once")));
    }
    let query = ServersQuery {
        q: params.q,
        ns: params.ns,
        sort,
        desc: params.desc,
        offset: params.offset,
        limit,
        group: params.group,
        folded: params.folded.split_terminator(',').map(str::to_owned).collect(),
    };
    Ok(Json(state.reader.servers(&query)?))
}

/// Parameters of a whole filter.
#[derive(Default, Deserialize)]
#[serde(default)]
pub struct KeysParams {
    q: String,
    ns: String,
}

/// `GET gameservers/keys`: every key that the filter matches, for selecting all.
pub async fn keys(
    State(state): State<AppState>,
    _caller: Caller,
    Params(params): Params<KeysParams>,
) -> Answer<Json<Vec<ServerKey>>> {
    Ok(Json(state.reader.keys(&params.q, &params.ns)?))
}

/// `GET gameservers/{family}/{namespace}/{name}`.
pub async fn one(
    State(state): State<AppState>,
    caller: Caller,
    Path((word, namespace, name)): Path<(String, String, String)>,
) -> Answer<Json<ServerDetail>> {
    let key = ServerKey::new(family(&word)?, namespace, name);
    let mut detail =
        state.reader.server(&key).ok_or_else(|| Failure::not_found(&format!("game server {key}")))?;
    detail.events = crate::events::of_server(&state.clients.client_for(&caller), &key).await;
    Ok(Json(detail))
}

/// `GET …/yaml`: the object as the API server has it, read as the caller.
pub async fn yaml(
    State(state): State<AppState>,
    caller: Caller,
    Path((word, namespace, name)): Path<(String, String, String)>,
) -> Answer<impl IntoResponse> {
    let key = ServerKey::new(family(&word)?, namespace, name);
    let text = objects::server_yaml(&state.clients.client_for(&caller), &key).await?;
    Ok(([(header::CONTENT_TYPE, "application/yaml; charset=utf-8")], text))
}
