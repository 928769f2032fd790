//! Shared by the integration tests: a scripted API server for one kind that can be away, expire versions or not know
//! the kind.

use bytes::Bytes;
use futures::StreamExt;
use http::{Request, Response, StatusCode};
use http_body_util::{BodyExt, StreamBody, combinators::BoxBody};
use kube::{Client, client::Body};
use serde_json::{Value, json};
use std::{
    collections::BTreeMap,
    convert::Infallible,
    sync::{Arc, Mutex, MutexGuard},
};
use tokio::sync::watch;

#[derive(Default)]
struct World {
    objects: BTreeMap<String, Value>,
    /// Everything that happened, as (version, watch event).
    log: Vec<(u64, Value)>,
    version: u64,
    /// Versions up to here have expired.
    expired: u64,
    away: bool,
    missing: bool,
    lists: u32,
}

/// One kind's collection behind a `kube::Client`.
#[derive(Clone)]
pub struct ScriptedApi {
    world: Arc<Mutex<World>>,
    changed: watch::Sender<u64>,
}

impl Default for ScriptedApi {
    fn default() -> Self {
        Self { world: Arc::default(), changed: watch::Sender::new(0) }
    }
}

impl ScriptedApi {
    pub fn client(&self) -> Client {
        let api = self.clone();
        let service = tower::service_fn(move |request: Request<Body>| {
            let answer = api.answer(&request);
            async move { answer }
        });
        Client::new(service, "default")
    }

    /// Creates or changes a pod and returns its version.
    pub fn put(&self, name: &str, node: &str) -> u64 {
        let mut world = self.world();
        world.version += 1;
        let version = world.version;
        let pod = json!({
            "apiVersion": "v1", "kind": "Pod",
            "metadata": {
                "name": name, "namespace": "default", "uid": format!("uid-{name}"),
                "resourceVersion": version.to_string(),
                "labels": { "game.kruise.io/owner-gss": name.rsplit_once('-').map_or(name, |(set, _)| set) },
            },
            "spec": { "nodeName": node, "containers": [] },
        });
        let verb =
            if world.objects.insert(name.to_owned(), pod.clone()).is_some() { "MODIFIED" } else { "ADDED" };
        world.log.push((version, json!({ "type": verb, "object": pod })));
        drop(world);
        self.changed.send_modify(|count| *count += 1);
        version
    }

    pub fn delete(&self, name: &str) {
        let mut world = self.world();
        world.version += 1;
        let version = world.version;
        if let Some(mut pod) = world.objects.remove(name) {
            pod["metadata"]["resourceVersion"] = json!(version.to_string());
            world.log.push((version, json!({ "type": "DELETED", "object": pod })));
        }
        drop(world);
        self.changed.send_modify(|count| *count += 1);
    }

    /// Cuts all watches and refuses requests until it is back.
    pub fn set_away(&self, away: bool) {
        self.world().away = away;
        self.changed.send_modify(|count| *count += 1);
    }

    /// Whether the kind is not installed.
    pub fn set_missing(&self, missing: bool) {
        self.world().missing = missing;
        self.changed.send_modify(|count| *count += 1);
    }

    /// Forgets the past: watches from an older version are answered with 410.
    pub fn expire(&self) {
        let mut world = self.world();
        world.expired = world.version;
        world.log.clear();
    }

    pub fn lists(&self) -> u32 {
        self.world().lists
    }

    fn world(&self) -> MutexGuard<'_, World> {
        self.world.lock().unwrap()
    }

    fn answer(&self, request: &Request<Body>) -> std::io::Result<Response<BoxBody<Bytes, Infallible>>> {
        let query = request.uri().query().unwrap_or_default().to_owned();
        let mut world = self.world();
        if world.away {
            return Err(std::io::Error::new(std::io::ErrorKind::ConnectionRefused, "connection refused"));
        }
        if world.missing {
            return Ok(reply(StatusCode::NOT_FOUND, &json!("404 page not found")));
        }
        if !query.contains("watch=true") {
            world.lists += 1;
            let items: Vec<Value> = world.objects.values().cloned().collect();
            let list = json!({
                "apiVersion": "v1", "kind": "PodList",
                "metadata": { "resourceVersion": world.version.to_string() }, "items": items,
            });
            return Ok(reply(StatusCode::OK, &list));
        }
        let from = query
            .split('&')
            .find_map(|pair| pair.strip_prefix("resourceVersion="))
            .and_then(|text| text.parse::<u64>().ok())
            .unwrap_or(0);
        let expired = from < world.expired;
        drop(world);
        let receiver = self.changed.subscribe();
        let lines = futures::stream::unfold(
            (self.clone(), receiver, from),
            move |(api, mut receiver, from)| async move {
                if expired {
                    let gone = json!({ "type": "ERROR", "object": {
                        "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure",
                        "message": "too old resource version", "reason": "Expired", "code": 410,
                    }});
                    return (from != u64::MAX).then(|| (line(&gone), (api, receiver, u64::MAX)));
                }
                loop {
                    receiver.mark_unchanged();
                    let next = {
                        let world = api.world();
                        if world.away || world.missing {
                            return None;
                        }
                        world.log.iter().find(|(version, _)| *version > from).cloned()
                    };
                    if let Some((version, event)) = next {
                        return Some((line(&event), (api, receiver, version)));
                    }
                    receiver.changed().await.ok()?;
                }
            },
        );
        let frames = lines.map(|bytes| Ok(hyper::body::Frame::data(bytes)));
        let body = BodyExt::boxed(StreamBody::new(frames));
        Ok(Response::new(body))
    }
}

fn line(value: &Value) -> Bytes {
    Bytes::from(format!("{value}\n"))
}

fn reply(status: StatusCode, value: &Value) -> Response<BoxBody<Bytes, Infallible>> {
    let body = http_body_util::Full::new(Bytes::from(value.to_string())).boxed();
    let mut response = Response::new(body);
    *response.status_mut() = status;
    response
}
