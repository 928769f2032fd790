//! Names that may be long, texts to copy, and reasons in the reader's words.

use super::Icon;
use crate::i18n::use_words;
use crate::lean::part;
use leptos::prelude::*;

/// Where a long name may be cut: before the last dash, so that the id at the end always shows.
fn cut(name: &str) -> (&str, &str) {
    match name.rfind('-') {
        Some(at) if at > 0 && name.len() - at <= 24 => name.split_at(at + 1),
        _ => name.split_at(name.char_indices().rev().nth(5).map_or(0, |(at, _)| at)),
    }
}

/// A name that is shortened in its middle when there is no room; the whole shows on hover and is what is copied.
#[component]
pub fn LongName(
    /// The whole name.
    #[prop(into)]
    name: Signal<String>,
) -> impl IntoView {
    view! {
        <span class="longname" title=move || name.get()>
            <span class="head">{part(move || name.with(|name| cut(name).0.to_owned()))}</span>
            <span class="tail">{part(move || name.with(|name| cut(name).1.to_owned()))}</span>
        </span>
    }
}

/// A quiet button that copies a text and says so for a moment.
#[component]
pub fn CopyButton(
    /// What is copied.
    #[prop(into)]
    text: Signal<String>,
    /// A word on the button; without one it is an icon.
    #[prop(optional, into)]
    label: Option<String>,
) -> impl IntoView {
    let words = use_words();
    let done = RwSignal::new(false);
    let copy = move |_| {
        let text = text.get_untracked();
        // The promise is not waited for: there is nothing to do about a browser that refuses.
        let _ = window().navigator().clipboard().write_text(&text);
        done.set(true);
        set_timeout(
            move || {
                done.try_set(false);
            },
            std::time::Duration::from_millis(1600),
        );
    };
    let name = move || if done.get() { "check".to_owned() } else { "copy".to_owned() };
    let iconic = label.is_none();
    view! {
        <button
            type="button"
            class=if iconic { "copy quiet iconic needs-script" } else { "copy needs-script" }
            title=move || if done.get() { words.t("common.copied") } else { words.t("common.copy") }
            aria-label=iconic.then(|| words.t("common.copy"))
            on:click=copy
        >
            <Icon name=Signal::derive(name) />
            {label.map(|label| view! { <span>{part(move || if done.get() { words.t("common.copied").to_owned() } else { label.clone() })}</span> })}
        </button>
    }
}

/// A reason as a sentence in the reader's language.
#[component]
pub fn Reasoned(
    /// Code with arguments.
    #[prop(into)]
    reason: Signal<wire::Reason>,
) -> impl IntoView {
    let words = use_words();
    view! { <span class="reason">{part(move || reason.with(|reason| words.reason(reason)))}</span> }
}

#[cfg(test)]
mod tests {
    use super::cut;

    #[test]
    fn the_id_at_the_end_is_never_cut() {
        assert_eq!(cut("minecraft-prod-eu-1042"), ("minecraft-prod-eu-", "1042"));
        assert_eq!(cut("lobby"), ("", "lobby"));
        assert_eq!(cut("averylongnamewithoutdash"), ("averylongnamewitho", "utdash"));
        assert_eq!(cut(""), ("", ""));
    }
}
