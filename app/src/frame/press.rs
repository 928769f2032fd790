//! From key presses of the browser to actions.

use crate::lean::effect;
use crate::{
    keys::{Action, Keys, Press, action},
    urls::{use_go, use_scope},
};
use leptos::{
    ev,
    prelude::*,
    wasm_bindgen::JsCast,
    web_sys::{Element, HtmlElement, KeyboardEvent},
};
use std::time::Duration;

/// A second key after `g` counts within this time.
const AFTER_G: Duration = Duration::from_millis(1200);

/// Listens to the keyboard for the whole page: asks the listeners, then goes to pages itself.
pub fn listen() {
    let Some(keys) = use_context::<Keys>() else { return };
    let (scope, go) = (use_scope(), use_go());
    effect(move || {
        let g = StoredValue::new(false);
        let go = go.clone();
        let handle = window_event_listener(ev::keydown, move |event| {
            // An open dialog or list has the keyboard to itself; Esc closes it.
            let modal =
                document().query_selector("dialog[open], details.chooser[open]").ok().flatten().is_some();
            if modal || event.default_prevented() || event.is_composing() {
                return;
            }
            let after_g = g.get_value();
            g.set_value(false);
            let (typing, on_control) = place(&event);
            let key = event.key();
            let ctrl = event.ctrl_key() || event.meta_key();
            let press = Press { key: &key, ctrl, alt: event.alt_key(), typing, on_control, after_g };
            if key == "g" && !typing && !ctrl && !after_g {
                g.set_value(true);
                set_timeout(
                    move || {
                        g.try_set_value(false);
                    },
                    AFTER_G,
                );
                return;
            }
            let Some(action) = action(press) else { return };
            let taken = keys.dispatch(action) || {
                let path = match action {
                    Action::GoDeck => Some(""),
                    Action::GoServers => Some("servers"),
                    Action::GoSets => Some("sets"),
                    Action::GoBatches => Some("batches"),
                    _ => None,
                };
                path.map(|path| go(&untrack(|| scope.link(path)), false)).is_some()
            };
            if taken {
                event.prevent_default();
            }
        });
        on_cleanup(move || handle.remove());
    });
}

/// Whether the focus is in a field for text, and whether it is on something that Enter and space work on.
fn place(event: &KeyboardEvent) -> (bool, bool) {
    let Some(element) = event.target().and_then(|target| target.dyn_into::<Element>().ok()) else {
        return (false, false);
    };
    let kind = element.get_attribute("type").unwrap_or_default();
    let (typing, on_control) = match element.tag_name().as_str() {
        "INPUT" if matches!(kind.as_str(), "checkbox" | "radio" | "button" | "submit") => (false, true),
        "INPUT" | "TEXTAREA" | "SELECT" => (true, true),
        "BUTTON" | "A" | "SUMMARY" => (false, true),
        _ => (element.dyn_ref::<HtmlElement>().is_some_and(HtmlElement::is_content_editable), false),
    };
    (typing, on_control)
}
