//! The drawer that changes many servers at once.

use leptos::prelude::*;

/// Whether the drawer is open.
#[derive(Clone, Copy)]
pub struct DrawerState {
    /// Open.
    pub open: RwSignal<bool>,
}

impl DrawerState {
    /// Closed.
    #[must_use]
    pub fn new() -> Self {
        Self { open: RwSignal::new(false) }
    }
}

/// The drawer.
#[component]
pub fn Drawer() -> impl IntoView {}
