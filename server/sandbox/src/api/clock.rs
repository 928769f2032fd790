//! Which time the API server writes into objects.
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use jiff::{SignedDuration, Timestamp};
use tokio::time::Instant;

/// The source of timestamps. Clones share what was jumped.
#[derive(Debug, Clone)]
pub struct Clock {
    source: Source,
    /// Milliseconds that it is ahead of its source, after jumps.
    ahead: Arc<AtomicI64>,
}

#[derive(Debug, Clone)]
enum Source {
    Wall,
    Runtime { start: Timestamp, since: Instant },
}

impl Clock {
    /// The machine's clock.
    pub fn wall() -> Self {
        Self { source: Source::Wall, ahead: Arc::default() }
    }

    /// The runtime's clock, starting now: under tokio's paused time an hour of cluster time takes milliseconds.
    pub fn runtime() -> Self {
        Self::runtime_from(Timestamp::now(), Instant::now())
    }

    /// The runtime's clock, on which it was `start` at the instant `since`.
    pub fn runtime_from(start: Timestamp, since: Instant) -> Self {
        Self { source: Source::Runtime { start, since }, ahead: Arc::default() }
    }

    /// What time it is.
    pub fn now(&self) -> Timestamp {
        let true_time = match &self.source {
            Source::Wall => Timestamp::now(),
            Source::Runtime { start, since } => {
                let passed = SignedDuration::try_from(since.elapsed()).unwrap_or(SignedDuration::MAX);
                start.checked_add(passed).unwrap_or(Timestamp::MAX)
            }
        };
        true_time.checked_add(self.ahead()).unwrap_or(true_time)
    }

    /// Sets the clock ahead, or back, by so much, as a wrong clock does: only this server's, nobody else's.
    pub fn jump(&self, by: SignedDuration) {
        let millis = i64::try_from(by.as_millis()).unwrap_or(0);
        self.ahead.fetch_add(millis, Ordering::Relaxed);
    }

    /// How far jumps have taken it from the true time.
    pub fn ahead(&self) -> SignedDuration {
        SignedDuration::from_millis(self.ahead.load(Ordering::Relaxed))
    }

    /// What time it is, in whole seconds, as `metav1.Time` is written.
    pub fn seconds(&self) -> String {
        format_seconds(self.now())
    }
}

/// A time in whole seconds, as `metav1.Time` is written.
pub fn format_seconds(time: Timestamp) -> String {
    time.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_clock_jumps_and_goes_on() {
        let start: Timestamp = "2026-01-01T00:00:00Z".parse().unwrap();
        let clock = Clock::runtime_from(start, Instant::now());
        tokio::time::advance(std::time::Duration::from_secs(5)).await;
        assert_eq!(clock.seconds(), "2026-01-01T00:00:05Z");
        clock.clone().jump(SignedDuration::from_hours(1));
        tokio::time::advance(std::time::Duration::from_secs(5)).await;
        assert_eq!(clock.seconds(), "2026-01-01T01:00:10Z");
        clock.jump(SignedDuration::from_hours(-2));
        assert_eq!((clock.seconds().as_str(), clock.ahead().as_hours()), ("2025-12-31T23:00:10Z", -1));
    }
}
