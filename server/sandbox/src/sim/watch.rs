//! A watch on its way to a process: events come late, twice or not at all, and the stream is cut.
use std::collections::VecDeque;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, BodyDataStream};
use bytes::{Bytes, BytesMut};
use futures::StreamExt;
use http::Response;
use serde_json::Value;
use tokio::time::{sleep, sleep_until};

use super::hub::{Asked, Hub, Life};
use super::random::mix;

struct Stream {
    hub: Arc<Hub>,
    life: Life,
    resource: String,
    data: BodyDataStream,
    rest: BytesMut,
    lines: VecDeque<Bytes>,
    cuts: (u64, u64),
    passed: u64,
    ended: bool,
}

/// The same answer, under the rule of the run.
pub fn pass(hub: &Arc<Hub>, life: &Life, asked: &Asked, response: Response<Body>) -> Response<Body> {
    let (parts, body) = response.into_parts();
    let stream = Stream {
        hub: hub.clone(),
        life: life.clone(),
        resource: asked.resource.clone(),
        data: body.into_data_stream(),
        rest: BytesMut::new(),
        lines: VecDeque::new(),
        cuts: hub.cuts(life),
        passed: 0,
        ended: false,
    };
    let stream = futures::stream::unfold(stream, |mut stream| async move {
        let next = stream.next().await?;
        Some((next, stream))
    });
    Response::from_parts(parts, Body::from_stream(stream))
}

impl Stream {
    async fn next(&mut self) -> Option<io::Result<Bytes>> {
        if self.ended {
            return None;
        }
        let (hub, life, cuts) = (self.hub.clone(), self.life.clone(), self.cuts);
        tokio::select! {
            biased;
            broken = was_cut(&hub, &life, cuts) => {
                self.ended = true;
                broken.then(|| Err(io::Error::new(io::ErrorKind::ConnectionReset, "connection reset by peer")))
            }
            line = self.line() => line.map(Ok),
        }
    }

    async fn line(&mut self) -> Option<Bytes> {
        while self.lines.is_empty() {
            let chunk = self.data.next().await?.ok()?;
            self.rest.extend_from_slice(&chunk);
            while let Some(end) = self.rest.iter().position(|byte| *byte == b'\n') {
                self.lines.push_back(self.rest.split_to(end + 1).freeze());
            }
        }
        self.passed += 1;
        // Each kind is a little late in its own way, so that caches do not move in step.
        sleep(Duration::from_millis(mix(self.hub.seed ^ self.passed, self.resource.as_bytes()) % 4)).await;
        while let Some(until) = self.hub.held(&self.life, &self.resource) {
            sleep_until(until).await;
        }
        let line = self.lines.pop_front()?;
        let event: Value = serde_json::from_slice(&line).unwrap_or_default();
        let revision = event.pointer("/object/metadata/resourceVersion").and_then(Value::as_str);
        if let Some(revision) = revision.and_then(|text| text.parse().ok()) {
            let what = event.get("type").and_then(Value::as_str).unwrap_or_default();
            if self.hub.delivered(&self.life, &self.resource, revision, what) {
                self.lines.push_front(line.clone());
            }
        }
        Some(line)
    }
}

/// Waits for a cut; whether it is in the middle.
async fn was_cut(hub: &Hub, life: &Life, before: (u64, u64)) -> bool {
    loop {
        let cut = hub.cut.notified();
        let now = hub.cuts(life);
        if now != before {
            return now.1 != before.1;
        }
        cut.await;
    }
}
