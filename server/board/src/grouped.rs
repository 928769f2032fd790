//! The rows of a match, group by group: by set, or by a dimension that the deck has too.

use std::collections::HashMap;

use wire::error::ApiError;
use wire::row::ServersQuery;
use wire::row::{Count, SortKey};

use crate::category::{Dimension, Words};
use crate::matching::{MatchKey, Matches};
use crate::row::Row;
use crate::snapshot::Snapshot;

/// The word that groups by set; every other is a [`Dimension`].
const SET: &str = "set";

/// What was asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct GroupedKey {
    matches: MatchKey,
    sort: SortKey,
    desc: bool,
    by: String,
    /// The minute, where groups change with time.
    minute: Option<i64>,
}

/// A match in groups.
#[derive(Debug, Default)]
pub(crate) struct Grouped {
    /// The groups that have rows, in their order, which does not depend on their counts: a table must not jump.
    pub(crate) groups: Vec<Count>,
    /// Places in [`Snapshot::rows`], group after group, sorted within each as asked.
    pub(crate) places: Vec<u32>,
}

impl Snapshot {
    /// The rows of a match, group by group.
    ///
    /// # Errors
    /// There is no such dimension.
    pub(crate) fn grouped(
        &self,
        key: MatchKey,
        matches: &Matches,
        query: &ServersQuery,
        now: i64,
    ) -> Result<std::sync::Arc<Grouped>, ApiError> {
        let dimension = if query.group == SET { None } else { Some(Dimension::parse(&query.group)?) };
        let asked = GroupedKey {
            matches: key.clone(),
            sort: query.sort,
            desc: query.desc,
            by: query.group.clone(),
            minute: (dimension == Some(Dimension::Age)).then_some(now / 60),
        };
        Ok(self.grouped.get(asked, || {
            let places = self.sorted(key, matches, query.sort, query.desc);
            let rows = || places.iter().map(|place| &*self.rows[*place as usize]);
            match &dimension {
                Some(dimension) => {
                    let mut words = Words::of(dimension, rows(), now, usize::MAX);
                    let group_of: Vec<usize> =
                        rows().map(|row| words.place(dimension.of(row, now))).collect();
                    collect(words.counts, &group_of, &places)
                }
                None => {
                    let (groups, ranks) = self.sets_of(matches);
                    let group_of: Vec<usize> = rows().map(|row| ranks[&set_of(row)]).collect();
                    collect(groups, &group_of, &places)
                }
            }
        }))
    }

    /// The sets of a match in the order of tables, servers without a set last, and the place of each.
    fn sets_of(&self, matches: &Matches) -> (Vec<Count>, HashMap<Set<'_>, usize>) {
        let mut groups: Vec<Count> = Vec::new();
        let mut ranks = HashMap::new();
        let mut lone = 0;
        // Rows of a set stand together.
        for place in &matches.rows {
            let set = set_of(&self.rows[*place as usize]);
            let Some((namespace, name)) = set else {
                lone += 1;
                continue;
            };
            let rank = *ranks.entry(set).or_insert_with(|| {
                groups.push(Count { value: format!("{namespace}/{name}"), count: 0 });
                groups.len() - 1
            });
            groups[rank].count += 1;
        }
        ranks.insert(None, groups.len());
        groups.push(Count { value: String::new(), count: lone });
        (groups, ranks)
    }
}

/// Namespace and name of a set; none for servers without one.
type Set<'a> = Option<(&'a str, &'a str)>;

fn set_of(row: &Row) -> Set<'_> {
    row.set.as_deref().map(|set| (&*row.namespace, set))
}

/// Lays places out group after group; within a group they keep their order. `group_of` says for each place its group.
fn collect(groups: Vec<Count>, group_of: &[usize], places: &[u32]) -> Grouped {
    let mut next = Vec::with_capacity(groups.len());
    let mut start = 0;
    for group in &groups {
        next.push(start);
        start += group.count as usize;
    }
    let mut laid_out = vec![0; places.len()];
    for (group, place) in group_of.iter().zip(places) {
        laid_out[next[*group]] = *place;
        next[*group] += 1;
    }
    Grouped { groups: groups.into_iter().filter(|group| group.count > 0).collect(), places: laid_out }
}

#[cfg(test)]
#[path = "grouped_test.rs"]
mod tests;
