//! Deck page, cells: the decks on their canvases, and what pointer and keyboard do there.
//!
//! It is made only in the browser, after the first render; positions are set through the object model, which a
//! policy without inline styles allows.

use super::{
    heading::Heading,
    layout::{Cell, Rect, SIZES, Step, Zoom},
    overlay::Overlay,
    state::Deck,
};
use crate::lean::{each, effect, memo};
use crate::{
    i18n::use_words,
    urls::{self, use_go},
};
use leptos::{
    ev::{KeyboardEvent, PointerEvent},
    html::Div,
    prelude::*,
};
use wire::ServerKey;

/// So far the pointer must move, in CSS pixels, before a press is a drag.
const DRAG: f64 = 4.0;

/// A pressed pointer.
#[derive(Clone, Copy)]
struct Press {
    from: (f64, f64),
    pointer: i32,
    touch: bool,
    moved: bool,
}

/// The decks.
#[component]
pub fn Cells(
    /// The page.
    deck: Deck,
) -> impl IntoView {
    let words = use_words();
    let go = StoredValue::new(use_go());
    let (root, layer, spot) = (NodeRef::<Div>::new(), NodeRef::<Div>::new(), NodeRef::<Div>::new());
    let press = StoredValue::new(None::<Press>);
    let said = RwSignal::new(String::new());

    super::wires::connect(deck, root, layer);

    let open = move |key: &ServerKey| {
        let to = untrack(|| deck.scope.link(&urls::server(key)));
        go.with_value(|go| go(&to, false));
    };
    let at = |event: &PointerEvent| (f64::from(event.offset_x()), f64::from(event.offset_y()));
    let hit = move |(x, y): (f64, f64)| deck.plan.with_untracked(|plan| plan.hit(x, y));

    let down = move |event: PointerEvent| {
        if event.button() != 0 {
            return;
        }
        let touch = event.pointer_type() == "touch";
        press.set_value(Some(Press { from: at(&event), pointer: event.pointer_id(), touch, moved: false }));
    };
    let moved = move |event: PointerEvent| {
        let here = at(&event);
        // Released elsewhere: nobody told us.
        if event.buttons() == 0 && press.with_value(|press| press.is_some_and(|press| !press.touch)) {
            press.set_value(None);
            deck.drag.set(None);
        }
        let Some(mut pressed) = press.get_value() else {
            deck.hover.set(hit(here));
            return;
        };
        // A finger scrolls; it selects nothing.
        if pressed.touch {
            return;
        }
        let far = (here.0 - pressed.from.0).hypot(here.1 - pressed.from.1) >= DRAG;
        if far && !pressed.moved {
            pressed.moved = true;
            press.set_value(Some(pressed));
            deck.hover.set(None);
            if let Some(layer) = layer.get_untracked() {
                // Without the capture a drag ends at the edge of the deck, which is all that is lost.
                let _ = layer.set_pointer_capture(pressed.pointer);
            }
        }
        if pressed.moved {
            deck.drag.set(Some(Rect::between(pressed.from, here)));
        }
    };
    let up = move |event: PointerEvent| {
        let Some(pressed) = press.get_value() else { return };
        press.set_value(None);
        if pressed.moved {
            if let Some(area) = deck.drag.get_untracked() {
                deck.select_region(area);
            }
            deck.drag.set(None);
            return;
        }
        let Some(cell) = hit(at(&event)) else {
            deck.hover.set(None);
            return;
        };
        let Some(key) = deck.key(cell) else { return };
        if event.shift_key() {
            deck.selection.toggle(&key);
            deck.cursor.set(Some(cell));
        } else if event.ctrl_key() || event.meta_key() {
            let to = untrack(|| deck.scope.link(&urls::server(&key)));
            // A browser that blocks new windows says so itself.
            let _ = window().open_with_url_and_target(&to, "_blank");
        } else if pressed.touch && deck.hover.get_untracked() != Some(cell) {
            // The first tap names the cell, the second opens it.
            deck.hover.set(Some(cell));
        } else {
            open(&key);
        }
    };
    let cancel = move |_: PointerEvent| {
        press.set_value(None);
        deck.drag.set(None);
    };
    let leave = move |event: PointerEvent| {
        if event.pointer_type() != "touch" {
            deck.hover.set(None);
        }
    };

    let walk = move |step: Step, select: bool| {
        let from = deck.cursor.get_untracked();
        let to = deck.plan.with_untracked(|plan| match from {
            Some(from) => Some(plan.walk(from, step)),
            None => plan.first(),
        });
        let Some(to) = to else { return };
        if select {
            deck.selection.add([from, Some(to)].into_iter().flatten().filter_map(|cell| deck.key(cell)));
        }
        deck.cursor.set(Some(to));
    };
    let keydown = move |event: KeyboardEvent| {
        if event.ctrl_key() || event.meta_key() || event.alt_key() {
            return;
        }
        let shift = event.shift_key();
        let cursor = deck.cursor.get_untracked().and_then(|cell| deck.key(cell));
        match event.key().as_str() {
            "ArrowLeft" => walk(Step::Left, shift),
            "ArrowRight" => walk(Step::Right, shift),
            "ArrowUp" => walk(Step::Up, shift),
            "ArrowDown" => walk(Step::Down, shift),
            "Home" => walk(Step::Home, false),
            "End" => walk(Step::End, false),
            "Enter" => match cursor {
                Some(key) => open(&key),
                None => return,
            },
            "x" | " " => match cursor {
                Some(key) => deck.selection.toggle(&key),
                None => return,
            },
            "+" | "=" => zoom(deck, 1),
            "-" => zoom(deck, -1),
            "0" => deck.zoom.set(Zoom::Fit),
            "Escape" if deck.drag.get_untracked().is_some() => {
                press.set_value(None);
                deck.drag.set(None);
            }
            _ => return,
        }
        event.prevent_default();
        event.stop_propagation();
    };
    // The focus brings the cursor, so that the first arrow starts from a cell that is seen.
    let focus = move || {
        // A pointer that gives the focus needs no cursor.
        let by_keyboard =
            layer.get_untracked().is_some_and(|layer| layer.matches(":focus-visible").unwrap_or(false));
        if by_keyboard && deck.cursor.get_untracked().is_none() {
            deck.cursor.set(deck.plan.with_untracked(super::layout::Plan::first));
        }
    };
    let focused = RwSignal::new(false);

    // What a screen reader hears about the cursor.
    effect(move || {
        let Some(told) = deck.cursor.get().and_then(|cell| deck.tell(cell)) else { return };
        let selected = if deck.selection.contains(&told.key) { words.t("deck.cell.selected") } else { "" };
        let state = if told.state.is_empty() { "Unknown".to_owned() } else { told.state };
        said.set(format!("{}, {state}, {} {selected}", told.key.name, told.ops));
    });
    // The cursor stays in sight.
    effect(move || {
        deck.cursor.track();
        if let (true, Some(spot)) = (focused.get_untracked(), spot.get_untracked()) {
            let options = web_sys::ScrollIntoViewOptions::new();
            options.set_block(web_sys::ScrollLogicalPosition::Nearest);
            spot.scroll_into_view_with_scroll_into_view_options(&options);
        }
    });

    let place = move |cell: Option<Cell>| cell.and_then(|cell| deck.plan.with(|plan| plan.rect(cell)));
    let px = |value: f64| format!("{value}px");
    let cursor_at = move || place(deck.cursor.get());
    let headers = memo(move || {
        deck.shot.with(|shot| {
            shot.iter().flat_map(|shot| &shot.deck.sets).map(|set| set.key.clone()).collect::<Vec<_>>()
        })
    });
    view! {
        <div
            class="decks"
            class:old=move || deck.shot.with(|shot| shot.as_ref().is_some_and(|shot| shot.by != deck.by.get()))
            node_ref=root
            style:height=move || format!("{}px", deck.plan.with(|plan| plan.height))
        >
            <div
                class="deck-cells"
                node_ref=layer
                tabindex="0"
                role="application"
                aria-label=words.t("deck.cells.label")
                aria-describedby="deck-keys"
                on:pointerdown=down
                on:pointermove=moved
                on:pointerup=up
                on:pointercancel=cancel
                on:pointerleave=leave
                on:keydown=keydown
                on:focus=move |_| { focused.set(true); focus(); }
                on:blur=move |_| focused.set(false)
            ></div>
            {each(
                move || headers.get().into_iter().enumerate().collect(),
                move |(index, key)| view! { <Heading deck index key /> },
            )}
            <div
                class="deck-cursor"
                node_ref=spot
                hidden=move || cursor_at().is_none() || !focused.get()
                style:left=move || cursor_at().map(|rect| px(rect.left))
                style:top=move || cursor_at().map(|rect| px(rect.top))
                style:width=move || cursor_at().map(|rect| px(rect.right - rect.left))
                style:height=move || cursor_at().map(|rect| px(rect.bottom - rect.top))
            ></div>
            <Overlay deck focused root />
        </div>
        <p class="sr" id="deck-keys">{words.t("deck.cells.keys")}</p>
        <p class="deck-hint needs-script" aria-hidden="true">{words.t("deck.cells.hint")}</p>
        <p class="sr" aria-live="polite">{move || said.get()}</p>
    }
}

/// One size up or down.
fn zoom(deck: Deck, step: i32) {
    let now = deck.plan.with_untracked(|plan| plan.step) as i32;
    let last = SIZES.len() as i32 - 1;
    deck.zoom.set(Zoom::Step((now + step).clamp(0, last) as usize));
}
