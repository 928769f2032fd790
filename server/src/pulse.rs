//! One number that grows whenever anything shown may have changed: board, batches, health of the watches, the lease.

use board::SharedBoard;
use controllers::{
    batch::BatchCaches,
    cache::{Cached, Caches, Subscription},
    leader::Refusal,
};
use futures::StreamExt;
use std::sync::Arc;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

/// Starts watching for changes; ends with `stop`.
#[must_use]
pub fn start(
    board: &SharedBoard,
    caches: &Caches,
    batches: &BatchCaches,
    lease: watch::Receiver<Option<Refusal>>,
    stop: &CancellationToken,
) -> watch::Receiver<u64> {
    let (sender, receiver) = watch::channel(1);
    let pulse = Arc::new(sender);
    let mut changed = board.changed();
    spawn(stop, {
        let pulse = pulse.clone();
        async move {
            while changed.changed().await.is_ok() {
                beat(&pulse);
            }
        }
    });
    follow(stop, &pulse, batches.edits.subscribe());
    follow(stop, &pulse, batches.targets.subscribe());
    follow(stop, &pulse, batches.progress.subscribe());
    for health in [
        caches.sets.health(),
        caches.servers.health(),
        caches.pods.health(),
        caches.nodes.health(),
        batches.edits.health(),
        batches.targets.health(),
        batches.progress.health(),
    ] {
        spawn(stop, with(pulse.clone(), health));
    }
    spawn(stop, with(pulse, lease));
    receiver
}

fn beat(pulse: &watch::Sender<u64>) {
    pulse.send_modify(|number| *number += 1);
}

fn follow<K: Cached>(stop: &CancellationToken, pulse: &Arc<watch::Sender<u64>>, mut events: Subscription<K>) {
    let pulse = pulse.clone();
    spawn(stop, async move {
        while events.next().await.is_some() {
            beat(&pulse);
        }
    });
}

async fn with<T>(pulse: Arc<watch::Sender<u64>>, mut state: watch::Receiver<T>) {
    while state.changed().await.is_ok() {
        beat(&pulse);
    }
}

fn spawn(stop: &CancellationToken, task: impl Future<Output = ()> + Send + 'static) {
    let stop = stop.clone();
    tokio::spawn(async move {
        tokio::select! {
            () = task => {}
            () = stop.cancelled() => {}
        }
    });
}
