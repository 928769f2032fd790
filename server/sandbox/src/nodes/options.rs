//! What the simulated nodes can be told: how many machines, how large, how slow, and how hard they may press the API.

use std::time::Duration;

use jiff::Timestamp;

use super::Error;

/// `spec.schedulerName` of pods that the simulated scheduler binds in any case.
pub const SCHEDULER_NAME: &str = "pilothouse-simulated";

/// Where people look on, so many pods may be played with events about each.
pub const EVENTS_UP_TO: usize = 500;

/// Options of [`super::run`].
#[derive(Clone, Debug)]
pub struct Options {
    /// How many machines (Node objects) there are: 1 to 5000.
    pub machines: usize,
    /// Names are `<prefix>-0`, `<prefix>-1` and so on. Also marks which nodes belong to this simulation.
    pub prefix: String,
    /// Size of each machine.
    pub capacity: Capacity,
    /// Bind pods of every scheduler name, not only of [`SCHEDULER_NAME`]. Only for clusters without a scheduler of
    /// their own. When off, the machines are tainted so that a real scheduler leaves them alone.
    pub schedule_all: bool,
    /// How long things take.
    pub timing: Timing,
    /// Makes invented ids and the spread of times repeatable.
    pub seed: u64,
    /// What time it is at the start; the real time when absent. With this, the seed and paused time, a run can be repeated.
    pub begin: Option<Timestamp>,
    /// How many writes may be under way at once.
    pub writes_in_flight: usize,
    /// How many writes are begun in a second at most; no limit when absent.
    pub writes_per_second: Option<u32>,
    /// Events about pods are written while no more pods than this are played; 0 means never. Each start of a pod costs
    /// five events beside its other writes, and nobody reads the events of thousands: [`EVENTS_UP_TO`] where people look
    /// on, 0 for tests and benchmarks that count writes.
    pub events_up_to: usize,
    /// How many numbers of players are written in a second at most. With more players than that, numbers lag behind.
    pub player_writes_per_second: u32,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            machines: 3,
            prefix: "sim-node".into(),
            capacity: Capacity::default(),
            schedule_all: false,
            timing: Timing::default(),
            seed: 1,
            begin: None,
            writes_in_flight: 32,
            writes_per_second: None,
            events_up_to: 0,
            player_writes_per_second: 20,
        }
    }
}

impl Options {
    /// Checks what cannot work.
    ///
    /// # Errors
    /// [`Error::Options`] names the option and why.
    pub fn check(&self) -> Result<(), Error> {
        let bad = |what: String| Err(Error::Options(what));
        if !(1..=5000).contains(&self.machines) {
            return bad(format!("the number of machines must be 1 to 5000, not {}", self.machines));
        }
        let letters = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        let edge = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
        let prefix = &self.prefix;
        if prefix.is_empty() || prefix.len() > 50 || !prefix.chars().all(letters) || !prefix.starts_with(edge)
        {
            return bad(format!(
                "the prefix {prefix:?} must be 1 to 50 of a-z, 0-9 and -, beginning with a letter or digit"
            ));
        }
        if self.writes_in_flight == 0
            || self.writes_per_second == Some(0)
            || self.player_writes_per_second == 0
        {
            return bad("the limits on writes must be above 0".into());
        }
        Ok(())
    }

    /// The name of a machine.
    pub fn machine_name(&self, index: usize) -> String {
        format!("{}-{index}", self.prefix)
    }

    /// The machine of this name, if it is one of ours.
    pub fn machine_index(&self, name: &str) -> Option<usize> {
        let digits = name.strip_prefix(self.prefix.as_str())?.strip_prefix('-')?;
        let index: usize = digits.parse().ok()?;
        (index < self.machines && digits == index.to_string()).then_some(index)
    }
}

/// Size of one machine. It is generous, because simulated processes use nothing.
#[derive(Clone, Debug)]
pub struct Capacity {
    /// CPUs.
    pub cpu: u32,
    /// Memory in GiB.
    pub memory_gib: u32,
    /// Number of pods.
    pub pods: u32,
}

impl Default for Capacity {
    fn default() -> Self {
        Self { cpu: 256, memory_gib: 1024, pods: 250 }
    }
}

/// How long simulated things take. Each span is spread by `jitter`, the same way in every run of one seed.
#[derive(Clone, Debug)]
pub struct Timing {
    /// Pulling an image that the machine does not have.
    pub image_pull: Duration,
    /// Pulling with the annotation `sim.pilothouse.dev/pull: "slow"`.
    pub slow_image_pull: Duration,
    /// From having the image to running.
    pub start: Duration,
    /// From running to ready.
    pub readiness: Duration,
    /// The same with the annotation `sim.pilothouse.dev/start: "slow"`.
    pub slow_start: Duration,
    /// From running until a failing liveness probe has the container killed.
    pub liveness: Duration,
    /// From setting resources aside until they are in force.
    pub resize: Duration,
    /// From being asked to stop until the process has ended; the pod's grace period is the most it can take.
    pub stop: Duration,
    /// How long a container runs that is told to crash.
    pub crash_after: Duration,
    /// How long an init container runs.
    pub init_run: Duration,
    /// First wait after a second crash or a failed pull; doubles each time.
    pub backoff: Duration,
    /// The longest such wait.
    pub backoff_max: Duration,
    /// By how much spans differ, as a fraction: 0.2 means 80 to 120 %.
    pub jitter: f64,
}

impl Default for Timing {
    /// Fast enough to watch, slow enough to see each step; back-off as on a real node.
    fn default() -> Self {
        Self {
            image_pull: Duration::from_millis(1200),
            slow_image_pull: Duration::from_secs(60),
            start: Duration::from_millis(300),
            readiness: Duration::from_millis(700),
            slow_start: Duration::from_secs(30),
            liveness: Duration::from_secs(6),
            resize: Duration::from_millis(500),
            stop: Duration::from_millis(800),
            crash_after: Duration::from_secs(2),
            init_run: Duration::from_millis(500),
            backoff: Duration::from_secs(10),
            backoff_max: Duration::from_secs(300),
            jitter: 0.3,
        }
    }
}

impl Timing {
    /// Everything happens at once: a pod is Ready with the first status that is written. For tests and benchmarks.
    pub fn instant() -> Self {
        Self {
            image_pull: Duration::ZERO,
            slow_image_pull: Duration::from_secs(5),
            start: Duration::ZERO,
            readiness: Duration::ZERO,
            slow_start: Duration::from_secs(5),
            liveness: Duration::from_millis(20),
            resize: Duration::ZERO,
            stop: Duration::ZERO,
            crash_after: Duration::from_millis(20),
            init_run: Duration::ZERO,
            backoff: Duration::from_millis(100),
            backoff_max: Duration::from_secs(1),
            jitter: 0.0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Options;

    #[test]
    fn machines_are_known_by_name() {
        let options = Options::default();
        assert_eq!(options.machine_index("sim-node-2"), Some(2));
        for foreign in ["sim-node-3", "sim-node-02", "sim-node-", "sim-nodes-1", "node-1"] {
            assert_eq!(options.machine_index(foreign), None, "{foreign}");
        }
    }

    #[test]
    fn options_that_cannot_work_are_refused() {
        let with = |change: fn(&mut Options)| {
            let mut options = Options::default();
            change(&mut options);
            options.check()
        };
        assert!(with(|_| ()).is_ok());
        assert!(with(|o| o.machines = 0).is_err());
        assert!(with(|o| o.prefix = "Sim".into()).is_err());
        assert!(with(|o| o.writes_in_flight = 0).is_err());
        assert!(with(|o| o.writes_per_second = Some(0)).is_err());
    }
}
