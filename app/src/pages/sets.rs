//! The page Sets.

use leptos::prelude::*;

/// The page.
#[component]
pub fn SetsPage() -> impl IntoView {
    view! { <h1>"Sets"</h1> }
}
