//! The sandbox answers as the real API server does: requests from `tests/agreement/*.yaml`, answers of a real server recorded
//! in `tests/agreement/recorded.json`.
//!
//! With `PILOTHOUSE_TEST_BARE_KUBECONFIG` (an API server that nobody else works on: `./dev cluster up --no-nodes` without its
//! controller-manager, whose objects would be in the way) the same requests also go there and must agree with the record;
//! `PILOTHOUSE_RECORD=1` then writes the record anew. What differs between any two servers (ids, versions, times) is masked.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]
mod common;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use http::{Method, Request};
use http_body_util::BodyExt;
use kube::Client;
use kube::client::Body;
use kube::config::{KubeConfigOptions, Kubeconfig};
use regex::Regex;
use serde::Deserialize;
use serde_json::{Value, json};

#[derive(Debug, Deserialize)]
struct Group {
    name: String,
    steps: Vec<Step>,
}

/// One request. `{ns}` is a namespace of the group's own, `{x}` a text that makes cluster-wide names unique.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Step {
    /// Method and path; `WAIT` repeats a GET until it succeeds and is not compared.
    #[serde(rename = "do")]
    request: String,
    #[serde(default)]
    body: Value,
    /// Sent as it is, instead of `body`.
    #[serde(default)]
    raw: Option<String>,
    /// Content type: json, merge, strategic, json-patch, apply, or a whole one.
    #[serde(default)]
    r#type: String,
    /// Accept: table, metadata, or a whole one.
    #[serde(default)]
    accept: String,
    /// Compare only code and reason: the rest is words or noise.
    #[serde(default)]
    code_only: bool,
    /// Pointers into the answer that are not compared.
    #[serde(default)]
    ignore: Vec<String>,
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/agreement")
}

fn groups() -> Vec<Group> {
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(folder()).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|path| path.extension().is_some_and(|e| e == "yaml"));
    files.sort();
    let read = |path: &PathBuf| -> Vec<Group> {
        serde_yaml::from_str(&std::fs::read_to_string(path).unwrap())
            .unwrap_or_else(|e| panic!("{}: {e}", path.display()))
    };
    files.iter().flat_map(read).collect()
}

/// Runs every group and returns the masked answers, by group.
async fn run(client: &Client, groups: &[Group]) -> BTreeMap<String, Vec<Value>> {
    let unique = uuid::Uuid::new_v4().simple().to_string()[..8].to_owned();
    let mask = Mask::new(&unique);
    let mut answers = BTreeMap::new();
    for group in groups {
        let namespace = format!("agree-{}-{unique}", group.name);
        let fill = |text: &str| text.replace("{ns}", &namespace).replace("{x}", &unique);
        let made = Step {
            request: "POST /api/v1/namespaces".into(),
            body: json!({ "metadata": { "name": namespace } }),
            raw: None,
            r#type: String::new(),
            accept: String::new(),
            code_only: true,
            ignore: Vec::new(),
        };
        assert_eq!(send(client, &made, &fill).await.0, 201, "the namespace of {}", group.name);
        let mut out = Vec::new();
        for step in &group.steps {
            if step.request.starts_with("WAIT ") {
                let mut tries = 0;
                while send(client, step, &fill).await.0 != 200 {
                    tries += 1;
                    assert!(tries < 200, "{} does not come", step.request);
                    tokio::time::sleep(Duration::from_millis(50)).await;
                }
                continue;
            }
            let (code, answer) = send(client, step, &fill).await;
            let mut shown = json!({ "do": step.request, "code": code });
            if step.code_only {
                shown["reason"] = answer.get("reason").cloned().unwrap_or_default();
            } else {
                let mut answer = answer;
                for pointer in &step.ignore {
                    let (parent, key) = pointer.rsplit_once('/').unwrap();
                    if let Some(Value::Object(map)) = answer.pointer_mut(parent) {
                        map.remove(key);
                    }
                }
                shown["answer"] = answer;
            }
            mask.apply(&mut shown);
            out.push(shown);
        }
        answers.insert(group.name.clone(), out);
    }
    for path in ["/apis/apiextensions.k8s.io/v1/customresourcedefinitions", "/api/v1/nodes"] {
        clean_up(client, path, &unique).await;
    }
    answers
}

/// Removes cluster-wide objects of this run from a server that lives longer than it.
async fn clean_up(client: &Client, path: &str, unique: &str) {
    let list = Request::get(path).body(Vec::new()).unwrap();
    let list: Value = client.request(list).await.unwrap();
    for object in list["items"].as_array().into_iter().flatten() {
        let name = object["metadata"]["name"].as_str().unwrap_or_default();
        if name.contains(unique) {
            let delete = Request::delete(format!("{path}/{name}")).body(Body::empty()).unwrap();
            let _ = client.send(delete).await;
        }
    }
}

async fn send(client: &Client, step: &Step, fill: &dyn Fn(&str) -> String) -> (u16, Value) {
    let (method, path) = step.request.split_once(' ').unwrap();
    let method = if method == "WAIT" { Method::GET } else { method.parse().unwrap() };
    let kind = match step.r#type.as_str() {
        "" | "json" => "application/json",
        "merge" => "application/merge-patch+json",
        "strategic" => "application/strategic-merge-patch+json",
        "json-patch" => "application/json-patch+json",
        "apply" => "application/apply-patch+yaml",
        other => other,
    };
    let accept = match step.accept.as_str() {
        "" => "application/json",
        "table" => "application/json;as=Table;v=v1;g=meta.k8s.io",
        "metadata" => "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io",
        other => other,
    };
    let body = match &step.raw {
        Some(raw) => fill(raw),
        None if step.body.is_null() => String::new(),
        None => fill(&step.body.to_string()),
    };
    let request = Request::builder().method(method).uri(fill(path)).header("user-agent", "agreement/1");
    let request = request
        .header("content-type", kind)
        .header("accept", accept)
        .body(Body::from(body.into_bytes()))
        .unwrap();
    let response = client.send(request).await.unwrap();
    let code = response.status().as_u16();
    let bytes = response.into_body().collect().await.unwrap().to_bytes();
    let text = String::from_utf8_lossy(&bytes).into_owned();
    let answer = serde_json::from_slice(&bytes).unwrap_or_else(|_| {
        // A watch: one event a line.
        let lines: Result<Vec<Value>, _> = text.lines().map(serde_json::from_str).collect();
        lines.map_or(Value::String(text.clone()), Value::Array)
    });
    (code, answer)
}

struct Mask {
    unique: String,
    noise: Vec<(Regex, &'static str)>,
}

impl Mask {
    fn new(unique: &str) -> Self {
        let noise = [
            (r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", "UID"),
            (r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z", "TIME"),
            (r"^10\.96\.\d+\.\d+$", "IP"),
            (r"^[0-9]s$", "AGE"),
            (r"^gen-[a-z0-9]{5}$", "gen-NAME"),
        ];
        Self { unique: unique.to_owned(), noise: noise.map(|(r, t)| (Regex::new(r).unwrap(), t)).to_vec() }
    }

    fn apply(&self, value: &mut Value) {
        match value {
            Value::String(text) => {
                *text = text.replace(&self.unique, "X");
                for (noise, name) in &self.noise {
                    *text = noise.replace_all(text, *name).into_owned();
                }
            }
            Value::Array(items) => items.iter_mut().for_each(|item| self.apply(item)),
            Value::Object(map) => {
                // Words about columns, and a hash of storage.
                if map.contains_key("format") && map.contains_key("priority") {
                    map.remove("description");
                }
                map.remove("storageVersionHash");
                // Items of built-in lists carry no type in the real server; more does no harm.
                if let Some(Value::Array(items)) = map.get_mut("items") {
                    for item in items.iter_mut().filter_map(Value::as_object_mut) {
                        item.remove("apiVersion");
                        item.remove("kind");
                    }
                }
                // Their order depends on the second in which each was written.
                if let Some(Value::Array(entries)) = map.get_mut("managedFields") {
                    entries
                        .sort_by_key(|e| format!("{} {} {}", e["operation"], e["manager"], e["subresource"]));
                }
                map.retain(|key, value| key != "continue" || value != "");
                for key in ["resourceVersion", "continue"] {
                    if map.contains_key(key) {
                        map.insert(key.into(), "VERSION".into());
                    }
                }
                let old = std::mem::take(map);
                for (key, mut child) in old {
                    self.apply(&mut child);
                    map.insert(key.replace(&self.unique, "X"), child);
                }
            }
            _ => {}
        }
    }
}

/// Where two answers differ, as pointers with both sides.
fn differences(path: &str, expected: &Value, found: &Value, out: &mut Vec<String>) {
    match (expected, found) {
        (Value::Object(a), Value::Object(b)) => {
            let keys: std::collections::BTreeSet<&String> = a.keys().chain(b.keys()).collect();
            for key in keys {
                let none = Value::String("(absent)".into());
                differences(
                    &format!("{path}/{key}"),
                    a.get(key).unwrap_or(&none),
                    b.get(key).unwrap_or(&none),
                    out,
                );
            }
        }
        (Value::Array(a), Value::Array(b)) if a.len() == b.len() => {
            for (i, (a, b)) in a.iter().zip(b).enumerate() {
                differences(&format!("{path}/{i}"), a, b, out);
            }
        }
        (a, b) if a != b => out.push(format!("  {path}\n    real:    {a}\n    sandbox: {b}")),
        _ => {}
    }
}

fn compare(
    expected: &BTreeMap<String, Vec<Value>>,
    found: &BTreeMap<String, Vec<Value>>,
) -> (usize, Vec<String>) {
    let mut agree = 0;
    let mut differ = Vec::new();
    for (group, answers) in found {
        let recorded = expected.get(group).map_or(&[][..], Vec::as_slice);
        if recorded.len() != answers.len() {
            differ.push(format!(
                "{group}: {} answers recorded, {} found; record anew",
                recorded.len(),
                answers.len()
            ));
            continue;
        }
        for (i, (a, b)) in recorded.iter().zip(answers).enumerate() {
            let mut out = Vec::new();
            differences("", a, b, &mut out);
            if out.is_empty() {
                agree += 1;
            } else {
                differ.push(format!("{group} step {i}: {}\n{}", b["do"], out.join("\n")));
            }
        }
    }
    (agree, differ)
}

/// One answer a line, so that changes can be read.
fn written(answers: &BTreeMap<String, Vec<Value>>) -> String {
    let group = |(name, answers): (&String, &Vec<Value>)| {
        let lines: Vec<String> = answers.iter().map(Value::to_string).collect();
        format!("{name:?}: [\n{}\n]", lines.join(",\n"))
    };
    format!("{{\n{}\n}}\n", answers.iter().map(group).collect::<Vec<_>>().join(",\n"))
}

async fn real_client() -> Option<Client> {
    let path = std::env::var("PILOTHOUSE_TEST_BARE_KUBECONFIG").ok().filter(|p| !p.is_empty())?;
    let parsed = Kubeconfig::read_from(path).unwrap();
    let config = kube::Config::from_custom_kubeconfig(parsed, &KubeConfigOptions::default()).await.unwrap();
    Some(Client::try_from(config).unwrap())
}

#[tokio::test]
async fn every_request_is_answered_as_the_real_server_does() {
    let groups = groups();
    let file = folder().join("recorded.json");
    if let Some(real) = real_client().await {
        let answers = run(&real, &groups).await;
        if std::env::var("PILOTHOUSE_RECORD").is_ok() {
            std::fs::write(&file, written(&answers)).unwrap();
        }
        let recorded = serde_json::from_str(&std::fs::read_to_string(&file).unwrap()).unwrap();
        let (_, differ) = compare(&recorded, &answers);
        assert!(differ.is_empty(), "the real server does not answer as recorded:\n{}", differ.join("\n"));
    }
    let recorded = serde_json::from_str(&std::fs::read_to_string(&file).unwrap()).unwrap();
    let answers = run(&common::server().1, &groups).await;
    let (agree, differ) = compare(&recorded, &answers);
    println!("{}", differ.join("\n"));
    println!("agreement: {agree} agree, {} differ", differ.len());
    assert!(differ.is_empty(), "{} answers differ from those of a real server", differ.len());
}
