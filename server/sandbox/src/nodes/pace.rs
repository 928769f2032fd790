//! A bound on how many writes begin in a second: a bucket that fills evenly and holds one second's worth.

use std::time::Duration;

use tokio::time::Instant;

/// The bucket. Without a rate it never holds anything back.
#[derive(Debug)]
pub struct Pace {
    per_second: Option<f64>,
    tokens: f64,
    filled: Instant,
}

impl Pace {
    /// A full bucket for this many writes a second.
    pub fn new(per_second: Option<u32>) -> Self {
        let per_second = per_second.map(f64::from);
        Self { per_second, tokens: per_second.unwrap_or(0.0), filled: Instant::now() }
    }

    /// Takes one write out of the bucket, or says how long to wait for it.
    pub fn take(&mut self, now: Instant) -> Result<(), Duration> {
        let Some(rate) = self.per_second else { return Ok(()) };
        self.tokens = (self.tokens + rate * now.duration_since(self.filled).as_secs_f64()).min(rate.max(1.0));
        self.filled = now;
        if self.tokens >= 1.0 {
            self.tokens -= 1.0;
            return Ok(());
        }
        // One more than needed in nanoseconds, so that rounding never wakes us too early.
        Err(Duration::from_secs_f64((1.0 - self.tokens) / rate) + Duration::from_nanos(1))
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tokio::time::Instant;

    use super::Pace;

    #[test]
    fn writes_begin_no_faster_than_the_rate() {
        let start = Instant::now();
        let mut pace = Pace::new(Some(10));
        let (mut now, mut begun) = (start, 0);
        while now.duration_since(start) < Duration::from_secs(3) {
            match pace.take(now) {
                Ok(()) => begun += 1,
                Err(wait) => now += wait,
            }
        }
        assert!((39..=41).contains(&begun), "{begun}: one bucket and three seconds");
    }

    #[test]
    fn without_a_rate_nothing_waits() {
        let mut pace = Pace::new(None);
        assert!((0..1000).all(|_| pace.take(Instant::now()).is_ok()));
    }
}
