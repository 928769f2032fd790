//! The API on a loopback port: kubeconfig, token, HTTP/2, stopping, and bodies that are wrong in every way.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]
mod common;

use std::net::SocketAddr;
use std::time::Duration;

use common::{code, config_map, server};
use futures::StreamExt;
use http::{Method, Request, StatusCode};
use http_body_util::BodyExt;
use k8s_openapi::api::core::v1::{ConfigMap, Namespace};
use kube::api::{Api, ListParams, PostParams, WatchParams};
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Client, Config};
use sandbox::api::{ServeError, Server, serve};
use serde_json::{Value, json};
use tower::Service;

fn loopback() -> SocketAddr {
    "127.0.0.1:0".parse().unwrap()
}

async fn client_of(kubeconfig: &str) -> Client {
    let parsed = Kubeconfig::from_yaml(kubeconfig).unwrap();
    let config = Config::from_custom_kubeconfig(parsed, &KubeConfigOptions::default()).await.unwrap();
    Client::try_from(config).unwrap()
}

#[tokio::test]
async fn the_kubeconfig_is_all_that_a_client_needs() {
    let server = Server::new();
    let serving = serve(&server, loopback()).await.unwrap();
    let client = client_of(&serving.kubeconfig).await;
    assert_eq!(client.apiserver_version().await.unwrap().git_version, sandbox::api::VERSION);
    let maps: Api<ConfigMap> = Api::default_namespaced(client.clone());
    let mut watch = Box::pin(maps.watch(&WatchParams::default(), "0").await.unwrap());
    maps.create(&PostParams::default(), &config_map("a", json!({}))).await.unwrap();
    assert!(watch.next().await.unwrap().is_ok());
    // The same objects are there in process.
    assert!(Api::<ConfigMap>::namespaced(server.client(), "default").get("a").await.is_ok());
    tokio::time::timeout(Duration::from_secs(10), serving.shutdown())
        .await
        .expect("a stop does not wait for watches");
    assert!(maps.get("a").await.is_err());
}

#[tokio::test]
async fn without_the_token_nobody_gets_in() {
    let serving = serve(&Server::new(), loopback()).await.unwrap();
    for token in ["", "wrong", &"0".repeat(64)] {
        let mut parsed: Value = serde_yaml_value(&serving.kubeconfig);
        parsed["users"][0]["user"]["token"] = token.into();
        let client = client_of(&parsed.to_string()).await;
        let all: Api<Namespace> = Api::all(client);
        assert_eq!(code(all.list(&ListParams::default()).await), (401, "Unauthorized".into()), "{token:?}");
    }
}

fn serde_yaml_value(text: &str) -> Value {
    serde_json::to_value(Kubeconfig::from_yaml(text).unwrap()).unwrap()
}

#[tokio::test]
async fn only_this_machine_and_a_free_port() {
    let server = Server::new();
    let refused = serve(&server, "0.0.0.0:0".parse().unwrap()).await;
    assert!(matches!(refused, Err(ServeError::NotLoopback(_))));
    let first = serve(&server, loopback()).await.unwrap();
    let second = serve(&server, first.addr).await;
    assert!(matches!(second, Err(ServeError::Bind { addr, .. }) if addr == first.addr));
}

async fn send(
    server: &Server,
    method: Method,
    path: &str,
    content_type: &str,
    body: impl Into<Vec<u8>>,
) -> (StatusCode, Value) {
    let request = Request::builder().method(method).uri(path).header("content-type", content_type);
    let request = request.body(http_body_util::Full::new(bytes::Bytes::from(body.into()))).unwrap();
    let response = server.service().call(request).await.unwrap();
    let status = response.status();
    let body = response.into_body().collect().await.unwrap().to_bytes();
    (
        status,
        serde_json::from_slice(&body).unwrap_or_else(|_| String::from_utf8_lossy(&body).into_owned().into()),
    )
}

#[tokio::test]
async fn wrong_requests_get_a_status_and_never_a_panic() {
    let (server, _) = server();
    let maps = "/api/v1/namespaces/default/configmaps";
    let deep = format!("{}{}", "{\"a\":".repeat(200), "1".to_owned() + &"}".repeat(200));
    let large = format!("{{\"data\":{{\"a\":\"{}\"}}}}", "x".repeat(4 << 20));
    let json = "application/json";
    for (method, path, kind, body, expected) in [
        (Method::POST, maps, json, "{\"metadata\":{\"name\":\"a\"".to_owned(), 400),
        (Method::POST, maps, json, deep, 400),
        (Method::POST, maps, json, large, 413),
        (Method::POST, maps, json, "[]".into(), 400),
        (Method::POST, maps, json, "null".into(), 400),
        (Method::POST, maps, json, String::new(), 400),
        (Method::POST, maps, json, "{\"metadata\":3}".into(), 400),
        (
            Method::POST,
            maps,
            json,
            "{\"kind\":\"Pod\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"a\"}}".into(),
            400,
        ),
        (Method::POST, maps, json, "{\"metadata\":{\"name\":\"A b\"}}".into(), 422),
        (Method::POST, maps, json, "{\"metadata\":{\"name\":\"a\"},\"data\":{\"a\":1}}".into(), 400),
        (Method::POST, maps, "application/vnd.kubernetes.protobuf", "k8s\0".into(), 415),
        (Method::POST, maps, "text/plain", "x".into(), 415),
        (Method::PUT, maps, json, "{}".into(), 405),
        (Method::PATCH, "/api/v1/namespaces/default/configmaps/a", json, "{}".into(), 415),
        (
            Method::PATCH,
            "/api/v1/namespaces/default/configmaps/a",
            "application/merge-patch+json",
            "[1]".into(),
            400,
        ),
        (
            Method::PUT,
            "/api/v1/namespaces/default/configmaps/a",
            json,
            "{\"metadata\":{\"name\":\"b\"}}".into(),
            400,
        ),
        (Method::GET, "/api/v1/namespaces/default/nothings", json, String::new(), 404),
        (Method::GET, "/apis/none.example.com/v1/things", json, String::new(), 404),
        (Method::GET, "/api/v2/pods", json, String::new(), 404),
        (Method::GET, "/api/v1/namespaces/default/pods/a/nothing", json, String::new(), 404),
        (Method::GET, "/api/v1/pods?labelSelector=a+in+b", json, String::new(), 400),
        (Method::GET, "/api/v1/pods?limit=many", json, String::new(), 400),
        (Method::GET, "/api/v1/pods?watch=true&resourceVersion=999999", json, String::new(), 504),
        (Method::GET, "/%ff%fe", json, String::new(), 404),
        (Method::TRACE, "/api/v1/pods", json, String::new(), 405),
        (Method::POST, "/api/v1/pods", json, "{}".into(), 405),
        (Method::DELETE, "/api/v1/namespaces/default/configmaps/none", json, String::new(), 404),
        (
            Method::DELETE,
            "/api/v1/namespaces/default/configmaps/none",
            json,
            "{\"propagationPolicy\":\"x\"}".into(),
            422,
        ),
    ] {
        let shown: String = body.chars().take(60).collect();
        let (status, answer) = send(&server, method.clone(), path, kind, body).await;
        assert_eq!(status.as_u16(), expected, "{method} {path} {shown}: {answer}");
        if answer.is_object() {
            assert_eq!(answer["kind"], "Status", "{method} {path}: {answer}");
            assert_eq!(answer["code"], expected);
        }
    }
}

#[tokio::test]
async fn unknown_fields_are_named_or_refused() {
    let (server, _) = server();
    let body = "{\"metadata\":{\"name\":\"a\"},\"dato\":{}}";
    let path = "/api/v1/namespaces/default/configmaps";
    let (status, answer) =
        send(&server, Method::POST, &format!("{path}?fieldValidation=Strict"), "application/json", body)
            .await;
    let message = answer["message"].as_str().unwrap();
    assert_eq!(status.as_u16(), 400);
    assert!(message.ends_with("strict decoding error: unknown field \"dato\""), "{message}");
    let request = Request::post(path).body(http_body_util::Full::new(bytes::Bytes::from(body))).unwrap();
    let response = server.service().call(request).await.unwrap();
    assert_eq!(response.headers()["warning"], "299 - \"unknown field \\\"dato\\\"\"");
}

#[tokio::test]
async fn reviews_are_answered_and_discovery_reads() {
    let (server, client) = server();
    let review = json!({"apiVersion": "authorization.k8s.io/v1", "kind": "SelfSubjectAccessReview",
        "spec": {"resourceAttributes": {"verb": "get", "resource": "pods"}}});
    let path = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";
    let (status, answer) = send(&server, Method::POST, path, "application/json", review.to_string()).await;
    assert_eq!((status.as_u16(), &answer["status"]["allowed"]), (201, &json!(true)));
    let groups = client.list_api_groups().await.unwrap();
    assert!(groups.groups.iter().any(|g| g.name == "apps"));
    let apps = client.list_api_group_resources("apps/v1").await.unwrap();
    assert!(apps.resources.iter().any(|r| r.name == "statefulsets/scale"));
    let found = kube::Discovery::new(client).run_aggregated().await.unwrap();
    assert!(found.groups().any(|g| g.name() == "coordination.k8s.io"));
    for path in ["/openapi/v2", "/openapi/v3", "/openapi/v3/apis/apps/v1", "/version", "/readyz"] {
        assert_eq!(send(&server, Method::GET, path, "", "").await.0, 200, "{path}");
    }
}
