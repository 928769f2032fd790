//! The drawer that changes many servers at once: what, what will happen, then how it went.

mod effects;
mod form;
mod images;
mod preview;
mod request;
pub(crate) mod results;

use crate::lean::{effect, memo, part};
use crate::{
    browser::InBrowser,
    chunks::{DRAWER, later},
    i18n::use_words,
    keys::{Action, on_key},
    parts::Icon,
    selection::use_selection,
};
use form::Form;
use leptos::{html, prelude::*};
use preview::Looking;
use results::change_in_words;
use wire::ServerKey;

/// A part of the form, to begin with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// opsState.
    OpsState,
    /// Images of containers.
    Image,
    /// deletionPriority.
    Priority,
}

impl Part {
    /// The element that takes the focus.
    fn id(self) -> &'static str {
        match self {
            Self::OpsState => "change-ops",
            Self::Image => "change-image",
            Self::Priority => "change-priority",
        }
    }
}

/// What the drawer is open for.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Opened {
    part: Part,
    /// These servers instead of the selection.
    only: Option<Vec<ServerKey>>,
}

/// Whether the drawer is open. Copy it into closures freely.
#[derive(Clone, Copy)]
pub struct DrawerState {
    opened: RwSignal<Option<Opened>>,
}

impl DrawerState {
    /// Closed.
    #[must_use]
    pub fn new() -> Self {
        Self { opened: RwSignal::new(None) }
    }

    /// Opens it for the selection, with the focus on a part.
    pub fn open(self, part: Part) {
        self.opened.set(Some(Opened { part, only: None }));
    }

    /// Opens it for these servers, whatever is selected.
    pub fn open_for(self, part: Part, servers: Vec<ServerKey>) {
        self.opened.set(Some(Opened { part, only: Some(servers) }));
    }

    /// Closes it.
    pub fn close(self) {
        self.opened.set(None);
    }
}

/// The drawer of this tab.
#[must_use]
pub fn use_drawer() -> DrawerState {
    use_context().unwrap_or_else(DrawerState::new)
}

/// The drawer, when it is open.
#[component]
pub fn Drawer() -> impl IntoView {
    let state = use_drawer();
    on_key(move |action| {
        let mine = action == Action::Escape && state.opened.with_untracked(Option::is_some);
        if mine {
            state.close();
        }
        mine
    });
    // Where the focus was before, to give it back.
    let before = InBrowser::new(None);
    let open = memo(move || state.opened.with(Option::is_some));
    Effect::new(move |was: Option<bool>| {
        let open = open.get();
        if open && was != Some(true) {
            before.update(|before| *before = crate::browser::focused());
        } else if !open
            && was == Some(true)
            && let Some(element) = before.update(Option::take).flatten()
        {
            // It may be gone by now; then the focus stays where it is.
            let _ = element.focus();
        }
        open
    });
    part(move || open.get().then(|| later(&DRAWER, frame)))
}

/// The drawer without what belongs into it.
fn frame(inside: AnyView) -> AnyView {
    let (words, state) = (use_words(), use_drawer());
    view! {
        <aside class="drawer" role="dialog" aria-label=words.t("common.loading")>
            <header>
                <span class="grow"></span>
                <Close state />
            </header>
            <div class="body">{inside}</div>
        </aside>
    }
    .into_any()
}

/// The button that closes it.
#[component]
fn Close(state: DrawerState) -> impl IntoView {
    let words = use_words();
    view! {
        <button
            type="button"
            class="quiet iconic"
            title=words.t("common.close")
            aria-label=words.t("common.close")
            on:click=move |_| state.close()
        >
            <Icon name="close".to_owned() />
        </button>
    }
}

/// The open drawer.
#[component]
pub(crate) fn Opened(state: DrawerState) -> impl IntoView {
    let (words, selection) = (use_words(), use_selection());
    let targets = memo(move || match state.opened.get().and_then(|opened| opened.only) {
        Some(only) => only,
        None => selection.list(),
    });
    let form = Form::new();
    let looking = Looking::new(form, targets);
    let title = move || match looking.started.get() {
        Some(_) => untrack(|| change_in_words(&form.entered().change().unwrap_or_default())),
        None => words.n("batch.title", targets.with(Vec::len) as u64),
    };
    effect(move || {
        if let Some(opened) = state.opened.get() {
            request_animation_frame(move || crate::browser::focus(opened.part.id()));
        }
    });
    let panel = NodeRef::<html::Aside>::new();
    view! {
        <aside class="drawer" node_ref=panel role="dialog" aria-labelledby="drawer-title">
            <header>
                <h1 id="drawer-title">{title}</h1>
                <span class="grow"></span>
                <Close state />
            </header>
            {part(move || match looking.started.get() {
                Some(name) => view! { <results::Started name state /> }.into_any(),
                None => view! {
                    <div class="body">
                        <form::Fields form targets />
                        <preview::WhatHappens form looking />
                    </div>
                    <preview::Foot form looking />
                }.into_any(),
            })}
        </aside>
    }
}
