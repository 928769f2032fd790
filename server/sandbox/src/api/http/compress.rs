//! Compressed answers, where a client asks for them and they are worth it.
use std::io::Write;

use axum::body::Body;
use flate2::Compression;
use flate2::write::GzEncoder;
use http::header::{ACCEPT_ENCODING, CONTENT_ENCODING, CONTENT_LENGTH, VARY};
use http::request::Parts;
use http::{HeaderValue, Method, Response, StatusCode};
use http_body_util::BodyExt;

/// Smaller answers go out as they are, as in the real API server.
const LEAST: usize = 128 * 1024;

/// Marks an answer that has no end of its own: a watch.
#[derive(Debug, Clone, Copy)]
pub struct Endless;

/// Compresses an answer to a GET, if the client takes gzip and it is long.
pub async fn compress(parts: &Parts, response: Response<Body>) -> Response<Body> {
    let asked = parts.headers.get_all(ACCEPT_ENCODING).iter().filter_map(|v| v.to_str().ok());
    let asked = asked.flat_map(|value| value.split(',')).any(|coding| coding.trim() == "gzip");
    let fits = parts.method == Method::GET
        && response.status() == StatusCode::OK
        && response.extensions().get::<Endless>().is_none()
        && !response.headers().contains_key(CONTENT_ENCODING);
    if !asked || !fits {
        return response;
    }
    let (mut head, body) = response.into_parts();
    // Such a body is ready in memory; it cannot fail.
    let plain = body.collect().await.map(http_body_util::Collected::to_bytes).unwrap_or_default();
    if plain.len() < LEAST {
        return Response::from_parts(head, Body::from(plain));
    }
    // Level 1 as there: a laptop's own loopback gains nothing from more.
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    let packed = encoder.write_all(&plain).and_then(|()| encoder.finish());
    let Ok(packed) = packed else { return Response::from_parts(head, Body::from(plain)) };
    head.headers.remove(CONTENT_LENGTH);
    head.headers.insert(CONTENT_ENCODING, HeaderValue::from_static("gzip"));
    head.headers.insert(VARY, HeaderValue::from_static("Accept-Encoding"));
    Response::from_parts(head, Body::from(packed))
}
