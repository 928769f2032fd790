//! The world that the sandbox starts with shows what it promises: 60 servers, players, and each of its troubles.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod world;

use pilothouse::world as worlds;
use world::{World, until};

#[tokio::test(start_paused = true)]
async fn the_demo_has_sixty_servers_one_crash_loop_one_stuck_rollout_and_players() {
    let world = World::new().await;
    // It is there before the controllers start, as in the sandbox: servers are made as their GameServers say.
    let manifests = worlds::World::Demo.manifests().unwrap();
    worlds::apply(&world.client, &manifests).await.unwrap();
    let app = world.pilothouse(&["--players-from", "annotation:game.pilothouse.dev/players"]);
    app.finds("state:Ready", 55).await;
    app.finds("name~-", 60).await;
    app.finds("set:racing-cup image:racing:2.2.0 state:Creating", 4).await;
    app.finds("set:arena-match restarts>3", 1).await;
    app.finds("name:arena-match-7 state:NotReady", 1).await;
    for (ops, count) in [("Allocated", 3), ("Maintaining", 2), ("WaitToBeDeleted", 2)] {
        app.finds(&format!("ops:{ops}"), count).await;
    }
    until("most games have players", async || app.matched("players>0").await > 20).await;
    assert_eq!(app.matched("set:racing-cup players>=0").await, 0, "this game does not tell");
    assert_eq!(app.matched("set:arena-match players>10").await, 0, "no more than the game takes");
}
