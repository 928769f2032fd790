//! One copy of what thousands of pods say alike: the resources of a container are three JSON maps (about 2 kB), and all
//! pods of a set have the same.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use serde_json::Value;

/// Values in use by their text, and the size at which unused ones are looked for again.
#[derive(Default)]
struct Pool {
    values: HashMap<Box<str>, Arc<Value>>,
    sweep_at: usize,
}

/// Below this many values a sweep is not worth it.
const SMALL: usize = 1024;

impl Pool {
    fn share(&mut self, value: Value) -> Arc<Value> {
        let text = value.to_string();
        self.known(&text).unwrap_or_else(|| self.add(text.into(), value))
    }

    fn known(&self, text: &str) -> Option<Arc<Value>> {
        self.values.get(text).cloned()
    }

    fn add(&mut self, text: Box<str>, value: Value) -> Arc<Value> {
        if self.values.len() >= self.sweep_at.max(SMALL) {
            self.values.retain(|_, value| Arc::strong_count(value) > 1);
            self.sweep_at = self.values.len() * 2;
        }
        let value = Arc::new(value);
        self.values.insert(text, value.clone());
        value
    }
}

static POOL: LazyLock<Mutex<Pool>> = LazyLock::new(Mutex::default);

/// The copy that all equal values share.
pub(super) fn share(value: Value) -> Arc<Value> {
    POOL.lock().unwrap_or_else(PoisonError::into_inner).share(value)
}

/// The copy that all values of this JSON text share; null when it is no JSON.
pub(super) fn share_text(text: &str) -> Arc<Value> {
    let mut pool = POOL.lock().unwrap_or_else(PoisonError::into_inner);
    pool.known(text).unwrap_or_else(|| pool.share(serde_json::from_str(text).unwrap_or_default()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn equal_values_are_one() {
        let mut pool = Pool::default();
        let first = pool.share(json!({ "limits": { "cpu": "1" } }));
        let second = pool.share(json!({ "limits": { "cpu": "1" } }));
        assert!(Arc::ptr_eq(&first, &second));
        assert!(!Arc::ptr_eq(&first, &pool.share(json!({ "limits": { "cpu": "2" } }))));
    }

    #[test]
    fn values_that_nobody_holds_are_forgotten() {
        let mut pool = Pool::default();
        let held = pool.share(json!("held"));
        for number in 0..10 * SMALL {
            pool.share(json!(number));
        }
        assert!(pool.values.len() <= SMALL + 1, "{}", pool.values.len());
        assert!(Arc::ptr_eq(&held, &pool.share(json!("held"))));
    }
}
