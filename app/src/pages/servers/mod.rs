//! The page Servers: a virtual table over windows that the server keeps up to date.

mod board;
mod cells;
mod chooser;
mod columns;
mod facets;
mod grouping;
mod lines;
mod picking;
mod place;
mod table;
mod window;

use crate::lean::{memo, part};
use crate::{
    browser,
    data::initial,
    i18n::{group, use_words},
    live::{seed_matched, use_live, use_view},
    parts::{Empty, ErrorPanel, Loading, NoMatch},
    selection::use_selection,
    urls::use_scope,
};
use board::Board;
use chooser::Chooser;
use columns::Layout;
use facets::Facets;
use grouping::Grouping;
use leptos::{html, prelude::*};
use picking::Picking;
use place::Place;
use table::Table;
use window::{LIMIT, ROW};
use wire::{ApiError, LiveMessage};

/// A set to begin with, as a command.
const FIRST_SET: &str = "kubectl apply -f - <<'EOF'
apiVersion: game.kruise.io/v1alpha1
kind: GameServerSet
metadata:
  name: minecraft
  namespace: default
spec:
  replicas: 3
  gameServerTemplate:
    spec:
      containers:
        - name: minecraft
          image: minecraft:1.21
EOF";

/// Keeps the columns in this browser.
fn keep(layout: RwSignal<Layout>) {
    browser::store("columns", &layout.with_untracked(Layout::text));
}

/// The page.
#[component]
pub fn ServersPage() -> impl IntoView {
    let (words, live, selection) = (use_words(), use_live(), use_selection());
    let place = Place::of(use_scope());
    let first = initial(|reader| reader.servers(&untrack(|| place.query())));
    let (window, error) = match first {
        Some(Ok(window)) => (Some(window), None),
        Some(Err(error)) => (None, Some(error)),
        None => (None, None),
    };
    if let Some(window) = &window {
        seed_matched(window.matched, window.total);
    }
    let refused = RwSignal::new(error);
    let board = Board::new(window);
    let picking = Picking::new(selection, place);
    let layout = RwSignal::new(Layout::default());
    let scroller = NodeRef::<html::Div>::new();
    let alive = RwSignal::new(false);

    use_view(place.view(), move |message| match message {
        LiveMessage::Servers(window) => {
            refused.set(None);
            board.whole(window);
        }
        LiveMessage::ServersDelta(delta) => board.change(delta),
        LiveMessage::Refused(error) => refused.set(Some(error)),
        _ => {}
    });
    picking::keyboard(board, place, picking, scroller);

    // Another filter or order begins at its top.
    Effect::new(move |before: Option<(String, String, wire::SortKey, bool, String)>| {
        let now = (
            place.scope.q.get(),
            place.scope.ns.get(),
            place.sort.get(),
            place.desc.get(),
            place.group.get(),
        );
        if let Some(before) = before.filter(|before| *before != now) {
            if before.4 != now.4 {
                place.folded.set(Vec::new());
            }
            board.will_jump();
            place.offset.set(0);
            if let Some(element) = scroller.get_untracked() {
                element.set_scroll_top(0);
            }
        }
        now
    });
    // Columns of this browser, and room for the rows that are not here: only once the page is taken over, so that it
    // begins as the server made it.
    Effect::new(move |_| {
        if let Some(text) = browser::stored("columns") {
            layout.set(Layout::read(&text));
        }
        alive.set(true);
        let offset = place.offset.get_untracked();
        request_animation_frame(move || {
            if let Some(element) = scroller.get_untracked()
                && offset > 0
            {
                element.set_scroll_top((f64::from(offset) * ROW) as i32);
            }
        });
    });

    let nothing = memo(move || {
        board.shown.with(|shown| shown.as_ref().map(|shown| (shown.matched == 0, shown.total == 0)))
    });
    // A memo, as the counters change all the time and the table must not be made anew with each of them.
    let trouble = memo(move || live.totals.with(|totals| totals.trouble.clone()));
    let body = move || match (refused.get(), nothing.get()) {
        (Some(error), _) => what_is_wrong(error),
        (None, None) => view! { <Loading /> }.into_any(),
        (None, Some((true, true))) => match trouble.get() {
            Some(error) => what_is_wrong(error),
            None => view! {
                <Empty title=words.t("servers.none") hint=words.t("servers.noneHint") command=FIRST_SET />
            }
            .into_any(),
        },
        (None, Some((true, false))) => view! { <NoMatch path="servers" /> }.into_any(),
        (None, Some((false, _))) => {
            view! { <Table board place picking layout scroller alive /> <Pager board place /> }.into_any()
        }
    };
    let subtitle = move || {
        board.shown.with(|shown| {
            let shown = shown.as_ref()?;
            let all = (shown.matched == shown.total).then(|| words.n("servers.all", u64::from(shown.total)));
            let some = [("matched", group(shown.matched)), ("total", group(shown.total))];
            Some(all.unwrap_or_else(|| words.with("filter.count", &some)))
        })
    };
    view! {
        <section class="fill page-servers">
            <div class="headline">
                <h1>{words.t("servers.title")}</h1>
                <span class="soft">{subtitle}</span>
                {part(move || (board.waiting.get() > 0).then(|| view! {
                    <span class="waiting" role="status">{words.n("servers.waiting", board.waiting.get() as u64)}</span>
                }))}
                <span class="grow"></span>
                <Grouping place />
                <Chooser layout />
            </div>
            <Facets board scope=place.scope />
            {body}
        </section>
    }
}

fn what_is_wrong(error: ApiError) -> AnyView {
    view! { <ErrorPanel error=Signal::stored(error) /> }.into_any()
}

/// Links to the windows before and after, for pages without a script.
#[component]
fn Pager(board: Board, place: Place) -> impl IntoView {
    let words = use_words();
    let links = move || {
        board.shown.with(|shown| {
            let shown = shown.as_ref()?;
            let end = shown.end();
            let range = words.with(
                "servers.range",
                &[("from", group(shown.offset + 1)), ("to", group(end)), ("total", group(shown.all))],
            );
            let before = (shown.offset > 0).then(|| {
                let href = place.page_link(shown.offset.saturating_sub(LIMIT));
                view! { <a class="inline" rel="prev" href=href>{words.t("servers.before")}</a> }
            });
            let after = (end < shown.all).then(|| {
                view! { <a class="inline" rel="next" href=place.page_link(end)>{words.t("servers.after")}</a> }
            });
            Some(view! { <span class="soft">{range}</span>{before}{after} })
        })
    };
    view! { <nav class="pager no-script" aria-label=words.t("servers.pages")>{links}</nav> }
}
