//! The frame around every page: header, menu, bands, selection bar, palette and help.

mod band;
mod filter;
mod footer;
mod header;
mod help;
mod nav;
mod outside;
mod palette;
mod press;

pub use band::Bands;
pub use footer::{Footer, select_all};
pub use header::Header;
pub use help::Help;
pub use nav::Nav;
pub use palette::Palette;

use crate::{keys::Action, live::use_live};
use leptos::prelude::*;

/// What lies over the page, and whether it is open.
#[derive(Clone, Copy)]
pub struct Over {
    /// The palette.
    pub palette: RwSignal<bool>,
    /// The list of keys.
    pub help: RwSignal<bool>,
}

impl Over {
    /// All closed.
    #[must_use]
    pub fn new() -> Self {
        Self { palette: RwSignal::new(false), help: RwSignal::new(false) }
    }
}

/// What lies over the page, and the keyboard.
#[component]
pub fn Overlays() -> impl IntoView {
    press::listen();
    let over = Over::new();
    crate::keys::on_key(move |action| {
        match action {
            Action::Palette => over.palette.set(true),
            Action::Help => over.help.set(true),
            _ => return false,
        }
        true
    });
    view! {
        <Palette open=over.palette help=over.help />
        <Help open=over.help />
    }
}

/// The class of the frame: whether the host has header and menu itself, and whether what is shown is old.
pub fn frame_class() -> impl Fn() -> &'static str + Copy + Send + Sync {
    let live = use_live();
    let map = leptos_router::hooks::use_query_map();
    // Read once: it is the host's wish for this page, and links do not carry it.
    let embed = map.with_untracked(|map| map.get("embed").is_some_and(|value| value == "1"));
    move || match (embed, live.stale_since().is_some()) {
        (false, false) => "frame",
        (false, true) => "frame stale",
        (true, false) => "frame embed",
        (true, true) => "frame embed stale",
    }
}
