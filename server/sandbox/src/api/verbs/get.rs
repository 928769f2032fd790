//! Reading one object.
use axum::body::Body;
use http::{Response, StatusCode};

use super::context::Context;
use crate::api::error::Result;

/// GET of a name.
pub fn get(context: &Context<'_>) -> Result<Response<Body>> {
    let stored = context.stored(&context.key())?;
    Ok(context.answer(StatusCode::OK, &stored, &[]))
}
