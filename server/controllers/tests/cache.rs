//! The watch cache against a scripted API: every change once, removals too, and recovery by itself. The clock is paused,
//! so a minute of trouble costs no time.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod support;

use controllers::cache::{
    Cache, CacheEvent, CacheOptions, Expect, Health, Indexer, Key, POD_NODE, Subscription, SyncState,
};
use crds::slim::SlimPod;
use futures::StreamExt;
use std::time::Duration;
use support::ScriptedApi;
use tokio_util::sync::CancellationToken;

fn start(api: &ScriptedApi) -> (Cache<SlimPod>, tokio_util::sync::DropGuard) {
    let stop = CancellationToken::new();
    let options = CacheOptions {
        indexers: vec![Indexer { name: POD_NODE, value: |pod: &SlimPod| pod.spec.node_name.clone() }],
        ..CacheOptions::default()
    };
    (Cache::start(&api.client(), options, &stop), stop.drop_guard())
}

async fn health_becomes(cache: &Cache<SlimPod>, state: SyncState) -> Health {
    let mut health = cache.health();
    health.wait_for(|health| health.state == state).await.unwrap().clone()
}

/// An event in one word: `+name`, `-name`, or `=names`.
async fn next(events: &mut Subscription<SlimPod>) -> String {
    let name = |pod: &SlimPod| pod.metadata.name.clone().unwrap();
    match events.next().await.unwrap() {
        CacheEvent::Applied(pod) => format!("+{}", name(&pod)),
        CacheEvent::Deleted(pod) => format!("-{}", name(&pod)),
        CacheEvent::Restarted(pods) => {
            let mut names: Vec<String> = pods.iter().map(|pod| name(&pod)).collect();
            names.sort();
            format!("={}", names.join(","))
        }
    }
}

fn names(pods: &[std::sync::Arc<SlimPod>]) -> Vec<String> {
    let mut names: Vec<String> = pods.iter().filter_map(|pod| pod.metadata.name.clone()).collect();
    names.sort();
    names
}

#[tokio::test(start_paused = true)]
async fn observers_see_every_change_and_the_index_follows() {
    let api = ScriptedApi::default();
    api.put("a-0", "n1");
    let (cache, _guard) = start(&api);
    let mut events = cache.subscribe();
    assert_eq!(next(&mut events).await, "=a-0");
    api.put("a-1", "n1");
    api.put("a-1", "n2");
    api.delete("a-0");
    assert_eq!(next(&mut events).await, "+a-1");
    assert_eq!(next(&mut events).await, "+a-1");
    assert_eq!(next(&mut events).await, "-a-0");
    assert_eq!(names(&cache.all()), ["a-1"]);
    assert_eq!(names(&cache.indexed(POD_NODE, "n2")), ["a-1"]);
    assert!(cache.indexed(POD_NODE, "n1").is_empty());
    let mut late = cache.subscribe();
    assert_eq!(next(&mut late).await, "=a-1");
}

#[tokio::test(start_paused = true)]
async fn an_api_that_is_away_for_a_minute_is_told_and_nothing_is_lost() {
    let api = ScriptedApi::default();
    api.put("a-0", "n1");
    let (cache, _guard) = start(&api);
    cache.wait_synced().await;
    let mut events = cache.subscribe();
    assert_eq!(next(&mut events).await, "=a-0");
    api.set_away(true);
    let stale = health_becomes(&cache, SyncState::Stale).await;
    assert!(stale.error.unwrap().contains("connection refused"));
    assert_eq!(names(&cache.all()), ["a-0"], "what is known is served on");
    tokio::time::sleep(Duration::from_secs(60)).await;
    api.put("a-1", "n1");
    api.set_away(false);
    let well = health_becomes(&cache, SyncState::InSync).await;
    assert_eq!(well.error, None);
    assert_eq!(next(&mut events).await, "+a-1");
    assert_eq!(api.lists(), 1, "the watch went on where it was");
}

#[tokio::test(start_paused = true)]
async fn a_quiet_cluster_is_in_sync_again_without_any_event() {
    let api = ScriptedApi::default();
    let (cache, _guard) = start(&api);
    cache.wait_synced().await;
    api.set_away(true);
    health_becomes(&cache, SyncState::Stale).await;
    api.set_away(false);
    health_becomes(&cache, SyncState::InSync).await;
}

#[tokio::test(start_paused = true)]
async fn after_an_expired_version_the_removals_in_between_are_told() {
    let api = ScriptedApi::default();
    api.put("a-0", "n1");
    api.put("a-1", "n1");
    let (cache, _guard) = start(&api);
    cache.wait_synced().await;
    let mut events = cache.subscribe();
    assert_eq!(next(&mut events).await, "=a-0,a-1");
    api.set_away(true);
    health_becomes(&cache, SyncState::Stale).await;
    api.delete("a-0");
    api.put("a-2", "n1");
    api.expire();
    api.set_away(false);
    assert_eq!(next(&mut events).await, "-a-0");
    assert_eq!(next(&mut events).await, "=a-1,a-2");
    assert_eq!(names(&cache.indexed(POD_NODE, "n1")), ["a-1", "a-2"]);
    health_becomes(&cache, SyncState::InSync).await;
}

#[tokio::test(start_paused = true)]
async fn a_kind_that_is_installed_later_is_found() {
    let api = ScriptedApi::default();
    api.set_missing(true);
    let (cache, _guard) = start(&api);
    health_becomes(&cache, SyncState::KindMissing).await;
    assert!(!cache.has_synced());
    tokio::time::sleep(Duration::from_secs(600)).await;
    api.put("a-0", "n1");
    api.set_missing(false);
    let before = tokio::time::Instant::now();
    cache.wait_synced().await;
    assert!(before.elapsed() <= Duration::from_secs(2), "nobody waits for a long back-off");
    assert_eq!(names(&cache.all()), ["a-0"]);
}

#[tokio::test(start_paused = true)]
async fn a_slow_observer_starts_afresh() {
    let api = ScriptedApi::default();
    api.put("a-0", "n1");
    let (cache, _guard) = start(&api);
    cache.wait_synced().await;
    let mut events = cache.subscribe();
    let mut last = 0;
    for _ in 0..5000 {
        last = api.put("a-1", "n1");
    }
    assert!(
        cache.wait_seen(&Key::new("default", "a-1"), Expect::Version(last), Duration::from_secs(5)).await
    );
    assert_eq!(next(&mut events).await, "=a-0", "how it was when it subscribed");
    assert_eq!(next(&mut events).await, "=a-0,a-1", "and how it is, in the place of 5000 events");
    api.delete("a-1");
    assert_eq!(next(&mut events).await, "-a-1");
}

#[tokio::test(start_paused = true)]
async fn own_writes_are_waited_for() {
    let api = ScriptedApi::default();
    let (cache, _guard) = start(&api);
    cache.wait_synced().await;
    let key = Key::new("default", "a-0");
    let second = Duration::from_secs(1);
    assert!(!cache.wait_seen(&key, Expect::Version(7), second).await, "it never comes");
    let version = api.put("a-0", "n1");
    assert!(cache.wait_seen(&key, Expect::Version(version), second).await);
    assert_eq!(cache.get(&key).unwrap().metadata.uid.as_deref(), Some("uid-a-0"));
    let removal = Expect::Removal { uid: "uid-a-0".into() };
    assert!(!cache.wait_seen(&key, removal.clone(), second).await);
    let waiting = cache.clone();
    let wait =
        tokio::spawn(async move { waiting.wait_seen(&Key::new("default", "a-0"), removal, second).await });
    tokio::task::yield_now().await;
    api.delete("a-0");
    assert!(wait.await.unwrap());
    assert!(cache.wait_seen(&key, Expect::Version(version), second).await, "gone again counts as seen");
}
