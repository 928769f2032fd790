//! What colours the deck: a dimension sorts the servers into categories, each with a value that the filter language
//! has (`players:1-4`), so that a click on the legend can ask for it.

use std::borrow::Cow;
use std::collections::HashMap;

use crds::kruise::{GameServerState, OpsState};
use wire::error::{ApiError, Reason};
use wire::row::Count;

use crate::row::Row;
use crate::tally::{Places, Tally, by_name};

/// Most categories in a legend; the rest is one, [`OTHERS`].
pub(crate) const MOST: usize = 500;

/// Value of the category of everything that has no own one.
pub(crate) const OTHERS: &str = "…";

/// A dimension of the deck.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Dimension {
    State,
    Ops,
    Image,
    Node,
    Players,
    Age,
    Label(String),
}

/// Numbers of players: upper bound and value.
const PLAYERS: [(i64, &str); 7] =
    [(0, "0"), (4, "1-4"), (9, "5-9"), (19, "10-19"), (49, "20-49"), (99, "50-99"), (i64::MAX, "100-")];

/// Ages in seconds: the first that no longer belongs, and the value.
const AGES: [(u64, &str); 6] = [
    (600, "0s-9m"),
    (3_600, "10m-59m"),
    (21_600, "1h-5h"),
    (86_400, "6h-23h"),
    (604_800, "1d-6d"),
    (u64::MAX, "1w-"),
];

impl Dimension {
    /// Reads the word of a deck query; empty is the state.
    pub(crate) fn parse(by: &str) -> Result<Self, ApiError> {
        Ok(match by {
            "" | "state" => Self::State,
            "ops" => Self::Ops,
            "image" => Self::Image,
            "node" => Self::Node,
            "players" => Self::Players,
            "age" => Self::Age,
            _ => match by.strip_prefix("label.") {
                Some(key) if !key.is_empty() => Self::Label(key.to_owned()),
                _ => return Err(unknown(by)),
            },
        })
    }

    /// The category of a row; empty is unknown.
    pub(crate) fn of<'a>(&self, row: &'a Row, now: i64) -> &'a str {
        match self {
            Self::State => &row.state,
            Self::Ops => &row.ops,
            Self::Image => row.image(),
            Self::Node => row.node(),
            Self::Label(key) => row.label(key).unwrap_or(""),
            Self::Players => {
                let bucket =
                    row.players.and_then(|players| PLAYERS.iter().find(|(most, _)| players <= *most));
                bucket.map_or("", |(_, value)| value)
            }
            Self::Age => {
                let bucket = row.age(now).and_then(|age| AGES.iter().find(|(end, _)| age < *end));
                bucket.map_or("", |(_, value)| value)
            }
        }
    }

    /// Categories that always stand in the legend, so that places do not move when one gets its first server.
    fn always(&self) -> Vec<&'static str> {
        match self {
            Self::State => states(),
            Self::Ops => OpsState::KNOWN.to_vec(),
            Self::Players => PLAYERS.iter().map(|(_, value)| *value).chain([""]).collect(),
            Self::Age => AGES.iter().map(|(_, value)| *value).collect(),
            Self::Image | Self::Node | Self::Label(_) => Vec::new(),
        }
    }
}

fn unknown(by: &str) -> ApiError {
    let reason = Reason::new(
        "unknown-dimension",
        format!(
            "servers cannot be grouped or coloured by `{by}`; they can by state, ops, image, node, players, age, label.KEY"
        ),
    );
    ApiError { status: 400, reason: reason.with("by", by), span: None, command: None }
}

/// Every known state and the unknown one.
pub(crate) fn states() -> Vec<&'static str> {
    GameServerState::ALL.into_iter().chain([""]).collect()
}

/// Words and their places. Known words come first and always, so that places stay; others follow by name.
#[derive(Debug)]
pub(crate) struct Words<'a> {
    /// The words with their counts.
    pub(crate) counts: Vec<Count>,
    /// Places of the words that have one of their own.
    known: HashMap<Cow<'a, str>, usize>,
    /// Where words go that have none.
    others: usize,
    asked: Places<'a>,
}

impl<'a> Words<'a> {
    /// At most `most` words; what does not fit is counted as [`OTHERS`], the rarest first.
    pub(crate) fn new(tally: Tally<'a>, always: &[&'static str], most: usize) -> Self {
        let mut found = tally.into_counts();
        let mut words: Vec<(Cow<'a, str>, u32)> =
            always.iter().map(|word| (Cow::Borrowed(*word), found.remove(word).unwrap_or(0))).collect();
        let mut more: Vec<(&str, u32)> = found.into_iter().collect();
        let room = most.saturating_sub(words.len());
        let mut left_over = 0;
        if more.len() > room {
            more.sort_unstable_by(|(left, a), (right, b)| b.cmp(a).then_with(|| by_name(left, right)));
            left_over = more.drain(room.saturating_sub(1)..).map(|(_, count)| count).sum();
        }
        // Unknown is no name: it comes last.
        more.sort_unstable_by(|(left, _), (right, _)| {
            left.is_empty().cmp(&right.is_empty()).then_with(|| by_name(left, right))
        });
        words.extend(more.into_iter().map(|(word, count)| (Cow::Borrowed(word), count)));
        if left_over > 0 {
            words.push((Cow::Borrowed(OTHERS), left_over));
        }
        let others = words.len().saturating_sub(1);
        let counts =
            words.iter().map(|(word, count)| Count { value: word.to_string(), count: *count }).collect();
        let known = words.into_iter().enumerate().map(|(place, (word, _))| (word, place)).collect();
        Self { counts, known, others, asked: Places::default() }
    }

    /// At most `most` words of a dimension over some rows.
    pub(crate) fn of(
        dimension: &Dimension,
        rows: impl Iterator<Item = &'a Row>,
        now: i64,
        most: usize,
    ) -> Self {
        let mut tally = Tally::default();
        for row in rows {
            tally.add(dimension.of(row, now));
        }
        Self::new(tally, &dimension.always(), most)
    }

    /// The place of a word.
    pub(crate) fn place(&mut self, word: &'a str) -> usize {
        self.asked.get(word, || self.known.get(word).copied().unwrap_or(self.others))
    }

    /// The words alone.
    pub(crate) fn words(&self) -> Vec<String> {
        self.counts.iter().map(|count| count.value.clone()).collect()
    }
}

#[cfg(test)]
mod tests {
    use wire::filter;

    use super::*;

    fn words(values: &[&str], always: &[&'static str], most: usize) -> Vec<(String, u32)> {
        let mut tally = Tally::default();
        for value in values {
            tally.add(value);
        }
        Words::new(tally, always, most).counts.into_iter().map(|count| (count.value, count.count)).collect()
    }

    fn pairs(wanted: &[(&str, u32)]) -> Vec<(String, u32)> {
        wanted.iter().map(|(word, count)| ((*word).to_owned(), *count)).collect()
    }

    #[test]
    fn known_words_keep_their_places() {
        let found = words(&["Crash", "odd", "Ready", "Crash"], &["Ready", "Creating", "Crash"], 10);
        assert_eq!(found, pairs(&[("Ready", 1), ("Creating", 0), ("Crash", 2), ("odd", 1)]));
    }

    #[test]
    fn the_rarest_become_others_and_unknown_is_last() {
        let found = words(&["b", "b", "a", "a", "a", "c", "", ""], &[], 4);
        assert_eq!(found, pairs(&[("a", 3), ("b", 2), ("c", 1), ("", 2)]));
        let found = words(&["b", "b", "a", "a", "a", "c", "d"], &[], 3);
        assert_eq!(found, pairs(&[("a", 3), ("b", 2), (OTHERS, 2)]));
    }

    #[test]
    fn every_bucket_is_a_value_of_the_language() {
        for (field, value) in PLAYERS
            .iter()
            .map(|(_, value)| ("players", *value))
            .chain(AGES.iter().map(|(_, value)| ("age", *value)))
        {
            let filter = filter::Filter::default().with_term(field, value).unwrap();
            assert_eq!(filter.to_string(), format!("{field}:{value}"));
        }
    }

    #[test]
    fn dimensions_are_read() {
        assert_eq!(Dimension::parse(""), Ok(Dimension::State));
        assert_eq!(Dimension::parse("label.zone"), Ok(Dimension::Label("zone".to_owned())));
        for odd in ["label.", "label", "moon"] {
            assert_eq!(Dimension::parse(odd).unwrap_err().reason.code, "unknown-dimension");
        }
    }
}
