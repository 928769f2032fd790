//! The page Sets: every set of game servers with its figures.

pub mod mix;

use crate::lean::{each, memo, part};
use crate::{
    data::initial,
    i18n::{Words, group, use_words},
    live::{use_live, use_view},
    pages::deck::{FIRST_SET, look},
    parts::{Age, Empty, ErrorPanel, Loading, StateDot},
    urls::{self, use_scope},
};
use leptos::prelude::*;
use mix::MixBar;
use wire::{ApiError, LiveMessage, SetKey, SetRow, View, filter, row::Count};

/// The filter for a set's servers, with one more term.
pub(crate) fn filter_of(set: &SetKey, term: Option<(&str, &str)>) -> String {
    let name = format!("{}/{}", set.namespace, set.name);
    let text = filter::toggle_in("", "set", &name).unwrap_or(name);
    match term {
        Some((field, value)) => filter::toggle_in(&text, field, value).unwrap_or(text),
        None => text,
    }
}

/// The short form of an image: what follows the last `/`, so that registries do not fill the table.
pub(crate) fn short_image(image: &str) -> &str {
    image.rsplit('/').next().unwrap_or(image)
}

/// Images as parts of a bar. Colours follow the name, not the count, so that they stay while a rollout moves.
pub(crate) fn image_parts(images: &[Count]) -> Vec<mix::Part> {
    // The newest version mostly sorts last; it gets the first colour.
    let mut names: Vec<&str> = images.iter().map(|count| count.value.as_str()).collect();
    names.sort_unstable_by(|a, b| b.cmp(a));
    let legend: Vec<Count> = names.iter().map(|name| Count { value: (*name).to_owned(), count: 0 }).collect();
    let tones = look::tones(&look::By::Image, &legend);
    images
        .iter()
        .map(|count| {
            let rank = names.iter().position(|name| *name == count.value).unwrap_or_default();
            (tones[rank].fill(), count.count, short_image(&count.value).to_owned())
        })
        .collect()
}

/// The tag alone where all images are of one repository, else the short form.
fn image_names(images: &[Count]) -> Vec<&str> {
    let split = |count: &'_ Count| count.value.rsplit_once(':').map(|(repository, _)| repository.to_owned());
    let first = images.first().and_then(split);
    let alike = images.len() > 1 && first.is_some() && images.iter().all(|count| split(count) == first);
    images
        .iter()
        .map(|count| match count.value.rsplit_once(':') {
            Some((_, tag)) if alike => tag,
            _ => short_image(&count.value),
        })
        .collect()
}

/// "1.21.4 94 % · 1.21.3 6 %", the two most frequent.
fn image_text(words: Words, images: &[Count]) -> String {
    let total: u32 = images.iter().map(|count| count.count).sum();
    let names = image_names(images);
    let share = |at: usize| {
        // Neither 0 nor 100 unless it is so: one old server of a thousand matters.
        let percent = (u64::from(images[at].count) * 100 / u64::from(total.max(1))).max(1);
        format!("{} {percent} %", names[at])
    };
    match images.len() {
        0 => "–".to_owned(),
        1 => names[0].to_owned(),
        2 => format!("{} · {}", share(0), share(1)),
        more => format!("{} · {} · {}", share(0), share(1), words.n("sets.moreImages", more as u64 - 2)),
    }
}

/// The page.
#[component]
pub fn SetsPage() -> impl IntoView {
    let (words, scope, live) = (use_words(), use_scope(), use_live());
    let first = {
        let ns = scope.ns.get_untracked();
        initial(|reader| reader.sets(&ns))
    };
    let (first, refused) = match first {
        Some(Ok(rows)) => (Some(rows), None),
        Some(Err(error)) => (None, Some(error)),
        None => (None, None::<ApiError>),
    };
    let (rows, error) = (RwSignal::new(first), RwSignal::new(refused));
    use_view(Signal::derive(move || View::Sets { ns: scope.ns.get() }), move |message| {
        if let LiveMessage::Sets(new) = message {
            error.set(None);
            rows.set(Some(new));
        }
    });
    let error = memo(move || live.refused.get().or_else(|| error.get()));
    let trouble = memo(move || live.totals.with(|totals| totals.trouble.clone()));
    let keys = memo(move || {
        rows.with(|rows| rows.as_ref().map(|rows| rows.iter().map(|row| row.key.clone()).collect::<Vec<_>>()))
    });
    let line = move |key: SetKey| {
        let wanted = key.clone();
        let row = memo(move || {
            rows.with(|rows| {
                rows.as_ref().and_then(|rows| rows.iter().find(|row| row.key == wanted).cloned())
            })
        });
        view! { <Line key row /> }
    };
    let table = move || {
        view! {
            <div class="scroller">
                <table class="sets">
                    <thead>
                        <tr>
                            <th scope="col">{words.t("sets.col.set")}</th>
                            <th scope="col" class="num">{words.t("sets.col.live")}</th>
                            <th scope="col" class="num">{words.t("sets.col.ready")}</th>
                            <th scope="col" class="num wide">{words.t("sets.col.updated")}</th>
                            <th scope="col" class="wide">{words.t("sets.col.images")}</th>
                            <th scope="col">{words.t("sets.col.states")}</th>
                            <th scope="col" class="num wide">{words.t("sets.col.age")}</th>
                        </tr>
                    </thead>
                    <tbody>
                        {each(move || keys.get().unwrap_or_default(), line)}
                    </tbody>
                </table>
            </div>
        }
    };
    let body = move || {
        if let Some(error) = error.get() {
            return view! { <ErrorPanel error /> }.into_any();
        }
        match keys.with(|keys| keys.as_ref().map(Vec::len)) {
            None => view! { <Loading /> }.into_any(),
            // Nothing is there because something stands in the way: that comes first.
            Some(0) if trouble.with(Option::is_some) => {
                trouble.get().map(|error| view! { <ErrorPanel error /> }).into_any()
            }
            Some(0) if !scope.ns.with(String::is_empty) => view! {
                <Empty
                    title=words.with("sets.emptyNs.title", &[("ns", scope.ns.get())])
                    hint=words.t("sets.emptyNs.hint")
                />
                <p class="center"><a class="button" href="sets">{words.t("sets.emptyNs.all")}</a></p>
            }
            .into_any(),
            Some(0) => view! {
                <Empty title=words.t("sets.empty.title") hint=words.t("sets.empty.hint") command=FIRST_SET />
            }
            .into_any(),
            Some(_) => table().into_any(),
        }
    };
    let empty = memo(move || keys.with(|keys| keys.as_ref().is_none_or(Vec::is_empty)));
    // The table stays the same element while rows come and go.
    let state = memo(move || {
        (empty.get(), trouble.with(Option::is_some), error.with(Option::is_some), keys.with(Option::is_none))
    });
    view! {
        <section class="setspage">
            <div class="headline">
                <h1>{words.t("sets.title")}</h1>
                <span class="soft">{part(move || keys.with(|keys| keys.as_ref().map(|keys| words.n("sets.count", keys.len() as u64))))}</span>
            </div>
            {move || {
                // Read, not only tracked: a memo that nobody reads never looks at its sources again.
                let _ = state.get();
                untrack(body)
            }}
        </section>
    }
}

/// One set.
#[component]
fn Line(key: SetKey, row: Memo<Option<SetRow>>) -> impl IntoView {
    let (words, scope) = (use_words(), use_scope());
    let path = urls::set(&key);
    let figures = memo(move || {
        row.with(|row| row.as_ref().map(|row| (row.wanted, row.live, row.ready, row.updated, row.created)))
    });
    let of = move |pick: fn((u32, u32, u32, u32, i64)) -> u32| figures.get().map(pick).unwrap_or_default();
    let images = memo(move || row.with(|row| row.as_ref().map(|row| row.images.clone()).unwrap_or_default()));
    let states = memo(move || row.with(|row| row.as_ref().map(|row| row.states.clone()).unwrap_or_default()));
    let problem = memo(move || row.with(|row| row.as_ref().and_then(|row| row.problem.clone())));
    let short = move |value: u32| if value < of(|f| f.0) { "num short" } else { "num" };
    let for_states = key.clone();
    let (all, ready) = (filter_of(&key, None), filter_of(&key, Some(("state", "Ready"))));
    let state_links = move || {
        // Ready has a column of its own.
        states
            .get()
            .into_iter()
            .filter(|count| count.value != "Ready")
            .map(|count| {
                let q = filter_of(&for_states, Some(("state", &count.value)));
                let name = if count.value.is_empty() { "Unknown".to_owned() } else { count.value.clone() };
                view! {
                    <a class="chip" href=move || scope.link_with("servers", &q) title=name>
                        <StateDot state=count.value.clone() />
                        <span class="name">{name.clone()}</span>
                        <span class="count">{group(count.count)}</span>
                    </a>
                }
            })
            .collect_view()
    };
    view! {
        <tr>
            <th scope="row">
                <a href=move || scope.link(&path)>{key.name.clone()}</a>
                " "
                <span class="sub">{key.namespace}</span>
                {part(move || problem.get().map(|reason| {
                    let text = words.reason(&reason);
                    view! { <p class="problem">{text}</p> }
                }))}
            </th>
            <td class=move || short(of(|f| f.1))>
                <a href=move || scope.link_with("servers", &all)>{move || group(of(|f| f.1))}</a>
                <span class="faint" title=words.t("sets.wanted")>" / " {move || group(of(|f| f.0))}</span>
            </td>
            <td class=move || short(of(|f| f.2))>
                <a href=move || scope.link_with("servers", &ready)>{move || group(of(|f| f.2))}</a>
            </td>
            <td class="num wide">{move || group(of(|f| f.3))}</td>
            <td class="wide images">
                {part(move || view! { <MixBar parts=image_parts(&images.get()) /> })}
                <span class="sub">{move || image_text(words, &images.get())}</span>
            </td>
            <td class="chips">{state_links}</td>
            <td class="num wide soft"><Age since=Signal::derive(move || figures.get().map_or(0, |f| f.4)) /></td>
        </tr>
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Lang;

    fn counts(list: &[(&str, u32)]) -> Vec<Count> {
        list.iter().map(|(value, count)| Count { value: (*value).to_owned(), count: *count }).collect()
    }

    #[test]
    fn the_mix_says_the_share_of_the_two_most_frequent() {
        let words = Words::new(Lang::En);
        assert_eq!(image_text(words, &[]), "–");
        assert_eq!(image_text(words, &counts(&[("host/team/game:1.12", 3)])), "game:1.12");
        assert_eq!(image_text(words, &counts(&[("game:2", 999), ("game:1", 1)])), "2 99 % · 1 1 %");
        assert_eq!(
            image_text(words, &counts(&[("a/game:2", 1), ("b/game:1", 1)])),
            "game:2 50 % · game:1 50 %"
        );
    }

    #[test]
    fn an_image_keeps_its_colour_when_the_order_of_counts_turns() {
        let before = image_parts(&counts(&[("game:1", 9), ("game:2", 1)]));
        let after = image_parts(&counts(&[("game:2", 9), ("game:1", 1)]));
        assert_eq!(before[0].0, after[1].0);
        assert_ne!(before[0].0, before[1].0);
    }

    #[test]
    fn a_set_filter_names_the_namespace() {
        let key: SetKey = "kruise/prod/eu".parse().unwrap();
        assert_eq!(filter_of(&key, None), "set:prod/eu");
        assert_eq!(filter_of(&key, Some(("state", "Crash"))), "set:prod/eu state:Crash");
    }
}
