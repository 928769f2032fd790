//! Following changes: a cursor into the shared history. A watcher holds no queue, so a slow one costs nothing and is told
//! when the history no longer reaches back to where it stands.
use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::{Event, Shelf};

/// What a cursor finds.
#[derive(Debug)]
pub enum Batch {
    /// Events in order, and the revision up to which nothing is missing.
    Events(Vec<Event>, u64),
    /// Events between the cursor and the oldest kept one are lost.
    Expired,
    /// The kind is gone.
    Closed,
}

/// A place in the history of one kind.
#[derive(Debug)]
pub struct Cursor {
    shelf: Arc<Shelf>,
    seen: u64,
}

impl Cursor {
    /// Follows what happens after revision `seen`.
    pub fn new(shelf: Arc<Shelf>, seen: u64) -> Self {
        Self { shelf, seen }
    }

    /// Up to which revision everything was delivered.
    pub fn seen(&self) -> u64 {
        self.seen
    }

    /// What is followed.
    pub fn shelf(&self) -> &Shelf {
        &self.shelf
    }

    /// The next events that are wanted, about `bytes` of them; waits until there are some.
    pub async fn next(&mut self, bytes: usize, wanted: impl Fn(&Event) -> bool) -> Batch {
        loop {
            let shelf = self.shelf.clone();
            // From here on no change is missed.
            let changed = shelf.changed.notified();
            match self.take(bytes, &wanted) {
                Batch::Events(events, _) if events.is_empty() => {}
                batch => return batch,
            }
            changed.await;
        }
    }

    /// What is there now, without waiting.
    pub fn take(&mut self, bytes: usize, wanted: impl Fn(&Event) -> bool) -> Batch {
        let inner = self.shelf.lock();
        if self.seen < inner.floor {
            return Batch::Expired;
        }
        let start = inner.history.partition_point(|event| event.object.revision <= self.seen);
        let mut events = Vec::new();
        let mut size = 0;
        for event in inner.history.range(start..) {
            if size >= bytes {
                return Batch::Events(events, self.seen);
            }
            self.seen = event.object.revision;
            if wanted(event) {
                size += event.object.size();
                events.push(event.clone());
            }
        }
        if events.is_empty() && inner.closed {
            return Batch::Closed;
        }
        // Everything of this kind up to now was looked at, so the cursor may stand at the newest revision of all kinds.
        self.seen = self.seen.max(self.shelf.revision.load(Ordering::SeqCst));
        Batch::Events(events, self.seen)
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Draft, Key, Store};
    use super::*;
    use serde_json::json;

    fn put(shelf: &Shelf, name: &str) {
        shelf.create(&Key::new("", name), Draft::new(&json!({}), &[])).unwrap();
    }

    #[tokio::test(start_paused = true)]
    async fn a_cursor_waits_for_what_comes() {
        let store = Store::new(1 << 20);
        let shelf = store.shelf("x");
        let mut cursor = Cursor::new(shelf.clone(), store.revision());
        let writer = tokio::spawn(async move {
            tokio::time::sleep(std::time::Duration::from_secs(9)).await;
            put(&shelf, "a");
        });
        let Batch::Events(events, _) = cursor.next(1000, |_| true).await else { panic!("events") };
        assert_eq!(&*events[0].object.key.name, "a");
        writer.await.unwrap();
    }

    #[test]
    fn a_cursor_that_fell_behind_is_told_and_holds_nothing() {
        let store = Store::new(1000);
        let shelf = store.shelf("x");
        let mut slow = Cursor::new(shelf.clone(), store.revision());
        for i in 0..50 {
            put(&shelf, &format!("o{i}"));
        }
        assert!(matches!(slow.take(1000, |_| true), Batch::Expired));
        assert!(shelf.lock().history.len() < 6);
    }

    #[test]
    fn a_dropped_kind_ends_its_watches_after_the_last_event() {
        let store = Store::new(1 << 20);
        let shelf = store.shelf("x");
        let mut cursor = Cursor::new(shelf.clone(), store.revision());
        put(&shelf, "a");
        store.drop_shelf("x");
        assert!(matches!(cursor.take(1000, |_| true), Batch::Events(events, _) if events.len() == 1));
        assert!(matches!(cursor.take(1000, |_| true), Batch::Closed));
    }
}
