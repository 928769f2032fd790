//! Groups of the table: what to group by, and the heads over the rows.

use super::{board::Board, picking::Picking, place::Place};
use crate::lean::{memo, part};
use crate::{
    frame::select_all,
    i18n::{Words, group, use_words},
    parts::{Icon, OpsMark, StateMark, close, closes_by_itself},
    urls::use_go,
};
use leptos::{
    ev::SubmitEvent,
    html::{Details, Input},
    prelude::*,
};
use wire::filter::within;

/// What a table can be grouped by besides labels, with the key of its word.
const BY: [(&str, &str); 7] = [
    ("set", "servers.column.set"),
    ("state", "servers.column.state"),
    ("ops", "servers.column.ops"),
    ("node", "servers.column.node"),
    ("image", "servers.column.image"),
    ("players", "servers.column.players"),
    ("age", "servers.column.age"),
];

/// The word of what is grouped by.
fn name(words: Words, by: &str) -> String {
    let known = BY.iter().find(|(word, _)| *word == by).and_then(|(_, key)| words.find(key));
    known.unwrap_or_else(|| by.strip_prefix("label.").unwrap_or(by)).to_owned()
}

/// A button that opens the list of what to group by; its entries are links, so they work without a script too.
#[component]
pub fn Grouping(place: Place) -> impl IntoView {
    let words = use_words();
    let sheet = NodeRef::<Details>::new();
    closes_by_itself(sheet);
    let entry = move |by: &'static str, name: String| {
        view! {
            <li>
                <a
                    class="entry"
                    href=move || place.group_link(by)
                    aria-current=move || place.group.with(|now| now == by).then_some("true")
                    on:click=move |_| close(sheet)
                >
                    {name}
                </a>
            </li>
        }
    };
    let now = memo(move || place.group.with(|by| (!by.is_empty()).then(|| name(words, by))));
    let input = NodeRef::<Input>::new();
    let go = StoredValue::new(use_go());
    let by_label = move |event: SubmitEvent| {
        event.prevent_default();
        let key = input.get_untracked().map(|input| input.value()).unwrap_or_default();
        let key = key.trim();
        if !key.is_empty() {
            let to = untrack(|| place.group_link(&format!("label.{key}")));
            go.with_value(|go| go(&to, false));
            close(sheet);
        }
    };
    let label_now = move || place.group.with(|by| by.strip_prefix("label.").unwrap_or_default().to_owned());
    view! {
        <details class="chooser grouping" node_ref=sheet>
            <summary title=words.t("servers.group.title") aria-current=move || now.with(Option::is_some).then_some("true")>
                <Icon name="sets".to_owned() />
                <span class="wide">
                    {part(move || now.get().map_or_else(
                        || words.t("servers.group.button").to_owned(),
                        |by| words.with("servers.group.by", &[("by", by)]),
                    ))}
                </span>
            </summary>
            <div class="sheet-over">
                <ul>
                    {entry("", words.t("servers.group.none").to_owned())}
                    {BY.into_iter().map(|(by, _)| entry(by, name(words, by))).collect_view()}
                </ul>
                <form class="needs-script" on:submit=by_label>
                    <label>
                        <span>{words.t("deck.by.labelKey")}</span>
                        <input node_ref=input type="text" autocomplete="off" spellcheck="false" placeholder="zone" prop:value=label_now />
                    </label>
                    <button type="submit">{words.t("servers.group.button")}</button>
                </form>
            </div>
        </details>
    }
}

/// The head of a group: folds it, selects it, narrows the filter to it.
#[component]
pub fn Head(value: String, board: Board, place: Place, picking: Picking) -> impl IntoView {
    let words = use_words();
    let value = StoredValue::new(value);
    let head = memo(move || {
        let found = board.shown.with(|shown| value.with_value(|value| shown.as_ref()?.head(value).cloned()));
        found.map(|head| (head.count, head.folded)).unwrap_or_default()
    });
    // The group of a table that is not grouped any more is gone in a moment; until then it leaves the filter as it is.
    let narrowed = move || {
        let q = place.scope.q.get();
        place.group.with(|by| value.with_value(|value| within(&q, by, value))).unwrap_or(q)
    };
    let is_open = move || !head.get().1;
    let text = memo(move || value.with_value(|value| title(words, &place.group.get(), value)));
    let pick = move |_| select_all(picking.selection, &untrack(narrowed), &place.scope.ns.get_untracked());
    let mark = move || {
        let value = value.get_value();
        match place.group.get().as_str() {
            "state" => view! { <StateMark state=value /> }.into_any(),
            "ops" => view! { <OpsMark ops=value /> }.into_any(),
            _ => view! { <span class="value">{text.get()}</span> }.into_any(),
        }
    };
    view! {
        <tr class="group">
            <td colspan="99">
                <div class="grouphead">
                    <button
                        type="button"
                        class="quiet iconic needs-script"
                        class:open=is_open
                        aria-expanded=move || is_open().to_string()
                        aria-label=move || words.with("servers.group.fold", &[("name", text.get())])
                        on:click=move |_| {
                            board.will_jump();
                            value.with_value(|value| place.fold(value));
                        }
                    >
                        <Icon name="chevron".to_owned() />
                    </button>
                    <a
                        class="name"
                        href=move || place.scope.refilter("servers", &narrowed())
                        title=words.t("servers.group.only")
                    >
                        {part(mark)}
                    </a>
                    <span class="faint">{move || group(head.get().0)}</span>
                    <button
                        type="button"
                        class="quiet needs-script"
                        aria-label=move || words.with("servers.group.select", &[("name", text.get())])
                        on:click=pick
                    >
                        {words.t("servers.group.selectShort")}
                    </button>
                </div>
            </td>
        </tr>
    }
}

/// A group in words: sets as name and namespace, what has no value as such.
fn title(words: Words, by: &str, value: &str) -> String {
    match (by, value.split_once('/')) {
        ("set", Some((namespace, set))) => format!("{set} · {namespace}"),
        ("set", None) => words.t("deck.noSet").to_owned(),
        _ if value.is_empty() => words.t("servers.group.without").to_owned(),
        _ => value.to_owned(),
    }
}
