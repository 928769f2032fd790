//! What can go wrong between a process and its API, and with the process itself.
use std::fmt;
use std::time::Duration;

use super::random::Random;

/// Before or after a write took effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moment {
    /// It never reached the API.
    Before,
    /// It was done, and nobody hears of it.
    After,
}

/// How a request fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum How {
    /// The API refuses with this status.
    Status(u16),
    /// The connection breaks.
    Broken,
    /// No answer comes for half a minute, then the connection breaks.
    Silence,
}

/// One thing that goes wrong. `process` is its place among the processes, counted from 0.
#[derive(Clone, Debug, PartialEq)]
pub enum Fault {
    /// Its next requests fail.
    Fail {
        /// Whose.
        process: usize,
        /// Only writes, or any request.
        writes: bool,
        /// Before or after the write took effect.
        moment: Moment,
        /// How.
        how: How,
        /// How many.
        times: u32,
    },
    /// Its next requests take this much longer to arrive.
    Slow {
        /// Whose.
        process: usize,
        /// How much.
        by: Duration,
        /// How many.
        times: u32,
    },
    /// It cannot reach the API, and its watches are cut.
    Partition {
        /// Whose.
        process: usize,
        /// For how long.
        lasts: Duration,
    },
    /// It cannot renew its lease.
    LeaseLost {
        /// Whose.
        process: usize,
        /// For how long.
        lasts: Duration,
    },
    /// What it sends lies in the process, and goes out afterwards; nothing reaches it meanwhile.
    Stall {
        /// Whose.
        process: usize,
        /// For how long.
        lasts: Duration,
    },
    /// Its watches end.
    CutWatches {
        /// Whose.
        process: usize,
        /// In the middle, or as a server ends them.
        broken: bool,
    },
    /// The API forgets the past and its watches end: they have to list again.
    Expire {
        /// Whose.
        process: usize,
    },
    /// Its watches of one kind (or all) deliver nothing: the cache is stale.
    Hold {
        /// Whose.
        process: usize,
        /// Plural and group; all kinds when absent.
        resource: Option<&'static str>,
        /// For how long.
        lasts: Duration,
    },
    /// Its next watch events come twice.
    Duplicate {
        /// Whose.
        process: usize,
        /// How many.
        events: u32,
    },
    /// It dies, and another life of it starts with empty caches.
    Crash {
        /// Who.
        process: usize,
        /// At its next write, or at once.
        at_write: Option<Moment>,
        /// How long until it is back.
        back_after: Duration,
    },
}

impl Fault {
    /// Draws one.
    pub fn draw(random: &mut Random, processes: usize, resources: &[&'static str]) -> Self {
        let process = usize::try_from(random.between(0, processes.max(1) as u64 - 1)).unwrap_or(0);
        let moment = random.pick(&[Moment::Before, Moment::After]);
        let times = u32::try_from(random.pick(&[1, 1, 1, 2, 3, 6])).unwrap_or(1);
        match random.between(0, 99) {
            0..=9 => {
                Self::Fail { process, writes: true, moment: Moment::Before, how: How::Status(409), times }
            }
            10..=15 => {
                let status = random.pick(&[429, 500, 503]);
                let how = How::Status(status);
                Self::Fail { process, writes: random.chance(70), moment: Moment::Before, how, times }
            }
            16..=20 => {
                Self::Fail { process, writes: true, moment: Moment::After, how: How::Status(500), times }
            }
            21..=30 => Self::Fail { process, writes: random.chance(80), moment, how: How::Broken, times },
            31..=34 => Self::Fail { process, writes: true, moment, how: How::Silence, times: 1 },
            35..=44 => Self::Slow { process, by: random.millis(20, 3000), times },
            45..=48 => Self::Partition { process, lasts: random.millis(500, 25_000) },
            49..=54 => Self::LeaseLost { process, lasts: random.millis(5_000, 30_000) },
            55..=57 => Self::Stall { process, lasts: random.millis(500, 30_000) },
            58..=63 => Self::CutWatches { process, broken: random.chance(50) },
            64..=67 => Self::Expire { process },
            68..=81 => {
                let resource = random.chance(75).then(|| random.pick(resources));
                Self::Hold { process, resource, lasts: random.millis(100, 15_000) }
            }
            82..=84 => Self::Duplicate { process, events: u32::try_from(random.between(1, 20)).unwrap_or(1) },
            _ => {
                let at_write = random.chance(75).then_some(moment);
                Self::Crash { process, at_write, back_after: random.millis(100, 20_000) }
            }
        }
    }

    /// A word for the kind of it.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Fail { .. } => "fail",
            Self::Slow { .. } => "slow",
            Self::Partition { .. } => "partition",
            Self::LeaseLost { .. } => "lease lost",
            Self::Stall { .. } => "stall",
            Self::CutWatches { .. } => "cut watches",
            Self::Expire { .. } => "expire",
            Self::Hold { .. } => "hold",
            Self::Duplicate { .. } => "duplicate",
            Self::Crash { .. } => "crash",
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Fail { process, writes, moment, how, times } => {
                let what = if *writes { "writes" } else { "requests" };
                let how = match how {
                    How::Status(code) => format!("answer {code}"),
                    How::Broken => "break".into(),
                    How::Silence => "are not answered".into(),
                };
                let moment = match moment {
                    Moment::Before => "without having been done",
                    Moment::After => "after they were done",
                };
                write!(f, "the next {times} {what} of process {process} {how} {moment}")
            }
            Self::Slow { process, by, times } => {
                write!(f, "the next {times} requests of process {process} arrive {by:?} later")
            }
            Self::Partition { process, lasts } => {
                write!(f, "process {process} cannot reach the API for {lasts:?}")
            }
            Self::LeaseLost { process, lasts } => {
                write!(f, "process {process} cannot renew its lease for {lasts:?}")
            }
            Self::Stall { process, lasts } => write!(f, "process {process} stalls for {lasts:?}"),
            Self::CutWatches { process, broken } => {
                let how = if *broken { "break" } else { "end" };
                write!(f, "the watches of process {process} {how}")
            }
            Self::Expire { process } => write!(f, "the watches of process {process} expire (410)"),
            Self::Hold { process, resource, lasts } => {
                let what = resource.unwrap_or("all kinds");
                write!(f, "the watches of process {process} for {what} deliver nothing for {lasts:?}")
            }
            Self::Duplicate { process, events } => {
                write!(f, "the next {events} watch events of process {process} come twice")
            }
            Self::Crash { process, at_write, back_after } => {
                let when = match at_write {
                    None => "now",
                    Some(Moment::Before) => "just before its next write",
                    Some(Moment::After) => "just after its next write",
                };
                write!(f, "process {process} dies {when} and is back after {back_after:?}")
            }
        }
    }
}
