//! The selection bar: how many are selected, and what can be done with them.

use super::outside::outside_of_view;
use crate::lean::{memo, part};
use crate::{
    api,
    drawer::{Part, use_drawer},
    i18n::{group, use_words},
    keys::{Action, on_key},
    live::use_live,
    selection::{Selection, use_selection},
    urls::{query, use_here, use_scope},
};
use leptos::{prelude::*, task::spawn_local};
use wire::ServerKey;

/// Selects everything that a filter matches, also what is not on the page.
pub fn select_all(selection: Selection, q: &str, ns: &str) {
    let url = format!("api/v1/gameservers/keys{}", query(&[("q", q), ("ns", ns)]));
    spawn_local(async move {
        // When the server cannot be reached the header says so already.
        if let Ok(keys) = api::get::<Vec<ServerKey>>(&url).await {
            selection.add(keys);
        }
    });
}

/// The bar; it is there as long as something is selected.
#[component]
pub fn Footer() -> impl IntoView {
    let (words, selection, live, drawer) = (use_words(), use_selection(), use_live(), use_drawer());
    let (scope, here) = (use_scope(), use_here());
    let shows_servers = move || here.with(|here| matches!(here.as_str(), "" | "servers"));
    let outside = outside_of_view();
    let count = memo(move || selection.len());
    let all = move || {
        select_all(selection, &scope.q.get_untracked(), &scope.ns.get_untracked());
    };
    on_key(move |action| match action {
        Action::Edit if count.get_untracked() > 0 => {
            drawer.open(Part::OpsState);
            true
        }
        Action::SelectAll if untrack(shows_servers) => {
            all();
            true
        }
        Action::Escape if count.get_untracked() > 0 => {
            selection.clear();
            true
        }
        _ => false,
    });
    let bar = move || {
        let shown = move || {
            let (matched, _) = live.matched.get().filter(|_| shows_servers())?;
            Some(words.with("common.selection.ofShown", &[("n", group(matched))]))
        };
        let more = move || {
            let (matched, _) = live.matched.get().filter(|_| shows_servers())?;
            let inside = count.get().saturating_sub(outside.get());
            (inside < matched as usize).then(|| {
                view! {
                    <button type="button" class="link" on:click=move |_| all()>
                        {words.with("common.selection.all", &[("n", group(matched))])}
                    </button>
                }
            })
        };
        let edit = move |part: Part, name: &'static str| {
            view! { <button type="button" on:click=move |_| drawer.open(part)>{name}</button> }
        };
        view! {
            <div class="selbar" role="toolbar" aria-label=words.t("common.selection.label")>
                <b aria-live="polite">{part(move || words.n("common.selection.count", count.get() as u64))}</b>
                <span class="soft wide">{shown}</span>
                {more}
                {part(move || (outside.get() > 0).then(|| view! {
                    <span class="soft">{words.n("common.selection.outside", outside.get() as u64)}</span>
                }))}
                <span class="sep"></span>
                {edit(Part::OpsState, "opsState")}
                {edit(Part::Image, words.t("batch.image"))}
                {edit(Part::Priority, words.t("batch.priority"))}
                <span class="grow"></span>
                <kbd class="wide">"e"</kbd>
                <span class="faint wide">{words.t("common.selection.edit")}</span>
                <kbd class="wide">"Esc"</kbd>
                <button type="button" class="quiet" on:click=move |_| selection.clear()>
                    {words.t("common.selection.clear")}
                </button>
            </div>
        }
    };
    view! { <footer class="foot">{part(move || (count.get() > 0).then(bar))}</footer> }
}
