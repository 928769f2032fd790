//! A window over the filtered, sorted and perhaps grouped servers.

use wire::error::ApiError;
use wire::row::{Count, GroupHead, MAX_WINDOW, ServersQuery, ServersWindow};

use crate::matching::{MatchKey, Matches};
use crate::snapshot::Snapshot;
use crate::tally::length;

impl Snapshot {
    /// The lines in view with the counters around them. A window behind the end moves back to the last lines.
    ///
    /// # Errors
    /// The filter or what is grouped by cannot be understood.
    pub fn servers(&self, query: &ServersQuery, now: i64) -> Result<ServersWindow, ApiError> {
        let (key, matches) = self.matches(&query.q, &query.ns, now)?;
        let mut window = ServersWindow {
            version: self.version(),
            total: matches.total,
            matched: length(matches.rows.len()),
            counts: matches.counts.clone(),
            ..ServersWindow::default()
        };
        if query.group.is_empty() {
            let places = self.sorted(key, &matches, query.sort, query.desc);
            window.lines = window.matched;
            let (offset, limit) = cut(query, window.lines);
            window.offset = offset;
            let in_view = places.iter().skip(offset as usize).take(limit as usize);
            window.rows = in_view.map(|place| self.rows[*place as usize].to_wire()).collect();
        } else {
            self.grouped_lines(&mut window, query, key, &matches, now)?;
        }
        Ok(window)
    }

    /// Fills in the lines of a grouped window.
    fn grouped_lines(
        &self,
        window: &mut ServersWindow,
        query: &ServersQuery,
        key: MatchKey,
        matches: &Matches,
        now: i64,
    ) -> Result<(), ApiError> {
        let grouped = self.grouped(key, matches, query, now)?;
        let is_folded = |group: &Count| query.folded.contains(&group.value);
        let lines = |group: &Count| 1 + if is_folded(group) { 0 } else { group.count };
        window.lines = grouped.groups.iter().map(lines).sum();
        let (offset, limit) = cut(query, window.lines);
        window.offset = offset;
        let end = offset.saturating_add(limit).min(window.lines);
        // The line of the group's head, and the place of its first row.
        let (mut line, mut place) = (0, 0);
        for group in &grouped.groups {
            let (first, after) = (line + 1, line + lines(group));
            // A head above the view stands for rows of its own that are in it.
            let seen = first.max(offset)..after.min(end);
            if !seen.is_empty() {
                let from = place + (seen.start - first) as usize;
                let in_view = grouped.places[from..][..seen.len()].iter();
                window.rows.extend(in_view.map(|place| self.rows[*place as usize].to_wire()));
            }
            if !seen.is_empty() || (offset..end).contains(&line) {
                let (value, folded) = (group.value.clone(), is_folded(group));
                window.heads.push(GroupHead { line, value, count: group.count, folded });
            }
            line = after;
            place += group.count as usize;
        }
        Ok(())
    }
}

/// First line and most lines of a window over a table of so many lines.
fn cut(query: &ServersQuery, lines: u32) -> (u32, u32) {
    let limit = query.limit.min(MAX_WINDOW);
    let offset = if query.offset < lines { query.offset } else { lines.saturating_sub(limit) };
    (offset, limit)
}

#[cfg(test)]
#[path = "window_test.rs"]
mod tests;
