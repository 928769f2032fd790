//! States and opsStates as marks: colour, shape and word together, so that none of them is needed alone.

use crate::lean::part;
use leptos::prelude::*;

/// The class of a state: it sets the colour `--c` and the shape of the dot. Words of all three families.
#[must_use]
pub fn state_class(state: &str) -> &'static str {
    match state {
        "Ready" | "Scheduled" | "RequestReady" => "s-ready",
        "Allocated" | "Reserved" => "s-ready",
        "Creating" | "Starting" | "PortAllocation" | "Pending" => "s-creating",
        "Updating" => "s-updating",
        "PreUpdate" | "PreDelete" => "s-leaving",
        "NotReady" | "Unhealthy" => "s-notready",
        "Crash" | "Error" | "Failed" => "s-crash",
        "Deleting" | "Shutdown" | "Terminating" => "s-deleting",
        _ => "s-unknown",
    }
}

/// The icon of an opsState, in the sprite; custom ones are drawn by their first letter instead.
#[must_use]
pub fn ops_icon(ops: &str) -> Option<&'static str> {
    match ops {
        "None" | "" => Some("ops-none"),
        "Allocated" => Some("ops-allocated"),
        "Maintaining" => Some("wrench"),
        "WaitToBeDeleted" => Some("hourglass"),
        "Kill" => Some("cross"),
        _ => None,
    }
}

/// A symbol of `public/icons.svg`, 16 px, in the colour of the text.
#[component]
pub fn Icon(
    /// Id in the sprite.
    #[prop(into)]
    name: Signal<String>,
) -> impl IntoView {
    view! {
        <svg class="icon" width="16" height="16" aria-hidden="true">
            <use href=move || format!("icons.svg#{}", name.get())></use>
        </svg>
    }
}

/// The dot of a state alone; give it a word beside it.
#[component]
pub fn StateDot(
    /// State word.
    #[prop(into)]
    state: Signal<String>,
) -> impl IntoView {
    view! { <i class=move || state.with(|state| format!("dot {}", state_class(state))) aria-hidden="true"></i> }
}

/// A state with its dot and word.
#[component]
pub fn StateMark(
    /// State word; empty is unknown.
    #[prop(into)]
    state: Signal<String>,
) -> impl IntoView {
    view! {
        <span class="state">
            <StateDot state />
            {part(move || state.with(|state| if state.is_empty() { "Unknown".to_owned() } else { state.clone() }))}
        </span>
    }
}

/// An opsState with its mark and word.
#[component]
pub fn OpsMark(
    /// opsState word.
    #[prop(into)]
    ops: Signal<String>,
) -> impl IntoView {
    let class = move || {
        ops.with(|ops| match ops.as_str() {
            "None" | "" => "ops quiet",
            "Allocated" => "ops alloc",
            _ => "ops",
        })
    };
    let mark = move || {
        ops.with(|ops| match ops_icon(ops) {
            Some(icon) => view! { <Icon name=icon.to_owned() /> }.into_any(),
            None => {
                let letter: String =
                    ops.chars().next().map(|c| c.to_uppercase().collect()).unwrap_or_default();
                view! { <i class="letter" aria-hidden="true">{letter}</i> }.into_any()
            }
        })
    };
    view! {
        <span class=class>
            {mark}
            <span>{part(move || ops.with(|ops| if ops.is_empty() { "None".to_owned() } else { ops.clone() }))}</span>
        </span>
    }
}

/// What a tag stands for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TagKind {
    /// A plain value.
    #[default]
    Plain,
    /// Set on this very object, not inherited.
    Own,
    /// Being replaced.
    Old,
}

/// A short value in a frame: a version, a label.
#[component]
pub fn Tag(
    /// What it says.
    #[prop(into)]
    text: Signal<String>,
    /// What it stands for.
    #[prop(optional)]
    kind: TagKind,
) -> impl IntoView {
    let class = match kind {
        TagKind::Plain => "tag",
        TagKind::Own => "tag own",
        TagKind::Old => "tag old",
    };
    view! { <span class=class title=move || text.get()>{part(move || text.get())}</span> }
}
