//! Which columns show, in which order, how wide: by mouse and by keyboard.

use super::{
    columns::{Layout, WIDTHS},
    keep,
};
use crate::lean::{each, memo};
use crate::{
    i18n::use_words,
    parts::{Icon, closes_by_itself},
};
use leptos::{html::Details, prelude::*};

/// A button that opens the list of columns.
#[component]
pub fn Chooser(layout: RwSignal<Layout>) -> impl IntoView {
    let words = use_words();
    let sheet = NodeRef::<Details>::new();
    closes_by_itself(sheet);
    let change = move |change: &dyn Fn(&mut Layout)| {
        layout.update(|layout| change(layout));
        keep(layout);
    };
    let order = memo(move || {
        layout.with(|layout| layout.all().iter().map(|wanted| wanted.column).collect::<Vec<_>>())
    });
    let line = move |column: super::columns::Column| {
        let name = words.find(column.key()).unwrap_or_default();
        let shown = move || layout.with(|layout| layout.shown().contains(&column));
        let width = move || layout.with(|layout| layout.width_of(column).to_string());
        let shift = move |right: bool, icon: &'static str, label: &'static str| {
            view! {
                <button
                    type="button"
                    class="quiet iconic"
                    disabled=column.fixed()
                    title=label
                    aria-label=format!("{label}: {name}")
                    on:click=move |_| change(&|layout| layout.shift(column, right))
                >
                    <Icon name=icon.to_owned() />
                </button>
            }
        };
        view! {
            <li>
                <label>
                    <input
                        type="checkbox"
                        disabled=column.fixed()
                        prop:checked=shown
                        on:change=move |event| {
                            let shown = event_target_checked(&event);
                            change(&|layout| layout.show(column, shown));
                        }
                    />
                    <span>{name}</span>
                </label>
                {shift(false, "up", words.t("servers.columns.left"))}
                {shift(true, "down", words.t("servers.columns.right"))}
                <input
                    class="width"
                    type="number"
                    min=WIDTHS.0
                    max=WIDTHS.1
                    step="10"
                    aria-label=words.with("servers.columns.width", &[("name", name.to_owned())])
                    prop:value=width
                    on:change=move |event| {
                        if let Ok(width) = event_target_value(&event).parse::<u32>() {
                            change(&|layout| layout.resize(column, width));
                        }
                    }
                />
            </li>
        }
    };
    view! {
        <details class="chooser needs-script" node_ref=sheet>
            <summary title=words.t("servers.columns.title")>
                <Icon name="columns".to_owned() />
                <span class="wide">{words.t("servers.columns.title")}</span>
            </summary>
            <div class="sheet-over">
                <ul>
                    {each(move || order.get(), line)}
                </ul>
                <button type="button" on:click=move |_| change(&|layout| *layout = Layout::default())>
                    {words.t("servers.columns.reset")}
                </button>
            </div>
        </details>
    }
}
