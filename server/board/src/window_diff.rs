//! What changed between two windows of one query.

use std::collections::HashMap;

use wire::key::ServerKey;
use wire::row::{ServerRow, ServersDelta, ServersWindow};

/// The delta that brings `old` to `new`; `None` when nothing in view changed.
#[must_use]
pub fn diff_window(old: &ServersWindow, new: &ServersWindow) -> Option<ServersDelta> {
    let known: HashMap<&ServerKey, &ServerRow> = old.rows.iter().map(|row| (&row.key, row)).collect();
    let is_news = |row: &&ServerRow| known.get(&row.key).is_none_or(|old| old != row);
    let rows: Vec<ServerRow> = new.rows.iter().filter(is_news).cloned().collect();
    let same_order = old.rows.len() == new.rows.len()
        && old.rows.iter().zip(&new.rows).all(|(old, new)| old.key == new.key);
    let order = (!same_order).then(|| new.rows.iter().map(|row| row.key.clone()).collect());
    let counts = (old.counts != new.counts).then(|| new.counts.clone());
    let heads = (old.heads != new.heads).then(|| new.heads.clone());
    let figures = |window: &ServersWindow| (window.total, window.matched, window.lines, window.offset);
    let same_figures = figures(old) == figures(new);
    if rows.is_empty() && order.is_none() && counts.is_none() && heads.is_none() && same_figures {
        return None;
    }
    Some(ServersDelta {
        version: new.version,
        total: new.total,
        matched: new.matched,
        lines: new.lines,
        offset: new.offset,
        heads,
        order,
        rows,
        counts,
    })
}
