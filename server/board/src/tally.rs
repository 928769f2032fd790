//! Counting values.

use std::collections::HashMap;

use wire::filter::natural_cmp;
use wire::row::Count;

/// How often each value was seen.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tally<'a> {
    counts: Vec<(&'a str, u32)>,
    places: Places<'a>,
}

/// Finds the place of a text among many, quickly where the texts come from a pool.
///
/// Equal texts of a pool are one text in memory, so comparing where they are is enough for the few that come again
/// and again; only others are hashed.
#[derive(Clone, Debug, Default)]
pub(crate) struct Places<'a> {
    recent: Vec<(&'a str, usize)>,
    by_text: HashMap<&'a str, usize>,
}

/// As many texts are compared by their place in memory. States and opsStates are fewer.
const RECENT: usize = 12;

impl<'a> Places<'a> {
    /// The place of a text; `find` says it for one that was not asked for before.
    pub(crate) fn get(&mut self, text: &'a str, find: impl FnOnce() -> usize) -> usize {
        let is_it = |(other, _): &&(&str, usize)| {
            std::ptr::eq(other.as_ptr(), text.as_ptr()) && other.len() == text.len()
        };
        if let Some((_, place)) = self.recent.iter().find(is_it) {
            return *place;
        }
        let place = *self.by_text.entry(text).or_insert_with(find);
        if self.recent.len() == RECENT {
            // The last slot changes hands, so that texts that come in runs are found too.
            self.recent.pop();
        }
        self.recent.push((text, place));
        place
    }
}

impl<'a> Tally<'a> {
    pub(crate) fn add(&mut self, value: &'a str) {
        self.add_many(value, 1);
    }

    pub(crate) fn add_many(&mut self, value: &'a str, count: u32) {
        let next = self.counts.len();
        let place = self.places.get(value, || next);
        if place == next {
            self.counts.push((value, 0));
        }
        self.counts[place].1 += count;
    }

    /// Most frequent first, equal ones by name.
    pub(crate) fn most_first(self) -> Vec<Count> {
        let mut counts = self.counts;
        counts.sort_by(|(left, more), (right, less)| less.cmp(more).then_with(|| by_name(left, right)));
        counts.into_iter().map(|(value, count)| Count { value: value.to_owned(), count }).collect()
    }

    /// The counts without an order.
    pub(crate) fn into_counts(self) -> HashMap<&'a str, u32> {
        self.counts.into_iter().collect()
    }
}

/// Natural order, made total.
pub(crate) fn by_name(left: &str, right: &str) -> std::cmp::Ordering {
    natural_cmp(left, right).then_with(|| left.cmp(right))
}

/// A length as the wire counts.
pub(crate) fn length(length: usize) -> u32 {
    u32::try_from(length).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn most_come_first_and_equals_by_name() {
        let mut tally = Tally::default();
        for value in ["b10", "b9", "a", "a", "b9", "b10", "c"] {
            tally.add(value);
        }
        let found: Vec<(String, u32)> = tally.most_first().into_iter().map(|c| (c.value, c.count)).collect();
        let wanted =
            [("a", 2), ("b9", 2), ("b10", 2), ("c", 1)].map(|(value, count)| (value.to_owned(), count));
        assert_eq!(found, wanted);
    }
}
