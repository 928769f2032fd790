//! Which rows to ask for, and when new rows may move the old ones. Pure.

/// Height of a row in pixels; the same as `--row` in the style.
pub const ROW: f64 = 30.0;
/// Lines asked for at once.
pub const LIMIT: u32 = 150;
/// Rows kept ready above and below what is seen.
const MARGIN: u32 = 30;

/// What of the table is seen, in rows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Seen {
    /// First row that shows.
    pub first: u32,
    /// How many show.
    pub count: u32,
}

impl Seen {
    /// From pixels of the scrolling box.
    pub fn of(scrolled: f64, height: f64) -> Self {
        Self { first: (scrolled / ROW).floor().max(0.0) as u32, count: (height / ROW).ceil().max(1.0) as u32 }
    }
}

/// The first line to ask for. The window stays as long as it reaches over what is seen with a margin on both sides,
/// so that small moves ask for nothing; then it is laid around what is seen.
pub fn offset_for(seen: Seen, offset: u32, lines: u32) -> u32 {
    let last_offset = lines.saturating_sub(LIMIT);
    let offset = offset.min(last_offset);
    let end = offset + LIMIT;
    let above = offset == 0 || seen.first >= offset + MARGIN;
    let below = end >= lines || seen.first + seen.count + MARGIN <= end;
    if above && below {
        return offset;
    }
    let around = LIMIT.saturating_sub(seen.count) / 2;
    let wanted = seen.first.saturating_sub(around);
    // Steps of ten: rows that scroll by in one go make few different windows.
    (wanted / 10 * 10).min(last_offset)
}

/// Where to scroll so that a row shows whole, in pixels; `None` when it does already. `header` covers the top.
pub fn scroll_to(row: u32, scrolled: f64, height: f64, header: f64) -> Option<f64> {
    let top = f64::from(row) * ROW;
    if top < scrolled {
        Some(top)
    } else if top + ROW > scrolled + height - header {
        Some(top + ROW - height + header)
    } else {
        None
    }
}

/// How many lines came, went or moved between two orders of one window.
pub fn moves<T: PartialEq>(old: &[T], new: &[T]) -> usize {
    let came = new.iter().filter(|key| !old.contains(key)).count();
    let went = old.iter().filter(|key| !new.contains(key)).count();
    if came + went > 0 { came.max(went) } else { old.iter().zip(new).filter(|(a, b)| a != b).count() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wire::{Family, ServerKey};

    #[test]
    fn small_moves_ask_for_nothing() {
        let at = |first| Seen { first, count: 28 };
        assert_eq!(offset_for(at(0), 0, 5000), 0);
        assert_eq!(offset_for(at(90), 0, 5000), 0);
        let moved = offset_for(at(93), 0, 5000);
        assert_eq!(moved, 30);
        for first in moved + MARGIN..=moved + LIMIT - MARGIN - 28 {
            assert_eq!(offset_for(at(first), moved, 5000), moved, "{first}");
        }
    }

    #[test]
    fn the_window_reaches_over_what_is_seen_everywhere() {
        for matched in [0, 1, 100, 149, 150, 151, 400, 50_000] {
            for first in (0..matched.max(1)).step_by(37) {
                let seen = Seen { first, count: 28 };
                for offset in [0, 60, matched / 2, matched] {
                    let asked = offset_for(seen, offset, matched);
                    let end = (asked + LIMIT).min(matched);
                    assert!(asked <= first.min(matched) || asked == 0, "{matched} {first} {offset}: {asked}");
                    assert!(end >= (first + 28).min(matched), "{matched} {first} {offset}: {asked}");
                }
            }
        }
    }

    #[test]
    fn a_row_is_scrolled_to_only_when_it_is_hidden() {
        assert_eq!(scroll_to(3, 0.0, 600.0, 30.0), None);
        assert_eq!(scroll_to(3, 120.0, 600.0, 30.0), Some(90.0));
        assert_eq!(scroll_to(18, 0.0, 600.0, 30.0), None);
        assert_eq!(scroll_to(19, 0.0, 600.0, 30.0), Some(30.0));
    }

    #[test]
    fn moves_count_what_came_went_or_changed_place() {
        let keys = |names: &[&str]| -> Vec<ServerKey> {
            names.iter().map(|name| ServerKey::new(Family::Kruise, "n", *name)).collect()
        };
        let old = keys(&["a", "b", "c"]);
        assert_eq!(moves(&old, &old), 0);
        assert_eq!(moves(&old, &keys(&["x", "a", "b"])), 1);
        assert_eq!(moves(&old, &keys(&["b", "a", "c"])), 2);
        assert_eq!(moves(&old, &keys(&["a"])), 2);
    }
}
