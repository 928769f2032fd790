//! Deck page, placement: where every cell stands, which cell is under a point, which cells are in a region. Pure.
//!
//! All figures are CSS pixels in the deck's own coordinates: (0, 0) is the top left corner of the area that holds
//! the decks, y grows downwards through all of them, so one scroll shows everything. A deck is a set: a header and
//! below it its cells, row by row. Small decks stand side by side on a shelf, a large one takes the whole width.

use std::ops::Range;

/// Height of a deck's header.
pub const HEADER: u32 = 30;
/// Room between shelves.
pub const SHELF_GAP: u32 = 14;
/// Room between decks on one shelf.
pub const DECK_GAP: u32 = 24;
/// Cells of this size and more carry the opsState mark; below it only the colour is left.
pub const MARKS_FROM: u32 = 9;
/// A header needs this much to name its set.
const NARROWEST: u32 = 236;
/// Tallest canvas. Browsers refuse or blur canvases beyond some 16,000 device pixels, and a far away part of a
/// deck need not hold memory, so a deck is cut into strips of whole rows.
const STRIP: u32 = 1024;

/// How large a cell is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CellSize {
    /// Side of the square.
    pub cell: u32,
    /// Room to the next one.
    pub gap: u32,
}

impl CellSize {
    /// Distance from one cell to the next.
    #[must_use]
    pub const fn pitch(self) -> u32 {
        self.cell + self.gap
    }

    /// Whether the opsState mark is drawn.
    #[must_use]
    pub const fn has_marks(self) -> bool {
        self.cell >= MARKS_FROM
    }
}

const fn size(cell: u32, gap: u32) -> CellSize {
    CellSize { cell, gap }
}

/// The sizes that zoom goes through, smallest first. At the second one 50,000 cells take about 860 by 530 pixels,
/// at the first one the same room holds more than twice as many.
pub const SIZES: [CellSize; 13] = [
    size(2, 0),
    size(2, 1),
    size(3, 1),
    size(4, 1),
    size(5, 1),
    size(6, 1),
    size(7, 2),
    size(9, 2),
    size(11, 2),
    size(14, 2),
    size(18, 3),
    size(24, 3),
    size(32, 4),
];
/// The first step whose cells carry marks.
const FIRST_WITH_MARKS: usize = 7;
/// Scrolling that marks are worth, at least; small screens scroll anyway.
const WORTH_SCROLLING: u32 = 2000;
/// Largest step that is chosen without being asked for: five servers need no cells like windows.
const LARGEST_FIT: usize = 10;

/// How the cell size is chosen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Zoom {
    /// From the number of cells and the room there is.
    #[default]
    Fit,
    /// A step of [`SIZES`]; beyond the ends it is the end.
    Step(usize),
}

/// Where one deck stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// Left edge.
    pub x: u32,
    /// Top of the header; the cells begin [`HEADER`] below.
    pub y: u32,
    /// Width for header and cells.
    pub width: u32,
    /// Cells in a row.
    pub columns: u32,
    /// Rows of cells.
    pub rows: u32,
    /// Cells.
    pub count: u32,
}

impl Place {
    /// Top of the cells.
    #[must_use]
    pub fn cells_top(&self) -> u32 {
        self.y + HEADER
    }
}

/// One cell: which deck, and its position within it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Cell {
    /// Index of the deck.
    pub deck: usize,
    /// Position in the deck.
    pub at: usize,
}

/// A rectangle; `right` and `bottom` are outside.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rect {
    /// Left edge.
    pub left: f64,
    /// Upper edge.
    pub top: f64,
    /// Right edge.
    pub right: f64,
    /// Lower edge.
    pub bottom: f64,
}

impl Rect {
    /// The rectangle between two opposite corners, in any order.
    #[must_use]
    pub fn between(a: (f64, f64), b: (f64, f64)) -> Self {
        Self { left: a.0.min(b.0), top: a.1.min(b.1), right: a.0.max(b.0), bottom: a.1.max(b.1) }
    }
}

/// A part of a deck that is one canvas: whole rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Strip {
    /// Index of the deck.
    pub deck: usize,
    /// Left edge.
    pub x: u32,
    /// Upper edge.
    pub y: u32,
    /// Width.
    pub width: u32,
    /// Height.
    pub height: u32,
    /// First position in the deck.
    pub first: usize,
    /// Cells.
    pub count: usize,
}

/// A step of the cursor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// One cell back, into the deck before at the start.
    Left,
    /// One cell on, into the next deck at the end.
    Right,
    /// One row up, into the deck above at the first row.
    Up,
    /// One row down, into the deck below at the last row.
    Down,
    /// First cell of the deck.
    Home,
    /// Last cell of the deck.
    End,
}

/// The placement of all decks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Plan {
    /// Index into [`SIZES`].
    pub step: usize,
    /// Width it was made for.
    pub width: u32,
    /// Height of everything.
    pub height: u32,
    /// The decks, in the order of the counts.
    pub decks: Vec<Place>,
}

impl Plan {
    /// Places decks of so many cells into a width. `room` is the height that can be seen at once.
    ///
    /// `Fit` takes the largest cells with which everything is in sight; rather than lose the marks it
    /// accepts up to two screens of scrolling, or [`WORTH_SCROLLING`].
    #[must_use]
    pub fn new(counts: &[u32], width: u32, room: u32, zoom: Zoom) -> Self {
        match zoom {
            Zoom::Step(step) => Self::at(counts, width, step.min(SIZES.len() - 1)),
            Zoom::Fit => {
                let mut smallest = Self::at(counts, width, 0);
                for step in (1..=LARGEST_FIT).rev() {
                    let plan = Self::at(counts, width, step);
                    if plan.height <= room
                        || (step == FIRST_WITH_MARKS && plan.height <= WORTH_SCROLLING.max(room * 2))
                    {
                        smallest = plan;
                        break;
                    }
                }
                smallest
            }
        }
    }

    fn at(counts: &[u32], width: u32, step: usize) -> Self {
        let pitch = SIZES[step].pitch();
        let width = width.max(pitch);
        let full_columns = width / pitch;
        let mut plan = Self { step, width, height: 0, decks: Vec::with_capacity(counts.len()) };
        let (mut x, mut y, mut shelf) = (0, 0, 0);
        for &count in counts {
            let (columns, deck_width) = shape(count, pitch, width, full_columns);
            if x > 0 && x + deck_width > width {
                y += shelf + SHELF_GAP;
                (x, shelf) = (0, 0);
            }
            let rows = count.div_ceil(columns);
            plan.decks.push(Place { x, y, width: deck_width, columns, rows, count });
            x += deck_width + DECK_GAP;
            shelf = shelf.max(HEADER + rows * pitch);
        }
        plan.height = y + shelf;
        plan
    }

    /// The size of the cells.
    #[must_use]
    pub fn size(&self) -> CellSize {
        SIZES[self.step.min(SIZES.len() - 1)]
    }

    /// The cell under a point. The gap right and below belongs to the cell, so that nothing falls between.
    #[must_use]
    pub fn hit(&self, x: f64, y: f64) -> Option<Cell> {
        let pitch = f64::from(self.size().pitch());
        self.decks.iter().enumerate().find_map(|(deck, place)| {
            let (dx, dy) = (x - f64::from(place.x), y - f64::from(place.cells_top()));
            if dx < 0.0 || dy < 0.0 {
                return None;
            }
            let (column, row) = ((dx / pitch) as u32, (dy / pitch) as u32);
            let at = row.checked_mul(place.columns)?.checked_add(column)?;
            (column < place.columns && at < place.count).then_some(Cell { deck, at: at as usize })
        })
    }

    /// The square of a cell.
    #[must_use]
    pub fn rect(&self, cell: Cell) -> Option<Rect> {
        let place = self.decks.get(cell.deck)?;
        let at = u32::try_from(cell.at).ok().filter(|at| *at < place.count)?;
        let size = self.size();
        let left = f64::from(place.x + at % place.columns * size.pitch());
        let top = f64::from(place.cells_top() + at / place.columns * size.pitch());
        let side = f64::from(size.cell);
        Some(Rect { left, top, right: left + side, bottom: top + side })
    }

    /// The cells that a rectangle touches, as runs of positions of one row each.
    #[must_use]
    pub fn region(&self, area: Rect) -> Vec<(usize, Range<usize>)> {
        let size = self.size();
        let mut runs = Vec::new();
        for (deck, place) in self.decks.iter().enumerate() {
            let Some(columns) = span(area.left, area.right, place.x, place.columns, size) else { continue };
            let Some(rows) = span(area.top, area.bottom, place.cells_top(), place.rows, size) else {
                continue;
            };
            for row in rows {
                let first = row * place.columns + columns.start;
                let last = (row * place.columns + columns.end).min(place.count);
                if first < last {
                    runs.push((deck, first as usize..last as usize));
                }
            }
        }
        runs
    }

    /// The canvases that all decks need.
    #[must_use]
    pub fn strips(&self) -> Vec<Strip> {
        let size = self.size();
        let rows_each = (STRIP / size.pitch()).max(1);
        let mut strips = Vec::new();
        for (deck, place) in self.decks.iter().enumerate() {
            let mut row = 0;
            while row < place.rows {
                let rows = rows_each.min(place.rows - row);
                let first = row * place.columns;
                strips.push(Strip {
                    deck,
                    x: place.x,
                    y: place.cells_top() + row * size.pitch(),
                    width: place.columns * size.pitch(),
                    height: rows * size.pitch(),
                    first: first as usize,
                    count: (rows * place.columns).min(place.count - first) as usize,
                });
                row += rows;
            }
        }
        strips
    }

    /// Where the cursor goes; the same cell when there is nowhere to go.
    #[must_use]
    pub fn walk(&self, from: Cell, step: Step) -> Cell {
        let Some(place) = self.decks.get(from.deck).filter(|place| place.count > 0) else {
            return self.first().unwrap_or(from);
        };
        let (columns, last) = (place.columns as usize, place.count as usize - 1);
        let at = from.at.min(last);
        let here = |at| Cell { deck: from.deck, at };
        match step {
            Step::Home => here(0),
            Step::End => here(last),
            Step::Left if at > 0 => here(at - 1),
            Step::Right if at < last => here(at + 1),
            Step::Up if at >= columns => here(at - columns),
            Step::Down if at + columns <= last => here(at + columns),
            // From the row above a short last row, down means its end.
            Step::Down if at / columns < last / columns => here(last),
            Step::Left => self
                .neighbour(from.deck, false)
                .map_or(here(at), |(deck, place)| Cell { deck, at: place.count as usize - 1 }),
            Step::Right => self.neighbour(from.deck, true).map_or(here(at), |(deck, _)| Cell { deck, at: 0 }),
            Step::Up => self.neighbour(from.deck, false).map_or(here(at), |(deck, place)| {
                let (other, end) = (place.columns as usize, place.count as usize - 1);
                Cell { deck, at: (end / other * other + (at % columns).min(other - 1)).min(end) }
            }),
            Step::Down => self.neighbour(from.deck, true).map_or(here(at), |(deck, place)| Cell {
                deck,
                at: (at % columns).min(place.columns as usize - 1).min(place.count as usize - 1),
            }),
        }
    }

    /// The first cell there is.
    #[must_use]
    pub fn first(&self) -> Option<Cell> {
        self.decks.iter().position(|place| place.count > 0).map(|deck| Cell { deck, at: 0 })
    }

    fn neighbour(&self, deck: usize, forward: bool) -> Option<(usize, &Place)> {
        let full = |(_, place): &(usize, &Place)| place.count > 0;
        if forward {
            self.decks.iter().enumerate().skip(deck + 1).find(full)
        } else {
            self.decks.iter().enumerate().take(deck).rev().find(full)
        }
    }
}

/// Columns and width of a deck: a large one takes everything, a small one is about five times as wide as high.
fn shape(count: u32, pitch: u32, width: u32, full_columns: u32) -> (u32, u32) {
    let area = f64::from(count) * f64::from(pitch) * f64::from(pitch);
    let natural = (5.0 * area).sqrt().max(f64::from(NARROWEST));
    if natural >= f64::from(width) * 0.4 {
        return (full_columns.max(1), width);
    }
    let columns = ((natural / f64::from(pitch)).ceil() as u32).clamp(1, full_columns.max(1));
    (columns, columns * pitch)
}

/// Which of `count` cells that begin at `origin` lie between `from` and `to`.
fn span(from: f64, to: f64, origin: u32, count: u32, size: CellSize) -> Option<Range<u32>> {
    let pitch = f64::from(size.pitch());
    let (from, to) = (from - f64::from(origin), to - f64::from(origin));
    if to < 0.0 || count == 0 {
        return None;
    }
    // A cell is touched when its square is, not the gap behind it.
    let first = if from <= 0.0 { 0.0 } else { ((from - f64::from(size.cell)) / pitch).floor() + 1.0 };
    let last = (to / pitch).floor() + 1.0;
    let (first, last) = (first.max(0.0) as u32, (last as u32).min(count));
    (first < last).then_some(first..last)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fifty_thousand_cells_are_in_sight_on_a_laptop() {
        let plan = Plan::new(&[20_000, 20_000, 9_000, 1_000], 860, 700, Zoom::Fit);
        assert!(plan.height <= 700, "{} at step {}", plan.height, plan.step);
        assert!(!plan.size().has_marks());
    }

    #[test]
    fn few_cells_are_large_but_not_like_windows() {
        let plan = Plan::new(&[3, 2], 860, 700, Zoom::Fit);
        assert_eq!(plan.size(), SIZES[LARGEST_FIT]);
        assert_eq!(plan.decks[0].y, plan.decks[1].y, "two small decks share a shelf");
        assert!(plan.decks[1].x >= plan.decks[0].width + DECK_GAP);
    }

    #[test]
    fn marks_are_worth_some_scrolling_but_not_a_lot() {
        let some = Plan::new(&[2_400, 1_800, 960, 52], 860, 700, Zoom::Fit);
        assert!(some.size().has_marks());
        assert!(some.height <= WORTH_SCROLLING);
        assert!(!Plan::new(&[30_000], 860, 700, Zoom::Fit).size().has_marks());
    }

    #[test]
    fn nothing_at_all_needs_no_room() {
        let plan = Plan::new(&[], 860, 700, Zoom::Fit);
        assert_eq!((plan.height, plan.strips().len()), (0, 0));
        assert_eq!(plan.first(), None);
        assert_eq!(plan.hit(1.0, 1.0), None);
        let empty_set = Plan::new(&[0], 860, 700, Zoom::Fit);
        assert_eq!((empty_set.height, empty_set.strips().len()), (HEADER, 0));
    }

    #[test]
    fn every_cell_is_hit_where_it_stands_and_in_the_gap_after_it() {
        for zoom in (0..SIZES.len()).map(Zoom::Step).chain([Zoom::Fit]) {
            for width in [1, 300, 358, 861, 2400] {
                let plan = Plan::new(&[0, 7, 1, 523, 64], width, 500, zoom);
                for (deck, place) in plan.decks.iter().enumerate() {
                    assert!(
                        place.x + place.columns * plan.size().pitch() <= plan.width.max(plan.size().pitch())
                    );
                    for at in 0..place.count as usize {
                        let cell = Cell { deck, at };
                        let (rect, gap) = (plan.rect(cell).unwrap(), f64::from(plan.size().gap));
                        assert_eq!(plan.hit(rect.left, rect.top), Some(cell));
                        assert_eq!(plan.hit(rect.right + gap - 0.5, rect.bottom + gap - 0.5), Some(cell));
                    }
                    assert_eq!(plan.rect(Cell { deck, at: place.count as usize }), None);
                }
            }
        }
    }

    #[test]
    fn a_point_beside_the_cells_hits_nothing() {
        let plan = Plan::new(&[10], 860, 700, Zoom::Step(9));
        assert_eq!(plan.hit(5.0, f64::from(HEADER) - 1.0), None, "header");
        assert_eq!(plan.hit(-1.0, f64::from(HEADER)), None);
        assert_eq!(plan.hit(859.0, f64::from(HEADER) + 1.0), None, "right of the last column");
        assert_eq!(plan.hit(5.0, 5_000.0), None);
    }

    #[test]
    fn a_region_holds_exactly_the_squares_it_touches() {
        let plan = Plan::new(&[500, 40], 400, 700, Zoom::Step(8));
        for area in [
            Rect::between((20.0, 45.0), (111.0, 90.0)),
            Rect::between((399.0, 2_000.0), (-5.0, -5.0)),
            Rect::between((11.5, 41.5), (12.0, 42.0)),
            Rect::between((500.0, 0.0), (600.0, 10.0)),
        ] {
            let mut expected = Vec::new();
            for (deck, place) in plan.decks.iter().enumerate() {
                for at in 0..place.count as usize {
                    let cell = plan.rect(Cell { deck, at }).unwrap();
                    if cell.left <= area.right
                        && area.left < cell.right
                        && cell.top <= area.bottom
                        && area.top < cell.bottom
                    {
                        expected.push((deck, at));
                    }
                }
            }
            let found: Vec<_> =
                plan.region(area).into_iter().flat_map(|(deck, run)| run.map(move |at| (deck, at))).collect();
            assert_eq!(found, expected, "{area:?}");
        }
    }

    #[test]
    fn strips_cover_every_cell_once_and_stay_small_enough_for_a_canvas() {
        let plan = Plan::new(&[50_000, 3, 0, 700], 860, 700, Zoom::Step(12));
        let strips = plan.strips();
        assert!(strips.iter().all(|strip| strip.height <= STRIP));
        for (deck, place) in plan.decks.iter().enumerate() {
            let mut next = 0;
            for strip in strips.iter().filter(|strip| strip.deck == deck) {
                assert_eq!(strip.first, next);
                let rect = plan.rect(Cell { deck, at: next }).unwrap();
                assert_eq!((rect.left, rect.top), (f64::from(strip.x), f64::from(strip.y)));
                next += strip.count;
            }
            assert_eq!(next, place.count as usize);
        }
    }

    #[test]
    fn the_cursor_goes_everywhere_and_never_leaves() {
        let plan = Plan::new(&[0, 100, 0, 7], 236, 700, Zoom::Step(10));
        let columns = plan.decks[1].columns as usize;
        let at = |deck, at| Cell { deck, at };
        assert_eq!(plan.first(), Some(at(1, 0)));
        assert_eq!(plan.walk(at(1, 0), Step::Left), at(1, 0));
        assert_eq!(plan.walk(at(1, 0), Step::Up), at(1, 0));
        assert_eq!(plan.walk(at(1, 0), Step::Right), at(1, 1));
        assert_eq!(plan.walk(at(1, 3), Step::Down), at(1, 3 + columns));
        assert_eq!(plan.walk(at(1, 99), Step::Right), at(3, 0));
        assert_eq!(plan.walk(at(3, 0), Step::Left), at(1, 99));
        assert_eq!(plan.walk(at(3, 2), Step::Up), at(1, (99 / columns * columns + 2).min(99)));
        assert_eq!(plan.walk(at(1, 99), Step::Down), at(3, (99 % columns).min(6)));
        assert_eq!(plan.walk(at(3, 4), Step::End), at(3, 6));
        assert_eq!(plan.walk(at(3, 4), Step::Home), at(3, 0));
        assert_eq!(plan.walk(at(9, 4), Step::Right), at(1, 0), "a deck that is gone leads back to the start");
        assert_eq!(plan.walk(at(3, 400), Step::Left), at(3, 5), "a cell that is gone counts as the last one");
    }
}
