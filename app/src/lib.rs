//! Pages and components of the Pilothouse dashboard.
//!
//! Compiled twice: into the server (feature `ssr`), which renders every page with data, and to wasm (feature
//! `hydrate`), which takes the page over, keeps it live and sends edits. The browser talks to the server only
//! over the REST API and the live stream.
#![deny(missing_docs)]
#![recursion_limit = "256"]

mod api;
mod app;
mod browser;
mod chunks;
pub mod data;
mod drawer;
mod frame;
pub mod i18n;
mod json;
mod keys;
mod lean;
mod live;
mod pages;
mod parts;
mod selection;
mod shell;
mod time;
mod urls;

pub use app::App;
pub use chunks::chunk_name;
pub use i18n::Lang;
pub use shell::{ShellEnv, shell};

/// Takes over the page that the server rendered. Called by the script that loads the wasm module.
#[cfg(feature = "hydrate")]
#[wasm_bindgen::prelude::wasm_bindgen]
pub fn hydrate() {
    // A release build has no words for a panic, see tools/trim-wasm.mjs.
    #[cfg(debug_assertions)]
    console_error_panic_hook::set_once();
    let take_over = || leptos::mount::hydrate_body(|| App(app::AppProps { env: None }));
    #[cfg(feature = "split")]
    chunks::start(take_over);
    #[cfg(not(feature = "split"))]
    take_over();
}
