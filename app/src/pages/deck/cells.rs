//! Deck page, cells: the decks on their canvases, with pointer, keyboard, tooltip and headers.
//!
//! It is made only in the browser, after the first render; positions are set through the object model, which a
//! policy without inline styles allows.

use super::{
    layout::{Cell, Place, Rect, Step, Zoom},
    look,
    state::Deck,
    twin,
};
use crate::{
    i18n::{group, use_words},
    parts::{OpsMark, StateMark},
    urls::{self, use_go},
};
use leptos::{
    ev::{KeyboardEvent, PointerEvent},
    html::Div,
    prelude::*,
};
use wire::{ServerKey, SetKey};

/// So far the pointer must move, in CSS pixels, before a press is a drag.
const DRAG: f64 = 4.0;
/// Room that the tooltip needs beside or below a cell.
const TIP: (f64, f64) = (260.0, 96.0);

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

    let tell = move |cell: Cell| {
        deck.shot.with(|shot| shot.as_ref().and_then(|shot| look::tell(&shot.deck, cell.deck, cell.at)))
    };
    // What a screen reader hears about the cursor.
    Effect::new(move |_| {
        let Some(told) = deck.cursor.get().and_then(tell) else { return };
        let selected = if deck.selection.contains(&told.key) { words.t("deck.cell.selected") } else { "" };
        let state = if told.state.is_empty() { "Unknown".to_owned() } else { told.state };
        said.set(format!("{}, {state}, {} {selected}", told.key.name, told.ops));
    });
    // The cursor stays in sight.
    Effect::new(move |_| {
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
    let hover_at = move || place(deck.hover.get());
    let drag_keys = Memo::new(move |_| {
        deck.drag.get().map(|area| {
            let runs = deck.plan.with(|plan| plan.region(area));
            runs.into_iter().map(|(_, run)| run.len()).sum::<usize>()
        })
    });
    let tip_cell = move || deck.hover.get().or_else(|| deck.cursor.get().filter(|_| focused.get()));
    let tip = Memo::new(move |_| if deck.drag.get().is_some() { None } else { tip_cell().and_then(tell) });
    let tip_at = Memo::new(move |_| {
        let rect = place(tip_cell())?;
        let (width, height) = deck.plan.with(|plan| (f64::from(plan.width), f64::from(plan.height)));
        let left = (rect.left + 4.0).min(width - TIP.0).max(0.0);
        let above = rect.bottom + TIP.1 > height && rect.top > TIP.1;
        let top = if above { rect.top - 8.0 } else { rect.bottom + 8.0 };
        Some((left, top, above))
    });

    let headers = Memo::new(move |_| {
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
            <For each=move || headers.get().into_iter().enumerate() key=Clone::clone children=move |(index, key)| view! { <Header deck index key /> } />
            <div
                class="deck-cursor"
                node_ref=spot
                hidden=move || cursor_at().is_none() || !focused.get()
                style:left=move || cursor_at().map(|rect| px(rect.left))
                style:top=move || cursor_at().map(|rect| px(rect.top))
                style:width=move || cursor_at().map(|rect| px(rect.right - rect.left))
                style:height=move || cursor_at().map(|rect| px(rect.bottom - rect.top))
            ></div>
            <div
                class="deck-hover"
                hidden=move || hover_at().is_none() || deck.drag.get().is_some()
                style:left=move || hover_at().map(|rect| px(rect.left))
                style:top=move || hover_at().map(|rect| px(rect.top))
                style:width=move || hover_at().map(|rect| px(rect.right - rect.left))
                style:height=move || hover_at().map(|rect| px(rect.bottom - rect.top))
            ></div>
            {move || deck.drag.get().map(|area| view! {
                <div
                    class="deck-region"
                    style:left=px(area.left)
                    style:top=px(area.top)
                    style:width=px(area.right - area.left)
                    style:height=px(area.bottom - area.top)
                >
                    <b>{drag_keys.get().map(|n| words.n("deck.cell.region", n as u64))}</b>
                </div>
            })}
            {move || tip.get().map(|told| {
                let category = match deck.by.get() {
                    look::By::State | look::By::Ops => None,
                    by => Some((by.word(), told.category.clone())),
                };
                let to = urls::server(&told.key);
                let key = told.key.clone();
                view! {
                    <div
                        class="deck-tip"
                        class:above=move || tip_at.get().is_some_and(|at| at.2)
                        style:left=move || tip_at.get().map(|at| px(at.0))
                        style:top=move || tip_at.get().map(|at| px(at.1))
                    >
                        <b>{told.key.name.clone()}</b>
                        <span class="sub">{told.key.namespace.clone()}</span>
                        <div class="pair"><StateMark state=told.state.clone() /> <OpsMark ops=told.ops /></div>
                        {category.map(|(word, value)| view! {
                            <div class="pair"><span class="faint">{word}</span> <span>{if value.is_empty() { "–".to_owned() } else { value }}</span></div>
                        })}
                        <Show when=move || deck.selection.contains(&key)>
                            <span class="faint">{words.t("deck.cell.selected")}</span>
                        </Show>
                        <a class="open" href=move || deck.scope.link(&to)>{words.t("deck.cell.open")}</a>
                    </div>
                }
            })}
        </div>
        <p class="sr" id="deck-keys">{words.t("deck.cells.keys")}</p>
        <p class="deck-hint needs-script" aria-hidden="true">{words.t("deck.cells.hint")}</p>
        <p class="sr" aria-live="polite">{move || said.get()}</p>
    }
}

/// One size up or down.
fn zoom(deck: Deck, step: i32) {
    let now = deck.plan.with_untracked(|plan| plan.step) as i32;
    let last = super::layout::SIZES.len() as i32 - 1;
    deck.zoom.set(Zoom::Step((now + step).clamp(0, last) as usize));
}

/// The name and figures of one deck, above its cells.
#[component]
fn Header(deck: Deck, index: usize, key: SetKey) -> impl IntoView {
    let words = use_words();
    let place = Memo::new(move |_| deck.plan.with(|plan| plan.decks.get(index).copied()));
    let figures = Memo::new(move |_| {
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
    let narrow = move || place.get().is_some_and(|place| place.width < 420);
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
            view! { <crate::pages::sets::mix::MixBar parts /> }
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
