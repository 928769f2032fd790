//! The table: a header that stays, the rows of the window, and room for those that are not there.

use super::{
    board::{Board, Cell},
    cells,
    columns::{Column, Layout, WIDTHS},
    grouping::Head as GroupHead,
    lines::Line,
    picking::Picking,
    place::Place,
    window::{ROW, Seen},
};
use crate::lean::{memo, part};
use crate::{i18n::use_words, parts::Icon};
use leptos::{
    attr::custom::custom_attribute,
    ev, html,
    prelude::*,
    wasm_bindgen::JsCast,
    web_sys::{CssStyleDeclaration, HtmlElement},
};
use wire::ServerKey;

/// Width of the column of boxes, pixels; the same in the style.
const BOX: u32 = 34;

/// The table in its scrolling box.
#[component]
pub fn Table(
    /// Rows.
    board: Board,
    /// Where the reader is.
    place: Place,
    /// Selecting by hand.
    picking: Picking,
    /// Columns of this browser.
    layout: RwSignal<Layout>,
    /// The scrolling box.
    scroller: NodeRef<html::Div>,
    /// Whether the page answers to the hand.
    alive: RwSignal<bool>,
) -> impl IntoView {
    let words = use_words();
    let shown_columns = memo(move || layout.with(Layout::shown));
    let all = memo(move || board.shown.with(|shown| shown.as_ref().map_or(0, |shown| shown.all)));
    let look = move || {
        if let Some(element) = scroller.get_untracked() {
            let seen = Seen::of(f64::from(element.scroll_top()), f64::from(element.client_height()));
            if place.look_at(seen, all.get_untracked()) {
                board.will_jump();
            }
        }
    };
    // The table got longer or shorter under what is seen.
    Effect::new(move |_| {
        let _ = all.get();
        if alive.get() {
            look();
        }
    });
    let table = NodeRef::<html::Table>::new();
    // The second column that stays must know how wide the first is.
    Effect::new(move |_| {
        let width = layout.with(|layout| layout.width_of(Column::Name));
        if let Some(table) = table.get() {
            let style: CssStyleDeclaration = HtmlElement::style(&table);
            // A custom property takes any value.
            let _ = style.set_property("--w-name", &format!("{width}px"));
        }
    });
    // The head of the group that the first row belongs to is drawn at the top of the table, where it sticks while its
    // rows pass; the room above them is that much smaller.
    let over = memo(move || board.shown.with(|shown| shown.as_ref()?.above().map(|head| head.value.clone())));
    let above = move || {
        let offset = board.shown.with(|shown| shown.as_ref().map_or(0, |shown| shown.offset));
        offset.saturating_sub(u32::from(over.with(Option::is_some)))
    };
    let below = move || {
        board.shown.with(|shown| shown.as_ref().map_or(0, |shown| shown.all.saturating_sub(shown.end())))
    };
    let room = move |rows: u32| {
        let height = (f64::from(rows) * ROW).to_string();
        view! { <tr class="room" aria-hidden="true"><td colspan="99" {..custom_attribute("height", height)}></td></tr> }
    };
    let room_if_alive = move |rows: u32| (alive.get() && rows > 0).then(|| room(rows));
    let lines =
        move || board.shown.with(|shown| shown.as_ref().map(|shown| shown.lines.clone()).unwrap_or_default());
    let row_count = move || all.get() + 1;
    view! {
        <div
            class="tablebox"
            node_ref=scroller
            tabindex="0"
            role="region"
            aria-label=words.t("servers.title")
            on:scroll=move |_| look()
        >
            <table
                class="servers"
                node_ref=table
                aria-rowcount=row_count
                on:pointermove=move |event| if event.pointer_type() == "mouse" { board.pointer_moved() }
                on:pointerleave=move |_| board.pointer_left()
            >
                <colgroup>
                    <col {..custom_attribute("width", BOX.to_string())} />
                    {part(move || shown_columns.get().into_iter().map(|column| {
                        let width = move || layout.with(|layout| layout.width_of(column).to_string());
                        view! { <col {..custom_attribute("width", width)} /> }
                    }).collect_view())}
                    <col />
                </colgroup>
                <thead>
                    <tr>
                        <th class="pick" scope="col">
                            <AllBox board picking />
                        </th>
                        {part(move || shown_columns.get().into_iter().map(|column| view! {
                            <Head column place layout />
                        }).collect_view())}
                        <th class="rest" aria-hidden="true"></th>
                    </tr>
                </thead>
                <tbody>
                    {part(move || over.get().map(|value| view! { <GroupHead value board place picking /> }))}
                    {part(move || room_if_alive(above()))}
                    <For
                        each=lines
                        key=Line::clone
                        children=move |line| match line {
                            Line::Head(value) => view! { <GroupHead value board place picking /> }.into_any(),
                            Line::Row(key) => board
                                .cell(&key)
                                .map(|cell| view! { <Row key cell board place picking shown_columns /> })
                                .into_any(),
                        }
                    />
                    {part(move || room_if_alive(below()))}
                </tbody>
            </table>
        </div>
    }
}

/// The box in the header: everything that the filter matches.
#[component]
fn AllBox(board: Board, picking: Picking) -> impl IntoView {
    let words = use_words();
    let all = memo(move || {
        board.shown.with(|shown| {
            shown.as_ref().is_some_and(|shown| {
                shown.keys().next().is_some() && shown.keys().all(|key| picking.selection.contains(key))
            })
        })
    });
    view! {
        <input
            type="checkbox"
            class="needs-script"
            aria-label=words.t("common.keys.selectAll")
            title=words.t("common.keys.selectAll")
            prop:checked=move || all.get()
            on:change=move |_| if all.get_untracked() { picking.selection.clear() } else { picking.all() }
        />
    }
}

/// A head: a link that sorts, and an edge to drag.
#[component]
fn Head(column: Column, place: Place, layout: RwSignal<Layout>) -> impl IntoView {
    let words = use_words();
    let name = words.find(column.key()).unwrap_or_default();
    let class = match (column.fixed(), column.numeric()) {
        (true, _) if column == Column::Name => "stay col-name",
        (true, _) => "stay col-state",
        (false, true) => "num",
        (false, false) => "",
    };
    let sorted = move || column.sort().filter(|sort| *sort == place.sort.get());
    let aria = move || sorted().map(|_| if place.desc.get() { "descending" } else { "ascending" });
    let arrow = move || {
        sorted().map(
            |_| view! { <Icon name=if place.desc.get() { "down".to_owned() } else { "up".to_owned() } /> },
        )
    };
    let inside = match column.sort() {
        Some(sort) => view! {
            <a class="sort" href=move || place.sort_link(sort) data-noscroll="true">
                <span>{name}</span>
                {arrow}
            </a>
        }
        .into_any(),
        None => view! { <span>{name}</span> }.into_any(),
    };
    view! {
        <th class=class scope="col" aria-sort=aria>
            {inside}
            <Edge column layout />
        </th>
    }
}

/// The edge of a head, to drag the column's width.
#[component]
fn Edge(column: Column, layout: RwSignal<Layout>) -> impl IntoView {
    // Where the drag began: pointer and width.
    let from = StoredValue::new(None::<(i32, u32)>);
    let down = move |event: ev::PointerEvent| {
        event.prevent_default();
        from.set_value(Some((event.client_x(), layout.with_untracked(|layout| layout.width_of(column)))));
        if let Some(edge) = event.target().and_then(|target| target.dyn_into::<HtmlElement>().ok()) {
            // Without capture the drag ends at the edge of the head; that is all that is lost.
            let _ = edge.set_pointer_capture(event.pointer_id());
        }
    };
    let drag = move |event: ev::PointerEvent| {
        if let Some((x, width)) = from.get_value() {
            let wanted = i64::from(width) + i64::from(event.client_x() - x);
            let wanted =
                u32::try_from(wanted.clamp(i64::from(WIDTHS.0), i64::from(WIDTHS.1))).unwrap_or(WIDTHS.0);
            layout.update(|layout| layout.resize(column, wanted));
        }
    };
    let up = move |_| {
        if from.get_value().is_some() {
            from.set_value(None);
            super::keep(layout);
        }
    };
    view! {
        <span
            class="edge"
            aria-hidden="true"
            on:pointerdown=down
            on:pointermove=drag
            on:pointerup=up
            on:pointercancel=up
            on:dblclick=move |_| {
                layout.update(|layout| layout.resize(column, column.width()));
                super::keep(layout);
            }
        ></span>
    }
}

/// A row.
#[component]
fn Row(
    key: ServerKey,
    cell: Cell,
    board: Board,
    place: Place,
    picking: Picking,
    shown_columns: Memo<Vec<Column>>,
) -> impl IntoView {
    let words = use_words();
    let selected = {
        let key = key.clone();
        memo(move || picking.selection.contains(&key))
    };
    let current = {
        let key = key.clone();
        memo(move || place.cursor.with(|cursor| cursor.as_ref() == Some(&key)))
    };
    let name = key.name.clone();
    let here = key.clone();
    let pick = move |event: ev::MouseEvent| picking.click(board, &key, event.shift_key());
    let glow = move |column: Column| {
        let (bits, turn) = cell.glow.get();
        if bits & column.bit() == 0 {
            ""
        } else if turn % 2 == 0 {
            "glow-even"
        } else {
            "glow-odd"
        }
    };
    let one = move |column: Column| {
        let class = move || {
            let kind = match column {
                Column::Name => "stay col-name ",
                Column::State => "stay col-state ",
                Column::Ops => "ops-cell ",
                other if other.numeric() => "num ",
                _ => "",
            };
            format!("{kind}{}", glow(column))
        };
        view! { <td class=class>{cells::inside(column, cell)}</td> }
    };
    view! {
        <tr
            class="row"
            class:sel=move || selected.get()
            class:cur=move || current.get()
            aria-selected=move || selected.get().to_string()
            on:mousedown=move |_| place.cursor.set(Some(here.clone()))
        >
            <td class="pick">
                <input
                    type="checkbox"
                    class="needs-script"
                    tabindex="-1"
                    aria-label=words.with("servers.selectOne", &[("name", name)])
                    prop:checked=move || selected.get()
                    on:click=pick
                />
            </td>
            {part(move || shown_columns.get().into_iter().map(one).collect_view())}
            <td class="rest"></td>
        </tr>
    }
}
