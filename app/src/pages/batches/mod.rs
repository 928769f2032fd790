//! The pages of batches: all of them, and one.

mod one;

pub use one::BatchPage;

use crate::lean::{each, memo, part};
use crate::{
    api,
    data::initial,
    drawer::results::{Bar, Tally, change_in_words, phase_key},
    i18n::{group, use_words},
    live::{use_live, use_view},
    parts::{Ago, Empty, ErrorPanel, Loading},
    urls::use_scope,
};
use leptos::{prelude::*, task::spawn_local};
use std::time::Duration;
use wire::{ApiError, BatchView, View};

/// While a batch runs its numbers are asked for this often: the list has no stream of its own.
const AGAIN: Duration = Duration::from_secs(2);

/// All batches, newest first.
#[component]
pub fn BatchesPage() -> impl IntoView {
    let (words, live) = (use_words(), use_live());
    use_view(Signal::stored(View::Totals), |_| {});
    let batches = RwSignal::new(initial(|reader| reader.batches()));
    let turn = StoredValue::new(0_u32);
    let running = memo(move || live.totals.with(|totals| totals.batches_running));
    let ask = move || {
        spawn_local(async move {
            let answer = api::get::<Vec<BatchView>>("api/v1/batches").await;
            batches.try_set(Some(answer));
        });
    };
    // At once on a page made in the browser, then whenever the number that run changes, and again while some do.
    Effect::new(move |before: Option<()>| {
        let some_run = running.get() > 0;
        live.again.track();
        if before.is_some() || batches.with_untracked(Option::is_none) {
            ask();
        }
        let mine = turn.try_update_value(|turn| {
            *turn += 1;
            *turn
        });
        if some_run {
            repeat(turn, mine, ask);
        }
    });
    let body = move || match batches.get() {
        None => view! { <Loading /> }.into_any(),
        Some(Err(error)) => what_is_wrong(error),
        Some(Ok(list)) if list.is_empty() => {
            view! { <Empty title=words.t("batch.none") hint=words.t("batch.noneHint") /> }.into_any()
        }
        Some(Ok(_)) => view! { <List batches /> }.into_any(),
    };
    view! {
        <div class="headline">
            <h1>{words.t("common.nav.batches")}</h1>
            <span class="soft">{part(move || (running.get() > 0).then(|| words.n("common.batchesRunning", u64::from(running.get()))))}</span>
        </div>
        {body}
    }
}

/// Asks again as long as this turn is the newest and the page is there.
fn repeat(turn: StoredValue<u32>, mine: Option<u32>, ask: impl Fn() + Copy + 'static) {
    set_timeout(
        move || {
            if mine.is_some() && turn.try_get_value() == mine {
                ask();
                repeat(turn, mine, ask);
            }
        },
        AGAIN,
    );
}

fn what_is_wrong(error: ApiError) -> AnyView {
    view! { <ErrorPanel error=Signal::stored(error) /> }.into_any()
}

#[component]
fn List(batches: RwSignal<Option<Result<Vec<BatchView>, ApiError>>>) -> impl IntoView {
    let (words, scope) = (use_words(), use_scope());
    let names = memo(move || {
        batches.with(|batches| match batches {
            Some(Ok(list)) => list.iter().map(|batch| batch.name.clone()).collect::<Vec<_>>(),
            _ => Vec::new(),
        })
    });
    let row = move |name: String| {
        let first = name.clone();
        let batch = memo(move || {
            batches.with(|batches| {
                let Some(Ok(list)) = batches else { return None };
                list.iter().find(|batch| batch.name == first).cloned()
            })
        });
        let path = format!("batches/{name}");
        let of = move |read: fn(&BatchView) -> String| move || batch.with(|batch| batch.as_ref().map(read));
        let tally = memo(move || batch.with(|batch| batch.as_ref().map(Tally::of)).unwrap_or_default());
        view! {
            <tr class="row">
                <td><a class="inline" href=move || scope.link(&path)>{of(|batch| change_in_words(&batch.change))}</a></td>
                <td>{part(move || batch.with(|batch| batch.as_ref().map(|batch| words.t(phase_key(batch.phase)))))}</td>
                <td class="barcell"><Bar tally /></td>
                <td class="num">{of(|batch| group(batch.total))}</td>
                <td class="num" class:bad=move || tally.get().bad.gt(&0)>{part(move || group(tally.get().bad))}</td>
                <td class="wide soft">{of(|batch| batch.author.clone())}</td>
                <td class="num soft">
                    {part(move || batch.with(|batch| batch.as_ref().map(|batch| batch.created)).map(|at| view! { <Ago at /> }))}
                </td>
            </tr>
        }
    };
    view! {
        <table class="plain batches">
            <thead>
                <tr>
                    <th scope="col">{words.t("batch.column.change")}</th>
                    <th scope="col">{words.t("batch.column.phase")}</th>
                    <th scope="col" class="barcell"><span class="sr">{words.t("batch.column.progress")}</span></th>
                    <th scope="col" class="num">{words.t("batch.column.servers")}</th>
                    <th scope="col" class="num">{words.t("batch.column.failed")}</th>
                    <th scope="col" class="wide">{words.t("batch.column.author")}</th>
                    <th scope="col" class="num">{words.t("batch.column.created")}</th>
                </tr>
            </thead>
            <tbody>
                {each(move || names.get(), row)}
            </tbody>
        </table>
    }
}
