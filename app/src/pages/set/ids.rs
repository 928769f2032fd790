//! Set page, ids: every id as a cell: live, reserved, implicit or free, and what a scale would do to it.

use super::{
    scale::Marked,
    server_path,
    strip::{self, Block},
};
use crate::lean::{each, memo};
use crate::{
    i18n::{Words, group, use_words},
    parts::state_class,
    urls::use_scope,
};
use leptos::prelude::*;
use wire::set::{IdCell, IdKind};

/// One cell as it is drawn. Cells that are equal keep their element.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Drawn {
    label: String,
    /// Path of the server's page; empty for an id without a server.
    path: String,
    class: String,
    title: String,
}

fn drawn(words: Words, cell: &IdCell, marked: &Marked) -> Drawn {
    let label = if cell.first == cell.last {
        cell.first.to_string()
    } else {
        format!("{}–{}", cell.first, cell.last)
    };
    let ids = u64::from(cell.last.saturating_sub(cell.first)) + 1;
    let joins = (cell.first..=cell.last).any(|id| marked.joins(id));
    let (path, mut class, mut title) = match &cell.kind {
        IdKind::Live { state, ops, key } => {
            let state_word = if state.is_empty() { "Unknown" } else { state };
            let mark = match ops.as_str() {
                "" | "None" => "",
                "Allocated" => " o-alloc",
                "Maintaining" => " o-maint",
                "WaitToBeDeleted" => " o-wait",
                "Kill" => " o-kill",
                _ => " o-other",
            };
            let class = format!("id live {}{mark}", state_class(state));
            (server_path(key), class, format!("{} · {state_word} · {ops}", key.name))
        }
        IdKind::Reserved => (String::new(), "id reserved".to_owned(), words.n("sets.ids.reservedTitle", ids)),
        IdKind::Implicit => (String::new(), "id implicit".to_owned(), words.n("sets.ids.implicitTitle", ids)),
        IdKind::Gap => (String::new(), "id gap".to_owned(), words.n("sets.ids.gapTitle", ids)),
    };
    if let Some(order) = marked.leaves(cell.first).filter(|_| matches!(cell.kind, IdKind::Live { .. })) {
        class.push_str(" leaves");
        title =
            format!("{title} · {}", words.with("sets.ids.leavesTitle", &[("order", group(order as u64))]));
    } else if joins {
        class.push_str(" joins");
        title = format!("{title} · {}", words.t("sets.ids.joinsTitle"));
    }
    Drawn { label, path, class, title }
}

/// The strip, with something (the scale control) in its head.
#[component]
pub fn Ids<V: IntoView + 'static>(
    /// Ids in order.
    cells: Memo<Vec<IdCell>>,
    /// What the open preview would do.
    marked: RwSignal<Marked>,
    /// Cells that are not here yet.
    more: RwSignal<usize>,
    /// Stands below the title.
    head: impl Fn() -> V + Send + 'static,
) -> impl IntoView {
    let words = use_words();
    let blocks = memo(move || cells.with(|cells| strip::blocks(cells)));
    let figures = memo(move || cells.with(|cells| strip::figures(cells)));
    let summary = move || {
        if more.get() > 0 {
            return String::new();
        }
        let figures = figures.get();
        let mut parts = vec![words.n("sets.ids.live", figures.live.into())];
        if figures.reserved > 0 {
            parts.push(words.n("sets.ids.reserved", figures.reserved.into()));
        }
        if figures.implicit > 0 {
            parts.push(words.n("sets.ids.implicit", figures.implicit.into()));
        }
        if figures.gap > 0 {
            parts.push(words.n("sets.ids.gap", figures.gap.into()));
        }
        parts.join(" · ")
    };
    // A block is known by its first id; how many there are decides whether they fold.
    let keys = memo(move || {
        blocks.with(|blocks| blocks.iter().map(|block| block.first / strip::BLOCK).collect::<Vec<_>>())
    });
    let open_all = memo(move || cells.with(|cells| cells.len() <= strip::OPEN_ALL));
    let many = memo(move || keys.with(|keys| keys.len() > 1));
    let block = move |key: u32| {
        let block = memo(move || {
            blocks.with(|blocks| blocks.iter().find(|block| block.first / strip::BLOCK == key).cloned())
        });
        view! { <Fold block cells marked many open_first=open_all.get_untracked() || key == 0 /> }
    };
    view! {
        <header>
            <h2>{words.t("sets.ids.title")}</h2>
            <span class="faint">{summary}</span>
        </header>
        {head()}
        {each(move || keys.get(), block)}
        <Show when=move || more.get() != 0>
            <p class="faint">{move || words.n("sets.ids.more", more.get() as u64)}</p>
        </Show>
        <ul class="id-key" aria-hidden="true">
            <li><i class="id live s-ready">"0"</i> {words.t("sets.ids.key.live")}</li>
            <li><i class="id reserved">"0"</i> {words.t("sets.ids.key.reserved")}</li>
            <li><i class="id implicit">"0"</i> {words.t("sets.ids.key.implicit")}</li>
            <li><i class="id gap">"0"</i> {words.t("sets.ids.key.gap")}</li>
        </ul>
    }
}

/// One block. Its cells exist only while it is open.
#[component]
fn Fold(
    block: Memo<Option<Block>>,
    cells: Memo<Vec<IdCell>>,
    marked: RwSignal<Marked>,
    many: Memo<bool>,
    open_first: bool,
) -> impl IntoView {
    let (words, scope) = (use_words(), use_scope());
    let open = RwSignal::new(open_first);
    let list = memo(move || {
        let Some(block) = block.get() else { return Vec::new() };
        marked.with(|marked| {
            cells.with(|cells| {
                let cells = cells.get(block.cells).unwrap_or_default();
                cells.iter().map(|cell| drawn(words, cell, marked)).collect::<Vec<_>>()
            })
        })
    });
    let cell = move |cell: Drawn| {
        let Drawn { label, path, class, title } = cell;
        if path.is_empty() {
            view! { <span class=class title=title>{label}<span class="sr">" " {title.clone()}</span></span> }
                .into_any()
        } else {
            let href = move || scope.link(&path);
            view! { <a class=class href=href title=title.clone() aria-label=title>{label}</a> }.into_any()
        }
    };
    // All cells of a strip are as wide as the longest id needs, so that columns stand under each other.
    let class = move || match block.with(|block| block.as_ref().map_or(0, |block| block.last)) {
        0..=99 => "ids",
        100..=999 => "ids three",
        1000..=9999 => "ids four",
        _ => "ids five",
    };
    let strip = move || {
        view! {
            <div class=class>{each(move || list.get(), cell)}</div>
        }
    };
    let head = move || {
        block.get().map(|block| {
            let figures = block.figures;
            let leaving = marked.with(|marked| marked.leaving_between(block.first, block.last));
            view! {
                <b>{format!("{}–{}", block.first, block.last)}</b>
                " "
                <span class="faint">{words.n("sets.ids.live", figures.live.into())}</span>
                {(figures.not_ready > 0).then(|| view! { <span class="odd">" · " {words.n("sets.ids.notReady", figures.not_ready.into())}</span> })}
                {(leaving > 0).then(|| view! { <span class="going">" · " {words.n("sets.ids.leaving", leaving as u64)}</span> })}
            }
        })
    };
    move || {
        if many.get() {
            view! {
                <details class="fold" open=open_first on:toggle=move |event| {
                    let details: web_sys::HtmlElement = event_target(&event);
                    open.set(details.has_attribute("open"));
                }>
                    <summary>{head}</summary>
                    <Show when=move || open.get()>{strip()}</Show>
                </details>
            }
            .into_any()
        } else {
            strip().into_any()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Lang;

    #[test]
    fn a_cell_says_what_it_is_and_what_becomes_of_it() {
        let words = Words::new(Lang::En);
        let key = "kruise/prod/eu-7".parse().unwrap();
        let live = IdCell {
            first: 7,
            last: 7,
            kind: IdKind::Live { state: "Crash".to_owned(), ops: "Allocated".to_owned(), key },
        };
        let calm = drawn(words, &live, &Marked::default());
        assert_eq!((calm.label.as_str(), calm.path.as_str()), ("7", "servers/kruise/prod/eu-7"));
        assert_eq!(calm.class, "id live s-crash o-alloc");
        assert_eq!(calm.title, "eu-7 · Crash · Allocated");
        let marked = Marked::new(&[9, 7], &[3]);
        assert_eq!(drawn(words, &live, &marked).class, "id live s-crash o-alloc leaves");
        let gap = IdCell { first: 2, last: 4, kind: IdKind::Gap };
        let drawn = drawn(words, &gap, &marked);
        assert_eq!(
            (drawn.label.as_str(), drawn.class.as_str(), drawn.path.as_str()),
            ("2–4", "id gap joins", "")
        );
    }
}
