//! Input that no sane client sends: the answer is a clear refusal, the server goes on, and it keeps no more than its limits.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod common;

use http::{Request, StatusCode};
use http_body_util::{BodyExt, Full};
use sandbox::api::{Options, Server};
use serde_json::{Value, json};
use tower::Service;

const MAPS: &str = "/api/v1/namespaces/default/configmaps";
const GAMES: &str = "/apis/game.example.com/v1/namespaces/default/gameservers";

async fn send(
    server: &Server,
    method: &str,
    path: &str,
    kind: &str,
    body: impl Into<bytes::Bytes>,
) -> (u16, Value) {
    let request = Request::builder().method(method).uri(path).header("content-type", kind);
    let response = server.service().call(request.body(Full::new(body.into())).unwrap()).await.unwrap();
    let code = response.status().as_u16();
    let bytes = response.into_body().collect().await.unwrap().to_bytes();
    (code, serde_json::from_slice(&bytes).unwrap_or_default())
}

async fn server() -> Server {
    let server = Server::new();
    common::install_gameservers(&server.client()).await;
    server
}

/// `{"a":{"a":…}}`, so many levels deep.
fn nested(levels: usize) -> String {
    format!("{}1{}", "{\"a\":".repeat(levels), "}".repeat(levels))
}

#[tokio::test]
async fn truncated_json_is_told_apart_at_every_length() {
    let server = server().await;
    let whole = json!({"metadata": {"name": "a", "labels": {"x": "y"}}, "data": {"k": "größe \u{1F3AE}"}})
        .to_string();
    for length in 0..whole.len() {
        let (code, status) =
            send(&server, "POST", MAPS, "application/json", whole.as_bytes()[..length].to_vec()).await;
        assert_eq!((code, &status["kind"]), (400, &json!("Status")), "{length}: {status}");
        let path = format!("{MAPS}/none");
        let cut = whole.as_bytes()[..length].to_vec();
        let (code, _) = send(&server, "PATCH", &path, "application/merge-patch+json", cut).await;
        assert!((400..500).contains(&code), "{length}: {code}");
    }
    assert_eq!(send(&server, "POST", MAPS, "application/json", whole).await.0, 201);
}

#[tokio::test]
async fn deep_bodies_are_stored_or_refused_and_never_overflow_the_stack() {
    let server = server().await;
    for (levels, in_time) in [(50, true), (100, true), (1_000, false), (100_000, false)] {
        let template = nested(levels);
        let body = format!(
            r#"{{"apiVersion":"game.example.com/v1","kind":"GameServer","metadata":{{"name":"d{levels}"}},"spec":{{"template":{template}}}}}"#
        );
        let (code, status) = send(&server, "POST", GAMES, "application/json", body.clone()).await;
        assert_eq!(code, if in_time { 201 } else { 400 }, "{levels}: {}", status["message"]);
        for (method, kind) in [
            ("PATCH", "application/merge-patch+json"),
            ("PATCH", "application/apply-patch+yaml"),
            ("POST", "application/yaml"),
        ] {
            let path = if method == "POST" {
                GAMES.to_owned()
            } else {
                format!("{GAMES}/d{levels}?fieldManager=x&force=true")
            };
            let (code, _) = send(&server, method, &path, kind, body.clone()).await;
            assert!(code < 500, "{levels} {kind}: {code}");
        }
    }
    let flow = format!("{}1{}", "[".repeat(10_000), "]".repeat(10_000));
    assert_eq!(send(&server, "POST", MAPS, "application/yaml", flow).await.0, 400);
}

#[tokio::test]
async fn bodies_above_the_limit_are_refused_unread() {
    let server = server().await;
    let object = json!({"metadata": {"name": "big"}, "data": {"k": "x".repeat(4 << 20)}}).to_string();
    let (code, status) = send(&server, "POST", MAPS, "application/json", object).await;
    assert_eq!((code, status["reason"].as_str()), (413, Some("RequestEntityTooLarge")));
    let object = json!({"metadata": {"name": "fits"}, "data": {"k": "x".repeat(900 << 10)}}).to_string();
    assert_eq!(send(&server, "POST", MAPS, "application/json", object).await.0, 201);
}

#[tokio::test]
async fn unknown_verbs_kinds_and_versions() {
    let server = server().await;
    for (method, path, expected) in [
        ("BREW", MAPS, 405),
        ("TRACE", MAPS, 405),
        ("PUT", MAPS, 405),
        ("GET", "/api/v1/namespaces/default/coffees", 404),
        ("GET", "/api/v9/namespaces/default/pods", 404),
        ("GET", "/apis/game.example.com/v9/namespaces/default/gameservers", 404),
        ("POST", "/apis/none.example.com/v1/things", 404),
        ("GET", "/api/v1/namespaces/default/pods/a/b/c/d", 404),
        ("GET", "/../../etc/passwd", 404),
    ] {
        let (code, _) = send(&server, method, path, "application/json", "{}").await;
        assert_eq!(code, expected, "{method} {path}");
    }
}

#[tokio::test]
async fn odd_names_are_refused_with_the_rule() {
    let server = server().await;
    let long = "a".repeat(254);
    for name in
        ["", " ", "A", "a_b", "a b", "-a", "a-", ".", "..", "a..b", "größe", "a\u{0}b", "a/b", "%2e", &long]
    {
        let body = json!({"metadata": {"name": name}}).to_string();
        let (code, status) = send(&server, "POST", MAPS, "application/json", body).await;
        assert_eq!(
            (code, status["details"]["causes"][0]["field"].as_str()),
            (422, Some("metadata.name")),
            "{name:?}"
        );
    }
    assert_eq!(send(&server, "GET", MAPS, "", "").await.1["items"], json!([]));
}

#[tokio::test]
async fn nonsense_in_selectors_selects_nothing_and_says_why() {
    let server = server().await;
    for selector in [
        "(",
        "a in",
        "a in (",
        "a in )b(",
        "!",
        "=",
        "a=b=c=",
        "a,,b",
        "a notin",
        "a>b",
        "a in (b",
        "%00",
        "a%20b%20c",
        "a/b/c=d",
    ] {
        for name in ["labelSelector", "fieldSelector"] {
            let escaped = selector.replace(' ', "%20").replace('>', "%3E");
            let path = format!("{MAPS}?{name}={escaped}");
            let (code, status) = send(&server, "GET", &path, "", "").await;
            assert_eq!((code, &status["kind"]), (400, &json!("Status")), "{path}: {status}");
        }
    }
    // A long one is read in time that grows with its length only.
    let many = (0..5_000).map(|i| format!("k{i}")).collect::<Vec<_>>().join(",");
    assert_eq!(send(&server, "GET", &format!("{MAPS}?labelSelector={many}"), "", "").await.0, 200);
}

#[tokio::test]
async fn definitions_that_break_the_rules_are_refused_and_leave_nothing_behind() {
    let server = server().await;
    let path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
    let schemas = [
        json!(null),
        json!([]),
        json!({}),
        json!({"type": "object", "properties": {"a": {}}}),
        json!({"type": "object", "properties": {"a": {"type": "array"}}}),
        json!({"type": "object", "properties": {"a": {"type": "string", "pattern": "("}}}),
        json!({"type": "object", "x-kubernetes-validations": [{"rule": "self.nothing == 1"}]}),
        json!({"type": "object", "x-kubernetes-validations": [{"rule": "(".repeat(5_000)}]}),
        json!({"type": "object", "x-kubernetes-validations": [{"rule": format!("{}true", "!".repeat(20_001))}]}),
        json!({"type": "object", "x-kubernetes-validations": [{"rule": vec!["true"; 20_000].join(" && ") + " &&"}]}),
        serde_json::from_str(&(0..100).fold("{\"type\":\"strange\"}".to_owned(), |inner, _| {
            format!("{{\"type\":\"array\",\"items\":{inner}}}")
        }))
        .unwrap(),
    ];
    for schema in schemas {
        let crd = json!({"metadata": {"name": "odds.b.example.com"}, "spec": {"group": "b.example.com", "scope": "Namespaced",
            "names": {"plural": "odds", "kind": "Odd"}, "versions": [{"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": schema}}]}});
        let (code, status) = send(&server, "POST", path, "application/json", crd.to_string()).await;
        assert!(matches!(code, 400 | 422), "{code} {}", status["message"]);
        assert_eq!(send(&server, "GET", "/apis/b.example.com/v1/odds", "", "").await.0, 404);
    }
}

#[tokio::test]
async fn watchers_that_never_read_hold_no_more_than_the_history() {
    let options = Options { history_bytes: 1 << 20, ..Options::default() };
    let server = Server::with_options(options);
    let mut sleepers = Vec::new();
    for _ in 0..50 {
        let request =
            Request::get(format!("{MAPS}?watch=true")).body(Full::new(bytes::Bytes::new())).unwrap();
        let response = server.service().call(request).await.unwrap();
        assert_eq!(response.status(), StatusCode::OK);
        sleepers.push(response.into_body());
    }
    let text = "x".repeat(100 << 10);
    let create = json!({"metadata": {"name": "a"}, "data": {"k": text}}).to_string();
    assert_eq!(send(&server, "POST", MAPS, "application/json", create).await.0, 201);
    for i in 0..100 {
        let patch = json!({"data": {"n": i.to_string()}}).to_string();
        let code =
            send(&server, "PATCH", &format!("{MAPS}/a"), "application/merge-patch+json", patch).await.0;
        assert_eq!(code, 200);
    }
    // Ten times the history went by. Who wakes up now is told to list again instead of getting all of it.
    for body in sleepers {
        let mut body = body;
        let mut seen = 0;
        let last = loop {
            let frame = body.frame().await.unwrap().unwrap().into_data().unwrap();
            seen += frame.len();
            if let Some(line) = frame
                .split(|b| *b == b'\n')
                .find(|line| line.starts_with(b"{\"object\"") || line.windows(7).any(|w| w == b"\"ERROR\""))
            {
                break String::from_utf8_lossy(line).into_owned();
            }
        };
        assert!(last.contains("ERROR") && last.contains("410"), "{last:.200}");
        assert!(seen < 2 << 20, "{seen} bytes were kept for a client that never read");
    }
}
