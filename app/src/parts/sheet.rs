//! A list that a button opens: `<details class="chooser">`, which works without a script; with one it also closes by
//! itself.

use leptos::{
    ev, html, leptos_dom::helpers::window_event_listener, prelude::*, wasm_bindgen::JsCast, web_sys,
};

/// Closes the list on a press elsewhere and on Escape. Call it where the list is made.
pub fn closes_by_itself(sheet: NodeRef<html::Details>) {
    Effect::new(move |_| {
        let pressed = window_event_listener(ev::pointerdown, move |event| {
            let target = event.target().and_then(|target| target.dyn_into::<web_sys::Node>().ok());
            if sheet.get_untracked().is_some_and(|sheet| !sheet.contains(target.as_ref())) {
                close(sheet);
            }
        });
        let typed = window_event_listener(ev::keydown, move |event| {
            if event.key() == "Escape" {
                close(sheet);
            }
        });
        on_cleanup(move || {
            pressed.remove();
            typed.remove();
        });
    });
}

/// Closes the list, for entries that choose.
pub fn close(sheet: NodeRef<html::Details>) {
    if let Some(sheet) = sheet.get_untracked() {
        // It is there; removing it cannot fail.
        let _ = sheet.remove_attribute("open");
    }
}
