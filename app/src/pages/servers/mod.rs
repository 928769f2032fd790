//! The page Servers.

use leptos::prelude::*;

/// The page.
#[component]
pub fn ServersPage() -> impl IntoView {
    view! { <h1>"Servers"</h1> }
}
