//! The real kubectl against the sandbox over TLS. Without a kubectl the tests say so and pass.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]
mod common;

use common::kubectl::{EVENT, GAMESERVER, NODE, POD, World, world_with_kind};
use std::time::Duration;
use tokio::io::{AsyncBufReadExt, BufReader};

#[tokio::test(flavor = "multi_thread")]
async fn apply_and_change_a_custom_object() {
    let Some(world) = world_with_kind().await else { return };
    assert_eq!(world.run("apply -f -", GAMESERVER).await.trim(), "gameserver.game.example.com/a created");
    assert_eq!(world.run("apply -f -", GAMESERVER).await.trim(), "gameserver.game.example.com/a unchanged");
    let changed = GAMESERVER.replace("replicas: 2", "replicas: 3");
    assert_eq!(world.run("apply -f -", &changed).await.trim(), "gameserver.game.example.com/a configured");
    let listed = world.run("get gs", "").await;
    assert!(listed.starts_with("NAME   STATE   AGE"), "{listed}");
    assert!(world.run("get games -o name", "").await.contains("gameserver.game.example.com/a"));
    assert_eq!(world.run("get gs a -o jsonpath={.spec.replicas}", "").await, "3");
    world.run("scale gs/a --replicas=7", "").await;
    assert_eq!(world.run("get gs a -o jsonpath={.spec.replicas}", "").await, "7");
    world.run("patch gs a --type=merge -p {\"spec\":{\"opsState\":\"Kill\"}}", "").await;
    world.run("patch gs a --type=json -p [{\"op\":\"test\",\"path\":\"/spec/opsState\",\"value\":\"Kill\"},{\"op\":\"remove\",\"path\":\"/spec/opsState\"}]", "").await;
    world.run("patch gs a --subresource=status --type=merge -p {\"status\":{\"state\":\"Ready\"}}", "").await;
    assert!(world.run("get gs a --no-headers", "").await.contains("Ready"));
    world.run("label gs a extra=1", "").await;
    world.run("annotate gs a note=x", "").await;
    assert_eq!(world.run("get gs -l extra=1 -o name", "").await.trim(), "gameserver.game.example.com/a");
    assert!(world.run("get gs a -o yaml", "").await.contains("note: x"));
    assert!(world.run("describe gs a", "").await.contains("Replicas:"));
    let refused = world.fail("apply -f -", &GAMESERVER.replace("replicas: 2", "replicas: -2")).await;
    assert!(refused.contains("spec.replicas: Invalid value"), "{refused}");
    let unknown = world.fail("apply -f -", &GAMESERVER.replace("replicas: 2", "replicasss: 2")).await;
    assert!(unknown.contains("unknown field \"spec.replicasss\""), "{unknown}");
    world.run("delete gs a --wait=true", "").await;
    assert!(world.fail("get gs a", "").await.contains("NotFound"));
}

#[tokio::test(flavor = "multi_thread")]
async fn server_side_apply_reports_conflicts() {
    let Some(world) = world_with_kind().await else { return };
    world.run("apply --server-side --field-manager=one -f -", GAMESERVER).await;
    let other = GAMESERVER.replace("replicas: 2", "replicas: 5");
    let conflict = world.fail("apply --server-side --field-manager=two -f -", &other).await;
    assert!(conflict.contains("conflict with \"one\": .spec.replicas"), "{conflict}");
    world.run("apply --server-side --field-manager=two --force-conflicts -f -", &other).await;
    assert_eq!(world.run("get gs a -o jsonpath={.spec.replicas}", "").await, "5");
    let shown = world.run("get gs a -o yaml --show-managed-fields", "").await;
    assert!(shown.contains("manager: one") && shown.contains("manager: two"), "{shown}");
    assert!(
        world
            .fail("diff --server-side --field-manager=two --force-conflicts -f -", GAMESERVER)
            .await
            .is_empty()
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn pods_nodes_and_events_have_their_columns() {
    let Some(world) = World::new().await else { return };
    world.run("apply -f -", POD).await;
    let wide = world.run("get pods -o wide", "").await;
    assert!(wide.contains("NOMINATED NODE") && wide.contains("0/2") && wide.contains("Pending"), "{wide}");
    assert_eq!(world.run("set image pod/p game=i:2", "").await.trim(), "pod/p image updated");
    assert_eq!(world.run("apply -f -", &POD.replace("i:1", "i:3")).await.trim(), "pod/p configured");
    assert_eq!(world.run("get pod p -o jsonpath={.spec.containers[*].image}", "").await, "i:3 s:1");
    let refused = world.fail("apply -f -", &POD.replace("name: A, value: '1'", "name: A, value: '2'")).await;
    assert!(refused.contains("pod updates may not change fields other than"), "{refused}");
    world.run("create -f -", NODE).await;
    assert!(world.run("get nodes", "").await.contains("Ready"));
    // These write protobuf.
    world.run("create configmap c --from-literal=a=b", "").await;
    assert_eq!(world.run("get cm c -o jsonpath={.data}", "").await, "{\"a\":\"b\"}");
    world.run("create secret generic s --from-literal=a=b", "").await;
    assert_eq!(world.run("get secret s -o jsonpath={.data.a}", "").await, "Yg==");
    world.run("create namespace games", "").await;
    world.run("create deployment d --image=i:1 --replicas=3 --port=80", "").await;
    let shown =
        "get deploy d -o jsonpath={.spec.replicas}{.spec.template.spec.containers[0].ports[0].containerPort}";
    assert_eq!(world.run(shown, "").await, "380");
    assert!(world.run("auth can-i delete pods", "").await.contains("yes"));
    let all = world.run("get ns,cm,nodes", "").await;
    assert!(
        all.contains("namespace/games") && all.contains("configmap/c") && all.contains("node/n1"),
        "{all}"
    );
    world.run("create -f -", EVENT).await;
    assert!(world.run("events --for pod/p", "").await.contains("hello"));
    assert!(world.run("get events", "").await.contains("pod/p"));
    assert!(world.run("describe pod p", "").await.contains("Containers:"));
    assert!(world.run("api-resources --api-group=apps", "").await.contains("statefulsets"));
    assert!(world.run("version", "").await.contains(sandbox::api::VERSION));
    world.run("delete pod p --now", "").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_watch_prints_what_happens() {
    let Some(world) = world_with_kind().await else { return };
    world.run("apply -f -", GAMESERVER).await;
    let mut watch = world.command("get gs -w -o name").spawn().unwrap();
    let mut lines = BufReader::new(watch.stdout.take().unwrap()).lines();
    let first =
        tokio::time::timeout(Duration::from_secs(30), lines.next_line()).await.expect("a line").unwrap();
    assert_eq!(first.as_deref(), Some("gameserver.game.example.com/a"));
    world.run("label gs a x=y", "").await;
    let second =
        tokio::time::timeout(Duration::from_secs(30), lines.next_line()).await.expect("a line").unwrap();
    assert_eq!(second, first);
    watch.kill().await.unwrap();
}
