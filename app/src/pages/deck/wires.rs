//! Deck page, wires: what connects the state of the page with the canvases in the browser: measuring, scrolling,
//! themes, and the looks of all cells whenever data or selection change.

use super::{
    look,
    stage::Handle,
    state::{Deck, Shot},
};
use crate::lean::{effect, memo};
use leptos::{html::Div, leptos_dom::helpers::window_event_listener, prelude::*, web_sys};
use wasm_bindgen::{JsCast, closure::Closure};

/// Least height that a deck is fitted into, however little of it is in sight.
const LEAST_ROOM: f64 = 420.0;
/// Kept free below the deck.
const BELOW: f64 = 56.0;

/// Connects them as long as the calling component lives.
pub fn connect(deck: Deck, root: NodeRef<Div>, layer: NodeRef<Div>) {
    let stage = StoredValue::new_local(None::<Handle>);
    let watchers = StoredValue::new_local(None::<Watchers>);

    // The stage and its watchers begin when the elements are there.
    effect(move || {
        let (Some(root), Some(layer)) = (root.get(), layer.get()) else { return };
        let root: web_sys::HtmlElement = root.into();
        let handle = Handle::new(layer.into());
        measure(deck, &root);
        watchers.set_value(Some(Watchers::start(deck, root, handle.clone())));
        stage.set_value(Some(handle));
    });

    // Looking up thousands of selected keys is worth it only when selection or membership changed.
    let chosen = memo(move || {
        deck.members.track();
        deck.selection.with(|keys| {
            deck.shot.with_untracked(|shot| {
                shot.as_ref().map(|shot| look::positions(&shot.deck, keys)).unwrap_or_default()
            })
        })
    });
    effect(move || {
        let plan = deck.plan.get();
        // The stage exists before the first measured plan does.
        let Some(handle) = stage.get_value() else { return };
        deck.shot.with(|shot| {
            let Some(Shot { by, deck: snapshot, steady }) = shot else { return };
            let looks = chosen.with(|chosen| {
                let none = Vec::new();
                let selected = |deck: usize| chosen.get(deck).unwrap_or(&none);
                let sets = snapshot.sets.iter().enumerate();
                sets.map(|(deck, set)| look::looks(by, snapshot, set, selected(deck))).collect()
            });
            handle.show(&plan, looks, *steady);
        });
    });

    let scrolled = move || {
        if let Some(handle) = stage.try_get_value().flatten() {
            handle.scrolled();
        }
    };
    // The page scrolls in an element of the frame; in the capture phase the document hears of all of them.
    let listener = Closure::<dyn FnMut()>::new(scrolled);
    let target = document();
    let function: &js_sys::Function = listener.as_ref().unchecked_ref();
    let _ = target.add_event_listener_with_callback_and_bool("scroll", function, true);
    let listener = StoredValue::new_local(Some(listener));
    let resized = window_event_listener(leptos::ev::resize, move |_| {
        if let Some(root) = root.get_untracked() {
            measure(deck, &root);
        }
        if let Some(handle) = stage.try_get_value().flatten() {
            handle.scrolled();
        }
    });
    on_cleanup(move || {
        resized.remove();
        if let Some(listener) = listener.try_update_value(Option::take).flatten() {
            let function: &js_sys::Function = listener.as_ref().unchecked_ref();
            let _ = document().remove_event_listener_with_callback_and_bool("scroll", function, true);
        }
        watchers.try_update_value(Option::take);
        if let Some(handle) = stage.try_update_value(Option::take).flatten() {
            handle.close();
        }
    });
}

/// Notes how much room the deck has. The part above it counts as it is at the top of the page.
fn measure(deck: Deck, root: &web_sys::HtmlElement) {
    let rect = root.get_bounding_client_rect();
    let scrolled = root.closest("main").ok().flatten().map_or(0, |main| main.scroll_top());
    let window =
        web_sys::window().and_then(|window| window.inner_height().ok()).and_then(|height| height.as_f64());
    let top = rect.top() + f64::from(scrolled);
    let room = (window.unwrap_or(900.0) - top - BELOW).max(LEAST_ROOM);
    let measured = (rect.width().floor() as u32, room as u32);
    if measured.0 > 0 && deck.room.get_untracked() != measured {
        deck.room.set(measured);
    }
}

/// Observers of the browser; they end when this is dropped.
struct Watchers {
    resize: web_sys::ResizeObserver,
    theme: web_sys::MutationObserver,
    media: Vec<web_sys::MediaQueryList>,
    on_media: Closure<dyn FnMut()>,
    _on_resize: Closure<dyn FnMut()>,
    _on_theme: Closure<dyn FnMut()>,
}

impl Watchers {
    fn start(deck: Deck, root: web_sys::HtmlElement, stage: Handle) -> Self {
        let observed = root.clone();
        let on_resize = Closure::<dyn FnMut()>::new(move || measure(deck, &root));
        let (for_theme, for_media) = (stage.clone(), stage);
        let on_theme = Closure::<dyn FnMut()>::new(move || for_theme.restyle());
        let on_media = Closure::<dyn FnMut()>::new(move || for_media.restyle());
        // The constructors fail only without a function.
        let resize = web_sys::ResizeObserver::new(on_resize.as_ref().unchecked_ref())
            .unwrap_or_else(JsCast::unchecked_into);
        resize.observe(&observed);
        let theme = web_sys::MutationObserver::new(on_theme.as_ref().unchecked_ref())
            .unwrap_or_else(JsCast::unchecked_into);
        let what = web_sys::MutationObserverInit::new();
        what.set_attributes(true);
        if let Some(html) = document().document_element() {
            let _ = theme.observe_with_options(&html, &what);
        }
        let media: Vec<_> = ["(prefers-reduced-motion: reduce)", "(prefers-color-scheme: dark)"]
            .into_iter()
            .filter_map(|query| window().match_media(query).ok().flatten())
            .collect();
        for query in &media {
            let _ = query.add_event_listener_with_callback("change", on_media.as_ref().unchecked_ref());
        }
        Self { resize, theme, media, on_media, _on_resize: on_resize, _on_theme: on_theme }
    }
}

impl Drop for Watchers {
    fn drop(&mut self) {
        self.resize.disconnect();
        self.theme.disconnect();
        for query in &self.media {
            let _ =
                query.remove_event_listener_with_callback("change", self.on_media.as_ref().unchecked_ref());
        }
    }
}
