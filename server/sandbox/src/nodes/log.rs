//! What a simulated container says: the log of one run of it, as a pure function of the pod, the seed and the time.
//!
//! Nothing is stored and no kubelet is asked: any part of a log can be made at any time, and the same question always
//! has the same answer. Whoever serves `pods/log` reads the pod, makes a [`ContainerLog`] and asks it for lines.

use jiff::{SignedDuration, Timestamp};
use serde::Deserialize;
use serde_json::Value;

use super::game::{Game, SLOT_MILLIS};
use super::ids::mix;
use super::pod::{ContainerStatus, Pod, Terminated};

/// Every how many slots a container says that it is well: once a minute.
const SLOTS_PER_REPORT: i64 = 3;
/// Between two lines that are said at once.
const BETWEEN_LINES: i64 = 137;
/// How long the last words take before the process ends.
const LAST_WORDS: SignedDuration = SignedDuration::from_millis(400);

/// One line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// When it was said; goes before the text where timestamps are asked for.
    pub time: Timestamp,
    /// What was said, without the end of the line.
    pub text: String,
}

/// Why there is no log. Except for [`LogError::NotBound`], the real API server answers 400 BadRequest with these words.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LogError {
    /// The pod has several containers and none was named.
    #[error("a container name must be specified for pod {pod}, choose one of: [{}]", choices.join(" "))]
    Unnamed {
        /// The pod.
        pod: String,
        /// Its containers.
        choices: Vec<String>,
    },
    /// The pod has no such container.
    #[error("container {container} is not valid for pod {pod}")]
    Unknown {
        /// The pod.
        pod: String,
        /// What was asked for.
        container: String,
    },
    /// The container has not begun.
    #[error("container \"{container}\" in pod \"{pod}\" is waiting to start: {reason}")]
    Waiting {
        /// The pod.
        pod: String,
        /// The container.
        container: String,
        /// Why it waits.
        reason: String,
    },
    /// There was no run before this one.
    #[error("previous terminated container \"{container}\" in pod \"{pod}\" not found")]
    NoPrevious {
        /// The pod.
        pod: String,
        /// The container.
        container: String,
    },
    /// No node has the pod yet: the real API server answers 200 with an empty log.
    #[error("the pod is not bound to a node")]
    NotBound,
    /// The object is no pod.
    #[error("the object is no pod: {0}")]
    NoPod(String),
}

/// The log of one run of one container.
#[derive(Clone, Debug)]
pub struct ContainerLog {
    container: String,
    image: String,
    seed: u64,
    run: String,
    /// Gives the slots, and the players where there are any.
    game: Game,
    /// True for the container that the players are on.
    is_game: bool,
    start: Timestamp,
    end: Option<(Timestamp, i32)>,
}

impl ContainerLog {
    /// The log of a container as the pod's status tells of it: of the run that is now, else of the last one; with
    /// `previous` of the one before. `container` may be absent where the pod has only one. The seed is that of
    /// [`super::Options::seed`].
    ///
    /// # Errors
    /// When there is no such log; see [`LogError`].
    pub fn of(pod: &Value, container: Option<&str>, previous: bool, seed: u64) -> Result<Self, LogError> {
        let pod = Pod::deserialize(pod).map_err(|error| LogError::NoPod(error.to_string()))?;
        let name = chosen(&pod, container)?;
        if pod.spec.node_name.as_deref().unwrap_or_default().is_empty() {
            return Err(LogError::NotBound);
        }
        let status = &pod.status;
        let mut known = status.container_statuses.iter().chain(&status.init_container_statuses);
        let Some(status) = known.find(|status| status.name == name) else {
            return Err(waiting(&pod, &name, "ContainerCreating"));
        };
        let (start, end, run) = run(status, previous).ok_or_else(|| {
            if previous {
                return LogError::NoPrevious { pod: pod.name().to_owned(), container: name.clone() };
            }
            let reason = status.state.waiting.as_ref().and_then(|waiting| waiting.reason.as_deref());
            waiting(
                &pod,
                &name,
                match reason {
                    Some("ErrImagePull") => "image can't be pulled",
                    Some("ImagePullBackOff") => "trying and failing to pull image",
                    other => other.unwrap_or("ContainerCreating"),
                },
            )
        })?;
        let game = pod.wish("players").and_then(|wish| Game::wished(wish, seed, pod.uid()));
        let first = pod.spec.containers.first().is_some_and(|first| first.name == name);
        let is_game = first && game.is_some();
        let game = game.filter(|_| first).unwrap_or_else(|| Game::new(0, seed, pod.uid()));
        Ok(Self {
            image: status.image.clone(),
            run: format!("{}/{name}/{run}", pod.uid()),
            container: name,
            seed,
            game,
            is_game,
            start,
            end,
        })
    }

    /// When the run ended; a reader that follows stops then.
    pub fn ended(&self) -> Option<Timestamp> {
        self.end.map(|(end, _)| end)
    }

    /// The lines from one time to another, both included, in their order.
    pub fn between(&self, from: Timestamp, to: Timestamp) -> impl Iterator<Item = Line> + '_ {
        let from = from.max(self.start);
        let to = self.ended().map_or(to, |end| to.min(end));
        let slots = self.game.slot(from)..=self.game.slot(to);
        slots.flat_map(|slot| self.said_in(slot)).filter(move |line| line.time >= from && line.time <= to)
    }

    /// The last lines up to a time, in their order.
    pub fn last(&self, count: usize, until: Timestamp) -> Vec<Line> {
        let until = self.ended().map_or(until, |end| until.min(end));
        let first = self.game.slot(self.start);
        let mut slot = self.game.slot(until);
        let mut backwards = Vec::new();
        while slot >= first && backwards.len() < count {
            backwards.extend(self.said_in(slot).into_iter().filter(|line| line.time <= until).rev());
            slot -= 1;
        }
        backwards.truncate(count);
        backwards.reverse();
        backwards
    }

    /// When the next line after a time is said, for readers that follow; none when the run has ended by then. A status
    /// that is read again may tell of an end that this log does not know yet.
    pub fn next_after(&self, time: Timestamp) -> Option<Timestamp> {
        let slot = self.game.slot(time.max(self.start));
        // A report comes every few slots, so the search is short.
        (slot..=slot + 2 * SLOTS_PER_REPORT)
            .flat_map(|slot| self.said_in(slot))
            .map(|line| line.time)
            .find(|said| *said > time)
    }

    /// All lines of one slot, in their order.
    fn said_in(&self, slot: i64) -> Vec<Line> {
        let (begin, after) = (self.game.begin(slot), self.game.begin(slot + 1));
        let mut lines = self.first_words();
        lines.extend(self.last_words());
        lines.retain(|line| line.time >= begin && line.time < after);
        let first = self.game.slot(self.start);
        if slot > first {
            let beat = |at: i64| begin.checked_add(SignedDuration::from_millis(at)).unwrap_or(begin);
            let (before, now) = (self.game.players(first, slot - 1), self.game.players(first, slot));
            for (at, seat) in (before..now).enumerate() {
                let time = beat(BETWEEN_LINES * i64::try_from(at).unwrap_or(0));
                let player = self.player(seat);
                lines.push(Line {
                    time,
                    text: format!("[INFO] {player} joined ({}/{})", seat + 1, self.game.max()),
                });
            }
            for (at, seat) in (now..before).rev().enumerate() {
                let time = beat(BETWEEN_LINES * i64::try_from(at).unwrap_or(0));
                let player = self.player(seat);
                lines.push(Line { time, text: format!("[INFO] {player} left ({seat}/{})", self.game.max()) });
            }
            if slot.rem_euclid(SLOTS_PER_REPORT) == 0 {
                lines.push(Line { time: beat(SLOT_MILLIS / 2), text: self.report(slot, now) });
            }
        }
        let end = self.ended().unwrap_or(Timestamp::MAX);
        lines.retain(|line| line.time >= self.start && line.time <= end);
        lines.sort_by_key(|line| line.time);
        lines
    }

    fn report(&self, slot: i64, players: u32) -> String {
        let noise = mix(self.seed, &[&self.run, "report", &slot.to_string()]);
        let tick = format!("{}.{} ms", 11 + noise % 9, (noise >> 8) % 10);
        if self.is_game {
            format!("[INFO] tick {tick}, {players} of {} players", self.game.max())
        } else {
            format!("[INFO] alive, last round took {tick}")
        }
    }

    fn first_words(&self) -> Vec<Line> {
        let at = |millis: i64, text: String| Line {
            time: self.start.checked_add(SignedDuration::from_millis(millis)).unwrap_or(self.start),
            text,
        };
        let noise = mix(self.seed, &[&self.run, "start"]);
        vec![
            at(0, format!("[INFO] starting {} from {}", self.container, self.image)),
            at(120, "[INFO] configuration read: 0 problems".into()),
            at(
                350,
                format!("[INFO] world {:08x} loaded in {} ms", noise & 0xffff_ffff, 90 + (noise >> 32) % 200),
            ),
            at(410, "[INFO] ready to serve".into()),
        ]
    }

    /// What it said at its end: nothing when it was killed.
    fn last_words(&self) -> Vec<Line> {
        let Some((end, code)) = self.end else { return Vec::new() };
        let begin = end.checked_sub(LAST_WORDS).unwrap_or(end).max(self.start);
        let line = |time, text: &str| Line { time, text: text.to_owned() };
        match code {
            0 => vec![
                line(begin, "[INFO] asked to stop: saving the world"),
                line(end, "[INFO] saved, good night"),
            ],
            137 => Vec::new(),
            _ => vec![
                line(begin, "[ERROR] assertion failed: entities.len() <= capacity"),
                line(end, &format!("[FATAL] the game cannot go on, ending with code {code}")),
            ],
        }
    }

    /// Who sits on a seat in this run. Names may meet again on another seat, with another number.
    fn player(&self, seat: u32) -> String {
        const NAMES: [&str; 24] = [
            "Ada", "Bosun", "Cinder", "Dara", "Ember", "Fjord", "Gale", "Hiro", "Isla", "Jun", "Koi",
            "Lumen", "Mika", "Nori", "Otter", "Pixel", "Quill", "Rune", "Sora", "Tide", "Umi", "Vesper",
            "Wren", "Yuki",
        ];
        let bits = mix(self.seed, &[&self.run, "player", &seat.to_string()]);
        let name = usize::try_from(bits % 24).ok().and_then(|at| NAMES.get(at)).unwrap_or(&"Player");
        format!("{name}{}", (bits >> 16) % 100)
    }
}

/// The container that is meant.
fn chosen(pod: &Pod, wanted: Option<&str>) -> Result<String, LogError> {
    let all = pod.spec.containers.iter().chain(&pod.spec.init_containers).map(|container| &container.name);
    match wanted.filter(|name| !name.is_empty()) {
        Some(name) if all.clone().any(|known| known == name) => Ok(name.to_owned()),
        Some(name) => Err(LogError::Unknown { pod: pod.name().to_owned(), container: name.to_owned() }),
        None => match pod.spec.containers.as_slice() {
            [only] => Ok(only.name.clone()),
            _ => Err(LogError::Unnamed { pod: pod.name().to_owned(), choices: all.cloned().collect() }),
        },
    }
}

fn waiting(pod: &Pod, container: &str, reason: &str) -> LogError {
    LogError::Waiting {
        pod: pod.name().to_owned(),
        container: container.to_owned(),
        reason: reason.to_owned(),
    }
}

type Run = (Timestamp, Option<(Timestamp, i32)>, u32);

/// Start, end and number of the run that is meant, if there was one.
fn run(status: &ContainerStatus, previous: bool) -> Option<Run> {
    let ended = |terminated: &Terminated, run: u32| {
        let (start, end) = (terminated.started_at.as_ref()?.0, terminated.finished_at.as_ref()?.0);
        Some((start, Some((end.max(start), terminated.exit_code)), run))
    };
    let last = || ended(status.last_state.terminated.as_ref()?, status.restart_count.saturating_sub(1));
    if previous {
        return last();
    }
    if let Some(running) = &status.state.running {
        return Some((running.started_at.as_ref()?.0, None, status.restart_count));
    }
    match &status.state.terminated {
        Some(terminated) => ended(terminated, status.restart_count),
        // Between two runs the last one can still be read.
        None => ended(status.last_state.terminated.as_ref()?, status.restart_count),
    }
}

#[cfg(test)]
#[path = "log_tests.rs"]
mod tests;
