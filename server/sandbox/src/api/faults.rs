//! Trouble on purpose, switched at run time: the API away, throttled, in conflict, with watches that end or lag.
//!
//! Used by tests now and by the sandbox's own page. Times run on tokio's clock, so paused time works.
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use tokio::time::Instant;

use super::error::ApiError;

/// The switches. Clones share them.
#[derive(Debug, Clone)]
pub struct Faults {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    state: Mutex<State>,
    watches: tokio::sync::watch::Sender<WatchOrders>,
}

#[derive(Debug)]
struct State {
    random: StdRng,
    away_until: Option<Instant>,
    unavailable_until: Option<Instant>,
    throttled_until: Option<Instant>,
    retry_after: Duration,
    conflict_rate: f64,
}

/// The trouble that goes on; times and shares are zero where there is none.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Going {
    /// How long the server stays away.
    pub away: Duration,
    /// How long it answers 503.
    pub unavailable: Duration,
    /// How long it answers 429.
    pub throttled: Duration,
    /// Share (0 to 1) of updates and patches that answer 409.
    pub conflicts: f64,
    /// How late events reach watchers.
    pub watch_delay: Duration,
}

/// Orders to running watches. The counters grow with every order.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct WatchOrders {
    pub drop: u64,
    pub expire: u64,
    pub delay: Duration,
}

/// What becomes of a request.
#[derive(Debug)]
pub(super) enum Verdict {
    /// It is answered as usual.
    Answer,
    /// The connection breaks.
    Break,
    /// It is refused; seconds for `Retry-After`, if any.
    Refuse(ApiError, Option<u64>),
}

impl Faults {
    pub(super) fn new(seed: u64) -> Self {
        let state = State {
            random: StdRng::seed_from_u64(seed),
            away_until: None,
            unavailable_until: None,
            throttled_until: None,
            retry_after: Duration::from_secs(1),
            conflict_rate: 0.0,
        };
        let watches = tokio::sync::watch::Sender::new(WatchOrders::default());
        Self { shared: Arc::new(Shared { state: Mutex::new(state), watches }) }
    }

    fn with<T>(&self, change: impl FnOnce(&mut State) -> T) -> T {
        change(&mut self.shared.state.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Connections break and running watches are cut, as if the server were gone.
    pub fn away_for(&self, time: Duration) {
        self.with(|s| s.away_until = Some(Instant::now() + time));
        self.drop_watches();
    }

    /// Ends an absence.
    pub fn back(&self) {
        self.with(|s| s.away_until = None);
    }

    /// Every request answers 503.
    pub fn unavailable_for(&self, time: Duration) {
        self.with(|s| s.unavailable_until = Some(Instant::now() + time));
    }

    /// Every request answers 429 with `Retry-After`.
    pub fn throttle_for(&self, time: Duration, retry_after: Duration) {
        self.with(|s| {
            s.throttled_until = Some(Instant::now() + time);
            s.retry_after = retry_after;
        });
    }

    /// This share (0 to 1) of updates and patches answers 409 without having been done.
    pub fn conflicts(&self, rate: f64) {
        self.with(|s| s.conflict_rate = rate.clamp(0.0, 1.0));
    }

    /// Ends all running watches without a word.
    pub fn drop_watches(&self) {
        self.shared.watches.send_modify(|orders| orders.drop += 1);
    }

    /// Ends all running watches with 410.
    pub fn expire_watches(&self) {
        self.shared.watches.send_modify(|orders| orders.expire += 1);
    }

    /// Events reach watchers so much later; zero ends it.
    pub fn delay_watches(&self, delay: Duration) {
        self.shared.watches.send_modify(|orders| orders.delay = delay);
    }

    /// What goes on now.
    pub fn going(&self) -> Going {
        let now = Instant::now();
        let left =
            |until: Option<Instant>| until.map_or(Duration::ZERO, |u| u.saturating_duration_since(now));
        let watch_delay = self.shared.watches.borrow().delay;
        self.with(|s| Going {
            away: left(s.away_until),
            unavailable: left(s.unavailable_until),
            throttled: left(s.throttled_until),
            conflicts: s.conflict_rate,
            watch_delay,
        })
    }

    /// Ends all trouble.
    pub fn clear(&self) {
        self.with(|s| {
            s.away_until = None;
            s.unavailable_until = None;
            s.throttled_until = None;
            s.conflict_rate = 0.0;
        });
        self.delay_watches(Duration::ZERO);
    }

    /// Judges a request as it arrives.
    pub(super) fn judge(&self) -> Verdict {
        let now = Instant::now();
        let runs = |until: Option<Instant>| until.is_some_and(|until| now < until);
        self.with(|s| {
            if runs(s.away_until) {
                Verdict::Break
            } else if runs(s.unavailable_until) {
                let message = "the server is currently unable to handle the request";
                Verdict::Refuse(ApiError::new(503, "ServiceUnavailable", message), None)
            } else if runs(s.throttled_until) {
                let message = "Too many requests, please try again later.";
                Verdict::Refuse(
                    ApiError::new(429, "TooManyRequests", message),
                    Some(s.retry_after.as_secs().max(1)),
                )
            } else {
                Verdict::Answer
            }
        })
    }

    /// Whether an update is to fail with a conflict.
    pub(super) fn conflict(&self) -> bool {
        self.with(|s| s.conflict_rate > 0.0 && s.random.random_bool(s.conflict_rate))
    }

    pub(super) fn watch_orders(&self) -> tokio::sync::watch::Receiver<WatchOrders> {
        self.shared.watches.subscribe()
    }
}
