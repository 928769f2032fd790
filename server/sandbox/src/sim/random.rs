//! Chance that comes from a seed. Each purpose draws from a stream of its own, so that one more draw for faults does not
//! change what the users do.
use std::time::Duration;

use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};

/// A stream of chance.
#[derive(Debug)]
pub struct Random(StdRng);

impl Random {
    /// The stream of a seed for one purpose.
    pub fn of(seed: u64, purpose: &str) -> Self {
        Self(StdRng::seed_from_u64(mix(seed, purpose.as_bytes())))
    }

    /// A number from `from` to `to`, both included.
    pub fn between(&mut self, from: u64, to: u64) -> u64 {
        self.0.random_range(from..=to.max(from))
    }

    /// A time from `from` to `to` milliseconds.
    pub fn millis(&mut self, from: u64, to: u64) -> Duration {
        Duration::from_millis(self.between(from, to))
    }

    /// True in so many of a hundred cases.
    pub fn chance(&mut self, percent: u64) -> bool {
        self.between(0, 99) < percent
    }

    /// One of the choices.
    pub fn pick<T: Clone>(&mut self, choices: &[T]) -> T {
        let index = self.0.random_range(0..choices.len());
        choices[index].clone()
    }
}

/// 64 well spread bits from a number and a name (FNV-1a, then the finaliser of splitmix64).
pub fn mix(seed: u64, name: &[u8]) -> u64 {
    let mut x = seed.to_le_bytes().iter().chain(name).fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3)
    });
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

#[cfg(test)]
mod tests {
    use super::Random;

    #[test]
    fn streams_repeat_and_do_not_depend_on_each_other() {
        let draw = |seed, purpose| {
            let mut random = Random::of(seed, purpose);
            (0..8).map(|_| random.between(0, 1000)).collect::<Vec<_>>()
        };
        assert_eq!(draw(1, "users"), draw(1, "users"));
        assert_ne!(draw(1, "users"), draw(1, "faults"));
        assert_ne!(draw(1, "users"), draw(2, "users"));
    }
}
