//! Running the controllers: feeds, queues and workers, only while this process leads.
//!
//! The caches are kept warm by every replica; a new leader starts from what it already knows, looks at everything once,
//! and goes on from there. Losing the lease ends every reconcile at its next await: the next write would be another
//! leader's business.

mod feeds;
mod server;
mod set;

use crate::{
    cache::{Caches, Key},
    clock::Clock,
    events::Events,
    metrics::{ControllerLabel, ErrorLabels, Metrics},
    queue::{Backoff, Queue},
    write::{Category, Limiter, WriteError, Writer},
};
use futures::FutureExt;
use kube::Client;
use std::{
    collections::HashMap,
    panic::AssertUnwindSafe,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};
use tokio::{sync::watch, time::Instant};
use tokio_util::sync::CancellationToken;

/// Name of the controller of sets, in metrics and events as upstream has it.
const SET_CONTROLLER: &str = "gameserverset-controller";
/// Name of the controller of servers, in metrics and events as upstream has it.
const SERVER_CONTROLLER: &str = "gameserver-controller";

/// How hard the controllers may work.
#[derive(Clone, Debug)]
pub struct Options {
    /// Sets that are reconciled at once.
    pub set_workers: usize,
    /// Servers that are reconciled at once.
    pub server_workers: usize,
    /// Writes under way at once, for all of them.
    pub writes_in_flight: usize,
    /// Writes a second; no limit when absent.
    pub qps: Option<u32>,
    /// Writes that may be begun at once after a quiet time.
    pub burst: u32,
    /// How long a write is waited for to come back through the watch before work goes on without it.
    pub seen_timeout: Duration,
    /// Failures of a key come back after a growing pause.
    pub backoff: Backoff,
    /// The same set is not looked at again before this time: a burst of pod events becomes one look.
    pub set_gap: Duration,
    /// What time it is.
    pub clock: Clock,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            set_workers: 10,
            server_workers: 16,
            writes_in_flight: 64,
            qps: Some(500),
            burst: 1000,
            seen_timeout: Duration::from_secs(5),
            backoff: Backoff::default(),
            set_gap: Duration::from_millis(100),
            clock: Clock::default(),
        }
    }
}

/// What the controllers work with.
#[derive(Clone)]
pub struct Context {
    /// Client for writes, with the rights of the process.
    pub client: Client,
    /// What they see.
    pub caches: Caches,
    /// How hard they may work.
    pub options: Options,
    /// Where events go.
    pub events: Events,
    /// What is counted.
    pub metrics: Metrics,
}

/// Runs the controllers until `stop`. Only while `leader` is true anything is written.
pub async fn run(context: Context, mut leader: watch::Receiver<bool>, stop: CancellationToken) {
    loop {
        let leads = *leader.borrow_and_update();
        context.metrics.leader.set(i64::from(leads));
        tokio::select! {
            biased;
            () = stop.cancelled() => break,
            changed = leader.changed() => if changed.is_err() {
                // Nobody can take the leadership away any more, or give it.
                if !leads { break }
                tokio::select! {
                    biased;
                    () = stop.cancelled() => {}
                    () = lead(&context) => {}
                }
                break;
            },
            () = lead(&context), if leads => {}
        }
    }
    context.metrics.leader.set(0);
}

/// Works until dropped.
async fn lead(context: &Context) {
    context.caches.wait_synced().await;
    let shared = Arc::new(Shared::new(context));
    let mut tasks = tokio::task::JoinSet::new();
    for _ in 0..context.options.set_workers.max(1) {
        let shared = shared.clone();
        tasks.spawn(async move {
            work(&shared, &shared.sets, SET_CONTROLLER, |key| Box::pin(set::reconcile(&shared, key))).await;
        });
    }
    for _ in 0..context.options.server_workers.max(1) {
        let shared = shared.clone();
        tasks.spawn(async move {
            work(&shared, &shared.servers, SERVER_CONTROLLER, |key| {
                Box::pin(server::reconcile(&shared, key))
            })
            .await;
        });
    }
    let feeding = shared.clone();
    tasks.spawn(async move { feeds::run(&feeding).await });
    // Dropping the set aborts its tasks, so the end of the leadership ends the work.
    while tasks.join_next().await.is_some() {}
}

/// What all workers share.
struct Shared {
    caches: Caches,
    client: Client,
    writer: Writer,
    events: Events,
    metrics: Metrics,
    options: Options,
    sets: Queue<Key>,
    servers: Queue<Key>,
    memory: Mutex<HashMap<Key, set::Memory>>,
}

impl Shared {
    fn new(context: &Context) -> Self {
        let options = context.options.clone();
        let limiter = Limiter::new(options.qps, options.burst);
        Self {
            caches: context.caches.clone(),
            client: context.client.clone(),
            writer: Writer::new(
                context.client.clone(),
                context.metrics.clone(),
                limiter,
                options.writes_in_flight,
            ),
            events: context.events.clone(),
            metrics: context.metrics.clone(),
            sets: Queue::new(options.backoff, options.set_gap),
            servers: Queue::new(options.backoff, Duration::ZERO),
            options,
            memory: Mutex::default(),
        }
    }

    fn memory(&self) -> std::sync::MutexGuard<'_, HashMap<Key, set::Memory>> {
        self.memory.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What comes after a reconcile that went well.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Next {
    /// Look again after this time even when nothing happens.
    look_again: Option<Duration>,
    /// The object is gone: nothing has to be remembered of it.
    gone: bool,
}

type Reconciled<'a> = std::pin::Pin<Box<dyn Future<Output = Result<Next, WriteError>> + Send + 'a>>;

async fn work<'a>(
    shared: &'a Shared,
    queue: &'a Queue<Key>,
    controller: &'static str,
    reconcile: impl Fn(Key) -> Reconciled<'a>,
) {
    let label = ControllerLabel { controller };
    loop {
        let key = queue.next().await;
        shared.metrics.reconciles.get_or_create(&label).inc();
        let begun = Instant::now();
        // A bug in one reconcile must not end the worker for all others.
        let result = AssertUnwindSafe(reconcile(key.clone())).catch_unwind().await;
        shared.metrics.seconds.get_or_create(&label).observe(begun.elapsed().as_secs_f64());
        let failure = match result {
            Ok(Ok(next)) => {
                queue.forget(&key);
                if let Some(pause) = next.look_again {
                    queue.add_after(key.clone(), pause);
                }
                queue.done(&key);
                if next.gone {
                    queue.discard(&key);
                }
                None
            }
            Ok(Err(error)) => Some((error.category, error.to_string())),
            Err(panic) => Some((Category::Panic, panic_text(&*panic))),
        };
        if let Some((category, error)) = failure {
            let labels = ErrorLabels { controller, category: category.as_str() };
            shared.metrics.errors.get_or_create(&labels).inc();
            let retry_seconds = queue.retry(key.clone()).as_secs_f64();
            queue.done(&key);
            if category == Category::Conflict {
                // Somebody else was quicker, which happens all the time and is put right by looking again.
                tracing::debug!(controller, %key, %error, retry_seconds, "{key} changed meanwhile, trying again");
            } else {
                tracing::warn!(controller, %key, %error, retry_seconds, "{key} failed, trying again: {error}");
            }
        }
        let queued = i64::try_from(queue.len()).unwrap_or(i64::MAX);
        shared.metrics.queued.get_or_create(&label).set(queued);
    }
}

fn panic_text(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_else(|| "panic".to_owned())
}
