//! Small things that only a browser has: storage, the root element, the cookie. Called from event handlers and
//! effects, which never run in the server.

use leptos::{
    prelude::*,
    wasm_bindgen::JsCast,
    web_sys::{self, Element, HtmlElement, Storage},
};

/// A value of the browser's only thread, such as a closure. In the server it holds nothing: there a page may be
/// dropped by another thread than the one that made it.
pub struct InBrowser<T>(Option<StoredValue<T, LocalStorage>>);

impl<T> Clone for InBrowser<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for InBrowser<T> {}

impl<T: 'static> InBrowser<T> {
    /// Holds a value where there is a browser.
    pub fn new(value: T) -> Self {
        Self(cfg!(feature = "hydrate").then(|| StoredValue::new_local(value)))
    }

    /// Looks at the value; `None` in the server and when the component that held it is gone.
    pub fn with<U>(self, look: impl FnOnce(&T) -> U) -> Option<U> {
        self.0?.try_with_value(look)
    }

    /// Changes the value; `None` as in [`InBrowser::with`].
    pub fn update<U>(self, change: impl FnOnce(&mut T) -> U) -> Option<U> {
        self.0?.try_update_value(change)
    }
}

fn storage() -> Option<Storage> {
    // A host may forbid storage; then choices last as long as the page.
    window().local_storage().ok().flatten()
}

/// A choice kept in this browser.
#[must_use]
pub fn stored(name: &str) -> Option<String> {
    storage()?.get_item(&format!("pilothouse.{name}")).ok().flatten()
}

/// Keeps a choice in this browser.
pub fn store(name: &str, value: &str) {
    if let Some(storage) = storage() {
        // Full or forbidden: the choice still holds on this page.
        let _ = storage.set_item(&format!("pilothouse.{name}"), value);
    }
}

/// The root element, which carries theme and language.
#[must_use]
pub fn root() -> Option<Element> {
    document().document_element()
}

/// Whether the page is shown light.
#[must_use]
pub fn is_light() -> bool {
    root().and_then(|root| root.get_attribute("data-theme")).is_some_and(|theme| theme == "light")
}

/// Changes between night and day, and keeps it.
pub fn switch_theme() {
    let theme = if is_light() { "dark" } else { "light" };
    if let Some(root) = root() {
        // The name is legal, so this cannot fail.
        let _ = root.set_attribute("data-theme", theme);
    }
    store("theme", theme);
}

/// Keeps the language for the next page: in storage, and in a cookie so that the server knows it.
pub fn keep_language(code: &str, base_path: &str) {
    store("lang", code);
    if let Ok(document) = document().dyn_into::<web_sys::HtmlDocument>() {
        let path = if base_path.is_empty() { "/" } else { base_path };
        // Hosts that drop cookies still have the storage.
        let _ = document.set_cookie(&format!("lang={code}; path={path}; max-age=31536000; samesite=lax"));
    }
}

/// The element that has the focus.
#[must_use]
pub fn focused() -> Option<HtmlElement> {
    document().active_element()?.dyn_into().ok()
}

/// Gives an element the focus.
pub fn focus(id: &str) {
    if let Some(element) =
        document().get_element_by_id(id).and_then(|element| element.dyn_into::<HtmlElement>().ok())
    {
        // An element that cannot take it leaves it where it is.
        let _ = element.focus();
    }
}

/// The address of this page.
#[must_use]
pub fn address() -> String {
    window().location().href().unwrap_or_default()
}

/// Copies a text.
pub fn copy(text: &str) {
    // The promise is not waited for: there is nothing to do about a browser that refuses.
    let _ = window().navigator().clipboard().write_text(text);
}
