//! Counters of header and menu over everything.

use std::collections::BTreeSet;

use wire::live::Totals;

use crate::matching;
use crate::snapshot::Snapshot;
use crate::tally::length;

/// Seconds for which what needs a hand is not looked at anew while nothing changes.
const LOOK_EVERY: i64 = 5;

impl Snapshot {
    /// The totals at a time of day. Batches, the sandbox and whether the board is behind are for others to fill in.
    #[must_use]
    pub fn totals(&self, now: i64) -> Totals {
        let totals = self.totals.get(now.div_euclid(LOOK_EVERY), || {
            let counts = matching::counts(self.rows.iter().map(|row| &**row));
            let of_servers = self.rows.chunk_by(|one, other| one.namespace == other.namespace);
            let of_servers = of_servers.filter_map(|rows| rows.first()).map(|row| &*row.namespace);
            let namespaces: BTreeSet<&str> =
                of_servers.chain(self.sets.keys().map(|key| key.namespace.as_str())).collect();
            Totals {
                servers: length(self.rows.len()),
                sets: length(self.sets.len()),
                namespaces: namespaces.into_iter().map(str::to_owned).collect(),
                state: counts.state,
                ops: counts.ops,
                players: counts.players,
                attention: self.attention(now),
                ..Totals::default()
            }
        });
        Totals::clone(&totals)
    }
}
