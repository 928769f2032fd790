//! Extractors whose refusals have the API's one error shape.

use crate::http::errors::Failure;
use axum::{
    extract::{
        FromRequest, FromRequestParts,
        rejection::{JsonRejection, QueryRejection},
    },
    http::StatusCode,
};
use wire::error::Reason;

/// A JSON body.
#[derive(FromRequest)]
#[from_request(via(axum::Json), rejection(Failure))]
pub struct Body<T>(pub T);

/// Parameters of the query.
#[derive(FromRequestParts)]
#[from_request(via(axum::extract::Query), rejection(Failure))]
pub struct Params<T>(pub T);

impl From<JsonRejection> for Failure {
    fn from(rejection: JsonRejection) -> Self {
        let message = rejection.body_text();
        Self::new(rejection.status(), Reason::new("bad-body", &message).with("message", message))
    }
}

impl From<QueryRejection> for Failure {
    fn from(rejection: QueryRejection) -> Self {
        let message = rejection.body_text();
        Self::new(StatusCode::BAD_REQUEST, Reason::new("bad-parameter", &message).with("message", message))
    }
}
