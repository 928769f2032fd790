//! What each cell of a row shows.

use super::{board::Cell, columns::Column};
use crate::lean::{memo, part};
use crate::{
    drawer::{Part, use_drawer},
    i18n::{group, use_words},
    parts::{Age, LongName, OpsMark, StateMark},
    urls,
};
use leptos::prelude::*;
use wire::ServerRow;

/// A value of the row that is drawn again only when it differs.
fn of<T: PartialEq + Clone + Send + Sync + 'static>(
    cell: Cell,
    read: impl Fn(&ServerRow) -> T + Send + Sync + 'static,
) -> Memo<T> {
    memo(move || cell.row.with(&read))
}

/// A number, or a dash for unknown, which is not 0.
fn number(value: Option<i64>) -> String {
    value.map_or_else(|| "–".to_owned(), group)
}

fn text(cell: Cell, read: impl Fn(&ServerRow) -> String + Send + Sync + 'static) -> AnyView {
    let text = of(cell, read);
    view! { <span class="clip" title=move || text.get()>{part(move || text.get())}</span> }.into_any()
}

/// An image with its version standing out; the whole on hover. Further containers are counted.
fn image(cell: Cell) -> AnyView {
    let images =
        of(cell, |row| row.containers.iter().map(|c| (c.name.clone(), c.image.clone())).collect::<Vec<_>>());
    let title = move || {
        let lines = images.get().into_iter().map(|(name, image)| format!("{name}: {image}"));
        lines.collect::<Vec<_>>().join("\n")
    };
    let first = move || {
        let image = images.with(|images| images.first().map(|(_, image)| image.clone()).unwrap_or_default());
        let at = image.rfind([':', '@']).filter(|at| !image[*at..].contains('/'));
        let (name, version) = at.map_or((image.as_str(), ""), |at| image.split_at(at));
        let short = name.rsplit('/').next().unwrap_or(name).to_owned();
        view! { <span class="head">{short}</span><span class="version">{version.to_owned()}</span> }
    };
    let more = move || {
        let more = images.with(|images| images.len().saturating_sub(1));
        (more > 0).then(|| view! { <span class="faint more">{format!("+{more}")}</span> })
    };
    view! { <span class="mono image" title=title>{first}{more}</span> }.into_any()
}

/// The inside of a cell.
pub fn inside(column: Column, cell: Cell) -> AnyView {
    match column {
        Column::Name => {
            let key = cell.row.with_untracked(|row| row.key.clone());
            view! { <a class="server" href=urls::server(&key)><LongName name=key.name.clone() /></a> }
                .into_any()
        }
        Column::State => view! { <StateMark state=of(cell, |row| row.state.clone()) /> }.into_any(),
        Column::Ops => {
            let (words, drawer) = (use_words(), use_drawer());
            let key = cell.row.with_untracked(|row| row.key.clone());
            let ops = of(cell, |row| row.ops.clone());
            view! {
                <button
                    type="button"
                    class="edit"
                    title=words.t("servers.changeOps")
                    tabindex="-1"
                    on:click=move |_| drawer.open_for(Part::OpsState, vec![key.clone()])
                >
                    <OpsMark ops />
                </button>
            }
            .into_any()
        }
        Column::Namespace => text(cell, |row| row.key.namespace.clone()),
        Column::Set => {
            let key = of(cell, ServerRow::set_key);
            view! {
                {part(move || key.get().map(|key| view! { <a class="inline" href=urls::set(&key)>{key.name.clone()}</a> }))}
            }
            .into_any()
        }
        Column::Players => {
            let players = of(cell, |row| row.players);
            view! { {part(move || number(players.get()))} }.into_any()
        }
        Column::Image => image(cell),
        Column::Node => text(cell, |row| row.node.clone().unwrap_or_else(|| "–".to_owned())),
        Column::Restarts => {
            let restarts = of(cell, |row| row.restarts);
            view! { <span class:faint=move || restarts.get() == 0>{part(move || group(restarts.get()))}</span> }
                .into_any()
        }
        Column::Age => view! { <Age since=of(cell, |row| row.created) /> }.into_any(),
        Column::DeletionPriority => text(cell, |row| row.deletion_priority.clone()),
        Column::UpdatePriority => text(cell, |row| row.update_priority.clone()),
        Column::Revision => text(cell, |row| row.revision.clone()),
        Column::Ip => text(cell, |row| row.ip.clone().unwrap_or_else(|| "–".to_owned())),
        Column::Network => {
            text(cell, |row| if row.network_disabled { "Disabled".to_owned() } else { row.network.clone() })
        }
        Column::Labels => text(cell, |row| {
            row.labels.iter().map(|(key, value)| format!("{key}={value}")).collect::<Vec<_>>().join(", ")
        }),
    }
}
