//! What a view shows instead of its data: loading, nothing there, nothing matches, an error.

use super::{CopyButton, Icon};
use crate::lean::part;
use crate::{i18n::use_words, live::use_live, urls::use_scope};
use leptos::prelude::*;
use wire::ApiError;

/// Lines where data will be. CSS shows them only after 200 ms, so that a quick answer does not flicker.
#[component]
pub fn Loading() -> impl IntoView {
    let words = use_words();
    view! {
        <div class="loading" role="status">
            <span class="sr">{words.t("common.loading")}</span>
            {(0..8).map(|_| view! { <i class="bone"></i> }).collect_view()}
        </div>
    }
}

/// Nothing exists yet: what to do, with a command to copy.
#[component]
pub fn Empty(
    /// One sentence: what there is none of.
    #[prop(into)]
    title: String,
    /// What to do.
    #[prop(into)]
    hint: String,
    /// A command that does it.
    #[prop(optional, into)]
    command: Option<String>,
) -> impl IntoView {
    view! {
        <section class="panel empty">
            <Icon name="anchor".to_owned() />
            <h2>{title}</h2>
            <p>{hint}</p>
            {command.map(|command| view! { <Command command /> })}
        </section>
    }
}

/// A command in a box with a copy button.
#[component]
fn Command(command: String) -> impl IntoView {
    view! {
        <div class="command">
            <pre class="mono">{command.clone()}</pre>
            <CopyButton text=command />
        </div>
    }
}

/// The filter leaves nothing: clear it.
#[component]
pub fn NoMatch(
    /// Path of the page, to link to it without the filter: `servers`.
    #[prop(into)]
    path: String,
) -> impl IntoView {
    let (words, scope) = (use_words(), use_scope());
    view! {
        <section class="panel empty">
            <Icon name="filter".to_owned() />
            <h2>{words.t("common.noMatch")}</h2>
            <p class="mono">{part(move || scope.q.get())}</p>
            <p>
                <a class="button" href=move || scope.link_with(&path, "")>
                    {words.t("common.clearFilter")}
                </a>
            </p>
        </section>
    }
}

/// Something failed: what, what to do, details to copy. Missing rights and missing CRDs come here too.
#[component]
pub fn ErrorPanel(
    /// What the server said.
    #[prop(into)]
    error: Signal<ApiError>,
) -> impl IntoView {
    let (words, live) = (use_words(), use_live());
    let title = move || {
        error.with(|error| match error.status {
            _ if error.reason.code.starts_with("filter-") => words.t("common.error.filter"),
            401 | 403 => words.t("common.error.rights"),
            404 => words.t("common.error.gone"),
            400 | 422 => words.t("common.error.refused"),
            0 => words.t("common.error.network"),
            _ => words.t("common.error.title"),
        })
    };
    let details = move || error.with(|error| serde_json::to_string_pretty(error).unwrap_or_default());
    view! {
        <section class="panel error" role="alert">
            <Icon name="warning".to_owned() />
            <h2>{title}</h2>
            <p>{part(move || error.with(|error| words.reason(&error.reason)))}</p>
            {part(move || error.with(|error| error.command.clone()).map(|command| view! {
                <p>{words.t("common.error.command")}</p>
                <Command command />
            }))}
            <div class="acts needs-script">
                <button type="button" on:click=move |_| live.again.update(|n| *n += 1)>{words.t("common.retry")}</button>
                <CopyButton text=Signal::derive(details) label=words.t("common.error.copy") />
            </div>
        </section>
    }
}
