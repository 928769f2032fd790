//! Deck page, heading: the name and figures of one deck, above its cells.

use super::{layout::Place, look, state::Deck, twin};
use crate::lean::memo;
use crate::{
    i18n::{group, use_words},
    pages::sets::mix::MixBar,
    urls,
};
use leptos::prelude::*;
use wire::SetKey;

/// Below this width there is room for the number of servers only, CSS pixels.
const NARROW: u32 = 420;

/// The name and figures of one deck, above its cells.
#[component]
pub fn Heading(
    /// The page.
    deck: Deck,
    /// Index of the deck.
    index: usize,
    /// Its set; the name is empty for servers without one.
    key: SetKey,
) -> impl IntoView {
    let words = use_words();
    let place = memo(move || deck.plan.with(|plan| plan.decks.get(index).copied()));
    let figures = memo(move || {
        deck.shot.with(|shot| {
            let deck = &shot.as_ref()?.deck;
            let set = deck.sets.get(index)?;
            let counts = twin::count(set, deck.states.len());
            let states: Vec<(String, u32)> =
                deck.states.iter().cloned().zip(counts).filter(|(_, count)| *count > 0).collect();
            Some((set.ids.len() as u32, set.wanted, set.ready, states))
        })
    });
    let px = move |of: fn(&Place) -> u32| move || place.get().map(|place| format!("{}px", of(&place)));
    let narrow = move || place.get().is_some_and(|place| place.width < NARROW);
    let text = move || {
        let (servers, wanted, ready, _) = figures.get().unwrap_or_default();
        let servers = words.n("deck.head.servers", u64::from(servers));
        match wanted {
            Some(wanted) if !narrow() => {
                let ready =
                    words.with("deck.head.ready", &[("ready", group(ready)), ("wanted", group(wanted))]);
                format!("{servers} · {ready}")
            }
            _ => servers,
        }
    };
    let bar = move || {
        let (servers, _, _, states) = figures.get().unwrap_or_default();
        (servers > 0).then(|| {
            let parts = states
                .into_iter()
                .map(|(state, count)| (look::state_tone(&state).fill(), count, state))
                .collect::<Vec<_>>();
            view! { <MixBar parts /> }
        })
    };
    let title = if key.name.is_empty() {
        view! { <span>{words.t("deck.noSet")}</span> }.into_any()
    } else {
        let path = urls::set(&key);
        view! { <a href=move || deck.scope.link(&path) title=key.name.clone()>{key.name.clone()}</a> }
            .into_any()
    };
    view! {
        <header
            class="deck-head"
            class:narrow=narrow
            style:left=px(|place| place.x)
            style:top=px(|place| place.y)
            style:width=px(|place| place.width)
        >
            <h2>{title}</h2>
            <span class="sub">{key.namespace}</span>
            <span class="sub figures">{text}</span>
            {bar}
        </header>
    }
}
