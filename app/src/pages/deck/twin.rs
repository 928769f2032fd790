//! Deck page, text twin: sets by states with counts. Pure.

use serde::{Deserialize, Serialize};
use wire::{DeckSnapshot, SetKey, deck::DeckSet};

/// The order of states in the table; words that are not in it follow in the order of the snapshot.
const ORDER: [&str; 8] =
    ["Ready", "Creating", "Updating", "PreUpdate", "PreDelete", "NotReady", "Crash", "Deleting"];

/// One line of the table.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Line {
    /// The set; its name is empty for servers without one.
    pub key: SetKey,
    /// Servers.
    pub total: u32,
    /// Wanted by the spec.
    pub wanted: Option<u32>,
    /// By state, parallel to [`Twin::states`].
    pub counts: Vec<u32>,
}

/// Sets by states.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Twin {
    /// The columns: states that at least one server has. Unknown is the empty word.
    pub states: Vec<String>,
    /// The lines, in the order of the decks.
    pub lines: Vec<Line>,
}

/// Counts the deck.
#[must_use]
pub fn twin(snapshot: &DeckSnapshot) -> Twin {
    let counted: Vec<Vec<u32>> = snapshot.sets.iter().map(|set| count(set, snapshot.states.len())).collect();
    let mut columns: Vec<usize> =
        (0..snapshot.states.len()).filter(|at| counted.iter().any(|counts| counts[*at] > 0)).collect();
    let rank =
        |at: &usize| ORDER.iter().position(|word| *word == snapshot.states[*at]).unwrap_or(ORDER.len());
    columns.sort_by_key(rank);
    let lines = snapshot
        .sets
        .iter()
        .zip(&counted)
        .map(|(set, counts)| Line {
            key: set.key.clone(),
            total: set.ids.len() as u32,
            wanted: set.wanted,
            counts: columns.iter().map(|at| counts[*at]).collect(),
        })
        .collect();
    Twin { states: columns.iter().map(|at| snapshot.states[*at].clone()).collect(), lines }
}

/// Servers of a deck by state, parallel to the snapshot's words.
#[must_use]
pub fn count(set: &DeckSet, words: usize) -> Vec<u32> {
    let mut counts = vec![0; words];
    for state in &set.state {
        if let Some(count) = counts.get_mut(usize::from(*state)) {
            *count += 1;
        }
    }
    counts
}

#[cfg(test)]
mod tests {
    use super::*;
    use wire::Family;

    #[test]
    fn columns_are_the_states_there_are_in_a_fixed_order() {
        let set = |name: &str, state: &[u8]| DeckSet {
            key: SetKey::new(Family::Kruise, "prod", name),
            ids: (0..state.len() as u32).collect(),
            names: Vec::new(),
            state: state.to_vec(),
            ops: vec![0; state.len()],
            category: vec![0; state.len()],
            wanted: Some(3),
            ready: 0,
        };
        let snapshot = DeckSnapshot {
            states: ["Crash", "Odd", "Ready", "Updating"].map(str::to_owned).to_vec(),
            sets: vec![set("a", &[0, 2, 2, 99]), set("b", &[1]), set("c", &[])],
            ..DeckSnapshot::default()
        };
        let twin = twin(&snapshot);
        assert_eq!(twin.states, ["Ready", "Crash", "Odd"]);
        assert_eq!(
            twin.lines.iter().map(|line| line.counts.clone()).collect::<Vec<_>>(),
            [[2, 1, 0], [0, 0, 1], [0, 0, 0]]
        );
        assert_eq!(twin.lines.iter().map(|line| line.total).collect::<Vec<_>>(), [4, 1, 0]);
    }
}
