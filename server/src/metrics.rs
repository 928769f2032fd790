//! Metrics of the process, in one registry.

use prometheus_client::{encoding::text::encode, metrics::gauge::Gauge, registry::Registry};
use std::sync::{Arc, Mutex, PoisonError, atomic::AtomicI64};

/// The registry and the gauges that the HTTP side sets.
#[derive(Clone)]
pub struct Metrics {
    registry: Arc<Mutex<Registry>>,
    servers: Gauge<i64, AtomicI64>,
}

impl Default for Metrics {
    fn default() -> Self {
        let mut registry = Registry::with_prefix("pilothouse");
        let servers = Gauge::default();
        registry.register("game_servers", "Game servers on the board", servers.clone());
        Self { registry: Arc::new(Mutex::new(registry)), servers }
    }
}

impl Metrics {
    /// Sets the number of servers on the board.
    pub fn set_servers(&self, servers: u32) {
        self.servers.set(i64::from(servers));
    }

    /// Registers more metrics.
    pub fn register(&self, add: impl FnOnce(&mut Registry)) {
        add(&mut self.registry.lock().unwrap_or_else(PoisonError::into_inner));
    }

    /// The text that a scraper reads.
    #[must_use]
    pub fn encode(&self) -> String {
        let mut text = String::new();
        let registry = self.registry.lock().unwrap_or_else(PoisonError::into_inner);
        if let Err(error) = encode(&mut text, &registry) {
            tracing::error!(%error, "metrics could not be written");
        }
        text
    }
}
