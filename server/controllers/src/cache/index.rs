//! Look-ups by a value of the objects, kept up to date with the store.

use super::{Cached, Key};
use std::{collections::HashMap, sync::Arc};

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

type Files<K> = HashMap<String, HashMap<Key, Arc<K>>>;

pub(super) struct Index<K> {
    indexers: Vec<(Indexer<K>, Files<K>)>,
    /// The values of every object that is filed somewhere, one for each indexer.
    filed: HashMap<Key, Vec<Option<String>>>,
}

impl<K: Cached> Index<K> {
    pub(super) fn new(indexers: Vec<Indexer<K>>) -> Self {
        let indexers = indexers.into_iter().map(|indexer| (indexer, HashMap::new())).collect();
        Self { indexers, filed: HashMap::new() }
    }

    pub(super) fn insert(&mut self, key: &Key, object: &Arc<K>) {
        if self.indexers.is_empty() {
            return;
        }
        self.remove(key);
        let mut values = Vec::with_capacity(self.indexers.len());
        for (indexer, files) in &mut self.indexers {
            let value = (indexer.value)(object);
            if let Some(value) = &value {
                files.entry(value.clone()).or_default().insert(key.clone(), object.clone());
            }
            values.push(value);
        }
        self.filed.insert(key.clone(), values);
    }

    pub(super) fn remove(&mut self, key: &Key) {
        let Some(values) = self.filed.remove(key) else { return };
        for ((_, files), value) in self.indexers.iter_mut().zip(values) {
            let Some(value) = value else { continue };
            if let Some(file) = files.get_mut(&value) {
                file.remove(key);
                if file.is_empty() {
                    files.remove(&value);
                }
            }
        }
    }

    pub(super) fn get(&self, indexer: &str, value: &str) -> Vec<Arc<K>> {
        let files = self.indexers.iter().find(|(known, _)| known.name == indexer).map(|(_, files)| files);
        debug_assert!(files.is_some() || self.indexers.is_empty(), "no indexer is called {indexer}");
        files
            .and_then(|files| files.get(value))
            .map(|file| file.values().cloned().collect())
            .unwrap_or_default()
    }
}
