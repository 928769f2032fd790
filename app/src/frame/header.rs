//! The top bar: namespace, filter, how live the page is, running batches, language, theme.

use super::filter::FilterBox;
use crate::lean::{memo, part};
use crate::{
    Lang,
    app::Boot,
    browser,
    i18n::use_words,
    live::{Status, use_live},
    parts::Icon,
    time,
    urls::{self, use_go, use_here, use_scope},
};
use leptos::prelude::*;

/// The top bar.
#[component]
pub fn Header() -> impl IntoView {
    let (words, scope, live) = (use_words(), use_scope(), use_live());
    let running = memo(move || live.totals.with(|totals| totals.batches_running));
    view! {
        <header class="top">
            <a class="brand" href=move || scope.link("") aria-label="Pilothouse">
                <svg class="wheel" width="20" height="20" aria-hidden="true"><use href="icons.svg#wheel"></use></svg>
                <b>"Pilothouse"</b>
            </a>
            <Namespaces />
            <FilterBox />
            <span class="grow"></span>
            <LiveMark />
            {part(move || (running.get() > 0).then(|| view! {
                <a class="batches icons" href=move || scope.link("batches")>
                    <Icon name="batches".to_owned() />
                    {words.n("common.batchesRunning", u64::from(running.get()))}
                </a>
            }))}
            <Languages />
            <button
                type="button"
                class="quiet iconic icons needs-script"
                title=words.t("common.theme")
                aria-label=words.t("common.theme")
                on:click=|_| browser::switch_theme()
            >
                <Icon name="theme".to_owned() />
            </button>
        </header>
    }
}

/// Which namespace the page looks at.
#[component]
fn Namespaces() -> impl IntoView {
    let (words, scope, live, here, go) = (use_words(), use_scope(), use_live(), use_here(), use_go());
    let names = memo(move || {
        let mut names = live.totals.with(|totals| totals.namespaces.clone());
        let now = scope.ns.get();
        if !now.is_empty() && !names.contains(&now) {
            names.push(now);
        }
        names
    });
    let change = move |event| {
        let ns = event_target_value(&event);
        let q = scope.q.get_untracked();
        go(&format!("{}{}", here.get_untracked(), urls::query(&[("ns", &ns), ("q", &q)])), false);
    };
    view! {
        <form class="ns" method="get" action=move || here.get()>
            <input type="hidden" name="q" value=move || scope.q.get() />
            <select name="ns" aria-label=words.t("common.namespace") on:change=change prop:value=move || scope.ns.get()>
                <option value="" selected=move || scope.ns.with(String::is_empty)>{words.t("common.allNamespaces")}</option>
                {part(move || names.get().into_iter().map(|name| {
                    let chosen = scope.ns.with(|ns| *ns == name);
                    let value = name.clone();
                    view! { <option value=value selected=chosen>{name}</option> }
                }).collect_view())}
            </select>
            <button class="no-script">{words.t("common.go")}</button>
        </form>
    }
}

/// How live the page is, in a word.
#[component]
fn LiveMark() -> impl IntoView {
    let (words, live) = (use_words(), use_live());
    let turned_away = move || live.status.with(|status| matches!(status, Status::TurnedAway { .. }));
    let class = move || {
        if turned_away() {
            "live bad"
        } else if live.stale_since().is_some() {
            "live stale"
        } else if live.status.with(|status| *status == Status::Connecting) {
            "live connecting"
        } else {
            "live"
        }
    };
    let text = move || {
        if let Status::TurnedAway { http } = live.status.get() {
            return words.with("common.live.turnedAway", &[("status", http.to_string())]);
        }
        match live.stale_since() {
            Some(since) => {
                let age = time::age((live.now.get() - since) / 1000);
                words.with("common.live.stale", &[("age", age)])
            }
            None if live.status.get() == Status::Connecting => words.t("common.live.connecting").to_owned(),
            None => words.t("common.live.live").to_owned(),
        }
    };
    let title = move || live.stale_since().map(|since| time::absolute(since / 1000));
    view! {
        <span class=class role="status" title=title>
            <i aria-hidden="true"></i>
            <span class="needs-script">{text}</span>
            <span class="no-script">{words.t("common.live.noScript")}</span>
        </span>
    }
}

/// The menu of languages: plain links, so that it works without a script.
#[component]
fn Languages() -> impl IntoView {
    let (words, scope, here) = (use_words(), use_scope(), use_here());
    let base = use_context::<Boot>().map(|boot| boot.base_path).unwrap_or_default();
    let items = Lang::ALL
        .into_iter()
        .map(|lang| {
            let base = base.clone();
            let href = move || {
                let pairs = [("lang", lang.code()), ("ns", &scope.ns.get()), ("q", &scope.q.get())];
                format!("{}{}", here.get(), urls::query(&pairs))
            };
            view! {
                <li>
                    <a
                        href=href
                        rel="external"
                        lang=lang.tag()
                        hreflang=lang.tag()
                        aria-current=(lang == words.lang()).then_some("true")
                        on:click=move |_| browser::keep_language(lang.code(), &base)
                    >
                        {lang.own_name()}
                    </a>
                </li>
            }
        })
        .collect_view();
    view! {
        <details class="langs icons">
            <summary title=words.t("common.language") aria-label=words.t("common.language")>
                <Icon name="language".to_owned() />
                <span aria-hidden="true">{words.t("common.languageShort")}</span>
            </summary>
            <ul>{items}</ul>
        </details>
    }
}
