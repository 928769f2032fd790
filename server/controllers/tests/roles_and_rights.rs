//! Who may work, where, and when: leaders and followers, single namespaces, kinds that are installed later.
#![allow(clippy::unwrap_used, reason = "helpers of tests, where a panic is the message")]

mod world;

use controllers::{
    cache::{Namespaces, SyncState},
    run::Options,
};
use k8s_openapi::api::core::v1::{Namespace, Pod};
use kube::{
    Api,
    api::{DeleteParams, ListParams, PostParams},
};
use serde_json::json;
use std::time::Duration;
use tokio::sync::watch;
use world::World;

#[tokio::test(start_paused = true)]
async fn only_the_leader_works_and_the_next_one_goes_on_where_it_ended() {
    let world = World::new().await;
    let (first, second) = (watch::Sender::new(false), watch::Sender::new(false));
    let all = Namespaces::All;
    let _one = world.start_led(&world.client, Options::default(), first.subscribe(), &all);
    let _two = world.start_led(&world.client, Options::default(), second.subscribe(), &all);
    world.create_set(json!({ "replicas": 4 })).await;
    let before = world.api.writes();
    tokio::time::sleep(Duration::from_secs(60)).await;
    assert_eq!(world.writes_since(&before), Vec::<String>::new(), "nobody leads, nobody writes");
    first.send_replace(true);
    world.until("some pods", async || !world.ids().await.is_empty()).await;
    first.send_replace(false);
    second.send_replace(true);
    world.settled(&[0, 1, 2, 3]).await;
    let uids = world.uids().await;
    second.send_replace(false);
    first.send_replace(true);
    world.scale(2).await;
    world.settled(&[0, 1]).await;
    assert!(world.uids().await.iter().all(|(id, uid)| uids[id] == *uid));
}

#[tokio::test(start_paused = true)]
async fn with_rights_in_some_namespaces_only_those_are_run() {
    let world = World::new().await;
    let namespaces: Api<Namespace> = Api::all(world.client.clone());
    for name in ["one", "two", "other"] {
        let object = serde_json::from_value(json!({ "metadata": { "name": name } })).unwrap();
        namespaces.create(&PostParams::default(), &object).await.unwrap();
    }
    let watched = Namespaces::Only(vec!["one".into(), "two".into()]);
    let process = world.start_led(&world.client, Options::default(), controllers::leader::alone(), &watched);
    let sets =
        |namespace: &str| Api::<crds::kruise::GameServerSet>::namespaced(world.client.clone(), namespace);
    let pods = async |namespace: &str| {
        let api: Api<Pod> = Api::namespaced(world.client.clone(), namespace);
        api.list(&ListParams::default()).await.unwrap().items.len()
    };
    let set = json!({ "metadata": { "name": "g" }, "spec": {
        "replicas": 2, "gameServerTemplate": { "spec": { "containers": [{ "name": "main", "image": "game:1" }] } },
    }});
    for namespace in ["one", "two", "other"] {
        sets(namespace)
            .create(&PostParams::default(), &serde_json::from_value(set.clone()).unwrap())
            .await
            .unwrap();
    }
    world.until("pods in both", async || (pods("one").await, pods("two").await) == (2, 2)).await;
    tokio::time::sleep(Duration::from_secs(30)).await;
    assert_eq!(pods("other").await, 0);
    assert_eq!(process.caches.pods.len(), 4);
    assert_eq!(process.caches.nodes.health().borrow().state, SyncState::NotWatched);
    // A relist of one namespace leaves the other's objects alone.
    world.api.compact();
    world.api.faults().expire_watches();
    sets("one").delete("g", &DeleteParams::default()).await.unwrap();
    world.until("one is empty", async || process.caches.pods.len() == 2).await;
    assert_eq!(pods("two").await, 2);
}

#[tokio::test(start_paused = true)]
async fn kinds_that_are_installed_later_are_waited_for() {
    let world = World::without_crds();
    let process = world.start();
    let mut health = process.caches.sets.health();
    health.wait_for(|health| health.state == SyncState::KindMissing).await.unwrap();
    tokio::time::sleep(Duration::from_secs(300)).await;
    crds::install::install(&world.client).await.unwrap();
    world.create_set(json!({ "replicas": 1 })).await;
    world.settled(&[0]).await;
    assert!(process.caches.health().iter().all(|health| health.state == SyncState::InSync));
}
