//! Deck page, tiles: totals with the line of the last hour as this tab saw it.

use super::history::Series;
use crate::lean::{effect, memo};
use crate::{
    i18n::{group, use_words},
    live::use_live,
    time,
    urls::use_scope,
};
use leptos::prelude::*;
use wire::Totals;

/// Size of a line, CSS pixels.
const LINE: (f64, f64) = (64.0, 20.0);

/// One total: its word, the colour of its line, the filter that shows it, and its value.
struct Kind {
    label: &'static str,
    colour: &'static str,
    q: Option<&'static str>,
    value: fn(&Totals) -> Option<i64>,
}

fn of_state(totals: &Totals, words: &[&str]) -> i64 {
    totals
        .state
        .iter()
        .filter(|count| words.contains(&count.value.as_str()))
        .map(|count| i64::from(count.count))
        .sum()
}

const KINDS: [Kind; 7] = [
    Kind {
        label: "deck.tile.servers",
        colour: "--accent",
        q: Some(""),
        value: |t| Some(i64::from(t.servers)),
    },
    Kind {
        label: "Ready",
        colour: "--accent",
        q: Some("state:Ready"),
        value: |t| Some(of_state(t, &["Ready"])),
    },
    Kind {
        label: "Allocated",
        colour: "--accent",
        q: Some("ops:Allocated"),
        value: |t| {
            let allocated = t.ops.iter().find(|count| count.value == "Allocated");
            Some(allocated.map_or(0, |count| i64::from(count.count)))
        },
    },
    Kind { label: "deck.tile.players", colour: "--accent", q: None, value: |t| t.players },
    Kind {
        label: "deck.tile.updating",
        colour: "--updating",
        q: Some("state:Updating,PreUpdate"),
        value: |t| Some(of_state(t, &["Updating", "PreUpdate"])),
    },
    Kind {
        label: "deck.tile.leaving",
        colour: "--leaving",
        q: Some("state:PreDelete,Deleting"),
        value: |t| Some(of_state(t, &["PreDelete", "Deleting"])),
    },
    Kind {
        label: "Crash",
        colour: "--crash",
        q: Some("state:Crash"),
        value: |t| Some(of_state(t, &["Crash"])),
    },
];

/// The totals of this tab over time. It lives as long as the tab, not the page.
#[derive(Clone, Copy)]
pub struct History(RwSignal<Vec<Series>>);

impl History {
    /// Begins to note the totals. Call it once, above the pages, so that a walk through them leaves no hole.
    pub fn start() {
        let live = use_live();
        let series = RwSignal::new(vec![Series::default(); KINDS.len()]);
        // Effects run only in the browser; the server has no history.
        effect(move || {
            let now = live.now.get() as f64 / 1000.0;
            live.totals.with(|totals| {
                series.update(|series| {
                    for (series, kind) in series.iter_mut().zip(&KINDS) {
                        if let Some(value) = (kind.value)(totals) {
                            series.note(now, value as f64);
                        }
                    }
                });
            });
        });
        provide_context(Self(series));
    }
}

/// The row of tiles.
#[component]
pub fn Tiles() -> impl IntoView {
    let (words, live, scope) = (use_words(), use_live(), use_scope());
    let history = use_context::<History>();
    let tile = move |(at, kind): (usize, &'static Kind)| {
        let value = memo(move || live.totals.with(|totals| (kind.value)(totals)));
        let label = words.find(kind.label).unwrap_or(kind.label);
        let path = memo(move || {
            history.and_then(|history| {
                history.0.with(|all| all.get(at).and_then(|one| one.path(LINE.0, LINE.1)))
            })
        });
        let since = move || {
            let span = history.map_or(0.0, |history| {
                history.0.with(|all| all.get(at).map_or(0.0, |one| one.span(live.now.get() as f64 / 1000.0)))
            });
            words.with("deck.tile.history", &[("span", time::age(span as i64))])
        };
        let line = move || {
            path.get().map(|path| {
                view! {
                    <svg class="spark" width=LINE.0.to_string() height=LINE.1.to_string() role="img" aria-label=since>
                        <title>{since}</title>
                        <path d=path stroke=format!("var({})", kind.colour)></path>
                    </svg>
                }
            })
        };
        let figure = move || value.get().map_or_else(|| "–".to_owned(), group);
        let body = move || {
            view! {
                <b>{figure}</b>
                <span>{label}</span>
            }
        };
        let inside = move || match kind.q {
            Some(q) => view! { <a href=move || scope.link_with("servers", q)>{body()}</a> }.into_any(),
            None => body().into_any(),
        };
        // Players are no number of their own when nobody counts them.
        let absent = memo(move || kind.q.is_none() && value.get().is_none());
        view! {
            <Show when=move || !absent.get()>
                <div class="tile">{inside()} {line}</div>
            </Show>
        }
    };
    view! { <section class="tiles" aria-label=words.t("deck.tile.title")>{KINDS.iter().enumerate().map(tile).collect_view()}</section> }
}
