//! The rows that the page holds: what is newest, what is shown, and which cells changed just now.

use super::{columns::changed_columns, lines::Shown, window::moves};
use crate::time::machine_now;
use leptos::prelude::*;
use std::{collections::HashMap, time::Duration};
use wire::{Counts, ServerKey, ServerRow, ServersWindow, row::ServersDelta};

/// A changed cell glows this long; the same as in the style.
const GLOW: Duration = Duration::from_millis(1100);
/// Rows do not move under a pointer that moved within this time.
const POINTER_MS: i64 = 1500;

/// One row with what changed in it.
#[derive(Clone, Copy)]
pub struct Cell {
    /// The newest row.
    pub row: RwSignal<ServerRow>,
    /// Columns that glow, as bits, and how often the row changed: an even and an odd glow start anew.
    pub glow: RwSignal<(u32, u32)>,
}

/// The page's rows. Copy it into closures freely.
#[derive(Clone, Copy)]
pub struct Board {
    /// Which rows show; `None` until the first window arrives.
    pub shown: RwSignal<Option<Shown>>,
    /// Counters over the match.
    pub counts: RwSignal<Counts>,
    /// Rows that would move but wait for the pointer to rest.
    pub waiting: RwSignal<usize>,
    cells: StoredValue<HashMap<ServerKey, Cell>>,
    newest: StoredValue<ServersWindow>,
    /// Where the signals of rows live: they outlast the effect that makes them.
    owner: StoredValue<Owner>,
    /// Until when the pointer counts as moving, Unix milliseconds.
    pointer: StoredValue<i64>,
    /// The next window is another query or another place: nothing is held back.
    jump: StoredValue<bool>,
}

impl Board {
    /// The rows that the server rendered, if it did.
    pub fn new(first: Option<ServersWindow>) -> Self {
        let board = Self {
            shown: RwSignal::new(None),
            counts: RwSignal::new(Counts::default()),
            waiting: RwSignal::new(0),
            cells: StoredValue::new(HashMap::new()),
            newest: StoredValue::new(ServersWindow::default()),
            owner: StoredValue::new(Owner::current().unwrap_or_default()),
            pointer: StoredValue::new(0),
            jump: StoredValue::new(true),
        };
        if let Some(window) = first {
            board.whole(window);
        }
        board
    }

    /// A whole window.
    pub fn whole(self, window: ServersWindow) {
        self.newest.set_value(window);
        self.adopt();
    }

    /// A change of the newest window.
    pub fn change(self, delta: ServersDelta) {
        self.newest.update_value(|newest| newest.apply(delta));
        self.adopt();
    }

    /// The next window is another query or another place.
    pub fn will_jump(self) {
        self.jump.set_value(true);
    }

    /// The pointer moved over the rows.
    pub fn pointer_moved(self) {
        self.pointer.set_value(machine_now() + POINTER_MS);
    }

    /// The pointer left: what waits is shown.
    pub fn pointer_left(self) {
        self.pointer.set_value(0);
        if self.waiting.get_untracked() > 0 {
            self.settle();
        }
    }

    /// The row of a key that shows.
    pub fn cell(self, key: &ServerKey) -> Option<Cell> {
        self.cells.with_value(|cells| cells.get(key).copied())
    }

    /// Takes over the newest window: values at once, order when nobody's pointer would lose its row.
    fn adopt(self) {
        self.update_cells();
        let counts = self.newest.with_value(|newest| newest.counts.clone());
        if self.counts.with_untracked(|old| *old != counts) {
            self.counts.set(counts);
        }
        let jump = self.jump.try_update_value(std::mem::take).unwrap_or(true);
        let new = self.newest.with_value(Shown::of);
        let moved = self.shown.with_untracked(|shown| {
            let shown = shown.as_ref()?;
            (shown.offset == new.offset).then(|| moves(&shown.lines, &new.lines))
        });
        match moved {
            Some(moved) if moved > 0 && !jump && machine_now() < self.pointer.get_value() => {
                let was_waiting = self.waiting.get_untracked() > 0;
                self.waiting.set(moved);
                if !was_waiting {
                    self.settle_later();
                }
            }
            _ => self.show(new),
        }
    }

    /// Shows the newest order.
    fn settle(self) {
        self.show(self.newest.with_value(Shown::of));
    }

    /// Shows an order, that of the newest window.
    fn show(self, new: Shown) {
        if self.waiting.get_untracked() != 0 {
            self.waiting.set(0);
        }
        if self.shown.with_untracked(|old| old.as_ref() != Some(&new)) {
            self.shown.set(Some(new));
        }
        // Rows that no longer show are forgotten.
        let stale: Vec<Cell> = self.newest.with_value(|newest| {
            let keep: std::collections::HashSet<&ServerKey> =
                newest.rows.iter().map(|row| &row.key).collect();
            self.cells
                .try_update_value(|cells| {
                    cells.extract_if(|key, _| !keep.contains(key)).map(|(_, cell)| cell).collect()
                })
                .unwrap_or_default()
        });
        // Their row may still be drawn until the list is; it must not lose its signals before.
        set_timeout_in_browser(move || {
            for cell in stale {
                cell.row.dispose();
                cell.glow.dispose();
            }
        });
    }

    /// Settles when the pointer rests.
    fn settle_later(self) {
        let wait = (self.pointer.get_value() - machine_now()).max(50);
        set_timeout(
            move || {
                let Some(until) = self.pointer.try_get_value() else { return };
                if self.waiting.get_untracked() == 0 {
                    return;
                }
                if machine_now() < until { self.settle_later() } else { self.settle() }
            },
            Duration::from_millis(wait.unsigned_abs()),
        );
    }

    fn update_cells(self) {
        let rows = self.newest.with_value(|newest| newest.rows.clone());
        let mut glowing = Vec::new();
        for row in rows {
            match self.cell(&row.key) {
                Some(cell) => {
                    let changed = cell.row.with_untracked(|old| {
                        if *old == row { None } else { Some(changed_columns(old, &row)) }
                    });
                    let Some(changed) = changed else { continue };
                    cell.row.set(row);
                    if changed != 0 {
                        cell.glow.update(|(bits, turn)| {
                            *bits = changed;
                            *turn += 1;
                        });
                        glowing.push((cell.glow, cell.glow.get_untracked().1));
                    }
                }
                None => {
                    let key = row.key.clone();
                    let cell = self.owner.with_value(|owner| {
                        owner.with(|| Cell { row: RwSignal::new(row), glow: RwSignal::new((0, 0)) })
                    });
                    self.cells.update_value(|cells| {
                        cells.insert(key, cell);
                    });
                }
            }
        }
        if !glowing.is_empty() {
            set_timeout(
                move || {
                    for (glow, turn) in glowing {
                        // A row that changed again meanwhile glows on.
                        if glow.try_get_untracked().is_some_and(|(bits, now)| bits != 0 && now == turn) {
                            glow.set((0, turn));
                        }
                    }
                },
                GLOW,
            );
        }
    }
}

/// After the list was drawn; in the server nothing is ever forgotten, as one render sees one window.
fn set_timeout_in_browser(later: impl FnOnce() + 'static) {
    #[cfg(feature = "hydrate")]
    set_timeout(later, Duration::from_millis(100));
    #[cfg(not(feature = "hydrate"))]
    drop(later);
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use wire::Family;

    pub fn row(name: &str, state: &str) -> ServerRow {
        ServerRow {
            key: ServerKey::new(Family::Kruise, "prod", name),
            uid: name.into(),
            set: None,
            id: None,
            state: state.into(),
            ops: "None".into(),
            deletion_priority: String::new(),
            update_priority: String::new(),
            network_disabled: false,
            network: String::new(),
            containers: Vec::new(),
            node: None,
            ip: None,
            players: None,
            restarts: 0,
            created: 0,
            revision: String::new(),
            labels: std::collections::BTreeMap::new(),
        }
    }

    fn window(rows: Vec<ServerRow>) -> ServersWindow {
        let n = u32::try_from(rows.len()).unwrap();
        ServersWindow { total: n, matched: n, lines: n, rows, ..ServersWindow::default() }
    }

    fn order(board: Board) -> Vec<String> {
        board.shown.get_untracked().unwrap().keys().map(|key| key.name.clone()).collect()
    }

    #[test]
    fn a_window_shows_at_once_when_no_pointer_moves() {
        let owner = Owner::new();
        owner.set();
        let board = Board::new(Some(window(vec![row("a", "Ready"), row("b", "Ready")])));
        assert_eq!(order(board), ["a", "b"]);
        board.whole(window(vec![row("b", "Ready"), row("c", "Ready")]));
        assert_eq!((order(board), board.waiting.get_untracked()), (vec!["b".into(), "c".into()], 0));
        assert!(board.cell(&row("a", "").key).is_none(), "a row that went is forgotten");
    }

    #[test]
    fn a_jump_is_not_held_back_by_the_pointer() {
        let owner = Owner::new();
        owner.set();
        let board = Board::new(Some(window(vec![row("a", "Ready")])));
        board.pointer_moved();
        board.will_jump();
        board.whole(window(vec![row("z", "Ready")]));
        assert_eq!(order(board), ["z"]);
    }
}
