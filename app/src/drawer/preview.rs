//! What will happen, kept up to date while the form changes, and the button that does it.

use super::{
    effects::{button, note, tiles},
    form::Form,
    request::{NotYet, key_of, start},
};
use crate::lean::{effect, memo, part};
use crate::{
    api,
    i18n::{group, use_words},
    parts::{CopyButton, LongName},
};
use leptos::{prelude::*, task::spawn_local};
use std::time::Duration;
use wire::{ApiError, BatchView, Preview, PreviewRequest, ServerKey, batch::PreviewEntry};

/// A pause in typing after which the server is asked.
const PAUSE: Duration = Duration::from_millis(200);
/// The cluster moves on: a preview is asked for again after this time.
const AGAIN: Duration = Duration::from_secs(10);
/// Entries drawn; the server sends more than anyone reads.
const DRAWN: usize = 60;

/// The preview and the start of a batch. Copy it into closures freely.
#[derive(Clone, Copy)]
pub struct Looking {
    /// What the form asks for now.
    request: Memo<Result<PreviewRequest, NotYet>>,
    /// The last answer with the request it is for.
    answer: RwSignal<Option<(PreviewRequest, Result<Preview, ApiError>)>>,
    /// Counts questions; only the last one's answer is taken.
    turn: StoredValue<u32>,
    /// The batch's key: the same when the same request is sent again after a lost answer.
    key: StoredValue<Option<(PreviewRequest, String)>>,
    /// Whether a start is on its way.
    sending: RwSignal<bool>,
    /// Why the start did not work.
    failed: RwSignal<Option<ApiError>>,
    /// Name of the batch, once it is stored.
    pub started: RwSignal<Option<String>>,
}

impl Looking {
    /// Looks at what the form would do to the targets.
    pub fn new(form: Form, targets: Memo<Vec<ServerKey>>) -> Self {
        let looking = Self {
            request: memo(move || form.entered().request(targets.get())),
            answer: RwSignal::new(None),
            turn: StoredValue::new(0),
            key: StoredValue::new(None),
            sending: RwSignal::new(false),
            failed: RwSignal::new(None),
            started: RwSignal::new(None),
        };
        effect(move || {
            looking.request.with(|_| ());
            looking.failed.set(None);
            looking.ask_after(PAUSE);
        });
        looking
    }

    /// Asks after a pause, unless something changes again in it, and again from time to time.
    fn ask_after(self, pause: Duration) {
        let turn = self.turn.try_update_value(|turn| {
            *turn += 1;
            *turn
        });
        set_timeout(
            move || {
                if self.turn.try_get_value() == turn && self.started.try_get_untracked() == Some(None) {
                    self.ask(turn);
                }
            },
            pause,
        );
    }

    fn ask(self, turn: Option<u32>) {
        let Ok(request) = self.request.get_untracked() else { return self.answer.set(None) };
        spawn_local(async move {
            let answer = api::post::<Preview>("api/v1/batches/preview", &request).await;
            if self.turn.try_get_value() == turn {
                let new = Some((request, answer));
                if self.answer.with_untracked(|old| *old != new) {
                    self.answer.set(new);
                }
                if !self.sending.get_untracked() {
                    self.ask_after(AGAIN);
                }
            }
        });
    }

    /// The preview of what the form holds now; `None` while it is not known. Reactive.
    fn fresh(self) -> Option<Preview> {
        let request = self.request.get().ok()?;
        self.answer.with(|answer| match answer {
            Some((asked, Ok(preview))) if *asked == request => Some(preview.clone()),
            _ => None,
        })
    }

    /// Starts what is shown. A lost answer is no harm: the same key names the same batch.
    fn start(self) {
        let (Ok(request), Some(preview)) = (self.request.get_untracked(), untrack(|| self.fresh())) else {
            return;
        };
        if self.sending.get_untracked() {
            return;
        }
        let key = self
            .key
            .with_value(|key| key.as_ref().filter(|(old, _)| *old == request).map(|(_, key)| key.clone()));
        let key = key.unwrap_or_else(|| key_of(random_bytes()));
        self.key.set_value(Some((request.clone(), key.clone())));
        self.sending.set(true);
        self.failed.set(None);
        let body = start(request, &preview.token, key);
        spawn_local(async move {
            let answer = api::post::<BatchView>("api/v1/batches", &body).await;
            self.sending.try_set(false);
            match answer {
                Ok(batch) => drop(self.started.try_set(Some(batch.name))),
                Err(error) => {
                    // Refused means not stored: the next start is a new one. Without an answer nobody knows.
                    if error.status != 0 {
                        self.key.try_set_value(None);
                    }
                    self.failed.try_set(Some(error));
                    self.ask_after(Duration::ZERO);
                }
            }
        });
    }
}

/// Random bytes of the browser; also there without HTTPS.
fn random_bytes() -> [u8; 16] {
    let mut bytes = [0; 16];
    // There is no browser of our time without it, and a key that was used before is refused, not misapplied.
    if let Ok(crypto) = window().crypto() {
        let _ = crypto.get_random_values_with_u8_array(&mut bytes);
    }
    bytes
}

/// Numbers, warnings, the override, and each server old → new.
#[component]
pub fn WhatHappens(form: Form, looking: Looking) -> impl IntoView {
    let words = use_words();
    let asked = move || looking.request.get();
    // What is known stays while the next answer is on its way, but dimmed.
    let shown = memo(move || looking.answer.get().map(|(_, answer)| answer));
    let old = move || looking.fresh().is_none();
    let left_out = Memo::new(move |before: Option<&u32>| {
        let now = shown.get().and_then(Result::ok).map_or(0, |preview| preview.left_out);
        // With the tick set nobody is left out any more; the number of before still says whom it is about.
        if form.include_in_use.get() { before.copied().unwrap_or(now).max(now) } else { now }
    });
    let disturbs = memo(move || form.entered().disturbs());
    let body = move || match shown.get() {
        None => None,
        Some(Err(error)) => Some(
            view! { <div class="warn bad" role="alert"><p>{words.reason(&error.reason)}</p></div> }
                .into_any(),
        ),
        Some(Ok(preview)) => Some(view! { <Known preview /> }.into_any()),
    };
    view! {
        {part(move || match asked() {
            Err(NotYet::Priority) => Some(view! { <p class="hint bad">{words.t("batch.priorityWrong")}</p> }),
            _ => None,
        })}
        {part(move || (disturbs.get() && (left_out.get() > 0 || form.include_in_use.get())).then(|| {
            let kills = form.ops.with(|ops| ops.trim() == "Kill");
            let text = move || {
                let n = u64::from(left_out.get());
                if kills { words.n("batch.alsoStop", n) } else { words.n("batch.alsoRestart", n) }
            };
            view! {
                <label class="override">
                    <input
                        type="checkbox"
                        prop:checked=move || form.include_in_use.get()
                        on:change=move |event| form.include_in_use.set(event_target_checked(&event))
                    />
                    <span>{text}</span>
                </label>
            }
        }))}
        {part(move || asked().is_ok().then(|| view! {
            <section class="what" class:old=old aria-busy=move || old().to_string()>
                <h3>{words.t("batch.whatHappens")}</h3>
                {body}
            </section>
        }))}
        {part(move || matches!(asked(), Err(NotYet::Nothing)).then(|| view! {
            <p class="hint faint">{words.t("batch.chooseSomething")}</p>
        }))}
    }
}

/// A preview that is known.
#[component]
fn Known(preview: Preview) -> impl IntoView {
    let words = use_words();
    let numbers = tiles(&preview)
        .into_iter()
        .map(|tile| {
            let bad = tile.bad && tile.count > 0;
            view! { <div><b class:bad=bad>{group(tile.count)}</b><span>{words.t(tile.key)}</span></div> }
        })
        .collect_view();
    let warnings = preview
        .warnings
        .iter()
        .map(|reason| view! { <div class="warn"><p>{words.reason(reason)}</p></div> })
        .collect_view();
    let refused = (preview.refused > 0).then(|| {
        view! { <div class="warn bad"><p>{words.n("batch.refusedLeftOut", u64::from(preview.refused))}</p></div> }
    });
    let drawn = preview.entries.len().min(DRAWN);
    let more = preview.more + u32::try_from(preview.entries.len() - drawn).unwrap_or(0);
    let rows = preview.entries.into_iter().take(DRAWN).map(|entry| view! { <Line entry /> }).collect_view();
    view! {
        <div class="effects">{numbers}</div>
        {warnings}
        {refused}
        <table class="diff"><tbody>{rows}</tbody></table>
        {(more > 0).then(|| view! { <p class="hint faint">{words.n("batch.more", u64::from(more))}</p> })}
    }
}

/// One server: old → new, and what that does.
#[component]
fn Line(entry: PreviewEntry) -> impl IntoView {
    let words = use_words();
    let (text, bad) = note(words, &entry);
    let fields = entry
        .fields
        .into_iter()
        .map(|field| {
            let long = field.field == "image";
            let name = match &field.container {
                Some(container) => format!("{container} "),
                None if field.field == "opsState" => String::new(),
                None => format!("{} ", field.field),
            };
            let old = field.old.or(field.live).unwrap_or_else(|| words.t("batch.unset").to_owned());
            view! {
                <span class=if long { "change long" } else { "change" }>
                    <span class="faint">{name}</span>
                    <s class="old">{old}</s>
                    <span class="arrow" aria-label=words.t("batch.becomes")>"→"</span>
                    <b>{field.new}</b>
                </span>
            }
        })
        .collect_view();
    view! {
        <tr>
            <td class="who"><LongName name=entry.key.name /></td>
            <td class="changes">{fields}</td>
            <td class="note" class:bad=bad>{text}</td>
        </tr>
    }
}

/// Copy, and the button that does it.
#[component]
pub fn Foot(form: Form, looking: Looking) -> impl IntoView {
    let words = use_words();
    let applies = move || looking.fresh().map_or(0, |preview| preview.applies);
    let label = move || {
        let known = looking.answer.with(|answer| match answer {
            Some((_, Ok(preview))) => preview.applies,
            _ => 0,
        });
        match looking.request.get() {
            Err(_) => words.t("batch.nothingChosen").to_owned(),
            Ok(_) if looking.sending.get() => words.t("batch.sending").to_owned(),
            Ok(_) => button(words, &form.entered(), known),
        }
    };
    let kubectl = memo(move || looking.fresh().map(|preview| preview.kubectl).unwrap_or_default());
    view! {
        <footer>
            {part(move || looking.failed.get().map(|error| {
                let text = words.reason(&error.reason);
                let again = (error.status == 0).then(|| words.t("batch.tryAgain"));
                view! { <div class="warn bad" role="alert"><p>{text}" "{again}</p></div> }
            }))}
            <div class="acts">
                {part(move || (!kubectl.with(String::is_empty)).then(|| view! {
                    <CopyButton text=kubectl label=words.t("batch.copyKubectl") />
                }))}
                <span class="grow"></span>
                <button
                    type="button"
                    class="go"
                    class:danger=move || form.ops.with(|ops| ops.trim() == "Kill")
                    disabled=move || applies() == 0 || looking.sending.get()
                    on:click=move |_| looking.start()
                >
                    {label}
                </button>
            </div>
        </footer>
    }
}
