//! Counting writes, so that tests can say "in a steady minute nothing was written".
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

/// How often one verb wrote to one resource.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct WriteCount {
    /// Requests, whatever came of them.
    pub requests: u64,
    /// Versions that were committed; a request that changes nothing commits none.
    pub commits: u64,
}

/// Verb (`create`, `update`, `patch`, `apply`, `delete`, `deletecollection`) and resource (`pods`, `pods/status`,
/// `gameservers.game.kruise.io`).
type Counter = (&'static str, String);

/// The counts at one moment.
#[derive(Debug, Clone, Default)]
pub struct Writes(pub BTreeMap<Counter, WriteCount>);

impl Writes {
    /// The count of one verb on one resource.
    pub fn get(&self, verb: &'static str, resource: &str) -> WriteCount {
        self.0.get(&(verb, resource.to_owned())).copied().unwrap_or_default()
    }

    /// All commits, except those of the resources named; `nodes` also leaves out `nodes/status`.
    pub fn commits_except(&self, resources: &[&str]) -> u64 {
        let left_out = |resource: &str| {
            resources.iter().any(|r| {
                resource.strip_prefix(r).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
            })
        };
        self.0.iter().filter(|((_, resource), _)| !left_out(resource)).map(|(_, count)| count.commits).sum()
    }

    /// What was counted since an earlier moment; counters that did not move are left out.
    pub fn since(&self, earlier: &Self) -> Self {
        let moved = self.0.iter().filter_map(|(key, now)| {
            let before = earlier.0.get(key).copied().unwrap_or_default();
            let requests = now.requests - before.requests;
            let commits = now.commits - before.commits;
            (requests + commits > 0).then(|| (key.clone(), WriteCount { requests, commits }))
        });
        Self(moved.collect())
    }
}

#[derive(Debug, Default)]
pub struct Counts(Mutex<Writes>);

impl Counts {
    fn with(&self, verb: &'static str, resource: &str, change: impl FnOnce(&mut WriteCount)) {
        let mut writes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        change(writes.0.entry((verb, resource.to_owned())).or_default());
    }

    pub fn request(&self, verb: &'static str, resource: &str) {
        self.with(verb, resource, |count| count.requests += 1);
    }

    pub fn commit(&self, verb: &'static str, resource: &str) {
        self.with(verb, resource, |count| count.commits += 1);
    }

    pub fn snapshot(&self) -> Writes {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn leases_and_heartbeats_can_be_left_out() {
        let counts = Counts::default();
        counts.commit("update", "leases.coordination.k8s.io");
        counts.commit("patch", "nodes/status");
        let before = counts.snapshot();
        counts.commit("patch", "pods");
        let now = counts.snapshot();
        assert_eq!(now.commits_except(&["leases.coordination.k8s.io", "nodes"]), 1);
        assert_eq!(now.since(&before).0.len(), 1);
        assert_eq!(now.get("patch", "pods"), WriteCount { requests: 0, commits: 1 });
    }
}
