//! Memory of a process that shows 50,000 servers with their pods: a process of its own, against an API that only tells.
//!
//! The objects are those of a real server on the embedded cluster, as its controllers and nodes left them, 50,000 times with
//! names and uids of their own. The API is this process; the one that is measured has no sandbox in it.

use crate::{figure::Figure, load, world::World};
use anyhow::{Context, Result};
use axum::{
    Json, Router,
    body::Body,
    extract::{Request, State},
    http::StatusCode,
    response::{IntoResponse, Response},
};
use clap::Parser;
use pilothouse::{cli::Cli, runtime};
use serde_json::{Value, json};
use std::{collections::HashMap, process::Stdio, sync::Arc, time::Duration};
use tokio_util::sync::CancellationToken;

/// The argument that makes this program the process that is measured.
pub const CHILD: &str = "--memory-child";

const SERVERS: usize = 50_000;
const NODES: usize = 500;

/// One object of each kind, as JSON text.
struct Samples {
    pod: String,
    server: String,
    set: String,
    node: String,
}

/// Measures the process with and without servers.
pub async fn memory() -> Result<Vec<Figure>> {
    let samples = Arc::new(samples().await?);
    let full = measure(samples.clone(), SERVERS).await?;
    let empty = measure(samples, 0).await?;
    let name = "memory: 50,000 servers with pods, resident (no servers)";
    eprintln!("bench: memory: {:.0} bytes a server", (full - empty) * 1e6 / SERVERS as f64);
    Ok(vec![Figure::below(name, full, "MB", 300.0, Some(empty))])
}

/// Takes the objects of a server that has been Ready for a while.
async fn samples() -> Result<Samples> {
    let world = World::with_servers(1).await?;
    tokio::time::sleep(Duration::from_secs(3)).await;
    let client = world.sandbox.client();
    let first = async |path: &str, kind: &str, api: &str| -> Result<String> {
        let list: Value = client.request(http::Request::get(path).body(Vec::new())?).await?;
        let mut item = list["items"][0].clone();
        anyhow::ensure!(item.is_object(), "{path} lists nothing");
        item["kind"] = json!(kind);
        item["apiVersion"] = json!(api);
        Ok(item.to_string())
    };
    let game = "game.kruise.io/v1alpha1";
    let samples = Samples {
        pod: first("/api/v1/namespaces/default/pods", "Pod", "v1").await?,
        server: first(&format!("/apis/{game}/gameservers"), "GameServer", game).await?,
        set: first(&format!("/apis/{game}/gameserversets"), "GameServerSet", game).await?,
        node: first("/api/v1/nodes", "Node", "v1").await?,
    };
    world.stop().await;
    Ok(samples)
}

struct Api {
    samples: Arc<Samples>,
    servers: usize,
}

async fn measure(samples: Arc<Samples>, servers: usize) -> Result<f64> {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
    let address = listener.local_addr()?;
    let api = Router::new().fallback(answer).with_state(Arc::new(Api { samples, servers }));
    let serving = tokio::spawn(axum::serve(listener, api).into_future());
    let child = tokio::process::Command::new(std::env::current_exe()?)
        .args([CHILD, &address.to_string(), &servers.to_string()])
        .stdout(Stdio::piped())
        .kill_on_drop(true)
        .spawn()?;
    let output = tokio::time::timeout(Duration::from_secs(300), child.wait_with_output()).await;
    serving.abort();
    let output = output.context("the process did not show all servers in time")??;
    let text = String::from_utf8_lossy(&output.stdout);
    text.trim().parse().with_context(|| format!("the measured process said `{text}`"))
}

/// The process that is measured: everything that serves, on the API at an address; prints its resident megabytes.
pub async fn child(address: &str, servers: u32) -> Result<()> {
    // Nothing is reconciled: an API that only tells takes no writes.
    let args = Cli::try_parse_from(["pilothouse", "--kruise", "off"])?.serve;
    let client = kube::Client::try_from(kube::Config::new(format!("http://{address}").parse()?))?;
    let stop = CancellationToken::new();
    let running = runtime::start(&args, String::new(), client, None, &stop)?;
    let reader = running.state.reader.clone();
    // Only rows with a pod have restarts.
    let query = wire::ServersQuery { q: "restarts>=0".into(), limit: 1, ..wire::ServersQuery::default() };
    let shows_all = || reader.servers(&query).is_ok_and(|window| window.matched >= servers);
    while reader.not_ready().is_some() || !shows_all() {
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
    // Once what was only needed to take the lists in has been given back.
    tokio::time::sleep(Duration::from_secs(5)).await;
    println!("{:.1}", load::resident("self")?);
    Ok(())
}

async fn answer(State(api): State<Arc<Api>>, request: Request) -> Response {
    let query: HashMap<String, String> = request
        .uri()
        .query()
        .unwrap_or_default()
        .split('&')
        .filter_map(|pair| pair.split_once('='))
        .map(|(key, value)| (key.to_owned(), value.to_owned()))
        .collect();
    if query.get("watch").is_some_and(|watch| watch == "true") {
        // Nothing ever happens.
        return Body::from_stream(futures::stream::pending::<Result<Vec<u8>, std::io::Error>>())
            .into_response();
    }
    let plural = request.uri().path().rsplit('/').next().unwrap_or_default();
    let (count, sample) = match plural {
        "pods" => (api.servers, api.samples.pod.as_str()),
        "gameservers" => (api.servers, api.samples.server.as_str()),
        "gameserversets" => (1, api.samples.set.as_str()),
        "nodes" => (NODES, api.samples.node.as_str()),
        "batchedits" | "batchedittargets" | "batcheditprogresses" => (0, "{}"),
        _ => return StatusCode::NOT_FOUND.into_response(),
    };
    let number = |key: &str| query.get(key).and_then(|text| text.parse::<usize>().ok());
    let (from, limit) = (number("continue").unwrap_or(0), number("limit").unwrap_or(usize::MAX));
    let to = from.saturating_add(limit).min(count);
    let one: Value = serde_json::from_str(sample).unwrap_or_default();
    let items: Vec<Value> = (from..to).map(|number| copy(sample, &one, number)).collect();
    let next = if to < count { to.to_string() } else { String::new() };
    let list = json!({
        "apiVersion": "v1", "kind": "List", "items": items,
        "metadata": { "resourceVersion": "1000000", "continue": next },
    });
    Json(list).into_response()
}

/// The sample with names and uids of its own: the pod of a number and the server of it belong together.
fn copy(sample: &str, one: &Value, number: usize) -> Value {
    let name = one["metadata"]["name"].as_str().unwrap_or_default();
    let stem = name.rsplit_once('-').map_or(name, |(stem, _)| stem);
    let own_name = if one["kind"] == "GameServerSet" { name.to_owned() } else { format!("{stem}-{number}") };
    let mut text = sample.replace(&format!("\"{name}\""), &format!("\"{own_name}\""));
    let mut uids = vec![one["metadata"]["uid"].as_str().unwrap_or_default()];
    let owners = one["metadata"]["ownerReferences"].as_array().into_iter().flatten();
    uids.extend(owners.filter(|owner| owner["kind"] == "Pod").filter_map(|owner| owner["uid"].as_str()));
    for uid in uids.into_iter().filter(|uid| uid.len() > 12) {
        text = text.replace(uid, &format!("{}{number:012}", &uid[..uid.len() - 12]));
    }
    if let Some(node) = one["spec"]["nodeName"].as_str() {
        let stem = node.rsplit_once('-').map_or(node, |(stem, _)| stem);
        text = text.replace(&format!("\"{node}\""), &format!("\"{stem}-{}\"", number % NODES));
    }
    serde_json::from_str(&text).unwrap_or_default()
}
