//! Answers kept with a snapshot: worked out once, however many ask at the same time, and only the last few.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// The last answers by question.
#[derive(Debug)]
pub(crate) struct Memo<K, V> {
    kept: Mutex<VecDeque<(K, Slot<V>)>>,
}

/// An answer that somebody may still be working out.
type Slot<V> = Arc<OnceLock<Arc<V>>>;

/// Answers that are kept; different views of one version are seldom more.
const KEPT: usize = 16;

impl<K, V> Default for Memo<K, V> {
    fn default() -> Self {
        Self { kept: Mutex::default() }
    }
}

impl<K: PartialEq, V> Memo<K, V> {
    /// The answer to a question; who asks the same at the same time waits for the one who works it out.
    pub(crate) fn get(&self, key: K, answer: impl FnOnce() -> V) -> Arc<V> {
        let slot = {
            let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
            match kept.iter().find(|(other, _)| *other == key) {
                Some((_, slot)) => slot.clone(),
                None => {
                    if kept.len() == KEPT {
                        kept.pop_front();
                    }
                    let slot = Arc::new(OnceLock::new());
                    kept.push_back((key, slot.clone()));
                    slot
                }
            }
        };
        slot.get_or_init(|| Arc::new(answer())).clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_worked_out_once() {
        let memo = Memo::default();
        assert_eq!(*memo.get("a", || 1), 1);
        assert_eq!(*memo.get("a", || 2), 1);
        assert_eq!(*memo.get("b", || 3), 3);
    }

    #[test]
    fn only_the_last_are_kept() {
        let memo = Memo::default();
        for key in 0..=KEPT {
            memo.get(key, || "old");
        }
        assert_eq!(*memo.get(KEPT, || "new"), "old");
        assert_eq!(*memo.get(0, || "new"), "new");
    }
}
