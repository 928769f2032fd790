//! Deck page, summary: what the page shows in words and counts. Pure.
//!
//! It is small whatever the number of servers, so it (and not the deck) travels in the page that the server
//! renders; the cells come with the live stream.

use super::{
    look::By,
    twin::{self, Twin},
};
use serde::{Deserialize, Serialize};
use wire::{DeckSnapshot, row::Count};

/// The deck in counts.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// Servers in all.
    pub total: u32,
    /// Servers that the filter matches.
    pub matched: u32,
    /// Categories of the dimension that colours the deck.
    pub legend: Vec<Count>,
    /// Matching servers by opsState, those that occur, in the order of the snapshot.
    pub ops: Vec<Count>,
    /// Sets by states.
    pub twin: Twin,
}

impl Summary {
    /// Counts the deck.
    #[must_use]
    pub fn of(deck: &DeckSnapshot) -> Self {
        let mut ops = vec![0_u32; deck.ops.len()];
        for index in deck.sets.iter().flat_map(|set| &set.ops) {
            if let Some(count) = ops.get_mut(usize::from(*index)) {
                *count += 1;
            }
        }
        let ops = deck.ops.iter().zip(ops).filter(|(_, count)| *count > 0);
        Self {
            total: deck.total,
            matched: deck.matched,
            legend: deck.legend.clone(),
            ops: ops.map(|(value, count)| Count { value: value.clone(), count }).collect(),
            twin: twin::twin(deck),
        }
    }
}

/// The legend as it is shown: category, tone, count; categories without servers are left out unless the filter
/// asks for them.
#[must_use]
pub fn legend(by: &By, legend: &[Count], asked: impl Fn(&str) -> bool) -> Vec<(Count, super::look::Tone)> {
    let tones = super::look::tones(by, legend);
    legend.iter().cloned().zip(tones).filter(|(count, _)| count.count > 0 || asked(&count.value)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use wire::{Family, SetKey, deck::DeckSet};

    #[test]
    fn only_words_that_occur_are_counted() {
        let deck = DeckSnapshot {
            total: 9,
            matched: 3,
            states: vec!["Ready".to_owned()],
            ops: ["None", "Allocated", "Kill"].map(str::to_owned).to_vec(),
            sets: vec![DeckSet {
                key: SetKey::new(Family::Kruise, "prod", "a"),
                ids: vec![0, 1, 2],
                names: Vec::new(),
                state: vec![0; 3],
                ops: vec![0, 2, 2],
                category: vec![0; 3],
                wanted: None,
                ready: 3,
            }],
            ..DeckSnapshot::default()
        };
        let summary = Summary::of(&deck);
        let ops: Vec<_> = summary.ops.iter().map(|count| (count.value.as_str(), count.count)).collect();
        assert_eq!(ops, [("None", 1), ("Kill", 2)]);
        assert_eq!((summary.total, summary.matched, summary.twin.lines.len()), (9, 3, 1));
    }

    #[test]
    fn an_empty_category_shows_only_while_it_is_asked_for() {
        let counts = [("Ready", 3), ("Crash", 0), ("NotReady", 0)]
            .map(|(value, count)| Count { value: value.to_owned(), count });
        let shown = legend(&By::State, &counts, |value| value == "Crash");
        assert_eq!(
            shown.iter().map(|(count, _)| count.value.as_str()).collect::<Vec<_>>(),
            ["Ready", "Crash"]
        );
    }
}
