//! Simulated nodes on the sandbox: all scenes in paused time, and what only the sandbox can count.
#![allow(clippy::unwrap_used, reason = "helpers of tests, where a panic is the message")]

mod scenes;

use std::time::Duration;

use kube::api::{Api, DeleteParams, ListParams};
use sandbox::api::{Clock, Server};
use sandbox::nodes::{EVENTS_UP_TO, Options, Timing};
use scenes::World;
use serde_json::json;

/// A sandbox with simulated nodes.
async fn world(scene: &str, options: Options) -> (Server, World) {
    let server =
        Server::with_options(sandbox::api::Options { clock: Clock::runtime(), ..Default::default() });
    let world = World::start(server.client(), scene, options).await;
    (server, world)
}

macro_rules! scenes_on_the_sandbox {
    ($($scene:ident)*) => {$(
        #[tokio::test(start_paused = true)]
        async fn $scene() {
            let (_server, mut world) = world("scene", Options::default()).await;
            Box::pin(scenes::$scene(&mut world)).await;
        }
    )*};
}

scenes_on_the_sandbox! {
    pods_come_up
    image_changes_in_place
    gates_are_respected
    crashes_back_off
    bad_images_wait
    unschedulable_pods_wait_for_room
    deletion_is_graceful
    nodes_register_again
    restarts_disturb_nobody
}

/// Scenes in which the controllers of the cluster have a part.
macro_rules! scenes_in_a_whole_cluster {
    ($($scene:ident)*) => {$(
        #[tokio::test(start_paused = true)]
        async fn $scene() {
            let options = Options { events_up_to: EVENTS_UP_TO, ..Options::default() };
            let (server, mut world) = world("scene", options).await;
            let stop = tokio_util::sync::CancellationToken::new();
            let cluster = tokio::spawn(sandbox::cluster::run(server.client(), stop.clone()));
            Box::pin(scenes::$scene(&mut world)).await;
            stop.cancel();
            cluster.await.unwrap();
        }
    )*};
}

scenes_in_a_whole_cluster! {
    claims_get_volumes
    claims_wait_for_their_first_pod
    pods_keep_apart
    events_tell_of_pods
    nodes_go_down_and_come_back
    pods_leave_a_node_that_stays_down
    players_come
}

#[tokio::test(start_paused = true)]
async fn a_steady_minute_writes_nothing_but_leases() {
    let (server, world) = world("steady", Options::default()).await;
    for index in 0..20 {
        world.simple(&format!("pod-{index}")).await;
    }
    for index in 0..20 {
        world.ready(&format!("pod-{index}")).await;
    }
    let before = server.writes();
    tokio::time::sleep(Duration::from_secs(60)).await;
    let minute = server.writes().since(&before);
    assert_eq!(minute.commits_except(&["leases.coordination.k8s.io"]), 0, "{minute:?}");
    let leases = minute.commits_except(&[]);
    assert!((15..=21).contains(&leases), "three machines renew every ten seconds: {leases}");
}

#[tokio::test(start_paused = true)]
async fn instant_pods_cost_two_writes_to_start_and_three_to_end() {
    let options = Options { timing: Timing::instant(), ..Options::default() };
    let (server, world) = world("cost", options).await;
    let before = server.writes();
    for index in 0..50 {
        world.simple(&format!("pod-{index}")).await;
    }
    for index in 0..50 {
        world.ready(&format!("pod-{index}")).await;
    }
    let started = server.writes().since(&before);
    assert_eq!(
        started.commits_except(&["leases.coordination.k8s.io"]),
        3 * 50,
        "create, bind, status: {started:?}"
    );
    let before = server.writes();
    for index in 0..50 {
        world.pods().delete(&format!("pod-{index}"), &DeleteParams::default()).await.unwrap();
    }
    for index in 0..50 {
        world.gone(&format!("pod-{index}")).await;
    }
    let ended = server.writes().since(&before);
    assert_eq!(
        ended.commits_except(&["leases.coordination.k8s.io"]),
        3 * 50,
        "asked, ended, gone: {ended:?}"
    );
}

#[tokio::test(start_paused = true)]
async fn pods_of_other_schedulers_are_left_alone_unless_told() {
    for (schedule_all, bound) in [(false, false), (true, true)] {
        let options = Options { schedule_all, ..Options::default() };
        let (_server, world) = world("others", options).await;
        world.create("other", json!({}), json!({"schedulerName": "default-scheduler"})).await;
        world.simple("ours").await;
        world.ready("ours").await;
        if bound {
            world.ready("other").await;
        } else {
            tokio::time::sleep(Duration::from_secs(60)).await;
            let other = world.pods().get("other").await.unwrap();
            assert_eq!(other.spec.unwrap().node_name, None);
            assert_eq!(scenes::condition(&world.pods().get("other").await.unwrap(), "PodScheduled"), None);
        }
    }
}

#[tokio::test(start_paused = true)]
async fn surplus_machines_are_retired_when_there_are_fewer() {
    let (_server, mut world) = world("fewer", Options { machines: 5, ..Options::default() }).await;
    world.stop_nodes().await;
    world.options.machines = 2;
    world.start_nodes();
    let list = || async { world.nodes().list(&ListParams::default()).await.unwrap().items.len() };
    let shrunk = async {
        while list().await != 2 {
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(60), shrunk).await.expect("three nodes go");
}

#[tokio::test(start_paused = true)]
async fn a_node_of_somebody_else_is_not_taken_over() {
    let server =
        Server::with_options(sandbox::api::Options { clock: Clock::runtime(), ..Default::default() });
    let nodes: Api<k8s_openapi::api::core::v1::Node> = Api::all(server.client());
    let real = json!({"metadata": {"name": "sim-node-0"}, "spec": {"providerID": "cloud://real"}});
    let real = serde_json::from_value(real).unwrap();
    nodes.create(&kube::api::PostParams::default(), &real).await.unwrap();
    let stop = tokio_util::sync::CancellationToken::new();
    let running = tokio::spawn(sandbox::nodes::run(server.client(), Options::default(), stop.clone()));
    tokio::time::sleep(Duration::from_secs(30)).await;
    let node = nodes.get("sim-node-0").await.unwrap();
    assert!(node.metadata.labels.unwrap_or_default().is_empty());
    assert_eq!(nodes.list(&ListParams::default()).await.unwrap().items.len(), 3);
    stop.cancel();
    running.await.unwrap().unwrap();
}

#[tokio::test(start_paused = true)]
async fn conflicts_outages_and_lost_watches_only_delay_pods() {
    let (server, world) = world("trouble", Options::default()).await;
    for index in 0..30 {
        world.simple(&format!("pod-{index}")).await;
    }
    server.faults().conflicts(0.3);
    tokio::time::sleep(Duration::from_secs(1)).await;
    server.faults().expire_watches();
    server.faults().away_for(Duration::from_secs(60));
    tokio::time::sleep(Duration::from_secs(61)).await;
    server.faults().delay_watches(Duration::from_millis(500));
    tokio::time::sleep(Duration::from_secs(5)).await;
    server.faults().clear();
    for index in 0..30 {
        let pod = world.ready(&format!("pod-{index}")).await;
        assert_eq!(scenes::container(&pod).unwrap().restart_count, 0);
    }
}
