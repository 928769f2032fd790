//! Wall-clock time that follows tokio's clock, so that a test with paused time moves through hours in milliseconds.

use std::time::Duration;

use jiff::Timestamp;
use tokio::time::Instant;

/// Gives the time for decisions, and turns times back into timer deadlines.
#[derive(Clone, Debug)]
pub struct Clock {
    wall: Timestamp,
    start: Instant,
}

impl Clock {
    /// A clock that shows the real time now and then runs with tokio's clock.
    pub fn starting_now() -> Self {
        Self::starting_at(Timestamp::now())
    }

    /// A clock that shows this time now and then runs with tokio's clock.
    pub fn starting_at(wall: Timestamp) -> Self {
        Self { wall, start: Instant::now() }
    }

    /// The time now.
    pub fn now(&self) -> Timestamp {
        after(self.wall, self.start.elapsed())
    }

    /// How long it is until `when`; zero when that has passed.
    pub fn until(&self, when: Timestamp) -> Duration {
        between(self.now(), when)
    }
}

/// `from` plus a span; the end of time when that does not exist.
pub fn after(from: Timestamp, span: Duration) -> Timestamp {
    jiff::SignedDuration::try_from(span)
        .ok()
        .and_then(|span| from.checked_add(span).ok())
        .unwrap_or(Timestamp::MAX)
}

/// The span from one time to a later one; zero when it is not later.
pub fn between(from: Timestamp, to: Timestamp) -> Duration {
    to.duration_since(from).try_into().unwrap_or(Duration::ZERO)
}
