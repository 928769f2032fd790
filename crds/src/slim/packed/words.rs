//! The dictionary: texts that many objects say alike (keys of labels, names of nodes, images, reasons) are a number in the
//! packed form.
//!
//! It never forgets, since packed objects refer to it, so it is bounded: only a text that is seen a second time becomes a
//! word, and when it is full, new texts are written out in full in every object, which is larger and still right.

use std::{
    collections::{HashMap, HashSet},
    sync::{Arc, LazyLock, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard},
};

/// Most words: about 10 MB when all of them are as long as an image reference.
const MOST: usize = 65_536;
/// Longer texts are hardly said alike.
const LONGEST: usize = 256;
/// Texts that were seen once are remembered until there are so many.
const SEEN_ONCE: usize = 8_192;

/// The dictionary.
#[derive(Default)]
pub(super) struct Words {
    by_number: Vec<Arc<str>>,
    numbers: HashMap<Arc<str>, u32>,
    once: HashSet<Box<str>>,
}

impl Words {
    /// The number of a text, when it is a word or becomes one now.
    pub(super) fn number(&mut self, text: &str) -> Option<u32> {
        if let Some(number) = self.numbers.get(text) {
            return Some(*number);
        }
        if text.len() > LONGEST || self.by_number.len() >= MOST {
            return None;
        }
        if !self.once.remove(text) {
            if self.once.len() >= SEEN_ONCE {
                self.once.clear();
            }
            self.once.insert(text.into());
            return None;
        }
        let number = u32::try_from(self.by_number.len()).ok()?;
        let word: Arc<str> = text.into();
        self.by_number.push(word.clone());
        self.numbers.insert(word, number);
        Some(number)
    }

    /// The word of a number; empty for a number that was never given out.
    pub(super) fn word(&self, number: u64) -> &str {
        let at = usize::try_from(number).ok();
        at.and_then(|at| self.by_number.get(at)).map_or("", |word| word)
    }
}

static WORDS: LazyLock<RwLock<Words>> = LazyLock::new(RwLock::default);

/// The dictionary of this process, to look words up.
pub(super) fn read() -> RwLockReadGuard<'static, Words> {
    WORDS.read().unwrap_or_else(PoisonError::into_inner)
}

/// The dictionary of this process, to add words.
pub(super) fn write() -> RwLockWriteGuard<'static, Words> {
    WORDS.write().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_becomes_a_word_when_it_is_said_again() {
        let mut words = Words::default();
        assert_eq!(words.number("Ready"), None);
        assert_eq!(words.number("Ready"), Some(0));
        assert_eq!(words.number("Ready"), Some(0));
        assert_eq!(words.word(0), "Ready");
        assert_eq!(words.word(1), "");
    }

    #[test]
    fn unique_texts_do_not_fill_it() {
        let mut words = Words::default();
        (0..10 * SEEN_ONCE).for_each(|number| assert_eq!(words.number(&number.to_string()), None));
        assert!(words.by_number.is_empty());
        assert!(words.once.len() <= SEEN_ONCE);
    }

    #[test]
    fn it_is_bounded() {
        let mut words = Words::default();
        for number in 0..MOST + 10 {
            let text = number.to_string();
            words.number(&text);
            words.number(&text);
        }
        assert_eq!(words.by_number.len(), MOST);
        assert_eq!(words.number("0"), Some(0), "what is known stays known");
        let long = "x".repeat(LONGEST + 1);
        assert_eq!((words.number(&long), words.number(&long)), (None, None));
    }
}
