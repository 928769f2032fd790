//! Look-ups by a value of the objects, kept up to date with the store. It holds keys only; the objects lie in the store.

use super::{Cached, Key};
use std::{
    collections::{BTreeSet, HashMap},
    sync::Arc,
};

/// Files objects under a value, for [`super::Cache::indexed`].
#[derive(Debug)]
pub struct Indexer<K> {
    /// Name of the look-up.
    pub name: &'static str,
    /// The value that an object is filed under, `None` to leave it out.
    pub value: fn(&K) -> Option<String>,
}

impl<K> Clone for Indexer<K> {
    fn clone(&self) -> Self {
        Self { name: self.name, value: self.value }
    }
}

/// Keys in order: the same objects give the same look-up, whatever way they came.
type Files = HashMap<Arc<str>, BTreeSet<Arc<Key>>>;
/// The values of one object, one for each indexer.
type Values = Box<[Option<Arc<str>>]>;

pub(super) struct Index<K> {
    indexers: Vec<(Indexer<K>, Files)>,
    /// The values of every object that is filed somewhere.
    filed: HashMap<Arc<Key>, Values>,
}

impl<K: Cached> Index<K> {
    pub(super) fn new(indexers: Vec<Indexer<K>>) -> Self {
        let indexers = indexers.into_iter().map(|indexer| (indexer, HashMap::new())).collect();
        Self { indexers, filed: HashMap::new() }
    }

    pub(super) fn insert(&mut self, key: &Arc<Key>, object: &K) {
        if self.indexers.is_empty() {
            return;
        }
        self.remove(key);
        let mut values = Vec::with_capacity(self.indexers.len());
        for (indexer, files) in &mut self.indexers {
            values.push((indexer.value)(object).map(|value| file(files, &value, key)));
        }
        self.filed.insert(key.clone(), values.into());
    }

    pub(super) fn remove(&mut self, key: &Key) {
        let Some(values) = self.filed.remove(key) else { return };
        for ((_, files), value) in self.indexers.iter_mut().zip(&values) {
            let Some(value) = value else { continue };
            if let Some(file) = files.get_mut(value) {
                file.remove(key);
                if file.is_empty() {
                    files.remove(value);
                }
            }
        }
    }

    pub(super) fn get(&self, indexer: &str, value: &str) -> Vec<Arc<Key>> {
        let files = self.indexers.iter().find(|(known, _)| known.name == indexer).map(|(_, files)| files);
        debug_assert!(files.is_some() || self.indexers.is_empty(), "no indexer is called {indexer}");
        files
            .and_then(|files| files.get(value))
            .map(|file| file.iter().cloned().collect())
            .unwrap_or_default()
    }
}

/// Files a key under a value and gives the one copy of the value that all its keys share.
fn file(files: &mut Files, value: &str, key: &Arc<Key>) -> Arc<str> {
    let shared = files.get_key_value(value).map_or_else(|| Arc::from(value), |(known, _)| known.clone());
    files.entry(shared.clone()).or_default().insert(key.clone());
    shared
}
