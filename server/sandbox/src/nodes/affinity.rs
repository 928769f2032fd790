//! Affinity: which nodes a pod wants, beside which pods, and away from which. Pure.
//!
//! Terms about other pods are first turned into places (values of topology labels) by one walk over the pods, so that
//! judging a node is cheap. Preferences about pods are not judged; those about nodes are.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::labels::{Labels, Requirement, Selector};
use super::pod::or_default;
use super::schedule::Candidate;

/// `spec.affinity` of a pod.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Affinity {
    /// About nodes.
    #[serde(deserialize_with = "or_default")]
    pub node_affinity: NodeAffinity,
    /// Beside which pods.
    #[serde(deserialize_with = "or_default")]
    pub pod_affinity: PodTerms,
    /// Away from which pods.
    #[serde(deserialize_with = "or_default")]
    pub pod_anti_affinity: PodTerms,
}

/// Which nodes are wanted.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(default)]
pub struct NodeAffinity {
    /// Without these a node is out of the question.
    #[serde(rename = "requiredDuringSchedulingIgnoredDuringExecution")]
    pub required: Option<NodeSelector>,
    /// With these a node is better.
    #[serde(rename = "preferredDuringSchedulingIgnoredDuringExecution", deserialize_with = "or_default")]
    pub preferred: Vec<PreferredNode>,
}

/// Terms of which one must hold.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(rename_all = "camelCase", default)]
pub struct NodeSelector {
    /// The terms.
    #[serde(deserialize_with = "or_default")]
    pub node_selector_terms: Vec<NodeTerm>,
}

/// Requirements that must hold together.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(rename_all = "camelCase", default)]
pub struct NodeTerm {
    /// On labels.
    #[serde(deserialize_with = "or_default")]
    pub match_expressions: Vec<Requirement>,
    /// On fields; there is only `metadata.name`.
    #[serde(deserialize_with = "or_default")]
    pub match_fields: Vec<Requirement>,
}

/// A term that makes a node better.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(rename_all = "camelCase", default)]
pub struct PreferredNode {
    /// 1 to 100.
    pub weight: i64,
    /// The term.
    #[serde(deserialize_with = "or_default")]
    pub preference: NodeTerm,
}

/// Terms about other pods; preferences among them are dropped.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(default)]
pub struct PodTerms {
    /// All of these must hold.
    #[serde(rename = "requiredDuringSchedulingIgnoredDuringExecution", deserialize_with = "or_default")]
    pub required: Vec<PodTerm>,
}

/// Other pods, and what counts as the same place.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(rename_all = "camelCase", default)]
pub struct PodTerm {
    /// Which pods; absent means none.
    pub label_selector: Option<Selector>,
    /// In which namespaces; with no selector either: in that of the pod.
    #[serde(deserialize_with = "or_default")]
    pub namespaces: Vec<String>,
    /// In which other namespaces. They are known by their name only, the label `kubernetes.io/metadata.name`.
    pub namespace_selector: Option<Selector>,
    /// Nodes with the same value of this label are the same place.
    #[serde(deserialize_with = "or_default")]
    pub topology_key: String,
}

impl NodeTerm {
    /// A term without any requirement holds for no node.
    fn holds(&self, node: &Candidate) -> bool {
        let label = |key: &str| node.labels.get(key).map(String::as_str);
        let field = |key: &str| (key == "metadata.name").then_some(node.name.as_str());
        !(self.match_expressions.is_empty() && self.match_fields.is_empty())
            && self.match_expressions.iter().all(|wanted| wanted.holds(label(&wanted.key)))
            && self.match_fields.iter().all(|wanted| wanted.holds(field(&wanted.key)))
    }
}

impl NodeAffinity {
    /// True unless a requirement speaks against the node.
    pub fn allows(&self, node: &Candidate) -> bool {
        let any = |selector: &NodeSelector| selector.node_selector_terms.iter().any(|term| term.holds(node));
        self.required.as_ref().is_none_or(any)
    }

    /// The sum of the weights of preferences that hold.
    pub fn preference(&self, node: &Candidate) -> i64 {
        self.preferred.iter().filter(|term| term.preference.holds(node)).map(|term| term.weight).sum()
    }
}

impl PodTerm {
    /// True when the term, on a pod of `own` namespace, means a pod of this namespace with these labels.
    fn means(&self, own: &str, namespace: &str, labels: &Labels) -> bool {
        let named = |key: &str| (key == "kubernetes.io/metadata.name").then_some(namespace);
        let in_namespace = match &self.namespace_selector {
            None if self.namespaces.is_empty() => own == namespace,
            selector => {
                self.namespaces.iter().any(|name| name == namespace)
                    || selector.as_ref().is_some_and(|selector| selector.selects(named))
            }
        };
        in_namespace
            && self.label_selector.as_ref().is_some_and(|selector| selector.selects(|key| labels.get(key)))
    }
}

/// A pod that has its node.
#[derive(Clone, Copy, Debug)]
pub struct Placed<'a> {
    /// Its namespace.
    pub namespace: &'a str,
    /// Its labels.
    pub labels: &'a Labels,
    /// Its node.
    pub node: &'a Candidate,
    /// What it wants to be away from.
    pub away_from: &'a [PodTerm],
}

/// Places: values of a topology label.
type Places = BTreeMap<String, BTreeSet<String>>;

/// What other pods mean for where one pod can go.
#[derive(Clone, Debug, Default)]
pub struct Rules {
    /// For each term, its key and where pods are that it wants; `None` when it makes the beginning itself.
    wanted: Vec<(String, Option<BTreeSet<String>>)>,
    /// Where pods are that it wants to be away from.
    avoided: Places,
    /// Where pods are that want to be away from it.
    unwelcome: Places,
    /// The only node that does, because a claim of the pod gets its volume there.
    pub pinned: Option<String>,
}

/// Why a node does not do, and whether removing other pods could help.
pub type Refusal = (&'static str, bool);

impl Rules {
    /// Looks at all pods that have a node.
    pub fn of<'a>(
        affinity: Option<&Affinity>,
        namespace: &str,
        labels: &Labels,
        placed: impl Iterator<Item = Placed<'a>>,
    ) -> Self {
        let none: &[PodTerm] = &[];
        let beside = affinity.map_or(none, |affinity| &affinity.pod_affinity.required);
        let away = affinity.map_or(none, |affinity| &affinity.pod_anti_affinity.required);
        let mut rules = Self::default();
        let mut found: Vec<BTreeSet<String>> = vec![BTreeSet::new(); beside.len()];
        let mut any = false;
        let add = |places: &mut Places, key: &str, node: &Candidate| {
            if let Some(place) = node.labels.get(key) {
                places.entry(key.to_owned()).or_default().insert(place.clone());
            }
        };
        for pod in placed {
            // A pod counts when all terms mean it, as in the real scheduler.
            if !beside.is_empty()
                && beside.iter().all(|term| term.means(namespace, pod.namespace, pod.labels))
            {
                for (term, places) in beside.iter().zip(&mut found) {
                    if let Some(place) = pod.node.labels.get(&term.topology_key) {
                        places.insert(place.clone());
                        any = true;
                    }
                }
            }
            for term in away.iter().filter(|term| term.means(namespace, pod.namespace, pod.labels)) {
                add(&mut rules.avoided, &term.topology_key, pod.node);
            }
            for term in pod.away_from.iter().filter(|term| term.means(pod.namespace, namespace, labels)) {
                add(&mut rules.unwelcome, &term.topology_key, pod.node);
            }
        }
        // The first of a group that wants to be together may go anywhere, else none ever could.
        let begins = !any && beside.iter().all(|term| term.means(namespace, namespace, labels));
        let keys = beside.iter().map(|term| term.topology_key.clone());
        rules.wanted = keys.zip(found).map(|(key, places)| (key, (!begins).then_some(places))).collect();
        rules
    }

    /// Why a node does not do, in the order and the words of the real scheduler.
    pub fn refuse(&self, node: &Candidate) -> Option<Refusal> {
        let is_in = |places: &Places| {
            places
                .iter()
                .any(|(key, values)| node.labels.get(key).is_some_and(|value| values.contains(value)))
        };
        let has = |(key, places): &(String, Option<BTreeSet<String>>)| {
            let place = node.labels.get(key);
            place.is_some_and(|place| places.as_ref().is_none_or(|places| places.contains(place)))
        };
        if self.pinned.as_ref().is_some_and(|pinned| *pinned != node.name) {
            Some(("node(s) didn't find available persistent volumes to bind", false))
        } else if !self.wanted.iter().all(has) {
            Some(("node(s) didn't match pod affinity rules", false))
        } else if is_in(&self.avoided) {
            Some(("node(s) didn't match pod anti-affinity rules", true))
        } else if is_in(&self.unwelcome) {
            Some(("node(s) didn't satisfy existing pods anti-affinity rules", true))
        } else {
            None
        }
    }
}

#[cfg(test)]
#[path = "affinity_tests.rs"]
mod tests;
