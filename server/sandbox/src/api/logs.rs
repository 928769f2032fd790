//! What containers say: the API server has no kubelets to ask, so whoever plays them may tell.
use std::fmt;
use std::sync::{Arc, OnceLock};

use jiff::Timestamp;
use serde_json::Value;

/// One line of a log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogLine {
    /// When it was said.
    pub time: Timestamp,
    /// What was said, without the end of the line.
    pub text: String,
}

/// Why there is no log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NoLog {
    /// No node has the pod: the answer is an empty log.
    Nothing,
    /// The request cannot be answered; a 400 with these words.
    Refused(String),
}

/// The log of one run of one container.
pub trait ContainerLog: Send + Sync {
    /// The lines from one time to another, both included, in their order.
    fn between(&self, from: Timestamp, to: Timestamp) -> Vec<LogLine>;
    /// The last lines up to a time, in their order.
    fn last(&self, count: usize, until: Timestamp) -> Vec<LogLine>;
    /// When the next line after a time is said; none when none is expected.
    fn next_after(&self, time: Timestamp) -> Option<Timestamp>;
    /// When the run ended.
    fn ended(&self) -> Option<Timestamp>;
}

/// Gives the logs of containers.
pub trait LogSource: Send + Sync {
    /// The log of a container of a pod; `container` may be absent where the pod has only one. With `previous` that of the run
    /// before.
    ///
    /// # Errors
    /// [`NoLog`] says why there is none.
    fn open(
        &self,
        pod: &Value,
        container: Option<&str>,
        previous: bool,
    ) -> Result<Box<dyn ContainerLog>, NoLog>;
}

/// The place of the source, filled once.
#[derive(Default)]
pub(super) struct Slot(OnceLock<Arc<dyn LogSource>>);

impl Slot {
    pub fn fill(&self, source: Arc<dyn LogSource>) {
        if self.0.set(source).is_err() {
            tracing::warn!("logs are told already: a second source is left out");
        }
    }

    pub fn get(&self) -> Option<&dyn LogSource> {
        self.0.get().map(AsRef::as_ref)
    }
}

impl fmt::Debug for Slot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.get().is_some() { "Slot(filled)" } else { "Slot(empty)" })
    }
}
