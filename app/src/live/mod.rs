//! The live stream of a tab: what pages see of it.
//!
//! `machine` decides (pure), `sse` reads the wire format (pure), `client` does the IO in the browser.

// The server renders pages and never reads a stream; the tests of both run natively all the same.
#[cfg_attr(not(feature = "hydrate"), allow(dead_code))]
mod envelope;
#[cfg_attr(not(feature = "hydrate"), allow(dead_code))]
mod machine;
#[cfg_attr(not(feature = "hydrate"), allow(dead_code))]
mod sse;

#[cfg(feature = "hydrate")]
mod client;

use crate::browser::InBrowser;
use crate::lean::effect;
use leptos::{logging::warn, prelude::*};
pub use machine::Status;
use wire::{ApiError, LiveMessage, Totals, View};

type Sink = Box<dyn Fn(LiveMessage)>;

/// The stream of this tab. Copy it into closures freely.
#[derive(Clone, Copy)]
pub struct Live {
    /// How the line is.
    pub status: RwSignal<Status>,
    /// Counters of header and menu.
    pub totals: RwSignal<Totals>,
    /// Server clock, Unix milliseconds; moves on every few seconds.
    pub now: RwSignal<i64>,
    /// Servers that the filter matches, and all; absent on pages without such a count.
    pub matched: RwSignal<Option<(u32, u32)>>,
    /// The filter or view was refused.
    pub refused: RwSignal<Option<ApiError>>,
    /// Counts up when the reader asks for a connection at once.
    pub(crate) again: RwSignal<u32>,
    view: RwSignal<View>,
    sink: InBrowser<Option<(u64, Sink)>>,
    owner_count: StoredValue<u64>,
}

impl Live {
    /// A stream that has not begun, with what the server put into the page.
    #[must_use]
    pub fn new(now: i64, totals: Totals) -> Self {
        Self {
            status: RwSignal::new(Status::Connecting),
            totals: RwSignal::new(totals),
            now: RwSignal::new(now),
            matched: RwSignal::new(None),
            refused: RwSignal::new(None),
            again: RwSignal::new(0),
            view: RwSignal::new(View::Totals),
            sink: InBrowser::new(None),
            owner_count: StoredValue::new(0),
        }
    }

    /// Seconds between a Unix time and now by the server's clock. Reactive.
    #[must_use]
    pub fn seconds_since(self, unix: i64) -> i64 {
        self.now.get() / 1000 - unix
    }

    /// Since when what the page shows may be old, Unix milliseconds: the line is down, or the server itself is
    /// behind the cluster. Reactive.
    #[must_use]
    pub fn stale_since(self) -> Option<i64> {
        let line = self.status.with(|status| match status {
            Status::Stale { since } => Some(*since),
            _ => None,
        });
        let server = self.totals.with(|totals| totals.stale_since.map(|seconds| seconds * 1000));
        match (line, server) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        }
    }

    /// Hands a message to header and page.
    #[cfg_attr(not(feature = "hydrate"), allow(dead_code))]
    fn deliver(self, message: LiveMessage) {
        match &message {
            LiveMessage::Totals(totals) => {
                if self.totals.with_untracked(|old| old != totals) {
                    self.totals.set(totals.clone());
                }
                return;
            }
            LiveMessage::Hello { now, .. } | LiveMessage::Heartbeat { now } => {
                self.now.set(*now);
                return;
            }
            LiveMessage::Bye { .. } => return,
            LiveMessage::Refused(error) => self.refused.set(Some(error.clone())),
            LiveMessage::Servers(window) => self.seen(window.matched, window.total),
            LiveMessage::ServersDelta(delta) => self.seen(delta.matched, delta.total),
            LiveMessage::Deck(deck) => self.seen(deck.matched, deck.total),
            LiveMessage::DeckDelta(delta) => self.seen(delta.matched, delta.total),
            _ => {}
        }
        self.sink.with(|sink| match sink {
            Some((_, sink)) => sink(message),
            None => warn!("a live message arrived for a page that is gone"),
        });
    }

    fn seen(self, matched: u32, total: u32) {
        if self.refused.with_untracked(Option::is_some) {
            self.refused.set(None);
        }
        if self.matched.get_untracked() != Some((matched, total)) {
            self.matched.set(Some((matched, total)));
        }
    }
}

/// The stream of this tab.
#[must_use]
pub fn use_live() -> Live {
    use_context().unwrap_or_else(|| Live::new(0, Totals::default()))
}

/// Makes the tab look at `view` as long as the calling component lives, and hands it every message of that view
/// (not counters and heartbeats): first the whole, then changes. When the view changes the stream is opened again
/// (a burst of changes once, at its end), and what still arrives for the old one is dropped. Also reports refusals.
pub fn use_view(view: Signal<View>, on: impl Fn(LiveMessage) + 'static) {
    let live = use_live();
    let mine = live.owner_count.try_update_value(|count| {
        *count += 1;
        *count
    });
    let mine = mine.unwrap_or_default();
    live.sink.update(|sink| *sink = Some((mine, Box::new(on))));
    // Setting it outside an effect would also run on the server, where nothing listens.
    effect(move || {
        let view = view.get();
        if !matches!(view, View::Servers(_) | View::Deck(_)) && live.matched.with_untracked(Option::is_some) {
            live.matched.set(None);
        }
        if live.view.with_untracked(|old| *old != view) {
            live.refused.set(None);
            live.view.set(view);
        }
    });
    on_cleanup(move || {
        let still_mine = live.sink.with(|sink| sink.as_ref().is_some_and(|(owner, _)| *owner == mine));
        if still_mine == Some(true) {
            live.sink.update(|sink| *sink = None);
            live.refused.set(None);
            live.matched.set(None);
            live.view.set(View::Totals);
        }
    });
}

/// Looks at a second thing beside the page's view, as long as the calling component lives: a batch in the drawer.
pub fn use_side_view(view: View, on: impl Fn(LiveMessage) + 'static) {
    #[cfg(feature = "hydrate")]
    client::start_side(use_live(), view, on);
    #[cfg(not(feature = "hydrate"))]
    drop((view, on));
}

/// Shows the first data that the server rendered with the page in the header, before the stream has begun.
pub fn seed_matched(matched: u32, total: u32) {
    let live = use_live();
    live.matched.set(Some((matched, total)));
}

/// Starts the stream in the browser. Renders nothing.
#[component]
pub fn LiveRoot() -> impl IntoView {
    #[cfg(feature = "hydrate")]
    client::start(use_live());
}
