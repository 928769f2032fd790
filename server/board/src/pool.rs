//! Shared values: 50,000 servers have few different states, images, nodes and label values, so each exists once.

use std::borrow::Borrow;
use std::collections::HashSet;
use std::hash::Hash;
use std::sync::Arc;

use crate::row::{Condition, Container};

/// Values of one type, each kept as long as somebody else holds it.
#[derive(Debug)]
pub(crate) struct Pool<T: ?Sized> {
    known: HashSet<Arc<T>>,
    /// How many may be known before those that nobody holds any more are dropped.
    sweep_at: usize,
}

/// Below this many values a sweep is not worth it.
const FIRST_SWEEP: usize = 1_024;

impl<T: ?Sized> Default for Pool<T> {
    fn default() -> Self {
        Self { known: HashSet::new(), sweep_at: FIRST_SWEEP }
    }
}

impl<T: ?Sized + Eq + Hash> Pool<T> {
    /// The one copy of a value.
    pub(crate) fn share<V: Borrow<T> + Into<Arc<T>>>(&mut self, value: V) -> Arc<T> {
        if let Some(known) = self.known.get(value.borrow()) {
            return known.clone();
        }
        if self.known.len() >= self.sweep_at {
            self.known.retain(|known| Arc::strong_count(known) > 1);
            self.sweep_at = (self.known.len() * 2).max(FIRST_SWEEP);
        }
        let value: Arc<T> = value.into();
        self.known.insert(value.clone());
        value
    }
}

/// Every pool that rows are made with.
#[derive(Debug, Default)]
pub(crate) struct Pools {
    texts: Pool<str>,
    containers: Pool<[Container]>,
    conditions: Pool<[Condition]>,
}

impl Pools {
    /// The one copy of a text that many rows are likely to have.
    pub(crate) fn text(&mut self, text: &str) -> Arc<str> {
        self.texts.share(text)
    }

    /// As [`Pools::text`]; nothing for an absent or empty one.
    pub(crate) fn filled(&mut self, text: Option<&str>) -> Option<Arc<str>> {
        text.filter(|text| !text.is_empty()).map(|text| self.text(text))
    }

    /// The one copy of a list of containers.
    pub(crate) fn containers(&mut self, containers: Vec<Container>) -> Arc<[Container]> {
        self.containers.share(containers)
    }

    /// The one copy of a list of conditions.
    pub(crate) fn conditions(&mut self, conditions: Vec<Condition>) -> Arc<[Condition]> {
        self.conditions.share(conditions)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_values_are_one() {
        let mut pool = Pool::<str>::default();
        let (one, other) = (pool.share("Ready"), pool.share("Ready"));
        assert!(Arc::ptr_eq(&one, &other));
    }

    #[test]
    fn what_nobody_holds_goes_and_what_is_held_stays() {
        let mut pool = Pool::<str>::default();
        let held = pool.share("held");
        for number in 0..10 * FIRST_SWEEP {
            pool.share(number.to_string().as_str());
        }
        assert!(pool.known.len() <= FIRST_SWEEP);
        assert!(Arc::ptr_eq(&held, &pool.share("held")));
    }

    #[test]
    fn many_held_values_do_not_sweep_each_time() {
        let mut pool = Pool::<str>::default();
        let held: Vec<_> =
            (0..2 * FIRST_SWEEP).map(|number| pool.share(number.to_string().as_str())).collect();
        assert_eq!(pool.known.len(), held.len());
        assert!(pool.sweep_at >= held.len());
    }
}
