//! Sorting a match by a column. Values become numbers first, so that a sort compares no texts twice.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::Arc;

use wire::row::SortKey;

use crate::matching::{MatchKey, Matches};
use crate::row::Row;
use crate::snapshot::Snapshot;
use crate::tally::by_name;

impl Snapshot {
    /// The places of a match in the order asked for. Ties keep the order of tables; what is unknown comes last, also
    /// descending.
    pub(crate) fn sorted(
        &self,
        key: MatchKey,
        matches: &Matches,
        sort: SortKey,
        desc: bool,
    ) -> Arc<Vec<u32>> {
        self.orders.get((key, sort, desc), || {
            if sort == SortKey::Name {
                let mut places = matches.rows.clone();
                if desc {
                    places.reverse();
                }
                return places;
            }
            let rows = matches.rows.iter().map(|place| &*self.rows[*place as usize]);
            let values = values(rows, sort);
            let mut places: Vec<(bool, u128, u32)> = values
                .into_iter()
                .zip(&matches.rows)
                .map(|(value, place)| (value.is_none(), value.unwrap_or(0), *place))
                .collect();
            if desc {
                places.sort_unstable_by_key(|(unknown, value, place)| (*unknown, Reverse(*value), *place));
            } else {
                places.sort_unstable();
            }
            places.into_iter().map(|(_, _, place)| place).collect()
        })
    }
}

/// A number for each row that sorts as the column does; `None` for what is unknown.
fn values<'a>(rows: impl Iterator<Item = &'a Row>, sort: SortKey) -> Vec<Option<u128>> {
    match sort {
        // Not asked: the order of the rows is the order by name.
        SortKey::Name => rows.map(|_| None).collect(),
        SortKey::State => ranks(rows.map(|row| &*row.state)),
        SortKey::Ops => ranks(rows.map(|row| &*row.ops)),
        SortKey::Image => ranks(rows.map(Row::image)),
        SortKey::Node => ranks(rows.map(Row::node)),
        SortKey::Rev => ranks(rows.map(Row::revision)),
        SortKey::Players => rows.map(|row| row.players.map(ordered)).collect(),
        SortKey::Restarts => rows.map(|row| row.pod.is_some().then(|| u128::from(row.restarts))).collect(),
        // The youngest was created last.
        SortKey::Age => rows.map(|row| (row.created > 0).then(|| u128::MAX - ordered(row.created))).collect(),
        SortKey::Dp => rows.map(|row| row.deletion_priority().map(ordered)).collect(),
        SortKey::Up => rows.map(|row| row.update_priority().map(ordered)).collect(),
        SortKey::Ip => rows.map(|row| row.ip().map(address)).collect(),
    }
}

/// The same order without a sign.
fn ordered(number: i64) -> u128 {
    // Both fit: the difference of two i64 is below 2^64.
    u128::from(number.abs_diff(i64::MIN))
}

fn address(ip: IpAddr) -> u128 {
    match ip {
        IpAddr::V4(ip) => u128::from(ip.to_bits()),
        IpAddr::V6(ip) => ip.to_bits(),
    }
}

/// The rank of each text among the different ones; few are different, so few are compared.
fn ranks<'a>(texts: impl Iterator<Item = &'a str>) -> Vec<Option<u128>> {
    let texts: Vec<&str> = texts.collect();
    let mut ranks: HashMap<&str, u128> = texts.iter().map(|text| (*text, 0)).collect();
    let mut different: Vec<&str> = ranks.keys().copied().collect();
    different.sort_unstable_by(|left, right| by_name(left, right));
    for (rank, text) in different.into_iter().enumerate() {
        ranks.insert(text, rank as u128);
    }
    texts.into_iter().map(|text| if text.is_empty() { None } else { ranks.get(text).copied() }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_rank_naturally_and_nothing_is_unknown() {
        let found = ranks(["n10", "n9", "", "n10", "N9"].into_iter());
        assert_eq!(found[2], None);
        assert!(found[1] < found[0] && found[0] == found[3] && found[4] < found[1]);
    }

    #[test]
    fn numbers_keep_their_order() {
        let numbers = [i64::MIN, -5, -1, 0, 1, i64::MAX];
        assert!(numbers.windows(2).all(|pair| ordered(pair[0]) < ordered(pair[1])));
    }

    #[test]
    fn addresses_sort_by_their_bits() {
        let bits = |text: &str| address(text.parse().unwrap());
        assert!(bits("10.0.0.9") < bits("10.0.0.10"));
        assert!(bits("10.0.0.9") < bits("fd00::1"));
    }
}
