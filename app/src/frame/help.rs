//! The list of keys.

use crate::{i18n::use_words, parts::Icon};
use leptos::{html, prelude::*};

/// A title, then keys and what they do, as locale keys.
type Group = (&'static str, &'static [(&'static [&'static str], &'static str)]);

/// The keys in groups.
const GROUPS: [Group; 3] = [
    (
        "common.keys.go",
        &[
            (&["/"], "common.keys.filter"),
            (&["Ctrl", "K"], "common.keys.palette"),
            (&["g", "d"], "common.keys.deck"),
            (&["g", "s"], "common.keys.servers"),
            (&["g", "t"], "common.keys.sets"),
            (&["g", "b"], "common.keys.batches"),
            (&["?"], "common.keys.help"),
        ],
    ),
    (
        "common.keys.rows",
        &[(&["j"], "common.keys.next"), (&["k"], "common.keys.previous"), (&["Enter"], "common.keys.open")],
    ),
    (
        "common.keys.selection",
        &[
            (&["x"], "common.keys.select"),
            (&["Shift", "j"], "common.keys.selectNext"),
            (&["Ctrl", "A"], "common.keys.selectAll"),
            (&["e"], "common.keys.edit"),
            (&["Esc"], "common.keys.escape"),
        ],
    ),
];

/// The list of keys in a dialog.
#[component]
pub fn Help(open: RwSignal<bool>) -> impl IntoView {
    let words = use_words();
    let dialog = NodeRef::<html::Dialog>::new();
    super::palette::follow(dialog, open);
    let group = move |(title, keys): &Group| {
        let rows = keys
            .iter()
            .map(|(keys, what)| {
                let keys = keys.iter().map(|key| view! { <kbd>{*key}</kbd> }).collect_view();
                view! { <div><dt>{keys}</dt><dd>{words.t(what)}</dd></div> }
            })
            .collect_view();
        view! { <section><h3>{words.t(title)}</h3><dl>{rows}</dl></section> }
    };
    view! {
        <dialog class="over help" node_ref=dialog aria-labelledby="help-title" on:close=move |_| open.set(false)>
            <header>
                <h1 id="help-title">{words.t("common.keys.title")}</h1>
                <span class="grow"></span>
                <button
                    type="button"
                    class="quiet iconic"
                    aria-label=words.t("common.close")
                    on:click=move |_| open.set(false)
                >
                    <Icon name="close".to_owned() />
                </button>
            </header>
            <div class="groups">{GROUPS.iter().map(group).collect_view()}</div>
        </dialog>
    }
}

#[cfg(test)]
mod tests {
    use super::GROUPS;
    use crate::{Lang, i18n::Words};

    #[test]
    fn every_key_is_explained() {
        for (title, keys) in GROUPS {
            for key in keys.iter().map(|(_, what)| what).chain([&title]) {
                assert!(Words::new(Lang::En).find(key).is_some(), "{key}");
            }
        }
    }
}
