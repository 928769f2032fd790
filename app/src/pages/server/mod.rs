//! The page Server: one server whole, live.

mod containers;
pub mod tables;
pub mod yaml;

use crate::lean::{memo, part};
use crate::{
    app::Boot,
    data::initial,
    drawer::{Part, use_drawer},
    i18n::{group, use_words},
    live::{use_live, use_view},
    pages::sets::filter_of,
    parts::{Age, CopyButton, Empty, ErrorPanel, Loading, LongName, OpsMark, Reasoned, StateMark, Tag},
    urls::{self, use_scope},
};
use containers::Containers;
use leptos::prelude::*;
use leptos_router::hooks::use_params_map;
use tables::{Conditions, Events};
use wire::{ApiError, LiveMessage, ServerDetail, ServerKey, ServerRow, View, filter};
use yaml::{Yaml, YamlButton, YamlPanel};

/// The key in the address, if it is one.
fn key_of_url() -> Memo<Option<ServerKey>> {
    let params = use_params_map();
    memo(move || {
        params.with(|params| {
            let part = |name: &str| params.get(name).unwrap_or_default();
            format!("{}/{}/{}", part("family"), part("ns"), part("name")).parse().ok()
        })
    })
}

/// What the page shows.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Shown {
    Loading,
    Error,
    NoSuch,
    Server,
}

/// The page.
#[component]
pub fn ServerPage() -> impl IntoView {
    let (words, live) = (use_words(), use_live());
    let key = key_of_url();
    let first = key.get_untracked().and_then(|key| initial(|reader| reader.server(&key)));
    let (detail, gone, refused) =
        (RwSignal::new(None::<ServerDetail>), RwSignal::new(false), RwSignal::new(None::<ApiError>));
    match first {
        Some(Ok(found)) => detail.set(Some(found)),
        Some(Err(error)) if error.status == 404 => gone.set(true),
        Some(Err(error)) => refused.set(Some(error)),
        None => {}
    }
    // An address that is no key has nothing to look at; the counters of the header go on.
    let view = Signal::derive(move || key.get().map_or(View::Totals, |key| View::Server { key }));
    use_view(view, move |message| {
        if let LiveMessage::Server(new) = message {
            refused.set(None);
            gone.set(new.is_none());
            if let Some(new) = new {
                detail.set(Some(*new));
            }
        }
    });
    // Another server of the same page: what is shown belongs to the old one.
    Effect::new(move |before: Option<Option<ServerKey>>| {
        let key = key.get();
        if before.is_some_and(|before| before != key) {
            detail.set(None);
            gone.set(false);
            refused.set(None);
        }
        key
    });
    let error = memo(move || live.refused.get().or_else(|| refused.get()));
    let has = memo(move || detail.with(Option::is_some));
    let shown = memo(move || {
        if error.with(Option::is_some) {
            Shown::Error
        } else if has.get() {
            Shown::Server
        } else if gone.get() || key.with(Option::is_none) {
            Shown::NoSuch
        } else {
            Shown::Loading
        }
    });
    let name = move || key.get().map(|key| format!("{}/{}", key.namespace, key.name)).unwrap_or_default();
    move || {
        match shown.get() {
        Shown::Loading => view! { <Loading /> }.into_any(),
        Shown::Error => error.get().map(|error| view! { <ErrorPanel error /> }).into_any(),
        Shown::NoSuch => view! {
            <Empty title=words.with("server.noSuch.title", &[("name", name())]) hint=words.t("server.noSuch.hint") />
            <p class="center"><a class="button" href="servers">{words.t("server.noSuch.all")}</a></p>
        }
        .into_any(),
        Shown::Server => view! { <Whole detail gone /> }.into_any(),
    }
    }
}

/// The server, once it is known.
#[component]
fn Whole(detail: RwSignal<Option<ServerDetail>>, gone: RwSignal<bool>) -> impl IntoView {
    let (words, scope) = (use_words(), use_scope());
    let row = memo(move || detail.with(|detail| detail.as_ref().map(|detail| detail.row.clone())));
    let Some(first) = row.get_untracked() else { return ().into_any() };
    let key = StoredValue::new(first.key.clone());
    let sandbox = use_context::<Boot>().is_some_and(|boot| boot.sandbox);
    let trouble = format!("sandbox?pod={}/{}", first.key.namespace, first.key.name);
    let yaml = Yaml::new(Signal::derive(move || format!("api/v1/gameservers/{}/yaml", key.get_value())));
    let text = move |pick: fn(&ServerRow) -> String| {
        Signal::derive(move || row.with(|row| row.as_ref().map(pick).unwrap_or_default()))
    };
    let of = move |pick: fn(&ServerDetail) -> usize| detail.with(|detail| detail.as_ref().map_or(0, pick));
    let list =
        move || detail.with(|detail| detail.as_ref().map(|detail| detail.why.clone()).unwrap_or_default());
    let why = memo(list);
    let addresses =
        memo(move || detail.with(|detail| detail.as_ref().map(|d| d.addresses.clone()).unwrap_or_default()));
    let annotations = memo(move || {
        detail.with(|detail| detail.as_ref().map(|d| d.annotations.clone()).unwrap_or_default())
    });
    let containers =
        memo(move || detail.with(|detail| detail.as_ref().map(|d| d.containers.clone()).unwrap_or_default()));
    let conditions =
        memo(move || detail.with(|detail| detail.as_ref().map(|d| d.conditions.clone()).unwrap_or_default()));
    let events =
        memo(move || detail.with(|detail| detail.as_ref().map(|d| d.events.clone()).unwrap_or_default()));
    let set = memo(move || row.with(|row| row.as_ref().and_then(ServerRow::set_key)));
    let to_set = move || {
        set.get().map(|set| {
            let path = urls::set(&set);
            view! { <a href=move || scope.link(&path)>{set.name}</a> " · " }
        })
    };
    view! {
        <section class="serverpage" class:gone=move || gone.get()>
            <div class="headline">
                <h1><LongName name=first.key.name.clone() /></h1>
                <span class="soft">{to_set} {first.key.namespace.clone()}</span>
                <span class="marks">
                    <StateMark state=text(|row| row.state.clone()) />
                    <OpsMark ops=text(|row| row.ops.clone()) />
                </span>
                <span class="grow"></span>
                <div class="acts">
                    <CopyButton text=first.key.name.clone() />
                    {sandbox.then(|| view! { <a class="button needs-script" href=trouble>{words.t("trouble.title")}</a> })}
                    <YamlButton yaml />
                    <ChangeButton key=first.key off=Signal::derive(move || gone.get()) />
                </div>
            </div>
            <Show when=move || gone.get()>
                <p class="warn bad" role="status">{words.t("server.gone")}</p>
            </Show>
            <Show when=move || why.with(|why| !why.is_empty())>
                <section class="card why">
                    <header><h2>{words.t("server.why")}</h2></header>
                    <ul>{part(move || why.get().into_iter().map(|reason| view! { <li><Reasoned reason /></li> }).collect_view())}</ul>
                </section>
            </Show>
            <YamlPanel yaml />
            <div class="cols">
                <div>
                    <Facts row set />
                    <Show when=move || addresses.with(|list| !list.is_empty())>
                        <section class="card">
                            <header><h2>{words.t("server.addresses")}</h2></header>
                            <dl class="facts">
                                {part(move || addresses.get().into_iter().map(|(label, text)| view! {
                                    <div><dt>{label}</dt><dd class="mono">{text.clone()} <CopyButton text /></dd></div>
                                }).collect_view())}
                            </dl>
                        </section>
                    </Show>
                    <Labels row />
                    <Show when=move || annotations.with(|list| !list.is_empty())>
                        <details class="card">
                            <summary><h2>{words.t("server.annotations")}</h2> <span class="faint">{move || group(of(|d| d.annotations.len()) as u64)}</span></summary>
                            <dl class="facts long">
                                {part(move || annotations.get().into_iter().map(|(name, value)| view! {
                                    <div><dt class="mono">{name}</dt><dd class="mono">{value}</dd></div>
                                }).collect_view())}
                            </dl>
                        </details>
                    </Show>
                </div>
                <div>
                    <Containers containers />
                    <Conditions conditions />
                </div>
            </div>
            <Events events />
        </section>
    }
    .into_any()
}

/// Opens the drawer for this one server.
#[component]
fn ChangeButton(key: ServerKey, #[prop(into)] off: Signal<bool>) -> impl IntoView {
    let (words, drawer) = (use_words(), use_drawer());
    let change = move |_| drawer.open_for(Part::OpsState, vec![key.clone()]);
    view! {
        <button type="button" class="go needs-script" disabled=off title=move || off.get().then(|| words.t("server.gone")) on:click=change>
            {words.t("server.change")}
        </button>
    }
}

/// The facts of the row.
#[component]
fn Facts(row: Memo<Option<ServerRow>>, set: Memo<Option<wire::SetKey>>) -> impl IntoView {
    let (words, scope) = (use_words(), use_scope());
    let text = move |pick: fn(&ServerRow) -> String| {
        memo(move || row.with(|row| row.as_ref().map(pick).unwrap_or_default()))
    };
    // A fact that is empty is a dash: the list keeps its shape.
    let plain = move |label: &'static str, pick: fn(&ServerRow) -> String| {
        let text = text(pick);
        view! {
            <div>
                <dt>{label}</dt>
                <dd>{move || if text.with(String::is_empty) { "–".to_owned() } else { text.get() }}</dd>
            </div>
        }
    };
    // A fact that others may share links to them.
    let shared = move |label: &'static str, field: &'static str, pick: fn(&ServerRow) -> String| {
        let text = text(pick);
        let link = move || {
            let value = text.get();
            if value.is_empty() {
                return view! { <span>"–"</span> }.into_any();
            }
            let q = filter::toggle_in("", field, &value).unwrap_or_default();
            let href = scope.link_with("servers", &q);
            view! { <a href=href title=words.t("server.fact.others")>{value}</a> }.into_any()
        };
        view! { <div><dt>{label}</dt><dd>{link}</dd></div> }
    };
    let created = Signal::derive(move || row.with(|row| row.as_ref().map_or(0, |row| row.created)));
    let set_link = move || {
        set.get().map_or_else(
            || view! { <span>{words.t("server.fact.noSet")}</span> }.into_any(),
            |set| {
                let (path, q) = (urls::set(&set), filter_of(&set, None));
                view! {
                    <a href=move || scope.link(&path)>{set.name}</a>
                    " "
                    <a class="faint" href=move || scope.link_with("servers", &q)>{words.t("server.fact.itsServers")}</a>
                }
                .into_any()
            },
        )
    };
    view! {
        <section class="card">
            <header><h2>{words.t("server.facts")}</h2></header>
            <dl class="facts">
                <div><dt>{words.t("server.fact.set")}</dt><dd>{set_link}</dd></div>
                {plain(words.t("server.fact.id"), |row| row.id.map(|id| id.to_string()).unwrap_or_default())}
                {plain(words.t("server.fact.players"), |row| row.players.map(group).unwrap_or_default())}
                {shared(words.t("server.fact.node"), "node", |row| row.node.clone().unwrap_or_default())}
                {plain("IP", |row| row.ip.clone().unwrap_or_default())}
                {shared(words.t("server.fact.revision"), "rev", |row| row.revision.clone())}
                {plain("deletionPriority", |row| row.deletion_priority.clone())}
                {plain("updatePriority", |row| row.update_priority.clone())}
                {plain(words.t("server.fact.network"), |row| {
                    if row.network_disabled { format!("{} (networkDisabled)", row.network).trim().to_owned() } else { row.network.clone() }
                })}
                {plain(words.t("server.fact.restarts"), |row| group(row.restarts))}
                <div><dt>{words.t("server.fact.age")}</dt><dd><Age since=created /></dd></div>
                <div class="whole">
                    <dt>"uid"</dt>
                    <dd class="mono uid">{text(|row| row.uid.clone())} <CopyButton text=text(|row| row.uid.clone()) /></dd>
                </div>
            </dl>
        </section>
    }
}

/// Labels, each a link to the servers that share it.
#[component]
fn Labels(row: Memo<Option<ServerRow>>) -> impl IntoView {
    let (words, scope) = (use_words(), use_scope());
    let labels = memo(move || row.with(|row| row.as_ref().map(|row| row.labels.clone()).unwrap_or_default()));
    let chips = move || {
        labels
            .get()
            .into_iter()
            .map(|(name, value)| {
                let q = filter::toggle_in("", &format!("label.{name}"), &value).unwrap_or_default();
                view! { <a href=move || scope.link_with("servers", &q)><Tag text=format!("{name}={value}") /></a> }
            })
            .collect_view()
    };
    view! {
        <Show when=move || labels.with(|labels| !labels.is_empty())>
            <section class="card">
                <header><h2>{words.t("server.labels")}</h2></header>
                <div class="tags">{chips}</div>
            </section>
        </Show>
    }
}
