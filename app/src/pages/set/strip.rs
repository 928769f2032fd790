//! Set page, id strip: ids in blocks, so that thousands of them are neither drawn nor read at once. Pure.

use std::ops::Range;
use wire::set::{IdCell, IdKind};

/// Ids in one block.
pub const BLOCK: u32 = 250;
/// Up to so many cells every block is open.
pub const OPEN_ALL: usize = 1000;

/// What the strip counts. Reserved, implicit and gap count ids, not runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Figures {
    /// Servers.
    pub live: u32,
    /// Ids that the spec reserves.
    pub reserved: u32,
    /// Ids that the controller reserved at a scale down.
    pub implicit: u32,
    /// Free ids below the highest.
    pub gap: u32,
    /// Servers that are not Ready.
    pub not_ready: u32,
}

/// Ids that stand together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    /// First id.
    pub first: u32,
    /// Last id.
    pub last: u32,
    /// Which cells.
    pub cells: Range<usize>,
    /// What is in it.
    pub figures: Figures,
}

/// Counts cells.
#[must_use]
pub fn figures(cells: &[IdCell]) -> Figures {
    let mut figures = Figures::default();
    for cell in cells {
        let ids = cell.last.saturating_sub(cell.first) + 1;
        match &cell.kind {
            IdKind::Live { state, .. } => {
                figures.live += 1;
                figures.not_ready += u32::from(state != "Ready");
            }
            IdKind::Reserved => figures.reserved += ids,
            IdKind::Implicit => figures.implicit += ids,
            IdKind::Gap => figures.gap += ids,
        }
    }
    figures
}

/// Cuts the strip at multiples of [`BLOCK`]. A run of equal ids stays whole, in the block where it begins.
#[must_use]
pub fn blocks(cells: &[IdCell]) -> Vec<Block> {
    let mut blocks: Vec<Block> = Vec::new();
    for (at, cell) in cells.iter().enumerate() {
        match blocks.last_mut() {
            Some(block) if block.first / BLOCK == cell.first / BLOCK => {
                block.last = block.last.max(cell.last);
                block.cells.end = at + 1;
            }
            _ => blocks.push(Block {
                first: cell.first,
                last: cell.last,
                cells: at..at + 1,
                figures: Figures::default(),
            }),
        }
    }
    for block in &mut blocks {
        block.figures = figures(&cells[block.cells.clone()]);
    }
    blocks
}

/// Ids in ranges: `3, 7–9`. At most `most` ranges; the second value is how many ids are not named.
#[must_use]
pub fn ranges(ids: &[u32], most: usize) -> (String, usize) {
    let mut sorted = ids.to_vec();
    sorted.sort_unstable();
    sorted.dedup();
    let mut runs: Vec<(u32, u32)> = Vec::new();
    for id in sorted {
        match runs.last_mut() {
            Some(run) if run.1.checked_add(1) == Some(id) => run.1 = id,
            _ => runs.push((id, id)),
        }
    }
    let left = runs.iter().skip(most).map(|run| (run.1 - run.0 + 1) as usize).sum();
    let named: Vec<String> = runs
        .iter()
        .take(most)
        .map(|(first, last)| match last - first {
            0 => first.to_string(),
            1 => format!("{first}, {last}"),
            _ => format!("{first}–{last}"),
        })
        .collect();
    (named.join(", "), left)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn live(id: u32, state: &str) -> IdCell {
        let key = format!("kruise/prod/eu-{id}").parse().unwrap();
        let kind = IdKind::Live { state: state.to_owned(), ops: "None".to_owned(), key };
        IdCell { first: id, last: id, kind }
    }

    #[test]
    fn figures_count_ids_and_not_runs() {
        let cells = [
            live(0, "Ready"),
            IdCell { first: 1, last: 3, kind: IdKind::Reserved },
            live(4, "Crash"),
            IdCell { first: 5, last: 5, kind: IdKind::Implicit },
            IdCell { first: 6, last: 9, kind: IdKind::Gap },
        ];
        let expected = Figures { live: 2, reserved: 3, implicit: 1, gap: 4, not_ready: 1 };
        assert_eq!(figures(&cells), expected);
        assert_eq!(blocks(&cells)[0].figures, expected);
    }

    #[test]
    fn blocks_are_cut_at_round_ids_and_lose_nothing() {
        let mut cells: Vec<IdCell> = (0..600).map(|id| live(id, "Ready")).collect();
        cells.push(IdCell { first: 600, last: 2_000, kind: IdKind::Gap });
        cells.push(live(2_001, "Ready"));
        let blocks = blocks(&cells);
        let spans: Vec<_> = blocks.iter().map(|block| (block.first, block.last, block.cells.len())).collect();
        assert_eq!(spans, [(0, 249, 250), (250, 499, 250), (500, 2_000, 101), (2_001, 2_001, 1)]);
        assert!(blocks.windows(2).all(|pair| pair[0].cells.end == pair[1].cells.start));
        assert!(super::blocks(&[]).is_empty());
    }

    #[test]
    fn ids_are_told_in_ranges() {
        assert_eq!(ranges(&[9, 3, 7, 8, 3], 9), ("3, 7–9".to_owned(), 0));
        assert_eq!(ranges(&[1, 2, 5, 9, 10, 11], 2), ("1, 2, 5".to_owned(), 3));
        assert_eq!(ranges(&[], 3), (String::new(), 0));
        assert_eq!(ranges(&[u32::MAX], 3).0, u32::MAX.to_string());
    }
}
