//! Sets of field paths, as managedFields hold them.
//!
//! A path element is kept in its written form: `f:name` for a field, `k:{"name":"a"}` for an item of a map list, `v:"a"` for
//! an item of a set. Comparing texts is then comparing elements, and nothing has to be parsed to work with a set.
use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

/// A set of paths: elements that are in it here, and sets below elements.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FieldSet {
    members: BTreeSet<String>,
    children: BTreeMap<String, FieldSet>,
}

impl FieldSet {
    /// Reads `fieldsV1`.
    pub fn read(source: &Value) -> Self {
        let mut set = Self::default();
        for (element, below) in source.as_object().into_iter().flatten() {
            if element == "." {
                continue;
            }
            let below_map = below.as_object();
            if below_map.is_none_or(Map::is_empty) || below.get(".").is_some() {
                set.members.insert(element.clone());
            }
            let child = Self::read(below);
            if !child.is_empty() {
                set.children.insert(element.clone(), child);
            }
        }
        set
    }

    /// Writes `fieldsV1`.
    pub fn write(&self) -> Value {
        let mut out = Map::new();
        for element in &self.members {
            out.insert(element.clone(), Value::Object(Map::new()));
        }
        for (element, child) in &self.children {
            let mut below = child.write();
            if self.members.contains(element)
                && let Value::Object(map) = &mut below
            {
                map.insert(".".into(), Value::Object(Map::new()));
            }
            out.insert(element.clone(), below);
        }
        Value::Object(out)
    }

    pub fn is_empty(&self) -> bool {
        self.members.is_empty() && self.children.values().all(Self::is_empty)
    }

    /// Adds a path.
    pub fn insert(&mut self, path: &[String]) {
        match path {
            [] => {}
            [last] => {
                self.members.insert(last.clone());
            }
            [first, rest @ ..] => self.children.entry(first.clone()).or_default().insert(rest),
        }
    }

    /// Whether the element itself is in the set.
    pub fn has(&self, element: &str) -> bool {
        self.members.contains(element)
    }

    /// What is below an element.
    pub fn below(&self, element: &str) -> Option<&Self> {
        self.children.get(element)
    }

    pub fn union(&self, other: &Self) -> Self {
        let mut out = self.clone();
        out.members.extend(other.members.iter().cloned());
        for (element, child) in &other.children {
            let merged = out.children.get(element).map_or_else(|| child.clone(), |mine| mine.union(child));
            out.children.insert(element.clone(), merged);
        }
        out
    }

    pub fn intersection(&self, other: &Self) -> Self {
        let members = self.members.intersection(&other.members).cloned().collect();
        let children = self.children.iter().filter_map(|(element, child)| {
            let both = child.intersection(other.children.get(element)?);
            (!both.is_empty()).then(|| (element.clone(), both))
        });
        Self { members, children: children.collect() }
    }

    /// The paths that the other set does not have. Having a path says nothing about the paths below it.
    pub fn difference(&self, other: &Self) -> Self {
        let members = self.members.difference(&other.members).cloned().collect();
        let children = self.children.iter().filter_map(|(element, child)| {
            let left =
                other.children.get(element).map_or_else(|| child.clone(), |theirs| child.difference(theirs));
            (!left.is_empty()).then(|| (element.clone(), left))
        });
        Self { members, children: children.collect() }
    }

    /// Without a top-level field and everything below it.
    pub fn without(mut self, field: &str) -> Self {
        let element = format!("f:{field}");
        self.members.remove(&element);
        self.children.remove(&element);
        self
    }

    /// With those fields as members that stand only above other members. `declared` says which are declared by name.
    pub fn with_named_parents(&self, declared: &dyn Fn(&[String]) -> bool) -> Self {
        self.parents(&mut Vec::new(), declared)
    }

    fn parents(&self, path: &mut Vec<String>, declared: &dyn Fn(&[String]) -> bool) -> Self {
        let mut out = Self { members: self.members.clone(), children: BTreeMap::new() };
        for (element, child) in &self.children {
            path.push(element.clone());
            if element.starts_with("f:") && declared(path) {
                out.members.insert(element.clone());
            }
            out.children.insert(element.clone(), child.parents(path, declared));
            path.pop();
        }
        out
    }

    /// Every path, as the API server prints it: `.spec.containers[name="game"].image`.
    pub fn paths(&self) -> Vec<String> {
        let mut out = Vec::new();
        self.collect("", &mut out);
        out
    }

    fn collect(&self, above: &str, out: &mut Vec<String>) {
        for element in &self.members {
            out.push(format!("{above}{}", print(element)));
        }
        for (element, child) in &self.children {
            child.collect(&format!("{above}{}", print(element)), out);
        }
    }
}

fn print(element: &str) -> String {
    match element.split_once(':') {
        Some(("f", name)) => format!(".{name}"),
        Some(("v", value)) => format!("[={value}]"),
        Some(("k", keys)) => {
            let keys: Map<String, Value> = serde_json::from_str(keys).unwrap_or_default();
            let keys: Vec<String> = keys.iter().map(|(key, value)| format!("{key}={value}")).collect();
            format!("[{}]", keys.join(","))
        }
        _ => format!("[{element}]"),
    }
}

#[cfg(test)]
#[allow(clippy::needless_pass_by_value, reason = "literals read better without a reference")]
mod tests {
    use super::*;
    use serde_json::json;

    fn set(source: Value) -> FieldSet {
        FieldSet::read(&source)
    }

    #[test]
    fn sets_are_read_and_written_without_loss() {
        let source = json!({"f:metadata": {"f:labels": {".": {}, "f:app": {}}},
            "f:spec": {"f:containers": {"k:{\"name\":\"a\"}": {".": {}, "f:image": {}, "f:name": {}}}, "f:replicas": {}}});
        assert_eq!(set(source.clone()).write(), source);
        assert_eq!(set(source).paths()[4], ".spec.containers[name=\"a\"].image");
    }

    #[test]
    fn set_arithmetic() {
        let a = set(json!({"f:spec": {"f:a": {}, "f:b": {}}}));
        let b = set(json!({"f:spec": {"f:b": {}, "f:c": {}}}));
        assert_eq!(a.union(&b).paths(), [".spec.a", ".spec.b", ".spec.c"]);
        assert_eq!(a.intersection(&b).paths(), [".spec.b"]);
        assert_eq!(a.difference(&b).paths(), [".spec.a"]);
        assert!(a.difference(&a).is_empty());
        assert!(a.without("spec").is_empty());
    }
}
