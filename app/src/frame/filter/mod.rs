//! The filter box: one text, coloured as it is typed, completed, and checked. Its text is the URL's `q`.

mod pieces;
mod values;

use crate::lean::{effect, memo, part};
use crate::{
    i18n::{group, use_words},
    keys::{Action, on_key},
    live::use_live,
    parts::Icon,
    urls::{use_go, use_here, use_scope},
};
use leptos::{ev, html, prelude::*, web_sys::HtmlInputElement};
use std::time::Duration;
use values::Known;
use wire::{
    ApiError,
    filter::{Completion, CompletionKind, complete, parse},
};

/// A pause in typing after which the text is taken over.
const PAUSE: Duration = Duration::from_millis(300);
/// Most proposals shown.
const SHOWN: usize = 12;

/// The box's own state. Copy it into closures freely.
#[derive(Clone, Copy)]
struct Box {
    text: RwSignal<String>,
    input: NodeRef<html::Input>,
    /// Proposals, when the list is open.
    offers: RwSignal<Vec<Completion>>,
    /// The proposal that Enter takes.
    active: RwSignal<Option<usize>>,
    /// Whether what is wrong is told: not while the hand still types.
    told: RwSignal<bool>,
    /// Counts key strokes; a pause belongs to the last one.
    strokes: StoredValue<u32>,
}

impl Box {
    /// Where the cursor is, in bytes of the text.
    fn cursor(self) -> usize {
        let text = self.text.get_untracked();
        let units = self.input.get_untracked().and_then(|input| input.selection_start().ok().flatten());
        units.map_or(text.len(), |units| pieces::bytes_of(&text, units as usize))
    }

    /// Writes the text into the field too, with the cursor at a byte of it.
    fn write(self, text: &str, cursor: usize) {
        if let Some(input) = self.input.get_untracked() {
            input.set_value(text);
            let units = u32::try_from(pieces::units_of(text, cursor)).unwrap_or(u32::MAX);
            // A place inside the text is always legal.
            let _ = input.set_selection_range(units, units);
        }
        self.text.set(text.to_owned());
    }

    fn close(self) {
        if self.offers.with_untracked(|offers| !offers.is_empty()) {
            self.offers.set(Vec::new());
        }
        self.active.set(None);
    }
}

/// The filter box.
#[component]
pub fn FilterBox() -> impl IntoView {
    let (words, scope, live, here) = (use_words(), use_scope(), use_live(), use_here());
    let known = Known::new(live, scope.ns);
    let state = Box {
        text: RwSignal::new(scope.q.get_untracked()),
        input: NodeRef::new(),
        offers: RwSignal::new(Vec::new()),
        active: RwSignal::new(None),
        told: RwSignal::new(true),
        strokes: StoredValue::new(0),
    };
    let Box { text, input, offers, active, told, strokes } = state;

    // Pages that show servers take the filter as it is typed; from others Enter leads to the servers.
    let filters_here = move || here.with(|here| matches!(here.as_str(), "" | "servers"));
    let target = move || if filters_here() { here.get() } else { "servers".to_owned() };
    let wrong = memo(move || text.with(|text| parse(text).err().map(|error| error.to_api_error())));
    let refused = move || -> Option<ApiError> {
        let of_this_text = |error: &ApiError| {
            error.reason.code.starts_with("filter-") && scope.q.with(|q| text.with(|text| q == text))
        };
        wrong.get().or_else(|| live.refused.get().filter(of_this_text))
    };

    let go = use_go();
    let apply = move |replace: bool| {
        told.set(true);
        let now = text.get_untracked();
        if wrong.with_untracked(Option::is_none) && (now != scope.q.get_untracked() || !untrack(filters_here))
        {
            let to = if untrack(filters_here) {
                untrack(|| scope.refilter(&target(), now.trim()))
            } else {
                untrack(|| scope.link_with("servers", now.trim()))
            };
            go(&to, replace);
        }
    };
    let apply = StoredValue::new(apply);

    // A link or the back button changed the filter; while the hand types the URL follows the box instead.
    Effect::new(move |before: Option<String>| {
        let q = scope.q.get();
        if before.is_some_and(|before| before != q) && text.with_untracked(|text| text.trim() != q) {
            text.set(q.clone());
            state.close();
        }
        q
    });

    let offer = move || {
        let now = text.get_untracked();
        let mut found = complete(&now, state.cursor(), &known);
        // What stands there already is no proposal.
        found.retain(|offer| now.get(offer.span.start..offer.span.end) != Some(&*offer.insert));
        found.truncate(SHOWN);
        active.set(None);
        offers.set(found);
    };
    // Values that had to be asked for have arrived.
    Effect::new(move |before: Option<u32>| {
        let arrived = known.arrived.get();
        let open = offers.with_untracked(|offers| !offers.is_empty()) || known.waiting();
        if before.is_some_and(|before| before != arrived) && open {
            offer();
        }
        arrived
    });

    let typed = move |_| {
        let Some(field) = input.get_untracked() else { return };
        text.set(field.value());
        told.set(false);
        offer();
        let stroke = strokes.try_update_value(|strokes| {
            *strokes += 1;
            *strokes
        });
        set_timeout(
            move || {
                if strokes.try_get_value() != stroke {
                    return;
                }
                if !untrack(filters_here) {
                    told.set(true);
                } else if text.with_untracked(|text| !pieces::unfinished(text)) {
                    apply.with_value(|apply| apply(true));
                }
            },
            PAUSE,
        );
    };

    let accept = move |at: usize| {
        let Some(offer_taken) = offers.with_untracked(|offers| offers.get(at).cloned()) else { return };
        let now = text.get_untracked();
        let (now, cursor) = pieces::insert(&now, &offer_taken);
        state.write(&now, cursor);
        if offer_taken.kind == CompletionKind::Value {
            state.close();
            if untrack(filters_here) {
                apply.with_value(|apply| apply(true));
            }
        } else {
            offer();
        }
    };

    let key = move |event: ev::KeyboardEvent| {
        if event.is_composing() {
            return;
        }
        let count = offers.with_untracked(Vec::len);
        match event.key().as_str() {
            "ArrowDown" if count == 0 => offer(),
            "ArrowDown" => active.update(|at| *at = Some(at.map_or(0, |at| (at + 1) % count))),
            "ArrowUp" if count > 0 => {
                active.update(|at| *at = Some(at.map_or(count - 1, |at| (at + count - 1) % count)));
            }
            "Tab" if count > 0 && !event.shift_key() => accept(active.get_untracked().unwrap_or(0)),
            "Enter" => match active.get_untracked() {
                Some(at) if count > 0 => accept(at),
                _ => {
                    state.close();
                    strokes.update_value(|strokes| *strokes += 1);
                    apply.with_value(|apply| apply(false));
                }
            },
            "Escape" if count > 0 => state.close(),
            "Escape" => {
                if let Some(input) = input.get_untracked() {
                    // Losing the focus cannot fail in a way that matters here.
                    let _ = input.blur();
                }
            }
            _ => return,
        }
        event.prevent_default();
        event.stop_propagation();
    };

    on_key(move |action| {
        let wanted = action == Action::Filter;
        if wanted && let Some(field) = input.get_untracked() {
            let _ = field.focus();
            field.select();
        }
        wanted
    });

    let align = move |_| {
        if let Some(field) = input.get_untracked() {
            pieces::scroll_together(&field);
        }
    };
    // The coloured text lies under the field, so it must be where the field has scrolled to.
    effect(move || {
        text.track();
        if let Some(field) = input.get() {
            request_animation_frame(move || pieces::scroll_together(&field));
        }
    });

    let option = move |at: usize, offer: Completion| {
        let what = pieces::what_it_is(words, &offer);
        view! {
            <li
                id=format!("offer-{at}")
                role="option"
                aria-selected=move || (active.get() == Some(at)).to_string()
                on:mousedown=move |event| {
                    event.prevent_default();
                    accept(at);
                }
            >
                <span class="label">{offer.label}</span>
                <span class="what">{what}</span>
                {offer.count.map(|count| view! { <span class="hits">{group(i128::from(count))}</span> })}
            </li>
        }
    };
    let open = move || offers.with(|offers| !offers.is_empty());
    let error_shown = move || (told.get() && !open()).then(refused).flatten();

    view! {
        <form
            class="filter"
            class:wrong=move || told.get() && refused().is_some()
            role="search"
            method="get"
            action=target
            on:submit=move |event| {
                event.prevent_default();
                apply.with_value(|apply| apply(false));
            }
        >
            <input type="hidden" name="ns" value=move || scope.ns.get() disabled=move || scope.ns.with(String::is_empty) />
            <div class="box">
                <div class="field">
                    <div class="under" aria-hidden="true">
                        {part(move || text.with(|text| pieces::coloured(text, refused().and_then(|error| error.span))))}
                    </div>
                    <input
                        node_ref=input
                        id="filter"
                        name="q"
                        type="text"
                        role="combobox"
                        aria-label=words.t("filter.label")
                        aria-autocomplete="list"
                        aria-controls="offers"
                        aria-expanded=move || open().to_string()
                        aria-activedescendant=move || active.get().map(|at| format!("offer-{at}"))
                        aria-invalid=move || refused().is_some().then_some("true")
                        aria-describedby="filter-error"
                        autocomplete="off"
                        autocapitalize="off"
                        spellcheck="false"
                        maxlength="2000"
                        placeholder=words.t("filter.placeholder")
                        value=scope.q.get_untracked()
                        prop:value=move || text.get()
                        on:input=typed
                        on:keydown=key
                        on:scroll=align
                        on:focus=move |_| if text.with_untracked(String::is_empty) { offer() }
                        on:blur=move |_| {
                            state.close();
                            told.set(true);
                        }
                    />
                </div>
                {part(move || text.with(|text| !text.is_empty()).then(|| view! {
                    <button
                        type="button"
                        class="clear needs-script"
                        title=words.t("filter.clear")
                        aria-label=words.t("filter.clear")
                        on:click=move |_| {
                            state.write("", 0);
                            state.close();
                            apply.with_value(|apply| apply(false));
                        }
                    >
                        <Icon name="close".to_owned() />
                    </button>
                }))}
                <span class="count" aria-live="polite">
                    {part(move || live.matched.get().map(|(matched, total)| {
                        if matched == total { group(total) } else {
                            words.with("filter.count", &[("matched", group(matched)), ("total", group(total))])
                        }
                    }))}
                </span>
                <kbd class="wide needs-script" aria-hidden="true">"/"</kbd>
            </div>
            {part(move || open().then(|| view! {
                <ul class="pop" id="offers" role="listbox" aria-label=words.t("filter.offers")>
                    {offers.get().into_iter().enumerate().map(|(at, offer)| option(at, offer)).collect_view()}
                </ul>
            }))}
            <div id="filter-error" role="status">
                {part(move || error_shown().map(|error| {
                    let suggestion = error.reason.args.get("suggestion").cloned().zip(error.span);
                    view! {
                        <div class="error">
                            {words.reason(&error.reason)}
                            {suggestion.map(|(better, (start, end))| {
                                let label = words.with("filter.useInstead", &[("text", better.clone())]);
                                view! {
                                    <button
                                        type="button"
                                        class="link needs-script"
                                        on:mousedown=move |event| event.prevent_default()
                                        on:click=move |_| {
                                            let now = text.get_untracked();
                                            let Some((now, cursor)) = pieces::replace(&now, start, end, &better) else { return };
                                            state.write(&now, cursor);
                                            apply.with_value(|apply| apply(false));
                                        }
                                    >
                                        {label}
                                    </button>
                                }
                            })}
                        </div>
                    }
                }))}
            </div>
        </form>
    }
}

/// The field of the filter box, as the browser has it.
type Field = HtmlInputElement;
