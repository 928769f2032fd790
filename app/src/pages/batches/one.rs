//! One batch: what it changes, who wanted it, how it goes, and each server's result.

use crate::lean::{memo, part};
use crate::{
    data::initial,
    drawer::results::{Progress, change_in_words, empty, phase_key},
    i18n::{Words, group, use_words},
    live::use_view,
    parts::{Ago, CopyButton, ErrorPanel, Loading},
    time,
};
use leptos::prelude::*;
use leptos_router::hooks::use_params_map;
use wire::{ApiError, BatchView, LiveMessage, Reason, View};

/// The page.
#[component]
pub fn BatchPage() -> impl IntoView {
    let words = use_words();
    let params = use_params_map();
    let name = memo(move || params.with(|params| params.get("name").unwrap_or_default()));
    let first = initial(|reader| reader.batch(&name.get_untracked()));
    let batch = RwSignal::new(first);
    let view = Signal::derive(move || View::Batch { name: name.get() });
    use_view(view, move |message| {
        if let LiveMessage::Batch(found) = message {
            let gone = || gone(&name.get_untracked());
            batch.set(Some(found.map(|found| *found).ok_or_else(gone)));
        }
    });
    // Another batch begins empty, not with the numbers of the last one.
    Effect::new(move |before: Option<String>| {
        let now = name.get();
        if before.is_some_and(|before| before != now) {
            batch.set(None);
        }
        now
    });
    let known = memo(move || match &*batch.read() {
        None => None,
        Some(Ok(_)) => Some(Ok(())),
        Some(Err(error)) => Some(Err(error.clone())),
    });
    let found = Signal::derive(move || match batch.get() {
        Some(Ok(batch)) => batch,
        _ => empty(name.get()),
    });
    move || match known.get() {
        None => view! { <h1 class="mono">{name.get_untracked()}</h1> <Loading /> }.into_any(),
        Some(Err(error)) => view! { <ErrorPanel error=Signal::stored(error) /> }.into_any(),
        Some(Ok(())) => whole(words, found).into_any(),
    }
}

fn gone(name: &str) -> ApiError {
    let reason =
        Reason::new("not-found", format!("there is no batch {name}")).with("what", format!("batch {name}"));
    ApiError { status: 404, reason, span: None, command: None }
}

fn whole(words: Words, batch: Signal<BatchView>) -> impl IntoView {
    let name = memo(move || batch.with(|batch| batch.name.clone()));
    let fact = |key: &'static str, value: AnyView| view! { <div><dt>{key}</dt><dd>{value}</dd></div> };
    let created = Signal::derive(move || batch.with(|batch| batch.created));
    let took = move || {
        batch
            .with(|batch| batch.finished.map(|end| time::age(end - batch.created)))
            .unwrap_or_else(|| "–".to_owned())
    };
    let kubectl = Signal::derive(move || {
        format!("kubectl get batchedits.pilothouse.dev -n pilothouse-system {} -o yaml", name.get())
    });
    view! {
        <div class="headline">
            <h1>{part(move || batch.with(|batch| change_in_words(&batch.change)))}</h1>
            <span class="soft">{part(move || words.t(phase_key(batch.with(|batch| batch.phase))))}</span>
            <span class="grow"></span>
            <span class="acts"><CopyButton text=kubectl label=words.t("batch.copyKubectl") /></span>
        </div>
        <dl class="batch-facts">
            {fact(words.t("batch.column.name"), view! { <span class="mono">{part(move || name.get())}</span> }.into_any())}
            {fact(words.t("batch.column.author"), view! { {part(move || batch.with(|batch| batch.author.clone()))} }.into_any())}
            {fact(words.t("batch.column.created"), view! { <Ago at=created /> }.into_any())}
            {fact(words.t("batch.column.took"), view! { {took} }.into_any())}
            {fact(words.t("batch.column.servers"), view! { {part(move || group(batch.with(|batch| batch.total)))} }.into_any())}
        </dl>
        <div class="card"><Progress batch /></div>
    }
}
