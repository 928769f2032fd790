//! Languages: which one a request gets, and the words of the interface.
//!
//! A small catalogue of our own instead of a library: reasons arrive from the server as codes, so keys must be
//! looked up by text. All three languages are in the server; a browser gets the one it reads within the page. Tests
//! check that every key the sources name exists and that the three languages have the same keys and placeholders.

use crate::json;
use leptos::prelude::*;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;

/// A language of the interface.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Lang {
    /// English.
    #[default]
    En,
    /// Simplified Chinese.
    Zh,
    /// Japanese.
    Ja,
}

impl Lang {
    /// All languages, in the order of the menu.
    pub const ALL: [Self; 3] = [Self::En, Self::Zh, Self::Ja];

    /// The code for URLs, cookies and file names.
    #[must_use]
    pub fn code(self) -> &'static str {
        match self {
            Self::En => "en",
            Self::Zh => "zh",
            Self::Ja => "ja",
        }
    }

    /// The tag for the `lang` attribute: it decides which shapes CJK characters take.
    #[must_use]
    pub fn tag(self) -> &'static str {
        match self {
            Self::En => "en",
            Self::Zh => "zh-Hans",
            Self::Ja => "ja",
        }
    }

    /// Its own name.
    #[must_use]
    pub fn own_name(self) -> &'static str {
        match self {
            Self::En => "English",
            Self::Zh => "中文",
            Self::Ja => "日本語",
        }
    }

    /// Reads a code or a longer language tag (`zh-CN`); `None` for a language we do not have.
    #[must_use]
    pub fn parse(tag: &str) -> Option<Self> {
        let primary = tag.split(['-', '_']).next().unwrap_or_default().trim().to_ascii_lowercase();
        Self::ALL.into_iter().find(|lang| lang.code() == primary)
    }

    /// The language of a request: `?lang=`, then the cookie `lang`, then the `Accept-Language` header.
    ///
    /// `cookies` is the value of the Cookie header.
    #[must_use]
    pub fn negotiate(query: Option<&str>, cookies: Option<&str>, accept: Option<&str>) -> Self {
        let cookie = || {
            cookies?.split(';').find_map(|pair| {
                let (name, value) = pair.split_once('=')?;
                (name.trim() == "lang").then(|| Self::parse(value.trim())).flatten()
            })
        };
        let accepted = || {
            let mut wanted: Vec<(f32, Self)> = accept?
                .split(',')
                .filter_map(|part| {
                    let mut pieces = part.split(';');
                    let lang = Self::parse(pieces.next()?.trim())?;
                    let weight =
                        pieces.find_map(|p| p.trim().strip_prefix("q=")?.parse().ok()).unwrap_or(1.0);
                    (weight > 0.0).then_some((weight, lang))
                })
                .collect();
            wanted.sort_by(|a, b| b.0.total_cmp(&a.0));
            wanted.first().map(|(_, lang)| *lang)
        };
        query.and_then(Self::parse).or_else(cookie).or_else(accepted).unwrap_or_default()
    }
}

/// The `id` of the element that carries the words of the page.
pub(crate) const WORDS_ID: &str = "words";

/// Dotted keys, and texts that live as long as the process.
type Catalogue = HashMap<String, &'static str>;

/// A text that is no JSON adds nothing; a test looks at all of them.
fn catalogue_of(text: &str) -> Catalogue {
    let mut into = Catalogue::new();
    // There are three catalogues at most, and they are never given up.
    let _ = json::read_texts(text, |key, text| {
        into.insert(key, Box::leak(text.into_boxed_str()));
    });
    into
}

#[cfg(feature = "hydrate")]
fn catalogue(_: Lang) -> &'static Catalogue {
    // Another language is another page.
    static LOADED: std::sync::OnceLock<Catalogue> = std::sync::OnceLock::new();
    LOADED.get_or_init(|| {
        let element = document().get_element_by_id(WORDS_ID);
        catalogue_of(&element.and_then(|element| element.text_content()).unwrap_or_default())
    })
}

#[cfg(not(feature = "hydrate"))]
pub(crate) use sources::{catalogue, for_page};

#[cfg(not(feature = "hydrate"))]
mod sources {
    use super::{Catalogue, Lang, catalogue_of};
    use std::sync::OnceLock;

    macro_rules! files {
        ($lang:literal: $($space:literal),*) => {
            [$(($space, include_str!(concat!("../locales/", $lang, "/", $space, ".json")))),*]
        };
    }

    macro_rules! languages {
        ($($space:literal),*) => {
            /// The locale files of a language with the namespace of each.
            pub fn sources(lang: Lang) -> Vec<(&'static str, &'static str)> {
                match lang {
                    Lang::En => files!("en": $($space),*).to_vec(),
                    Lang::Zh => files!("zh": $($space),*).to_vec(),
                    Lang::Ja => files!("ja": $($space),*).to_vec(),
                }
            }
        };
    }

    languages!("common", "filter", "servers", "batch", "reason", "deck", "sets", "server", "trouble");

    /// All words of a language as one JSON text that may stand within a page.
    pub(crate) fn for_page(lang: Lang) -> &'static str {
        static MADE: [OnceLock<String>; 3] = [OnceLock::new(), OnceLock::new(), OnceLock::new()];
        MADE[lang as usize].get_or_init(|| {
            let whole: serde_json::Map<String, serde_json::Value> = sources(lang)
                .into_iter()
                .filter_map(|(space, text)| Some((space.to_owned(), serde_json::from_str(text).ok()?)))
                .collect();
            // Nothing in it can then end the element that it stands in.
            serde_json::Value::Object(whole).to_string().replace('<', "\\u003c")
        })
    }

    pub(crate) fn catalogue(lang: Lang) -> &'static Catalogue {
        static LOADED: [OnceLock<Catalogue>; 3] = [OnceLock::new(), OnceLock::new(), OnceLock::new()];
        LOADED[lang as usize].get_or_init(|| catalogue_of(for_page(lang)))
    }
}

/// The words of one language. Copy it into closures freely.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Words(Lang);

impl Words {
    /// The words of a language.
    #[must_use]
    pub fn new(lang: Lang) -> Self {
        Self(lang)
    }

    /// The language.
    #[must_use]
    pub fn lang(self) -> Lang {
        self.0
    }

    /// The text of a key that may not exist, such as one made from a reason's code.
    #[must_use]
    pub fn find(self, key: &str) -> Option<&'static str> {
        catalogue(self.0).get(key).copied()
    }

    /// The text of a key; the key itself when it is missing, which a test makes impossible for keys in the sources.
    #[must_use]
    pub fn t(self, key: &'static str) -> &'static str {
        self.find(key).unwrap_or(key)
    }

    /// The text of `key.one` or `key.other` with `{n}` filled in by a grouped number.
    #[must_use]
    pub fn n(self, key: &'static str, n: u64) -> String {
        self.plural(key, n, &[])
    }

    /// As [`Words::n`] with more arguments.
    #[must_use]
    pub fn plural(self, key: &'static str, n: u64, args: &[(&str, String)]) -> String {
        let form = if n == 1 { "one" } else { "other" };
        let text = self.find(&format!("{key}.{form}")).unwrap_or(key);
        fill(text, |name| {
            if name == "n" {
                Some(group(n))
            } else {
                args.iter().find(|(k, _)| *k == name).map(|(_, v)| v.clone())
            }
        })
    }

    /// The text of a key with its `{name}` placeholders filled in.
    #[must_use]
    pub fn with(self, key: &'static str, args: &[(&str, String)]) -> String {
        fill(self.t(key), |name| args.iter().find(|(k, _)| *k == name).map(|(_, v)| v.clone()))
    }

    /// A reason in this language: the sentence of its code, or its own English when we have none.
    #[must_use]
    pub fn reason(self, reason: &wire::Reason) -> String {
        // Without a value for one of its arguments a sentence may have a plainer form.
        let plain = reason
            .args
            .values()
            .any(String::is_empty)
            .then(|| self.find(&format!("reason.{}-plain", reason.code)));
        match plain.flatten().or_else(|| self.find(&format!("reason.{}", reason.code))) {
            Some(text) => fill(text, |name| reason.args.get(name).cloned()),
            None if reason.message.is_empty() => reason.code.clone(),
            None => reason.message.clone(),
        }
    }
}

/// Fills `{name}` placeholders; unknown ones stay as they are.
fn fill(text: &str, value: impl Fn(&str) -> Option<String>) -> String {
    let mut out = String::with_capacity(text.len() + 16);
    let mut rest = text;
    while let Some(open) = rest.find('{') {
        let Some(close) = rest[open..].find('}').map(|at| open + at) else { break };
        out.push_str(&rest[..open]);
        match value(&rest[open + 1..close]) {
            Some(value) => out.push_str(&value),
            None => out.push_str(&rest[open..=close]),
        }
        rest = &rest[close + 1..];
    }
    out.push_str(rest);
    out
}

/// A number with thousands grouped, the same way in all three languages.
#[must_use]
pub fn group(n: impl Into<i128>) -> String {
    let n: i128 = n.into();
    let digits = n.unsigned_abs().to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3 + 1);
    if n < 0 {
        out.push('−');
    }
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// The words of the page's language; call it while a component is being made.
#[must_use]
pub fn use_words() -> Words {
    use_context().unwrap_or(Words(Lang::En))
}

#[cfg(test)]
mod tests {
    use super::{sources::sources, *};
    use std::collections::BTreeSet;

    fn placeholders(text: &str) -> BTreeSet<String> {
        let mut found = BTreeSet::new();
        let mut rest = text;
        while let Some(open) = rest.find('{') {
            let Some(close) = rest[open..].find('}') else { break };
            found.insert(rest[open + 1..open + close].to_owned());
            rest = &rest[open + close..];
        }
        found
    }

    #[test]
    fn every_file_is_an_object_of_texts() {
        for lang in Lang::ALL {
            for (space, text) in sources(lang) {
                let value: serde_json::Value = serde_json::from_str(text)
                    .unwrap_or_else(|error| panic!("{}/{space}.json: {error}", lang.code()));
                assert!(value.is_object(), "{}/{space}.json", lang.code());
            }
        }
    }

    #[test]
    fn the_words_within_a_page_cannot_end_their_element() {
        for lang in Lang::ALL {
            assert!(!for_page(lang).contains('<'), "{lang:?}");
            assert!(serde_json::from_str::<serde_json::Value>(for_page(lang)).is_ok(), "{lang:?}");
        }
    }

    #[test]
    fn all_languages_have_the_same_keys_and_placeholders() {
        let english = catalogue(Lang::En);
        assert!(english.len() > 300, "{}", english.len());
        for lang in [Lang::Zh, Lang::Ja] {
            let other = catalogue(lang);
            let missing: Vec<_> = english.keys().filter(|key| !other.contains_key(*key)).collect();
            let extra: Vec<_> = other.keys().filter(|key| !english.contains_key(*key)).collect();
            assert!(
                missing.is_empty() && extra.is_empty(),
                "{}: missing {missing:?}, extra {extra:?}",
                lang.code()
            );
            for (key, text) in english {
                assert_eq!(placeholders(text), placeholders(other[key]), "{} {key}", lang.code());
                assert!(!other[key].trim().is_empty(), "{} {key} is empty", lang.code());
            }
        }
    }

    /// Texts in quotes that follow one of our calls.
    fn keys_in(source: &str, call: &str) -> Vec<String> {
        source
            .match_indices(call)
            .filter_map(|(at, _)| {
                let rest = source[at + call.len()..].trim_start().strip_prefix('"')?;
                Some(rest[..rest.find('"')?].to_owned())
            })
            .collect()
    }

    #[test]
    fn every_key_in_the_sources_exists() {
        let mut files = vec![std::path::PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/src"))];
        let (mut seen, mut missing) = (0, Vec::new());
        while let Some(path) = files.pop() {
            if path.is_dir() {
                files.extend(std::fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
                continue;
            }
            let source = std::fs::read_to_string(&path).unwrap();
            let source = source.split("#[cfg(test)]").next().unwrap();
            for call in [".t(", ".with("] {
                for key in keys_in(source, call).into_iter().filter(|key| key.contains('.')) {
                    seen += 1;
                    if !catalogue(Lang::En).contains_key(&key) {
                        missing.push(format!("{}: {key}", path.display()));
                    }
                }
            }
            for call in [".n(", ".plural("] {
                for key in keys_in(source, call) {
                    seen += 1;
                    for form in ["one", "other"] {
                        if !catalogue(Lang::En).contains_key(&format!("{key}.{form}")) {
                            missing.push(format!("{}: {key}.{form}", path.display()));
                        }
                    }
                }
            }
        }
        assert!(missing.is_empty(), "{missing:#?}");
        assert!(seen > 20, "the scan found only {seen} keys, so it looks in the wrong place");
    }

    #[test]
    fn the_language_comes_from_query_then_cookie_then_header() {
        assert_eq!(Lang::negotiate(Some("ja"), Some("lang=zh"), Some("en")), Lang::Ja);
        assert_eq!(Lang::negotiate(Some("xx"), Some("a=b; lang=zh"), Some("en")), Lang::Zh);
        assert_eq!(Lang::negotiate(None, None, Some("fr, ja;q=0.5, zh-CN;q=0.8")), Lang::Zh);
        assert_eq!(Lang::negotiate(None, None, Some("fr, zh;q=0")), Lang::En);
        assert_eq!(Lang::negotiate(None, None, None), Lang::En);
    }

    #[test]
    fn numbers_are_grouped() {
        let numbers =
            [(0, "0"), (999, "999"), (1204, "1,204"), (61_204_000, "61,204,000"), (-5300, "−5,300")];
        for (n, text) in numbers {
            assert_eq!(group(n), text);
        }
    }

    #[test]
    fn a_reason_without_a_sentence_of_ours_speaks_for_itself() {
        let words = Words::new(Lang::Ja);
        assert_eq!(words.reason(&wire::Reason::new("no-such-code-at-all", "Plain words.")), "Plain words.");
        assert_eq!(words.reason(&wire::Reason::new("no-such-code-at-all", "")), "no-such-code-at-all");
    }
}
