//! Selecting by hand: box, range, keyboard, everything.

use super::{board::Board, lines::Shown, place::Place, window::scroll_to};
use crate::{
    api,
    keys::{Action, on_key},
    selection::Selection,
    urls::{query, server, use_go},
};
use leptos::{html, prelude::*, task::spawn_local};
use wire::{ServerKey, ServersWindow, row::MAX_WINDOW};

/// Height of the header that covers the first row, pixels.
const HEADER: f64 = 30.0;

/// Selecting. Copy it into closures freely.
#[derive(Clone, Copy)]
pub struct Picking {
    /// The selection of the tab.
    pub selection: Selection,
    place: Place,
    /// Where a range starts: the row's line in the whole table, as of then.
    anchor: StoredValue<Option<u32>>,
}

impl Picking {
    /// Selecting at a place.
    pub fn new(selection: Selection, place: Place) -> Self {
        Self { selection, place, anchor: StoredValue::new(None) }
    }

    /// Selects everything that the filter matches.
    pub fn all(self) {
        let scope = self.place.scope;
        crate::frame::select_all(self.selection, &scope.q.get_untracked(), &scope.ns.get_untracked());
    }

    /// A click on a row's box; with Shift the rows since the last click.
    pub fn click(self, board: Board, key: &ServerKey, range: bool) {
        let Some(shown) = board.shown.get_untracked() else { return };
        let at = shown.line_of(key);
        match (range, self.anchor.get_value(), at) {
            (true, Some(anchor), Some(at)) => self.range(&shown, anchor, at, key),
            _ => {
                self.selection.toggle(key);
                self.anchor.set_value(at);
            }
        }
    }

    fn range(self, shown: &Shown, anchor: u32, at: u32, key: &ServerKey) {
        if (shown.offset..shown.end()).contains(&anchor) {
            self.selection.extend_to(key, &shown.keys().cloned().collect::<Vec<_>>());
            return;
        }
        // The range starts outside of what the page holds: the server knows what lies between.
        let ask = untrack(|| self.place.query());
        let (mut from, to) = (anchor.min(at), anchor.max(at) + 1);
        let selection = self.selection;
        let folded: String = ask.folded.iter().map(|value| format!("{value},")).collect();
        spawn_local(async move {
            while from < to {
                let most = (to - from).min(MAX_WINDOW);
                let (offset, limit) = (from.to_string(), most.to_string());
                let url = format!(
                    "api/v1/gameservers{}",
                    query(&[
                        ("ns", &ask.ns),
                        ("q", &ask.q),
                        ("sort", ask.sort.as_str()),
                        ("desc", if ask.desc { "true" } else { "" }),
                        ("offset", &offset),
                        ("limit", &limit),
                        ("group", &ask.group),
                        ("folded", &folded),
                    ])
                );
                let Ok(window) = api::get::<ServersWindow>(&url).await else { return };
                if window.lines <= from {
                    return;
                }
                selection.add(window.rows.into_iter().map(|row| row.key));
                from += most;
            }
        });
    }
}

/// The keys of the table.
pub fn keyboard(board: Board, place: Place, picking: Picking, scroller: NodeRef<html::Div>) {
    let go = use_go();
    let step = move |down: bool| -> Option<ServerKey> {
        let shown = board.shown.get_untracked()?;
        let at = place.cursor.with_untracked(|cursor| cursor.as_ref().and_then(|key| shown.line_of(key)));
        let first = || {
            // Without a row yet the first one that shows.
            let scrolled = scroller.get_untracked().map_or(0, |element| element.scroll_top());
            (f64::from(scrolled) / super::window::ROW).ceil() as u32
        };
        let to = match at {
            Some(at) if down => (at + 1).min(shown.all.saturating_sub(1)),
            Some(at) => at.saturating_sub(1),
            None => first(),
        };
        // Heads of groups are stepped over; above the first row there is none to go to.
        let (to, key) = shown.row_from(to, down || at.is_none()).or_else(|| shown.row_from(to, true))?;
        let key = key.clone();
        if let Some(element) = scroller.get_untracked() {
            let (scrolled, height) = (f64::from(element.scroll_top()), f64::from(element.client_height()));
            if let Some(top) = scroll_to(to, scrolled, height, HEADER) {
                element.set_scroll_top(top as i32);
            }
        }
        place.cursor.set(Some(key.clone()));
        Some(key)
    };
    on_key(move |action| {
        let current = place.cursor.get_untracked();
        match (action, current) {
            (Action::Next, _) => drop(step(true)),
            (Action::Previous, _) => drop(step(false)),
            (Action::SelectNext | Action::SelectPrevious, current) => {
                for key in current.into_iter().chain(step(action == Action::SelectNext)) {
                    if !untrack(|| picking.selection.contains(&key)) {
                        picking.click(board, &key, false);
                    }
                }
            }
            (Action::Select, Some(key)) => picking.click(board, &key, false),
            (Action::Open, Some(key)) => go(&server(&key), false),
            (Action::Edit, Some(key)) if untrack(|| picking.selection.len()) == 0 => {
                // Nothing is selected: the row that the keyboard stands on is meant.
                picking.click(board, &key, false);
                return false;
            }
            (Action::Escape, Some(_)) if untrack(|| picking.selection.len()) == 0 => place.cursor.set(None),
            _ => return false,
        }
        true
    });
}
