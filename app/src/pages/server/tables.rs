//! Conditions and events as tables; the set page shows them too.

use crate::{
    i18n::{group, use_words},
    parts::Ago,
};
use leptos::prelude::*;
use wire::server::{ConditionView, EventView};

/// Events that are shown before "show all".
const FIRST_EVENTS: usize = 20;

/// Whether a condition of this type is good when it is true. Most are; those that name a trouble are not.
fn is_bad(condition: &ConditionView) -> bool {
    let names_trouble = [
        "Failed",
        "Failure",
        "Degraded",
        "Pressure",
        "Stalled",
        "Disrupted",
        "DisruptionTarget",
        "Pending",
        "Waiting",
        "Ignored",
    ]
    .iter()
    .any(|word| condition.kind.contains(word));
    match condition.status.as_str() {
        "True" => names_trouble,
        "False" => !names_trouble,
        _ => true,
    }
}

/// Conditions, those that stand in the way first.
#[component]
pub fn Conditions(
    /// What the objects say.
    #[prop(into)]
    conditions: Signal<Vec<ConditionView>>,
) -> impl IntoView {
    let words = use_words();
    let rows = move || {
        let mut list = conditions.get();
        list.sort_by_key(|condition| !is_bad(condition));
        list.into_iter()
            .map(|condition| {
                let bad = is_bad(&condition);
                let ConditionView { kind, status, reason, message, since, object } = condition;
                view! {
                    <tr class:bad=bad>
                        <th scope="row">{kind} " " <span class="sub">{object}</span></th>
                        <td>{status}</td>
                        <td class="text">
                            {(!reason.is_empty()).then(|| view! { <b class="mono">{reason}</b> })}
                            " "
                            {message}
                        </td>
                        <td class="num soft">{since.map(|since| view! { <Ago at=since /> })}</td>
                    </tr>
                }
            })
            .collect_view()
    };
    view! {
        <section class="card">
            <header><h2>{words.t("server.conditions.title")}</h2></header>
            <Show
                when=move || conditions.with(|list| !list.is_empty())
                fallback=move || view! { <p class="calm">{words.t("server.conditions.none")}</p> }
            >
                <div class="scroller">
                    <table class="facts-table conditions">
                        <thead class="sr">
                            <tr>
                                <th scope="col">{words.t("server.conditions.type")}</th>
                                <th scope="col">{words.t("server.conditions.status")}</th>
                                <th scope="col">{words.t("server.conditions.reason")}</th>
                                <th scope="col">{words.t("server.conditions.since")}</th>
                            </tr>
                        </thead>
                        <tbody>{rows}</tbody>
                    </table>
                </div>
            </Show>
        </section>
    }
}

/// Events, newest first. They live about an hour in Kubernetes, and the page says so.
#[component]
pub fn Events(
    /// What happened.
    #[prop(into)]
    events: Signal<Vec<EventView>>,
) -> impl IntoView {
    let words = use_words();
    let all = RwSignal::new(false);
    let rows = move || {
        let most = if all.get() { usize::MAX } else { FIRST_EVENTS };
        events
            .get()
            .into_iter()
            .take(most)
            .map(|event| {
                let EventView { time, kind, reason, message, count, object } = event;
                view! {
                    <tr class:bad=kind == "Warning">
                        <td class="soft when"><Ago at=time /></td>
                        <th scope="row">
                            {(kind == "Warning").then(|| view! { <span class="sr">"Warning "</span> })}
                            {reason}
                            {(count > 1).then(|| view! { <span class="sub">" ×" {group(count)}</span> })}
                        </th>
                        <td class="text">{message}</td>
                        <td class="sub wide">{object}</td>
                    </tr>
                }
            })
            .collect_view()
    };
    let hidden = move || events.with(Vec::len).saturating_sub(FIRST_EVENTS);
    let folded = move || hidden() > 0 && !all.get();
    view! {
        <section class="card">
            <header>
                <h2>{words.t("server.events.title")}</h2>
                <span class="faint">{words.t("server.events.hour")}</span>
            </header>
            <Show
                when=move || events.with(|list| !list.is_empty())
                fallback=move || view! { <p class="calm">{words.t("server.events.none")}</p> }
            >
                <div class="scroller">
                    <table class="facts-table events">
                        <thead class="sr">
                            <tr>
                                <th scope="col">{words.t("server.events.time")}</th>
                                <th scope="col">{words.t("server.events.reason")}</th>
                                <th scope="col">{words.t("server.events.message")}</th>
                                <th scope="col" class="wide">{words.t("server.events.object")}</th>
                            </tr>
                        </thead>
                        <tbody>{rows}</tbody>
                    </table>
                </div>
                <Show when=folded>
                    <button type="button" class="quiet needs-script" on:click=move |_| all.set(true)>
                        {move || words.n("server.events.more", hidden() as u64)}
                    </button>
                </Show>
            </Show>
        </section>
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_condition_that_names_a_trouble_is_bad_when_it_is_true() {
        let condition = |kind: &str, status: &str| ConditionView {
            kind: kind.to_owned(),
            status: status.to_owned(),
            reason: String::new(),
            message: String::new(),
            since: None,
            object: String::new(),
        };
        for (kind, status, bad) in [
            ("Ready", "True", false),
            ("Ready", "False", true),
            ("Ready", "Unknown", true),
            ("ReplicaFailure", "True", true),
            ("ReplicaFailure", "False", false),
            ("DisruptionTarget", "True", true),
            ("FieldsIgnored", "True", true),
            ("UpdatePending", "False", false),
        ] {
            assert_eq!(is_bad(&condition(kind, status)), bad, "{kind} {status}");
        }
    }
}
