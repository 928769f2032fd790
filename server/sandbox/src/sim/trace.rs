//! What happened in a run, as lines for people, and as a digest of everything down to the last watch event.
use std::time::Duration;

use super::random::mix;

/// The record of a run.
#[derive(Clone, Debug, Default)]
pub struct Trace {
    lines: Vec<String>,
    digest: u64,
    count: u64,
}

impl Trace {
    /// Something that people want to read.
    pub fn line(&mut self, at: Duration, who: &str, what: &str) {
        let text = format!("{:>9.3} s  {who:<8} {what}", at.as_secs_f64());
        self.note(&text);
        self.lines.push(text);
    }

    /// Something that only counts for telling whether two runs were the same.
    pub fn note(&mut self, what: &str) {
        self.digest = mix(self.digest, what.as_bytes());
        self.count += 1;
    }

    /// The lines, in order.
    pub fn lines(&self) -> &[String] {
        &self.lines
    }

    /// Number and digest of everything that was noted. Two runs that agree in it went the same way.
    pub fn digest(&self) -> (u64, u64) {
        (self.count, self.digest)
    }
}
