//! Counting values.

use std::collections::HashMap;

use wire::filter::natural_cmp;
use wire::row::Count;

/// How often each value was seen.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tally<'a> {
    counts: HashMap<&'a str, u32>,
}

impl<'a> Tally<'a> {
    pub(crate) fn add(&mut self, value: &'a str) {
        *self.counts.entry(value).or_default() += 1;
    }

    /// Most frequent first, equal ones by name.
    pub(crate) fn most_first(self) -> Vec<Count> {
        let mut counts: Vec<(&str, u32)> = self.counts.into_iter().collect();
        counts.sort_by(|(left, more), (right, less)| less.cmp(more).then_with(|| by_name(left, right)));
        counts.into_iter().map(|(value, count)| Count { value: value.to_owned(), count }).collect()
    }

    /// The counts without an order.
    pub(crate) fn into_counts(self) -> HashMap<&'a str, u32> {
        self.counts
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
