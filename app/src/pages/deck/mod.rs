//! The page Deck: every server as one cell.
//!
//! Pure: `layout` (where cells stand), `look` (what they are painted like), `colour`, `history` (lines of the
//! tiles), `twin` and `summary` (the same in words and counts). In the browser: `stage` and `sprite` (canvases),
//! `wires` (what feeds them). Components: `tiles`, `tools` (colour by, zoom, legend), `cells` with `heading` and `overlay`,
//! `table`, `attention`.

mod attention;
mod cells;
mod colour;
mod heading;
mod history;
mod layout;
pub(crate) mod look;
mod overlay;
mod sprite;
mod stage;
mod state;
mod summary;
mod table;
mod tiles;
mod tools;
mod twin;
mod wires;

pub use tiles::History;
pub(crate) use tools::Swatch;

use crate::lean::{effect, memo, part};
use crate::{
    i18n::use_words,
    live::use_live,
    parts::{Empty, ErrorPanel, Loading, NoMatch},
};
use leptos::prelude::*;

/// A set to begin with, as a command to copy.
pub(crate) const FIRST_SET: &str = "kubectl apply -f - <<'EOF'
apiVersion: game.kruise.io/v1alpha1
kind: GameServerSet
metadata:
  name: minecraft
  namespace: default
spec:
  replicas: 5
  updateStrategy:
    rollingUpdate:
      podUpdatePolicy: InPlaceIfPossible
  gameServerTemplate:
    spec:
      containers:
      - name: game
        image: minecraft:1.21.4
EOF";

/// What the middle of the page shows.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Shown {
    Loading,
    Error,
    Nothing,
    NoMatch,
    Deck,
}

/// The page.
#[component]
pub fn DeckPage() -> impl IntoView {
    let (words, live) = (use_words(), use_live());
    let deck = state::Deck::new();
    // Effects run only in the browser: there the cells take the place of the table.
    let alive = RwSignal::new(false);
    effect(move || alive.set(true));
    let error = memo(move || live.refused.get().or_else(|| deck.error.get()));
    let trouble = memo(move || live.totals.with(|totals| totals.trouble.clone()));
    let shown = memo(move || {
        deck.summary.with(|summary| match summary {
            None if error.with(Option::is_some) => Shown::Error,
            None => Shown::Loading,
            Some(summary) if summary.matched > 0 => Shown::Deck,
            Some(summary) if summary.total > 0 => Shown::NoMatch,
            // Sets that want no servers are something, too.
            Some(summary) if summary.twin.lines.is_empty() => Shown::Nothing,
            Some(_) => Shown::Deck,
        })
    });
    let cells = move || alive.get() && !deck.as_table.get();
    let body = move || match shown.get() {
        Shown::Loading => view! { <Loading /> }.into_any(),
        Shown::Error => error.get().map(|error| view! { <ErrorPanel error /> }).into_any(),
        // Nothing is there because something stands in the way: that comes first.
        Shown::Nothing if trouble.with(Option::is_some) => {
            trouble.get().map(|error| view! { <ErrorPanel error /> }).into_any()
        }
        Shown::Nothing => view! {
            <Empty title=words.t("deck.empty.title") hint=words.t("deck.empty.hint") command=FIRST_SET />
        }
        .into_any(),
        Shown::NoMatch => view! { <NoMatch path="./" /> }.into_any(),
        Shown::Deck => view! {
            <Show when=cells><cells::Cells deck /></Show>
            <table::Table deck aside=Signal::derive(cells) />
        }
        .into_any(),
    };
    let tools = move || matches!(shown.get(), Shown::Deck | Shown::NoMatch);
    view! {
        <section class="deckpage">
            <h1 class="sr">{words.t("deck.title")}</h1>
            <tiles::Tiles />
            <div class="deck-cols">
                <div class="deck-main">
                    <Show when=tools>
                        <tools::Tools deck />
                        <tools::Legend deck />
                    </Show>
                    // A filter that is refused while it is typed leaves the last deck where it is.
                    {part(move || error.get().filter(|_| shown.get() != Shown::Error).map(|error| view! {
                        <p class="warn bad" role="status">{words.reason(&error.reason)}</p>
                    }))}
                    {body}
                </div>
                <attention::NeedsAHand />
            </div>
        </section>
    }
}
