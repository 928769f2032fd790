//! A made-up game: how many players are on a server at a time. Pure: seed, pod and time in, a number out, so that the
//! number that is written and the log that tells of it agree without knowing of each other.

use jiff::Timestamp;

use super::ids::mix;

/// Annotation that simulated nodes keep the number of players in, for `--players-from annotation:…`.
pub const PLAYERS_ANNOTATION: &str = "game.pilothouse.dev/players";
/// Time is cut into slots; within one, nobody comes or goes. So a pod is written at most once in a slot.
pub const SLOT_MILLIS: i64 = 20_000;
/// Every how many slots the crowd takes a new direction: five minutes.
const SLOTS_PER_TURN: i64 = 15;
/// At most so many come in one slot after the game has started: people find a server one by one.
const ARRIVALS_PER_SLOT: i64 = 2;
/// How far ahead the next change is looked for: a day.
const LOOK_AHEAD: i64 = 24 * 3600 * 1000 / SLOT_MILLIS;

/// The players of one pod.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Game {
    seed: u64,
    uid: String,
    max: u32,
}

impl Game {
    /// Reads the wish `max=16`; nothing for a text that is none.
    pub fn wished(wish: &str, seed: u64, uid: &str) -> Option<Self> {
        let max = wish.split(',').find_map(|part| part.trim().strip_prefix("max=")?.trim().parse().ok())?;
        Some(Self::new(max, seed, uid))
    }

    /// A game for so many; for nobody it still has its slots.
    pub fn new(max: u32, seed: u64, uid: &str) -> Self {
        Self { seed, uid: uid.to_owned(), max }
    }

    /// How many can play at once.
    pub fn max(&self) -> u32 {
        self.max
    }

    /// The slot of a time. Every pod has a beat of its own, so that they do not all write at once.
    pub fn slot(&self, time: Timestamp) -> i64 {
        (time.as_millisecond() + self.beat()).div_euclid(SLOT_MILLIS)
    }

    /// When a slot begins.
    pub fn begin(&self, slot: i64) -> Timestamp {
        let millis = slot.saturating_mul(SLOT_MILLIS).saturating_sub(self.beat());
        Timestamp::from_millisecond(millis).unwrap_or(Timestamp::MAX)
    }

    fn beat(&self) -> i64 {
        share(mix(self.seed, &[&self.uid, "beat"]), SLOT_MILLIS)
    }

    /// Players in a slot of a game that began in the slot `first`.
    pub fn players(&self, first: i64, slot: i64) -> u32 {
        let arrived = (slot - first).max(0).saturating_mul(ARRIVALS_PER_SLOT);
        self.crowd(slot).min(u32::try_from(arrived).unwrap_or(u32::MAX))
    }

    /// Players at a time, in a game that runs since `since`, and when that changes next (within a day).
    pub fn at(&self, since: Timestamp, now: Timestamp) -> (u32, Option<Timestamp>) {
        let (first, slot) = (self.slot(since), self.slot(now));
        let players = self.players(first, slot);
        let changes = (slot + 1..=slot + LOOK_AHEAD).find(|next| self.players(first, *next) != players);
        (players, changes.map(|slot| self.begin(slot)))
    }

    /// How many would like to play: drifts from one level to the next, now and then empty, now and then full.
    fn crowd(&self, slot: i64) -> u32 {
        let (turn, along) = (slot.div_euclid(SLOTS_PER_TURN), slot.rem_euclid(SLOTS_PER_TURN));
        // Levels are thousandths from below 0 to above 1,000, so that both ends are reached and stayed at.
        let level = |turn: i64| share(mix(self.seed, &[&self.uid, "crowd", &turn.to_string()]), 1300) - 150;
        let mixed = level(turn) * (SLOTS_PER_TURN - along) + level(turn + 1) * along;
        let thousandths = (mixed / SLOTS_PER_TURN).clamp(0, 1000);
        u32::try_from((i64::from(self.max) * thousandths + 500) / 1000).unwrap_or(0)
    }
}

/// A part of `whole`, from 0 to `whole - 1`.
fn share(bits: u64, whole: i64) -> i64 {
    i64::try_from(bits % u64::try_from(whole).unwrap_or(1).max(1)).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::{Game, SLOT_MILLIS};
    use jiff::{SignedDuration, Timestamp};

    fn start() -> Timestamp {
        "2026-11-29T10:00:00Z".parse().unwrap()
    }

    #[test]
    fn wishes_are_read_or_left() {
        assert_eq!(Game::wished("max=16", 1, "u").unwrap().max(), 16);
        assert_eq!(Game::wished("mode=x, max= 8", 1, "u").unwrap().max(), 8);
        for odd in ["", "16", "max=", "max=-1", "max=many"] {
            assert_eq!(Game::wished(odd, 1, "u"), None, "{odd}");
        }
    }

    #[test]
    fn players_come_one_by_one_stay_within_the_limit_and_go_again() {
        let game = Game::wished("max=16", 1, "u").unwrap();
        assert_eq!(game.at(start(), start()).0, 0, "nobody is there at the start");
        let (mut now, mut changes, mut most, mut least_later) = (start(), 0, 0, u32::MAX);
        let end = start() + SignedDuration::from_hours(6);
        let mut before = 0;
        while let (players, Some(next)) = game.at(start(), now) {
            assert!(players <= 16 && next > now);
            if changes < 3 {
                assert!(players.abs_diff(before) <= 2);
            } else {
                least_later = least_later.min(players);
            }
            (before, most) = (players, most.max(players));
            changes += 1;
            now = next;
            if now > end {
                break;
            }
        }
        assert_eq!((most, least_later), (16, 0), "six hours see it full and empty");
        let slots = 6 * 3600 * 1000 / SLOT_MILLIS;
        assert!(changes > 50 && i64::from(changes) < slots, "{changes} changes in {slots} slots");
    }

    #[test]
    fn the_same_seed_plays_the_same_game() {
        let number = |seed, uid: &str| {
            let game = Game::wished("max=100", seed, uid).unwrap();
            game.at(start(), start() + SignedDuration::from_hours(1)).0
        };
        assert_eq!(number(1, "u"), number(1, "u"));
        let others: std::collections::BTreeSet<u32> =
            (0..20).map(|at| number(1, &format!("u{at}"))).collect();
        assert!(others.len() > 5, "{others:?}");
    }

    #[test]
    fn a_game_for_nobody_never_changes() {
        let game = Game::wished("max=0", 1, "u").unwrap();
        assert_eq!(game.at(start(), start()), (0, None));
    }
}
