//! The scenes of the simulated nodes on a real API server, named by PILOTHOUSE_TEST_KUBECONFIG.
//! Ignored unless asked for: `./dev test cluster` starts a control plane.
#![allow(clippy::unwrap_used, reason = "helpers of tests, where a panic is the message")]

mod scenes;

use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Client, Config};
use sandbox::nodes::{EVENTS_UP_TO, Options, Timing};
use scenes::World;

/// A client of the real API server.
async fn client() -> Client {
    let path =
        std::env::var("PILOTHOUSE_TEST_KUBECONFIG").expect("names a real API server: ./dev test cluster");
    let file = Kubeconfig::read_from(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
    let config = Config::from_custom_kubeconfig(file, &KubeConfigOptions::default()).await.unwrap();
    Client::try_from(config).unwrap()
}

/// Real seconds pass here, so back-off is shorter than on a real node.
fn options() -> Options {
    let timing = Timing { backoff: std::time::Duration::from_secs(2), ..Timing::default() };
    Options { machines: 2, timing, events_up_to: EVENTS_UP_TO, ..Options::default() }
}

macro_rules! scenes_on_a_real_api {
    ($($scene:ident)*) => {$(
        #[tokio::test]
        #[ignore = "needs a real control plane: ./dev test cluster"]
        async fn $scene() {
            let mut world = World::start(client().await, &stringify!($scene)[..6].replace('_', "-"), options()).await;
            Box::pin(scenes::$scene(&mut world)).await;
            world.clean_up().await;
        }
    )*};
}

scenes_on_a_real_api! {
    pods_come_up
    image_changes_in_place
    gates_are_respected
    crashes_back_off
    bad_images_wait
    unschedulable_pods_wait_for_room
    deletion_is_graceful
    nodes_register_again
    restarts_disturb_nobody
    claims_get_volumes
    claims_wait_for_their_first_pod
    pods_keep_apart
    events_tell_of_pods
    nodes_go_down_and_come_back
    pods_leave_a_node_that_stays_down
    players_come
}
