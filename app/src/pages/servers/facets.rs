//! States and opsStates of what the filter matches, each a link that adds itself to the filter or takes itself out.

use super::board::Board;
use crate::lean::{memo, part};
use crate::{
    i18n::{group, use_words},
    parts::{OpsMark, StateMark},
    urls::Scope,
};
use leptos::prelude::*;
use wire::{
    Count,
    filter::{parse, toggle_in},
};

/// The line of links.
#[component]
pub fn Facets(board: Board, scope: Scope) -> impl IntoView {
    let words = use_words();
    let counts = memo(move || board.counts.with(|counts| (counts.state.clone(), counts.ops.clone())));
    let link = move |field: &'static str, count: Count| {
        let Count { value, count } = count;
        let q = scope.q.get();
        let on = parse(&q).is_ok_and(|filter| filter.has_term(field, &value));
        let href = scope.refilter("servers", &toggle_in(&q, field, &value).unwrap_or(q));
        let mark = if field == "state" {
            view! { <StateMark state=value /> }.into_any()
        } else {
            view! { <OpsMark ops=value /> }.into_any()
        };
        view! { <a class="facet" href=href aria-current=on.then_some("true")>{mark}<span class="n">{group(count)}</span></a> }
    };
    let links = move || {
        let (states, ops) = counts.get();
        let states = states.into_iter().map(|count| link("state", count)).collect_view();
        let ops = ops.into_iter().map(|count| link("ops", count)).collect_view();
        view! { {states}<i class="sep" aria-hidden="true"></i>{ops} }
    };
    view! {
        <div class="facets" role="group" aria-label=words.t("servers.facets")>
            {part(move || counts.with(|(states, _)| !states.is_empty()).then(links))}
        </div>
    }
}
