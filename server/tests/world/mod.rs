//! What the tests of trouble share: the process's parts over an embedded API, and its HTTP side without a port.
#![allow(dead_code, reason = "each test file uses a part of it")]

use axum::{Router, body::Body};
use clap::Parser;
use futures::StreamExt;
use http::{Method, Request, StatusCode, header};
use http_body_util::BodyExt;
use kube::{
    Api, Client,
    api::{DynamicObject, Patch, PatchParams},
    core::{ApiResource, GroupVersionKind},
};
use pilothouse::{
    cli::{Cli, ServeArgs},
    http::router,
    runtime,
};
use serde_json::{Value, json};
use std::{str::FromStr, time::Duration};
use tokio_util::sync::CancellationToken;
use tower::ServiceExt;
use wire::{LiveMessage, Totals, View};

/// An embedded cluster with simulated nodes, on the clock of the test.
pub struct World {
    pub api: sandbox::api::Server,
    pub client: Client,
    stop: CancellationToken,
}

impl Drop for World {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}

impl World {
    pub async fn new() -> Self {
        let world = Self::without_crds();
        crds::install::install(&world.client).await.unwrap();
        world
    }

    /// A cluster that does not know our kinds.
    pub fn without_crds() -> Self {
        let options = sandbox::api::Options {
            clock: sandbox::api::Clock::runtime(),
            ..sandbox::api::Options::default()
        };
        let api = sandbox::api::Server::with_options(options);
        let client = api.client();
        let stop = CancellationToken::new();
        let nodes = sandbox::nodes::Options { schedule_all: true, ..sandbox::nodes::Options::default() };
        sandbox::animate(&client, nodes, &stop);
        Self { api, client, stop }
    }

    /// A process like `pilothouse ARGS` on this cluster.
    pub fn pilothouse(&self, args: &[&str]) -> Pilothouse {
        Pilothouse::start(self.client.clone(), args, &self.stop)
    }

    /// A process like `pilothouse --sandbox`, whose own cluster this is.
    pub fn pilothouse_with_sandbox(&self) -> Pilothouse {
        let mut running =
            runtime::start(&args(&[]), String::new(), self.client.clone(), None, &self.stop).unwrap();
        running.state.sandbox = Some(self.api.clone());
        Pilothouse { router: router(running.state), stop: self.stop.child_token() }
    }

    /// A set of plain servers.
    pub async fn set(&self, namespace: &str, name: &str, replicas: u32) {
        apply(&self.client, &set(namespace, name, replicas)).await.unwrap();
    }
}

/// A set of plain servers.
pub fn set(namespace: &str, name: &str, replicas: u32) -> Value {
    json!({
        "apiVersion": "game.kruise.io/v1alpha1", "kind": "GameServerSet",
        "metadata": { "name": name, "namespace": namespace },
        "spec": {
            "replicas": replicas,
            "gameServerTemplate": { "spec": {
                "terminationGracePeriodSeconds": 1,
                "containers": [{ "name": "main", "image": "game:1" }],
            }},
        },
    })
}

/// The kind that a manifest is of.
pub fn kind_of(object: &Value) -> ApiResource {
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let (version, kind) = (text(&object["apiVersion"]), text(&object["kind"]));
    ApiResource::from_gvk(
        &GroupVersionKind::try_from(&kube::core::TypeMeta { api_version: version, kind }).unwrap(),
    )
}

/// Applies a manifest.
pub async fn apply(client: &Client, object: &Value) -> kube::Result<DynamicObject> {
    let name = object["metadata"]["name"].as_str().unwrap();
    let api: Api<DynamicObject> = match object["metadata"]["namespace"].as_str() {
        Some(namespace) => Api::namespaced_with(client.clone(), namespace, &kind_of(object)),
        None => Api::all_with(client.clone(), &kind_of(object)),
    };
    api.patch(name, &PatchParams::apply("test").force(), &Patch::Apply(object)).await
}

/// The parts of a process, without a port.
pub struct Pilothouse {
    router: Router,
    stop: CancellationToken,
}

impl Drop for Pilothouse {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}

/// The options of a command line.
pub fn args(args: &[&str]) -> ServeArgs {
    Cli::try_parse_from([&["pilothouse"], args].concat()).unwrap().serve
}

impl Pilothouse {
    pub fn start(client: Client, line: &[&str], stop: &CancellationToken) -> Self {
        let stop = stop.child_token();
        let running = runtime::start(&args(line), String::new(), client, None, &stop).unwrap();
        Self { router: router(running.state), stop }
    }

    async fn send(&self, method: Method, path: &str, body: Option<Value>) -> (StatusCode, Body) {
        let request = Request::builder()
            .method(method)
            .uri(path)
            .header(header::HOST, "localhost")
            .header("x-pilothouse", "1")
            .header(header::CONTENT_TYPE, "application/json")
            .body(body.map_or_else(Body::empty, |body| Body::from(body.to_string())))
            .unwrap();
        let (parts, body) = self.router.clone().oneshot(request).await.unwrap().into_parts();
        (parts.status, body)
    }

    async fn text(&self, method: Method, path: &str, body: Option<Value>) -> (u16, String) {
        let (status, body) = self.send(method, path, body).await;
        let bytes = body.collect().await.unwrap().to_bytes();
        (status.as_u16(), String::from_utf8_lossy(&bytes).into_owned())
    }

    /// A page or anything else that is no JSON.
    pub async fn page(&self, path: &str) -> (u16, String) {
        self.text(Method::GET, path, None).await
    }

    pub async fn get(&self, path: &str) -> (u16, Value) {
        let (status, text) = self.text(Method::GET, &format!("/api/v1/{path}"), None).await;
        (status, Value::from_str(&text).unwrap_or_else(|error| panic!("{path}: {error}: {text}")))
    }

    /// Any request whose answer is JSON, by its whole path.
    pub async fn ask(&self, method: Method, path: &str, body: Option<Value>) -> (u16, Value) {
        let (status, text) = self.text(method, path, body).await;
        (status, Value::from_str(&text).unwrap_or_else(|error| panic!("{path}: {error}: {text}")))
    }

    pub async fn post(&self, path: &str, body: Value) -> (u16, Value) {
        let (status, text) = self.text(Method::POST, &format!("/api/v1/{path}"), Some(body)).await;
        (status, Value::from_str(&text).unwrap_or(Value::Null))
    }

    /// The counters of the header.
    pub async fn totals(&self) -> Totals {
        let mut live = self.live(&View::Totals).await;
        loop {
            if let LiveMessage::Totals(totals) = live.next().await {
                return totals;
            }
        }
    }

    /// Code of what stands in the way of everything; empty when nothing does.
    pub async fn trouble(&self) -> String {
        self.totals().await.trouble.map(|error| error.reason.code).unwrap_or_default()
    }

    /// Opens the stream for a view.
    pub async fn live(&self, view: &View) -> Live {
        let view = serde_json::to_string(view).unwrap();
        let mut escaped = String::new();
        for byte in view.bytes() {
            escaped.push_str(&format!("%{byte:02X}"));
        }
        let (status, body) = self.send(Method::GET, &format!("/api/v1/live?view={escaped}"), None).await;
        assert_eq!(status, StatusCode::OK);
        Live { body, text: String::new() }
    }

    /// How many servers a filter finds.
    pub async fn matched(&self, q: &str) -> u64 {
        let q = q.replace(' ', "%20").replace('>', "%3E");
        let (status, window) = self.get(&format!("gameservers?q={q}&limit=1")).await;
        assert_eq!(status, 200, "{window}");
        window["matched"].as_u64().unwrap()
    }

    /// Waits until so many servers match.
    pub async fn finds(&self, q: &str, count: u64) {
        until(&format!("{count} servers {q}"), async || self.matched(q).await == count).await;
    }
}

/// A live stream.
pub struct Live {
    body: Body,
    text: String,
}

impl Live {
    /// The next message.
    pub async fn next(&mut self) -> LiveMessage {
        loop {
            if let Some((event, rest)) = self.text.split_once("\n\n") {
                let data = event
                    .lines()
                    .find_map(|line| line.strip_prefix("data:").map(str::trim).map(str::to_owned));
                self.text = rest.to_owned();
                if let Some(data) = data {
                    return serde_json::from_str(&data).unwrap();
                }
                continue;
            }
            let frame =
                (&mut self.body).into_data_stream().next().await.expect("the stream goes on").unwrap();
            self.text.push_str(std::str::from_utf8(&frame).unwrap());
        }
    }

    /// Waits for a message.
    pub async fn comes(&mut self, what: &str, so: impl Fn(&LiveMessage) -> bool) -> LiveMessage {
        let all = async {
            loop {
                let message = self.next().await;
                if so(&message) {
                    return message;
                }
            }
        };
        tokio::time::timeout(PATIENCE, all).await.unwrap_or_else(|_| panic!("never came: {what}"))
    }
}

/// How long something may take. On a paused clock it costs nothing.
pub const PATIENCE: Duration = Duration::from_secs(180);

/// Waits until something is so.
pub async fn until(what: &str, mut so: impl AsyncFnMut() -> bool) {
    let begun = tokio::time::Instant::now();
    while !so().await {
        assert!(begun.elapsed() < PATIENCE, "never came: {what}");
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
}
