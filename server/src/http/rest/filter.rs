//! Known values of a filter field with their counts, for completion.

use crate::{
    auth::Caller,
    http::{AppState, errors::Answer, extract::Params},
};
use axum::{Json, extract::State};
use serde::Deserialize;
use wire::row::Count;

/// Parameters of a completion.
#[derive(Default, Deserialize)]
#[serde(default)]
pub struct ValuesParams {
    field: String,
    ns: String,
    prefix: String,
    limit: Option<u32>,
}

/// `GET filter/values`.
pub async fn values(
    State(state): State<AppState>,
    _caller: Caller,
    Params(params): Params<ValuesParams>,
) -> Answer<Json<Vec<Count>>> {
    let limit = params.limit.unwrap_or(20).min(200) as usize;
    Ok(Json(state.reader.values(&params.field, &params.ns, &params.prefix, limit)))
}
