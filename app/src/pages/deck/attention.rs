//! Deck page, "needs a hand": what is wrong and why, with a way to it.

use crate::lean::memo;
use crate::{
    i18n::use_words,
    live::use_live,
    parts::{Age, Reasoned},
    urls,
    urls::use_scope,
};
use leptos::prelude::*;
use wire::live::Attention;

/// The reason that names a number of replicas that would help, and its argument; the set page takes it into its
/// scale control.
const SUGGESTS: (&str, &str) = ("not-leaving", "to");

/// The list.
#[component]
pub fn NeedsAHand() -> impl IntoView {
    let (words, live) = (use_words(), use_live());
    let list = memo(move || live.totals.with(|totals| totals.attention.clone()));
    let items = move || list.get().into_iter().map(|item| view! { <Item item /> }).collect_view();
    view! {
        <aside class="attn" aria-label=words.t("deck.attn.title")>
            <h2 class="cap">{words.t("deck.attn.title")}</h2>
            <Show when=move || list.with(Vec::is_empty)>
                <p class="calm">{words.t("deck.attn.calm")}</p>
            </Show>
            {items}
        </aside>
    }
}

#[component]
fn Item(item: Attention) -> impl IntoView {
    let (words, scope) = (use_words(), use_scope());
    let Attention { reason, level, q, set, server } = item;
    let class = match level.as_str() {
        "bad" => "level-bad",
        "warn" => "level-warn",
        _ => "level-info",
    };
    let level = match class {
        "level-bad" => words.t("deck.attn.bad"),
        "level-warn" => words.t("deck.attn.warn"),
        _ => words.t("deck.attn.info"),
    };
    let name = server
        .as_ref()
        .map(|key| (&key.namespace, &key.name))
        .or_else(|| set.as_ref().map(|key| (&key.namespace, &key.name)))
        .map(|(namespace, name)| (namespace.clone(), name.clone()));
    let argument = |name: &str| reason.args.get(name).cloned();
    let suggested = (reason.code == SUGGESTS.0).then(|| argument(SUGGESTS.1)).flatten();
    let since = argument("since").and_then(|since| since.parse::<i64>().ok());
    let ended = argument("exit").map(|code| {
        let code = argument("reason").map_or(code.clone(), |reason| format!("{code} ({reason})"));
        words.with("deck.attn.ended", &[("code", code)])
    });
    let to_server = server.map(|key| {
        let path = urls::server(&key);
        view! { <a href=move || scope.link(&path)>{words.t("deck.attn.openServer")}</a> }
    });
    let to_servers = (!q.is_empty()).then(|| {
        view! { <a href=move || scope.link_with("servers", &q)>{words.t("deck.attn.showServers")}</a> }
    });
    let to_set = set.map(|key| {
        let path = urls::set(&key);
        match suggested {
            Some(replicas) => {
                let text = words.with("deck.attn.previewScale", &[("n", replicas.clone())]);
                view! { <a href=format!("{path}{}", urls::query(&[("scale", &replicas)]))>{text}</a> }
                    .into_any()
            }
            None => view! { <a href=move || scope.link(&path)>{words.t("deck.attn.openSet")}</a> }.into_any(),
        }
    });
    view! {
        <article class=class>
            {name.map(|(namespace, name)| view! {
                <h3><span class="name" title=name>{name.clone()}</span> <span class="sub">{namespace}</span></h3>
            })}
            <p><span class="sr">{level} ": "</span><Reasoned reason /> " " {ended}
                {since.map(|since| view! { " " <span class="faint nowrap">{words.t("deck.attn.longest")} " " <Age since /></span> })}
            </p>
            <div class="act">{to_server} {to_servers} {to_set}</div>
        </article>
    }
}
