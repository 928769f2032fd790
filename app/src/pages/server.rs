//! The page Server.

use leptos::prelude::*;

/// The page.
#[component]
pub fn ServerPage() -> impl IntoView {
    view! { <h1>"Server"</h1> }
}
