//! Counters of the controllers, in Prometheus' text format through whatever registry the process exposes.

use prometheus_client::{
    encoding::EncodeLabelSet,
    metrics::{
        counter::Counter,
        family::Family,
        gauge::Gauge,
        histogram::{Histogram, exponential_buckets},
    },
    registry::Registry,
};

/// Which controller.
#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
pub struct ControllerLabel {
    /// `gameserverset` or `gameserver`.
    pub controller: &'static str,
}

/// Which controller failed of what.
#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
pub struct ErrorLabels {
    /// `gameserverset` or `gameserver`.
    pub controller: &'static str,
    /// Stable category: `conflict`, `forbidden`, `invalid`, `not-found`, `unavailable`, `panic`, `other`.
    pub category: &'static str,
}

/// What was written.
#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
pub struct WriteLabels {
    /// `create`, `patch` or `delete`.
    pub verb: &'static str,
    /// `pods`, `gameservers/status` and so on.
    pub resource: &'static str,
}

/// The counters. Clones count into the same ones.
#[derive(Clone, Debug)]
pub struct Metrics {
    /// Reconciles begun.
    pub reconciles: Family<ControllerLabel, Counter>,
    /// Reconciles that failed and are tried again.
    pub errors: Family<ErrorLabels, Counter>,
    /// Seconds that a reconcile took.
    pub seconds: Family<ControllerLabel, Histogram>,
    /// Keys that wait for a worker or for their time.
    pub queued: Family<ControllerLabel, Gauge>,
    /// Write requests that the API accepted.
    pub writes: Family<WriteLabels, Counter>,
    /// Write requests that it refused.
    pub refused_writes: Family<WriteLabels, Counter>,
    /// Events that were left out because there were too many.
    pub dropped_events: Counter,
    /// 1 while this process leads.
    pub leader: Gauge,
}

impl Default for Metrics {
    fn default() -> Self {
        Self {
            reconciles: Family::default(),
            errors: Family::default(),
            // 1 ms to about 16 s.
            seconds: Family::new_with_constructor(|| Histogram::new(exponential_buckets(0.001, 2.0, 15))),
            queued: Family::default(),
            writes: Family::default(),
            refused_writes: Family::default(),
            dropped_events: Counter::default(),
            leader: Gauge::default(),
        }
    }
}

impl Metrics {
    /// Makes the counters known to a registry, each with the prefix `pilothouse_controller_`.
    pub fn register(&self, registry: &mut Registry) {
        let registry = registry.sub_registry_with_prefix("pilothouse_controller");
        registry.register("reconciles", "Reconciles begun", self.reconciles.clone());
        registry.register("errors", "Reconciles that failed and are tried again", self.errors.clone());
        registry.register("reconcile_seconds", "Seconds that a reconcile took", self.seconds.clone());
        registry.register("queued", "Keys that wait for a worker or for their time", self.queued.clone());
        registry.register("writes", "Write requests that the API accepted", self.writes.clone());
        registry.register(
            "refused_writes",
            "Write requests that the API refused",
            self.refused_writes.clone(),
        );
        registry.register("dropped_events", "Events that were left out", self.dropped_events.clone());
        registry.register("leader", "1 while this process leads", self.leader.clone());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_counter_has_its_name() {
        let (metrics, mut registry) = (Metrics::default(), Registry::default());
        metrics.register(&mut registry);
        metrics.writes.get_or_create(&WriteLabels { verb: "create", resource: "pods" }).inc();
        metrics.leader.set(1);
        let mut text = String::new();
        prometheus_client::encoding::text::encode(&mut text, &registry).unwrap();
        assert!(
            text.contains("pilothouse_controller_writes_total{verb=\"create\",resource=\"pods\"} 1"),
            "{text}"
        );
        assert!(text.contains("pilothouse_controller_leader 1"), "{text}");
    }
}
