//! The page Trouble, only with a sandbox: orders trouble on purpose, shows what goes on, ends it.

mod orders;
mod pods;

use crate::lean::{memo, part};
use crate::{
    api,
    app::Boot,
    i18n::use_words,
    live::use_view,
    pages::NotFound,
    parts::{ErrorPanel, Loading},
};
use leptos::{prelude::*, task::spawn_local};
use orders::{ROWS, Row, goes_on, named};
use pods::Pods;
use serde::Serialize;
use std::time::Duration;
use wire::{
    ApiError, View,
    sandbox::{Trouble, TroubleOrder, WishOrder},
};

/// What goes on is asked for this often: seconds run down, nodes follow late.
const AGAIN: Duration = Duration::from_secs(2);
const URL: &str = "sandbox/trouble";

/// What goes on, and the last order that was refused.
#[derive(Clone, Copy)]
struct Desk {
    trouble: RwSignal<Option<Trouble>>,
    /// Nothing is known of the sandbox.
    failed: RwSignal<Option<ApiError>>,
    refused: RwSignal<Option<ApiError>>,
    /// An order is under way.
    busy: RwSignal<bool>,
}

impl Desk {
    fn new() -> Self {
        Self {
            trouble: RwSignal::new(None),
            failed: RwSignal::new(None),
            refused: RwSignal::new(None),
            busy: RwSignal::new(false),
        }
    }

    fn ask(self) {
        spawn_local(async move {
            let answer = api::get::<Trouble>(URL).await;
            // The reader may have left the page.
            if self.trouble.is_disposed() {
                return;
            }
            match answer {
                Ok(trouble) => {
                    self.failed.set(None);
                    self.trouble.set(Some(trouble));
                }
                Err(error) => self.failed.set(Some(error)),
            }
        });
    }

    fn ask_again(self) {
        set_timeout(
            move || {
                if !self.trouble.is_disposed() {
                    self.ask();
                    self.ask_again();
                }
            },
            AGAIN,
        );
    }

    /// Takes the answer of an order.
    fn take(self, answer: Result<Trouble, ApiError>) {
        if self.trouble.is_disposed() {
            return;
        }
        self.busy.set(false);
        match answer {
            Ok(trouble) => {
                self.refused.set(None);
                self.trouble.set(Some(trouble));
            }
            Err(error) => self.refused.set(Some(error)),
        }
    }

    fn send(self, url: String, order: impl Serialize + 'static) {
        self.busy.set(true);
        spawn_local(async move { self.take(api::post(&url, &order).await) });
    }

    fn order(self, order: TroubleOrder) {
        self.send(URL.to_owned(), order);
    }

    /// Trouble of a pod or node: `pods/default/arena-0`.
    fn wish(self, what: &str, key: &str, value: Option<&str>) {
        let order = WishOrder::from([(key.to_owned(), value.map(str::to_owned))]);
        self.send(format!("sandbox/{what}"), order);
    }

    fn end(self) {
        self.busy.set(true);
        spawn_local(async move { self.take(api::delete(URL).await) });
    }
}

/// The page.
#[component]
pub fn TroublePage() -> impl IntoView {
    if !use_context::<Boot>().is_some_and(|boot| boot.sandbox) {
        return view! { <NotFound /> }.into_any();
    }
    let words = use_words();
    use_view(Signal::stored(View::Totals), |_| {});
    let desk = Desk::new();
    Effect::new(move |before: Option<()>| {
        if before.is_none() {
            desk.ask();
            desk.ask_again();
        }
    });
    let known = memo(move || desk.trouble.with(Option::is_some));
    let any = memo(move || desk.trouble.with(|trouble| trouble.as_ref().is_some_and(goes_on)));
    let body = move || {
        if known.get() {
            return view! { <Whole desk /> }.into_any();
        }
        match desk.failed.get() {
            Some(error) => view! { <ErrorPanel error=Signal::stored(error) /> }.into_any(),
            None => view! { <Loading /> }.into_any(),
        }
    };
    view! {
        <section class="troublepage">
            <div class="headline">
                <h1>{words.t("trouble.title")}</h1>
                <span class="soft">{words.t("trouble.what")}</span>
                <span class="grow"></span>
                <button type="button" disabled=move || !any.get() || desk.busy.get() on:click=move |_| desk.end()>
                    {words.t("trouble.endAll")}
                </button>
            </div>
            <p class="no-script">{words.t("trouble.needsScript")}</p>
            <div aria-live="polite">
                {part(move || desk.refused.get().map(|error| view! { <p class="warn" role="alert">{words.reason(&error.reason)}</p> }))}
                {part(move || (known.get() && desk.failed.with(Option::is_some)).then(|| view! { <p class="warn">{words.t("trouble.old")}</p> }))}
            </div>
            {body}
        </section>
    }
    .into_any()
}

#[component]
fn Whole(desk: Desk) -> impl IntoView {
    let words = use_words();
    let rows = ROWS.iter().map(|row| view! { <Line desk row /> }).collect_view();
    view! {
        <section class="card">
            <header><h2>{words.t("trouble.apiTitle")}</h2></header>
            <ul class="orders">
                {rows}
                <li>
                    <span class="name">{words.t("trouble.api.watches")}</span>
                    <span class="soft about">{words.t("trouble.apiHint.watches")}</span>
                    <span class="now"></span>
                    <span class="seg">
                        <button type="button" disabled=move || desk.busy.get()
                            on:click=move |_| desk.order(TroubleOrder { drop_watches: true, ..TroubleOrder::default() })>
                            {words.t("trouble.drop")}
                        </button>
                        <button type="button" disabled=move || desk.busy.get()
                            on:click=move |_| desk.order(TroubleOrder { expire_watches: true, ..TroubleOrder::default() })>
                            {words.t("trouble.expire")}
                        </button>
                    </span>
                </li>
            </ul>
        </section>
        <Nodes desk />
        <Pods desk />
    }
}

/// One trouble of the API server: what it is, what it is now, amounts to order.
#[component]
fn Line(desk: Desk, row: &'static Row) -> impl IntoView {
    let words = use_words();
    let now = memo(move || desk.trouble.with(|trouble| trouble.as_ref().map_or(0, row.now)));
    let name = named(words, "api", row.key);
    let choices = row
        .choices
        .iter()
        .map(|amount| {
            let label = row.unit.text(*amount);
            view! {
                <button type="button" aria-label=format!("{name}: {label}") disabled=move || desk.busy.get()
                    on:click=move |_| desk.order((row.order)(*amount))>{label.clone()}</button>
            }
        })
        .collect_view();
    view! {
        <li class:on=move || now.get() != 0>
            <span class="name">{name}</span>
            <span class="soft about">{named(words, "apiHint", row.key)}</span>
            <span class="now">{part(move || (now.get() != 0).then(|| row.unit.text(now.get())))}</span>
            <span class="seg">
                {choices}
                {row.ends.then(|| view! {
                    <button type="button" aria-label=format!("{name}: {}", words.t("trouble.end")) disabled=move || now.get() == 0 || desk.busy.get()
                        on:click=move |_| desk.order((row.order)(0))>{words.t("trouble.end")}</button>
                })}
            </span>
        </li>
    }
}

/// The simulated machines.
#[component]
fn Nodes(desk: Desk) -> impl IntoView {
    let words = use_words();
    let nodes = memo(move || {
        desk.trouble.with(|trouble| trouble.as_ref().map(|trouble| trouble.nodes.clone()).unwrap_or_default())
    });
    let list = move || {
        nodes
            .get()
            .into_iter()
            .map(|node| {
                let state = match (node.down, node.ready) {
                    (true, true) => words.t("trouble.nodeGoing"),
                    (true, false) => words.t("trouble.nodeDown"),
                    (false, true) => words.t("trouble.nodeUp"),
                    (false, false) => words.t("trouble.nodeComing"),
                };
                let path = format!("nodes/{}", node.name);
                let (act, value) =
                    if node.down { (words.t("trouble.bringUp"), None) } else { (words.t("trouble.takeDown"), Some("true")) };
                view! {
                    <li class:on=node.down>
                        <span class="name mono">{node.name.clone()}</span>
                        <span class="soft about">{state}</span>
                        <span class="now"></span>
                        <button type="button" aria-label=format!("{}: {act}", node.name) disabled=move || desk.busy.get()
                            on:click=move |_| desk.wish(&path, "down", value)>{act}</button>
                    </li>
                }
            })
            .collect_view()
    };
    view! {
        <section class="card">
            <header><h2>{words.t("trouble.nodes")}</h2></header>
            <ul class="orders">{part(list)}</ul>
        </section>
    }
}
