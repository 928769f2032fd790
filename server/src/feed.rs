//! Carries what the caches see into the board, in one task a kind.

use board::SharedBoard;
use controllers::cache::{CacheEvent, Cached, Caches, Subscription};
use futures::StreamExt;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// Starts feeding; ends with `stop`.
pub fn start(caches: &Caches, board: &SharedBoard, stop: &CancellationToken) {
    follow(caches.sets.subscribe(), board.clone(), stop.clone(), |board, event| match event {
        CacheEvent::Applied(set) => board.apply_set(&set),
        CacheEvent::Deleted(set) => board.remove_set(&set),
        CacheEvent::Restarted(sets) => board.replace_sets(&sets.iter().collect::<Vec<_>>()),
    });
    follow(caches.servers.subscribe(), board.clone(), stop.clone(), |board, event| match event {
        CacheEvent::Applied(server) => board.apply_server(&server),
        CacheEvent::Deleted(server) => board.remove_server(&server),
        CacheEvent::Restarted(servers) => board.replace_servers(servers.iter()),
    });
    follow(caches.nodes.subscribe(), board.clone(), stop.clone(), |board, event| match event {
        CacheEvent::Applied(node) => board.apply_node(&node),
        CacheEvent::Deleted(node) => board.remove_node(&node),
        CacheEvent::Restarted(nodes) => board.replace_nodes(&nodes.iter().collect::<Vec<_>>()),
    });
    follow(caches.pods.subscribe(), board.clone(), stop.clone(), |board, event| match event {
        CacheEvent::Applied(pod) => board.apply_pod(&pod),
        CacheEvent::Deleted(pod) => board.remove_pod(&pod),
        CacheEvent::Restarted(pods) => board.replace_pods(pods.iter()),
    });
}

fn follow<K: Cached>(
    mut events: Subscription<K>,
    board: SharedBoard,
    stop: CancellationToken,
    take: impl Fn(&SharedBoard, CacheEvent<K>) + Send + 'static,
) where
    Arc<K>: Send,
{
    tokio::spawn(async move {
        loop {
            tokio::select! {
                event = events.next() => match event {
                    Some(event) => take(&board, event),
                    None => return,
                },
                () = stop.cancelled() => return,
            }
        }
    });
}
