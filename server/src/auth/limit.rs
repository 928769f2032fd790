//! Client-side rate limit: a token bucket in front of every request to the API server.

use futures::future::BoxFuture;
use std::{
    sync::{Arc, Mutex, PoisonError},
    task::{Context, Poll},
    time::Duration,
};
use tokio::time::Instant;
use tower::{Layer, Service};

/// Lets `burst` requests through at once and `qps` a second after that; the others wait their turn in order.
#[derive(Clone, Debug)]
pub struct RateLimitLayer {
    bucket: Arc<Bucket>,
}

impl RateLimitLayer {
    /// A limit of `qps` requests a second with bursts of `burst`; both at least 1.
    #[must_use]
    pub fn new(qps: u32, burst: u32) -> Self {
        let interval = Duration::from_secs(1) / qps.max(1);
        let credit = interval * burst.max(1);
        Self { bucket: Arc::new(Bucket { interval, credit, next: Mutex::new(None) }) }
    }
}

impl<S> Layer<S> for RateLimitLayer {
    type Service = RateLimit<S>;

    fn layer(&self, inner: S) -> RateLimit<S> {
        RateLimit { inner, bucket: self.bucket.clone() }
    }
}

/// Virtual scheduling: `next` is when the bucket would be full of debt-free time again.
#[derive(Debug)]
struct Bucket {
    interval: Duration,
    credit: Duration,
    next: Mutex<Option<Instant>>,
}

impl Bucket {
    /// Takes a token and says how long to wait before using it.
    fn take(&self, now: Instant) -> Duration {
        let mut next = self.next.lock().unwrap_or_else(PoisonError::into_inner);
        let earliest = now.checked_sub(self.credit).unwrap_or(now);
        let slot = next.map_or(earliest, |at| at.max(earliest)) + self.interval;
        *next = Some(slot);
        slot.saturating_duration_since(now)
    }
}

/// The service of [`RateLimitLayer`].
#[derive(Clone, Debug)]
pub struct RateLimit<S> {
    inner: S,
    bucket: Arc<Bucket>,
}

impl<S, R> Service<R> for RateLimit<S>
where
    S: Service<R>,
    S::Future: Send + 'static,
{
    type Response = S::Response;
    type Error = S::Error;
    type Future = BoxFuture<'static, Result<S::Response, S::Error>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.poll_ready(cx)
    }

    fn call(&mut self, request: R) -> Self::Future {
        let wait = self.bucket.take(Instant::now());
        // A future of the client does nothing before it is polled.
        let answer = self.inner.call(request);
        Box::pin(async move {
            if !wait.is_zero() {
                tokio::time::sleep(wait).await;
            }
            answer.await
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tower::{ServiceExt, service_fn};

    #[tokio::test(start_paused = true)]
    async fn a_burst_goes_at_once_and_the_rest_at_the_rate() {
        let start = Instant::now();
        let service = RateLimitLayer::new(10, 5)
            .layer(service_fn(|()| async { Ok::<_, std::convert::Infallible>(()) }));
        let calls = (0..25).map(|_| service.clone().oneshot(()));
        futures::future::join_all(calls).await;
        assert_eq!(start.elapsed().as_millis() / 100, 20);
    }

    #[tokio::test(start_paused = true)]
    async fn rest_fills_the_bucket_but_never_above_the_burst() {
        let bucket = RateLimitLayer::new(10, 2).bucket;
        assert_eq!(bucket.take(Instant::now()), Duration::ZERO);
        tokio::time::advance(Duration::from_secs(60)).await;
        let now = Instant::now();
        assert_eq!(bucket.take(now), Duration::ZERO);
        assert_eq!(bucket.take(now), Duration::ZERO);
        assert_eq!(bucket.take(now), Duration::from_millis(100));
    }
}
