//! What changed between two decks of one query.

use std::collections::BTreeMap;

use wire::deck::{DeckDelta, DeckSet, DeckSnapshot};
use wire::key::SetKey;
use wire::row::Count;

/// A cell that changed: position, state, ops, category.
type Cell = (u32, u8, u8, u16);

/// The delta that brings `old` to `new`; `None` when nothing changed.
#[must_use]
pub fn diff_deck(old: &DeckSnapshot, new: &DeckSnapshot) -> Option<DeckDelta> {
    let mut delta = DeckDelta {
        version: new.version,
        total: new.total,
        matched: new.matched,
        states: new.states.clone(),
        ops: new.ops.clone(),
        legend: new.legend.clone(),
        ..DeckDelta::default()
    };
    let known: BTreeMap<&SetKey, &DeckSet> = old.sets.iter().map(|set| (&set.key, set)).collect();
    // Cells point into the lists of words: where these moved, no old cell means the same.
    let same_words =
        grew(&old.states, &new.states) && grew(&old.ops, &new.ops) && grew_legend(&old.legend, &new.legend);
    for set in &new.sets {
        match known.get(&set.key) {
            Some(old) if same_words && same_members(old, set) => compare(old, set, &mut delta),
            _ => delta.sets.push(set.clone()),
        }
    }
    let is_gone = |key: &&SetKey| new.sets.binary_search_by(|set| set.key.cmp(key)).is_err();
    delta.gone = old.sets.iter().map(|set| &set.key).filter(is_gone).cloned().collect();
    let nothing =
        delta.sets.is_empty() && delta.gone.is_empty() && delta.cells.is_empty() && delta.figures.is_empty();
    let head = |deck: &DeckSnapshot| (deck.total, deck.matched);
    let same_head =
        head(old) == head(new) && old.legend == new.legend && old.states == new.states && old.ops == new.ops;
    (!(nothing && same_head)).then_some(delta)
}

fn grew(old: &[String], new: &[String]) -> bool {
    new.starts_with(old)
}

fn grew_legend(old: &[Count], new: &[Count]) -> bool {
    old.len() <= new.len() && old.iter().zip(new).all(|(old, new)| old.value == new.value)
}

fn same_members(old: &DeckSet, new: &DeckSet) -> bool {
    old.ids == new.ids && old.names == new.names
}

fn compare(old: &DeckSet, new: &DeckSet, delta: &mut DeckDelta) {
    let looks = |set: &DeckSet, at: usize| (set.state[at], set.ops[at], set.category[at]);
    let cells: Vec<Cell> = (0..new.ids.len())
        .filter(|at| looks(old, *at) != looks(new, *at))
        .filter_map(|at| {
            let (state, ops, category) = looks(new, at);
            Some((u32::try_from(at).ok()?, state, ops, category))
        })
        .collect();
    // A changed cell takes about as much text as two whole ones.
    if cells.len() > new.ids.len() / 2 {
        delta.sets.push(new.clone());
        return;
    }
    if !cells.is_empty() {
        delta.cells.push((new.key.clone(), cells));
    }
    if (old.wanted, old.ready) != (new.wanted, new.ready) {
        delta.figures.push((new.key.clone(), new.wanted, new.ready));
    }
}
