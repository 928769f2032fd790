//! Sending requests and taking down the answers.
use std::collections::BTreeMap;
use std::io::Read;
use std::ops::Range;
use std::time::Duration;

use http::{HeaderMap, Method, Request};
use http_body_util::BodyExt;
use kube::Client;
use kube::client::Body;
use serde_json::{Value, json};

use crate::mask::Mask;
use crate::steps::{Group, Step};

/// How long the text is that `{big}` stands for: three such objects make a list that is worth compressing.
const BIG: usize = 50_000;

/// An answer as it came.
pub struct Answer {
    pub code: u16,
    pub headers: HeaderMap,
    pub body: Value,
}

/// Runs every group and returns the masked answers, by group.
pub async fn run(client: &Client, groups: &[Group]) -> BTreeMap<String, Vec<Value>> {
    let unique = unique();
    let mask = Mask::new(&unique);
    let mut answers = BTreeMap::new();
    for group in groups {
        let namespace = format!("agree-{}-{unique}", group.name);
        make_namespace(client, &namespace).await;
        let mut version = String::new();
        let mut out = Vec::new();
        for step in &group.steps {
            let fill = |text: &str| {
                let text = text.replace("{ns}", &namespace).replace("{x}", &unique);
                text.replace("{rv}", &version).replace("{big}", &"x".repeat(BIG))
            };
            let verb = step.request.split(' ').next().unwrap_or_default();
            if matches!(verb, "WAIT" | "GONE" | "PREPARE" | "REFUSED") {
                let wanted = if matches!(verb, "GONE" | "REFUSED") { 400..500 } else { 200..300 };
                until(client, step, &fill, wanted).await;
                continue;
            }
            let answer = send(client, step, &fill).await;
            if let Some(found) = answer.body.pointer("/metadata/resourceVersion").and_then(Value::as_str) {
                found.clone_into(&mut version);
            }
            out.push(shown(step, answer, &mask));
        }
        answers.insert(group.name.clone(), out);
    }
    for path in ["/apis/apiextensions.k8s.io/v1/customresourcedefinitions", "/api/v1/nodes"] {
        clean_up(client, path, &unique).await;
    }
    answers
}

/// A text for names that no other run uses.
pub fn unique() -> String {
    uuid::Uuid::new_v4().simple().to_string()[..8].to_owned()
}

pub async fn make_namespace(client: &Client, name: &str) {
    let body = json!({ "metadata": { "name": name } });
    let step = Step { request: "POST /api/v1/namespaces".into(), body, ..Step::default() };
    let answer = send(client, &step, &str::to_owned).await;
    assert_eq!(answer.code, 201, "the namespace {name}");
}

/// Sends a request again and again until its code is as wanted: what a definition says comes into force a moment later.
async fn until(client: &Client, step: &Step, fill: &dyn Fn(&str) -> String, wanted: Range<u16>) {
    let step = Step { request: step.request.replace("REFUSED ", ""), ..step.clone() };
    // A minute: on a busy machine the real server cleans up late.
    for _ in 0..1200 {
        if wanted.contains(&send(client, &step, fill).await.code) {
            return;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    panic!("{} does not come to a code in {wanted:?}", step.request);
}

/// What of an answer is compared.
pub fn shown(step: &Step, mut answer: Answer, mask: &Mask) -> Value {
    let mut shown = json!({ "do": step.request, "code": answer.code });
    let header = |name: &str| {
        let all = answer.headers.get_all(name).iter().filter_map(|v| v.to_str().ok().map(str::to_owned));
        all.collect::<Vec<String>>()
    };
    if answer.code == 500
        && let Some(map) = answer.body.as_object_mut()
    {
        // The words of inner errors are nobody's interface.
        map.remove("message");
    }
    let kind = header("content-type").join(", ");
    if kind != "application/json" {
        shown["type"] = kind.into();
    }
    for (name, key) in
        [("warning", "warnings"), ("content-encoding", "encoding"), ("retry-after", "retry-after")]
    {
        let mut values = header(name);
        if !values.is_empty() {
            values.sort();
            shown[key] = values.into();
        }
    }
    if step.causes_only {
        shown["reason"] = answer.body.get("reason").cloned().unwrap_or_default();
        let causes =
            answer.body.pointer("/details/causes").and_then(Value::as_array).cloned().unwrap_or_default();
        let mut causes: Vec<String> =
            causes.iter().map(|c| format!("{} {}", c["field"], c["reason"])).collect();
        causes.sort();
        shown["causes"] = causes.into();
    } else if step.code_only {
        shown["reason"] = answer.body.get("reason").cloned().unwrap_or_default();
    } else {
        for pointer in &step.ignore {
            let (parent, key) = pointer.rsplit_once('/').unwrap();
            if let Some(Value::Object(map)) = answer.body.pointer_mut(parent) {
                map.remove(key);
            }
        }
        shown["answer"] = answer.body;
    }
    mask.apply(&mut shown);
    shown
}

/// Removes cluster-wide objects of this run from a server that lives longer than it.
pub async fn clean_up(client: &Client, path: &str, unique: &str) {
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

pub async fn send(client: &Client, step: &Step, fill: &dyn Fn(&str) -> String) -> Answer {
    let (method, path) = step.request.split_once(' ').unwrap();
    let method = match method {
        "WAIT" | "GONE" => Method::GET,
        "PREPARE" => Method::PATCH,
        method => method.parse().unwrap(),
    };
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
    let mut request = Request::builder().method(method).uri(fill(path)).header("user-agent", "agreement/1");
    if step.gzip {
        request = request.header("accept-encoding", "gzip");
    }
    let request = request
        .header("content-type", kind)
        .header("accept", accept)
        .body(Body::from(body.into_bytes()))
        .unwrap();
    let response = client.send(request).await.unwrap();
    let (code, headers) = (response.status().as_u16(), response.headers().clone());
    let mut bytes = response.into_body().collect().await.unwrap().to_bytes().to_vec();
    if headers.get("content-encoding").is_some_and(|encoding| encoding == "gzip") {
        let mut plain = Vec::new();
        flate2::read::GzDecoder::new(bytes.as_slice()).read_to_end(&mut plain).unwrap();
        bytes = plain;
    }
    let text = String::from_utf8_lossy(&bytes).into_owned();
    let body = serde_json::from_slice(&bytes).unwrap_or_else(|_| {
        // A watch: one event a line.
        let lines: Result<Vec<Value>, _> = text.lines().map(serde_json::from_str).collect();
        lines.map_or(Value::String(text.clone()), Value::Array)
    });
    Answer { code, headers, body }
}
