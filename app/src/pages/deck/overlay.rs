//! Deck page, overlay: what lies on the cells without being painted: the hovered cell, the region that is drawn,
//! and the tip that names a cell.

use super::{
    layout::{Cell, Rect},
    look::By,
    state::Deck,
};
use crate::lean::{memo, part};
use crate::{
    i18n::use_words,
    parts::{OpsMark, StateMark},
    urls,
};
use leptos::{html::Div, prelude::*};

/// Room that a tip needs beside and below its cell, CSS pixels; the selection bar counts as below.
const TIP: (f64, f64) = (260.0, 170.0);

fn px(value: f64) -> String {
    format!("{value}px")
}

/// Everything on the cells but the cursor.
#[component]
pub fn Overlay(
    /// The page.
    deck: Deck,
    /// The deck has the focus.
    focused: RwSignal<bool>,
    /// The element that holds the decks.
    root: NodeRef<Div>,
) -> impl IntoView {
    let words = use_words();
    let place = move |cell: Option<Cell>| cell.and_then(|cell| deck.plan.with(|plan| plan.rect(cell)));
    let hover = memo(move || place(deck.hover.get()));
    let region = move |area: Rect| {
        let count: usize =
            deck.plan.with(|plan| plan.region(area)).into_iter().map(|(_, run)| run.len()).sum();
        view! {
            <div
                class="deck-region"
                style:left=px(area.left)
                style:top=px(area.top)
                style:width=px(area.right - area.left)
                style:height=px(area.bottom - area.top)
            >
                <b>{words.n("deck.cell.region", count as u64)}</b>
            </div>
        }
    };
    view! {
        <div
            class="deck-hover"
            hidden=move || hover.with(Option::is_none) || deck.drag.with(Option::is_some)
            style:left=move || hover.get().map(|rect| px(rect.left))
            style:top=move || hover.get().map(|rect| px(rect.top))
            style:width=move || hover.get().map(|rect| px(rect.right - rect.left))
            style:height=move || hover.get().map(|rect| px(rect.bottom - rect.top))
        ></div>
        {part(move || deck.drag.get().map(region))}
        <Tip deck focused root />
    }
}

/// Names the cell under the pointer, else the one at the cursor.
#[component]
fn Tip(deck: Deck, focused: RwSignal<bool>, root: NodeRef<Div>) -> impl IntoView {
    let words = use_words();
    let cell = memo(move || {
        let at_cursor = || deck.cursor.get().filter(|_| focused.get());
        deck.hover.get().or_else(at_cursor).filter(|_| deck.drag.with(Option::is_none))
    });
    let told = memo(move || cell.get().and_then(|cell| deck.tell(cell)));
    let spot = memo(move || {
        let rect = cell.get().and_then(|cell| deck.plan.with(|plan| plan.rect(cell)))?;
        let left = (rect.left + 4.0).min(deck.plan.with(|plan| f64::from(plan.width)) - TIP.0).max(0.0);
        // Above the cell when there is no room left below it in the window.
        let top_of_deck = root.get_untracked().map_or(0.0, |root| root.get_bounding_client_rect().top());
        let window = window().inner_height().ok().and_then(|height| height.as_f64()).unwrap_or(f64::MAX);
        let above = top_of_deck + rect.bottom + TIP.1 > window && top_of_deck + rect.top > TIP.1;
        Some((left, if above { rect.top - 8.0 } else { rect.bottom + 8.0 }, above))
    });
    move || {
        told.get().map(|told| {
            let category = match deck.by.get() {
                By::State | By::Ops => None,
                by => Some((by.word(), told.category)),
            };
            let (to, key) = (urls::server(&told.key), told.key.clone());
            view! {
                <div
                    class="deck-tip"
                    class:above=move || spot.get().is_some_and(|spot| spot.2)
                    style:left=move || spot.get().map(|spot| px(spot.0))
                    style:top=move || spot.get().map(|spot| px(spot.1))
                >
                    <b>{told.key.name.clone()}</b>
                    <span class="sub">{told.key.namespace.clone()}</span>
                    <div class="pair"><StateMark state=told.state /> <OpsMark ops=told.ops /></div>
                    {category.map(|(word, value)| view! {
                        <div class="pair">
                            <span class="faint">{word}</span>
                            " "
                            <span>{if value.is_empty() { "–".to_owned() } else { value }}</span>
                        </div>
                    })}
                    <Show when=move || deck.selection.contains(&key)>
                        <span class="faint">{words.t("deck.cell.selected")}</span>
                    </Show>
                    <a class="open" href=move || deck.scope.link(&to)>{words.t("deck.cell.open")}</a>
                </div>
            }
        })
    }
}
