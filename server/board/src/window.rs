//! A window over the filtered, sorted and perhaps grouped servers.

use wire::error::ApiError;
use wire::row::{GroupHead, MAX_WINDOW, ServersQuery, ServersWindow};

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
        let folded = |value: &String| query.folded.contains(value);
        let groups = || {
            let mut first_row = 0_usize;
            let mut line = 0_u32;
            grouped.groups.iter().map(move |group| {
                let head = GroupHead {
                    line,
                    value: group.value.clone(),
                    count: group.count,
                    folded: folded(&group.value),
                };
                let rows = first_row..first_row + group.count as usize;
                first_row = rows.end;
                line += 1 + if head.folded { 0 } else { group.count };
                (head, rows)
            })
        };
        window.lines = groups().map(|(head, _)| 1 + if head.folded { 0 } else { head.count }).sum();
        let (offset, limit) = cut(query, window.lines);
        window.offset = offset;
        let end = offset.saturating_add(limit).min(window.lines);
        for (head, rows) in groups() {
            let first = head.line + 1;
            let after = if head.folded { first } else { first + head.count };
            // A head above the view stands for rows of its own that are in it.
            let has_rows_in_view = first.max(offset) < after.min(end);
            if has_rows_in_view {
                let from = rows.start + (first.max(offset) - first) as usize;
                let to = rows.start + (after.min(end) - first) as usize;
                let in_view = grouped.places[from..to].iter();
                window.rows.extend(in_view.map(|place| self.rows[*place as usize].to_wire()));
            }
            if has_rows_in_view || (offset..end).contains(&head.line) {
                window.heads.push(head);
            }
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
