//! The wire side: a `tower` service from requests to answers.
pub mod answer;
pub mod compress;
pub mod negotiate;
mod protobuf;
pub mod query;
pub mod route;
pub mod selectors;

use std::convert::Infallible;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use axum::body::{Body, HttpBody};
use bytes::{Buf, Bytes, BytesMut};
use http::request::Parts;
use http::{Method, Request, Response, StatusCode};
use http_body_util::BodyExt;
use tower::BoxError;

use super::error::{ApiError, Result};
use super::faults::Verdict;
use super::{Server, discovery, openapi, verbs};
use route::Route;

/// Largest request body in bytes, as in the real API server.
pub const MAX_BODY: usize = 3 * 1024 * 1024;

/// The connection breaks instead of being answered: the API is away on purpose.
#[derive(Debug, Clone, Copy, thiserror::Error)]
#[error("the API server is away (trouble on purpose)")]
pub struct Away;

/// The API as a service. It never waits for readiness and is cheap to clone.
#[derive(Debug, Clone)]
pub struct ApiService {
    server: Server,
    /// Trouble on purpose does not meet its requests.
    spared: bool,
}

/// Marks a request that trouble on purpose does not meet: the one that ends it, for example.
#[derive(Debug, Clone, Copy)]
pub(super) struct Spared;

impl ApiService {
    pub(super) fn new(server: Server, spared: bool) -> Self {
        Self { server, spared }
    }
}

impl<B> tower::Service<Request<B>> for ApiService
where
    B: HttpBody + Send + 'static,
    B::Data: Send,
    B::Error: Into<BoxError>,
{
    type Response = Response<Body>;
    type Error = Away;
    type Future = Pin<Box<dyn Future<Output = std::result::Result<Response<Body>, Away>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<std::result::Result<(), Away>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, mut request: Request<B>) -> Self::Future {
        let server = self.server.clone();
        if self.spared {
            request.extensions_mut().insert(Spared);
            return Box::pin(async move { Ok(respond(&server, request).await) });
        }
        Box::pin(async move {
            match server.faults().judge() {
                Verdict::Break => return Err(Away),
                Verdict::Refuse(error, retry) => {
                    let mut response = answer::error(&error);
                    if let Some(seconds) = retry {
                        response.headers_mut().insert(http::header::RETRY_AFTER, seconds.into());
                    }
                    return Ok(response);
                }
                Verdict::Answer => {}
            }
            Ok(respond(&server, request).await)
        })
    }
}

async fn respond<B>(server: &Server, request: Request<B>) -> Response<Body>
where
    B: HttpBody,
    B::Error: Into<BoxError>,
{
    let (parts, body) = request.into_parts();
    let has_body = !matches!(parts.method, Method::GET | Method::HEAD | Method::OPTIONS);
    let body = if has_body {
        match read(body).await {
            Ok(body) => body,
            Err(error) => return answer::error(&error),
        }
    } else {
        Bytes::new()
    };
    let response = handle(server, &parts, &body).unwrap_or_else(|error| answer::error(&error));
    compress::compress(&parts, response).await
}

/// Reads a body up to the limit.
async fn read<B>(body: B) -> Result<Bytes>
where
    B: HttpBody,
    B::Error: Into<BoxError>,
{
    let mut body = std::pin::pin!(body);
    let mut bytes = BytesMut::new();
    while let Some(frame) = body.frame().await {
        let frame =
            frame.map_err(|e| ApiError::bad_request(format!("the body could not be read: {}", e.into())))?;
        if let Ok(mut data) = frame.into_data() {
            if bytes.len() + data.remaining() > MAX_BODY {
                let message = format!("Request entity too large: limit is {MAX_BODY}");
                return Err(ApiError::new(413, "RequestEntityTooLarge", message));
            }
            bytes.extend_from_slice(&data.copy_to_bytes(data.remaining()));
        }
    }
    Ok(bytes.freeze())
}

fn handle(server: &Server, parts: &Parts, body: &Bytes) -> Result<Response<Body>> {
    let route = route::parse(parts.uri.path());
    if let Route::Objects(target) = route {
        return verbs::handle(server, parts, target, body);
    }
    if !matches!(parts.method, Method::GET | Method::HEAD) {
        return Err(verbs::refuse_method());
    }
    let kinds = server.registry().kinds();
    match route {
        Route::CoreVersions => discovery::core(&kinds, &parts.headers),
        Route::Groups => discovery::groups(&kinds, &parts.headers),
        Route::Group(group) => Ok(discovery::group(&kinds, &group).unwrap_or_else(not_found)),
        Route::Resources(group, version) => {
            let known = kinds.groups().iter().any(|(name, _)| *name == group);
            match discovery::resources(&kinds, &group, &version) {
                Some(answer) => Ok(answer),
                None if known => Err(verbs::unknown_resource()),
                None => Ok(not_found()),
            }
        }
        Route::OpenApiV2 => openapi::v2(&kinds, &parts.headers),
        Route::OpenApiV3(None) => Ok(openapi::index(&kinds)),
        Route::OpenApiV3(Some(document)) => Ok(openapi::v3(&kinds, &document).unwrap_or_else(not_found)),
        Route::Version => Ok(answer::json(StatusCode::OK, &discovery::version())),
        Route::Health => Ok(answer::plain(StatusCode::OK, "ok")),
        Route::Unknown | Route::Objects(_) => Ok(not_found()),
    }
}

/// What the real server says about paths that it does not know: plain words, no Status.
pub fn not_found() -> Response<Body> {
    answer::plain(StatusCode::NOT_FOUND, "404 page not found\n")
}

/// A body of ready-made chunks.
pub fn chunks(chunks: Vec<Bytes>) -> Body {
    Body::from_stream(futures::stream::iter(chunks.into_iter().map(Ok::<_, Infallible>)))
}
