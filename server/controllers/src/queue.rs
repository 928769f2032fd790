//! Keyed work queue: each key is worked on by one worker at a time, is in the queue once, and comes back after a pause or
//! a growing back-off. The semantics are those of client-go's rate-limited queue; all times run on tokio's clock.

use std::{
    collections::{BTreeMap, HashMap, HashSet, VecDeque},
    hash::Hash,
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};
use tokio::{sync::Notify, time::Instant};

/// How failures are spaced.
#[derive(Clone, Copy, Debug)]
pub struct Backoff {
    /// Pause after the first failure; it doubles with each further one.
    pub first: Duration,
    /// Longest pause.
    pub longest: Duration,
}

impl Default for Backoff {
    fn default() -> Self {
        Self { first: Duration::from_millis(200), longest: Duration::from_secs(60) }
    }
}

impl Backoff {
    /// The pause after so many failures in a row, counted from 1.
    #[must_use]
    pub fn pause(self, failures: u32) -> Duration {
        let doubled = self.first.saturating_mul(2u32.saturating_pow(failures.saturating_sub(1).min(30)));
        doubled.min(self.longest)
    }
}

/// The longest rest between two runs of a key.
const LONGEST_REST: Duration = Duration::from_secs(1);

struct State<T> {
    ready: VecDeque<T>,
    /// In `ready`.
    waiting: HashSet<T>,
    running: HashSet<T>,
    /// Asked for while running: goes back into the queue when it is done.
    again: HashSet<T>,
    delayed: BTreeMap<(Instant, u64), T>,
    due: HashMap<T, (Instant, u64)>,
    failures: HashMap<T, u32>,
    started: HashMap<T, Instant>,
    /// Not to be started again before this time.
    rests: HashMap<T, Instant>,
    counter: u64,
}

/// The queue.
pub struct Queue<T> {
    state: Mutex<State<T>>,
    changed: Notify,
    backoff: Backoff,
    /// How long a key rests after its last start: a burst of events becomes one run. A run that takes long is followed by
    /// a longer rest (three times as long, up to [`LONGEST_REST`]), so that one huge set does not eat a processor.
    gap: Duration,
}

impl<T: Clone + Eq + Hash + Ord> Queue<T> {
    /// An empty queue.
    #[must_use]
    pub fn new(backoff: Backoff, gap: Duration) -> Self {
        let state = State {
            ready: VecDeque::new(),
            waiting: HashSet::new(),
            running: HashSet::new(),
            again: HashSet::new(),
            delayed: BTreeMap::new(),
            due: HashMap::new(),
            failures: HashMap::new(),
            started: HashMap::new(),
            rests: HashMap::new(),
            counter: 0,
        };
        Self { state: Mutex::new(state), changed: Notify::new(), backoff, gap }
    }

    /// Asks for a run of the key, as soon as possible.
    pub fn add(&self, key: T) {
        let mut state = self.lock();
        match state.rests.get(&key).copied().filter(|at| *at > Instant::now()) {
            Some(at) if !state.running.contains(&key) => state.delay(key, at),
            _ => state.push(key),
        }
        drop(state);
        self.changed.notify_one();
    }

    /// Asks for a run of the key after a pause. An earlier run that is planned already stays.
    pub fn add_after(&self, key: T, pause: Duration) {
        self.lock().delay(key, Instant::now() + pause);
        self.changed.notify_one();
    }

    /// The run failed: comes back after a pause that grows with each failure in a row. Returns the pause.
    pub fn retry(&self, key: T) -> Duration {
        let pause = {
            let mut state = self.lock();
            let failures = state.failures.entry(key.clone()).or_insert(0);
            *failures += 1;
            self.backoff.pause(*failures)
        };
        self.add_after(key, pause);
        pause
    }

    /// The run went well: the next failure begins with a short pause again.
    pub fn forget(&self, key: &T) {
        self.lock().failures.remove(key);
    }

    /// The next key, when there is one and nobody works on it. The key has to be given back by [`Queue::done`].
    pub async fn next(&self) -> T {
        loop {
            let wake = self.changed.notified();
            let (key, next_due) = self.lock().take(Instant::now());
            if let Some(key) = key {
                // Others may have work as well: one notification wakes one worker only.
                self.changed.notify_one();
                return key;
            }
            match next_due {
                None => wake.await,
                Some(at) => {
                    tokio::select! {
                        biased;
                        () = wake => {}
                        () = tokio::time::sleep_until(at) => {}
                    }
                }
            }
        }
    }

    /// The worker is through with the key.
    pub fn done(&self, key: &T) {
        let mut state = self.lock();
        let now = Instant::now();
        state.running.remove(key);
        let started = state.started.remove(key).unwrap_or(now);
        let rest = if self.gap.is_zero() {
            now
        } else {
            (started + self.gap).max(now + ((now - started) * 3).min(LONGEST_REST))
        };
        if rest > now {
            state.rests.insert(key.clone(), rest);
        }
        if state.again.remove(key) {
            if rest > now {
                state.delay(key.clone(), rest);
            } else {
                state.push(key.clone());
            }
        }
        drop(state);
        self.changed.notify_one();
    }

    /// Drops what is known of a key that will not come again.
    pub fn discard(&self, key: &T) {
        let mut state = self.lock();
        state.failures.remove(key);
        state.rests.remove(key);
    }

    /// How many keys are ready or delayed.
    #[must_use]
    pub fn len(&self) -> usize {
        let state = self.lock();
        state.ready.len() + state.delayed.len()
    }

    /// Whether nothing is ready or delayed.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn lock(&self) -> MutexGuard<'_, State<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T: Clone + Eq + Hash + Ord> State<T> {
    fn push(&mut self, key: T) {
        if self.running.contains(&key) {
            self.again.insert(key);
        } else if self.waiting.insert(key.clone()) {
            if let Some(due) = self.due.remove(&key) {
                self.delayed.remove(&due);
            }
            self.ready.push_back(key);
        }
    }

    fn delay(&mut self, key: T, at: Instant) {
        if self.waiting.contains(&key) {
            return;
        }
        if let Some(planned) = self.due.get(&key).copied() {
            if planned.0 <= at {
                return;
            }
            self.delayed.remove(&planned);
        }
        self.counter += 1;
        let due = (at, self.counter);
        self.due.insert(key.clone(), due);
        self.delayed.insert(due, key);
    }

    fn take(&mut self, now: Instant) -> (Option<T>, Option<Instant>) {
        while let Some(entry) = self.delayed.first_entry().filter(|entry| entry.key().0 <= now) {
            let key = entry.remove();
            self.due.remove(&key);
            self.push(key);
        }
        let key = self.ready.pop_front();
        if let Some(key) = &key {
            self.waiting.remove(key);
            self.running.insert(key.clone());
            self.started.insert(key.clone(), now);
        }
        (key, self.delayed.first_key_value().map(|((at, _), _)| *at))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    fn queue(gap: Duration) -> Queue<&'static str> {
        Queue::new(Backoff { first: Duration::from_secs(1), longest: Duration::from_secs(5) }, gap)
    }

    async fn at_once(queue: &Queue<&'static str>) -> Option<&'static str> {
        tokio::time::timeout(Duration::from_millis(1), queue.next()).await.ok()
    }

    #[tokio::test(start_paused = true)]
    async fn a_key_is_in_the_queue_once_and_with_one_worker_at_a_time() {
        let queue = queue(Duration::ZERO);
        queue.add("a");
        queue.add("a");
        queue.add("b");
        assert_eq!(at_once(&queue).await, Some("a"));
        queue.add("a");
        assert_eq!(at_once(&queue).await, Some("b"));
        assert_eq!(at_once(&queue).await, None, "a is being worked on");
        queue.done(&"a");
        assert_eq!(at_once(&queue).await, Some("a"), "what came meanwhile is not lost");
        queue.done(&"a");
        assert_eq!(at_once(&queue).await, None);
    }

    #[tokio::test(start_paused = true)]
    async fn failures_come_back_later_and_later() {
        let queue = queue(Duration::ZERO);
        let pauses: Vec<u64> = (0..4).map(|_| queue.retry("a").as_secs()).collect();
        assert_eq!(pauses, [1, 2, 4, 5]);
        queue.forget(&"a");
        assert_eq!(queue.retry("b").as_secs(), 1);
        let begun = Instant::now();
        assert_eq!(queue.next().await, "a");
        assert_eq!(begun.elapsed().as_secs(), 1, "the earliest pause counts");
    }

    #[tokio::test(start_paused = true)]
    async fn an_event_ends_a_pause() {
        let queue = queue(Duration::ZERO);
        queue.add_after("a", Duration::from_secs(60));
        queue.add("a");
        assert_eq!(at_once(&queue).await, Some("a"));
        queue.done(&"a");
        tokio::time::sleep(Duration::from_secs(120)).await;
        assert_eq!(at_once(&queue).await, None, "the planned run went with it");
    }

    #[tokio::test(start_paused = true)]
    async fn a_burst_is_one_run_after_the_gap() {
        let queue = queue(Duration::from_millis(100));
        queue.add("a");
        assert_eq!(at_once(&queue).await, Some("a"), "the first comes at once");
        queue.add("a");
        queue.done(&"a");
        queue.add("a");
        let begun = Instant::now();
        assert_eq!(queue.next().await, "a");
        let waited = begun.elapsed();
        assert!(waited > Duration::from_millis(90) && waited < Duration::from_millis(110), "{waited:?}");
        queue.done(&"a");
        assert!(queue.is_empty());
    }

    #[tokio::test(start_paused = true)]
    async fn a_run_that_takes_long_is_followed_by_a_longer_rest() {
        let queue = queue(Duration::from_millis(100));
        for (takes, rests) in [(10, 90), (200, 600), (5000, 1000)] {
            queue.add("a");
            assert_eq!(queue.next().await, "a");
            tokio::time::sleep(Duration::from_millis(takes)).await;
            queue.done(&"a");
            queue.add("a");
            let begun = Instant::now();
            assert_eq!(queue.next().await, "a");
            let rested = u64::try_from(begun.elapsed().as_millis()).unwrap();
            assert!((rests..rests + 5).contains(&rested), "after {takes} ms: {rested} ms");
            queue.done(&"a");
            tokio::time::sleep(Duration::from_secs(5)).await;
        }
    }

    #[tokio::test(start_paused = true)]
    async fn many_workers_share_the_work() {
        let queue: Arc<Queue<u32>> = Arc::new(Queue::new(Backoff::default(), Duration::ZERO));
        let done = Arc::new(Mutex::new(Vec::new()));
        let mut workers = tokio::task::JoinSet::new();
        for _ in 0..4 {
            let (queue, done) = (queue.clone(), done.clone());
            workers.spawn(async move {
                loop {
                    let key = queue.next().await;
                    tokio::time::sleep(Duration::from_secs(1)).await;
                    done.lock().unwrap().push(key);
                    queue.done(&key);
                }
            });
        }
        (0..8).for_each(|key| queue.add(key));
        let begun = Instant::now();
        while done.lock().unwrap().len() < 8 {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        assert!(begun.elapsed() < Duration::from_millis(2100), "two rounds of four: {:?}", begun.elapsed());
    }
}
