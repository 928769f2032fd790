//! What the palette offers, and which of it fits what was typed.

use crate::{browser, drawer::Part, i18n::Words, json};
use wire::{SetKey, SetRow};

/// Recent filters kept.
const RECENT: usize = 6;
/// Entries shown at once.
const SHOWN: usize = 40;

/// What an entry does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// Goes to a page.
    Page(&'static str),
    /// Goes to a set.
    Set(SetKey),
    /// Shows the servers of a filter.
    Filter(String),
    /// Looks at one namespace; empty is all.
    Namespace(String),
    /// Night or day.
    Theme,
    /// Copies the address of what is shown.
    CopyLink,
    /// Selects everything that the filter matches.
    SelectAll,
    /// Selects nothing.
    ClearSelection,
    /// Opens the drawer.
    Edit(Part),
    /// Lists the keys.
    Keys,
}

/// A line of the palette.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Go to, do, recent: a word in front.
    pub kind: &'static str,
    /// What it is called.
    pub name: String,
    /// A key or a number at the end.
    pub hint: String,
    /// What it does.
    pub step: Step,
}

/// Everything that could be done now.
pub fn all(
    words: Words,
    sets: &[SetRow],
    recent: &[String],
    namespaces: &[String],
    selected: usize,
) -> Vec<Entry> {
    let (to, act) = (words.t("common.palette.go"), words.t("common.palette.do"));
    let entry = |kind: &'static str, name: &str, hint: &str, step: Step| Entry {
        kind,
        name: name.to_owned(),
        hint: hint.to_owned(),
        step,
    };
    let mut entries = vec![
        entry(to, words.t("common.nav.deck"), "g d", Step::Page("")),
        entry(to, words.t("common.nav.servers"), "g s", Step::Page("servers")),
        entry(to, words.t("common.nav.sets"), "g t", Step::Page("sets")),
        entry(to, words.t("common.nav.batches"), "g b", Step::Page("batches")),
    ];
    if selected > 0 {
        let parts = [
            (Part::OpsState, "opsState"),
            (Part::Image, words.t("batch.image")),
            (Part::Priority, words.t("batch.priority")),
        ];
        for (part, field) in parts {
            let name = words.plural("common.palette.edit", selected as u64, &[("field", field.to_owned())]);
            entries.push(entry(act, &name, "e", Step::Edit(part)));
        }
        entries.push(entry(act, words.t("common.selection.clear"), "Esc", Step::ClearSelection));
    }
    entries.push(entry(act, words.t("common.keys.selectAll"), "Ctrl A", Step::SelectAll));
    entries.push(entry(act, words.t("common.theme"), "", Step::Theme));
    entries.push(entry(act, words.t("common.palette.copyLink"), "", Step::CopyLink));
    entries.push(entry(act, words.t("common.keys.title"), "?", Step::Keys));
    let before = words.t("common.palette.recent");
    entries.extend(recent.iter().map(|q| entry(before, q, "", Step::Filter(q.clone()))));
    let set = words.t("common.palette.set");
    entries.extend(sets.iter().map(|row| {
        let name = format!("{}/{}", row.key.namespace, row.key.name);
        entry(set, &name, &row.live.to_string(), Step::Set(row.key.clone()))
    }));
    let namespace = words.t("common.namespace");
    entries.push(entry(namespace, words.t("common.allNamespaces"), "", Step::Namespace(String::new())));
    entries.extend(namespaces.iter().map(|name| entry(namespace, name, "", Step::Namespace(name.clone()))));
    entries
}

/// The entries that hold every word that was typed, those that start with it first. With something typed the last
/// entry filters servers by it.
pub fn find(all: Vec<Entry>, typed: &str) -> Vec<Entry> {
    let wanted = typed.trim().to_lowercase();
    if wanted.is_empty() {
        return all.into_iter().take(SHOWN).collect();
    }
    let mut found: Vec<(bool, Entry)> = all
        .into_iter()
        .filter_map(|entry| {
            let name = entry.name.to_lowercase();
            let whole = format!("{} {name}", entry.kind.to_lowercase());
            wanted
                .split_whitespace()
                .all(|word| whole.contains(word))
                .then(|| (!name.starts_with(&wanted), entry))
        })
        .collect();
    found.sort_by_key(|(later, _)| *later);
    found.into_iter().map(|(_, entry)| entry).take(SHOWN).collect()
}

/// Recent filters, newest first.
pub fn recent() -> Vec<String> {
    browser::stored("recent").and_then(|text| json::read(&text).ok()).unwrap_or_default()
}

/// Keeps a filter as the newest.
pub fn remember(q: &str) {
    let mut list = recent();
    list.retain(|old| old != q);
    list.insert(0, q.to_owned());
    list.truncate(RECENT);
    if let Ok(text) = serde_json::to_string(&list) {
        browser::store("recent", &text);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Lang;

    fn names(typed: &str) -> Vec<String> {
        let recent = ["set:minecraft players<5".to_owned()];
        let all = all(Words::new(Lang::En), &[], &recent, &["prod".to_owned()], 3);
        find(all, typed).into_iter().map(|entry| entry.name).collect()
    }

    #[test]
    fn every_word_must_fit_and_a_start_goes_first() {
        assert_eq!(names("ser")[0], "Servers");
        assert_eq!(names("minecraft pl"), ["set:minecraft players<5"]);
        assert_eq!(names("namespace prod"), ["prod"]);
        assert!(names("zzz").is_empty());
    }

    #[test]
    fn editing_is_offered_only_with_a_selection() {
        let with = |selected| all(Words::new(Lang::En), &[], &[], &[], selected);
        let edits =
            |entries: Vec<Entry>| entries.iter().filter(|entry| matches!(entry.step, Step::Edit(_))).count();
        assert_eq!((edits(with(0)), edits(with(2))), (0, 3));
    }
}
