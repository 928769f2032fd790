//! Which time the API server writes into objects.
use jiff::{SignedDuration, Timestamp};

/// The source of timestamps.
#[derive(Debug, Clone)]
pub enum Clock {
    /// The machine's clock.
    Wall,
    /// The runtime's clock, counted from a start: under tokio's paused time an hour of cluster time takes milliseconds.
    Runtime {
        /// What time it was at `since`.
        start: Timestamp,
        /// The runtime's instant that belongs to `start`.
        since: tokio::time::Instant,
    },
}

impl Clock {
    /// The runtime's clock, starting now.
    pub fn runtime() -> Self {
        Self::Runtime { start: Timestamp::now(), since: tokio::time::Instant::now() }
    }

    /// What time it is.
    pub fn now(&self) -> Timestamp {
        match self {
            Self::Wall => Timestamp::now(),
            Self::Runtime { start, since } => {
                let passed = SignedDuration::try_from(since.elapsed()).unwrap_or(SignedDuration::MAX);
                start.checked_add(passed).unwrap_or(Timestamp::MAX)
            }
        }
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
