//! Known values of a field with counts, for completion.

use std::collections::HashMap;

use wire::filter::{Field, FieldKind, KeyedField, ValueCount, contains_without_case};
use wire::row::Count;

use crate::fields::RowAt;
use crate::row::Row;
use crate::snapshot::Snapshot;
use crate::tally::length;

/// Values of names and the like are all different: so many that contain what was typed are looked at, then it is
/// enough.
const ENOUGH: usize = 5_000;

impl Snapshot {
    /// Values that servers of a namespace (empty is all) have in a field and that contain what was typed, those that
    /// start with it first, then the most frequent. A field such as `label.` without a key gives the keys. A field
    /// that does not exist has no values; neither has `age`.
    #[must_use]
    pub fn values(&self, field: &str, namespace: &str, typed: &str, limit: usize) -> Vec<Count> {
        let Some(asked) = Asked::read(field) else { return Vec::new() };
        let rows = self.rows.iter().filter(|row| namespace.is_empty() || &*row.namespace == namespace);
        let mut known = Counter::new(typed);
        for row in rows {
            let mut seen = known.row();
            match &asked {
                Asked::Keys(keyed) => keys(row, *keyed, &mut |key| seen.add(key)),
                Asked::Texts(field) => field.texts_of(&RowAt { row, now: 0 }, &mut |text| seen.add(text)),
                Asked::Numbers(field) => {
                    if let Some(number) = field.number_of(&RowAt { row, now: 0 }) {
                        seen.add(&number.to_string());
                    }
                }
            }
            if known.is_enough() {
                break;
            }
        }
        let best = ValueCount::best(&known.into_counts(), typed, limit);
        best.into_iter()
            .map(|known| Count { value: known.value, count: length(known.count as usize) })
            .collect()
    }
}

/// What values are asked of.
enum Asked {
    Keys(KeyedField),
    Texts(Field),
    Numbers(Field),
}

impl Asked {
    fn read(field: &str) -> Option<Self> {
        if let Some(base) = field.strip_suffix('.') {
            return KeyedField::ALL.into_iter().find(|keyed| keyed.name() == base).map(Self::Keys);
        }
        let field = Field::named(field)?;
        match field.kind() {
            FieldKind::Text => Some(Self::Texts(field)),
            FieldKind::Number => Some(Self::Numbers(field)),
            FieldKind::Age => None,
        }
    }
}

fn keys(row: &Row, keyed: KeyedField, seen: &mut dyn FnMut(&str)) {
    let server = row.server.as_deref();
    match keyed {
        KeyedField::Label => {
            server.iter().flat_map(|server| &server.labels).for_each(|(key, _)| seen(key));
        }
        KeyedField::Annotation => {
            server.iter().flat_map(|server| &server.annotations).for_each(|(key, _)| seen(key));
        }
        KeyedField::Quality => row.qualities().iter().for_each(|quality| seen(&quality.name)),
        KeyedField::Condition => row.conditions().for_each(|condition| seen(&condition.kind)),
    }
}

/// Counts in how many rows each value was seen.
struct Counter<'a> {
    typed: &'a str,
    /// Count, and the last row that was counted.
    counts: HashMap<String, (u64, usize)>,
    row: usize,
}

struct InRow<'c, 'a>(&'c mut Counter<'a>);

impl<'a> Counter<'a> {
    fn new(typed: &'a str) -> Self {
        Self { typed, counts: HashMap::new(), row: 0 }
    }

    fn row(&mut self) -> InRow<'_, 'a> {
        self.row += 1;
        InRow(self)
    }

    fn is_enough(&self) -> bool {
        self.counts.len() >= ENOUGH
    }

    fn into_counts(self) -> Vec<ValueCount> {
        self.counts.into_iter().map(|(value, (count, _))| ValueCount { value, count }).collect()
    }
}

impl InRow<'_, '_> {
    fn add(&mut self, value: &str) {
        let counter = &mut *self.0;
        if let Some((count, last)) = counter.counts.get_mut(value) {
            *count += u64::from(*last != counter.row);
            *last = counter.row;
        } else if !value.is_empty() && contains_without_case(value, counter.typed) {
            counter.counts.insert(value.to_owned(), (1, counter.row));
        }
    }
}

#[cfg(test)]
#[path = "known_test.rs"]
mod tests;
