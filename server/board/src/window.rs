//! A window over the filtered, sorted servers.

use wire::error::ApiError;
use wire::row::{MAX_WINDOW, ServersQuery, ServersWindow};

use crate::snapshot::Snapshot;
use crate::tally::length;

impl Snapshot {
    /// The rows in view with the counters around them. A window behind the end moves back to the last rows.
    ///
    /// # Errors
    /// The filter cannot be understood.
    pub fn servers(&self, query: &ServersQuery, now: i64) -> Result<ServersWindow, ApiError> {
        let (key, matches) = self.matches(&query.q, &query.ns, now)?;
        let places = self.sorted(key, &matches, query.sort, query.desc);
        let matched = length(places.len());
        let limit = query.limit.min(MAX_WINDOW);
        let offset = if query.offset < matched { query.offset } else { matched.saturating_sub(limit) };
        let in_view = places.iter().skip(offset as usize).take(limit as usize);
        Ok(ServersWindow {
            version: self.version(),
            total: matches.total,
            matched,
            offset,
            rows: in_view.map(|place| self.rows[*place as usize].to_wire()).collect(),
            counts: matches.counts.clone(),
        })
    }
}

#[cfg(test)]
#[path = "window_test.rs"]
mod tests;
