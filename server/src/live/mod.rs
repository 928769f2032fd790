//! The live stream: one task a connection that shows a view, then what changed in it.
//!
//! Memory is bounded whatever the reader does: the task keeps the last view it sent and computes the next one
//! only when the channel has room, so a slow reader gets newer views less often, never a queue of old ones.

mod shown;

pub use shown::Shown;

use crate::reader::Reader;
use axum::response::sse::Event;
use futures::{Stream, StreamExt};
use std::{convert::Infallible, sync::Arc, time::Duration};
use tokio::{sync::mpsc, time::Instant};
use tokio_stream::wrappers::ReceiverStream;
use tokio_util::sync::CancellationToken;
use wire::live::{LiveMessage, View};

/// Changes of this long are sent as one.
const COALESCE: Duration = Duration::from_millis(100);
/// A message comes at least this often.
pub const HEARTBEAT: Duration = Duration::from_secs(15);
/// A connection is ended by the server after this time, so that proxies and rights are looked at anew.
const LIFETIME: Duration = Duration::from_secs(4 * 60);
/// Events of one server are asked for again at most this often.
const EVENTS_EVERY: Duration = Duration::from_secs(5);

/// A stream of SSE events for a view.
pub fn stream(
    reader: Arc<Reader>,
    view: View,
    client: kube::Client,
    stop: CancellationToken,
) -> impl Stream<Item = Result<Event, Infallible>> {
    let (sender, receiver) = mpsc::channel::<(u64, LiveMessage)>(2);
    tokio::spawn(session(reader, view, client, sender, stop));
    ReceiverStream::new(receiver).map(|(version, message)| {
        let event = Event::default().id(version.to_string());
        Ok(event.json_data(&message).unwrap_or_else(|error| {
            tracing::error!(%error, "a live message could not be written as JSON");
            Event::default().comment("unwritable")
        }))
    })
}

/// Serves one connection until the reader is gone, its time is over or the server stops.
async fn session(
    reader: Arc<Reader>,
    view: View,
    client: kube::Client,
    sender: mpsc::Sender<(u64, LiveMessage)>,
    stop: CancellationToken,
) {
    let mut changed = reader.changed();
    let mut shown = Shown::default();
    let heartbeat = u32::try_from(HEARTBEAT.as_secs()).unwrap_or(u32::MAX);
    let hello = LiveMessage::Hello { now: now_millis(), heartbeat };
    if sender.send((0, hello)).await.is_err() {
        return;
    }
    let end = tokio::time::sleep(LIFETIME);
    tokio::pin!(end);
    let mut events_due = Instant::now();
    loop {
        changed.mark_unchanged();
        if let View::Server { key } = &view
            && Instant::now() >= events_due
        {
            shown.events = crate::events::of_server(&client, key).await;
            events_due = Instant::now() + EVENTS_EVERY;
        } else if let View::Set { key } = &view
            && Instant::now() >= events_due
        {
            shown.events = crate::events::of_set(&client, key).await;
            events_due = Instant::now() + EVENTS_EVERY;
        }
        let version = reader.version();
        for message in shown.step(&reader, &view) {
            if sender.send((version, message)).await.is_err() {
                return;
            }
        }
        let again = match view {
            View::Server { .. } | View::Set { .. } => EVENTS_EVERY,
            _ => HEARTBEAT,
        };
        tokio::select! {
            result = changed.changed() => {
                if result.is_err() { return; }
                tokio::time::sleep(COALESCE).await;
            }
            () = tokio::time::sleep(again) => {
                let beat = LiveMessage::Heartbeat { now: now_millis() };
                if sender.send((version, beat)).await.is_err() { return; }
            }
            () = sender.closed() => return,
            () = &mut end => {
                let _ = sender.send((version, LiveMessage::Bye { retry: 200 })).await;
                return;
            }
            () = stop.cancelled() => {
                let _ = sender.send((version, LiveMessage::Bye { retry: 2000 })).await;
                return;
            }
        }
    }
}

fn now_millis() -> i64 {
    jiff::Timestamp::now().as_millisecond()
}
