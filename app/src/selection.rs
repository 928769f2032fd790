//! The selected servers. They stay selected while pages, sorting and live data change.

use leptos::prelude::*;
use std::collections::BTreeSet;
use wire::{ServerKey, filter::natural_cmp};

/// The selection of this tab, by key. Copy it into closures freely.
#[derive(Clone, Copy)]
pub struct Selection {
    keys: RwSignal<BTreeSet<ServerKey>>,
    anchor: RwSignal<Option<ServerKey>>,
}

impl Selection {
    /// Nothing selected.
    #[must_use]
    pub fn new() -> Self {
        Self { keys: RwSignal::new(BTreeSet::new()), anchor: RwSignal::new(None) }
    }

    /// Whether a server is selected. Reactive.
    #[must_use]
    pub fn contains(self, key: &ServerKey) -> bool {
        self.keys.with(|keys| keys.contains(key))
    }

    /// How many. Reactive.
    #[must_use]
    pub fn len(self) -> usize {
        self.keys.with(BTreeSet::len)
    }

    /// The keys by namespace and name, numbers in names by their value. Reactive.
    #[must_use]
    pub fn list(self) -> Vec<ServerKey> {
        let mut list: Vec<ServerKey> = self.keys.with(|keys| keys.iter().cloned().collect());
        list.sort_by(|a, b| {
            (a.family, &a.namespace)
                .cmp(&(b.family, &b.namespace))
                .then_with(|| natural_cmp(&a.name, &b.name))
        });
        list
    }

    /// Looks at the keys without a copy. Reactive.
    pub fn with<T>(self, look: impl FnOnce(&BTreeSet<ServerKey>) -> T) -> T {
        self.keys.with(look)
    }

    /// Selects or unselects one server; the next range starts from it.
    pub fn toggle(self, key: &ServerKey) {
        self.keys.update(|keys| {
            if !keys.remove(key) {
                keys.insert(key.clone());
            }
        });
        self.anchor.set(Some(key.clone()));
    }

    /// Adds the servers between the last toggled one and `key` in the order of `shown`, both included. Without a
    /// last one in `shown` only `key` is added.
    pub fn extend_to(self, key: &ServerKey, shown: &[ServerKey]) {
        let anchor = self.anchor.get_untracked();
        let at = |wanted: &ServerKey| shown.iter().position(|key| key == wanted);
        let range = match (anchor.as_ref().and_then(at), at(key)) {
            (Some(from), Some(to)) => &shown[from.min(to)..=from.max(to)],
            _ => std::slice::from_ref(key),
        };
        self.keys.update(|keys| keys.extend(range.iter().cloned()));
        if anchor.is_none() {
            self.anchor.set(Some(key.clone()));
        }
    }

    /// Adds servers: a region of the deck, a whole filter.
    pub fn add(self, more: impl IntoIterator<Item = ServerKey>) {
        self.keys.update(|keys| keys.extend(more));
    }

    /// Takes servers out.
    pub fn remove<'a>(self, keys: impl IntoIterator<Item = &'a ServerKey>) {
        self.keys.update(|selected| {
            for key in keys {
                selected.remove(key);
            }
        });
    }

    /// Selects nothing.
    pub fn clear(self) {
        self.keys.update(BTreeSet::clear);
        self.anchor.set(None);
    }
}

/// The selection of this tab.
#[must_use]
pub fn use_selection() -> Selection {
    use_context().unwrap_or_else(Selection::new)
}

#[cfg(test)]
mod tests {
    use super::*;
    use wire::Family;

    fn key(n: u32) -> ServerKey {
        ServerKey::new(Family::Kruise, "prod", format!("a-{n}"))
    }

    #[test]
    fn a_range_runs_from_the_last_toggle_in_either_direction() {
        let owner = Owner::new();
        owner.set();
        let (selection, shown) = (Selection::new(), (0..9).map(key).collect::<Vec<_>>());
        selection.toggle(&shown[5]);
        selection.extend_to(&shown[3], &shown);
        selection.extend_to(&shown[7], &shown);
        assert_eq!(selection.list(), (3..=7).map(key).collect::<Vec<_>>());
        selection.toggle(&shown[4]);
        assert!(!selection.contains(&shown[4]) && selection.len() == 4);
    }

    #[test]
    fn a_range_without_its_start_in_view_adds_only_the_end() {
        let owner = Owner::new();
        owner.set();
        let (selection, shown) = (Selection::new(), (0..4).map(key).collect::<Vec<_>>());
        selection.toggle(&key(99));
        selection.extend_to(&shown[2], &shown);
        assert_eq!(selection.list(), vec![key(2), key(99)]);
    }
}
