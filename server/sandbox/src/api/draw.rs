//! Where uids and the ends of generated names come from: the machine's randomness, or a seed, so that a run can be repeated.
use std::sync::{Mutex, PoisonError};

use rand::rngs::StdRng;
use rand::{Rng, RngCore, SeedableRng};

/// A source of uids and names.
#[derive(Debug)]
pub struct Draw {
    seeded: Option<Mutex<StdRng>>,
}

impl Draw {
    /// Repeatable with a seed; otherwise different in every run.
    pub fn new(seed: Option<u64>) -> Self {
        Self { seeded: seed.map(|seed| Mutex::new(StdRng::seed_from_u64(seed))) }
    }

    fn with<T>(&self, draw: impl FnOnce(&mut dyn RngCore) -> T) -> T {
        match &self.seeded {
            Some(random) => draw(&mut *random.lock().unwrap_or_else(PoisonError::into_inner)),
            None => draw(&mut rand::rng()),
        }
    }

    /// A new uid: a random UUID.
    pub fn uid(&self) -> String {
        let mut bytes = [0; 16];
        self.with(|random| random.fill_bytes(&mut bytes));
        uuid::Builder::from_random_bytes(bytes).into_uuid().to_string()
    }

    /// The prefix of `generateName` (cut so that the whole fits) with five characters that spell no words.
    pub fn name(&self, prefix: &str) -> String {
        const LETTERS: &[u8] = b"bcdfghjklmnpqrstvwxz2456789";
        let prefix = prefix.chars().take(58);
        let suffix: Vec<char> = self.with(|random| {
            (0..5).map(|_| char::from(LETTERS[random.random_range(0..LETTERS.len())])).collect()
        });
        prefix.chain(suffix).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::Draw;

    #[test]
    fn generated_names_fit_and_differ() {
        for draw in [Draw::new(None), Draw::new(Some(1))] {
            assert_eq!(draw.name(&"a".repeat(80)).len(), 63);
            assert_ne!(draw.name("a-"), draw.name("a-"));
            assert_ne!(draw.uid(), draw.uid());
        }
    }

    #[test]
    fn a_seed_repeats_itself() {
        let all = |seed| {
            let draw = Draw::new(Some(seed));
            (draw.uid(), draw.name("a-"), draw.uid())
        };
        assert_eq!(all(7), all(7));
        assert_ne!(all(7), all(8));
        assert_eq!(all(7).0.len(), 36);
    }
}
