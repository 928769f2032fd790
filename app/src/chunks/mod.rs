//! Parts of the app that lie in files of their own, so that a page loads only what it shows.
//!
//! A release build for browsers (feature `split`) is cut at each [`Chunk`] by `tools/build-lib.sh`: what only a chunk
//! uses leaves the main module. Every other build (the server, debug) carries everything, and a chunk is always here.
//!
//! A page that the server made is taken over when its chunk is here, in one go. A page that is opened later shows that
//! it is loading, and where that fails what can be done.

#[cfg(feature = "split")]
#[macro_use]
mod cut;
#[cfg(feature = "split")]
mod start;
#[cfg(not(feature = "split"))]
#[macro_use]
mod whole;

#[cfg(feature = "split")]
pub(crate) use cut::Chunk;
#[cfg(feature = "split")]
pub(crate) use start::start;
#[cfg(not(feature = "split"))]
pub(crate) use whole::Chunk;

use crate::{
    drawer,
    i18n::use_words,
    lean::part,
    pages,
    parts::{Icon, Loading},
};
use leptos::{prelude::*, task::spawn_local};

// The constant, the file that the part lies in, and two functions that the cut needs a name for.
chunk!(DECK: deck, draw_deck, load_deck, view! { <pages::DeckPage /> });
chunk!(SERVERS: servers, draw_servers, load_servers, view! { <pages::ServersPage /> });
chunk!(SERVER: server, draw_server, load_server, view! { <pages::ServerPage /> });
chunk!(SETS: sets, draw_sets, load_sets, view! { <pages::SetsPage /> });
chunk!(SET: set, draw_set, load_set, view! { <pages::SetPage /> });
chunk!(BATCHES: batches, draw_batches, load_batches, view! { <pages::BatchesPage /> });
chunk!(BATCH: batches, draw_batch, load_batch, view! { <pages::BatchPage /> });
chunk!(TROUBLE: trouble, draw_trouble, load_trouble, view! { <pages::TroublePage /> });
chunk!(DRAWER: drawer, draw_drawer, load_drawer, view! { <drawer::Opened state=drawer::use_drawer() /> });

/// The chunk of a page, by its path below the base path; `None` where no page is.
fn of_page(path: &str) -> Option<&'static Chunk> {
    let mut pieces = path.trim_matches('/').split('/');
    match (pieces.next().unwrap_or_default(), pieces.count()) {
        ("", 0) => Some(&DECK),
        ("servers", 0) => Some(&SERVERS),
        ("servers", 3) => Some(&SERVER),
        ("sets", 0) => Some(&SETS),
        ("sets", 3) => Some(&SET),
        ("batches", 0) => Some(&BATCHES),
        ("batches", 1) => Some(&BATCH),
        ("sandbox", 0) => Some(&TROUBLE),
        _ => None,
    }
}

/// The name of the chunk that a page needs, by its path below the base path, so that the server can have it loaded
/// together with the page. `None` where no page is.
#[must_use]
pub fn chunk_name(path: &str) -> Option<&'static str> {
    of_page(path).map(|chunk| chunk.name)
}

/// Whether a chunk that is shown is here.
#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Loading,
    Here,
    Failed,
}

/// What a chunk shows, with a word until it is here, or where it does not come. `around` draws what stands around that
/// word, when the chunk is more than a piece of a page.
pub(crate) fn later(chunk: &'static Chunk, around: fn(AnyView) -> AnyView) -> AnyView {
    let state = RwSignal::new(if chunk.is_here() { State::Here } else { State::Loading });
    let load = move || {
        state.set(State::Loading);
        spawn_local(async move {
            let loaded = chunk.load().await;
            // Whoever left meanwhile does not wait for it.
            state.try_set(if loaded.is_ok() { State::Here } else { State::Failed });
        });
    };
    if state.get_untracked() == State::Loading {
        load();
    }
    part(move || match state.get() {
        State::Here => chunk.draw(),
        State::Loading => around(view! { <Loading /> }.into_any()),
        State::Failed => around(view! { <DidNotLoad again=Callback::new(move |()| load()) /> }.into_any()),
    })
}

/// A chunk did not come: the server is away, or has become another version, which has other chunks.
#[component]
fn DidNotLoad(
    /// Loads it once more; without, only the whole page can be loaded again.
    #[prop(optional)]
    again: Option<Callback<()>>,
) -> impl IntoView {
    let words = use_words();
    view! {
        <section class="panel error" role="alert">
            <Icon name="warning".to_owned() />
            <h2>{words.t("common.chunk.title")}</h2>
            <p>{words.t("common.chunk.hint")}</p>
            <div class="acts">
                {again.map(|again| view! {
                    <button type="button" on:click=move |_| again.run(())>{words.t("common.retry")}</button>
                })}
                <button
                    type="button"
                    on:click=move |_| {
                        // Refused only to a document that is going away.
                        let _ = window().location().reload();
                    }
                >
                    {words.t("common.chunk.reload")}
                </button>
            </div>
        </section>
    }
}

#[cfg(test)]
mod tests {
    use super::chunk_name;

    #[test]
    fn every_page_has_a_chunk_and_nothing_else_has() {
        for (path, name) in [
            ("", Some("deck")),
            ("/", Some("deck")),
            ("servers", Some("servers")),
            ("/servers/", Some("servers")),
            ("servers/kruise/default/a-0", Some("server")),
            ("sets", Some("sets")),
            ("sets/kruise/default/a", Some("set")),
            ("batches", Some("batches")),
            ("batches/b1", Some("batches")),
            ("sandbox", Some("trouble")),
            ("servers/kruise/default", None),
            ("sets/kruise/default/a/yaml", None),
            ("batches/b1/results", None),
            ("healthz", None),
        ] {
            assert_eq!(chunk_name(path), name, "{path}");
        }
    }
}
