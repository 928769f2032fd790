//! The process dies at every single write of a story. A new process then has to reach the same end, and nobody who is
//! protected may be touched on the way.
//!
//! Always: a chain of processes, each of which dies right after its first write with the answer lost, so that every state
//! between two writes is found by a process that knows nothing; and deaths just before and just after some later writes.
//! With `PILOTHOUSE_TEST_FULL` set, before and after each of them.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod world;

use controllers::run::Options;
use http::{Method, Request, Response};
use kube::{Client, client::Body};
use serde_json::{Value, json};
use std::{collections::BTreeMap, sync::Arc, time::Duration};
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
    left: tokio::sync::Mutex<i64>,
    died: Notify,
    moment: Moment,
}

impl Mortal {
    fn new(dies_at: i64, moment: Moment) -> Arc<Self> {
        Arc::new(Self { left: tokio::sync::Mutex::new(dies_at), died: Notify::new(), moment })
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
        // One after the other, so that the n-th is the n-th.
        let mut left = self.left.lock().await;
        if *left > 0 || (*left == 0 && self.moment == Moment::After) {
            let answer = real.send(request).await?;
            // A refusal wrote nothing (a new process stores a revision that is there already): it lives on.
            let refused = !answer.status().is_success();
            if *left > 0 || refused {
                *left -= i64::from(!refused);
                return Ok(answer);
            }
        }
        *left = -1;
        drop(left);
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
    let died = outcome(&world, story, &mortal).await;
    process.kill();
    world.start();
    ends_well(&world, story, &before, &format!("death {moment:?} write {n}")).await;
    died
}

/// Whether the process dies, or the story is over before.
async fn outcome(world: &World, story: &Story, mortal: &Mortal) -> bool {
    tokio::select! {
        () = mortal.died.notified() => true,
        () = world.settled(story.end) => false,
    }
}

/// A chain of processes that each live for one write.
async fn dies_again_and_again(story: &Story, at_least: usize) {
    let (world, before) = prepare(story).await;
    change(&world, story).await;
    let mut deaths = 0;
    loop {
        let mortal = Mortal::new(0, Moment::After);
        let process = world.start_with(&mortal.client(&world.client), Options::default());
        let died = outcome(&world, story, &mortal).await;
        process.kill();
        if !died {
            break;
        }
        deaths += 1;
        assert!(deaths < 200, "the story does not end");
    }
    assert!(deaths >= at_least, "only {deaths} writes: the story does not happen");
    world.start();
    ends_well(&world, story, &before, &format!("after {deaths} deaths")).await;
}

async fn ends_well(world: &World, story: &Story, before: &BTreeMap<u32, String>, case: &str) {
    world.settled(story.end).await;
    // Nothing more comes after it.
    tokio::time::sleep(Duration::from_secs(15)).await;
    let writes = world.api.writes();
    tokio::time::sleep(Duration::from_secs(30)).await;
    assert_eq!(world.writes_since(&writes), Vec::<String>::new(), "{case}");
    assert!(world.is_settled(story.end).await, "{case}");
    let set = world.set().await;
    let status = set.status.unwrap();
    assert_eq!(json!(set.spec.reserve_game_server_ids), story.reserve, "{case}");
    assert_eq!(json!(status.implicit_reserve_ids), story.implicit, "{case}");
    assert_eq!((set.spec.replicas, status.acted_replicas), (story.replicas, Some(story.replicas)), "{case}");
    let after = world.uids().await;
    for id in story.start.iter().filter(|id| story.end.contains(id)) {
        assert_eq!(after[id], before[id], "server {id} was touched: {case}");
    }
}

async fn dies_everywhere(story: Story, at_least: usize) {
    dies_again_and_again(&story, at_least).await;
    let all = std::env::var_os("PILOTHOUSE_TEST_FULL").is_some();
    for moment in [Moment::Before, Moment::After] {
        let mut n = if all { 0 } else { 1 };
        while dies_at(&story, n, moment).await {
            n += if all { 1 } else { 3 };
        }
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

/// What was decided stands in the status before the first pod is created or deleted.
#[tokio::test(start_paused = true)]
async fn the_status_is_written_before_the_first_pod_is_touched() {
    let world = World::new().await;
    for (replicas, pods) in [(3, vec![]), (1, vec![0, 1, 2])] {
        let mortal = Mortal::new(1, Moment::Before);
        let process = world.start_with(&mortal.client(&world.client), Options::default());
        if pods.is_empty() {
            world.create_set(json!({ "replicas": replicas })).await;
        } else {
            world.scale(replicas).await;
        }
        mortal.died.notified().await;
        process.kill();
        let acted = world.set().await.status.unwrap().acted_replicas;
        assert_eq!(acted, Some(i32::try_from(replicas).unwrap()));
        let listed = world.pods().list(&kube::api::ListParams::default()).await.unwrap();
        assert_eq!(world.ids().await, pods);
        assert!(listed.iter().all(|pod| pod.metadata.deletion_timestamp.is_none()));
        let successor = world.start();
        world.settled(&(0..replicas).collect::<Vec<_>>()).await;
        tokio::time::sleep(Duration::from_secs(5)).await;
        successor.kill();
    }
}
