//! The real kubectl against the sandbox over TLS, the commands of every day: outputs, diff, explain, waits, patches, cascades, logs.
//! Without a kubectl the tests say so and pass.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]
mod common;

use common::kubectl::{GAMESERVER, POD, World, world_with_kind};
use serde_json::{Value, json};

#[tokio::test(flavor = "multi_thread")]
async fn every_output() {
    let Some(world) = world_with_kind().await else { return };
    world.run("apply -f -", GAMESERVER).await;
    let json: Value = serde_json::from_str(&world.run("get gs a -o json", "").await).unwrap();
    assert_eq!((&json["kind"], &json["spec"]["replicas"]), (&json!("GameServer"), &json!(2)));
    let list: Value = serde_json::from_str(&world.run("get gs -o json", "").await).unwrap();
    assert_eq!((&list["kind"], list["items"].as_array().unwrap().len()), (&json!("List"), 1));
    let columns = world.run("get gs -o custom-columns=N:.metadata.name,R:.spec.replicas", "").await;
    assert_eq!(columns.split_whitespace().collect::<Vec<_>>(), ["N", "R", "a", "2"]);
    let template = world.run("get gs a -o go-template={{.metadata.name}}/{{.spec.replicas}}", "").await;
    assert_eq!(template, "a/2");
    assert!(world.run("get gs -o wide --show-labels", "").await.contains("l=1"));
    assert!(world.run("get gs --sort-by=.metadata.name -L l", "").await.contains('1'));
    assert_eq!(world.run("get gs a --ignore-not-found", "").await.lines().count(), 2);
    assert_eq!(world.run("get gs none --ignore-not-found", "").await, "");
    assert!(world.fail("get gs none", "").await.contains("\"none\" not found"));
    assert!(world.fail("get nonsense", "").await.contains("doesn't have a resource type \"nonsense\""));
}

#[tokio::test(flavor = "multi_thread")]
async fn diff_and_dry_run_change_nothing() {
    let Some(world) = world_with_kind().await else { return };
    world.run("apply -f -", GAMESERVER).await;
    let more = GAMESERVER.replace("replicas: 2", "replicas: 5");
    // diff ends with 1 where there is a difference.
    for how in ["diff -f -", "diff --server-side --force-conflicts -f -"] {
        let output = world.output(how, &more).await;
        let text = String::from_utf8(output.stdout).unwrap();
        assert_eq!(output.status.code(), Some(1), "{how}: {}", String::from_utf8_lossy(&output.stderr));
        assert!(text.contains("-  replicas: 2") && text.contains("+  replicas: 5"), "{how}: {text}");
    }
    let dry = world.run("apply --dry-run=server -o jsonpath={.spec.replicas} -f -", &more).await;
    assert_eq!(
        (dry.as_str(), world.run("get gs a -o jsonpath={.spec.replicas}", "").await.as_str()),
        ("5", "2")
    );
    let wrong = GAMESERVER.replace("replicas: 2", "replicas: -2");
    assert!(
        world.fail("apply --dry-run=server -f -", &wrong).await.contains("spec.replicas: Invalid value: -2")
    );
    assert!(
        world
            .fail("apply -f -", &GAMESERVER.replace("replicas:", "replicass:"))
            .await
            .contains("unknown field")
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn explain_knows_fields() {
    let Some(world) = world_with_kind().await else { return };
    let pod = world.run("explain pod.spec.containers", "").await;
    assert!(
        pod.contains("imagePullPolicy") && pod.contains("KIND:") && pod.contains("FIELD: containers"),
        "{pod}"
    );
    let custom = world.run("explain gameservers.spec", "").await;
    assert!(custom.contains("opsState") && custom.contains("<integer>"), "{custom}");
    assert!(world.run("explain gameservers --recursive", "").await.contains("containers"));
    assert!(world.fail("explain gameservers.spec.nonsense", "").await.contains("does not exist"));
}

#[tokio::test(flavor = "multi_thread")]
async fn every_type_of_patch() {
    let Some(world) = world_with_kind().await else { return };
    world.run("apply -f -", POD).await;
    let strategic = r#"patch pod p -p {"metadata":{"labels":{"a":"1"}},"spec":{"containers":[{"name":"side","image":"s:2"}]}}"#;
    world.run(strategic, "").await;
    assert_eq!(world.run("get pod p -o jsonpath={.spec.containers[*].image}", "").await, "i:1 s:2");
    let json_patch =
        r#"patch pod p --type=json -p [{"op":"replace","path":"/spec/containers/0/image","value":"i:9"}]"#;
    world.run(json_patch, "").await;
    world.run(r#"patch pod p --type=merge -p {"metadata":{"labels":{"a":null,"b":"2"}}}"#, "").await;
    assert_eq!(
        world.run("get pod p -o jsonpath={.spec.containers[0].image}/{.metadata.labels}", "").await,
        r#"i:9/{"b":"2"}"#
    );
    world.run("apply -f -", GAMESERVER).await;
    let refused = world.fail(r#"patch gs a --type=strategic -p {"spec":{"replicas":3}}"#, "").await;
    assert!(refused.contains("strategic-merge-patch+json is not supported"), "{refused}");
    let immutable = world.fail(r#"patch pod p -p {"spec":{"nodeName":"x"}}"#, "").await;
    assert!(immutable.contains("pod updates may not change fields other than"), "{immutable}");
    world.run("label pod p b- c=3", "").await;
    assert!(world.fail("label pod p c=4", "").await.contains("already has a value (3)"));
    world.run("annotate pod p --overwrite note=1 other-", "").await;
    world.run("replace -f -", &world.run("get gs a -o json", "").await).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn deletions_cascade_as_they_are_told() {
    let Some(world) = World::new().await else { return };
    let owner = world.run("create configmap owner -o jsonpath={.metadata.uid}", "").await;
    for name in ["gone", "kept"] {
        let owners = json!([{ "apiVersion": "v1", "kind": "ConfigMap", "name": "owner", "uid": owner }]);
        let object = json!({ "apiVersion": "v1", "kind": "ConfigMap", "metadata": { "name": name, "ownerReferences": owners } });
        world.run("create -f -", &object.to_string()).await;
    }
    world.run("delete cm owner --cascade=orphan --wait=false", "").await;
    let finalizers = world.run("get cm owner -o jsonpath={.metadata.finalizers}", "").await;
    assert_eq!(finalizers, r#"["orphan"]"#, "nobody here collects, so the order itself is seen");
    world.run(r#"patch cm owner --type=merge -p {"metadata":{"finalizers":null}}"#, "").await;
    world.run("wait --for=delete cm/owner --timeout=20s", "").await;
    world.run("delete cm gone kept --now", "").await;
    assert!(world.fail("delete cm gone", "").await.contains("not found"));
    world.run("create configmap x", "").await;
    let wait = "wait --for=jsonpath={.metadata.name}=x cm/x --timeout=20s";
    assert!(world.run(wait, "").await.contains("condition met"));
    assert_eq!(world.run("delete cm -l a=b", "").await.trim(), "No resources found");
    world.run("delete cm --all", "").await;
}
