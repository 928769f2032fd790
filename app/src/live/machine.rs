//! The state machine of the live stream: which event leads where, and when to connect again. Pure; times are
//! Unix milliseconds of this machine's clock.
//!
//! | state      | Opened | Heard      | ViewChanged      | Bye         | Ended            | Rejected 4xx  | silence         |
//! |------------|--------|------------|------------------|-------------|------------------|---------------|-----------------|
//! | Connecting | Open   | –          | Connecting again | –           | Waiting back-off | Turned away   | Waiting back-off|
//! | Open       | –      | Open, live | Connecting soon  | Waiting its time | Waiting back-off | –        | Waiting back-off|
//! | Waiting    | –      | –          | Connecting soon  | –           | –                | –             | –               |
//! | TurnedAway | –      | –          | Connecting soon  | –           | –                | –             | try after 30 s  |
//!
//! `soon` is at once for a change after a calm, else after 150 ms without a further change. What the reader sees is a second thing: live until nothing was
//! heard for two heartbeats or a lost line is not back after a moment, then stale since the last word.

/// A view that changes again within this time is not asked for.
const DEBOUNCE_MS: i64 = 150;
/// A first change after this time is somebody going to another page: it does not wait.
const CALM_MS: i64 = 400;
/// A lost line that is back by then is not worth telling.
const GRACE_MS: i64 = 1500;
/// First and longest wait before connecting again.
const BACKOFF_MS: (i64, i64) = (500, 15_000);
/// Turned away (4xx): rights or a path may change, but not soon.
const TURNED_AWAY_MS: i64 = 30_000;
/// How long a connection may take to open or to say hello.
const OPEN_MS: i64 = 10_000;

/// What the header shows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Status {
    /// Not heard anything yet.
    #[default]
    Connecting,
    /// What the page shows is now.
    Live,
    /// What the page shows was true then, Unix milliseconds.
    Stale {
        /// When the server was heard last.
        since: i64,
    },
    /// The server turned the request away with this HTTP status.
    TurnedAway {
        /// 400 to 499.
        http: u16,
    },
}

/// What happened.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Event {
    /// The page looks at something else, or asks to connect at once.
    ViewChanged,
    /// The response began.
    Opened,
    /// A message arrived; `heartbeat` in milliseconds when it was a hello.
    Heard {
        /// Promise of the server.
        heartbeat: Option<i64>,
    },
    /// The server said goodbye and when to come back, in milliseconds.
    Bye {
        /// Wait this long.
        retry: i64,
    },
    /// The stream ended or failed.
    Ended,
    /// The server answered with an HTTP error.
    Rejected {
        /// Its status.
        http: u16,
    },
    /// The time asked for by [`Machine::wake_at`] has come.
    Tick,
    /// The page was woken: the network is back, the tab is shown again. No time was kept while it slept.
    Woken,
}

/// What to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Command {
    /// End the present connection, if there is one, and open one for the present view.
    Connect,
    /// End the present connection.
    Abort,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum State {
    Connecting { since: i64 },
    Open { since: i64 },
    Waiting { until: i64 },
    TurnedAway { http: u16, until: i64 },
}

/// The machine of one stream.
#[derive(Clone, Debug)]
pub struct Machine {
    state: State,
    /// When a changed view is asked for.
    view_due: Option<i64>,
    view_changed: i64,
    /// When the server was heard last; before the first word, when the page was made.
    heard: i64,
    ever_heard: bool,
    /// When the line was lost.
    lost: Option<i64>,
    heartbeat: i64,
    attempt: u32,
}

impl Machine {
    /// A machine that connects now. `page_made` is when the data in the page was true.
    #[must_use]
    pub fn start(now: i64, page_made: i64) -> Self {
        Self {
            state: State::Connecting { since: now },
            view_due: None,
            view_changed: i64::MIN / 2,
            heard: page_made.min(now),
            ever_heard: false,
            lost: None,
            heartbeat: 15_000,
            attempt: 0,
        }
    }

    /// Takes an event. `jitter` is between 0 and 1 and spreads the tabs of a restarted server.
    pub fn step(&mut self, event: Event, now: i64, jitter: f64) -> Option<Command> {
        match event {
            Event::ViewChanged => {
                let calm = now - self.view_changed >= CALM_MS;
                self.view_due = Some(if calm { now } else { now + DEBOUNCE_MS });
                self.view_changed = now;
                None
            }
            Event::Opened => {
                if let State::Connecting { .. } = self.state {
                    self.state = State::Open { since: now };
                }
                None
            }
            Event::Heard { heartbeat } => {
                if !matches!(self.state, State::Open { .. }) {
                    return None;
                }
                if let Some(heartbeat) = heartbeat {
                    self.heartbeat = heartbeat.max(1000);
                    self.attempt = 0;
                }
                self.heard = now;
                self.ever_heard = true;
                self.lost = None;
                None
            }
            Event::Bye { retry } => {
                self.state = State::Waiting { until: now + retry.clamp(0, 60_000) };
                Some(Command::Abort)
            }
            Event::Ended => match self.state {
                State::Connecting { .. } | State::Open { .. } => self.lose(now, jitter),
                // After a goodbye the end is expected.
                State::Waiting { .. } | State::TurnedAway { .. } => None,
            },
            Event::Rejected { http } => {
                if (400..500).contains(&http) && http != 408 && http != 429 {
                    self.state = State::TurnedAway { http, until: now + TURNED_AWAY_MS };
                    None
                } else {
                    self.lose(now, jitter)
                }
            }
            Event::Tick => self.tick(now, jitter),
            Event::Woken => match self.state {
                State::Waiting { .. } | State::TurnedAway { .. } => self.connect(now),
                _ => self.tick(now, jitter),
            },
        }
    }

    fn tick(&mut self, now: i64, jitter: f64) -> Option<Command> {
        if self.view_due.is_some_and(|due| now >= due) {
            self.view_due = None;
            return self.connect(now);
        }
        match self.state {
            State::Connecting { since } if now - since >= OPEN_MS => self.lose(now, jitter),
            State::Open { since } if now >= self.silent_at(since) => self.lose(now, jitter),
            State::Waiting { until } | State::TurnedAway { until, .. } if now >= until => self.connect(now),
            _ => None,
        }
    }

    /// When an open line has been silent for too long; one that never spoke is measured from its opening.
    fn silent_at(&self, opened: i64) -> i64 {
        opened.max(if self.ever_heard { self.heard } else { i64::MIN }) + 2 * self.heartbeat
    }

    fn connect(&mut self, now: i64) -> Option<Command> {
        self.state = State::Connecting { since: now };
        self.view_due = None;
        Some(Command::Connect)
    }

    fn lose(&mut self, now: i64, jitter: f64) -> Option<Command> {
        let wait = BACKOFF_MS.0.saturating_mul(1 << self.attempt.min(10)).min(BACKOFF_MS.1);
        let spread = 0.8 + 0.4 * jitter.clamp(0.0, 1.0);
        self.attempt += 1;
        self.lost.get_or_insert(now);
        self.state = State::Waiting { until: now + (wait as f64 * spread) as i64 };
        Some(Command::Abort)
    }

    /// When [`Event::Tick`] is due next: when something happens, or when what the header shows changes.
    #[must_use]
    pub fn wake_at(&self, now: i64) -> i64 {
        let state = match self.state {
            State::Connecting { since } => since + OPEN_MS,
            State::Open { since } => self.silent_at(since),
            State::Waiting { until } | State::TurnedAway { until, .. } => until,
        };
        let shown = [self.lost.map(|lost| lost + GRACE_MS), Some(self.heard + 2 * self.heartbeat)];
        let shown = shown.into_iter().flatten().filter(|at| *at > now);
        self.view_due.into_iter().chain(shown).fold(state, i64::min)
    }

    /// What the header shows.
    #[must_use]
    pub fn status(&self, now: i64) -> Status {
        if let State::TurnedAway { http, .. } = self.state {
            return Status::TurnedAway { http };
        }
        let silent = now - self.heard >= 2 * self.heartbeat;
        let lost = self.lost.is_some_and(|lost| now - lost >= GRACE_MS);
        if silent || lost {
            Status::Stale { since: self.heard }
        } else if self.ever_heard {
            Status::Live
        } else {
            Status::Connecting
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HELLO: Event = Event::Heard { heartbeat: Some(10_000) };

    /// A machine whose line is open and was heard at 1,000.
    fn live() -> Machine {
        let mut machine = Machine::start(0, -5000);
        assert_eq!(machine.status(0), Status::Connecting);
        assert_eq!(machine.step(Event::Opened, 900, 0.5), None);
        assert_eq!(machine.step(HELLO, 1000, 0.5), None);
        assert_eq!(machine.status(1000), Status::Live);
        machine
    }

    /// Ticks at every wake-up until a command comes; returns when.
    fn until_command(machine: &mut Machine, mut now: i64) -> (i64, Command) {
        for _ in 0..20 {
            now = machine.wake_at(now).max(now);
            if let Some(command) = machine.step(Event::Tick, now, 0.5) {
                return (now, command);
            }
        }
        panic!("no command in 20 wake-ups: {machine:?}");
    }

    #[test]
    fn the_first_view_is_asked_for_at_once_and_a_burst_once_at_its_end() {
        let mut machine = live();
        assert_eq!(machine.step(Event::ViewChanged, 1900, 0.5), None);
        assert_eq!(until_command(&mut machine, 1900), (1900, Command::Connect));
        for now in [2000, 2100, 2200] {
            assert_eq!(machine.step(Event::ViewChanged, now, 0.5), None);
        }
        assert_eq!(until_command(&mut machine, 2200), (2350, Command::Connect));
        assert_eq!(machine.status(2350), Status::Live);
        machine.step(Event::Opened, 2400, 0.5);
        machine.step(HELLO, 2450, 0.5);
        assert_eq!(machine.status(2450), Status::Live);
    }

    #[test]
    fn silence_for_two_heartbeats_is_stale_since_the_last_word() {
        let mut machine = live();
        machine.step(Event::Heard { heartbeat: None }, 5000, 0.5);
        assert_eq!(machine.step(Event::Tick, 24_999, 0.5), None);
        assert_eq!(machine.status(24_999), Status::Live);
        assert_eq!(until_command(&mut machine, 24_999), (25_000, Command::Abort));
        assert_eq!(machine.status(25_000), Status::Stale { since: 5000 });
        assert_eq!(until_command(&mut machine, 25_000), (25_500, Command::Connect));
        machine.step(Event::Opened, 25_600, 0.5);
        machine.step(HELLO, 25_700, 0.5);
        assert_eq!(machine.status(25_700), Status::Live);
    }

    #[test]
    fn a_lost_line_that_is_back_at_once_is_not_told() {
        let mut machine = live();
        machine.step(Event::Ended, 2000, 0.5);
        assert_eq!(machine.status(2100), Status::Live);
        assert_eq!(until_command(&mut machine, 2000), (2500, Command::Connect));
        machine.step(Event::Opened, 2510, 0.5);
        machine.step(HELLO, 2520, 0.5);
        assert_eq!(machine.status(9000), Status::Live);
    }

    #[test]
    fn a_server_that_is_away_is_asked_ever_more_seldom() {
        let mut machine = live();
        let (mut now, mut waits) = (2000, Vec::new());
        for _ in 0..8 {
            machine.step(Event::Ended, now, 0.5);
            let (at, command) = until_command(&mut machine, now);
            assert_eq!(command, Command::Connect);
            waits.push(at - now);
            now = at;
        }
        assert_eq!(waits, [500, 1000, 2000, 4000, 8000, 15_000, 15_000, 15_000]);
        assert_eq!(machine.status(now), Status::Stale { since: 1000 });
    }

    #[test]
    fn jitter_spreads_the_first_wait() {
        for (jitter, wait) in [(0.0, 400), (1.0, 600)] {
            let mut machine = live();
            machine.step(Event::Ended, 2000, jitter);
            assert_eq!(until_command(&mut machine, 2000).0, 2000 + wait);
        }
    }

    #[test]
    fn goodbye_waits_as_told_and_is_no_loss() {
        let mut machine = live();
        assert_eq!(machine.step(Event::Bye { retry: 700 }, 2000, 0.5), Some(Command::Abort));
        assert_eq!(machine.step(Event::Ended, 2001, 0.5), None);
        assert_eq!(until_command(&mut machine, 2001), (2700, Command::Connect));
        assert_eq!(machine.status(4000), Status::Live);
    }

    #[test]
    fn turned_away_says_so_and_a_new_view_tries_at_once() {
        let mut machine = live();
        assert_eq!(machine.step(Event::Rejected { http: 403 }, 2000, 0.5), None);
        assert_eq!(machine.status(2000), Status::TurnedAway { http: 403 });
        machine.step(Event::ViewChanged, 3000, 0.5);
        assert_eq!(until_command(&mut machine, 3000), (3000, Command::Connect));

        let mut machine = live();
        machine.step(Event::Rejected { http: 403 }, 2000, 0.5);
        assert_eq!(until_command(&mut machine, 2000), (32_000, Command::Connect));
    }

    #[test]
    fn a_server_error_is_a_loss_not_a_refusal() {
        for http in [408, 429, 500, 503] {
            let mut machine = live();
            assert_eq!(machine.step(Event::Rejected { http }, 2000, 0.5), Some(Command::Abort));
            assert_eq!(machine.status(4000), Status::Stale { since: 1000 }, "{http}");
        }
    }

    #[test]
    fn a_connection_that_never_opens_is_given_up() {
        let mut machine = Machine::start(0, -5000);
        assert_eq!(until_command(&mut machine, 0), (10_000, Command::Abort));
        assert_eq!(machine.status(11_500), Status::Stale { since: -5000 });
    }

    #[test]
    fn a_page_that_wakes_up_does_not_wait_for_the_back_off() {
        let mut machine = live();
        machine.step(Event::Ended, 2000, 0.5);
        assert_eq!(machine.step(Event::Woken, 2100, 0.5), Some(Command::Connect));
        let mut machine = live();
        assert_eq!(machine.step(Event::Woken, 2000, 0.5), None);
        assert_eq!(machine.step(Event::Woken, 90_000, 0.5), Some(Command::Abort));
    }

    #[test]
    fn late_words_of_an_ended_line_change_nothing() {
        let mut machine = live();
        machine.step(Event::Ended, 2000, 0.5);
        machine.step(Event::Heard { heartbeat: None }, 3600, 0.5);
        assert_eq!(machine.status(3600), Status::Stale { since: 1000 });
    }

    #[test]
    fn wake_ups_lie_ahead_once_they_were_taken() {
        let mut machine = live();
        machine.step(Event::Ended, 2000, 0.5);
        for now in [2000, 3600, 30_000] {
            machine.step(Event::Tick, now, 0.5);
            assert!(machine.wake_at(now) > now, "at {now}: {machine:?}");
        }
    }
}
