//! Events for people: aggregated, bounded, and never in the way of the work.
//!
//! Kubernetes keeps events for an hour and each costs a write, so they are never the only record of anything. They are
//! sent by one task; when there are more than it may send, the rest is left out and counted.

use crate::{clock::Clock, kruise::set_plan::PlannedEvent, metrics::Metrics, write::Limiter};
use k8s_openapi::{
    api::{
        core::v1::ObjectReference,
        events::v1::{Event, EventSeries},
    },
    apimachinery::pkg::apis::meta::v1::MicroTime,
};
use kube::{
    Api, Client,
    api::{ObjectMeta, Patch, PatchParams, PostParams},
};
use serde_json::json;
use std::{collections::HashMap, time::Duration};
use tokio::{sync::mpsc, time::Instant};
use tokio_util::sync::CancellationToken;

/// The same event about the same object within this time is counted up instead of written anew.
const SERIES_WINDOW: Duration = Duration::from_secs(360);
/// A series is written at most this often.
const SERIES_PAUSE: Duration = Duration::from_secs(30);
/// Events that wait to be sent.
const BACKLOG: usize = 1024;
/// Events a second, and at once.
const RATE: (u32, u32) = (50, 200);
/// Kubernetes' bound of a note, in bytes.
const NOTE_MAX: usize = 1024;

struct Told {
    controller: &'static str,
    regarding: ObjectReference,
    event: PlannedEvent,
}

/// Where events go. Clones send to the same place.
#[derive(Clone)]
pub struct Events {
    sender: mpsc::Sender<Told>,
    metrics: Metrics,
}

impl Events {
    /// Starts sending; ends with `stop`. `instance` names this process. Must be called inside a tokio runtime.
    #[must_use]
    pub fn start(client: Client, instance: String, metrics: Metrics, stop: CancellationToken) -> Self {
        Self::start_with(client, instance, metrics, stop, Clock::default())
    }

    /// The same with a clock for the times in the events.
    #[must_use]
    pub fn start_with(
        client: Client,
        instance: String,
        metrics: Metrics,
        stop: CancellationToken,
        clock: Clock,
    ) -> Self {
        let (sender, receiver) = mpsc::channel(BACKLOG);
        let recorder = Recorder {
            client,
            instance,
            clock,
            limiter: Limiter::new(Some(RATE.0), RATE.1),
            series: HashMap::new(),
        };
        tokio::spawn(async move {
            tokio::select! {
                biased;
                () = stop.cancelled() => {}
                () = recorder.run(receiver) => {}
            }
        });
        Self { sender, metrics }
    }

    /// Tells about an object; never waits.
    pub fn tell(&self, controller: &'static str, regarding: ObjectReference, event: PlannedEvent) {
        if self.sender.try_send(Told { controller, regarding, event }).is_err() {
            self.metrics.dropped_events.inc();
        }
    }
}

/// What makes two events one: controller, uid of the object, reason, words.
type SeriesKey = (&'static str, String, &'static str, String);

struct Series {
    namespace: String,
    name: String,
    count: i32,
    begun: Instant,
    written: Instant,
}

struct Recorder {
    client: Client,
    instance: String,
    clock: Clock,
    limiter: Limiter,
    series: HashMap<SeriesKey, Series>,
}

impl Recorder {
    async fn run(mut self, mut receiver: mpsc::Receiver<Told>) {
        while let Some(told) = receiver.recv().await {
            if let Err(error) = self.record(&told).await {
                tracing::debug!(%error, reason = told.event.reason, "an event could not be written");
            }
        }
    }

    async fn record(&mut self, told: &Told) -> kube::Result<()> {
        self.series.retain(|_, series| series.begun.elapsed() < SERIES_WINDOW);
        let uid = told.regarding.uid.clone().unwrap_or_default();
        let key = (told.controller, uid, told.event.reason, told.event.message.clone());
        if let Some(series) = self.series.get_mut(&key) {
            series.count += 1;
            if series.written.elapsed() < SERIES_PAUSE {
                return Ok(());
            }
            series.written = Instant::now();
            self.limiter.wait().await;
            let observed =
                EventSeries { count: series.count, last_observed_time: MicroTime(self.clock.now()) };
            let api: Api<Event> = Api::namespaced(self.client.clone(), &series.namespace);
            let patch = Patch::Merge(json!({ "series": observed }));
            return api.patch(&series.name, &PatchParams::default(), &patch).await.map(|_| ());
        }
        self.limiter.wait().await;
        let event = self.event(told);
        let namespace = event.metadata.namespace.clone().unwrap_or_default();
        let name = event.metadata.name.clone().unwrap_or_default();
        Api::<Event>::namespaced(self.client.clone(), &namespace)
            .create(&PostParams::default(), &event)
            .await?;
        let now = Instant::now();
        self.series.insert(key, Series { namespace, name, count: 1, begun: now, written: now });
        Ok(())
    }

    fn event(&self, told: &Told) -> Event {
        let now = self.clock.now();
        let object = told.regarding.name.clone().unwrap_or_default();
        let namespace = told.regarding.namespace.clone().filter(|namespace| !namespace.is_empty());
        Event {
            action: Some("Reconcile".to_owned()),
            event_time: Some(MicroTime(now)),
            metadata: ObjectMeta {
                name: Some(format!("{object}.{:x}", now.as_nanosecond())),
                namespace: Some(namespace.unwrap_or_else(|| "default".to_owned())),
                ..ObjectMeta::default()
            },
            note: Some(cut(&told.event.message, NOTE_MAX)),
            reason: Some(told.event.reason.to_owned()),
            regarding: Some(told.regarding.clone()),
            reporting_controller: Some(told.controller.to_owned()),
            reporting_instance: Some(cut(&self.instance, 128)),
            type_: Some(if told.event.warning { "Warning" } else { "Normal" }.to_owned()),
            ..Event::default()
        }
    }
}

/// The text, ended at a character's border when it is longer.
fn cut(text: &str, bytes: usize) -> String {
    let mut end = text.len().min(bytes);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text[..end].to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_notes_end_at_a_whole_character() {
        assert_eq!(cut("añb", 2), "a");
        assert_eq!(cut("añb", 3), "añ");
        assert_eq!(cut("short", 100), "short");
    }
}
