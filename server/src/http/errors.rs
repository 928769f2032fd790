//! Errors of the REST API: one JSON shape, a status, and the mapping from what Kubernetes answered.
//!
//! Handlers return [`Failure`]; wiring outside requests uses `anyhow`. An unknown error is logged once, here.

use axum::{
    Json,
    http::StatusCode,
    response::{IntoResponse, Response},
};
use wire::error::{ApiError, Reason};

/// An error answer.
#[derive(Clone, Debug)]
pub struct Failure(pub Box<ApiError>);

/// What handlers return.
pub type Answer<T> = Result<T, Failure>;

impl Failure {
    /// An error with a status and a reason.
    #[must_use]
    pub fn new(status: StatusCode, reason: Reason) -> Self {
        Self(Box::new(ApiError { status: status.as_u16(), reason, span: None, command: None }))
    }

    /// 404 for an object.
    #[must_use]
    pub fn not_found(what: &impl ToString) -> Self {
        let what = what.to_string();
        Self::new(
            StatusCode::NOT_FOUND,
            Reason::new("not-found", format!("there is no {what}")).with("what", what),
        )
    }

    /// 400 for a parameter.
    #[must_use]
    pub fn bad_parameter(name: &str, message: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, Reason::new("bad-parameter", message).with("parameter", name))
    }
}

impl From<ApiError> for Failure {
    fn from(error: ApiError) -> Self {
        Self(Box::new(error))
    }
}

impl From<kube::Error> for Failure {
    fn from(error: kube::Error) -> Self {
        match error {
            kube::Error::Api(status) => {
                let code = StatusCode::from_u16(status.code).unwrap_or(StatusCode::BAD_GATEWAY);
                let reason = match status.code {
                    403 => "kubernetes-forbidden",
                    404 => "kubernetes-not-found",
                    409 => "kubernetes-conflict",
                    422 => "kubernetes-invalid",
                    429 => "kubernetes-busy",
                    _ => "kubernetes-refused",
                };
                Self::new(code, Reason::new(reason, status.message.clone()).with("message", &status.message))
            }
            other => {
                tracing::warn!(error = %other, "the API server could not be asked");
                Self::new(
                    StatusCode::BAD_GATEWAY,
                    Reason::new("kubernetes-away", format!("the API server could not be asked: {other}"))
                        .with("message", other),
                )
            }
        }
    }
}

impl IntoResponse for Failure {
    fn into_response(self) -> Response {
        let status = StatusCode::from_u16(self.0.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        (status, Json(self.0)).into_response()
    }
}
