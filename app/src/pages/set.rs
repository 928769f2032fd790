//! The page Set.

use leptos::prelude::*;

/// The page.
#[component]
pub fn SetPage() -> impl IntoView {
    view! { <h1>"Set"</h1> }
}
