//! Chunks of a build that is not cut.

use leptos::prelude::*;
use std::convert::Infallible;

/// A part of the app that is always here.
pub(crate) struct Chunk {
    /// As the file would be named.
    pub(super) name: &'static str,
    draw: fn() -> AnyView,
}

impl Chunk {
    pub(super) const fn new(name: &'static str, draw: fn() -> AnyView) -> Self {
        Self { name, draw }
    }

    /// Whether it can be drawn.
    pub(super) const fn is_here(&self) -> bool {
        true
    }

    /// Loads it.
    pub(super) async fn load(&self) -> Result<(), Infallible> {
        Ok(())
    }

    /// What it shows.
    pub(super) fn draw(&self) -> AnyView {
        (self.draw)()
    }
}

macro_rules! chunk {
    ($name:ident: $file:ident, $draw:ident, $load:ident, $view:expr) => {
        pub(crate) static $name: Chunk = Chunk::new(stringify!($file), || $view.into_any());
    };
}
