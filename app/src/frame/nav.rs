//! The menu of pages, with counts.

use crate::lean::part;
use crate::{
    app::Boot,
    i18n::{group, use_words},
    live::use_live,
    parts::Icon,
    urls::{use_here, use_scope},
};
use leptos::prelude::*;

/// The menu.
#[component]
pub fn Nav() -> impl IntoView {
    let (words, scope, live, here) = (use_words(), use_scope(), use_live(), use_here());
    let version = use_context::<Boot>().map(|boot| boot.version).unwrap_or_default();
    let item =
        move |path: &'static str, icon: &'static str, name: &'static str, count: Option<Signal<u32>>| {
            let current = move || here.with(|here| here.split('/').next() == Some(path)).then_some("page");
            view! {
                <a href=move || scope.link(path) aria-current=current>
                    <Icon name=icon.to_owned() />
                    <span>{name}</span>
                    {count.map(|count| view! { <span class="n">{part(move || group(count.get()))}</span> })}
                </a>
            }
        };
    let count = move |read: fn(&wire::Totals) -> u32| Some(Signal::derive(move || live.totals.with(read)));
    view! {
        <nav class="nav" aria-label=words.t("common.nav.label")>
            {item("", "deck", words.t("common.nav.deck"), None)}
            {item("servers", "servers", words.t("common.nav.servers"), count(|totals| totals.servers))}
            {item("sets", "sets", words.t("common.nav.sets"), count(|totals| totals.sets))}
            {item("batches", "batches", words.t("common.nav.batches"), None)}
            <span class="end wide" title=words.t("common.version")>{version}</span>
        </nav>
    }
}
