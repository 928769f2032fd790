//! Waiting until the cache shows what was just written.

use super::{Key, version_of};
use kube::Resource;
use std::{collections::BTreeMap, sync::Mutex};
use tokio::sync::oneshot;

/// What the cache has to show.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Expect {
    /// This version of the object, a later one, or its removal after it.
    Version(u64),
    /// The object with this uid is gone or on its way out (it has a deletion timestamp).
    Removal {
        /// uid of the object that was deleted.
        uid: String,
    },
}

impl Expect {
    /// The version of an answer of the API. Waits for nothing when the text is no number.
    #[must_use]
    pub fn version(resource_version: Option<&str>) -> Self {
        Self::Version(resource_version.and_then(|text| text.parse().ok()).unwrap_or(0))
    }

    pub(super) fn is_met<K: Resource>(&self, current: Option<&K>, seen: u64) -> bool {
        match (self, current) {
            (Self::Version(version), Some(object)) => version_of(object) >= *version,
            // Not there: either not yet, or gone again; the watch has passed the version only in the second case.
            (Self::Version(version), None) => seen >= *version,
            (Self::Removal { uid }, Some(object)) => {
                object.meta().uid.as_ref() != Some(uid) || object.meta().deletion_timestamp.is_some()
            }
            (Self::Removal { .. }, None) => true,
        }
    }
}

type Waiting = BTreeMap<Key, Vec<(Expect, oneshot::Sender<()>)>>;

#[derive(Default)]
pub(super) struct Waiters {
    waiting: Mutex<Waiting>,
}

impl Waiters {
    /// `None` when `is_met` says that there is nothing to wait for. It is asked with the list locked, and `tell` comes
    /// after the store has changed, so no change falls in between.
    pub(super) fn register(
        &self,
        key: &Key,
        expect: &Expect,
        is_met: impl FnOnce() -> bool,
    ) -> Option<oneshot::Receiver<()>> {
        let mut waiting = self.lock();
        if is_met() {
            return None;
        }
        let (sender, receiver) = oneshot::channel();
        waiting.entry(key.clone()).or_default().push((expect.clone(), sender));
        Some(receiver)
    }

    pub(super) fn tell(&self, key: &Key, is_met: impl Fn(&Expect) -> bool) {
        let mut waiting = self.lock();
        let Some(list) = waiting.get_mut(key) else { return };
        release(list, is_met);
        if list.is_empty() {
            waiting.remove(key);
        }
    }

    pub(super) fn recheck(&self, is_met: impl Fn(&Key, &Expect) -> bool) {
        let mut waiting = self.lock();
        waiting.retain(|key, list| {
            release(list, |expect| is_met(key, expect));
            !list.is_empty()
        });
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

/// Wakes those whose expectation is met and forgets those that gave up.
fn release(list: &mut Vec<(Expect, oneshot::Sender<()>)>, is_met: impl Fn(&Expect) -> bool) {
    let all = std::mem::take(list);
    for (expect, sender) in all {
        if is_met(&expect) {
            let _ = sender.send(());
        } else if !sender.is_closed() {
            list.push((expect, sender));
        }
    }
}
