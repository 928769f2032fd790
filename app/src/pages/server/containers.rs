//! Server page, containers: which image runs, where it comes from, what is on its way.

use crate::lean::{each, memo};
use crate::{
    i18n::{group, use_words},
    parts::{Tag, TagKind},
};
use leptos::prelude::*;
use wire::server::ContainerDetail;

/// Where the image of a container comes from, and whether it runs already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// The set's template, and it runs.
    Template,
    /// The server's own override, and it runs.
    Own,
    /// Something else runs still; the wanted one is that of the template.
    AwaitsTemplate,
    /// Something else runs still; the wanted one is the server's own.
    AwaitsOwn,
    /// There is no pod, or nothing says what it should be.
    Unknown,
}

/// Compares what is wanted with what runs.
#[must_use]
pub fn source(container: &ContainerDetail) -> Source {
    let ContainerDetail { template_image, override_image, live_image, .. } = container;
    let own = !override_image.is_empty();
    let wanted = if own { override_image } else { template_image };
    match (own, live_image.is_empty() || wanted.is_empty(), live_image == wanted) {
        (_, true, _) => Source::Unknown,
        (true, _, true) => Source::Own,
        (false, _, true) => Source::Template,
        (true, _, false) => Source::AwaitsOwn,
        (false, _, false) => Source::AwaitsTemplate,
    }
}

/// The table of containers.
#[component]
pub fn Containers(
    /// In pod order.
    #[prop(into)]
    containers: Signal<Vec<ContainerDetail>>,
) -> impl IntoView {
    let words = use_words();
    let names =
        memo(move || containers.with(|list| list.iter().map(|one| one.name.clone()).collect::<Vec<_>>()));
    let line = move |name: String| {
        let wanted = name.clone();
        let container =
            memo(move || containers.with(|list| list.iter().find(|one| one.name == wanted).cloned()));
        view! { <Line name container /> }
    };
    view! {
        <section class="card">
            <header>
                <h2>{words.t("server.containers.title")}</h2>
                <span class="faint">{words.t("server.containers.chain")}</span>
            </header>
            <Show
                when=move || names.with(|names| !names.is_empty())
                fallback=move || view! { <p class="calm">{words.t("server.containers.none")}</p> }
            >
                {each(move || names.get(), line)}
            </Show>
        </section>
    }
}

#[component]
fn Line(name: String, container: Memo<Option<ContainerDetail>>) -> impl IntoView {
    let words = use_words();
    let image = move |pick: fn(&ContainerDetail) -> &String| {
        container.with(|one| one.as_ref().map(|one| pick(one).clone()).unwrap_or_default())
    };
    let kind = memo(move || container.with(|one| one.as_ref().map_or(Source::Unknown, source)));
    let step = move |label: &'static str, pick: fn(&ContainerDetail) -> &String, tag: TagKind| {
        let text = image(pick);
        let body = if text.is_empty() {
            view! { <span class="faint">{words.t("server.containers.notSet")}</span> }.into_any()
        } else {
            view! { <Tag text kind=tag /> }.into_any()
        };
        view! { <li><span class="label">{label}</span> {body}</li> }
    };
    let chain = move || {
        let kind = kind.get();
        let own = matches!(kind, Source::Own | Source::AwaitsOwn);
        let live = match kind {
            Source::Own => TagKind::Own,
            Source::AwaitsOwn | Source::AwaitsTemplate => TagKind::Old,
            Source::Template | Source::Unknown => TagKind::Plain,
        };
        view! {
            {step(words.t("server.containers.template"), |one| &one.template_image, TagKind::Plain)}
            {step(words.t("server.containers.override"), |one| &one.override_image, if own { TagKind::Own } else { TagKind::Plain })}
            {step(words.t("server.containers.live"), |one| &one.live_image, live)}
        }
    };
    let verdict = move || match kind.get() {
        Source::Template => words.t("server.source.template"),
        Source::Own => words.t("server.source.own"),
        Source::AwaitsTemplate => words.t("server.source.awaitsTemplate"),
        Source::AwaitsOwn => words.t("server.source.awaitsOwn"),
        Source::Unknown => words.t("server.source.unknown"),
    };
    let state = move || {
        let Some(one) = container.get() else { return ().into_any() };
        let class = if one.ready { "dot s-ready" } else { "dot s-notready" };
        let ready = if one.ready {
            words.t("server.containers.ready")
        } else {
            words.t("server.containers.notReady")
        };
        let ends = |text: String, label: &'static str| {
            (!text.is_empty()).then(|| view! { <div><dt>{label}</dt><dd>{text}</dd></div> })
        };
        view! {
            <span class="state"><i class=class aria-hidden="true"></i> {ready}</span>
            <dl class="inline">
                {ends(one.state, words.t("server.containers.state"))}
                <div>
                    <dt>{words.t("server.containers.restarts")}</dt>
                    <dd class:bad=one.restarts != 0>{group(one.restarts)}</dd>
                </div>
                {ends(one.last_end, words.t("server.containers.lastEnd"))}
                {ends(one.requests, words.t("server.containers.requests"))}
                {ends(one.limits, words.t("server.containers.limits"))}
            </dl>
        }
        .into_any()
    };
    view! {
        <div class="container">
            <h3 class="mono">{name}</h3>
            <ol class="chain">{chain}</ol>
            <p class="verdict soft" class:waits=move || matches!(kind.get(), Source::AwaitsOwn | Source::AwaitsTemplate)>{verdict}</p>
            <div class="container-state">{state}</div>
        </div>
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_source_follows_from_the_three_images() {
        for (template, own, live, expected) in [
            ("game:1", "", "game:1", Source::Template),
            ("game:2", "", "game:1", Source::AwaitsTemplate),
            ("game:2", "fix:7", "fix:7", Source::Own),
            ("game:2", "game:2", "game:2", Source::Own),
            ("game:2", "fix:7", "game:2", Source::AwaitsOwn),
            ("game:2", "fix:7", "", Source::Unknown),
            ("", "", "game:1", Source::Unknown),
        ] {
            let container = ContainerDetail {
                name: "game".to_owned(),
                template_image: template.to_owned(),
                override_image: own.to_owned(),
                live_image: live.to_owned(),
                requests: String::new(),
                limits: String::new(),
                ready: true,
                restarts: 0,
                state: String::new(),
                last_end: String::new(),
            };
            assert_eq!(source(&container), expected, "{template} {own} {live}");
        }
    }
}
