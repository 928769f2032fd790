//! A batch as pages and REST show it, joined from its objects. Pure.

use super::convert;
use crds::pilothouse::{BatchEdit, BatchEditProgress, BatchEditTargets, Verdict};
use kube::ResourceExt;
use std::{collections::BTreeMap, sync::Arc};
use wire::batch::{BatchView, Outcome, TargetResult};

/// Results that one view lists.
pub const RESULTS_SHOWN: usize = 500;

/// Joins a batch with its pieces and progress. Without pieces the results are empty.
#[must_use]
pub fn view(
    edit: &BatchEdit,
    pieces: &[Arc<BatchEditTargets>],
    progress: &[Arc<BatchEditProgress>],
) -> BatchView {
    let status = edit.status.clone().unwrap_or_default();
    let results = results(pieces, progress);
    let mut outcomes: BTreeMap<Outcome, u32> = BTreeMap::new();
    for result in &results {
        *outcomes.entry(result.outcome).or_default() += 1;
    }
    let total = u32::try_from(status.totals.total).unwrap_or_default();
    let more = u32::try_from(results.len().saturating_sub(RESULTS_SHOWN)).unwrap_or(u32::MAX);
    BatchView {
        name: edit.name_any(),
        author: edit.spec.author.as_ref().map_or_else(String::new, |author| author.user.clone()),
        created: edit.metadata.creation_timestamp.as_ref().map_or(0, |time| time.0.as_second()),
        finished: status.finished_at.as_ref().map(|time| time.0.as_second()),
        phase: convert::phase_of(status.phase),
        change: convert::change_of(&edit.spec.change),
        total,
        outcomes: outcomes.into_iter().collect(),
        message: status.message,
        results: results.into_iter().take(RESULTS_SHOWN).collect(),
        more,
    }
}

/// A batch in the list: counts from its status, no results.
#[must_use]
pub fn summary(edit: &BatchEdit) -> BatchView {
    let mut shown = view(edit, &[], &[]);
    let totals = edit.status.clone().unwrap_or_default().totals;
    let counts = [
        (Outcome::Pending, totals.pending),
        (Outcome::Changed, totals.changed),
        (Outcome::AlreadySet, totals.unchanged),
        (Outcome::LeftOut, totals.left_out),
        (Outcome::Failed, totals.failed),
    ];
    shown.outcomes = counts
        .into_iter()
        .filter_map(|(outcome, count)| u32::try_from(count).ok().filter(|n| *n > 0).map(|n| (outcome, n)))
        .collect();
    shown
}

/// Results of all targets: failures first, then left out, pending, done; each in the targets' order.
fn results(pieces: &[Arc<BatchEditTargets>], progress: &[Arc<BatchEditProgress>]) -> Vec<TargetResult> {
    let known: BTreeMap<(i32, i32), &crds::pilothouse::TargetResult> = progress
        .iter()
        .flat_map(|piece| {
            piece.spec.results.iter().map(move |result| ((piece.spec.piece, result.index), result))
        })
        .collect();
    let mut sorted: Vec<&BatchEditTargets> = pieces.iter().map(AsRef::as_ref).collect();
    sorted.sort_by_key(|piece| piece.spec.index);
    let mut all = Vec::new();
    for piece in sorted {
        for (at, target) in piece.spec.targets.iter().enumerate() {
            let Ok(key) = target.key.parse() else { continue };
            let at = i32::try_from(at).unwrap_or(i32::MAX);
            let (outcome, detail) = match known.get(&(piece.spec.index, at)) {
                Some(result) => (convert::outcome_of(result.outcome), result.detail.clone()),
                None if target.verdict == Verdict::LeftOut => (Outcome::LeftOut, target.reason.clone()),
                None => (Outcome::Pending, None),
            };
            all.push(TargetResult { key, outcome, detail });
        }
    }
    all.sort_by_key(|result| rank(result.outcome));
    all
}

fn rank(outcome: Outcome) -> u8 {
    match outcome {
        outcome if outcome.is_failure() => 0,
        Outcome::LeftOut | Outcome::Cancelled => 1,
        Outcome::Pending => 2,
        Outcome::Changed => 3,
        _ => 4,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crds::pilothouse::{BatchEditProgressSpec, BatchEditTargetsSpec, FrozenTarget, Outcome as Stored};

    #[test]
    fn failures_come_first_and_the_untried_are_pending() {
        let target =
            |n: u32| FrozenTarget { key: format!("kruise/default/mc-{n}"), ..FrozenTarget::default() };
        let spec =
            BatchEditTargetsSpec { batch: "b".into(), index: 0, targets: (0..4).map(target).collect() };
        let piece = Arc::new(BatchEditTargets::new("b-t0", spec));
        let result = |index, outcome| crds::pilothouse::TargetResult { index, outcome, detail: None };
        let results = vec![result(0, Stored::Changed), result(2, Stored::Forbidden)];
        let spec = BatchEditProgressSpec { piece: 0, results, ..BatchEditProgressSpec::default() };
        let progress = Arc::new(BatchEditProgress::new("b-p0", spec));
        let shown = view(&BatchEdit::default(), &[piece], &[progress]);
        let order: Vec<(String, Outcome)> =
            shown.results.iter().map(|r| (r.key.name.clone(), r.outcome)).collect();
        assert_eq!(
            order,
            vec![
                ("mc-2".into(), Outcome::Forbidden),
                ("mc-1".into(), Outcome::Pending),
                ("mc-3".into(), Outcome::Pending),
                ("mc-0".into(), Outcome::Changed),
            ]
        );
        assert_eq!(
            shown.outcomes,
            vec![(Outcome::Pending, 2), (Outcome::Changed, 1), (Outcome::Forbidden, 1)]
        );
    }
}
