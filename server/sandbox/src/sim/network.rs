//! The way between a process and the API: a client whose requests are delayed, fail or get lost as the run wants it.
//!
//! A request that has left its process arrives, whatever becomes of the process meanwhile.
use std::io;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use http::header::{CONTENT_TYPE, USER_AGENT};
use http::{HeaderValue, Method, Request, Response, StatusCode};
use http_body_util::BodyExt;
use serde_json::{Value, json};
use tokio::sync::oneshot;
use tokio::time::{sleep, sleep_until};
use tower::{Service, service_fn};

use super::fault::{How, Moment};
use super::hub::{Asked, Fate, Hub, Life};
use super::random::mix;
use super::watch;
use crate::api::route::{self, Route};

/// How long a request waits that is never answered.
const SILENCE: Duration = Duration::from_secs(30);

type Answer = io::Result<Response<Body>>;

/// A client for one life of a process.
pub fn client(hub: &Arc<Hub>, life: &Life) -> kube::Client {
    let (hub, life) = (hub.clone(), life.clone());
    let service = service_fn(move |request: Request<kube::client::Body>| {
        let (hub, life) = (hub.clone(), life.clone());
        async move {
            let asked = asked(&request);
            let Some(fate) = hub.send(&life, &asked) else { return std::future::pending().await };
            let (answer, wait) = oneshot::channel();
            tokio::spawn(async move {
                if let Some(result) = deliver(&hub, &life, &asked, &fate, request).await {
                    // Nobody may be there to hear it any more.
                    let _ = answer.send(result);
                }
            });
            match wait.await {
                Ok(result) => result,
                Err(_) => std::future::pending().await,
            }
        }
    });
    kube::Client::new(service, "default")
}

/// Reads what a request is about.
fn asked<B>(request: &Request<B>) -> Asked {
    let Route::Objects(target) = route::parse(request.uri().path()) else {
        let text = request.uri().path().to_owned();
        return Asked { verb: "get", resource: String::new(), text, is_write: false };
    };
    let watches = request.uri().query().is_some_and(|query| query.contains("watch="));
    let verb = match *request.method() {
        Method::POST => "create",
        Method::PUT => "update",
        Method::PATCH => "patch",
        Method::DELETE => "delete",
        _ if watches => "watch",
        _ if target.name.is_some() => "get",
        _ => "list",
    };
    let resource = match target.group.as_str() {
        "" => target.resource.clone(),
        group => format!("{}.{group}", target.resource),
    };
    let parts = [Some(target.resource), target.subresource].into_iter().flatten().collect::<Vec<_>>();
    let place = [target.namespace, target.name].into_iter().flatten().collect::<Vec<_>>();
    Asked {
        verb,
        resource,
        text: format!("{} {}", parts.join("/"), place.join("/")),
        is_write: !matches!(verb, "get" | "list" | "watch"),
    }
}

/// How long the way takes, a few milliseconds either way.
fn way(hub: &Hub, number: u64, direction: &str) -> Duration {
    Duration::from_millis(1 + mix(hub.seed ^ number, direction.as_bytes()) % 4)
}

async fn deliver(
    hub: &Arc<Hub>,
    life: &Life,
    asked: &Asked,
    fate: &Fate,
    request: Request<kube::client::Body>,
) -> Option<Answer> {
    let (parts, body) = request.into_parts();
    let body = body.collect().await.map(http_body_util::Collected::to_bytes).unwrap_or_default();
    let tell = |result: &str| {
        if asked.is_write && !asked.resource.starts_with("events") && !is_renewal(asked, result) {
            let said = serde_json::from_slice(&body).map(|value: Value| in_short(&value)).unwrap_or_default();
            hub.line(&life.name(), &format!("{} {} {said} → {result}", asked.verb, asked.text));
        }
    };
    if fate.dies == Some(Moment::Before) {
        tell("not sent");
        hub.kill(life.process);
        return None;
    }
    while let Some(until) = hub.stalled(life) {
        sleep_until(until).await;
    }
    if let Some((Moment::Before, how)) = fate.fails {
        tell(&format!("{how:?}, not done"));
        return Some(fail(how).await);
    }
    hub.left(fate.number);
    sleep(way(hub, fate.number, "there") + fate.slow).await;
    let mut request = Request::from_parts(parts, Body::from(body.clone()));
    if let Ok(value) = HeaderValue::from_str(&format!("{}/{}", life.name(), fate.number)) {
        request.headers_mut().insert(USER_AGENT, value);
    }
    let response = match hub.api.service().call(request).await {
        Ok(response) => response,
        Err(away) => return Some(Err(io::Error::other(away))),
    };
    if fate.dies == Some(Moment::After) {
        tell(&format!("{}, and nobody hears of it", response.status().as_u16()));
        hub.kill(life.process);
        return None;
    }
    if let Some((Moment::After, how)) = fate.fails {
        tell(&format!("{} became {how:?}", response.status().as_u16()));
        return Some(fail(how).await);
    }
    tell(&response.status().as_u16().to_string());
    sleep(way(hub, fate.number, "back")).await;
    while let Some(until) = hub.stalled(life) {
        sleep_until(until).await;
    }
    Some(Ok(match asked.verb {
        "watch" if response.status() == StatusCode::OK => watch::pass(hub, life, asked, response),
        "list" if response.status() == StatusCode::OK => listed(hub, life, asked, response).await,
        _ => response,
    }))
}

/// Renewals of a lease that went well are noise.
fn is_renewal(asked: &Asked, result: &str) -> bool {
    asked.resource.starts_with("leases") && asked.verb == "update" && result == "200"
}

/// A list tells up to which revision its reader knows the kind.
async fn listed(hub: &Hub, life: &Life, asked: &Asked, response: Response<Body>) -> Response<Body> {
    let (parts, body) = response.into_parts();
    let bytes = body.collect().await.map(http_body_util::Collected::to_bytes).unwrap_or_default();
    let list: Value = serde_json::from_slice(&bytes).unwrap_or_default();
    let revision = list.pointer("/metadata/resourceVersion").and_then(Value::as_str);
    if let Some(revision) = revision.and_then(|text| text.parse().ok()) {
        hub.delivered(life, &asked.resource, revision, "list");
    }
    Response::from_parts(parts, Body::from(bytes))
}

async fn fail(how: How) -> Answer {
    match how {
        How::Status(code) => Ok(refusal(code)),
        How::Broken => Err(io::Error::new(io::ErrorKind::ConnectionReset, "connection reset by peer")),
        How::Silence => {
            sleep(SILENCE).await;
            Err(io::Error::new(io::ErrorKind::TimedOut, "no answer"))
        }
    }
}

fn refusal(code: u16) -> Response<Body> {
    let (reason, message) = match code {
        409 => (
            "Conflict",
            "the object has been modified; please apply your changes to the latest version and try again",
        ),
        429 => ("TooManyRequests", "too many requests, please try again later"),
        503 => ("ServiceUnavailable", "the server is currently unable to handle the request"),
        _ => ("InternalError", "an error on the server has prevented the request from succeeding"),
    };
    let status = json!({
        "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure",
        "message": message, "reason": reason, "code": code,
    });
    let mut response = Response::new(Body::from(status.to_string()));
    *response.status_mut() = StatusCode::from_u16(code).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}

/// The beginning of what was sent, without what every object has.
fn in_short(body: &Value) -> String {
    const SHOWN: usize = 160;
    let mut body = body.clone();
    if let Some(map) = body.as_object_mut() {
        for noise in ["apiVersion", "kind", "propagationPolicy"] {
            map.remove(noise);
        }
        if map.get("spec").is_some_and(|spec| spec.get("containers").is_some()) {
            return String::new();
        }
        map.get_mut("status").and_then(Value::as_object_mut).into_iter().for_each(|status| {
            for long in ["conditions", "podStatus"] {
                status.remove(long);
            }
        });
    }
    let text = body.to_string();
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}
