//! The page Set: ids, scale with preview, facts, revisions, conditions, events.

mod ids;
mod scale;
mod strip;

use crate::lean::{memo, part};
use crate::{
    data::initial,
    drawer::{Part, use_drawer},
    i18n::{group, use_words},
    live::{use_live, use_view},
    pages::{
        deck::look,
        server::{
            tables::{Conditions, Events},
            yaml::{Yaml, YamlButton, YamlPanel},
        },
        sets::{filter_of, mix::MixBar, short_image},
    },
    parts::{Age, Empty, ErrorPanel, Loading, LongName, StateDot, Tag},
    urls::{self, use_scope},
};
use ids::Ids;
use leptos::prelude::*;
use leptos_router::hooks::use_params_map;
use scale::{Marked, Scale};
use wire::{ApiError, LiveMessage, SetDetail, SetKey, View, row::Count, set::IdKind};

/// Cells of the id strip that travel in the page; the stream brings the rest.
const FIRST_CELLS: usize = 500;

/// The key in the address, if it is one.
fn key_of_url() -> Memo<Option<SetKey>> {
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
    Set,
}

/// The page.
#[component]
pub fn SetPage() -> impl IntoView {
    let (words, live) = (use_words(), use_live());
    let key = key_of_url();
    let first = key.get_untracked().and_then(|key| {
        initial(|reader| {
            reader.set(&key).map(|mut set| {
                let more = set.ids.len().saturating_sub(FIRST_CELLS);
                set.ids.truncate(FIRST_CELLS);
                (set, more)
            })
        })
    });
    let (detail, gone) = (RwSignal::new(None::<SetDetail>), RwSignal::new(false));
    let (more, refused) = (RwSignal::new(0_usize), RwSignal::new(None::<ApiError>));
    match first {
        Some(Ok((found, cut))) => {
            detail.set(Some(found));
            more.set(cut);
        }
        Some(Err(error)) if error.status == 404 => gone.set(true),
        Some(Err(error)) => refused.set(Some(error)),
        None => {}
    }
    // An address that is no key has nothing to look at; the counters of the header go on.
    let view = Signal::derive(move || key.get().map_or(View::Totals, |key| View::Set { key }));
    use_view(view, move |message| {
        if let LiveMessage::Set(new) = message {
            refused.set(None);
            gone.set(new.is_none());
            if let Some(new) = new {
                more.set(0);
                detail.set(Some(*new));
            }
        }
    });
    // Another set of the same page: what is shown belongs to the old one.
    Effect::new(move |before: Option<Option<SetKey>>| {
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
            Shown::Set
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
            <Empty title=words.with("sets.noSuch.title", &[("name", name())]) hint=words.t("sets.noSuch.hint") />
            <p class="center"><a class="button" href="sets">{words.t("sets.noSuch.all")}</a></p>
        }
        .into_any(),
        Shown::Set => view! { <Whole detail gone more /> }.into_any(),
    }
    }
}

/// The set, once it is known.
#[component]
fn Whole(detail: RwSignal<Option<SetDetail>>, gone: RwSignal<bool>, more: RwSignal<usize>) -> impl IntoView {
    let (words, scope) = (use_words(), use_scope());
    let row = memo(move || detail.with(|detail| detail.as_ref().map(|detail| detail.row.clone())));
    let Some(first) = row.get_untracked() else { return ().into_any() };
    let key = first.key;
    let at = StoredValue::new(key.clone());
    let yaml = Yaml::new(Signal::derive(move || format!("api/v1/gameserversets/{}/yaml", at.get_value())));
    let cells =
        memo(move || detail.with(|detail| detail.as_ref().map(|d| d.ids.clone()).unwrap_or_default()));
    let conditions =
        memo(move || detail.with(|detail| detail.as_ref().map(|d| d.conditions.clone()).unwrap_or_default()));
    let events =
        memo(move || detail.with(|detail| detail.as_ref().map(|d| d.events.clone()).unwrap_or_default()));
    let problem = move || row.with(|row| row.as_ref().and_then(|row| row.problem.clone()));
    let states = memo(move || row.with(|row| row.as_ref().map(|row| row.states.clone()).unwrap_or_default()));
    let marked = RwSignal::new(Marked::default());
    let for_states = key.clone();
    let state_links = move || {
        states
            .get()
            .into_iter()
            .map(|count| {
                let q = filter_of(&for_states, Some(("state", &count.value)));
                let name = if count.value.is_empty() { "Unknown".to_owned() } else { count.value.clone() };
                view! {
                    <a class="chip" href=move || scope.link_with("servers", &q)>
                        <StateDot state=count.value.clone() />
                        <span class="name">{name}</span>
                        <span class="count">{group(count.count)}</span>
                    </a>
                }
            })
            .collect_view()
    };
    let all = filter_of(&key, None);
    let drawer = use_drawer();
    let servers = move || {
        cells.with_untracked(|cells| {
            cells
                .iter()
                .filter_map(|cell| match &cell.kind {
                    IdKind::Live { key, .. } => Some(key.clone()),
                    IdKind::Reserved | IdKind::Implicit | IdKind::Gap => None,
                })
                .collect::<Vec<_>>()
        })
    };
    let change = move |_| drawer.open_for(Part::OpsState, servers());
    let nobody = move || gone.get() || row.with(|row| row.as_ref().is_none_or(|row| row.live == 0));
    let wanted = Signal::derive(move || row.with(|row| row.as_ref().map_or(0, |row| row.wanted)));
    let live = Signal::derive(move || row.with(|row| row.as_ref().map_or(0, |row| row.live)));
    view! {
        <section class="setpage" class:gone=move || gone.get()>
            <div class="headline">
                <h1><LongName name=key.name.clone() /></h1>
                <span class="soft">"GameServerSet · " {key.namespace.clone()}</span>
                <span class="grow"></span>
                <div class="acts">
                    <a class="button" href=move || scope.link_with("servers", &all)>{words.t("sets.servers")}</a>
                    <YamlButton yaml />
                    <button type="button" class="needs-script" disabled=nobody on:click=change>{words.t("sets.change")}</button>
                </div>
            </div>
            <p class="chips states">{state_links}</p>
            <Show when=move || gone.get()>
                <p class="warn bad" role="status">{words.t("sets.gone")}</p>
            </Show>
            {part(move || problem().map(|reason| view! { <p class="warn" role="status">{words.reason(&reason)}</p> }))}
            <YamlPanel yaml />
            <div class="cols">
                <div>
                    <section class="card">
                        <Ids cells marked more head=move || view! { <Scale key=key.clone() wanted live marked off=Signal::derive(move || gone.get()) /> } />
                    </section>
                    <Facts detail />
                </div>
                <div>
                    <Revisions detail />
                    <Template detail />
                    <Conditions conditions />
                </div>
            </div>
            <Events events />
        </section>
    }
    .into_any()
}

/// How many servers run which revision and which image.
#[component]
fn Revisions(detail: RwSignal<Option<SetDetail>>) -> impl IntoView {
    let (words, scope) = (use_words(), use_scope());
    let figures = memo(move || {
        detail.with(|detail| {
            let detail = detail.as_ref()?;
            Some((
                detail.row.key.clone(),
                detail.row.live,
                detail.row.updated,
                detail.revisions.clone(),
                detail.row.images.clone(),
            ))
        })
    });
    let body = move || {
        let Some((key, live, updated, revisions, images)) = figures.get() else { return ().into_any() };
        let tones = look::tones(&look::By::Image, &revisions);
        let parts = revisions
            .iter()
            .zip(&tones)
            .map(|(count, tone)| (tone.fill(), count.count, count.value.clone()))
            .collect::<Vec<_>>();
        let line = |count: Count, field: &'static str, text: String, swatch: AnyView| {
            let q = filter_of(&key, Some((field, &count.value)));
            let text = if text.is_empty() { "–".to_owned() } else { text };
            view! {
                <li>
                    {swatch}
                    <a class="mono name" href=move || scope.link_with("servers", &q) title=count.value.clone()>{text}</a>
                    <span class="num">{group(count.count)}</span>
                </li>
            }
        };
        let revision_lines = revisions
            .into_iter()
            .zip(tones)
            .map(|(count, tone)| {
                let text = count.value.clone();
                line(count, "rev", text, view! { <crate::pages::deck::Swatch tone /> }.into_any())
            })
            .collect_view();
        let image_lines = images
            .into_iter()
            .map(|count| {
                let text = short_image(&count.value).to_owned();
                line(count, "image", text, ().into_any())
            })
            .collect_view();
        view! {
            <header>
                <h2>{words.t("sets.revisions.title")}</h2>
                <span class="grow"></span>
                <span class="soft">{words.with("sets.revisions.updated", &[("updated", group(updated)), ("live", group(live))])}</span>
            </header>
            <MixBar parts />
            <ul class="counts">{revision_lines}</ul>
            <h3 class="cap">{words.t("sets.revisions.images")}</h3>
            <ul class="counts">{image_lines}</ul>
        }
        .into_any()
    };
    view! { <section class="card revisions">{body}</section> }
}

/// Containers of the template.
#[component]
fn Template(detail: RwSignal<Option<SetDetail>>) -> impl IntoView {
    let words = use_words();
    let template =
        memo(move || detail.with(|detail| detail.as_ref().map(|d| d.template.clone()).unwrap_or_default()));
    view! {
        <section class="card">
            <header><h2>{words.t("sets.template")}</h2></header>
            <dl class="facts lines">
                {part(move || template.get().into_iter().map(|(name, image)| view! {
                    <div><dt class="mono">{name}</dt><dd><Tag text=image /></dd></div>
                }).collect_view())}
            </dl>
        </section>
    }
}

/// What the spec says.
#[component]
fn Facts(detail: RwSignal<Option<SetDetail>>) -> impl IntoView {
    let words = use_words();
    let fact = move |label: &'static str, pick: fn(&SetDetail) -> String| {
        let text = memo(move || detail.with(|detail| detail.as_ref().map(pick).unwrap_or_default()));
        view! {
            <div>
                <dt>{label}</dt>
                <dd>{move || if text.with(String::is_empty) { "–".to_owned() } else { text.get() }}</dd>
            </div>
        }
    };
    let created = Signal::derive(move || detail.with(|detail| detail.as_ref().map_or(0, |d| d.row.created)));
    let uid = move || detail.with(|detail| detail.as_ref().map(|d| d.row.uid.clone()).unwrap_or_default());
    view! {
        <section class="card">
            <header><h2>{words.t("sets.facts")}</h2></header>
            <dl class="facts">
                {fact("replicas", |d| group(d.row.wanted))}
                {fact(words.t("sets.fact.live"), |d| group(d.row.live))}
                {fact(words.t("sets.fact.ready"), |d| group(d.row.ready))}
                {fact("scaleDownStrategyType", |d| d.scale_down.clone())}
                {fact("reserveGameServerIds", |d| d.reserve_ids.join(", "))}
                {fact("updateStrategy", |d| d.update_type.clone())}
                {fact("podUpdatePolicy", |d| d.pod_update_policy.clone())}
                {fact("reclaimPolicy", |d| d.reclaim_policy.clone())}
                {fact("networkType", |d| d.network_type.clone())}
                <div><dt>{words.t("sets.fact.age")}</dt><dd><Age since=created /></dd></div>
                <div class="whole"><dt>"uid"</dt><dd class="mono uid">{uid}</dd></div>
            </dl>
        </section>
    }
}

/// The page of a server within the strip.
fn server_path(key: &wire::ServerKey) -> String {
    urls::server(key)
}
