//! The deck: every server that a filter matches as one cell, sets as decks.

use std::collections::BTreeMap;

use wire::deck::{DeckQuery, DeckSet, DeckSnapshot};
use wire::error::ApiError;
use wire::key::SetKey;

use crate::category::{Dimension, MOST, Words, states};
use crate::row::Row;
use crate::snapshot::Snapshot;
use crate::tally::{Tally, length};

/// Most words that a cell can point at with one byte.
const BYTE: usize = 256;

impl Snapshot {
    /// The deck. Without a filter sets without servers are shown too.
    ///
    /// # Errors
    /// The filter or the dimension cannot be understood.
    pub fn deck(&self, query: &DeckQuery, now: i64) -> Result<DeckSnapshot, ApiError> {
        let dimension = Dimension::parse(&query.by)?;
        let (_, matches) = self.matches(&query.q, &query.ns, now)?;
        let rows = || matches.rows.iter().map(|place| &*self.rows[*place as usize]);
        let mut legend = Words::of(&dimension, rows(), now, MOST);
        let mut state_words = words(rows().map(|row| &*row.state), &states());
        let mut ops_words = words(rows().map(|row| &*row.ops), &crds::kruise::OpsState::KNOWN);
        let mut sets: BTreeMap<SetKey, DeckSet> = BTreeMap::new();
        let is_asked = |key: &&SetKey| query.ns.is_empty() || key.namespace == query.ns;
        if query.q.trim().is_empty() {
            sets.extend(self.sets.keys().filter(is_asked).map(|key| (key.clone(), empty(key.clone()))));
        }
        // Rows of a set stand together; one look-up serves them all.
        let mut rest = rows().peekable();
        while let Some(first) = rest.peek().copied() {
            let key = deck_key(first);
            let deck = sets.entry(key.clone()).or_insert_with(|| empty(key));
            while let Some(row) = rest.next_if(|row| row.same_set(first)) {
                add(deck, row);
                deck.state.push(byte(state_words.place(&row.state)));
                deck.ops.push(byte(ops_words.place(&row.ops)));
                deck.category.push(u16::try_from(legend.place(dimension.of(row, now))).unwrap_or(u16::MAX));
            }
        }
        let ready = state_words.place("Ready");
        let whole = self.set_rows();
        for (key, deck) in &mut sets {
            if let Some(set) = whole.get(key) {
                (deck.wanted, deck.ready) = (Some(set.wanted), set.ready);
            } else {
                deck.ready = length(deck.state.iter().filter(|state| usize::from(**state) == ready).count());
            }
        }
        Ok(DeckSnapshot {
            version: self.version(),
            total: matches.total,
            matched: length(matches.rows.len()),
            states: state_words.words(),
            ops: ops_words.words(),
            legend: legend.counts,
            sets: sets.into_values().collect(),
        })
    }
}

fn words<'a>(texts: impl Iterator<Item = &'a str>, always: &[&'static str]) -> Words<'a> {
    let mut tally = Tally::default();
    for text in texts {
        tally.add(text);
    }
    Words::new(tally, always, BYTE)
}

fn byte(place: usize) -> u8 {
    u8::try_from(place).unwrap_or(u8::MAX)
}

fn deck_key(row: &Row) -> SetKey {
    SetKey::new(row.family, &*row.namespace, row.set.as_deref().unwrap_or(""))
}

fn empty(key: SetKey) -> DeckSet {
    DeckSet {
        key,
        ids: Vec::new(),
        names: Vec::new(),
        state: Vec::new(),
        ops: Vec::new(),
        category: Vec::new(),
        wanted: None,
        ready: 0,
    }
}

/// Adds the id, and the name from the first server on that is not called `<set>-<id>`.
fn add(deck: &mut DeckSet, row: &Row) {
    if row.id.is_none() && deck.names.is_empty() {
        deck.names = deck.ids.iter().map(|id| format!("{}-{id}", deck.key.name)).collect();
    }
    if row.id.is_none() || !deck.names.is_empty() {
        deck.names.push(row.name.to_string());
    }
    deck.ids.push(row.id.unwrap_or_else(|| length(deck.ids.len())));
}

#[cfg(test)]
#[path = "deck_test.rs"]
mod tests;
