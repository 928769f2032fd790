//! What must hold at every committed write, one file an invariant.

mod edits;
mod ids;
mod lease;
mod removal;
mod reserve;
#[cfg(test)]
mod stories;

use sandbox::sim::{Broken, Entry, Invariants, history::History};

pub use lease::LEASE;

/// All invariants.
pub struct Judge {
    edits: edits::Edits,
    lease: Option<lease::LeaseHolder>,
}

impl Judge {
    /// `elected`: several processes run, and only the holder of the lease may write.
    pub fn new(elected: bool) -> Self {
        Self { edits: edits::Edits::default(), lease: elected.then(lease::LeaseHolder::default) }
    }
}

impl Invariants for Judge {
    fn committed(&mut self, history: &History, entry: &Entry) -> Result<(), Broken> {
        removal::check(history, entry)?;
        reserve::check(history, entry)?;
        self.edits.check(history, entry)?;
        ids::check(history, entry)?;
        self.lease.as_mut().map_or(Ok(()), |lease| lease.check(history, entry))
    }
}
