//! Who owns whom, and what follows from it: the pure part of garbage collection. It holds one small item for each
//! object of the cluster and judges by the rules of the real garbage collector
//! (`pkg/controller/garbagecollector` of Kubernetes 1.36).

use std::collections::{BTreeSet, HashMap, HashSet, VecDeque};
use std::sync::Arc;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::OwnerReference;

use super::item::{FOREGROUND, Item, Kind, ORPHAN};

/// A uid.
pub type Uid = Arc<str>;

/// How many uids of deleted objects are remembered, so that their dependents need no look at the API server.
const REMEMBERED: usize = 65_536;

/// What shall happen to an object's dependents when it is deleted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Policy {
    /// They go after it.
    Background,
    /// They go before it.
    Foreground,
    /// They stay.
    Orphan,
}

/// What has to be done about one object.
#[derive(Debug, PartialEq)]
pub enum Verdict {
    /// Nothing.
    Keep,
    /// These owners were never seen: ask the API server before anything is decided.
    FindOut(Vec<OwnerReference>),
    /// No owner holds it any more.
    Delete(Policy),
    /// Some owners are gone while others hold it: these references stay.
    KeepOwners(Vec<OwnerReference>),
    /// It goes and its dependents stay: take it out of their owners, then take its finalizer away.
    Release(Vec<Uid>),
    /// It waited for its dependents and they are gone: take its finalizer away.
    Finish,
}

/// All objects that are watched, and their owners.
#[derive(Debug, Default)]
pub struct Graph {
    items: HashMap<Uid, Item>,
    dependents: HashMap<Uid, BTreeSet<Uid>>,
    namespaces: HashMap<String, BTreeSet<Uid>>,
    gone: HashSet<Uid>,
    gone_in_order: VecDeque<Uid>,
}

impl Graph {
    /// One object.
    pub fn get(&self, uid: &str) -> Option<&Item> {
        self.items.get(uid)
    }

    /// Takes in an object as it is now; returns whom to judge.
    pub fn apply(&mut self, item: Item) -> Vec<Uid> {
        let uid = item.uid.clone();
        let old = self.items.remove(&uid);
        let mut touched = Vec::new();
        let before: Vec<OwnerReference> = old.as_ref().map(|old| old.owners.clone()).unwrap_or_default();
        if before != item.owners || old.is_none() {
            for owner in &before {
                self.remove_dependent(&owner.uid, &uid, &mut touched);
            }
            for owner in &item.owners {
                self.dependents.entry(owner.uid.as_str().into()).or_default().insert(uid.clone());
            }
            if !item.owners.is_empty() {
                touched.push(uid.clone());
            }
        }
        if let Some(namespace) = &item.namespace
            && old.is_none()
        {
            self.namespaces.entry(namespace.clone()).or_default().insert(uid.clone());
        }
        let began = |state: fn(&Item) -> bool| state(&item) && !old.as_ref().is_some_and(state);
        if began(Item::waits_for_dependents) {
            touched.extend(self.dependents_of(&uid).cloned());
            touched.push(uid.clone());
        }
        if began(Item::waits_for_release) {
            touched.push(uid.clone());
        }
        self.items.insert(uid, item);
        touched
    }

    /// Takes an object out; returns whom to judge.
    pub fn remove(&mut self, uid: &str) -> Vec<Uid> {
        let Some(item) = self.items.remove(uid) else { return Vec::new() };
        let mut touched: Vec<Uid> = self.dependents_of(uid).cloned().collect();
        for owner in &item.owners {
            self.remove_dependent(&owner.uid, uid, &mut touched);
        }
        if let Some(namespace) = &item.namespace
            && let Some(all) = self.namespaces.get_mut(namespace)
        {
            all.remove(uid);
            if all.is_empty() {
                self.namespaces.remove(namespace);
            }
        }
        self.remember_gone(item.uid);
        touched
    }

    /// Remembers that no object has this uid.
    pub fn remember_gone(&mut self, uid: Uid) {
        if self.gone.insert(uid.clone()) {
            self.gone_in_order.push_back(uid);
            if self.gone_in_order.len() > REMEMBERED
                && let Some(oldest) = self.gone_in_order.pop_front()
            {
                self.gone.remove(&oldest);
            }
        }
    }

    /// Says what has to be done about one object.
    pub fn judge(&self, uid: &str) -> Verdict {
        let Some(item) = self.items.get(uid) else { return Verdict::Keep };
        if item.waits_for_release() {
            return Verdict::Release(self.dependents_of(uid).cloned().collect());
        }
        if item.waits_for_dependents() {
            let blocked = self.dependents_of(uid).any(|dependent| self.blocks(dependent, uid));
            return if blocked { Verdict::Keep } else { Verdict::Finish };
        }
        if item.deleting || item.owners.is_empty() {
            return Verdict::Keep;
        }
        let (mut holding, mut waiting, mut unknown) = (Vec::new(), false, Vec::new());
        for owner in &item.owners {
            match self.look_up(owner, item) {
                Owner::Holds => holding.push(owner.clone()),
                Owner::WaitsForUs => waiting = true,
                Owner::Gone => {}
                Owner::Unknown => unknown.push(owner.clone()),
            }
        }
        if !unknown.is_empty() {
            Verdict::FindOut(unknown)
        } else if holding.len() == item.owners.len() {
            Verdict::Keep
        } else if !holding.is_empty() {
            Verdict::KeepOwners(holding)
        } else if waiting && self.dependents_of(uid).next().is_some() {
            Verdict::Delete(Policy::Foreground)
        } else if item.has_finalizer(ORPHAN) {
            Verdict::Delete(Policy::Orphan)
        } else if item.has_finalizer(FOREGROUND) {
            Verdict::Delete(Policy::Foreground)
        } else {
            Verdict::Delete(Policy::Background)
        }
    }

    /// Everything that is known to be in a namespace.
    pub fn in_namespace(&self, namespace: &str) -> impl Iterator<Item = &Item> {
        self.namespaces.get(namespace).into_iter().flatten().filter_map(|uid| self.items.get(uid))
    }

    /// The uids of all objects of a kind.
    pub fn of_kind(&self, kind: &Arc<Kind>) -> Vec<Uid> {
        self.items.values().filter(|item| item.kind == *kind).map(|item| item.uid.clone()).collect()
    }

    /// Objects that name an owner, to be judged once everything was listed.
    pub fn owned(&self) -> Vec<Uid> {
        let matters =
            |item: &&Item| !item.owners.is_empty() || item.waits_for_dependents() || item.waits_for_release();
        self.items.values().filter(matters).map(|item| item.uid.clone()).collect()
    }

    fn dependents_of(&self, uid: &str) -> impl Iterator<Item = &Uid> {
        self.dependents.get(uid).into_iter().flatten()
    }

    /// Takes a dependent out of an owner's list; the owner is judged again if it waits for that.
    fn remove_dependent(&mut self, owner: &str, dependent: &str, touched: &mut Vec<Uid>) {
        if let Some(all) = self.dependents.get_mut(owner) {
            all.remove(dependent);
            if all.is_empty() {
                self.dependents.remove(owner);
            }
        }
        if let Some(owner) = self.items.get(owner)
            && owner.waits_for_dependents()
        {
            touched.push(owner.uid.clone());
        }
    }

    /// True when an owner has to wait for this dependent.
    fn blocks(&self, dependent: &str, owner: &str) -> bool {
        let references = self.items.get(dependent).map(|item| item.owners.as_slice()).unwrap_or_default();
        references
            .iter()
            .any(|reference| reference.uid == owner && reference.block_owner_deletion == Some(true))
    }

    fn look_up(&self, owner: &OwnerReference, dependent: &Item) -> Owner {
        let Some(found) = self.items.get(owner.uid.as_str()) else {
            return if self.gone.contains(owner.uid.as_str()) { Owner::Gone } else { Owner::Unknown };
        };
        match (&found.namespace, &dependent.namespace) {
            // An owner in another namespace counts as not there. A cluster-wide object cannot have an owner in a
            // namespace at all; the real collector leaves it alone.
            (Some(its), Some(ours)) if its != ours => Owner::Gone,
            (Some(_), None) => Owner::Holds,
            _ if found.waits_for_dependents() => Owner::WaitsForUs,
            _ => Owner::Holds,
        }
    }
}

/// What one owner means to its dependent.
enum Owner {
    Holds,
    WaitsForUs,
    Gone,
    Unknown,
}

#[cfg(test)]
#[path = "graph_tests.rs"]
mod tests;
