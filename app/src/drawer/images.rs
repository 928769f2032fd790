//! A field for the image of each container that the targets have.

use super::request::samples;
use crate::lean::{effect, memo, part};
use crate::{api, i18n::use_words, urls::query};
use leptos::{prelude::*, task::spawn_local};
use std::collections::{BTreeMap, BTreeSet};
use wire::{Count, ServerDetail, ServerKey};

/// Sets whose containers are looked at.
const SETS: usize = 8;
/// Known images offered.
const OFFERED: usize = 30;

/// Containers with the images they run now, in the order in which they were found.
type Containers = Vec<(String, BTreeSet<String>)>;

fn add(into: &mut Containers, detail: &ServerDetail) {
    for container in &detail.row.containers {
        let images = match into.iter_mut().find(|(name, _)| *name == container.name) {
            Some((_, images)) => images,
            None => {
                into.push((container.name.clone(), BTreeSet::new()));
                let Some((_, images)) = into.last_mut() else { continue };
                images
            }
        };
        if !container.image.is_empty() {
            images.insert(container.image.clone());
        }
    }
}

/// An image without its tag or digest.
fn repository(image: &str) -> &str {
    let image = image.split('@').next().unwrap_or(image);
    match image.rfind(':') {
        Some(at) if !image[at..].contains('/') => &image[..at],
        _ => image,
    }
}

/// The fields.
#[component]
pub fn Images(images: RwSignal<BTreeMap<String, String>>, targets: Memo<Vec<ServerKey>>) -> impl IntoView {
    let words = use_words();
    let containers = RwSignal::new(Containers::new());
    let offers = RwSignal::new(Vec::<String>::new());
    let wanted = memo(move || targets.with(|targets| samples(targets, SETS)));
    effect(move || {
        let wanted = wanted.get();
        spawn_local(async move {
            let mut found = Containers::new();
            for key in wanted {
                // A server that is gone has no containers to change.
                if let Ok(detail) = api::get::<ServerDetail>(&format!("api/v1/gameservers/{key}")).await {
                    add(&mut found, &detail);
                }
            }
            let repositories: BTreeSet<String> = found
                .iter()
                .flat_map(|(_, images)| images.iter().map(|image| repository(image).to_owned()))
                .collect();
            if containers.try_set(found).is_some() {
                return;
            }
            let mut known = Vec::new();
            for repository in repositories {
                let url = format!(
                    "api/v1/filter/values{}",
                    query(&[("field", "image"), ("prefix", &repository), ("limit", &OFFERED.to_string())])
                );
                let counts: Vec<Count> = api::get(&url).await.unwrap_or_default();
                known.extend(counts.into_iter().map(|count| count.value));
            }
            offers.try_set(known);
        });
    });
    let field = move |at: usize, name: String, now: BTreeSet<String>| {
        let id = if at == 0 { "change-image".to_owned() } else { format!("change-image-{at}") };
        let hint = match (now.len(), now.first()) {
            (1, Some(image)) => words.with("batch.imageNow", &[("image", image.clone())]),
            (0, _) => words.t("batch.asNow").to_owned(),
            (n, _) => words.n("batch.imagesNow", n as u64),
        };
        let (read, write, title) = (name.clone(), name.clone(), name.clone());
        view! {
            <div class="field">
                <label class="soft" for=id.clone() title=title>{words.t("batch.image")}" · "{name}</label>
                <input
                    id=id
                    class="mono"
                    type="text"
                    list="known-images"
                    autocomplete="off"
                    autocapitalize="off"
                    spellcheck="false"
                    placeholder=hint.clone()
                    title=hint
                    prop:value=move || images.with(|images| images.get(&read).cloned().unwrap_or_default())
                    on:input=move |event| {
                        let value = event_target_value(&event);
                        images.update(|images| {
                            images.insert(write.clone(), value);
                        });
                    }
                />
            </div>
        }
    };
    view! {
        {part(move || containers.get().into_iter().enumerate().map(|(at, (name, now))| field(at, name, now)).collect_view())}
        <datalist id="known-images">
            {part(move || offers.get().into_iter().map(|image| view! { <option value=image></option> }).collect_view())}
        </datalist>
    }
}

#[cfg(test)]
mod tests {
    use super::repository;

    #[test]
    fn an_image_loses_its_tag_but_not_its_port() {
        let cases = [
            ("game:1.2", "game"),
            ("host:5000/game", "host:5000/game"),
            ("host:5000/a/b:v1", "host:5000/a/b"),
            ("game@sha256:abc", "game"),
            ("game", "game"),
        ];
        for (image, wanted) in cases {
            assert_eq!(repository(image), wanted);
        }
    }
}
