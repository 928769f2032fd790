//! Deck page, tools: what colours the cells, how large they are, cells or table; and the legend that filters.

use super::{
    layout::{SIZES, Zoom},
    look::{By, Mark, Tone},
    state::Deck,
    summary,
};
use crate::lean::{effect, memo};
use crate::{
    i18n::{group, use_words},
    parts::{Icon, ops_icon},
    urls::use_go,
};
use leptos::{ev::SubmitEvent, html::Input, prelude::*};
use wire::filter;

/// The word of a dimension in the reader's language.
fn by_name(words: crate::i18n::Words, by: &By) -> String {
    match by {
        By::State => words.t("deck.by.state").to_owned(),
        By::Ops => "opsState".to_owned(),
        By::Image => words.t("deck.by.image").to_owned(),
        By::Node => words.t("deck.by.node").to_owned(),
        By::Players => words.t("deck.by.players").to_owned(),
        By::Age => words.t("deck.by.age").to_owned(),
        By::Label(key) => key.clone(),
    }
}

/// Colour by, zoom, and the switch between cells and table.
#[component]
pub fn Tools(
    /// The page.
    deck: Deck,
) -> impl IntoView {
    let words = use_words();
    let dimension = move |by: By| {
        let name = by_name(words, &by);
        let word = by.word();
        view! {
            <a
                href=move || deck.link(None, Some(&word), None)
                aria-current=move || (deck.by.get() == by).then_some("true")
            >
                {name}
            </a>
        }
    };
    let zoom_by = move |step: i32| {
        let now = deck.plan.with_untracked(|plan| plan.step) as i32;
        deck.zoom.set(Zoom::Step((now + step).clamp(0, SIZES.len() as i32 - 1) as usize));
    };
    let label_open = RwSignal::new(false);
    let label_name = move || match deck.by.get() {
        By::Label(key) => key,
        _ => words.t("deck.by.label").to_owned(),
    };
    let fits = move || deck.zoom.get() == Zoom::Fit;
    view! {
        <div class="deck-tools">
            <div class="seg" role="group" aria-label=words.t("deck.by.title")>
                {By::PLAIN.into_iter().map(dimension).collect_view()}
                <button
                    type="button"
                    class="needs-script"
                    aria-current=move || matches!(deck.by.get(), By::Label(_)).then_some("true")
                    aria-expanded=move || label_open.get().to_string()
                    on:click=move |_| label_open.update(|open| *open = !*open)
                >
                    {label_name}
                </button>
            </div>
            <span class="grow"></span>
            <div class="seg needs-script" role="group" aria-label=words.t("deck.zoom.title") hidden=move || deck.as_table.get()>
                <button type="button" title=words.t("deck.zoom.smaller") aria-label=words.t("deck.zoom.smaller") on:click=move |_| zoom_by(-1)>"−"</button>
                <button
                    type="button"
                    title=words.t("deck.zoom.fitHint")
                    aria-pressed=move || fits().to_string()
                    on:click=move |_| deck.zoom.set(Zoom::Fit)
                >
                    {words.t("deck.zoom.fit")}
                </button>
                <button type="button" title=words.t("deck.zoom.larger") aria-label=words.t("deck.zoom.larger") on:click=move |_| zoom_by(1)>"+"</button>
            </div>
            <div class="seg needs-script" role="group" aria-label=words.t("deck.as.title")>
                <a href=move || deck.link(None, None, Some(false)) aria-current=move || (!deck.as_table.get()).then_some("true")>
                    {words.t("deck.as.cells")}
                </a>
                <a href=move || deck.link(None, None, Some(true)) aria-current=move || deck.as_table.get().then_some("true")>
                    {words.t("deck.as.table")}
                </a>
            </div>
            <Show when=move || label_open.get()><LabelChoice deck open=label_open /></Show>
        </div>
    }
}

/// Colours by any label: a field for its key.
#[component]
fn LabelChoice(deck: Deck, open: RwSignal<bool>) -> impl IntoView {
    let words = use_words();
    let go = StoredValue::new(use_go());
    let input = NodeRef::<Input>::new();
    let choose = move |event: SubmitEvent| {
        event.prevent_default();
        let key = input.get_untracked().map(|input| input.value()).unwrap_or_default();
        open.set(false);
        let key = key.trim();
        if !key.is_empty() {
            let to = untrack(|| deck.link(None, Some(&By::Label(key.to_owned()).word()), None));
            go.with_value(|go| go(to.trim_start_matches("./"), false));
        }
    };
    effect(move || {
        if let Some(input) = input.get() {
            let _ = input.focus();
        }
    });
    view! {
            <form class="deck-label" on:submit=choose on:keydown=move |event| if event.key() == "Escape" {
                event.stop_propagation();
                open.set(false);
            }>
                <label>
                    <span>{words.t("deck.by.labelKey")}</span>
                    <input node_ref=input type="text" autocomplete="off" spellcheck="false" placeholder="zone" />
                </label>
                <button type="submit" class="go">{words.t("deck.by.colour")}</button>
            </form>
    }
}

/// A square in the colour of a category.
#[component]
pub fn Swatch(
    /// Its colour.
    tone: Tone,
    /// Striped, as Deleting is on the deck.
    #[prop(optional)]
    striped: bool,
) -> impl IntoView {
    view! {
        <svg class="swatch" width="10" height="10" aria-hidden="true">
            <rect width="10" height="10" rx="2.5" fill=tone.fill() fill-opacity=tone.opacity()></rect>
            {striped.then(|| view! { <path class="swatch-stripe" d="M-1 6L6 -1M2 12L12 2"></path> })}
        </svg>
    }
}

/// One entry that filters on a click: a link, so that it works without script and can be opened elsewhere.
#[component]
fn Entry(deck: Deck, field: String, value: String, count: u32, children: Children) -> impl IntoView {
    let words = use_words();
    if value == OTHERS {
        // Many values together: the filter language has no word for them.
        return view! { <li class="note">{children()} <span class="count">{group(count)}</span></li> }
            .into_any();
    }
    let (for_href, for_state) = ((field.clone(), value.clone()), (field, value));
    let asked = memo(move || {
        deck.scope.q.with(|q| filter::parse(q).is_ok_and(|q| q.has_term(&for_state.0, &for_state.1)))
    });
    // A value that the language has no word for (there is none today) leaves the filter as it is.
    let href = move || {
        let q = deck.scope.q.get();
        let toggled = filter::toggle_in(&q, &for_href.0, &for_href.1).unwrap_or(q);
        deck.link(Some(&toggled), None, None)
    };
    let hint = move || if asked.get() { words.t("deck.legend.remove") } else { words.t("deck.legend.add") };
    view! {
        <li>
            <a class="chip" href=href title=hint aria-current=move || asked.get().then_some("true")>
                {children()}
                <span class="count">{group(count)}</span>
            </a>
        </li>
    }
    .into_any()
}

/// The legend: categories of the dimension and the marks of opsState, with counts; a click filters.
#[component]
pub fn Legend(
    /// The page.
    deck: Deck,
) -> impl IntoView {
    let words = use_words();
    let shown_by = move || {
        deck.shot.with(|shot| shot.as_ref().map(|shot| shot.by.clone())).unwrap_or_else(|| deck.by.get())
    };
    let categories = memo(move || {
        let by = shown_by();
        let field = by.word();
        let asked = deck.scope.q.with(|q| filter::parse(q).ok());
        let asked = |value: &str| asked.as_ref().is_some_and(|filter| filter.has_term(&field, value));
        let entries = deck.summary.with(|summary| {
            summary.as_ref().map(|summary| summary::legend(&by, &summary.legend, asked)).unwrap_or_default()
        });
        (by, entries)
    });
    let colours = move || {
        let (by, entries) = categories.get();
        let field = by.word();
        let idle = by == By::State && entries.iter().any(|(count, _)| count.value == "Ready");
        // More than fit are told, not drawn: forty nodes are no legend.
        let more = entries.len().saturating_sub(MOST);
        let entries = entries
            .into_iter()
            .take(MOST)
            .map(|(count, tone)| {
                let name = if count.value.is_empty() && by == By::State {
                    "Unknown".to_owned()
                } else if count.value.is_empty() {
                    words.t("deck.legend.none").to_owned()
                } else {
                    count.value.clone()
                };
                let striped = by == By::State && count.value == "Deleting";
                view! {
                    <Entry deck field=field.clone() value=count.value count=count.count>
                        <Swatch tone striped />
                        <span class="name" title=name.clone()>{name.clone()}</span>
                    </Entry>
                }
            })
            .collect_view();
        view! {
            {entries}
            {(more > 0).then(|| view! { <li class="faint">{words.n("deck.legend.more", more as u64)}</li> })}
            {idle.then(|| view! { <li class="note"><Swatch tone=Tone::IDLE /> {words.t("deck.legend.idle")}</li> })}
        }
    };
    let marks = memo(move || {
        deck.summary.with(|summary| summary.as_ref().map(|s| s.ops.clone()).unwrap_or_default())
    });
    let ops = move || {
        marks
            .get()
            .into_iter()
            .map(|count| {
                let icon = match ops_icon(&count.value) {
                    Some(icon) => view! { <Icon name=icon.to_owned() /> }.into_any(),
                    None => {
                        let letter = match Mark::of(&count.value) {
                            Mark::Letter(letter) => letter.to_string(),
                            _ => String::new(),
                        };
                        view! { <i class="letter" aria-hidden="true">{letter}</i> }.into_any()
                    }
                };
                let name = if count.value.is_empty() { "None".to_owned() } else { count.value.clone() };
                view! {
                    <Entry deck field="ops".to_owned() value=count.value count=count.count>
                        {icon}
                        <span class="name">{name}</span>
                    </Entry>
                }
            })
            .collect_view()
    };
    view! {
        <div class="legend">
            <ul aria-label=words.t("deck.legend.title")>{colours}</ul>
            <ul aria-label=words.t("deck.legend.ops") hidden=move || marks.with(Vec::is_empty) || deck.by.get() == By::Ops>{ops}</ul>
        </div>
    }
}

/// The value of the category that stands for the rest of too many.
const OTHERS: &str = "…";
/// Most categories that the legend draws.
const MOST: usize = 16;
