//! Everything that was ever committed in a run: each version of each object, who wrote it, and what the writer knew.
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;

/// An object, shared between the history and those who look at it.
pub type Object = Arc<Value>;

/// Who wrote.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Writer {
    /// The people of the story.
    User,
    /// The simulated node, and what a cluster does of itself.
    Cluster,
    /// A process under test, by the name of this life of it.
    Process(String),
}

/// What a process had received when it sent a request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct View {
    /// When it was sent.
    pub sent_at: Duration,
    /// It lay in a stalled process before it went out, for longer than any lease can cover.
    pub late: bool,
    /// By kind: the revision whose state the process had received. See [`View::of`].
    pub(super) revisions: BTreeMap<String, u64>,
    /// The same with what came in the very moment. See [`View::latest`].
    pub(super) latest: BTreeMap<String, u64>,
}

impl View {
    /// The process had received the state of this kind at this revision, and the next change after it not yet (or in the
    /// very moment of sending). 0 for a kind that it had not listed.
    pub fn of(&self, resource: &str) -> u64 {
        self.revisions.get(resource).copied().unwrap_or(0)
    }

    /// The same with what was delivered in the very moment of sending, which the process may or may not have looked at.
    pub fn latest(&self, resource: &str) -> u64 {
        self.latest.get(resource).copied().unwrap_or(0)
    }

    /// For tests of invariants: a view with these revisions.
    pub fn with(revisions: &[(&str, u64)], sent_at: Duration) -> Self {
        let revisions = revisions.iter().map(|(resource, revision)| ((*resource).to_owned(), *revision));
        let revisions: BTreeMap<String, u64> = revisions.collect();
        Self { sent_at, late: false, latest: revisions.clone(), revisions }
    }
}

/// One committed write.
#[derive(Clone, Debug)]
pub struct Entry {
    /// The revision that it made.
    pub revision: u64,
    /// When, counted from the start.
    pub at: Duration,
    /// `create`, `update`, `patch`, `delete`.
    pub verb: String,
    /// Plural and group.
    pub resource: String,
    /// Namespace, empty for cluster-wide kinds.
    pub namespace: String,
    /// Name.
    pub name: String,
    /// The object as it was.
    pub before: Option<Object>,
    /// The object as it is; `None` when it is gone.
    pub after: Option<Object>,
    /// Who.
    pub writer: Writer,
    /// What the writer knew, if it is a process under test.
    pub view: Option<View>,
}

type Versions = Vec<(u64, Option<Object>)>;

#[derive(Debug, Default)]
struct Shelf {
    objects: BTreeMap<(String, String), Versions>,
    revisions: Vec<u64>,
}

/// All versions of all objects.
#[derive(Debug, Default)]
pub struct History {
    shelves: BTreeMap<String, Shelf>,
    revision: u64,
}

impl History {
    /// Takes one write in.
    pub fn record(&mut self, entry: &Entry) {
        self.revision = self.revision.max(entry.revision);
        let shelf = self.shelves.entry(entry.resource.clone()).or_default();
        shelf.revisions.push(entry.revision);
        let key = (entry.namespace.clone(), entry.name.clone());
        shelf.objects.entry(key).or_default().push((entry.revision, entry.after.clone()));
    }

    /// The newest revision.
    pub fn revision(&self) -> u64 {
        self.revision
    }

    /// An object at a revision.
    pub fn get_at(&self, resource: &str, namespace: &str, name: &str, revision: u64) -> Option<Object> {
        let versions = self.shelves.get(resource)?.objects.get(&(namespace.to_owned(), name.to_owned()))?;
        at(versions, revision)
    }

    /// An object now.
    pub fn get(&self, resource: &str, namespace: &str, name: &str) -> Option<Object> {
        self.get_at(resource, namespace, name, u64::MAX)
    }

    /// All objects of a kind at a revision, by namespace and name.
    pub fn all_at(&self, resource: &str, revision: u64) -> Vec<Object> {
        let shelf = self.shelves.get(resource);
        shelf.into_iter().flat_map(|shelf| shelf.objects.values()).filter_map(|v| at(v, revision)).collect()
    }

    /// All objects of a kind now.
    pub fn all(&self, resource: &str) -> Vec<Object> {
        self.all_at(resource, u64::MAX)
    }

    /// The revisions after `from` up to and including `to` at which one of these kinds changed, the newest first.
    pub fn changes(&self, resources: &[&str], from: u64, to: u64) -> Vec<u64> {
        let shelves = resources.iter().filter_map(|resource| self.shelves.get(*resource));
        let mut all: Vec<u64> = shelves
            .flat_map(|shelf| {
                let start = shelf.revisions.partition_point(|revision| *revision <= from);
                shelf.revisions[start..].iter().copied().take_while(move |revision| *revision <= to)
            })
            .collect();
        all.sort_unstable_by(|a, b| b.cmp(a));
        all
    }

    /// Up to which revision the state of a kind is the one that was delivered with `mark`: until just before its next
    /// change.
    pub(super) fn stands_until(&self, resource: &str, mark: u64) -> u64 {
        let next = self.shelves.get(resource).and_then(|shelf| {
            let start = shelf.revisions.partition_point(|revision| *revision <= mark);
            shelf.revisions.get(start)
        });
        next.map_or(self.revision.max(mark), |next| next - 1)
    }
}

fn at(versions: &Versions, revision: u64) -> Option<Object> {
    let count = versions.partition_point(|(made, _)| *made <= revision);
    versions[..count].last().and_then(|(_, object)| object.clone())
}

#[cfg(test)]
mod tests {
    use super::{Entry, History, Writer};
    use serde_json::json;
    use std::{sync::Arc, time::Duration};

    fn entry(revision: u64, resource: &str, name: &str, value: Option<i64>) -> Entry {
        Entry {
            revision,
            at: Duration::ZERO,
            verb: "patch".into(),
            resource: resource.into(),
            namespace: "n".into(),
            name: name.into(),
            before: None,
            after: value.map(|value| Arc::new(json!(value))),
            writer: Writer::User,
            view: None,
        }
    }

    #[test]
    fn every_moment_can_be_looked_at_again() {
        let mut history = History::default();
        for entry in [
            entry(2, "pods", "a", Some(1)),
            entry(4, "pods", "b", Some(2)),
            entry(5, "sets", "s", Some(9)),
            entry(7, "pods", "a", Some(3)),
            entry(8, "pods", "a", None),
        ] {
            history.record(&entry);
        }
        let pods = |revision| history.all_at("pods", revision).iter().map(|v| v.as_i64()).collect::<Vec<_>>();
        assert_eq!(pods(1), []);
        assert_eq!(pods(3), [Some(1)]);
        assert_eq!(pods(7), [Some(3), Some(2)]);
        assert_eq!(pods(8), [Some(2)]);
        assert_eq!(history.changes(&["pods", "sets"], 2, 7), [7, 5, 4]);
        // Whoever received version 4 of the pods knew their state until version 7 came.
        assert_eq!(history.stands_until("pods", 4), 6);
        assert_eq!(history.stands_until("pods", 8), 8);
        assert_eq!(history.stands_until("sets", 5), 8);
    }
}
