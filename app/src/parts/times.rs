//! Times on a page: relative, moving with the server's clock, the absolute one on hover.

use crate::lean::{memo, part};
use crate::{i18n::use_words, live::use_live, time};
use leptos::prelude::*;

/// The age of something: `3h 20m`.
#[component]
pub fn Age(
    /// When it began, Unix seconds.
    #[prop(into)]
    since: Signal<i64>,
) -> impl IntoView {
    let live = use_live();
    let text = memo(move || time::age(live.seconds_since(since.get())));
    view! { <time class="age" title=move || time::absolute(since.get())>{part(move || text.get())}</time> }
}

/// When something happened: `3h 20m ago`.
#[component]
pub fn Ago(
    /// When, Unix seconds.
    #[prop(into)]
    at: Signal<i64>,
) -> impl IntoView {
    let (words, live) = (use_words(), use_live());
    let text = memo(move || time::ago(words, live.seconds_since(at.get())));
    view! { <time class="ago" title=move || time::absolute(at.get())>{part(move || text.get())}</time> }
}
