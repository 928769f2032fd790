//! What time it is, as something that tests can set: times in objects are compared with it.

use jiff::{SignedDuration, Timestamp};
use std::{fmt, sync::Arc};
use tokio::time::Instant;

/// A source of wall-clock time.
#[derive(Clone)]
pub struct Clock(Arc<dyn Fn() -> Timestamp + Send + Sync>);

impl Clock {
    /// Time counted from `start` on tokio's clock, which stands still and jumps in tests with paused time.
    #[must_use]
    pub fn counted_from(start: Timestamp) -> Self {
        let since = Instant::now();
        Self(Arc::new(move || {
            let passed = SignedDuration::try_from(since.elapsed()).unwrap_or(SignedDuration::MAX);
            start.checked_add(passed).unwrap_or(Timestamp::MAX)
        }))
    }

    /// What time it is.
    #[must_use]
    pub fn now(&self) -> Timestamp {
        (self.0)()
    }
}

impl Default for Clock {
    /// The machine's clock.
    fn default() -> Self {
        Self(Arc::new(Timestamp::now))
    }
}

impl fmt::Debug for Clock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Clock({})", self.now())
    }
}
