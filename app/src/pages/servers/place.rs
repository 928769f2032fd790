//! Where on the page the reader is: query, sorting, window, and the row that the keyboard stands on.

use super::window::{LIMIT, Seen, offset_for};
use crate::lean::memo;
use crate::urls::{Scope, query};
use leptos::prelude::*;
use leptos_router::hooks::use_query_map;
use wire::{ServerKey, ServersQuery, SortKey, View};

/// The place. Copy it into closures freely.
#[derive(Clone, Copy)]
pub struct Place {
    /// Filter and namespace.
    pub scope: Scope,
    /// Sorted by.
    pub sort: Memo<SortKey>,
    /// Largest first.
    pub desc: Memo<bool>,
    /// What the rows are grouped by, as the URL has it; empty is nothing.
    pub group: Memo<String>,
    /// Values of the groups that are folded.
    pub folded: RwSignal<Vec<String>>,
    /// First line of the window that is asked for.
    pub offset: RwSignal<u32>,
    /// The row of the keyboard.
    pub cursor: RwSignal<Option<ServerKey>>,
}

impl Place {
    /// From the URL.
    pub fn of(scope: Scope) -> Self {
        let map = use_query_map();
        let sort = move |_: Option<&SortKey>| {
            map.with(|map| map.get("sort").and_then(|word| SortKey::parse(&word)).unwrap_or_default())
        };
        let first =
            map.with_untracked(|map| map.get("offset").and_then(|text| text.parse().ok()).unwrap_or(0));
        Self {
            scope,
            sort: Memo::new(sort),
            desc: memo(move || map.with(|map| map.get("desc").is_some_and(|value| value == "1"))),
            group: memo(move || map.with(|map| map.get("group").unwrap_or_default())),
            folded: RwSignal::new(Vec::new()),
            offset: RwSignal::new(first),
            cursor: RwSignal::new(None),
        }
    }

    /// The window to ask for. Reactive.
    pub fn query(self) -> ServersQuery {
        ServersQuery {
            q: self.scope.q.get(),
            ns: self.scope.ns.get(),
            sort: self.sort.get(),
            desc: self.desc.get(),
            offset: self.offset.get(),
            limit: LIMIT,
            group: self.group.get(),
            folded: self.folded.get(),
        }
    }

    /// The same as the stream's view.
    pub fn view(self) -> Signal<View> {
        Signal::derive(move || View::Servers(self.query()))
    }

    /// Moves the window when what is seen comes near its edge.
    pub fn look_at(self, seen: Seen, lines: u32) -> bool {
        let offset = offset_for(seen, self.offset.get_untracked(), lines);
        let moves = offset != self.offset.get_untracked();
        if moves {
            self.offset.set(offset);
        }
        moves
    }

    /// A link to the same servers sorted by another column, or the other way round. Reactive.
    pub fn sort_link(self, sort: SortKey) -> String {
        let now = self.sort.get() == sort;
        // Numbers are looked at from the top first, words from A.
        let first = matches!(sort, SortKey::Players | SortKey::Restarts);
        let desc = if now { !self.desc.get() } else { first };
        self.link(sort, desc, &self.group.get(), 0)
    }

    /// A link to the same servers grouped by something else; empty is nothing. Reactive.
    pub fn group_link(self, by: &str) -> String {
        self.link(self.sort.get(), self.desc.get(), by, 0)
    }

    /// Folds a group or opens it.
    pub fn fold(self, value: &str) {
        self.folded.update(|folded| match folded.iter().position(|other| other == value) {
            Some(at) => drop(folded.swap_remove(at)),
            None => folded.push(value.to_owned()),
        });
    }

    /// A link to another window, for pages without a script. Reactive.
    pub fn page_link(self, offset: u32) -> String {
        self.link(self.sort.get(), self.desc.get(), &self.group.get(), offset)
    }

    fn link(self, sort: SortKey, desc: bool, by: &str, offset: u32) -> String {
        let offset = if offset == 0 { String::new() } else { offset.to_string() };
        let sort = if sort == SortKey::default() { "" } else { sort.as_str() };
        let (ns, q) = (self.scope.ns.get(), self.scope.q.get());
        let desc = if desc { "1" } else { "" };
        format!(
            "servers{}",
            query(&[
                ("ns", &ns),
                ("q", &q),
                ("group", by),
                ("sort", sort),
                ("desc", desc),
                ("offset", &offset)
            ])
        )
    }
}
