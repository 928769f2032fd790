//! Addresses: what every page's URL carries, and links that keep it.
//!
//! Links are relative; the document's `<base>` is the base path, so the same markup works under any prefix.

use crate::lean::memo;
use leptos::prelude::*;
use leptos_router::{
    NavigateOptions,
    hooks::{use_location, use_navigate, use_query_map},
};
use wire::{ServerKey, SetKey};

/// Percent-encodes a query value or a path piece; `:` `,` `/` stay, they are legal in a query and read better.
#[must_use]
pub fn encode(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 8);
    for byte in text.bytes() {
        match byte {
            b'A'..=b'Z'
            | b'a'..=b'z'
            | b'0'..=b'9'
            | b'-'
            | b'_'
            | b'.'
            | b'~'
            | b':'
            | b','
            | b'/'
            | b'!'
            | b'*' => {
                out.push(byte as char);
            }
            _ => out.push_str(&format!("%{byte:02X}")),
        }
    }
    out
}

/// `?a=b&c=d` of the pairs whose value is not empty; empty when there is none.
#[must_use]
pub fn query(pairs: &[(&str, &str)]) -> String {
    let mut out = String::new();
    for (name, value) in pairs.iter().filter(|(_, value)| !value.is_empty()) {
        out.push(if out.is_empty() { '?' } else { '&' });
        out.push_str(name);
        out.push('=');
        out.push_str(&encode(value));
    }
    out
}

/// The page of a server, without the filter.
#[must_use]
pub fn server(key: &ServerKey) -> String {
    format!("servers/{key}")
}

/// The page of a set, without the filter.
#[must_use]
pub fn set(key: &SetKey) -> String {
    format!("sets/{key}")
}

/// Filter and namespace: every page's URL carries them.
#[derive(Clone, Copy)]
pub struct Scope {
    /// Filter text.
    pub q: Memo<String>,
    /// Namespace; empty is all.
    pub ns: Memo<String>,
    /// What else the URL carries, such as the order of a table.
    rest: Memo<Vec<(String, String)>>,
}

impl Scope {
    /// A link that keeps filter and namespace: `path` has no query. Reactive.
    #[must_use]
    pub fn link(self, path: &str) -> String {
        format!("{path}{}", query(&[("ns", &self.ns.get()), ("q", &self.q.get())]))
    }

    /// A link to a page with another filter and the same namespace. Reactive.
    #[must_use]
    pub fn link_with(self, path: &str, q: &str) -> String {
        format!("{path}{}", query(&[("ns", &self.ns.get()), ("q", q)]))
    }
}

impl Scope {
    /// A link to the present page (`path`) with another filter, keeping order and colours but not the place in a
    /// list. Reactive.
    #[must_use]
    pub fn refilter(self, path: &str, q: &str) -> String {
        let (ns, rest) = (self.ns.get(), self.rest.get());
        let mut pairs = vec![("ns", ns.as_str()), ("q", q)];
        pairs.extend(rest.iter().map(|(name, value)| (name.as_str(), value.as_str())));
        format!("{path}{}", query(&pairs))
    }
}

/// Filter and namespace of the present URL. Call it inside the router.
#[must_use]
pub fn use_scope() -> Scope {
    let map = use_query_map();
    let read = move |name: &'static str| memo(move || map.with(|map| map.get(name).unwrap_or_default()));
    let rest = memo(move || {
        let gone = ["q", "ns", "offset", "lang"];
        let pairs = map.read();
        let pairs = pairs.clone().into_iter().map(|(name, value)| (name.to_string(), value));
        pairs.filter(|(name, _)| !gone.contains(&name.as_str())).collect::<Vec<_>>()
    });
    Scope { q: read("q"), ns: read("ns"), rest }
}

/// The path of the present page, relative to the base path and without a slash in front. Call it inside the router.
#[must_use]
pub fn use_here() -> Memo<String> {
    let path = use_location().pathname;
    let base = use_context::<crate::app::Boot>().map(|boot| boot.base_path).unwrap_or_default();
    memo(move || path.with(|path| path.strip_prefix(&base).unwrap_or(path).trim_matches('/').to_owned()))
}

/// Goes to a relative address (`servers?q=…`) in the browser.
pub fn use_go() -> impl Fn(&str, bool) + Clone + Send + Sync + 'static {
    let navigate = use_navigate();
    move |to: &str, replace: bool| {
        let options = NavigateOptions { replace, scroll: false, ..NavigateOptions::default() };
        navigate(&format!("/{to}"), options);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn queries_leave_out_what_is_empty_and_encode_the_rest() {
        assert_eq!(query(&[("q", ""), ("ns", "")]), "");
        assert_eq!(
            query(&[("ns", "prod"), ("q", "set:a ops!=Allocated & \"x\"")]),
            "?ns=prod&q=set:a%20ops!%3DAllocated%20%26%20%22x%22"
        );
        assert_eq!(encode("日本"), "%E6%97%A5%E6%9C%AC");
    }
}
