//! Custom kinds: registration, schema, scale, versions; and server-side apply on them.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]
mod common;

use common::{code, crd, gameserver, gameservers, install_gameservers, namespaced, server};
use k8s_openapi::api::core::v1::{ConfigMap, Pod};
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::api::{Api, DynamicObject, Patch, PatchParams, PostParams};
use serde_json::{Value, json};

fn apply(manager: &str, force: bool) -> PatchParams {
    PatchParams { field_manager: Some(manager.into()), force, ..PatchParams::default() }
}

/// The configuration of a game server, for an apply.
fn config(spec: Value) -> Patch<Value> {
    Patch::Apply(
        json!({"apiVersion": "game.example.com/v1", "kind": "GameServer", "metadata": {"name": "a"}, "spec": spec}),
    )
}

#[tokio::test]
async fn a_kind_is_served_as_soon_as_it_is_defined() {
    let (_, client) = server();
    let crds: Api<CustomResourceDefinition> = Api::all(client.clone());
    let made = crds.create(&PostParams::default(), &crd()).await.unwrap();
    let conditions = made.status.unwrap().conditions.unwrap();
    assert!(conditions.iter().all(|c| c.status == "True"));
    assert_eq!(
        conditions.iter().map(|c| c.type_.as_str()).collect::<Vec<_>>(),
        ["NamesAccepted", "Established"]
    );
    let discovery = kube::discovery::pinned_kind(
        &client,
        &kube::core::GroupVersionKind::gvk("game.example.com", "v1", "GameServer"),
    )
    .await;
    let (resource, capabilities) = discovery.unwrap();
    assert_eq!(resource.plural, "gameservers");
    assert!(capabilities.subresources.iter().any(|(r, _)| r.plural == "scale"));
    let mut bad = crd();
    bad.metadata.name = Some("x.game.example.com".into());
    assert_eq!(code(crds.create(&PostParams::default(), &bad).await), (422, "Invalid".into()));
}

#[tokio::test]
async fn a_second_definition_with_the_same_names_is_not_established() {
    let (_, client) = server();
    install_gameservers(&client).await;
    let crds: Api<CustomResourceDefinition> = Api::all(client);
    let mut other = crd();
    other.metadata.name = Some("servers.game.example.com".into());
    other.spec.names.plural = "servers".into();
    let made = crds.create(&PostParams::default(), &other).await.unwrap();
    assert!(made.status.unwrap().conditions.unwrap().iter().all(|c| c.status == "False"));
}

#[tokio::test]
async fn schemas_default_prune_and_refuse() {
    let (_, client) = server();
    install_gameservers(&client).await;
    let servers = namespaced(&client, "default");
    let spec =
        json!({"opsState": "None", "unknown": 1, "template": {"any": {"thing": 1}}, "priority": "50%"});
    let made = servers.create(&PostParams::default(), &gameserver("a", spec)).await.unwrap();
    assert_eq!(
        made.data["spec"],
        json!({"opsState": "None", "replicas": 1, "template": {"any": {"thing": 1}}, "priority": "50%"})
    );
    for (spec, field) in [
        (json!({"opsState": "a b"}), "spec.opsState"),
        (json!({"replicas": -1}), "spec.replicas"),
        (json!({"replicas": "1"}), "spec.replicas"),
        (json!({"containers": [{"name": "a"}, {"name": "a"}]}), "spec.containers[1]"),
        (json!({"containers": [{"image": "a"}]}), "spec.containers[0].name"),
    ] {
        let Err(kube::Error::Api(status)) =
            servers.create(&PostParams::default(), &gameserver("b", spec)).await
        else {
            panic!("{field}")
        };
        assert_eq!((status.code, status.details.unwrap().causes[0].field.as_str()), (422, field));
    }
}

#[tokio::test]
async fn scale_reads_and_writes_the_number() {
    let (_, client) = server();
    install_gameservers(&client).await;
    let servers = namespaced(&client, "default");
    servers.create(&PostParams::default(), &gameserver("a", json!({"replicas": 3}))).await.unwrap();
    assert_eq!(servers.get_scale("a").await.unwrap().spec.unwrap().replicas, Some(3));
    let scaled = servers
        .patch_scale("a", &PatchParams::default(), &Patch::Merge(json!({"spec": {"replicas": 5}})))
        .await
        .unwrap();
    assert_eq!(scaled.spec.unwrap().replicas, Some(5));
    let object = servers.get("a").await.unwrap();
    assert_eq!((object.data["spec"]["replicas"].clone(), object.metadata.generation), (json!(5), Some(2)));
    let negative = servers
        .patch_scale("a", &PatchParams::default(), &Patch::Merge(json!({"spec": {"replicas": -1}})))
        .await;
    assert_eq!(code(negative), (422, "Invalid".into()));
    let too_many = json!({"metadata": {"resourceVersion": "1"}, "spec": {"replicas": 7}});
    assert_eq!(code(servers.patch_scale("a", &PatchParams::default(), &Patch::Merge(too_many)).await).0, 409);
}

#[tokio::test]
async fn two_versions_are_one_storage() {
    let (_, client) = server();
    let crds: Api<CustomResourceDefinition> = Api::all(client.clone());
    let mut two = crd();
    let mut old = two.spec.versions[0].clone();
    old.name = "v1beta1".into();
    old.storage = false;
    two.spec.versions.push(old);
    crds.create(&PostParams::default(), &two).await.unwrap();
    let mut beta = gameservers();
    beta.version = "v1beta1".into();
    beta.api_version = "game.example.com/v1beta1".into();
    let beta: Api<DynamicObject> = Api::namespaced_with(client.clone(), "default", &beta);
    namespaced(&client, "default").create(&PostParams::default(), &gameserver("a", json!({}))).await.unwrap();
    let seen = beta.list(&Default::default()).await.unwrap();
    assert_eq!(
        seen.items[0].types.as_ref().map(|t| t.api_version.as_str()),
        Some("game.example.com/v1beta1")
    );
    assert_eq!(beta.get("a").await.unwrap().types.unwrap().api_version, "game.example.com/v1beta1");
}

#[tokio::test]
async fn an_apply_owns_its_fields_and_conflicts_over_those_of_others() {
    let (_, client) = server();
    install_gameservers(&client).await;
    let servers = namespaced(&client, "default");
    let made = servers
        .patch("a", &apply("one", false), &config(json!({"opsState": "None", "replicas": 2})))
        .await
        .unwrap();
    let managed = made.metadata.managed_fields.unwrap();
    assert_eq!((managed.len(), managed[0].operation.as_deref()), (1, Some("Apply")));
    assert_eq!(
        managed[0].fields_v1.as_ref().unwrap().0,
        json!({"f:spec": {"f:opsState": {}, "f:replicas": {}}})
    );
    // The same value is shared, another one is a conflict.
    servers.patch("a", &apply("two", false), &config(json!({"replicas": 2}))).await.unwrap();
    let Err(kube::Error::Api(status)) =
        servers.patch("a", &apply("two", false), &config(json!({"replicas": 3}))).await
    else {
        panic!("a conflict")
    };
    assert_eq!((status.code, status.reason.as_str()), (409, "Conflict"));
    assert_eq!(status.message, "Apply failed with 1 conflict: conflict with \"one\": .spec.replicas");
    let cause = &status.details.unwrap().causes[0];
    assert_eq!((cause.reason.as_str(), cause.field.as_str()), ("FieldManagerConflict", ".spec.replicas"));
    let forced = servers.patch("a", &apply("two", true), &config(json!({"replicas": 3}))).await.unwrap();
    assert_eq!(forced.data["spec"]["replicas"], 3);
    // What one leaves out goes, unless two owns it too.
    let left = servers.patch("a", &apply("one", false), &config(json!({}))).await.unwrap();
    assert_eq!(left.data["spec"], json!({"replicas": 3}));
    // An update takes ownership, and an apply conflicts with it.
    servers
        .patch(
            "a",
            &PatchParams { field_manager: Some("edit".into()), ..Default::default() },
            &Patch::Merge(json!({"spec": {"replicas": 4}})),
        )
        .await
        .unwrap();
    let Err(kube::Error::Api(status)) =
        servers.patch("a", &apply("two", false), &config(json!({"replicas": 3}))).await
    else {
        panic!("a conflict")
    };
    assert!(
        status.message.contains("conflict with \"edit\" using game.example.com/v1: .spec.replicas"),
        "{}",
        status.message
    );
}

#[tokio::test]
async fn items_of_a_map_list_have_owners_of_their_own() {
    let (_, client) = server();
    install_gameservers(&client).await;
    let servers = namespaced(&client, "default");
    let one = config(json!({"containers": [{"name": "a", "image": "1"}]}));
    servers.patch("a", &apply("one", false), &one).await.unwrap();
    servers
        .patch("a", &apply("two", false), &config(json!({"containers": [{"name": "b", "image": "2"}]})))
        .await
        .unwrap();
    let both = servers.get("a").await.unwrap();
    assert_eq!(both.data["spec"]["containers"].as_array().unwrap().len(), 2);
    let gone = servers.patch("a", &apply("two", false), &config(json!({"opsState": "x"}))).await.unwrap();
    assert_eq!(gone.data["spec"]["containers"], json!([{"name": "a", "image": "1"}]));
    assert_eq!(gone.data["spec"]["opsState"], "x");
}

#[tokio::test]
async fn an_apply_that_changes_nothing_is_not_written() {
    let (server, client) = server();
    install_gameservers(&client).await;
    let servers = namespaced(&client, "default");
    for _ in 0..3 {
        servers.patch("a", &apply("one", true), &config(json!({"opsState": "x"}))).await.unwrap();
    }
    let count = server.writes().get("apply", "gameservers.game.example.com");
    assert_eq!((count.requests, count.commits), (3, 1));
}

#[tokio::test]
async fn apply_on_built_in_kinds_follows_their_schemas() {
    let (_, client) = server();
    let pods: Api<Pod> = Api::namespaced(client.clone(), "default");
    let container = |image: &str| json!({"name": "game", "image": image, "ports": [{"containerPort": 80}], "env": [{"name": "A", "value": "1"}]});
    let config = |image: &str| {
        Patch::Apply(
            json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": {"containers": [container(image)]}}),
        )
    };
    pods.patch("p", &apply("one", false), &config("i:1")).await.unwrap();
    let new = pods.patch("p", &apply("one", false), &config("i:2")).await.unwrap();
    assert_eq!(new.spec.unwrap().containers[0].image.as_deref(), Some("i:2"));
    let managed = new.metadata.managed_fields.unwrap();
    let fields = &managed[0].fields_v1.as_ref().unwrap().0;
    let game = &fields["f:spec"]["f:containers"]["k:{\"name\":\"game\"}"];
    assert_eq!(
        game["f:ports"]["k:{\"containerPort\":80,\"protocol\":\"TCP\"}"],
        json!({".": {}, "f:containerPort": {}})
    );
    let maps: Api<ConfigMap> = Api::namespaced(client, "default");
    let made = maps
        .create(
            &PostParams { field_manager: Some("creator".into()), ..Default::default() },
            &common::config_map("m", json!({"data": {"a": "1"}})),
        )
        .await
        .unwrap();
    let managed = made.metadata.managed_fields.unwrap();
    assert_eq!(managed[0].manager.as_deref(), Some("creator"));
    assert_eq!(managed[0].fields_v1.as_ref().unwrap().0, json!({"f:data": {".": {}, "f:a": {}}}));
}

#[tokio::test]
async fn an_apply_needs_a_manager_and_the_right_kind() {
    let (_, client) = server();
    install_gameservers(&client).await;
    let servers = namespaced(&client, "default");
    let wrong = Patch::Apply(json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"}}));
    assert_eq!(code(servers.patch("a", &apply("one", false), &wrong).await).0, 400);
    let strategic = Patch::Strategic(json!({"spec": {}}));
    servers.create(&PostParams::default(), &gameserver("a", json!({}))).await.unwrap();
    assert_eq!(code(servers.patch("a", &PatchParams::default(), &strategic).await).0, 415);
}
