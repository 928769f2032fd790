//! Deck page, the text twin: sets by states as a table of links. Screen readers and pages without script read it;
//! everybody else can switch to it.

use super::{state::Deck, twin::Line};
use crate::lean::{each, memo, part};
use crate::{
    i18n::{group, use_words},
    parts::StateMark,
    urls,
};
use leptos::prelude::*;
use wire::{SetKey, filter};

/// The filter of the page, narrowed to a set and a state.
fn narrowed(q: &str, set: &SetKey, state: Option<&str>) -> String {
    let Ok(filter) = filter::parse(q) else { return q.to_owned() };
    let narrowed = if set.name.is_empty() {
        filter.with_term("set", "").and_then(|filter| filter.with_term("ns", &set.namespace))
    } else {
        filter.with_term("set", &format!("{}/{}", set.namespace, set.name))
    };
    let narrowed = match state {
        Some(state) => narrowed.and_then(|filter| filter.with_term("state", state)),
        None => narrowed,
    };
    narrowed.map_or_else(|_| q.to_owned(), |filter| filter.to_string())
}

/// The table. While the cells are shown it is there for screen readers only, and out of the way of the Tab key.
#[component]
pub fn Table(
    /// The page.
    deck: Deck,
    /// Whether script runs and shows the cells instead.
    #[prop(into)]
    aside: Signal<bool>,
) -> impl IntoView {
    let words = use_words();
    let twin = memo(move || {
        deck.summary.with(|summary| summary.as_ref().map(|s| s.twin.clone()).unwrap_or_default())
    });
    let states = memo(move || twin.with(|twin| twin.states.clone()));
    let keys =
        memo(move || twin.with(|twin| twin.lines.iter().map(|line| line.key.clone()).collect::<Vec<_>>()));
    let tab = move || aside.get().then_some("-1");
    let link = move |key: SetKey, state: Option<String>, count: u32| {
        if count == 0 {
            return view! { <span class="faint">"0"</span> }.into_any();
        }
        let href =
            move || deck.scope.link_with("servers", &narrowed(&deck.scope.q.get(), &key, state.as_deref()));
        view! { <a href=href tabindex=tab>{group(count)}</a> }.into_any()
    };
    let row = move |key: SetKey| {
        let wanted_key = key.clone();
        let line =
            memo(move || twin.with(|twin| twin.lines.iter().find(|line| line.key == wanted_key).cloned()));
        let head = if key.name.is_empty() {
            view! { <span class="soft">{words.t("deck.noSet")}</span> }.into_any()
        } else {
            let href = urls::set(&key);
            view! { <a href=move || deck.scope.link(&href) tabindex=tab>{key.name.clone()}</a> }.into_any()
        };
        let cells = move || {
            let Some(Line { key, total, wanted, counts }) = line.get() else { return ().into_any() };
            let wanted = wanted.map_or_else(|| "–".to_owned(), group);
            let states = states.get_untracked();
            let counts = counts.into_iter().zip(states);
            view! {
                <td class="num">{link(key.clone(), None, total)}</td>
                <td class="num soft">{wanted}</td>
                {counts.map(|(count, state)| view! { <td class="num">{link(key.clone(), Some(state), count)}</td> }).collect_view()}
            }
            .into_any()
        };
        view! {
            <tr>
                <th scope="row">{head} " " <span class="sub">{key.namespace}</span></th>
                {cells}
            </tr>
        }
    };
    view! {
        <div class="deck-twin" class:aside=aside>
            <table>
                <caption class="sr">{words.t("deck.as.caption")}</caption>
                <thead>
                    <tr>
                        <th scope="col">{words.t("deck.as.set")}</th>
                        <th scope="col" class="num">{words.t("deck.as.servers")}</th>
                        <th scope="col" class="num">{words.t("deck.as.wanted")}</th>
                        {part(move || states.get().into_iter().map(|state| view! {
                            <th scope="col" class="num"><StateMark state /></th>
                        }).collect_view())}
                    </tr>
                </thead>
                // New columns make new rows: their cells are counted by column.
                {part(move || {
                    states.track();
                    view! { <tbody>{each(move || keys.get(), row)}</tbody> }
                })}
            </table>
        </div>
    }
}

#[cfg(test)]
mod tests {
    use super::narrowed;

    #[test]
    fn a_count_links_to_exactly_its_servers() {
        let set = |key: &str| key.parse().unwrap();
        for (q, key, state, wanted) in [
            ("", "kruise/prod/eu", None, "set:prod/eu"),
            ("players>0", "kruise/prod/eu", Some("Ready"), "players>0 set:prod/eu state:Ready"),
            ("(", "kruise/prod/eu", Some("Ready"), "("),
        ] {
            assert_eq!(narrowed(q, &set(key), state), wanted);
        }
        let alone = wire::SetKey::new(wire::Family::Kruise, "prod", "");
        assert_eq!(narrowed("", &alone, Some("")), "set: ns:prod state:");
    }
}
