//! The frame around every page.

use crate::{app::Boot, i18n::use_words, live::use_live, urls::use_scope};
use leptos::prelude::*;

/// Top bar.
#[component]
pub fn Header() -> impl IntoView {
    let scope = use_scope();
    view! { <header class="top"><a class="brand" href=move || scope.link("")><b>"Pilothouse"</b></a></header> }
}

/// Menu.
#[component]
pub fn Nav() -> impl IntoView {
    let (words, scope, live) = (use_words(), use_scope(), use_live());
    view! {
        <nav class="nav" aria-label=words.t("common.nav.label")>
            <a href=move || scope.link("servers")>{words.t("common.nav.servers")}<span class="n">{move || live.totals.with(|t| t.servers)}</span></a>
        </nav>
    }
}

/// Band of the sandbox.
#[component]
pub fn SandboxBand() -> impl IntoView {
    let boot = use_context::<Boot>().unwrap_or_default();
    boot.sandbox.then(|| view! { <div class="band">"Sandbox"</div> })
}

/// Selection bar.
#[component]
pub fn Footer() -> impl IntoView {}

/// Palette and help.
#[component]
pub fn Overlays() -> impl IntoView {}
