//! Bands above every page: that this is the sandbox, and what stands in the way of the whole page.

use crate::lean::{memo, part};
use crate::{app::Boot, i18n::use_words, live::use_live, parts::CopyButton};
use leptos::prelude::*;

/// The bands.
#[component]
pub fn Bands() -> impl IntoView {
    let (words, live) = (use_words(), use_live());
    let sandbox = use_context::<Boot>().is_some_and(|boot| boot.sandbox);
    let trouble = memo(move || live.totals.with(|totals| totals.trouble.clone()));
    view! {
        {sandbox.then(|| view! {
            <div class="band" role="note">
                <b>{words.t("common.sandbox.name")}</b>
                <span>{words.t("common.sandbox.what")}</span>
                <a class="inline" href="sandbox/kubeconfig" rel="external" download="">{words.t("common.sandbox.kubeconfig")}</a>
                <a class="inline needs-script" href="sandbox">{words.t("trouble.link")}</a>
            </div>
        })}
        {part(move || trouble.get().map(|error| view! {
            <div class="band trouble" role="alert">
                <b>{words.reason(&error.reason)}</b>
                {error.command.map(|command| view! {
                    <code>{command.clone()}</code>
                    <CopyButton text=command />
                })}
            </div>
        }))}
    }
}
