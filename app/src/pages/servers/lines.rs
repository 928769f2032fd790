//! The lines of the table that the page holds: rows, and between them the heads of groups. Pure.

use wire::{GroupHead, ServerKey, ServersWindow};

/// One line.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Line {
    /// The head of the group with this value.
    Head(String),
    /// A server.
    Row(ServerKey),
}

/// Which lines show, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Shown {
    /// First line, counted from 0.
    pub offset: u32,
    /// Rows that the filter matches.
    pub matched: u32,
    /// All rows.
    pub total: u32,
    /// Lines of the whole table.
    pub all: u32,
    /// The lines that are here.
    pub lines: Vec<Line>,
    /// The heads among them, and first the one above them when the first line is a row of a group.
    pub heads: Vec<GroupHead>,
}

impl Shown {
    /// The lines of a window.
    pub fn of(window: &ServersWindow) -> Self {
        let mut lines = Vec::with_capacity(window.rows.len() + window.heads.len());
        let mut rows = window.rows.iter().map(|row| Line::Row(row.key.clone()));
        for head in window.heads.iter().filter(|head| head.line >= window.offset) {
            let before = (head.line - window.offset) as usize;
            lines.extend(rows.by_ref().take(before.saturating_sub(lines.len())));
            lines.push(Line::Head(head.value.clone()));
        }
        lines.extend(rows);
        Self {
            offset: window.offset,
            matched: window.matched,
            total: window.total,
            all: window.lines,
            lines,
            heads: window.heads.clone(),
        }
    }

    /// The servers, in order.
    pub fn keys(&self) -> impl Iterator<Item = &ServerKey> {
        self.lines.iter().filter_map(|line| match line {
            Line::Row(key) => Some(key),
            Line::Head(_) => None,
        })
    }

    /// The line after the last that is here, counted from the top of the whole table.
    pub fn end(&self) -> u32 {
        self.offset + self.lines.len() as u32
    }

    /// The line of a server, counted from the top of the whole table.
    pub fn line_of(&self, key: &ServerKey) -> Option<u32> {
        let at = self.lines.iter().position(|line| matches!(line, Line::Row(other) if other == key))?;
        Some(self.offset + at as u32)
    }

    /// The nearest server from a line on, downwards or upwards, with its line.
    pub fn row_from(&self, line: u32, down: bool) -> Option<(u32, &ServerKey)> {
        let at = line.checked_sub(self.offset)? as usize;
        let is_row = |(at, line): (usize, &'_ Line)| matches!(line, Line::Row(_)).then_some(at);
        let found = if down {
            self.lines.iter().enumerate().skip(at).find_map(is_row)
        } else {
            self.lines.iter().enumerate().take(at + 1).rev().find_map(is_row)
        }?;
        match &self.lines[found] {
            Line::Row(key) => Some((self.offset + found as u32, key)),
            Line::Head(_) => None,
        }
    }

    /// The group whose head is above the lines that are here.
    pub fn above(&self) -> Option<&GroupHead> {
        self.heads.first().filter(|head| head.line < self.offset)
    }

    /// The head of a group.
    pub fn head(&self, value: &str) -> Option<&GroupHead> {
        self.heads.iter().find(|head| head.value == value)
    }
}

#[cfg(test)]
mod tests {
    use super::super::board::tests::row;
    use super::*;

    fn head(line: u32, value: &str, count: u32, folded: bool) -> GroupHead {
        GroupHead { line, value: value.into(), count, folded }
    }

    fn shown(offset: u32, heads: Vec<GroupHead>, rows: &[&str]) -> Shown {
        let rows = rows.iter().map(|name| row(name, "Ready")).collect();
        Shown::of(&ServersWindow { offset, heads, rows, lines: 50, matched: 40, ..ServersWindow::default() })
    }

    fn told(shown: &Shown) -> Vec<String> {
        let tell = |line: &Line| match line {
            Line::Head(value) => format!("> {value}"),
            Line::Row(key) => key.name.clone(),
        };
        shown.lines.iter().map(tell).collect()
    }

    #[test]
    fn heads_stand_at_their_lines() {
        let from_top = shown(
            0,
            vec![head(0, "a", 2, false), head(3, "b", 9, true), head(4, "c", 9, false)],
            &["1", "2", "3"],
        );
        assert_eq!(told(&from_top), ["> a", "1", "2", "> b", "> c", "3"]);
        assert_eq!(from_top.above(), None);
        let from_middle = shown(2, vec![head(0, "a", 3, false), head(4, "b", 2, false)], &["2", "3", "4"]);
        assert_eq!(told(&from_middle), ["2", "3", "> b", "4"]);
        assert_eq!(from_middle.above().map(|head| head.value.as_str()), Some("a"));
        assert_eq!(from_middle.end(), 6);
        assert_eq!(told(&shown(7, Vec::new(), &["1", "2"])), ["1", "2"]);
    }

    #[test]
    fn the_keyboard_steps_over_heads() {
        let shown = shown(10, vec![head(12, "b", 2, false)], &["1", "2", "3", "4"]);
        let at = |line, down| shown.row_from(line, down).map(|(line, key)| (line, key.name.as_str()));
        assert_eq!(at(10, true), Some((10, "1")));
        assert_eq!(at(12, true), Some((13, "3")));
        assert_eq!(at(12, false), Some((11, "2")));
        assert_eq!((at(9, true), at(15, true), at(20, false)), (None, None, Some((14, "4"))));
        assert_eq!(shown.line_of(&row("3", "Ready").key), Some(13));
    }
}
