//! How a build that is cut begins in the browser: first the chunk of the page, then the page is taken over.

use super::{DidNotLoad, of_page};
use crate::{Lang, browser, i18n::Words};
use leptos::{mount::mount_to, prelude::*, wasm_bindgen::JsCast, web_sys::HtmlElement};
use wasm_bindgen_futures::spawn_local;

/// Calls `take_over` when the chunk of the page is here. The page has the chunk loaded while it loads the main module, so
/// this seldom waits. Where the chunk does not come, the page stays as the server made it, and says so.
pub(crate) fn start(take_over: fn()) {
    let path = window().location().pathname().unwrap_or_default();
    let base = document().query_selector("base").ok().flatten().and_then(|base| base.get_attribute("href"));
    let path = base.as_deref().and_then(|base| path.strip_prefix(base)).unwrap_or(&path);
    let Some(chunk) = of_page(path) else { return take_over() };
    spawn_local(async move {
        match chunk.load().await {
            Ok(()) => take_over(),
            Err(_) => say_that_it_failed(),
        }
    });
}

fn say_that_it_failed() {
    let Some(place) =
        document().get_element_by_id("main").and_then(|main| main.dyn_into::<HtmlElement>().ok())
    else {
        return;
    };
    let lang = browser::root().and_then(|root| root.get_attribute("lang"));
    let words = Words::new(lang.as_deref().and_then(Lang::parse).unwrap_or_default());
    mount_to(place, move || {
        provide_context(words);
        view! { <DidNotLoad /> }
    })
    .forget();
}
