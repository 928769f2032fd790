//! The board at one version: shared rows in their order, and what was worked out of them.

use std::collections::BTreeMap;
use std::sync::Arc;

use crds::slim::SlimGameServerSet;
use wire::error::ApiError;
use wire::key::{ServerKey, SetKey};
use wire::live::Totals;
use wire::row::{ServerRow, SortKey};
use wire::set::SetRow;

use crate::grouped::{Grouped, GroupedKey};
use crate::matching::{MatchKey, Matches};
use crate::memo::Memo;
use crate::row::Row;
use crate::tally::by_name;

/// The board at one version. Times are Unix seconds.
#[derive(Debug)]
pub struct Snapshot {
    version: u64,
    /// In the order of [`Row::order`].
    pub(crate) rows: Vec<Arc<Row>>,
    pub(crate) sets: Arc<BTreeMap<SetKey, Arc<SlimGameServerSet>>>,
    pub(crate) nodes: Arc<BTreeMap<String, bool>>,
    pub(crate) matches: Memo<MatchKey, Matches>,
    pub(crate) orders: Memo<(MatchKey, SortKey, bool), Vec<u32>>,
    pub(crate) grouped: Memo<GroupedKey, Grouped>,
    pub(crate) set_rows: Memo<(), BTreeMap<SetKey, SetRow>>,
    pub(crate) totals: Memo<i64, Totals>,
}

impl Snapshot {
    pub(crate) fn new(
        version: u64,
        rows: Vec<Arc<Row>>,
        sets: Arc<BTreeMap<SetKey, Arc<SlimGameServerSet>>>,
        nodes: Arc<BTreeMap<String, bool>>,
    ) -> Self {
        Self {
            version,
            rows,
            sets,
            nodes,
            matches: Memo::default(),
            orders: Memo::default(),
            grouped: Memo::default(),
            set_rows: Memo::default(),
            totals: Memo::default(),
        }
    }

    /// The version that this is.
    #[must_use]
    pub const fn version(&self) -> u64 {
        self.version
    }

    /// Servers on the board.
    #[must_use]
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether there is no server.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// The row of a server.
    #[must_use]
    pub fn row(&self, key: &ServerKey) -> Option<&Arc<Row>> {
        let is_it = |row: &Row| {
            *row.name == *key.name && *row.namespace == *key.namespace && row.family == key.family
        };
        // Nearly every server is called <set>-<id> or has no set; those stand where they can be looked up.
        let usual =
            key.name.rsplit_once('-').and_then(|(set, digits)| Some((Some(set), Some(digits.parse().ok()?))));
        let guesses = [usual, Some((None, None))];
        let looked_up = guesses.into_iter().flatten().find_map(|(set, id): (Option<&str>, Option<u32>)| {
            let wanted = (key.namespace.as_str(), set, key.family, id.unwrap_or(u32::MAX));
            let found = self.rows.binary_search_by(|row| {
                let place = (&*row.namespace, row.set.as_deref(), row.family, row.id.unwrap_or(u32::MAX));
                place.cmp(&wanted).then_with(|| by_name(&row.name, &key.name))
            });
            found.ok().map(|place| &self.rows[place])
        });
        looked_up.or_else(|| self.rows.iter().find(|row| is_it(row)))
    }

    /// The row of a server as it travels.
    #[must_use]
    pub fn server(&self, key: &ServerKey) -> Option<ServerRow> {
        self.row(key).map(|row| row.to_wire())
    }

    /// Every row that a filter matches within a namespace (empty is all), in the order of tables.
    ///
    /// # Errors
    /// The filter cannot be understood.
    pub fn matching(&self, q: &str, namespace: &str, now: i64) -> Result<Vec<Arc<Row>>, ApiError> {
        let (_, matches) = self.matches(q, namespace, now)?;
        Ok(matches.rows.iter().map(|place| self.rows[*place as usize].clone()).collect())
    }

    /// Every key that a filter matches within a namespace (empty is all), in the order of tables.
    ///
    /// # Errors
    /// The filter cannot be understood.
    pub fn keys(&self, q: &str, namespace: &str, now: i64) -> Result<Vec<ServerKey>, ApiError> {
        let (_, matches) = self.matches(q, namespace, now)?;
        Ok(matches.rows.iter().map(|place| self.rows[*place as usize].key()).collect())
    }
}
