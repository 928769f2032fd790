//! Lists and watches: snapshots in pages, events in order, 410, bookmarks, reflectors through trouble.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]
mod common;

use std::time::Duration;

use common::{code, config_map, gameserver, install_gameservers, namespaced, server};
use futures::{Stream, StreamExt, TryStreamExt};
use k8s_openapi::api::core::v1::ConfigMap;
use kube::api::{Api, DeleteParams, ListParams, Patch, PatchParams, PostParams, WatchEvent, WatchParams};
use kube::runtime::{WatchStreamExt, watcher};
use sandbox::api::{Clock, Options, Server};
use serde_json::json;

async fn put(maps: &Api<ConfigMap>, name: &str, label: &str) {
    let map = config_map(name, json!({"metadata": {"name": name, "labels": {"l": label}}}));
    maps.create(&PostParams::default(), &map).await.unwrap();
}

fn names(list: impl IntoIterator<Item = ConfigMap>) -> Vec<String> {
    list.into_iter().filter_map(|m| m.metadata.name).collect()
}

fn describe(event: WatchEvent<ConfigMap>) -> String {
    let name = |m: ConfigMap| m.metadata.name.unwrap_or_default();
    match event {
        WatchEvent::Added(m) => format!("+{}", name(m)),
        WatchEvent::Modified(m) => format!("~{}", name(m)),
        WatchEvent::Deleted(m) => format!("-{}", name(m)),
        WatchEvent::Bookmark(b) if b.metadata.annotations.contains_key("k8s.io/initial-events-end") => {
            "end".into()
        }
        WatchEvent::Bookmark(_) => "bookmark".into(),
        WatchEvent::Error(e) => format!("{} {}", e.code, e.reason),
    }
}

async fn take(
    stream: &mut (impl Stream<Item = kube::Result<WatchEvent<ConfigMap>>> + Unpin),
    n: usize,
) -> Vec<String> {
    let mut events = Vec::new();
    while events.len() < n {
        let next =
            tokio::time::timeout(Duration::from_secs(20), stream.next()).await.expect("an event in time");
        events.push(describe(next.expect("the watch goes on").unwrap()));
    }
    events
}

#[tokio::test]
async fn a_list_in_pages_shows_one_moment_and_expires() {
    let (server, client) = server();
    let maps: Api<ConfigMap> = Api::namespaced(client, "default");
    for name in ["a", "b", "c", "d"] {
        put(&maps, name, "1").await;
    }
    let first = maps.list(&ListParams::default().limit(2)).await.unwrap();
    assert_eq!(first.metadata.remaining_item_count, Some(2));
    let token = first.metadata.continue_.clone().unwrap();
    assert_eq!(names(first), ["a", "b"]);
    maps.delete("c", &DeleteParams::default()).await.unwrap();
    put(&maps, "bb", "1").await;
    let second = maps.list(&ListParams::default().limit(2).continue_token(&token)).await.unwrap();
    assert_eq!(names(second), ["c", "d"]);
    server.compact();
    let late = maps.list(&ListParams::default().limit(2).continue_token(&token)).await;
    assert_eq!(code(late), (410, "Expired".into()));
    assert_eq!(code(maps.list(&ListParams::default().continue_token("zz")).await).0, 400);
}

#[tokio::test]
async fn selectors_choose() {
    let (_, client) = server();
    install_gameservers(&client).await;
    let maps: Api<ConfigMap> = Api::namespaced(client.clone(), "default");
    for (name, label) in [("a", "1"), ("b", "2"), ("c", "3")] {
        put(&maps, name, label).await;
    }
    for (labels, fields, expected) in [
        ("l in (1,3)", "", &["a", "c"][..]),
        ("l!=1", "", &["b", "c"]),
        ("", "metadata.name=b", &["b"]),
        ("l", "metadata.name!=b", &["a", "c"]),
        ("!l", "", &[]),
    ] {
        let found = maps.list(&ListParams::default().labels(labels).fields(fields)).await.unwrap();
        assert_eq!(names(found), expected, "{labels} {fields}");
    }
    assert_eq!(code(maps.list(&ListParams::default().labels("a in b")).await).0, 400);
    assert_eq!(code(maps.list(&ListParams::default().fields("data.x=1")).await).0, 400);
    let servers = namespaced(&client, "default");
    for (name, state) in [("x", "None"), ("y", "Kill")] {
        servers.create(&PostParams::default(), &gameserver(name, json!({"opsState": state}))).await.unwrap();
    }
    let found = servers.list(&ListParams::default().fields("spec.opsState=Kill")).await.unwrap();
    assert_eq!(found.items.len(), 1);
}

#[tokio::test]
async fn a_watch_tells_every_change_in_order() {
    let (_, client) = server();
    let maps: Api<ConfigMap> = Api::namespaced(client.clone(), "default");
    put(&maps, "a", "1").await;
    let version = maps.list(&ListParams::default()).await.unwrap().metadata.resource_version.unwrap();
    let mut all = Box::pin(maps.watch(&WatchParams::default(), &version).await.unwrap());
    let mut some = Box::pin(maps.watch(&WatchParams::default().labels("l=1"), &version).await.unwrap());
    put(&maps, "b", "2").await;
    let relabel = |label: &str| Patch::Merge(json!({"metadata": {"labels": {"l": label}}}));
    maps.patch("b", &PatchParams::default(), &relabel("1")).await.unwrap();
    maps.patch("a", &PatchParams::default(), &relabel("2")).await.unwrap();
    maps.delete("b", &DeleteParams::default()).await.unwrap();
    // Another kind and another namespace are not told.
    put(&Api::namespaced(client, "kube-public"), "z", "1").await;
    put(&maps, "c", "1").await;
    assert_eq!(take(&mut all, 5).await, ["+b", "~b", "~a", "-b", "+c"]);
    assert_eq!(take(&mut some, 4).await, ["+b", "-a", "-b", "+c"]);
}

#[tokio::test]
async fn a_watch_without_a_version_begins_with_what_is_there() {
    let (_, client) = server();
    let maps: Api<ConfigMap> = Api::namespaced(client, "default");
    for name in ["a", "b"] {
        put(&maps, name, "1").await;
    }
    let mut plain = Box::pin(maps.watch(&WatchParams::default(), "0").await.unwrap());
    assert_eq!(take(&mut plain, 2).await, ["+a", "+b"]);
    let mut marked = Box::pin(maps.watch(&WatchParams::default().initial_events(), "").await.unwrap());
    assert_eq!(take(&mut marked, 3).await, ["+a", "+b", "end"]);
    put(&maps, "c", "1").await;
    assert_eq!(take(&mut marked, 1).await, ["+c"]);
}

#[tokio::test]
async fn versions_that_are_gone_or_to_come_are_refused() {
    let (server, client) = server();
    let maps: Api<ConfigMap> = Api::namespaced(client, "default");
    put(&maps, "a", "1").await;
    put(&maps, "b", "1").await;
    server.compact();
    let mut old = Box::pin(maps.watch(&WatchParams::default(), "5").await.unwrap());
    assert_eq!(take(&mut old, 1).await, ["410 Expired"]);
    assert!(old.next().await.is_none());
    let future = (server.revision() + 100).to_string();
    let refused = maps.watch(&WatchParams::default(), &future).await.map(drop);
    assert!(refused.unwrap_err().to_string().contains("Too large resource version"));
}

#[tokio::test(start_paused = true)]
async fn a_quiet_watch_gets_bookmarks_and_ends_in_time() {
    let server = Server::with_options(Options { clock: Clock::runtime(), ..Options::default() });
    let maps: Api<ConfigMap> = Api::namespaced(server.client(), "default");
    let params = WatchParams::default().timeout(150);
    let mut watch = Box::pin(maps.watch(&params, &server.revision().to_string()).await.unwrap());
    let begin = tokio::time::Instant::now();
    let mut events = Vec::new();
    while let Some(event) = watch.try_next().await.unwrap() {
        events.push(describe(event));
    }
    assert_eq!(events, ["bookmark", "bookmark"]);
    assert_eq!(begin.elapsed().as_secs(), 150);
}

#[tokio::test]
async fn deleting_a_kind_ends_its_watches() {
    let (_, client) = server();
    install_gameservers(&client).await;
    let servers = namespaced(&client, "default");
    servers.create(&PostParams::default(), &gameserver("a", json!({}))).await.unwrap();
    let mut watch = Box::pin(servers.watch(&WatchParams::default(), "0").await.unwrap());
    assert!(matches!(watch.next().await, Some(Ok(WatchEvent::Added(_)))));
    let crds: Api<
        k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition,
    > = Api::all(client);
    crds.delete("gameservers.game.example.com", &DeleteParams::default()).await.unwrap();
    assert!(matches!(watch.next().await, Some(Ok(WatchEvent::Deleted(_)))));
    assert!(watch.next().await.is_none());
    assert_eq!(code(servers.list(&ListParams::default()).await).0, 404);
}

#[tokio::test(start_paused = true)]
async fn a_reflector_survives_every_trouble() {
    let server = Server::with_options(Options { clock: Clock::runtime(), ..Options::default() });
    let maps: Api<ConfigMap> = Api::namespaced(server.client(), "default");
    let (store, writer) = kube::runtime::reflector::store();
    let follow = watcher(maps.clone(), watcher::Config::default()).default_backoff().reflect(writer);
    let follower = tokio::spawn(follow.for_each(|_| std::future::ready(())));
    store.wait_until_ready().await.unwrap();
    let trouble: [fn(&Server); 6] = [
        |_| {},
        |s| s.faults().drop_watches(),
        |s| s.faults().expire_watches(),
        |s| s.faults().away_for(Duration::from_secs(60)),
        |s| s.faults().unavailable_for(Duration::from_secs(20)),
        |s| s.faults().throttle_for(Duration::from_secs(20), Duration::from_secs(5)),
    ];
    for (i, make) in trouble.iter().enumerate() {
        make(&server);
        let name = format!("m{i}");
        while maps.create(&PostParams::default(), &config_map(&name, json!({}))).await.is_err() {
            tokio::time::sleep(Duration::from_secs(1)).await;
        }
        while !store.state().iter().any(|m| m.metadata.name.as_deref() == Some(&name)) {
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    }
    assert_eq!(store.state().len(), trouble.len());
    follower.abort();
}

#[tokio::test]
async fn forced_conflicts_hit_updates_and_patches_only() {
    let (server, client) = server();
    let maps: Api<ConfigMap> = Api::namespaced(client, "default");
    server.faults().conflicts(1.0);
    put(&maps, "a", "1").await;
    let patch = Patch::Merge(json!({"data": {"x": "y"}}));
    assert_eq!(code(maps.patch("a", &PatchParams::default(), &patch).await), (409, "Conflict".into()));
    server.faults().clear();
    assert!(maps.patch("a", &PatchParams::default(), &patch).await.is_ok());
}
