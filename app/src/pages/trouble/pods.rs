//! Page Trouble, servers: one is named and gets a trouble; those that have one are listed.

use super::{
    Desk,
    orders::{POD_CHOICES, named, pod_trouble},
};
use crate::{
    i18n::{group, use_words},
    lean::{memo, part},
    time,
};
use leptos::{ev::SubmitEvent, prelude::*};
use leptos_router::hooks::use_query_map;
use wire::sandbox::{MOST_PODS, TroubledPod};

/// `namespace/name`, or a name in the namespace `default`.
fn path_of(text: &str) -> Option<String> {
    let text = text.trim();
    let (namespace, name) = text.split_once('/').unwrap_or(("default", text));
    // Letters of Kubernetes names only: what is typed becomes part of a URL.
    let letter = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    let legal =
        |part: &str| part.starts_with(letter) && part.chars().all(|c| letter(c) || matches!(c, '-' | '.'));
    (legal(namespace) && legal(name)).then(|| format!("pods/{namespace}/{name}"))
}

/// The form and the list.
#[component]
pub fn Pods(desk: Desk) -> impl IntoView {
    let words = use_words();
    // A link from a server's page brings its name.
    let asked = use_query_map().with_untracked(|map| map.get("pod").unwrap_or_default());
    let (pod, choice) = (RwSignal::new(asked), RwSignal::new(0_usize));
    let pods = memo(move || {
        desk.trouble.with(|trouble| trouble.as_ref().map(|trouble| trouble.pods.clone()).unwrap_or_default())
    });
    let path = memo(move || pod.with(|pod| path_of(pod)));
    let wrong = move || pod.with(|pod| !pod.trim().is_empty()) && path.with(Option::is_none);
    let submit = move |event: SubmitEvent| {
        event.prevent_default();
        let (_, key, value) = POD_CHOICES[choice.get_untracked().min(POD_CHOICES.len() - 1)];
        // The same crash a second time is another one only with another mark after it.
        let once = (key == "crash-once").then(|| format!("{value}@{}", time::machine_now()));
        if let Some(path) = path.get_untracked() {
            desk.wish(&path, key, Some(once.as_deref().unwrap_or(value)));
        }
    };
    let options = POD_CHOICES
        .iter()
        .enumerate()
        .map(|(at, (name, ..))| view! { <option value=at.to_string()>{named(words, "pod", name)}</option> })
        .collect_view();
    let line = move |one: TroubledPod| {
        let path = format!("pods/{}/{}", one.namespace, one.name);
        let full = format!("{}/{}", one.namespace, one.name);
        let troubles = one
            .trouble
            .into_iter()
            .map(|(key, value)| {
                let (text, path) = (pod_trouble(words, &key, &value), path.clone());
                let label = format!("{full}: {text}: {}", words.t("trouble.end"));
                view! {
                    <span class="chip">
                        {text}
                        <button type="button" class="quiet" aria-label=label disabled=move || desk.busy.get()
                            on:click=move |_| desk.wish(&path, &key, None)>{words.t("trouble.end")}</button>
                    </span>
                }
            })
            .collect_view();
        view! { <li class="on"><span class="name mono">{full.clone()}</span><span class="chips">{troubles}</span></li> }
    };
    let list = move || {
        let pods = pods.get();
        if pods.is_empty() {
            return view! { <p class="soft">{words.t("trouble.noPods")}</p> }.into_any();
        }
        let full = pods.len() >= MOST_PODS;
        view! {
            <ul class="orders">{pods.into_iter().map(line).collect_view()}</ul>
            {full.then(|| view! { <p class="faint">{words.with("trouble.morePods", &[("n", group(MOST_PODS as u64))])}</p> })}
        }
        .into_any()
    };
    view! {
        <section class="card">
            <header><h2>{words.t("trouble.pods")}</h2></header>
            <form class="podform" on:submit=submit>
                <label for="trouble-pod">{words.t("trouble.podLabel")}</label>
                <input id="trouble-pod" type="text" class="mono" autocomplete="off" spellcheck="false" placeholder="default/arena-0"
                    aria-invalid=move || wrong().then_some("true")
                    prop:value=move || pod.get() on:input=move |event| pod.set(event_target_value(&event)) />
                <select aria-label=words.t("trouble.choice") on:change=move |event| choice.set(event_target_value(&event).parse().unwrap_or(0))>
                    {options}
                </select>
                <button type="submit" class="go" disabled=move || path.with(Option::is_none) || desk.busy.get()>{words.t("trouble.begin")}</button>
                <span class="faint">{move || if wrong() { words.t("trouble.podWrong") } else { "" }}</span>
            </form>
            {part(list)}
        </section>
    }
}

#[cfg(test)]
mod tests {
    use super::path_of;

    #[test]
    fn a_pod_is_named_with_or_without_its_namespace() {
        assert_eq!(path_of(" prod/mc-0 ").as_deref(), Some("pods/prod/mc-0"));
        assert_eq!(path_of("mc-0").as_deref(), Some("pods/default/mc-0"));
        for wrong in ["", "a/b/c", "/x", "x/", "a b", "../x", "Ä", "a?b", "%2e"] {
            assert_eq!(path_of(wrong), None, "{wrong}");
        }
    }
}
