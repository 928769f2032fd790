//! The pages of batches.

use leptos::prelude::*;

/// The list.
#[component]
pub fn BatchesPage() -> impl IntoView {
    view! { <h1>"Batches"</h1> }
}

/// One batch.
#[component]
pub fn BatchPage() -> impl IntoView {
    view! { <h1>"Batch"</h1> }
}
