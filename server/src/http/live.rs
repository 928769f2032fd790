//! `GET api/v1/live?view=…`: opens the stream for a view.

use crate::{
    auth::Caller,
    http::{
        AppState,
        errors::{Answer, Failure},
        extract::Params,
    },
};
use axum::{
    extract::State,
    http::{HeaderName, HeaderValue, header},
    response::{IntoResponse, Response, Sse},
};
use serde::Deserialize;
use wire::live::View;

/// Parameters of the stream.
#[derive(Deserialize)]
pub struct LiveParams {
    /// JSON of [`View`]; absent is only the counters.
    view: Option<String>,
}

/// The stream.
pub async fn live(
    State(state): State<AppState>,
    caller: Caller,
    Params(params): Params<LiveParams>,
) -> Answer<Response> {
    let view = match params.view {
        None => View::Totals,
        Some(text) => serde_json::from_str(&text)
            .map_err(|error| Failure::bad_parameter("view", format!("`view` is not a view: {error}")))?,
    };
    let client = state.clients.client_for(&caller);
    let events = crate::live::stream(state.reader.clone(), view, client, state.stop.child_token());
    let mut response = Sse::new(events).into_response();
    let headers = response.headers_mut();
    // Proxies must neither store nor buffer nor compress it.
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache, no-transform"));
    headers.insert(HeaderName::from_static("x-accel-buffering"), HeaderValue::from_static("no"));
    Ok(response)
}
