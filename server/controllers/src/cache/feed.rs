//! Observers of a cache: everybody gets every change, and a slow one gets a fresh start instead of a queue.

use super::{Cache, Cached, Listing};
use futures::Stream;
use std::{
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
};
use tokio::sync::broadcast;
use tokio_util::sync::ReusableBoxFuture;

/// Changes that are kept for an observer that has not read them yet.
const BACKLOG: usize = 4096;

/// What happened in a cache.
#[derive(Debug)]
pub enum CacheEvent<K: Cached> {
    /// The object is new or changed.
    Applied(Arc<K>),
    /// The object is gone; this is how it looked the last time.
    Deleted(Arc<K>),
    /// Everything there is, now: at the start, after a new list, and when the observer was too slow. What the observer
    /// knows and this list does not have is gone.
    Restarted(Listing<K>),
}

impl<K: Cached> Clone for CacheEvent<K> {
    fn clone(&self) -> Self {
        match self {
            Self::Applied(object) => Self::Applied(object.clone()),
            Self::Deleted(object) => Self::Deleted(object.clone()),
            Self::Restarted(all) => Self::Restarted(all.clone()),
        }
    }
}

pub(super) struct Feed<K: Cached> {
    sender: broadcast::Sender<CacheEvent<K>>,
}

impl<K: Cached> Feed<K> {
    pub(super) fn new() -> Self {
        Self { sender: broadcast::Sender::new(BACKLOG) }
    }

    pub(super) fn send(&self, event: CacheEvent<K>) {
        // Nobody listening is fine.
        let _ = self.sender.send(event);
    }

    pub(super) fn subscribe(&self, cache: Cache<K>) -> Subscription<K> {
        // The channel is opened first: what happens in between is in the list and comes again, nothing is missed.
        let receiver = self.sender.subscribe();
        let opening = cache.has_synced().then(|| CacheEvent::Restarted(cache.listing()));
        Subscription { next: ReusableBoxFuture::new(receive(receiver)), opening, cache }
    }
}

type Received<K> = (Result<CacheEvent<K>, broadcast::error::RecvError>, broadcast::Receiver<CacheEvent<K>>);

async fn receive<K: Cached>(mut receiver: broadcast::Receiver<CacheEvent<K>>) -> Received<K> {
    let event = receiver.recv().await;
    (event, receiver)
}

/// A stream of the changes of a cache; it ends when the cache ends. See [`Cache::subscribe`].
pub struct Subscription<K: Cached> {
    opening: Option<CacheEvent<K>>,
    next: ReusableBoxFuture<'static, Received<K>>,
    cache: Cache<K>,
}

impl<K: Cached> Stream for Subscription<K> {
    type Item = CacheEvent<K>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        if let Some(opening) = self.opening.take() {
            return Poll::Ready(Some(opening));
        }
        let (event, receiver) = ready!(self.next.poll(cx));
        match event {
            Ok(event) => {
                self.next.set(receive(receiver));
                Poll::Ready(Some(event))
            }
            Err(broadcast::error::RecvError::Lagged(_)) => {
                // Skip the backlog before the list is read, so that nothing old comes after it.
                self.next.set(receive(receiver.resubscribe()));
                Poll::Ready(Some(CacheEvent::Restarted(self.cache.listing())))
            }
            Err(broadcast::error::RecvError::Closed) => {
                self.next.set(receive(receiver));
                Poll::Ready(None)
            }
        }
    }
}
