//! The ids of a set as a strip: live, reserved, implicitly reserved, gaps. Reserved ranges may be huge and are never
//! expanded.

use k8s_openapi::apimachinery::pkg::util::intstr::IntOrString;
use wire::set::{IdCell, IdKind};

/// Sorted, disjoint ranges, both ends included.
type Ranges = Vec<(u32, u32)>;

/// Reads ids and ranges; entries that are neither are left out (the controller says what is wrong with them).
pub(crate) fn ranges(entries: &[IntOrString]) -> Ranges {
    let mut all: Ranges = entries
        .iter()
        .filter_map(|entry| match entry {
            IntOrString::Int(id) => u32::try_from(*id).ok().map(|id| (id, id)),
            IntOrString::String(text) => range(text),
        })
        .collect();
    all.sort_unstable();
    let mut merged: Ranges = Vec::with_capacity(all.len());
    for (from, to) in all {
        match merged.last_mut() {
            Some((_, end)) if from <= end.saturating_add(1) => *end = to.max(*end),
            _ => merged.push((from, to)),
        }
    }
    merged
}

fn range(text: &str) -> Option<(u32, u32)> {
    let (from, to) = text.split_once('-').unwrap_or((text, text));
    let (from, to) = (from.trim().parse().ok()?, to.trim().parse().ok()?);
    (from <= to).then_some((from, to))
}

/// The strip. `live` are cells of servers in ascending order of their ids; a live id is live whatever reserves it.
pub(crate) fn strip(live: Vec<IdCell>, reserved: &[(u32, u32)], implicit: &[(u32, u32)]) -> Vec<IdCell> {
    let mut cells = Vec::with_capacity(live.len());
    let mut next = Some(0);
    for cell in live {
        if let Some(start) = next
            && start < cell.first
        {
            between(start, cell.first - 1, true, reserved, implicit, &mut cells);
        }
        next = cell.last.checked_add(1);
        cells.push(cell);
    }
    if let Some(start) = next {
        // Behind the last server nothing is missing.
        between(start, u32::MAX, false, reserved, implicit, &mut cells);
    }
    cells
}

/// The runs from `start` to `end`, where no server is.
fn between(
    start: u32,
    end: u32,
    gaps: bool,
    reserved: &[(u32, u32)],
    implicit: &[(u32, u32)],
    cells: &mut Vec<IdCell>,
) {
    let mut at = start;
    loop {
        let covering = |ranges: &[(u32, u32)]| {
            let index = ranges.partition_point(|(_, to)| *to < at);
            ranges.get(index).copied()
        };
        let (explicit, hidden) = (covering(reserved), covering(implicit));
        // What comes next starts at the nearest border.
        let border = |range: Option<(u32, u32)>| range.map(|(from, _)| from).filter(|from| *from > at);
        let (kind, last) = match (explicit, hidden) {
            (Some((from, to)), _) if from <= at => (Some(IdKind::Reserved), to),
            (explicit, Some((from, to))) if from <= at => {
                (Some(IdKind::Implicit), border(explicit).map_or(to, |border| to.min(border - 1)))
            }
            (explicit, hidden) => {
                let nearest = border(explicit).into_iter().chain(border(hidden)).min();
                (gaps.then_some(IdKind::Gap), nearest.map_or(u32::MAX, |border| border - 1))
            }
        };
        let last = last.min(end);
        if let Some(kind) = kind {
            cells.push(IdCell { first: at, last, kind });
        }
        match last.checked_add(1).filter(|next| *next <= end) {
            Some(next) => at = next,
            None => return,
        }
    }
}

/// A reserve list as its author wrote it.
pub(crate) fn as_written(entries: &[IntOrString]) -> Vec<String> {
    entries
        .iter()
        .map(|entry| match entry {
            IntOrString::Int(id) => id.to_string(),
            IntOrString::String(text) => text.clone(),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use wire::key::{Family, ServerKey};

    use super::*;

    fn entries(texts: &[&str]) -> Vec<IntOrString> {
        texts
            .iter()
            .map(|text| {
                text.parse().map_or_else(|_| IntOrString::String((*text).to_owned()), IntOrString::Int)
            })
            .collect()
    }

    fn live(ids: &[u32]) -> Vec<IdCell> {
        ids.iter()
            .map(|id| {
                let key = ServerKey::new(Family::Kruise, "ns", format!("g-{id}"));
                IdCell {
                    first: *id,
                    last: *id,
                    kind: IdKind::Live { state: String::new(), ops: String::new(), key },
                }
            })
            .collect()
    }

    fn told(cells: &[IdCell]) -> String {
        let letter = |kind: &IdKind| match kind {
            IdKind::Live { .. } => 'L',
            IdKind::Reserved => 'R',
            IdKind::Implicit => 'i',
            IdKind::Gap => '.',
        };
        let texts = cells.iter().map(|cell| match cell.first == cell.last {
            true => format!("{}{}", letter(&cell.kind), cell.first),
            false => format!("{}{}-{}", letter(&cell.kind), cell.first, cell.last),
        });
        texts.collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn ranges_are_merged_and_odd_entries_left_out() {
        let found = ranges(&entries(&["7", "1-3", " 4 - 5 ", "9-8", "x", "-1", "1-2-3", "6", "20-30", "25"]));
        assert_eq!(found, [(1, 7), (20, 30)]);
        assert_eq!(ranges(&entries(&["0-4294967295", "5"])), [(0, u32::MAX)]);
    }

    #[test]
    fn strips() {
        for (ids, reserved, implicit, wanted) in [
            (&[][..], &[][..], &[][..], ""),
            (&[0, 1, 2], &[], &[], "L0 L1 L2"),
            (&[0, 3], &["1"], &["2"], "L0 R1 i2 L3"),
            (&[2], &[], &[], ".0-1 L2"),
            (&[0, 9], &["3-4"], &["4-6"], "L0 .1-2 R3-4 i5-6 .7-8 L9"),
            (&[0, 9], &["5-6"], &["4-7"], "L0 .1-3 i4 R5-6 i7 .8 L9"),
            (&[3], &["0-5"], &[], "R0-2 L3 R4-5"),
            (&[1], &["0-2000000000"], &[], "R0 L1 R2-2000000000"),
            (&[0], &["5"], &["3"], "L0 i3 R5"),
            (&[u32::MAX], &[], &[], ".0-4294967294 L4294967295"),
        ] {
            let strip = strip(live(ids), &ranges(&entries(reserved)), &ranges(&entries(implicit)));
            assert_eq!(told(&strip), wanted, "{ids:?} {reserved:?} {implicit:?}");
        }
    }

    proptest! {
        #[test]
        fn every_id_has_the_kind_that_is_looked_up_for_it(
            ids in prop::collection::btree_set(0_u32..30, 0..10),
            reserved in prop::collection::vec((0_i32..30, 0_i32..6), 0..4),
            implicit in prop::collection::vec((0_i32..30, 0_i32..6), 0..4),
        ) {
            let entries = |list: &[(i32, i32)]| -> Vec<IntOrString> {
                list.iter().map(|(from, more)| IntOrString::String(format!("{from}-{}", from + more))).collect()
            };
            let has = |list: &[(i32, i32)], id: u32| {
                let id = i32::try_from(id).unwrap();
                list.iter().any(|(from, more)| (*from..=from + more).contains(&id))
            };
            let ids: Vec<u32> = ids.into_iter().collect();
            let strip = strip(live(&ids), &ranges(&entries(&reserved)), &ranges(&entries(&implicit)));
            for id in 0..40 {
                let cell = strip.iter().find(|cell| (cell.first..=cell.last).contains(&id)).map(|cell| &cell.kind);
                let found = told(&cell.map(|kind| IdCell { first: 0, last: 0, kind: kind.clone() }).into_iter().collect::<Vec<_>>());
                let wanted = if ids.contains(&id) { "L0" }
                    else if has(&reserved, id) { "R0" }
                    else if has(&implicit, id) { "i0" }
                    else if ids.last().is_some_and(|last| id < *last) { ".0" }
                    else { "" };
                prop_assert_eq!(found, wanted, "id {}", id);
            }
            prop_assert!(strip.windows(2).all(|pair| pair[0].last < pair[1].first));
        }
    }
}
