//! The process dies at every single write of a story, once just before the write and once just after it, with the answer
//! lost. A new process then has to reach the same end, and nobody who is protected may be touched on the way.

mod world;

use controllers::run::Options;
use http::{Method, Request, Response};
use kube::{Client, client::Body};
use serde_json::{Value, json};
use std::{
    collections::BTreeMap,
    sync::{
        Arc,
        atomic::{AtomicI64, AtomicUsize, Ordering},
    },
    time::Duration,
};
use tokio::sync::Notify;
use world::World;

#[derive(Clone, Copy, Debug, PartialEq)]
enum Moment {
    /// The write never reaches the API.
    Before,
    /// The write is done and nobody hears of it.
    After,
}

/// A client whose process dies at the n-th write, counted from 0. Events do not count: they decide nothing.
struct Mortal {
    left: AtomicI64,
    writes: AtomicUsize,
    died: Notify,
    moment: Moment,
}

impl Mortal {
    fn new(dies_at: i64, moment: Moment) -> Arc<Self> {
        Arc::new(Self {
            left: AtomicI64::new(dies_at),
            writes: AtomicUsize::new(0),
            died: Notify::new(),
            moment,
        })
    }

    fn client(self: &Arc<Self>, real: &Client) -> Client {
        let (mortal, real) = (self.clone(), real.clone());
        let service = tower::service_fn(move |request: Request<Body>| {
            let (mortal, real) = (mortal.clone(), real.clone());
            async move { mortal.pass(&real, request).await }
        });
        Client::new(service, "default")
    }

    async fn pass(&self, real: &Client, request: Request<Body>) -> kube::Result<Response<Body>> {
        let path = request.uri().path();
        if request.method() == Method::GET || path.contains("/events") {
            return real.send(request).await;
        }
        let left = self.left.fetch_sub(1, Ordering::SeqCst);
        if left > 0 {
            self.writes.fetch_add(1, Ordering::SeqCst);
            return real.send(request).await;
        }
        if left == 0 && self.moment == Moment::After {
            real.send(request).await?;
        }
        self.died.notify_one();
        std::future::pending().await
    }
}

/// What happens to a set, and how it has to end.
struct Story {
    spec: Value,
    /// Ids at the start.
    start: &'static [u32],
    /// opsStates that are set before the change.
    ops: &'static [(u32, &'static str)],
    /// The change of the set; null for none.
    change: Value,
    /// A server that gets opsState Kill instead.
    kill: Option<u32>,
    /// Ids at the end.
    end: &'static [u32],
    /// `spec.reserveGameServerIds`, `status.implicitReserveIds` and replicas at the end.
    reserve: Value,
    implicit: Value,
    replicas: i32,
}

async fn prepare(story: &Story) -> (World, BTreeMap<u32, String>) {
    let world = World::new().await;
    if story.start.is_empty() {
        return (world, BTreeMap::new());
    }
    let process = world.start();
    world.create_set(story.spec.clone()).await;
    world.settled(story.start).await;
    for (id, ops) in story.ops {
        world.patch_server(*id, json!({ "opsState": ops })).await;
    }
    world
        .until("labels", async || {
            let pods = world.pods();
            for (id, ops) in story.ops {
                let pod = pods.get(&format!("g-{id}")).await.unwrap();
                if pod.metadata.labels.unwrap()["game.kruise.io/gs-opsState"] != *ops {
                    return false;
                }
            }
            true
        })
        .await;
    tokio::time::sleep(Duration::from_secs(5)).await;
    process.kill();
    let uids = world.uids().await;
    (world, uids)
}

async fn change(world: &World, story: &Story) {
    if story.start.is_empty() {
        world.create_set(story.spec.clone()).await;
    }
    if !story.change.is_null() {
        world.patch_set(story.change.clone()).await;
    }
    if let Some(id) = story.kill {
        world.patch_server(id, json!({ "opsState": "Kill" })).await;
    }
}

/// Runs the story with a death at the n-th write; false when the story was over before.
async fn dies_at(story: &Story, n: i64, moment: Moment) -> bool {
    let (world, before) = prepare(story).await;
    let mortal = Mortal::new(n, moment);
    let process = world.start_with(&mortal.client(&world.client), Options::default());
    change(&world, story).await;
    let died = tokio::select! {
        () = mortal.died.notified() => true,
        () = world.settled(story.end) => false,
    };
    process.kill();
    let successor = world.start();
    world.settled(story.end).await;
    // Nothing more comes after it.
    tokio::time::sleep(Duration::from_secs(30)).await;
    let writes = world.api.writes();
    tokio::time::sleep(Duration::from_secs(120)).await;
    assert_eq!(world.writes_since(&writes), Vec::<String>::new(), "write {n} {moment:?}");
    assert!(world.is_settled(story.end).await);
    let set = world.set().await;
    let status = set.status.unwrap();
    assert_eq!(json!(set.spec.reserve_game_server_ids), story.reserve, "write {n} {moment:?}");
    assert_eq!(json!(status.implicit_reserve_ids), story.implicit, "write {n} {moment:?}");
    assert_eq!((set.spec.replicas, status.acted_replicas), (story.replicas, Some(story.replicas)));
    let after = world.uids().await;
    for id in story.start.iter().filter(|id| story.end.contains(id)) {
        assert_eq!(after[id], before[id], "server {id} was touched: write {n} {moment:?}");
    }
    successor.kill();
    died
}

async fn dies_everywhere(story: Story, at_least: i64) {
    for moment in [Moment::Before, Moment::After] {
        let mut n = 0;
        while dies_at(&story, n, moment).await {
            n += 1;
        }
        assert!(n >= at_least, "only {n} writes: the story does not happen");
    }
}

#[tokio::test(start_paused = true)]
async fn while_a_set_is_made() {
    let story = Story {
        spec: json!({ "replicas": 2, "reserveGameServerIds": [0], "gameServerTemplate": { "reclaimPolicy": "Delete" } }),
        start: &[],
        ops: &[],
        change: Value::Null,
        kill: None,
        end: &[1, 2],
        reserve: json!([0]),
        implicit: json!([]),
        replicas: 2,
    };
    // acted, annotation, revision, two pods, two servers, and what their life brings.
    dies_everywhere(story, 8).await;
}

#[tokio::test(start_paused = true)]
async fn while_a_set_gets_smaller() {
    let story = Story {
        spec: json!({ "replicas": 4, "gameServerTemplate": { "reclaimPolicy": "Delete" } }),
        start: &[0, 1, 2, 3],
        ops: &[(3, "Allocated"), (0, "WaitToBeDeleted")],
        change: json!({ "spec": { "replicas": 2 } }),
        kill: None,
        end: &[1, 3],
        reserve: json!([]),
        implicit: json!([0, 2]),
        replicas: 2,
    };
    dies_everywhere(story, 5).await;
}

#[tokio::test(start_paused = true)]
async fn while_a_set_gets_smaller_and_reserves_the_ids() {
    let story = Story {
        spec: json!({ "replicas": 4, "scaleStrategy": { "scaleDownStrategyType": "ReserveIds" } }),
        start: &[0, 1, 2, 3],
        ops: &[(3, "Allocated"), (0, "WaitToBeDeleted")],
        change: json!({ "spec": { "replicas": 2 } }),
        kill: None,
        end: &[1, 3],
        reserve: json!([0, 2]),
        implicit: json!([]),
        replicas: 2,
    };
    dies_everywhere(story, 5).await;
}

#[tokio::test(start_paused = true)]
async fn while_ids_are_exchanged_and_the_size_changes() {
    let story = Story {
        spec: json!({ "replicas": 3 }),
        start: &[0, 1, 2],
        ops: &[(2, "Maintaining")],
        change: json!({ "spec": { "replicas": 4, "reserveGameServerIds": [0] } }),
        kill: None,
        end: &[1, 2, 3, 4],
        reserve: json!([0]),
        implicit: json!([]),
        replicas: 4,
    };
    dies_everywhere(story, 6).await;
}

#[tokio::test(start_paused = true)]
async fn while_a_server_is_killed() {
    let story = Story {
        spec: json!({ "replicas": 3 }),
        start: &[0, 1, 2],
        ops: &[(2, "Allocated")],
        change: Value::Null,
        kill: Some(1),
        end: &[0, 2],
        reserve: json!([]),
        implicit: json!([1]),
        replicas: 2,
    };
    dies_everywhere(story, 4).await;
}
