//! Deck page, state: what the parts of the page share.

use super::{
    layout::{Cell, Plan, Rect, Zoom},
    look::{self, By, Told},
    summary::Summary,
};
use crate::lean::memo;
use crate::{
    data::initial,
    live::{seed_matched, use_view},
    selection::{Selection, use_selection},
    urls::{self, Scope, use_scope},
};
use leptos::prelude::*;
use leptos_router::hooks::use_query_map;
use std::ops::Range;
use wire::{ApiError, DeckQuery, DeckSnapshot, LiveMessage, ServerKey, View};

/// A deck with the dimension that colours it. The dimension of the URL may be ahead of it for a moment.
pub struct Shot {
    /// Dimension.
    pub by: By,
    /// The cells.
    pub deck: DeckSnapshot,
    /// Whether the last change left every server at its position.
    pub steady: bool,
}

/// The state of the page. Copy it into closures freely.
#[derive(Clone, Copy)]
pub struct Deck {
    /// Filter and namespace.
    pub scope: Scope,
    /// Dimension of the URL.
    pub by: Memo<By>,
    /// Whether the table is shown in place of the cells; also in the URL.
    pub as_table: Memo<bool>,
    /// The cells, once the stream brought them.
    pub shot: RwSignal<Option<Shot>>,
    /// Counts up when servers came, went or moved, so that positions stand for other servers than before.
    pub members: RwSignal<u32>,
    /// The counts, from the first render on.
    pub summary: RwSignal<Option<Summary>>,
    /// What the first render was refused with.
    pub error: RwSignal<Option<ApiError>>,
    /// Cell size.
    pub zoom: RwSignal<Zoom>,
    /// Width of the deck and height that can be seen of it, CSS pixels; 0 before it was measured.
    pub room: RwSignal<(u32, u32)>,
    /// Placement.
    pub plan: Memo<Plan>,
    /// The cell under the pointer.
    pub hover: RwSignal<Option<Cell>>,
    /// The cell that the keyboard is at.
    pub cursor: RwSignal<Option<Cell>>,
    /// The region that is being drawn.
    pub drag: RwSignal<Option<Rect>>,
    /// The selected servers.
    pub selection: Selection,
}

impl Deck {
    /// The state for the present URL, and the stream that feeds it.
    pub fn new() -> Self {
        let scope = use_scope();
        let map = use_query_map();
        let by = memo(move || By::parse(&map.with(|map| map.get("by").unwrap_or_default())));
        let as_table = memo(move || map.with(|map| map.get("as").as_deref() == Some("table")));
        let query = move || DeckQuery { q: scope.q.get(), ns: scope.ns.get(), by: by.get().word() };

        let first = {
            let query = untrack(query);
            initial(|reader| reader.deck(&query).map(|deck| Summary::of(&deck)))
        };
        let (summary, error) = match first {
            Some(Ok(summary)) => (Some(summary), None),
            Some(Err(error)) => (None, Some(error)),
            None => (None, None),
        };
        if let Some(summary) = &summary {
            seed_matched(summary.matched, summary.total);
        }
        let (shot, zoom, room) =
            (RwSignal::new(None::<Shot>), RwSignal::new(Zoom::default()), RwSignal::new((0, 0)));
        let plan = memo(move || {
            let (width, height) = room.get();
            let counts: Vec<u32> = shot.with(|shot| {
                shot.iter().flat_map(|shot| &shot.deck.sets).map(|set| set.ids.len() as u32).collect()
            });
            if width == 0 { Plan::default() } else { Plan::new(&counts, width, height, zoom.get()) }
        });
        let deck = Self {
            scope,
            by,
            as_table,
            shot,
            members: RwSignal::new(0),
            summary: RwSignal::new(summary),
            error: RwSignal::new(error),
            zoom,
            room,
            plan,
            hover: RwSignal::new(None),
            cursor: RwSignal::new(None),
            drag: RwSignal::new(None),
            selection: use_selection(),
        };
        use_view(Signal::derive(move || View::Deck(query())), move |message| deck.hear(message));
        deck
    }

    fn hear(self, message: LiveMessage) {
        match message {
            LiveMessage::Deck(deck) => {
                let summary = Summary::of(&deck);
                let by = self.by.get_untracked();
                self.members.update(|count| *count += 1);
                self.shot.set(Some(Shot { by, deck, steady: false }));
                self.summary.set(Some(summary));
            }
            LiveMessage::DeckDelta(delta) => {
                let mut summary = None;
                let steady = delta.sets.is_empty() && delta.gone.is_empty();
                if !steady {
                    self.members.update(|count| *count += 1);
                }
                self.shot.update(|shot| {
                    if let Some(shot) = shot {
                        shot.steady = steady;
                        shot.deck.apply(delta);
                        summary = Some(Summary::of(&shot.deck));
                    }
                });
                if summary.is_some() && self.summary.with_untracked(|old| *old != summary) {
                    self.summary.set(summary);
                }
            }
            LiveMessage::Refused(_) => return,
            _ => {}
        }
        self.error.set(None);
    }

    /// A link to this page with some of its parameters changed. Reactive.
    pub fn link(self, q: Option<&str>, by: Option<&str>, as_table: Option<bool>) -> String {
        let q = q.map_or_else(|| self.scope.q.get(), str::to_owned);
        let by = by.map_or_else(|| self.by.get().word(), str::to_owned);
        let by = if by == "state" { String::new() } else { by };
        let shown = if as_table.unwrap_or_else(|| self.as_table.get()) { "table" } else { "" };
        format!("./{}", urls::query(&[("ns", &self.scope.ns.get()), ("q", &q), ("by", &by), ("as", shown)]))
    }

    /// Key of a cell. Not reactive.
    pub fn key(self, cell: Cell) -> Option<ServerKey> {
        self.shot.with_untracked(|shot| look::key_at(&shot.as_ref()?.deck, cell.deck, cell.at))
    }

    /// What there is to say about a cell. Reactive.
    pub fn tell(self, cell: Cell) -> Option<Told> {
        self.shot.with(|shot| look::tell(&shot.as_ref()?.deck, cell.deck, cell.at))
    }

    /// Keys of runs of cells. Not reactive.
    pub fn keys(self, runs: &[(usize, Range<usize>)]) -> Vec<ServerKey> {
        self.shot.with_untracked(|shot| {
            let Some(shot) = shot else { return Vec::new() };
            runs.iter()
                .flat_map(|(deck, run)| run.clone().filter_map(|at| look::key_at(&shot.deck, *deck, at)))
                .collect()
        })
    }

    /// Selects a region, or unselects it when all of it is selected already.
    pub fn select_region(self, area: Rect) {
        let keys = self.keys(&self.plan.with_untracked(|plan| plan.region(area)));
        let all = untrack(|| self.selection.with(|selected| keys.iter().all(|key| selected.contains(key))));
        if all {
            self.selection.remove(&keys);
        } else {
            self.selection.add(keys);
        }
    }
}
