//! The caller of a request. Every handler that reads or writes for somebody takes one.

use axum::{
    extract::FromRequestParts,
    http::{StatusCode, header, request::Parts},
    response::{IntoResponse, Response},
};
use wire::error::{ApiError, Reason};

/// Who asks. In mode `none` everybody is `anonymous`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Caller {
    /// User name, as it stands in batches and logs.
    pub user: String,
    /// Groups.
    pub groups: Vec<String>,
    /// uid of the user, when the identity provider has one.
    pub uid: Option<String>,
}

impl Caller {
    /// The caller of mode `none`.
    #[must_use]
    pub fn anonymous() -> Self {
        Self { user: "anonymous".into(), groups: Vec::new(), uid: None }
    }

    /// The caller that stored a batch; `anonymous` where nobody is named.
    #[must_use]
    pub fn of_author(author: Option<&crds::pilothouse::Author>) -> Self {
        author.map_or_else(Self::anonymous, |author| Self {
            user: author.user.clone(),
            groups: author.groups.clone(),
            uid: author.uid.clone(),
        })
    }
}

/// A request that is not let in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallerRejection(pub String);

impl IntoResponse for CallerRejection {
    fn into_response(self) -> Response {
        let reason = Reason::new(
            "host-not-loopback",
            "without authentication only requests to a loopback name are answered",
        )
        .with("host", self.0);
        let body = ApiError { status: 403, reason, span: None, command: None };
        (StatusCode::FORBIDDEN, axum::Json(body)).into_response()
    }
}

impl<S: Send + Sync> FromRequestParts<S> for Caller {
    type Rejection = CallerRejection;

    /// Mode `none` listens on loopback only, but a page of another site can name a host that resolves to
    /// loopback (DNS rebinding); the Host header gives that away.
    async fn from_request_parts(parts: &mut Parts, _state: &S) -> Result<Self, CallerRejection> {
        let host = parts
            .headers
            .get(header::HOST)
            .and_then(|value| value.to_str().ok())
            .map(str::to_owned)
            .or_else(|| parts.uri.authority().map(ToString::to_string))
            .unwrap_or_default();
        if is_loopback_host(&host) { Ok(Self::anonymous()) } else { Err(CallerRejection(host)) }
    }
}

fn is_loopback_host(host: &str) -> bool {
    let name = match host.strip_prefix('[') {
        Some(rest) => rest.split(']').next().unwrap_or_default(),
        None => host.rsplit_once(':').map_or(host, |(name, _)| name),
    };
    name == "localhost"
        || name.ends_with(".localhost")
        || name.parse::<std::net::IpAddr>().is_ok_and(|ip| ip.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_loopback_names_are_let_in() {
        for host in
            ["localhost", "localhost:7373", "127.0.0.1:7373", "[::1]:7373", "127.8.9.1", "a.localhost:80"]
        {
            assert!(is_loopback_host(host), "{host}");
        }
        for host in ["", "evil.example", "evil.example:7373", "10.0.0.1:7373", "localhost.evil.example"] {
            assert!(!is_loopback_host(host), "{host}");
        }
    }
}
