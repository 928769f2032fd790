//! What is to change: opsState, images, deletionPriority.

use super::{images::Images, request::Entered};
use crate::lean::{memo, part};
use crate::{
    i18n::{group, use_words},
    live::use_live,
    parts::OpsMark,
};
use leptos::prelude::*;
use std::collections::BTreeMap;
use wire::ServerKey;

/// opsStates that the controllers know.
const KNOWN: [&str; 5] = ["None", "Allocated", "Maintaining", "WaitToBeDeleted", "Kill"];

/// The fields. Copy it into closures freely.
#[derive(Clone, Copy)]
pub struct Form {
    pub ops: RwSignal<String>,
    pub images: RwSignal<BTreeMap<String, String>>,
    pub priority: RwSignal<String>,
    pub include_in_use: RwSignal<bool>,
}

impl Form {
    /// Nothing changed.
    pub fn new() -> Self {
        Self {
            ops: RwSignal::new(String::new()),
            images: RwSignal::new(BTreeMap::new()),
            priority: RwSignal::new(String::new()),
            include_in_use: RwSignal::new(false),
        }
    }

    /// What it holds. Reactive.
    pub fn entered(self) -> Entered {
        Entered {
            ops: self.ops.get(),
            images: self.images.get(),
            priority: self.priority.get(),
            include_in_use: self.include_in_use.get(),
        }
    }
}

/// The fields of the form.
#[component]
pub fn Fields(form: Form, targets: Memo<Vec<ServerKey>>) -> impl IntoView {
    let words = use_words();
    view! {
        <OpsChoice ops=form.ops />
        <Images images=form.images targets />
        <div class="field">
            <label class="soft" for="change-priority">"deletionPriority"</label>
            <input
                id="change-priority"
                type="text"
                inputmode="numeric"
                autocomplete="off"
                placeholder=words.t("batch.asNow")
                prop:value=move || form.priority.get()
                on:input=move |event| form.priority.set(event_target_value(&event))
            />
        </div>
    }
}

/// Known values, those seen in the cluster, and a field for any other.
#[component]
fn OpsChoice(ops: RwSignal<String>) -> impl IntoView {
    let (words, live) = (use_words(), use_live());
    let seen = memo(move || {
        live.totals.with(|totals| {
            let custom = totals
                .ops
                .iter()
                .filter(|count| !KNOWN.contains(&count.value.as_str()) && !count.value.is_empty());
            custom.map(|count| (count.value.clone(), count.count)).collect::<Vec<_>>()
        })
    });
    let choice = move |value: String, count: Option<u32>, id: Option<&'static str>| {
        let chosen = {
            let value = value.clone();
            move || ops.with(|ops| *ops == value)
        };
        let chosen = memo(chosen);
        let pick = value.clone();
        view! {
            <button
                type="button"
                id=id
                class="choice"
                aria-pressed=move || chosen.get().to_string()
                on:click=move |_| ops.set(if chosen.get_untracked() { String::new() } else { pick.clone() })
            >
                <OpsMark ops=value />
                {count.map(|count| view! { <span class="faint" title=words.t("batch.seen")>{group(count)}</span> })}
            </button>
        }
    };
    let other = move || {
        let now = ops.get();
        let listed =
            KNOWN.contains(&now.as_str()) || seen.with(|seen| seen.iter().any(|(value, _)| *value == now));
        if listed { String::new() } else { now }
    };
    view! {
        <div class="field tall">
            <span class="soft" id="ops-label">"opsState"</span>
            <div class="choices" role="group" aria-labelledby="ops-label">
                {KNOWN.iter().enumerate().map(|(at, value)| {
                    choice((*value).to_owned(), None, (at == 0).then_some("change-ops"))
                }).collect_view()}
                {part(move || seen.get().into_iter().map(|(value, count)| choice(value, Some(count), None)).collect_view())}
                <input
                    class="other"
                    type="text"
                    maxlength="63"
                    autocomplete="off"
                    spellcheck="false"
                    aria-label=words.t("batch.otherOps")
                    placeholder=words.t("batch.other")
                    prop:value=other
                    on:input=move |event| ops.set(event_target_value(&event))
                />
            </div>
        </div>
    }
}
