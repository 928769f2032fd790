//! Reading many objects: pages of a consistent snapshot without keeping snapshots.
//!
//! A later page at an older revision is the present with the changes since then taken back, which the watch history can tell.
use std::collections::BTreeMap;
use std::ops::Bound;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::{Key, Shelf, Stored};

/// What to list.
#[derive(Debug, Default, Clone)]
pub struct PageQuery {
    /// Only this namespace.
    pub namespace: Option<String>,
    /// Only what comes after this key.
    pub after: Option<Key>,
    /// The state at this revision; now, when absent.
    pub at: Option<u64>,
    /// At most so many; all, when 0.
    pub limit: usize,
}

/// A page of objects.
#[derive(Debug)]
pub struct Page {
    /// The objects, in order.
    pub items: Vec<Arc<Stored>>,
    /// The revision at which this is the state.
    pub revision: u64,
    /// Where to go on; absent on the last page.
    pub more: Option<Key>,
    /// How many objects there are after this page, selectors aside.
    pub remaining: usize,
}

/// The revision asked for is no longer in the history.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the history does not reach back so far")]
pub struct Expired;

impl Shelf {
    /// One page of the objects that match.
    pub fn page(&self, query: &PageQuery, matches: impl Fn(&Stored) -> bool) -> Result<Page, Expired> {
        let inner = self.lock();
        let now = self.revision.load(Ordering::SeqCst);
        let revision = query.at.unwrap_or(now);
        // What changed after the revision, as it was then.
        let mut past: BTreeMap<&Key, Option<&Arc<Stored>>> = BTreeMap::new();
        if revision < now {
            if revision < inner.floor {
                return Err(Expired);
            }
            let start = inner.history.partition_point(|event| event.object.revision <= revision);
            for event in inner.history.range(start..) {
                past.entry(&event.object.key).or_insert(event.previous.as_ref());
            }
        }
        let namespace = query.namespace.as_deref();
        let start = match (&query.after, namespace) {
            (Some(after), _) => Bound::Excluded(after.clone()),
            (None, Some(namespace)) => Bound::Included(Key::new(namespace, "")),
            (None, None) => Bound::Unbounded,
        };
        let inside = |key: &Key| namespace.is_none_or(|namespace| *key.namespace == *namespace);
        let mut present = inner
            .objects
            .range((start.clone(), Bound::Unbounded))
            .take_while(|(key, _)| inside(key))
            .filter(|(key, _)| !past.contains_key(key))
            .peekable();
        let mut then = past
            .range::<&Key, (Bound<&Key>, Bound<&Key>)>((start.as_ref(), Bound::Unbounded))
            .take_while(|(key, _)| inside(key))
            .filter_map(|(key, object)| object.map(|object| (*key, object)))
            .peekable();
        let mut items = Vec::new();
        let mut more = None;
        loop {
            let from_past = match (present.peek(), then.peek()) {
                (Some((a, _)), Some((b, _))) => b < a,
                (None, Some(_)) => true,
                (Some(_), None) => false,
                (None, None) => break,
            };
            let full = query.limit > 0 && items.len() == query.limit;
            if full {
                // A continue token is only worth giving when something is left.
                let rest = present.by_ref().map(|(_, o)| o).chain(then.by_ref().map(|(_, o)| o));
                let remaining = rest.count();
                more = items.last().map(|last: &Arc<Stored>| last.key.clone());
                return Ok(Page { items, revision, more, remaining });
            }
            let next = if from_past { then.next() } else { present.next() };
            if let Some((_, object)) = next
                && matches(object)
            {
                items.push(object.clone());
            }
        }
        Ok(Page { items, revision, more, remaining: 0 })
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Draft, Store};
    use super::*;
    use serde_json::json;

    fn draft(text: &str) -> Draft {
        Draft::new(&json!({"metadata": {"name": text}}), &[])
    }

    fn names(page: &Page) -> Vec<&str> {
        page.items.iter().map(|o| &*o.key.name).collect()
    }

    #[test]
    fn pages_of_one_list_show_one_moment() {
        let store = Store::new(1 << 20);
        let shelf = store.shelf("x");
        for name in ["a", "b", "d", "e"] {
            shelf.create(&Key::new("n", name), draft(name)).unwrap();
        }
        shelf.create(&Key::new("o", "a"), draft("a")).unwrap();
        let query = PageQuery { namespace: Some("n".into()), limit: 2, ..PageQuery::default() };
        let first = shelf.page(&query, |_| true).unwrap();
        assert_eq!((names(&first), first.remaining), (vec!["a", "b"], 2));
        // Meanwhile one comes, one goes, one changes.
        shelf.create(&Key::new("n", "c"), draft("c")).unwrap();
        let d = shelf.get(&Key::new("n", "d")).unwrap();
        shelf.remove(&d.key, d.revision, draft("d")).unwrap();
        let e = shelf.get(&Key::new("n", "e")).unwrap();
        shelf.replace(&e.key, e.revision, draft("changed")).unwrap();
        let query = PageQuery { at: Some(first.revision), after: first.more, ..query };
        let second = shelf.page(&query, |_| true).unwrap();
        assert_eq!(names(&second), ["d", "e"]);
        assert_eq!(second.items[1].revision, e.revision);
        assert!(second.more.is_none());
        store.compact();
        assert!(shelf.page(&query, |_| true).is_err());
    }

    #[test]
    fn a_filter_is_applied_before_the_limit() {
        let store = Store::new(1 << 20);
        let shelf = store.shelf("x");
        for name in ["a", "b", "c", "d"] {
            shelf.create(&Key::new("", name), draft(name)).unwrap();
        }
        let query = PageQuery { limit: 2, ..PageQuery::default() };
        let page = shelf.page(&query, |o| *o.key.name != *"a").unwrap();
        assert_eq!(names(&page), ["b", "c"]);
    }
}
