//! GameServerSets on the embedded API with simulated nodes: what users do, end to end.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod world;

use k8s_openapi::api::{apps::v1::ControllerRevision, core::v1::PersistentVolumeClaim, events::v1::Event};
use kube::{
    Api, ResourceExt,
    api::{DeleteParams, ListParams, Patch, PatchParams, PostParams},
};
use serde_json::json;
use std::time::Duration;
use world::World;

#[tokio::test(start_paused = true)]
async fn a_new_set_gets_its_servers_with_everything_in_them() {
    let world = World::new().await;
    let _controllers = world.start();
    world.create_set(json!({ "reserveGameServerIds": [1] })).await;
    world.settled(&[0, 2, 3]).await;
    let pod = world.pods().get("g-2").await.unwrap();
    let revision = pod.labels()["controller-revision-hash"].clone();
    for (key, value) in [
        ("app", "x"),
        ("game.kruise.io/owner-gss", "g"),
        ("game.kruise.io/gs-opsState", "None"),
        ("game.kruise.io/gs-state", "Ready"),
        ("statefulset.kubernetes.io/pod-name", "g-2"),
        ("apps.kubernetes.io/pod-index", "2"),
    ] {
        assert_eq!(pod.labels()[key], value, "{key}");
    }
    let revisions: Api<ControllerRevision> = Api::namespaced(world.client.clone(), "default");
    assert_eq!(revisions.get(&revision).await.unwrap().owner_references()[0].name, "g");
    let set = world.set().await;
    assert_eq!(set.annotations()["game.kruise.io/reserve-ids"], "1");
    let status = set.status.unwrap();
    assert_eq!((status.updated_replicas, status.update_revision.as_ref()), (3, Some(&revision)));
    assert_eq!(status.label_selector.as_deref(), Some("game.kruise.io/owner-gss=g"));
    let server = world.servers().get("g-2").await.unwrap();
    let status = server.status.unwrap();
    assert_eq!(status.current_state.as_deref(), Some("Ready"));
    assert_eq!(status.pod_status.unwrap()["phase"], "Running");
    assert!(status.conditions.iter().all(|condition| condition.status == "True"), "{:?}", status.conditions);
}

#[tokio::test(start_paused = true)]
async fn a_steady_set_writes_nothing() {
    let world = World::new().await;
    let process = world.start();
    world.create_set(json!({ "replicas": 20 })).await;
    world.settled(&(0..20).collect::<Vec<_>>()).await;
    tokio::time::sleep(Duration::from_secs(30)).await;
    let before = world.api.writes();
    tokio::time::sleep(Duration::from_secs(600)).await;
    assert_eq!(world.writes_since(&before), Vec::<String>::new());
    // A new process finds everything in order and leaves it alone.
    process.kill();
    let _again = world.start();
    tokio::time::sleep(Duration::from_secs(60)).await;
    assert_eq!(world.writes_since(&before), Vec::<String>::new());
}

#[tokio::test(start_paused = true)]
async fn scaling_removes_by_ops_state_priority_and_id_and_tells_it() {
    let world = World::new().await;
    let _controllers = world.start();
    world.create_set(json!({ "replicas": 5 })).await;
    world.settled(&[0, 1, 2, 3, 4]).await;
    world.patch_server(1, json!({ "opsState": "WaitToBeDeleted" })).await;
    world.patch_server(4, json!({ "opsState": "Allocated" })).await;
    world.patch_server(0, json!({ "deletionPriority": 7 })).await;
    world
        .until("labels", async || {
            let pods = world.pods();
            pods.get("g-0").await.unwrap().labels()["game.kruise.io/gs-delete-priority"] == "7"
                && pods.get("g-1").await.unwrap().labels()["game.kruise.io/gs-opsState"] == "WaitToBeDeleted"
                && pods.get("g-4").await.unwrap().labels()["game.kruise.io/gs-opsState"] == "Allocated"
        })
        .await;
    let kept = world.uids().await[&4].clone();
    world.scale(2).await;
    world.settled(&[2, 4]).await;
    world.scale(3).await;
    world.settled(&[0, 2, 4]).await;
    assert_eq!(world.uids().await[&4], kept);
    let status = world.set().await.status.unwrap();
    assert_eq!(json!(status.implicit_reserve_ids), json!([1, 3]));
    let events: Api<Event> = Api::namespaced(world.client.clone(), "default");
    let told: Vec<String> =
        events.list(&ListParams::default()).await.unwrap().into_iter().filter_map(|e| e.note).collect();
    for message in [
        "scale from 0 to 5",
        "scale from 5 to 2",
        "scale from 2 to 3",
        "OpsState turn from None to Allocated ",
    ] {
        assert!(told.iter().any(|note| note == message), "{message} is not in {told:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn upstreams_story_of_reserved_ids() {
    let world = World::new().await;
    let _controllers = world.start();
    world
        .create_set(json!({ "replicas": 5, "scaleStrategy": { "scaleDownStrategyType": "ReserveIds" } }))
        .await;
    world.settled(&[0, 1, 2, 3, 4]).await;
    world.scale(3).await;
    world.settled(&[0, 1, 2]).await;
    let set = world.set().await;
    assert_eq!(json!(set.spec.reserve_game_server_ids), json!([3, 4]));
    assert_eq!(set.annotations()["game.kruise.io/reserve-ids"], "3,4");
    world.patch_set(json!({ "spec": { "replicas": 4, "reserveGameServerIds": [3] } })).await;
    world.settled(&[0, 1, 2, 4]).await;
}

#[tokio::test(start_paused = true)]
async fn kill_removes_exactly_that_server_and_lowers_the_size() {
    let world = World::new().await;
    let _controllers = world.start();
    world.create_set(json!({})).await;
    world.settled(&[0, 1, 2]).await;
    world.patch_server(1, json!({ "opsState": "Kill" })).await;
    world.settled(&[0, 2]).await;
    assert_eq!(world.set().await.spec.replicas, 2);
    world.scale(3).await;
    world.settled(&[0, 1, 2]).await;
    assert_eq!(world.servers().get("g-1").await.unwrap().spec.ops_state.unwrap().as_str(), "None");
}

#[tokio::test(start_paused = true)]
async fn settings_end_with_the_pod_or_outlive_it_by_the_reclaim_policy() {
    for (policy, survives) in [("Cascade", false), ("Delete", true)] {
        let world = World::new().await;
        let _controllers = world.start();
        world.create_set(json!({ "gameServerTemplate": { "reclaimPolicy": policy } })).await;
        world.settled(&[0, 1, 2]).await;
        world.patch_server(1, json!({ "opsState": "Maintaining", "deletionPriority": 100 })).await;
        world
            .until("the label", async || {
                world.pods().get("g-1").await.unwrap().labels()["game.kruise.io/gs-delete-priority"] == "100"
            })
            .await;
        let uid = world.uids().await[&1].clone();
        world.delete_pod(1).await;
        world.until("a new pod", async || world.uids().await.get(&1).is_some_and(|now| *now != uid)).await;
        world.settled(&[0, 1, 2]).await;
        let server = world.servers().get("g-1").await.unwrap();
        let ops = server.spec.ops_state.unwrap().to_string();
        let label = world.pods().get("g-1").await.unwrap().labels()["game.kruise.io/gs-opsState"].clone();
        let expected = if survives { "Maintaining" } else { "None" };
        assert_eq!((ops.as_str(), label.as_str()), (expected, expected), "{policy}");
        // A scale down takes the GameServer with it in both cases.
        world.scale(1).await;
        world.settled(&[1].map(|one| if survives { one } else { 0 })).await;
    }
}

#[tokio::test(start_paused = true)]
async fn an_image_of_one_server_is_pushed_live_and_a_template_reaches_new_servers_only() {
    let world = World::new().await;
    let _controllers = world.start();
    world.create_set(json!({ "replicas": 2 })).await;
    world.settled(&[0, 1]).await;
    let uids = world.uids().await;
    world.patch_server(1, json!({ "containers": [{ "name": "main", "image": "game:hotfix" }] })).await;
    let image = async |id: u32| {
        let pod = world.pods().get(&format!("g-{id}")).await.unwrap();
        pod.spec.unwrap().containers[0].image.clone().unwrap()
    };
    world.until("the image", async || image(1).await == "game:hotfix").await;
    world.until("ready again", async || world.is_settled(&[0, 1]).await).await;
    let containers = json!([{ "name": "main", "image": "game:2" }]);
    world.patch_set(json!({ "spec": { "replicas": 3, "gameServerTemplate": { "spec": { "containers": containers } } } })).await;
    world.settled(&[0, 1, 2]).await;
    assert_eq!(
        (image(0).await.as_str(), image(1).await.as_str(), image(2).await.as_str()),
        ("game:1", "game:hotfix", "game:2")
    );
    let after = world.uids().await;
    assert_eq!((&after[&0], &after[&1]), (&uids[&0], &uids[&1]), "nothing was created again");
    let pending = world.condition("UpdatePending").await.unwrap();
    assert!(pending.2.starts_with("2 of 3 servers run an older template"), "{}", pending.2);
    assert_eq!(world.set().await.status.unwrap().updated_replicas, 1);
}

#[tokio::test(start_paused = true)]
async fn old_revisions_are_forgotten_and_those_in_use_are_not() {
    let world = World::new().await;
    let _controllers = world.start();
    world.create_set(json!({ "replicas": 1 })).await;
    world.settled(&[0]).await;
    let first = world.set().await.status.unwrap().update_revision.unwrap();
    for version in 2..20 {
        let containers = json!([{ "name": "main", "image": format!("game:{version}") }]);
        let template = json!({ "spec": { "containers": containers } });
        world.patch_set(json!({ "spec": { "replicas": 2, "gameServerTemplate": template } })).await;
        world.settled(&[0, 1]).await;
        world.scale(1).await;
        world.settled(&[0]).await;
    }
    let revisions: Api<ControllerRevision> = Api::namespaced(world.client.clone(), "default");
    let names: Vec<String> =
        revisions.list(&ListParams::default()).await.unwrap().iter().map(ResourceExt::name_any).collect();
    assert_eq!(names.len(), 12, "ten that nobody is on, the newest, and that of the first server");
    assert!(names.contains(&first));
}

#[tokio::test(start_paused = true)]
async fn claims_are_made_before_their_pods_and_stay() {
    let world = World::new().await;
    let _controllers = world.start();
    let claim = json!({ "metadata": { "name": "data" }, "spec": { "accessModes": ["ReadWriteOnce"], "resources": { "requests": { "storage": "1Gi" } } } });
    let mount = json!([{ "name": "main", "image": "game:1", "volumeMounts": [{ "name": "data", "mountPath": "/data" }] }]);
    world
        .create_set(json!({ "replicas": 2, "gameServerTemplate": { "volumeClaimTemplates": [claim], "spec": { "containers": mount } } }))
        .await;
    let claims: Api<PersistentVolumeClaim> = Api::namespaced(world.client.clone(), "default");
    world.until("pods", async || world.ids().await == [0, 1]).await;
    let names: Vec<String> =
        claims.list(&ListParams::default()).await.unwrap().iter().map(ResourceExt::name_any).collect();
    assert_eq!(names, ["data-g-0", "data-g-1"]);
    world.scale(1).await;
    world.until("one pod", async || world.ids().await == [0]).await;
    assert_eq!(claims.list(&ListParams::default()).await.unwrap().items.len(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_template_that_the_api_refuses_is_told_and_not_hammered() {
    let world = World::new().await;
    let _controllers = world.start();
    let bad = json!([{ "name": "Not A Name", "image": "game:1" }]);
    world
        .create_set(json!({ "replicas": 50, "gameServerTemplate": { "spec": { "containers": bad } } }))
        .await;
    world
        .until("the condition", async || {
            world.condition("Scaled").await.is_some_and(|(_, reason, _)| reason == "PodTemplateRefused")
        })
        .await;
    let told = world.condition("Scaled").await.unwrap().2;
    assert!(told.contains("Not A Name") || told.contains("containers[0].name"), "{told}");
    let before = world.api.writes();
    tokio::time::sleep(Duration::from_secs(300)).await;
    let tried = world.api.writes().since(&before).get("create", "pods").requests;
    assert!((3..=10).contains(&tried), "{tried} attempts in five minutes");
    let good = json!([{ "name": "main", "image": "game:1" }]);
    world
        .patch_set(
            json!({ "spec": { "replicas": 2, "gameServerTemplate": { "spec": { "containers": good } } } }),
        )
        .await;
    let begun = tokio::time::Instant::now();
    world.settled(&[0, 1]).await;
    assert!(begun.elapsed() < Duration::from_secs(30), "a new template is tried at once");
}

#[tokio::test(start_paused = true)]
async fn a_set_with_a_bad_range_keeps_what_it_has() {
    let world = World::new().await;
    let _controllers = world.start();
    world.create_set(json!({})).await;
    world.settled(&[0, 1, 2]).await;
    let uids = world.uids().await;
    // Only a rule of the CRD refuses this; a set made before the rule existed may carry it.
    let crds: Api<
        k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition,
    > = Api::all(world.client.clone());
    let open = json!([
        { "op": "remove", "path": "/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties/reserveGameServerIds/items/pattern" },
        { "op": "remove", "path": "/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties/reserveGameServerIds/items/x-kubernetes-validations" },
    ]);
    let open: Patch<()> = Patch::Json(serde_json::from_value(open).unwrap());
    crds.patch("gameserversets.game.kruise.io", &PatchParams::default(), &open).await.unwrap();
    world.patch_set(json!({ "spec": { "replicas": 1, "reserveGameServerIds": ["5-3"] } })).await;
    world
        .until("the condition", async || world.condition("Valid").await.is_some_and(|c| c.0 == "False"))
        .await;
    let told = world.condition("Valid").await.unwrap();
    assert_eq!(told.2, "spec.reserveGameServerIds[0]: `5-3`: the range starts above its end");
    tokio::time::sleep(Duration::from_secs(60)).await;
    assert_eq!(world.uids().await, uids);
    world.delete_pod(2).await;
    world.until("a new pod", async || world.uids().await.get(&2).is_some_and(|uid| *uid != uids[&2])).await;
    world.patch_set(json!({ "spec": { "reserveGameServerIds": ["3-5"] } })).await;
    world.settled(&[0]).await;
}

#[tokio::test(start_paused = true)]
async fn what_is_not_built_in_is_said() {
    let world = World::new().await;
    let _controllers = world.start();
    world
        .create_set(json!({
            "replicas": 1,
            "network": { "networkType": "Kubernetes-HostPort", "networkConf": [{ "name": "ContainerPorts", "value": "main:80" }] },
            "lifecycle": { "preNormal": { "labelsHandler": { "a": "b" } } },
        }))
        .await;
    world.settled(&[0]).await;
    let network = world.condition("NetworkReady").await.unwrap();
    assert_eq!((network.0.as_str(), network.1.as_str()), ("False", "PluginNotBuiltIn"));
    assert!(network.2.contains("Kubernetes-HostPort"));
    assert!(world.condition("FieldsIgnored").await.unwrap().2.contains("spec.lifecycle.preNormal"));
    let pod = world.pods().get("g-0").await.unwrap();
    assert_eq!(pod.annotations()["game.kruise.io/network-type"], "Kubernetes-HostPort");
    assert_eq!(
        pod.annotations()["game.kruise.io/network-conf"],
        r#"[{"name":"ContainerPorts","value":"main:80"}]"#
    );
}

#[tokio::test(start_paused = true)]
async fn a_server_that_ends_is_created_again_after_a_rest() {
    let world = World::new().await;
    let _controllers = world.start();
    world.create_set(json!({ "replicas": 1 })).await;
    world.settled(&[0]).await;
    let uid = world.uids().await[&0].clone();
    let fail =
        Patch::Merge(json!({ "metadata": { "annotations": { "sim.pilothouse.dev/phase": "Failed" } } }));
    world.pods().patch("g-0", &PatchParams::default(), &fail).await.unwrap();
    world.until("a new pod", async || world.uids().await.get(&0).is_some_and(|now| *now != uid)).await;
    world.settled(&[0]).await;
}

#[tokio::test(start_paused = true)]
async fn a_pre_delete_hook_keeps_a_server_until_somebody_lets_go() {
    let world = World::new().await;
    let _controllers = world.start();
    world
        .create_set(json!({
            "replicas": 2,
            "lifecycle": { "preDelete": { "labelsHandler": { "hold": "true" } } },
            "gameServerTemplate": { "metadata": { "labels": { "hold": "true" } } },
        }))
        .await;
    world.settled(&[0, 1]).await;
    world.scale(1).await;
    world
        .until("the state", async || {
            let server = world.servers().get("g-1").await.unwrap();
            server.status.is_some_and(|status| status.current_state.as_deref() == Some("PreDelete"))
        })
        .await;
    tokio::time::sleep(Duration::from_secs(60)).await;
    assert_eq!(world.ids().await, [0, 1]);
    assert_eq!(world.condition("Scaled").await.unwrap().1, "PreDeleteHook");
    assert_eq!(world.set().await.status.unwrap().pre_delete_replicas, Some(1));
    let release = Patch::Merge(json!({ "metadata": { "labels": { "hold": null } } }));
    world.pods().patch("g-1", &PatchParams::default(), &release).await.unwrap();
    world.settled(&[0]).await;
}

#[tokio::test(start_paused = true)]
async fn a_set_that_is_deleted_takes_everything_with_it() {
    let world = World::new().await;
    let _controllers = world.start();
    world.create_set(json!({ "gameServerTemplate": { "reclaimPolicy": "Delete" } })).await;
    world.settled(&[0, 1, 2]).await;
    world.sets().delete("g", &DeleteParams::default()).await.unwrap();
    world
        .until("nothing left", async || {
            world.ids().await.is_empty()
                && world.servers().list(&ListParams::default()).await.unwrap().items.is_empty()
        })
        .await;
    // The same name again is another set.
    world.create_set(json!({ "replicas": 1 })).await;
    world.settled(&[0]).await;
}

#[tokio::test(start_paused = true)]
async fn pods_that_upstream_left_behind_are_taken_over_without_a_restart() {
    let world = World::new().await;
    for id in [0, 2] {
        let pod = json!({
            "metadata": { "name": format!("g-{id}"), "labels": { "game.kruise.io/owner-gss": "g", "game.kruise.io/gs-opsState": "Allocated" } },
            "spec": { "containers": [{ "name": "main", "image": "game:1" }] },
        });
        world.pods().create(&PostParams::default(), &serde_json::from_value(pod).unwrap()).await.unwrap();
    }
    let uids = world.uids().await;
    let _controllers = world.start();
    world.create_set(json!({ "replicas": 2, "gameServerTemplate": { "reclaimPolicy": "Delete" } })).await;
    world.settled(&[0, 2]).await;
    assert_eq!(world.uids().await, uids);
    assert_eq!(world.pods().get("g-2").await.unwrap().owner_references()[0].name, "g");
}

#[tokio::test(start_paused = true)]
async fn two_sets_of_one_name_in_two_namespaces_do_not_meet() {
    let world = World::new().await;
    let namespaces: Api<k8s_openapi::api::core::v1::Namespace> = Api::all(world.client.clone());
    let other = serde_json::from_value(json!({ "metadata": { "name": "other" } })).unwrap();
    namespaces.create(&PostParams::default(), &other).await.unwrap();
    let _controllers = world.start();
    world.create_set(json!({ "replicas": 1 })).await;
    let mut twin = world.set().await;
    twin.metadata = serde_json::from_value(json!({ "name": "g", "namespace": "other" })).unwrap();
    twin.spec.replicas = 3;
    twin.status = None;
    let sets: Api<crds::kruise::GameServerSet> = Api::namespaced(world.client.clone(), "other");
    sets.create(&PostParams::default(), &twin).await.unwrap();
    let pods: Api<k8s_openapi::api::core::v1::Pod> = Api::namespaced(world.client.clone(), "other");
    world
        .until("three pods there", async || pods.list(&ListParams::default()).await.unwrap().items.len() == 3)
        .await;
    world.settled(&[0]).await;
}

#[tokio::test(start_paused = true)]
async fn trouble_with_the_api_passes_and_nothing_is_lost() {
    let world = World::new().await;
    let _controllers = world.start();
    world.create_set(json!({})).await;
    world.settled(&[0, 1, 2]).await;
    let uids = world.uids().await;
    world.api.faults().away_for(Duration::from_secs(60));
    tokio::time::sleep(Duration::from_secs(61)).await;
    assert_eq!(world.uids().await, uids);
    world.api.faults().conflicts(0.3);
    world.scale(8).await;
    world.settled(&[0, 1, 2, 3, 4, 5, 6, 7]).await;
    world.api.faults().clear();
    world.api.compact();
    world.api.faults().expire_watches();
    world.scale(4).await;
    world.settled(&[0, 1, 2, 3]).await;
    world.api.faults().delay_watches(Duration::from_secs(3));
    world.scale(6).await;
    world.settled(&[0, 1, 2, 3, 4, 5]).await;
    let after = world.uids().await;
    assert!(uids.iter().all(|(id, uid)| after[id] == *uid), "no server was touched without need");
}
