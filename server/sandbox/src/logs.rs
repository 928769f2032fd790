//! Lets the embedded API tell what simulated containers say.
use jiff::Timestamp;
use serde_json::Value;

use crate::api::logs::{ContainerLog, LogLine, LogSource, NoLog};
use crate::nodes::log::{self, Line, LogError};

/// The logs of the simulated nodes of one seed.
#[derive(Debug, Clone, Copy)]
pub struct SimulatedLogs {
    /// [`crate::nodes::Options::seed`].
    pub seed: u64,
}

impl LogSource for SimulatedLogs {
    fn open(
        &self,
        pod: &Value,
        container: Option<&str>,
        previous: bool,
    ) -> Result<Box<dyn ContainerLog>, NoLog> {
        match log::ContainerLog::of(pod, container, previous, self.seed) {
            Ok(log) => Ok(Box::new(log)),
            Err(LogError::NotBound) => Err(NoLog::Nothing),
            Err(error) => Err(NoLog::Refused(error.to_string())),
        }
    }
}

fn told(line: Line) -> LogLine {
    LogLine { time: line.time, text: line.text }
}

impl ContainerLog for log::ContainerLog {
    fn between(&self, from: Timestamp, to: Timestamp) -> Vec<LogLine> {
        self.between(from, to).map(told).collect()
    }

    fn last(&self, count: usize, until: Timestamp) -> Vec<LogLine> {
        self.last(count, until).into_iter().map(told).collect()
    }

    fn next_after(&self, time: Timestamp) -> Option<Timestamp> {
        self.next_after(time)
    }

    fn ended(&self) -> Option<Timestamp> {
        self.ended()
    }
}
