//! Simulation: processes under test against the embedded API, while everything that can go wrong between them does, at
//! moments that come from a seed.
//!
//! A [`Scenario`] says what the world is, what people do, how a process is started, what must hold at every committed write
//! ([`Invariants`]) and what must be reached when the faults end. [`check`] plays one seed: it draws a [`schedule`], runs it
//! on a single thread with a clock that jumps from event to event (minutes take milliseconds), and, when something does not
//! hold, looks for the shortest schedule that breaks the same. The same seed gives the same run, to the last watch event.
//!
//! What goes wrong is a [`fault::Fault`]. What a process knew when it wrote is told to the invariants with the write
//! ([`history::View`]), because a controller can only be judged by what it could have seen.
//!
//! Code under test must not draw randomness of its own or read the machine's clock (it gets a seed and the time in
//! [`Launch`]), must not walk over maps in random order where the order matters, and uses `tokio::select!` with `biased`.

mod cluster;
pub mod fault;
pub mod history;
mod hub;
mod many;
mod network;
mod random;
mod requests;
mod run;
mod schedule;
mod shrink;
mod trace;
mod watch;

use std::fmt;

use jiff::Timestamp;
use serde_json::Value;
use tokio::task::AbortHandle;
use tokio_util::sync::CancellationToken;

pub use history::{Entry, History, View, Writer};
pub use many::{Failure, check, check_all};
pub use random::Random;
pub use requests::Call;
pub use run::{Outcome, run};
pub use schedule::{Schedule, Step, draw};
pub use trace::Trace;

/// What is simulated.
pub trait Scenario: Sync {
    /// What people do.
    type Action: Clone + fmt::Debug + fmt::Display + Send;

    /// The objects that are there from the start, each with the path of its collection.
    fn world(&self, seed: u64) -> Vec<(String, Value)>;

    /// How many processes run side by side.
    fn processes(&self, seed: u64) -> usize;

    /// The kinds that watches are held for: plural and group.
    fn resources(&self) -> &'static [&'static str];

    /// The kinds that are owners or have some, for garbage collection: plural and group, and the beginning of the path
    /// (`/api/v1`).
    fn owned(&self) -> &'static [(&'static str, &'static str)];

    /// Draws something that somebody does.
    fn action(&self, random: &mut Random) -> Self::Action;

    /// What an action means as things stand; `None` when there is nothing to do.
    fn perform(&self, action: &Self::Action, history: &History) -> Option<Call>;

    /// Starts a process; its tasks are aborted when it dies.
    fn start(&self, launch: Launch) -> Vec<AbortHandle>;

    /// A fresh judge.
    fn invariants(&self, seed: u64) -> Box<dyn Invariants>;

    /// Whether what has to be reached without faults is reached, and if not, why.
    ///
    /// # Errors
    /// What is still missing.
    fn goal(&self, history: &History) -> Result<(), String>;
}

/// Judges every commit.
pub trait Invariants: Send {
    /// `history` holds the entry already.
    ///
    /// # Errors
    /// Which invariant the commit breaks, and how.
    fn committed(&mut self, history: &History, entry: &Entry) -> Result<(), Broken>;
}

/// An invariant that does not hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Broken {
    /// Which.
    pub invariant: &'static str,
    /// How.
    pub what: String,
}

impl Broken {
    /// An invariant and how it is broken.
    pub fn new(invariant: &'static str, what: impl Into<String>) -> Self {
        Self { invariant, what: what.into() }
    }
}

impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.invariant, self.what)
    }
}

/// What a process is started with.
pub struct Launch {
    /// Its way to the API.
    pub client: kube::Client,
    /// Unique name of this life of the process.
    pub name: String,
    /// Its place among the processes.
    pub process: usize,
    /// For whatever it draws.
    pub seed: u64,
    /// What time it is; later times follow tokio's clock.
    pub now: Timestamp,
    /// Cancelled when it dies, after everything was aborted and when nothing of it reaches the API any more.
    pub stop: CancellationToken,
}

/// A process that lives. Dropping it is its death.
struct Process {
    tasks: Vec<AbortHandle>,
    stop: CancellationToken,
}

impl Drop for Process {
    fn drop(&mut self) {
        self.tasks.iter().for_each(AbortHandle::abort);
        self.stop.cancel();
    }
}
