//! The palette: go to a page, a set or a recent filter; do something.

mod entries;

use crate::lean::{effect, memo, part};
use crate::{
    api, browser,
    drawer::use_drawer,
    i18n::use_words,
    live::use_live,
    selection::use_selection,
    urls::{query, use_go, use_here, use_scope},
};
use entries::{Entry, Step, find};
use leptos::{ev, html, prelude::*, task::spawn_local};
use wire::SetRow;

/// Opens and closes a modal dialog with a signal. The browser keeps the focus inside and gives it back.
pub fn follow(dialog: NodeRef<html::Dialog>, open: RwSignal<bool>) {
    effect(move || {
        let Some(dialog) = dialog.get() else { return };
        match (open.get(), dialog.open()) {
            // Neither can fail: it is in the document, and not open yet.
            (true, false) => drop(dialog.show_modal()),
            (false, true) => dialog.close(),
            _ => {}
        }
    });
}

/// The palette in a dialog.
#[component]
pub fn Palette(open: RwSignal<bool>, help: RwSignal<bool>) -> impl IntoView {
    let (words, live, scope, here, go) = (use_words(), use_live(), use_scope(), use_here(), use_go());
    let (selection, drawer) = (use_selection(), use_drawer());
    let dialog = NodeRef::<html::Dialog>::new();
    let input = NodeRef::<html::Input>::new();
    let (text, at) = (RwSignal::new(String::new()), RwSignal::new(0_usize));
    let sets = RwSignal::new(Vec::<SetRow>::new());
    let recent = RwSignal::new(Vec::<String>::new());
    follow(dialog, open);

    effect(move || {
        if !open.get() {
            return;
        }
        text.set(String::new());
        at.set(0);
        recent.set(entries::recent());
        if let Some(input) = input.get_untracked() {
            input.set_value("");
        }
        spawn_local(async move {
            // Without an answer the palette simply has no sets in it.
            if let Ok(found) = api::get::<Vec<SetRow>>("api/v1/gameserversets").await {
                sets.try_set(found);
            }
        });
    });
    // A filter that stood for a while is worth coming back to.
    effect(move || {
        let q = scope.q.get();
        if !q.is_empty() {
            set_timeout(
                move || {
                    if scope.q.try_get_untracked().is_some_and(|now| now == q) {
                        entries::remember(&q);
                    }
                },
                std::time::Duration::from_secs(3),
            );
        }
    });

    let found = memo(move || {
        let all = entries::all(
            words,
            &sets.read(),
            &recent.read(),
            &live.totals.read().namespaces,
            selection.len(),
        );
        text.with(|text| find(all, text))
    });
    let run = move |entry: Entry| {
        open.set(false);
        let ns = scope.ns.get_untracked();
        match entry.step {
            Step::Page(path) => go(&untrack(|| scope.link(path)), false),
            Step::Set(key) => go(&format!("{}{}", crate::urls::set(&key), query(&[("ns", &ns)])), false),
            Step::Filter(q) => go(&format!("servers{}", query(&[("ns", &ns), ("q", &q)])), false),
            Step::Namespace(ns) => {
                let q = scope.q.get_untracked();
                go(&format!("{}{}", here.get_untracked(), query(&[("ns", &ns), ("q", &q)])), false);
            }
            Step::Theme => browser::switch_theme(),
            Step::CopyLink => browser::copy(&browser::address()),
            Step::SelectAll => super::footer::select_all(selection, &scope.q.get_untracked(), &ns),
            Step::ClearSelection => selection.clear(),
            Step::Edit(part) => drawer.open(part),
            Step::Keys => help.set(true),
        }
    };
    let run = StoredValue::new(run);
    let run_at = move |at: usize| {
        if let Some(entry) = found.with_untracked(|found| found.get(at).cloned()) {
            run.with_value(|run| run(entry));
        }
    };
    let key = move |event: ev::KeyboardEvent| {
        let count = found.with_untracked(Vec::len);
        match event.key().as_str() {
            "ArrowDown" if count > 0 => at.update(|at| *at = (*at + 1) % count),
            "ArrowUp" if count > 0 => at.update(|at| *at = (*at + count - 1) % count),
            "Enter" if !event.is_composing() => run_at(at.get_untracked()),
            _ => return,
        }
        event.prevent_default();
    };
    // The chosen entry stays in view.
    effect(move || {
        let at = at.get();
        if open.get_untracked()
            && let Some(element) = document().get_element_by_id(&format!("palette-{at}"))
        {
            element.scroll_into_view_with_bool(false);
        }
    });
    let item = move |index: usize, entry: Entry| {
        view! {
            <li
                id=format!("palette-{index}")
                role="option"
                aria-selected=move || (at.get() == index).to_string()
                on:click=move |_| run_at(index)
                on:mousemove=move |_| if at.get_untracked() != index { at.set(index) }
            >
                <span class="kind">{entry.kind}</span>
                <span class="name">{entry.name}</span>
                <span class="hint">{entry.hint}</span>
            </li>
        }
    };
    view! {
        <dialog
            class="over palette"
            node_ref=dialog
            aria-label=words.t("common.palette.title")
            on:close=move |_| open.set(false)
            on:click=move |event| {
                // A click beside the box lands on the dialog itself.
                if event.target() == dialog.get_untracked().map(Into::into) {
                    open.set(false);
                }
            }
        >
            <div class="inside">
                <input
                    node_ref=input
                    type="text"
                    role="combobox"
                    aria-expanded="true"
                    aria-controls="palette-list"
                    aria-label=words.t("common.palette.title")
                    aria-activedescendant=move || format!("palette-{}", at.get())
                    placeholder=words.t("common.palette.placeholder")
                    autocomplete="off"
                    spellcheck="false"
                    on:input=move |event| {
                        text.set(event_target_value(&event));
                        at.set(0);
                    }
                    on:keydown=key
                />
                <ul id="palette-list" role="listbox" aria-label=words.t("common.palette.title")>
                    {part(move || found.get().into_iter().enumerate().map(|(index, entry)| item(index, entry)).collect_view())}
                </ul>
                {part(move || found.with(Vec::is_empty).then(|| view! { <p class="faint">{words.t("common.palette.nothing")}</p> }))}
            </div>
        </dialog>
    }
}
