//! The object as YAML, read only, fetched when it is asked for; the set page shows it too.

use crate::{
    api,
    i18n::use_words,
    parts::{CopyButton, ErrorPanel, Loading},
};
use leptos::{prelude::*, task::spawn_local};
use wire::ApiError;

/// What is shown.
#[derive(Clone)]
enum Shown {
    Closed,
    Loading,
    Text(String),
    Failed(ApiError),
}

/// The state of one YAML panel; the button and the panel share it.
#[derive(Clone, Copy)]
pub struct Yaml {
    shown: RwSignal<Shown>,
    url: Signal<String>,
}

impl Yaml {
    /// Closed. `url` is the REST address of the text.
    pub fn new(url: Signal<String>) -> Self {
        let yaml = Self { shown: RwSignal::new(Shown::Closed), url };
        // Another object, another text.
        Effect::new(move |before: Option<String>| {
            let url = url.get();
            if before.is_some_and(|before| before != url) {
                yaml.shown.set(Shown::Closed);
            }
            url
        });
        yaml
    }

    fn is_open(self) -> bool {
        self.shown.with(|shown| !matches!(shown, Shown::Closed))
    }

    fn fetch(self) {
        self.shown.set(Shown::Loading);
        let url = self.url.get_untracked();
        spawn_local(async move {
            let answer = match api::get_text(&url).await {
                Ok(text) => Shown::Text(text),
                Err(error) => Shown::Failed(error),
            };
            // The reader may have gone elsewhere meanwhile.
            if self.url.try_get_untracked() == Some(url)
                && self.shown.with_untracked(|shown| matches!(shown, Shown::Loading))
            {
                self.shown.set(answer);
            }
        });
    }
}

/// Opens and closes the panel. Without script it is a link to the text.
#[component]
pub fn YamlButton(
    /// Its panel.
    yaml: Yaml,
) -> impl IntoView {
    let toggle = move |event: leptos::ev::MouseEvent| {
        if event.ctrl_key() || event.meta_key() || event.shift_key() {
            return;
        }
        event.prevent_default();
        event.stop_propagation();
        if untrack(|| yaml.is_open()) { yaml.shown.set(Shown::Closed) } else { yaml.fetch() }
    };
    view! {
        <a
            class="button"
            role="button"
            rel="external"
            href=move || yaml.url.get()
            aria-expanded=move || yaml.is_open().to_string()
            on:click=toggle
        >
            "YAML"
        </a>
    }
}

/// The text.
#[component]
pub fn YamlPanel(
    /// Which.
    yaml: Yaml,
) -> impl IntoView {
    let words = use_words();
    let body = move || match yaml.shown.get() {
        Shown::Closed => ().into_any(),
        Shown::Loading => view! { <Loading /> }.into_any(),
        Shown::Failed(error) => view! { <ErrorPanel error /> }.into_any(),
        Shown::Text(text) => view! { <pre class="yaml mono" tabindex="0">{text}</pre> }.into_any(),
    };
    let text = move || match yaml.shown.get() {
        Shown::Text(text) => text,
        _ => String::new(),
    };
    view! {
        <Show when=move || yaml.is_open()>
            <section class="card yaml-card" aria-label="YAML">
                <header>
                    <h2>"YAML"</h2>
                    <span class="faint">{words.t("server.yaml.asOf")}</span>
                    <span class="grow"></span>
                    <button type="button" class="quiet" on:click=move |_| yaml.fetch()>{words.t("server.yaml.again")}</button>
                    <CopyButton text=Signal::derive(text) label=words.t("server.yaml.copy") />
                    <button type="button" class="quiet" on:click=move |_| yaml.shown.set(Shown::Closed)>{words.t("server.yaml.close")}</button>
                </header>
                {body}
            </section>
        </Show>
    }
}
