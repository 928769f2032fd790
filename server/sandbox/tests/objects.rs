//! Objects through a kube client on the in-process API: create, read, change, delete.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]
mod common;

use common::{code, config_map, gameserver, install_gameservers, namespaced, pod, server};
use k8s_openapi::api::core::v1::{ConfigMap, Namespace, Node, Pod};
use kube::api::{
    Api, DeleteParams, DynamicObject, ListParams, Patch, PatchParams, PostParams, Preconditions,
    PropagationPolicy,
};
use serde_json::{Value, json};

#[tokio::test]
async fn a_new_object_gets_what_the_server_writes() {
    let (_, client) = server();
    let maps: Api<ConfigMap> = Api::namespaced(client, "default");
    let map =
        serde_json::from_value(json!({"metadata": {"generateName": "m-", "labels": {"a": "b"}}})).unwrap();
    let made = maps.create(&PostParams::default(), &map).await.unwrap();
    let meta = &made.metadata;
    let name = meta.name.as_deref().unwrap();
    assert!(name.starts_with("m-") && name.len() == 7);
    assert_eq!(meta.namespace.as_deref(), Some("default"));
    assert!(meta.uid.is_some() && meta.resource_version.is_some() && meta.creation_timestamp.is_some());
    assert_eq!(maps.get(name).await.unwrap(), made);
    let again = maps.create(&PostParams::default(), &config_map(name, json!({}))).await;
    assert_eq!(code(again), (409, "AlreadyExists".into()));
}

#[tokio::test]
async fn namespaces_must_exist_and_some_always_do() {
    let (_, client) = server();
    let all: Api<Namespace> = Api::all(client.clone());
    let listed = all.list(&ListParams::default()).await.unwrap();
    let names: Vec<String> = listed.into_iter().filter_map(|n| n.metadata.name).collect();
    assert_eq!(names, ["default", "kube-node-lease", "kube-public", "kube-system"]);
    let maps: Api<ConfigMap> = Api::namespaced(client, "nowhere");
    assert_eq!(
        code(maps.create(&PostParams::default(), &config_map("a", json!({}))).await),
        (404, "NotFound".into())
    );
    assert_eq!(code(all.delete("default", &DeleteParams::default()).await), (403, "Forbidden".into()));
}

#[tokio::test]
async fn an_update_needs_the_newest_version_and_the_same_uid() {
    let (_, client) = server();
    let maps: Api<ConfigMap> = Api::namespaced(client, "default");
    let map = config_map("a", json!({"data": {"n": "1"}}));
    let first = maps.create(&PostParams::default(), &map).await.unwrap();
    let mut changed = first.clone();
    changed.data = Some([("n".to_owned(), "2".to_owned())].into());
    let second = maps.replace("a", &PostParams::default(), &changed).await.unwrap();
    assert_ne!(first.metadata.resource_version, second.metadata.resource_version);
    assert_eq!(code(maps.replace("a", &PostParams::default(), &changed).await), (409, "Conflict".into()));
    let mut other = second.clone();
    other.metadata.uid = Some("another".into());
    assert_eq!(code(maps.replace("a", &PostParams::default(), &other).await), (409, "Conflict".into()));
    // Without a version a built-in kind is overwritten.
    let same = maps.replace("a", &PostParams::default(), &map).await.unwrap();
    assert_eq!(same.data.unwrap()["n"], "1");
    assert_eq!(same.metadata.uid, first.metadata.uid);
}

#[tokio::test]
async fn a_change_that_changes_nothing_is_not_written() {
    let (server, client) = server();
    let maps: Api<ConfigMap> = Api::namespaced(client, "default");
    let made =
        maps.create(&PostParams::default(), &config_map("a", json!({"data": {"n": "1"}}))).await.unwrap();
    let before = server.writes();
    let same = Patch::Merge(json!({"data": {"n": "1"}}));
    let same = maps.patch("a", &PatchParams::default(), &same).await.unwrap();
    assert_eq!(same.metadata.resource_version, made.metadata.resource_version);
    let moved = server.writes().since(&before).get("patch", "configmaps");
    assert_eq!((moved.requests, moved.commits), (1, 0));
}

#[tokio::test]
async fn patches_of_each_kind() {
    let (_, client) = server();
    let pods: Api<Pod> = Api::namespaced(client.clone(), "default");
    pods.create(&PostParams::default(), &pod("p")).await.unwrap();
    let strategic = json!({"spec": {"containers": [{"name": "game", "image": "i:2"}]}});
    let new = pods.patch("p", &PatchParams::default(), &Patch::Strategic(strategic)).await.unwrap();
    let spec = new.spec.unwrap();
    assert_eq!(spec.containers.len(), 2);
    assert_eq!(spec.containers[0].image.as_deref(), Some("i:2"));
    let merge = json!({"metadata": {"labels": {"l": "1"}}});
    let new = pods.patch("p", &PatchParams::default(), &Patch::Merge(merge)).await.unwrap();
    assert_eq!(new.metadata.labels.unwrap()["l"], "1");
    let guard = |value: &str| -> Patch<()> {
        let operations = json!([{"op": "test", "path": "/metadata/labels/l", "value": value},
                                {"op": "replace", "path": "/metadata/labels/l", "value": "2"}]);
        Patch::Json(serde_json::from_value(operations).unwrap())
    };
    assert_eq!(code(pods.patch("p", &PatchParams::default(), &guard("0")).await), (422, "Invalid".into()));
    pods.patch("p", &PatchParams::default(), &guard("1")).await.unwrap();
    let stale = json!({"metadata": {"resourceVersion": "1", "labels": {"l": "3"}}});
    assert_eq!(
        code(pods.patch("p", &PatchParams::default(), &Patch::Merge(stale)).await),
        (409, "Conflict".into())
    );
    let strange = Patch::Merge(json!({"spec": {"containers": []}}));
    assert_eq!(code(pods.patch("p", &PatchParams::default(), &strange).await), (422, "Invalid".into()));
}

#[tokio::test]
async fn pods_start_pending_and_bad_ones_are_refused_with_causes() {
    let (_, client) = server();
    let pods: Api<Pod> = Api::namespaced(client, "default");
    let made = pods.create(&PostParams::default(), &pod("p")).await.unwrap();
    let (spec, status) = (made.spec.unwrap(), made.status.unwrap());
    assert_eq!(status.phase.as_deref(), Some("Pending"));
    assert_eq!(status.qos_class.as_deref(), Some("BestEffort"));
    assert_eq!(spec.restart_policy.as_deref(), Some("Always"));
    assert_eq!(spec.termination_grace_period_seconds, Some(30));
    assert_eq!(spec.scheduler_name.as_deref(), Some("default-scheduler"));
    let empty: Pod =
        serde_json::from_value(json!({"metadata": {"name": "q"}, "spec": {"containers": []}})).unwrap();
    let Err(kube::Error::Api(status)) = pods.create(&PostParams::default(), &empty).await else {
        panic!("a Status")
    };
    assert_eq!(status.message, "Pod \"q\" is invalid: spec.containers: Required value");
    assert_eq!(status.details.unwrap().causes[0].field, "spec.containers");
}

async fn bind(pods: &Api<Pod>, name: &str, node: &str) -> kube::Result<Value> {
    let binding = json!({"apiVersion": "v1", "kind": "Binding", "metadata": {"name": name}, "target": {"kind": "Node", "name": node}});
    pods.create_subresource("binding", name, &PostParams::default(), &binding).await
}

#[tokio::test]
async fn a_pod_on_a_node_waits_for_its_node() {
    let (_, client) = server();
    let pods: Api<Pod> = Api::namespaced(client.clone(), "default");
    pods.create(&PostParams::default(), &pod("free")).await.unwrap();
    pods.create(&PostParams::default(), &pod("bound")).await.unwrap();
    assert_eq!(bind(&pods, "bound", "n1").await.unwrap()["status"], "Success");
    assert_eq!(code(bind(&pods, "bound", "n1").await), (409, "Conflict".into()));
    let bound = pods.get("bound").await.unwrap();
    assert_eq!(bound.spec.unwrap().node_name.as_deref(), Some("n1"));
    let on_node = pods.list(&ListParams::default().fields("spec.nodeName=n1")).await.unwrap();
    assert_eq!(on_node.items.len(), 1);
    // Without a node it goes at once.
    assert!(pods.delete("free", &DeleteParams::default()).await.is_ok());
    assert_eq!(code(pods.get("free").await), (404, "NotFound".into()));
    // With one it gets time, and goes when the kubelet says so.
    let going = pods.delete("bound", &DeleteParams::default()).await.unwrap().left().unwrap();
    assert_eq!(going.metadata.deletion_grace_period_seconds, Some(30));
    assert!(pods.get("bound").await.unwrap().metadata.deletion_timestamp.is_some());
    pods.delete("bound", &DeleteParams::default().grace_period(0)).await.unwrap();
    assert_eq!(code(pods.get("bound").await), (404, "NotFound".into()));
}

#[tokio::test]
async fn deletions_have_conditions_and_finalizers_hold() {
    let (_, client) = server();
    let maps: Api<ConfigMap> = Api::namespaced(client, "default");
    let map = config_map("a", json!({"metadata": {"name": "a", "finalizers": ["example.com/x"]}}));
    let made = maps.create(&PostParams::default(), &map).await.unwrap();
    let other = Preconditions { uid: Some("x".into()), resource_version: None };
    let wrong = DeleteParams { preconditions: Some(other), ..DeleteParams::default() };
    assert_eq!(code(maps.delete("a", &wrong).await), (409, "Conflict".into()));
    let waiting = maps.delete("a", &DeleteParams::default()).await.unwrap().left().unwrap();
    assert!(waiting.metadata.deletion_timestamp.is_some());
    assert_eq!(waiting.metadata.uid, made.metadata.uid);
    let more = Patch::Merge(json!({"metadata": {"finalizers": ["example.com/x", "example.com/y"]}}));
    assert_eq!(code(maps.patch("a", &PatchParams::default(), &more).await), (422, "Invalid".into()));
    let none = Patch::Merge(json!({"metadata": {"finalizers": null}}));
    maps.patch("a", &PatchParams::default(), &none).await.unwrap();
    assert_eq!(code(maps.get("a").await), (404, "NotFound".into()));
}

#[tokio::test]
async fn propagation_policies_are_finalizers() {
    let (_, client) = server();
    let maps: Api<ConfigMap> = Api::namespaced(client, "default");
    for (name, policy, finalizer) in [
        ("o", PropagationPolicy::Orphan, "orphan"),
        ("f", PropagationPolicy::Foreground, "foregroundDeletion"),
    ] {
        maps.create(&PostParams::default(), &config_map(name, json!({}))).await.unwrap();
        let options = DeleteParams { propagation_policy: Some(policy), ..DeleteParams::default() };
        let waiting = maps.delete(name, &options).await.unwrap().left().unwrap();
        assert_eq!(waiting.metadata.finalizers.unwrap(), [finalizer]);
    }
    maps.create(&PostParams::default(), &config_map("b", json!({}))).await.unwrap();
    let status = maps.delete("b", &DeleteParams::background()).await.unwrap().right().unwrap();
    assert!(status.is_success());
}

#[tokio::test]
async fn collections_are_deleted_by_selector() {
    let (_, client) = server();
    let maps: Api<ConfigMap> = Api::namespaced(client, "default");
    for (name, label) in [("a", "x"), ("b", "x"), ("c", "y")] {
        let map = config_map(name, json!({"metadata": {"name": name, "labels": {"l": label}}}));
        maps.create(&PostParams::default(), &map).await.unwrap();
    }
    maps.delete_collection(&DeleteParams::default(), &ListParams::default().labels("l=x")).await.unwrap();
    assert_eq!(maps.list(&ListParams::default()).await.unwrap().items.len(), 1);
}

#[tokio::test]
async fn status_and_the_rest_are_apart() {
    let (_, client) = server();
    install_gameservers(&client).await;
    let servers: Api<DynamicObject> = namespaced(&client, "default");
    let object = gameserver("a", json!({"opsState": "None"}));
    let made = servers.create(&PostParams::default(), &object).await.unwrap();
    assert_eq!(made.metadata.generation, Some(1));
    let status = json!({"status": {"state": "Ready"}, "spec": {"opsState": "Kill"}, "metadata": {"labels": {"l": "1"}}});
    let new = servers.patch_status("a", &PatchParams::default(), &Patch::Merge(status)).await.unwrap();
    assert_eq!(new.data["status"]["state"], "Ready");
    assert_eq!(new.data["spec"]["opsState"], "None");
    assert_eq!((new.metadata.generation, new.metadata.labels), (Some(1), None));
    let spec = json!({"status": {"state": "Lost"}, "spec": {"opsState": "Maintaining"}});
    let new = servers.patch("a", &PatchParams::default(), &Patch::Merge(spec)).await.unwrap();
    assert_eq!(new.data["status"]["state"], "Ready");
    assert_eq!(new.metadata.generation, Some(2));
    // A custom kind is never overwritten blindly.
    assert_eq!(code(servers.replace("a", &PostParams::default(), &object).await), (422, "Invalid".into()));
}

#[tokio::test]
async fn a_node_brings_its_status_and_its_conditions_merge() {
    let (_, client) = server();
    let nodes: Api<Node> = Api::all(client);
    let node = json!({"metadata": {"name": "n"}, "status": {"capacity": {"cpu": "4"}}});
    let made = nodes.create(&PostParams::default(), &serde_json::from_value(node).unwrap()).await.unwrap();
    assert_eq!(made.status.unwrap().capacity.unwrap()["cpu"].0, "4");
    for conditions in [
        json!([{"type": "Ready", "status": "True"}]),
        json!([{"type": "Ready", "status": "False"}, {"type": "Other", "status": "True"}]),
    ] {
        let status = Patch::Strategic(json!({"status": {"conditions": conditions}}));
        nodes.patch_status("n", &PatchParams::default(), &status).await.unwrap();
    }
    let status = nodes.get("n").await.unwrap().status.unwrap();
    assert_eq!(status.conditions.unwrap().len(), 2);
    assert!(status.capacity.is_some());
}

#[tokio::test]
async fn a_dry_run_answers_and_writes_nothing() {
    let (server, client) = server();
    let maps: Api<ConfigMap> = Api::namespaced(client, "default");
    let map = config_map("a", json!({"data": {"n": "1"}}));
    let before = server.revision();
    let dry = PostParams { dry_run: true, ..PostParams::default() };
    assert!(maps.create(&dry, &map).await.unwrap().metadata.uid.is_some());
    assert_eq!((server.revision(), code(maps.get("a").await).0), (before, 404));
    maps.create(&PostParams::default(), &map).await.unwrap();
    let before = server.revision();
    let dry = PatchParams { dry_run: true, ..PatchParams::default() };
    let shown = maps.patch("a", &dry, &Patch::Merge(json!({"data": {"n": "2"}}))).await.unwrap();
    assert_eq!(shown.data.unwrap()["n"], "2");
    maps.delete("a", &DeleteParams { dry_run: true, ..DeleteParams::default() }).await.unwrap();
    assert_eq!(server.revision(), before);
}
