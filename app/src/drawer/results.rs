//! How a batch goes: numbers while it runs, then each server's result in words, failures first.

use super::DrawerState;
use crate::lean::{memo, part};
use crate::{
    i18n::{Words, group, use_words},
    live::use_side_view,
    parts::{Loading, LongName},
    selection::use_selection,
    urls::{query, use_scope},
};
use leptos::prelude::*;
use wire::{
    BatchView, LiveMessage, View,
    batch::{Outcome, Phase, TargetResult},
};

/// The words of an outcome.
pub fn outcome_key(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Pending => "batch.outcome.pending",
        Outcome::Changed => "batch.outcome.changed",
        Outcome::AlreadySet => "batch.outcome.alreadySet",
        Outcome::LeftOut => "batch.outcome.leftOut",
        Outcome::ChangedMeanwhile => "batch.outcome.changedMeanwhile",
        Outcome::NotFound => "batch.outcome.notFound",
        Outcome::Replaced => "batch.outcome.replaced",
        Outcome::Forbidden => "batch.outcome.forbidden",
        Outcome::Invalid => "batch.outcome.invalid",
        Outcome::Conflict => "batch.outcome.conflict",
        Outcome::Failed => "batch.outcome.failed",
        Outcome::Cancelled => "batch.outcome.cancelled",
    }
}

/// The words of a phase.
pub fn phase_key(phase: Phase) -> &'static str {
    match phase {
        Phase::Pending => "batch.phase.pending",
        Phase::Resolving => "batch.phase.resolving",
        Phase::Running => "batch.phase.running",
        Phase::Done => "batch.phase.done",
        Phase::Cancelled => "batch.phase.cancelled",
        Phase::Failed => "batch.phase.failed",
    }
}

/// The class of an outcome: good, failed, or neither.
pub fn outcome_class(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Changed | Outcome::AlreadySet => "o-good",
        Outcome::Pending => "o-pending",
        other if other.is_failure() => "o-bad",
        _ => "o-quiet",
    }
}

/// How many have each kind of result: done, failed, left aside, open.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Changed or had the values.
    pub good: u32,
    /// Failed.
    pub bad: u32,
    /// Left out or cancelled.
    pub quiet: u32,
    /// Not yet.
    pub open: u32,
}

impl Tally {
    /// Counts a batch.
    pub fn of(batch: &BatchView) -> Self {
        let mut tally = Self::default();
        for (outcome, count) in &batch.outcomes {
            match outcome_class(*outcome) {
                "o-good" => tally.good += count,
                "o-bad" => tally.bad += count,
                "o-quiet" => tally.quiet += count,
                _ => tally.open += count,
            }
        }
        // Targets that no outcome counts yet are open too.
        tally.open = tally.open.max(batch.total.saturating_sub(tally.good + tally.bad + tally.quiet));
        tally
    }
}

/// What a batch changes, in words: `opsState Maintaining · game image:2`.
pub fn change_in_words(change: &wire::Change) -> String {
    let ops = change.ops_state.iter().map(|ops| format!("opsState {ops}"));
    let priority = change.deletion_priority.iter().map(|priority| format!("deletionPriority {priority}"));
    let images = change.images.iter().map(|image| format!("{} {}", image.container, image.image));
    ops.chain(priority).chain(images).collect::<Vec<_>>().join(" · ")
}

/// A bar of the batch's results. SVG, because widths in a style attribute are not allowed.
#[component]
pub fn Bar(#[prop(into)] tally: Signal<Tally>) -> impl IntoView {
    let words = use_words();
    let parts = move || {
        let Tally { good, bad, quiet, open } = tally.get();
        let total = f64::from((good + bad + quiet + open).max(1));
        let mut x = 0.0;
        [(good, "o-good"), (bad, "o-bad"), (quiet, "o-quiet")]
            .into_iter()
            .filter(|(count, _)| *count > 0)
            .map(|(count, class)| {
                let width = f64::from(count) / total * 100.0;
                let rect = view! { <rect class=class x=x y="0" width=width height="8"></rect> };
                x += width;
                rect
            })
            .collect_view()
    };
    let value = move || {
        let Tally { good, bad, quiet, open } = tally.get();
        words.with(
            "batch.barLabel",
            &[("done", group(good + bad + quiet)), ("total", group(good + bad + quiet + open))],
        )
    };
    view! {
        <svg class="bar" viewBox="0 0 100 8" preserveAspectRatio="none" role="img" aria-label=value>{parts}</svg>
    }
}

/// Numbers, bar and results of a batch.
#[component]
pub fn Progress(#[prop(into)] batch: Signal<BatchView>) -> impl IntoView {
    let words = use_words();
    let tally = memo(move || batch.with(Tally::of));
    let phase = memo(move || batch.with(|batch| batch.phase));
    let headline = move || {
        let Tally { good, bad, quiet, open } = tally.get();
        let total = good + bad + quiet + open;
        match phase.get() {
            Phase::Done if bad == 0 => words.n("batch.allDone", u64::from(good)),
            Phase::Done => words.plural("batch.doneWithFailures", u64::from(bad), &[("good", group(good))]),
            phase => format!("{} · {} / {}", words.t(phase_key(phase)), group(total - open), group(total)),
        }
    };
    let counts = move || {
        let mut outcomes = batch.with(|batch| batch.outcomes.clone());
        outcomes.retain(|(_, count)| *count > 0);
        outcomes
            .into_iter()
            .map(|(outcome, count)| {
                view! {
                    <span class=format!("outcome {}", outcome_class(outcome))>
                        <b>{group(count)}</b>" "{words.t(outcome_key(outcome))}
                    </span>
                }
            })
            .collect_view()
    };
    let results = move || {
        batch
            .with(|batch| batch.results.clone())
            .into_iter()
            .map(|result| result_row(words, result))
            .collect_view()
    };
    let more = move || batch.with(|batch| batch.more);
    view! {
        <div class="progress">
            <p class="headline" role="status">{headline}</p>
            <Bar tally />
            <div class="outcomes">{counts}</div>
            {part(move || batch.with(|batch| batch.message.clone()).map(|message| view! {
                <div class="warn bad" role="alert"><p>{message}</p></div>
            }))}
            <table class="diff results"><tbody>{results}</tbody></table>
            {part(move || (more() > 0).then(|| view! { <p class="hint faint">{words.n("batch.more", u64::from(more()))}</p> }))}
        </div>
    }
}

fn result_row(words: Words, result: TargetResult) -> impl IntoView {
    let TargetResult { key, outcome, detail } = result;
    view! {
        <tr class=outcome_class(outcome)>
            <td class="who"><a class="inline" href=crate::urls::server(&key)><LongName name=key.name.clone() /></a></td>
            <td class="faint wide">{key.namespace}</td>
            <td class="outcome">{words.t(outcome_key(outcome))}</td>
            <td class="note soft">{detail}</td>
        </tr>
    }
}

/// A batch that was started from the drawer.
#[component]
pub fn Started(#[prop(into)] name: Signal<String>, state: DrawerState) -> impl IntoView {
    let (words, selection, scope) = (use_words(), use_selection(), use_scope());
    let batch = RwSignal::new(None::<BatchView>);
    let name = name.get_untracked();
    let path = format!("batches/{name}");
    let view = View::Batch { name };
    use_side_view(view, move |message| {
        if let LiveMessage::Batch(Some(found)) = message {
            batch.set(Some(*found));
        }
    });
    let known = memo(move || batch.with(Option::is_some));
    view! {
        <div class="body">
            {part(move || if known.get() {
                let batch = Signal::derive(move || batch.get().unwrap_or_else(|| empty(String::new())));
                view! { <Progress batch /> }.into_any()
            } else {
                view! { <Loading /> }.into_any()
            })}
        </div>
        <footer>
            <div class="acts">
                <a class="inline" href=move || format!("{path}{}", query(&[("ns", &scope.ns.get()), ("q", &scope.q.get())]))>
                    {words.t("batch.openPage")}
                </a>
                <span class="grow"></span>
                <button
                    type="button"
                    on:click=move |_| {
                        selection.clear();
                        state.close();
                    }
                >
                    {words.t("batch.closeAndClear")}
                </button>
                <button type="button" class="go" on:click=move |_| state.close()>{words.t("common.close")}</button>
            </div>
        </footer>
    }
}

/// A batch of which nothing is known yet.
pub fn empty(name: String) -> BatchView {
    BatchView {
        name,
        author: String::new(),
        created: 0,
        finished: None,
        phase: Phase::Pending,
        change: wire::Change::default(),
        total: 0,
        outcomes: Vec::new(),
        message: None,
        results: Vec::new(),
        more: 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Lang;

    #[test]
    fn targets_without_an_outcome_are_open() {
        let mut batch = empty("b".into());
        batch.total = 10;
        batch.outcomes = vec![
            (Outcome::Changed, 4),
            (Outcome::AlreadySet, 1),
            (Outcome::Conflict, 2),
            (Outcome::LeftOut, 1),
        ];
        assert_eq!(Tally::of(&batch), Tally { good: 5, bad: 2, quiet: 1, open: 2 });
        batch.outcomes.push((Outcome::Pending, 2));
        assert_eq!(Tally::of(&batch).open, 2);
    }

    #[test]
    fn every_outcome_has_words_and_a_class_that_fits() {
        let all = [
            Outcome::Pending,
            Outcome::Changed,
            Outcome::AlreadySet,
            Outcome::LeftOut,
            Outcome::ChangedMeanwhile,
            Outcome::NotFound,
            Outcome::Replaced,
            Outcome::Forbidden,
            Outcome::Invalid,
            Outcome::Conflict,
            Outcome::Failed,
            Outcome::Cancelled,
        ];
        for outcome in all {
            assert!(Words::new(Lang::En).find(outcome_key(outcome)).is_some(), "{outcome:?}");
            assert_eq!(outcome.is_failure(), outcome_class(outcome) == "o-bad", "{outcome:?}");
        }
    }
}
