//! What happened in a run: everything down to the last watch event, and of it the lines that people want to read.
use std::time::Duration;

/// The record of a run.
#[derive(Clone, Debug, Default)]
pub struct Trace {
    all: Vec<String>,
    /// Which of them are for people.
    lines: Vec<usize>,
}

impl Trace {
    /// Something that people want to read.
    pub fn line(&mut self, at: Duration, who: &str, what: &str) {
        self.lines.push(self.all.len());
        self.all.push(format!("{:>9.3} s  {who:<8} {what}", at.as_secs_f64()));
    }

    /// Something that only counts for telling whether two runs went the same way.
    pub fn note(&mut self, what: String) {
        self.all.push(what);
    }

    /// The lines for people, in order.
    pub fn lines(&self) -> Vec<String> {
        self.lines.iter().filter_map(|index| self.all.get(*index).cloned()).collect()
    }

    /// Everything: requests as they were sent, commits, what watches delivered, and the lines for people.
    pub fn everything(&self) -> &[String] {
        &self.all
    }
}
