//! Set page, scale: a number, a preview of who goes (in order, and why) and who joins, then the button.

use super::{server_path, strip::ranges};
use crate::{
    api,
    i18n::{Words, group, use_words},
    parts::{OpsMark, Reasoned},
    urls::use_scope,
};
use leptos::{ev::SubmitEvent, html::Input, prelude::*, task::spawn_local};
use leptos_router::hooks::use_query_map;
use std::collections::{BTreeMap, BTreeSet};
use wire::{ApiError, Reason, ScalePreview, SetKey, set::Leaving, set::ScaleRequest};

/// Most replicas that the field takes; the API's own limit is that of an int32.
const MOST: u32 = i32::MAX as u32;
/// Leaving servers that are listed at first.
const FIRST_LEAVING: usize = 50;
/// Staying servers that are named; the rest is a number.
const MOST_STAYING: usize = 10;

/// What an open preview does to ids.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Marked {
    /// Id → place in the order, from 1.
    leaving: BTreeMap<u32, usize>,
    joining: BTreeSet<u32>,
}

impl Marked {
    /// From ids in the order of leaving, and ids that join.
    #[must_use]
    pub fn new(leaving: &[u32], joining: &[u32]) -> Self {
        Self {
            leaving: leaving.iter().enumerate().map(|(at, id)| (*id, at + 1)).collect(),
            joining: joining.iter().copied().collect(),
        }
    }

    /// The place of an id in the order of leaving.
    #[must_use]
    pub fn leaves(&self, id: u32) -> Option<usize> {
        self.leaving.get(&id).copied()
    }

    /// Whether an id joins.
    #[must_use]
    pub fn joins(&self, id: u32) -> bool {
        self.joining.contains(&id)
    }

    /// How many leave with ids in this range.
    #[must_use]
    pub fn leaving_between(&self, first: u32, last: u32) -> usize {
        self.leaving.range(first..=last.max(first)).count()
    }
}

/// Where the control stands.
#[derive(Clone)]
enum Step {
    Idle,
    Looking,
    Preview(ScalePreview),
    Sending(ScalePreview),
    /// The set changed between preview and button.
    Changed,
    Failed(ApiError),
    /// Accepted: from, to.
    Done(u32, u32),
}

/// What the button says: the numbers, and that players are hit.
fn button_text(words: Words, preview: &ScalePreview) -> String {
    let numbers = [("from", group(preview.from)), ("to", group(preview.to))];
    let in_use = preview.leaving.iter().filter(|one| one.in_use).count() as u64;
    let (leaving, joining) = (preview.leaving.len() as u64, u64::from(preview.joining_count));
    match (leaving, in_use, joining) {
        (0, _, 0) => words.with("sets.scale.go", &numbers),
        (0, _, joining) => words.plural("sets.scale.goAdd", joining, &numbers),
        (leaving, 0, _) => words.plural("sets.scale.goRemove", leaving, &numbers),
        (leaving, in_use, _) => {
            let [from, to] = numbers;
            words.plural("sets.scale.goRemoveInUse", leaving, &[from, to, ("used", group(in_use))])
        }
    }
}

/// The control.
#[component]
pub fn Scale(
    /// The set.
    key: SetKey,
    /// Replicas wanted now.
    wanted: Signal<u32>,
    /// Servers that exist now.
    live: Signal<u32>,
    /// Shows the preview on the id strip.
    marked: RwSignal<Marked>,
    /// The set is gone.
    off: Signal<bool>,
) -> impl IntoView {
    let words = use_words();
    let key = StoredValue::new(key);
    let input = NodeRef::<Input>::new();
    let step = RwSignal::new(Step::Idle);
    let map = use_query_map();
    let asked = map.with_untracked(|map| map.get("scale").and_then(|text| text.parse::<u32>().ok()));
    let value = RwSignal::new(asked.unwrap_or_else(|| wanted.get_untracked()).to_string());
    let typed =
        move || value.with(|value| value.trim().parse::<u32>().ok().filter(|replicas| *replicas <= MOST));
    // Until somebody types, the field follows the set.
    let touched = StoredValue::new(asked.is_some());
    Effect::new(move |_| {
        let wanted = wanted.get();
        if !touched.get_value() {
            value.set(wanted.to_string());
        }
    });
    let show = move |to: Step| {
        marked.set(match &to {
            Step::Preview(preview) | Step::Sending(preview) => {
                let leaving: Vec<u32> = preview.leaving.iter().map(|one| one.id).collect();
                Marked::new(&leaving, &preview.joining)
            }
            _ => Marked::default(),
        });
        step.set(to);
    };
    let look = move || {
        let Some(replicas) = untrack(typed) else { return };
        show(Step::Looking);
        let url = format!("api/v1/gameserversets/{}/scale?replicas={replicas}", key.get_value());
        spawn_local(async move {
            let answer = api::get::<ScalePreview>(&url).await;
            let waiting = step.try_with_untracked(|step| matches!(step, Step::Looking));
            if waiting == Some(true) {
                show(answer.map_or_else(Step::Failed, Step::Preview));
            }
        });
    };
    let send = move |preview: ScalePreview| {
        let url = format!("api/v1/gameserversets/{}/scale", key.get_value());
        let request =
            ScaleRequest { replicas: preview.to, resource_version: Some(preview.resource_version.clone()) };
        let (from, to) = (preview.from, preview.to);
        show(Step::Sending(preview));
        spawn_local(async move {
            let answer = api::post_done(&url, &request).await;
            // The reader may have left the page; the set is scaled all the same.
            if step.is_disposed() {
                return;
            }
            // Once it is done the field follows the set again; until then it keeps what was asked for.
            touched.set_value(answer.is_err());
            show(match answer {
                Ok(()) => Step::Done(from, to),
                Err(error) if error.status == 409 => Step::Changed,
                Err(error) => Step::Failed(error),
            });
        });
    };
    let close = move || {
        touched.set_value(false);
        value.set(wanted.get_untracked().to_string());
        show(Step::Idle);
    };
    let nudge = move |by: i64| {
        let now = untrack(typed).unwrap_or_else(|| wanted.get_untracked());
        let next = (i64::from(now) + by).clamp(0, i64::from(MOST));
        touched.set_value(true);
        value.set(next.to_string());
        show(Step::Idle);
    };
    // A link from elsewhere may bring the number; its preview opens by itself.
    Effect::new(move |before: Option<()>| {
        if before.is_none() && asked.is_some() {
            look();
        }
    });
    let submit = move |event: SubmitEvent| {
        event.prevent_default();
        look();
    };
    let same = move || typed() == Some(wanted.get());
    let wrong = move || typed().is_none();
    let busy = move || step.with(|step| matches!(step, Step::Looking | Step::Sending(_)));
    let why_off = move || {
        if off.get() {
            words.t("sets.gone")
        } else if wrong() {
            words.t("sets.scale.notANumber")
        } else if same() {
            words.t("sets.scale.same")
        } else {
            ""
        }
    };
    let body = move || {
        match step.get() {
        Step::Idle => ().into_any(),
        Step::Looking => view! { <p class="soft">{words.t("sets.scale.looking")}</p> }.into_any(),
        Step::Failed(error) => view! {
            <div class="warn bad" role="alert">
                <p>{words.reason(&error.reason)}</p>
                <button type="button" on:click=move |_| look()>{words.t("sets.scale.again")}</button>
            </div>
        }
        .into_any(),
        Step::Changed => view! {
            <div class="warn">
                <p>{words.t("sets.scale.changed")}</p>
                <button type="button" on:click=move |_| look()>{words.t("sets.scale.again")}</button>
            </div>
        }
        .into_any(),
        Step::Done(from, to) => view! {
            <div class="warn good">
                <p>{words.with("sets.scale.done", &[("from", group(from)), ("to", group(to))])}</p>
                <button type="button" class="quiet" on:click=move |_| close()>{words.t("sets.scale.close")}</button>
            </div>
        }
        .into_any(),
        Step::Sending(preview) => view! { <Preview preview wanted live sending=true send=move |_| () close=move || () look /> }.into_any(),
        Step::Preview(preview) => view! { <Preview preview wanted live sending=false send close look /> }.into_any(),
    }
    };
    view! {
        <form class="scale needs-script" on:submit=submit>
            <label for="scale-to">{words.t("sets.scale.title")}</label>
            <span class="input">
                <span>{move || group(wanted.get())}</span>
                <span class="arrow" aria-hidden="true">"→"</span>
                <input
                    id="scale-to"
                    node_ref=input
                    type="text"
                    inputmode="numeric"
                    autocomplete="off"
                    aria-invalid=move || wrong().then_some("true")
                    prop:value=move || value.get()
                    on:input=move |event| {
                        touched.set_value(true);
                        value.set(event_target_value(&event));
                        show(Step::Idle);
                    }
                />
            </span>
            <span class="seg">
                <button type="button" aria-label=words.t("sets.scale.less") on:click=move |_| nudge(-1)>"−"</button>
                <button type="button" aria-label=words.t("sets.scale.more") on:click=move |_| nudge(1)>"+"</button>
            </span>
            <button
                type="submit"
                class="go"
                disabled=move || !why_off().is_empty() || busy()
                title=why_off
            >
                {words.t("sets.scale.preview")}
            </button>
            <span class="faint why-off">{move || if same() { "" } else { why_off() }}</span>
        </form>
        <div class="scale-preview" aria-live="polite">{body}</div>
    }
}

/// Who goes and who joins.
#[component]
fn Preview(
    preview: ScalePreview,
    wanted: Signal<u32>,
    live: Signal<u32>,
    sending: bool,
    send: impl Fn(ScalePreview) + Copy + Send + Sync + 'static,
    close: impl Fn() + Copy + Send + Sync + 'static,
    look: impl Fn() + Copy + Send + Sync + 'static,
) -> impl IntoView {
    let (words, scope) = (use_words(), use_scope());
    let (from, live_then) = (preview.from, live.get_untracked());
    // What the stream says meanwhile: the numbers of the preview may be old before the button is pressed.
    let moved = Memo::new(move |_| wanted.get() != from || live.get() != live_then);
    let all = RwSignal::new(false);
    let leaving = StoredValue::new(preview.leaving.clone());
    let count = preview.leaving.len();
    let (joining, unnamed) = ranges(&preview.joining, 12);
    let joins = u64::from(preview.joining_count);
    let go = button_text(words, &preview);
    let risky = preview.leaving.iter().any(|one| one.in_use);
    let line = move |one: Leaving| {
        let path = server_path(&one.key);
        view! {
            <li>
                <a class="mono" href=move || scope.link(&path)><b>{one.id}</b> " " <span class="soft">{one.key.name.clone()}</span></a>
                <OpsMark ops=one.ops />
                {one.in_use.then(|| view! { <span class="used">{words.t("sets.scale.inUse")}</span> })}
                <span class="soft reason"><Reasoned reason=one.reason /></span>
            </li>
        }
    };
    let folded = move || count > FIRST_LEAVING && !all.get();
    let lines = move || {
        let most = if all.get() { usize::MAX } else { FIRST_LEAVING };
        leaving.get_value().into_iter().take(most).map(line).collect_view()
    };
    let stays = preview.staying.len();
    let staying = preview.staying.iter().take(MOST_STAYING).cloned().map(line).collect_view();
    let warnings = preview
        .warnings
        .iter()
        .map(|reason: &Reason| view! { <p class="warn">{words.reason(reason)}</p> })
        .collect_view();
    let preview = StoredValue::new(preview);
    view! {
        {(count > 0).then(|| view! {
            <p class="lead">{words.n("sets.scale.leaving", count as u64)}</p>
            <ol class="leaving">{lines}</ol>
            <Show when=folded>
                <button type="button" class="quiet" on:click=move |_| all.set(true)>{words.n("sets.scale.showAll", count as u64)}</button>
            </Show>
        })}
        {(stays > 0).then(|| view! {
            <p class="lead">{words.n("sets.scale.staying", stays as u64)}</p>
            <ul class="staying">{staying}</ul>
            {(stays > MOST_STAYING).then(|| view! { <p class="faint">{words.n("sets.scale.unnamed", (stays - MOST_STAYING) as u64)}</p> })}
        })}
        {(joins > 0).then(|| view! {
            <p class="lead">{words.plural("sets.scale.joining", joins, &[("ids", joining.clone())])}
                {(unnamed > 0).then(|| view! { " " <span class="faint">{words.n("sets.scale.unnamed", unnamed as u64)}</span> })}
            </p>
        })}
        {(count == 0 && joins == 0).then(|| view! { <p class="lead">{words.t("sets.scale.nobody")}</p> })}
        {warnings}
        <Show when=move || moved.get() && !sending>
            <p class="warn">
                {words.t("sets.scale.moved")} " "
                <button type="button" on:click=move |_| look()>{words.t("sets.scale.again")}</button>
            </p>
        </Show>
        <div class="acts">
            <button type="button" class=if risky { "go danger" } else { "go" } disabled=sending on:click=move |_| send(preview.get_value())>
                {if sending { words.t("sets.scale.sending").to_owned() } else { go }}
            </button>
            <button type="button" class="quiet" disabled=sending on:click=move |_| close()>{words.t("sets.scale.cancel")}</button>
        </div>
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Lang;

    fn preview(leaving: &[bool], joining: &[u32], from: u32, to: u32) -> ScalePreview {
        ScalePreview {
            set: "kruise/prod/eu".parse().unwrap(),
            resource_version: "7".to_owned(),
            from,
            to,
            leaving: leaving
                .iter()
                .zip(0..)
                .map(|(in_use, id)| Leaving {
                    key: format!("kruise/prod/eu-{id}").parse().unwrap(),
                    id,
                    ops: "None".to_owned(),
                    in_use: *in_use,
                    reason: Reason::new("highest-id", "highest id"),
                })
                .collect(),
            staying: Vec::new(),
            joining: joining.to_vec(),
            joining_count: joining.len() as u32,
            warnings: Vec::new(),
        }
    }

    #[test]
    fn the_button_carries_the_numbers() {
        let words = Words::new(Lang::En);
        for (preview, text) in [
            (preview(&[false; 3], &[], 61, 58), "Scale 61 → 58: remove 3 servers"),
            (preview(&[true, false], &[], 4, 2), "Scale 4 → 2: remove 2 servers, 1 in use"),
            (preview(&[], &[5, 6], 5, 7), "Scale 5 → 7: add 2 servers"),
            (preview(&[], &[], 0, 0), "Scale 0 → 0"),
        ] {
            assert_eq!(button_text(words, &preview), text);
        }
    }

    #[test]
    fn marks_know_the_order_of_leaving() {
        let marked = Marked::new(&[40, 63, 61], &[70]);
        assert_eq!((marked.leaves(40), marked.leaves(61), marked.leaves(7)), (Some(1), Some(3), None));
        assert_eq!((marked.leaving_between(50, 99), marked.leaving_between(9, 3)), (2, 0));
        assert!(marked.joins(70) && !marked.joins(40));
    }
}
