//! Whatever comes in, an answer goes out: random paths, queries, headers, bodies and patches never end in a panic.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop there")]

mod common;

use std::sync::LazyLock;

use bytes::Bytes;
use http::{Method, Request};
use http_body_util::{BodyExt, Full};
use proptest::prelude::*;
use sandbox::api::Server;
use serde_json::{Value, json};
use tower::Service;

static RUNTIME: LazyLock<tokio::runtime::Runtime> = LazyLock::new(|| tokio::runtime::Runtime::new().unwrap());
static SERVER: LazyLock<Server> = LazyLock::new(|| {
    let server = Server::new();
    RUNTIME.block_on(async {
        let client = server.client();
        common::install_gameservers(&client).await;
        let servers = common::namespaced(&client, "default");
        let spec = json!({"opsState": "None", "containers": [{"name": "a", "image": "i"}], "template": {"a": {"b": [1]}}});
        servers.create(&Default::default(), &common::gameserver("a", spec)).await.unwrap();
        let pods: kube::Api<k8s_openapi::api::core::v1::Pod> = kube::Api::namespaced(client, "default");
        pods.create(&Default::default(), &common::pod("p")).await.unwrap();
    });
    server
});

/// Sends a request and returns the code; a watch is not read to its end.
fn code(method: &str, path: &str, headers: &[(&str, &str)], body: Vec<u8>) -> u16 {
    let Ok(method) = method.parse::<Method>() else { return 0 };
    let mut request = Request::builder().method(method).uri(path);
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    // What no client could send is no input.
    let Ok(request) = request.body(Full::new(Bytes::from(body))) else { return 0 };
    // Set up before the runtime is entered: the setup enters it too.
    let server = &*SERVER;
    RUNTIME.block_on(async {
        let response = server.service().call(request).await.unwrap();
        let code = response.status().as_u16();
        if code >= 400 {
            let body = response.into_body().collect().await.unwrap().to_bytes();
            assert!(!body.is_empty(), "a refusal says why");
        }
        code
    })
}

fn values() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(|n| serde_json::Number::from_f64(n).map_or(Value::Null, Value::Number)),
        "[a-z/.$]{0,8}".prop_map(Value::from),
        ".{0,6}".prop_map(Value::from),
    ];
    let keys = prop_oneof![
        "[a-z]{1,6}",
        Just("metadata".to_owned()),
        Just("spec".to_owned()),
        Just("status".to_owned()),
        Just("name".to_owned()),
        Just("labels".to_owned()),
        Just("containers".to_owned()),
        Just("finalizers".to_owned()),
        Just("managedFields".to_owned()),
        Just("ownerReferences".to_owned()),
        Just("replicas".to_owned()),
        Just("$patch".to_owned()),
        Just("$retainKeys".to_owned()),
        Just("$setElementOrder/containers".to_owned()),
        Just("$deleteFromPrimitiveList/finalizers".to_owned()),
        Just("apiVersion".to_owned()),
        Just("kind".to_owned()),
    ];
    leaf.prop_recursive(5, 40, 6, move |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            proptest::collection::btree_map(keys.clone(), inner, 0..6)
                .prop_map(|m| Value::Object(m.into_iter().collect())),
        ]
    })
}

const GAMESERVERS: &str = "/apis/game.example.com/v1/namespaces/default/gameservers";

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn any_path_is_answered(path in "/[a-z0-9/%.?=&_-]{0,60}", method in "GET|POST|PUT|PATCH|DELETE|HEAD|OPTIONS") {
        code(&method, &path, &[], Vec::new());
    }

    #[test]
    fn any_query_is_answered(
        name in "labelSelector|fieldSelector|limit|continue|resourceVersion|resourceVersionMatch|timeoutSeconds|dryRun|fieldValidation",
        value in "[a-zA-Z0-9=!,()% ><./-]{0,30}",
    ) {
        let value = value.replace('%', "%25").replace(' ', "%20").replace('>', "%3E").replace('<', "%3C");
        code("GET", &format!("{GAMESERVERS}?{name}={value}"), &[], Vec::new());
        code("GET", &format!("/api/v1/pods?{name}={value}"), &[("accept", "application/json;as=Table;v=v1;g=meta.k8s.io")], Vec::new());
    }

    #[test]
    fn any_headers_are_answered(accept in "[a-z/*;=,. -]{0,40}", content in "[a-z/+;=. -]{0,40}") {
        code("POST", GAMESERVERS, &[("accept", &accept), ("content-type", &content)], b"{}".to_vec());
    }

    #[test]
    fn any_bytes_are_answered(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        for kind in ["application/json", "application/yaml", "application/vnd.kubernetes.protobuf"] {
            code("POST", "/api/v1/namespaces/default/pods", &[("content-type", kind)], bytes.clone());
            let protobuf = [b"k8s\0".to_vec(), bytes.clone()].concat();
            code("POST", "/api/v1/namespaces/default/pods", &[("content-type", kind)], protobuf);
        }
    }

    #[test]
    fn any_object_is_answered(mut object in values()) {
        for (path, api_version, kind) in [
            (GAMESERVERS, "game.example.com/v1", "GameServer"),
            ("/api/v1/namespaces/default/pods", "v1", "Pod"),
            ("/apis/apps/v1/namespaces/default/deployments", "apps/v1", "Deployment"),
            ("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", "apiextensions.k8s.io/v1", "CustomResourceDefinition"),
        ] {
            if let Value::Object(map) = &mut object {
                map.insert("apiVersion".into(), api_version.into());
                map.insert("kind".into(), kind.into());
            }
            code("POST", &format!("{path}?dryRun=All"), &[("content-type", "application/json")], object.to_string().into_bytes());
        }
    }

    #[test]
    fn any_patch_is_answered(patch in values(), operations in proptest::collection::vec(("add|remove|replace|test|move|copy", "(/[a-z0-9~]{0,6}){0,4}", values()), 0..4)) {
        let body = patch.to_string().into_bytes();
        for path in [format!("{GAMESERVERS}/a"), format!("{GAMESERVERS}/a/status"), format!("{GAMESERVERS}/a/scale"), "/api/v1/namespaces/default/pods/p".into(), "/api/v1/namespaces/default/pods/p/resize".into()] {
            for kind in ["application/merge-patch+json", "application/strategic-merge-patch+json", "application/apply-patch+yaml"] {
                code("PATCH", &format!("{path}?dryRun=All&fieldManager=x&force=true"), &[("content-type", kind)], body.clone());
            }
            let list: Vec<Value> = operations.iter().map(|(op, to, value)| json!({"op": op, "path": to, "from": to, "value": value})).collect();
            code("PATCH", &format!("{path}?dryRun=All"), &[("content-type", "application/json-patch+json")], json!(list).to_string().into_bytes());
        }
    }
}
