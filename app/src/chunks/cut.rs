//! Chunks of a build that is cut.

use leptos::{prelude::*, wasm_split::SplitLoaderError};
use std::{
    pin::Pin,
    sync::atomic::{AtomicBool, Ordering},
    task::{Context, Poll, Waker},
};

type Coming<T> = Pin<Box<dyn Future<Output = Result<T, SplitLoaderError>>>>;

/// A part of the app in a file of its own.
pub(crate) struct Chunk {
    /// As the file is named.
    pub(super) name: &'static str,
    here: AtomicBool,
    load: fn() -> Coming<()>,
    draw: fn() -> Coming<AnyView>,
}

impl Chunk {
    pub(super) const fn new(
        name: &'static str,
        load: fn() -> Coming<()>,
        draw: fn() -> Coming<AnyView>,
    ) -> Self {
        Self { name, here: AtomicBool::new(false), load, draw }
    }

    /// Whether it can be drawn.
    pub(super) fn is_here(&self) -> bool {
        self.here.load(Ordering::Relaxed)
    }

    /// Loads it; at once when it is here. After a failure it may be asked again.
    pub(super) async fn load(&self) -> Result<(), SplitLoaderError> {
        (self.load)().await?;
        self.here.store(true, Ordering::Relaxed);
        Ok(())
    }

    /// What it shows; nothing before it is here.
    pub(super) fn draw(&self) -> AnyView {
        if !self.is_here() {
            return ().into_any();
        }
        // The future only sees that the file is loaded, and draws: a page is taken over in one go.
        match (self.draw)().as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(Ok(view)) => view,
            Poll::Ready(Err(_)) | Poll::Pending => ().into_any(),
        }
    }
}

macro_rules! chunk {
    ($name:ident: $file:ident, $draw:ident, $load:ident, $view:expr) => {
        #[leptos::wasm_split::wasm_split($file, wasm_split_path = leptos::wasm_split, preload($load), fallible)]
        fn $draw() -> Result<AnyView, leptos::wasm_split::SplitLoaderError> {
            Ok($view.into_any())
        }
        pub(crate) static $name: Chunk =
            Chunk::new(stringify!($file), || Box::pin($load()), || Box::pin($draw()));
    };
}
