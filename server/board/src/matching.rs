//! Which rows a filter matches, and the counters over them.

use std::sync::Arc;

use wire::error::ApiError;
use wire::filter;
use wire::row::Counts;

use crate::fields::RowAt;
use crate::row::Row;
use crate::snapshot::Snapshot;
use crate::tally::{Tally, length};

/// The rows that a filter matches.
#[derive(Debug)]
pub(crate) struct Matches {
    /// Places in [`Snapshot::rows`], ascending.
    pub(crate) rows: Vec<u32>,
    /// Servers in the namespace asked for.
    pub(crate) total: u32,
    pub(crate) counts: Counts,
}

/// What was asked; two filters that mean the same are one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct MatchKey {
    filter: String,
    namespace: String,
    /// The time, where the answer depends on it.
    now: Option<i64>,
}

impl Snapshot {
    /// Matches a filter text within a namespace (empty is all).
    pub(crate) fn matches(
        &self,
        q: &str,
        namespace: &str,
        now: i64,
    ) -> Result<(MatchKey, Arc<Matches>), ApiError> {
        let filter = filter::parse(q).map_err(|error| error.to_api_error())?;
        let key = MatchKey {
            filter: filter.to_string(),
            namespace: namespace.to_owned(),
            now: filter.depends_on_time().then_some(now),
        };
        let matches = self.matches.get(key.clone(), || {
            let (start, end) = self.namespace_range(namespace);
            let places = (start..end).map(length);
            let row = |place: &u32| RowAt { row: &self.rows[*place as usize], now };
            let rows: Vec<u32> = match filter.is_empty() {
                true => places.collect(),
                false => places.filter(|place| filter.matches(&row(place))).collect(),
            };
            let counts = counts(rows.iter().map(|place| &*self.rows[*place as usize]));
            Matches { rows, total: length(end - start), counts }
        });
        Ok((key, matches))
    }

    /// The rows of a namespace stand together.
    fn namespace_range(&self, namespace: &str) -> (usize, usize) {
        if namespace.is_empty() {
            return (0, self.rows.len());
        }
        let start = self.rows.partition_point(|row| &*row.namespace < namespace);
        let end = start + self.rows[start..].partition_point(|row| &*row.namespace == namespace);
        (start, end)
    }
}

pub(crate) fn counts<'a>(rows: impl Iterator<Item = &'a Row>) -> Counts {
    let (mut state, mut ops) = (Tally::default(), Tally::default());
    let (mut in_use, mut players) = (0, None);
    for row in rows {
        state.add(&row.state);
        ops.add(&row.ops);
        in_use += u32::from(row.in_use());
        if let Some(more) = row.players {
            players = Some(more.saturating_add(players.unwrap_or(0)));
        }
    }
    Counts { state: state.most_first(), ops: ops.most_first(), in_use, players }
}
