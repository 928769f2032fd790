//! One immutable version of an object: its JSON bytes, serialised once and shared by every reader and watcher.
use std::sync::Arc;

use bytes::Bytes;
use serde_json::Value;

use crate::api::value;

/// Where an object lives: namespace (empty for cluster-wide kinds) and name. The order is the order of lists.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key {
    /// Namespace, empty for cluster-wide kinds.
    pub namespace: Arc<str>,
    /// Name.
    pub name: Arc<str>,
}

impl Key {
    /// A key from its parts.
    pub fn new(namespace: &str, name: &str) -> Self {
        Self { namespace: namespace.into(), name: name.into() }
    }
}

/// Labels in one small allocation: `key\0value\0key\0value`.
///
/// A map would cost ten times as much memory at 100,000 objects, and selectors look at few labels.
#[derive(Debug, Clone, Default)]
pub struct Labels(Box<str>);

impl Labels {
    /// Reads `metadata.labels`.
    pub fn of(object: &Value) -> Self {
        let Some(map) = value::at(object, &["metadata", "labels"]).and_then(Value::as_object) else {
            return Self::default();
        };
        let mut joined = String::new();
        for (key, value) in map {
            if !joined.is_empty() {
                joined.push('\0');
            }
            joined.push_str(key);
            joined.push('\0');
            joined.push_str(value.as_str().unwrap_or_default());
        }
        Self(joined.into())
    }

    /// The value of a label.
    pub fn get(&self, key: &str) -> Option<&str> {
        if self.0.is_empty() {
            return None;
        }
        let mut parts = self.0.split('\0');
        while let (Some(k), Some(v)) = (parts.next(), parts.next()) {
            if k == key {
                return Some(v);
            }
        }
        None
    }
}

/// One committed version.
#[derive(Debug)]
pub struct Stored {
    /// Where it lives.
    pub key: Key,
    /// The global revision at which it was written; also its `resourceVersion`.
    pub revision: u64,
    /// `metadata.uid`.
    pub uid: Box<str>,
    /// The whole object as JSON.
    pub bytes: Bytes,
    /// Labels, for selectors.
    pub labels: Labels,
    /// Values of the kind's selectable fields, in the kind's order.
    pub fields: Box<[Box<str>]>,
    /// Where in `bytes` the digits of the resourceVersion begin.
    slot: usize,
}

impl Stored {
    /// The object as a value that may be changed.
    pub fn value(&self) -> Value {
        // The bytes were written by us from a value, so they parse.
        serde_json::from_slice(&self.bytes).unwrap_or_default()
    }

    /// The same content under another revision: what a watcher gets when an object leaves its selection.
    pub fn at_revision(&self, revision: u64) -> Bytes {
        let digits = self.revision.to_string().len();
        join(&self.bytes[..self.slot], revision, &self.bytes[self.slot + digits..])
    }

    /// About how much memory this version takes.
    pub fn size(&self) -> usize {
        self.bytes.len() + self.labels.0.len() + 200
    }
}

fn join(head: &[u8], revision: u64, tail: &[u8]) -> Bytes {
    let digits = revision.to_string();
    let mut bytes = Vec::with_capacity(head.len() + digits.len() + tail.len());
    bytes.extend_from_slice(head);
    bytes.extend_from_slice(digits.as_bytes());
    bytes.extend_from_slice(tail);
    bytes.into()
}

/// A version ready to be committed: serialised with a gap where the revision goes, so that the lock is held only for a copy.
#[derive(Debug)]
pub struct Draft {
    head: Vec<u8>,
    tail: Vec<u8>,
    uid: Box<str>,
    labels: Labels,
    fields: Box<[Box<str>]>,
}

impl Draft {
    /// Serialises an object. `fields` are the kind's selectable paths.
    pub fn new(object: &Value, fields: &[Vec<String>]) -> Self {
        let (head, tail) = split(object);
        let fields = fields.iter().map(|path| field_text(object, path)).collect();
        Self {
            head,
            tail,
            uid: value::text(object, &["metadata", "uid"]).into(),
            labels: Labels::of(object),
            fields,
        }
    }

    pub(super) fn commit(self, key: Key, revision: u64) -> Stored {
        Stored {
            key,
            revision,
            uid: self.uid,
            bytes: join(&self.head, revision, &self.tail),
            labels: self.labels,
            fields: self.fields,
            slot: self.head.len(),
        }
    }

    /// The object as JSON, as if it had been committed at `revision`: the answer of a dry run.
    pub fn preview(&self, revision: u64) -> Bytes {
        join(&self.head, revision, &self.tail)
    }
}

fn field_text(object: &Value, path: &[String]) -> Box<str> {
    match path.iter().try_fold(object, |v, key| v.get(key)) {
        Some(Value::String(text)) => text.as_str().into(),
        Some(Value::Null) | None => "".into(),
        Some(other) => other.to_string().into(),
    }
}

/// Serialises in two pieces around the digits of `metadata.resourceVersion`.
fn split(object: &Value) -> (Vec<u8>, Vec<u8>) {
    let mut out = Vec::with_capacity(1024);
    let mut head = None;
    let empty = serde_json::Map::new();
    let top = object.as_object().unwrap_or(&empty);
    out.push(b'{');
    let mut metadata_seen = false;
    for (key, child) in top {
        write_key(&mut out, key);
        if key == "metadata" {
            metadata_seen = true;
            head = Some(write_metadata(&mut out, child.as_object().unwrap_or(&empty)));
        } else {
            write_value(&mut out, child);
        }
    }
    if !metadata_seen {
        write_key(&mut out, "metadata");
        head = Some(write_metadata(&mut out, &empty));
    }
    out.push(b'}');
    let tail = out.split_off(head.unwrap_or(out.len()));
    (out, tail)
}

fn write_metadata(out: &mut Vec<u8>, metadata: &serde_json::Map<String, Value>) -> usize {
    out.push(b'{');
    for (key, child) in metadata.iter().filter(|(key, _)| *key != "resourceVersion") {
        write_key(out, key);
        write_value(out, child);
    }
    write_key(out, "resourceVersion");
    out.push(b'"');
    let slot = out.len();
    out.extend_from_slice(b"\"}");
    slot
}

fn write_key(out: &mut Vec<u8>, key: &str) {
    if out.last() != Some(&b'{') {
        out.push(b',');
    }
    write_value(out, &Value::String(key.to_owned()));
    out.push(b':');
}

fn write_value(out: &mut Vec<u8>, value: &Value) {
    // Writing a JSON value into memory cannot fail: keys are texts and there is no IO.
    let written = serde_json::to_writer(out, value);
    debug_assert!(written.is_ok());
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_revision_is_set_at_commit_and_can_be_replaced() {
        let object = json!({
            "apiVersion": "v1", "data": {"resourceVersion": "7"}, "kind": "ConfigMap",
            "metadata": {"name": "a", "resourceVersion": "1", "uid": "u", "labels": {"app": "x", "tier": ""}},
        });
        let stored = Draft::new(&object, &[vec!["data".into(), "resourceVersion".into()]])
            .commit(Key::new("n", "a"), 99);
        assert_eq!(stored.value()["metadata"]["resourceVersion"], "99");
        assert_eq!(stored.value()["data"]["resourceVersion"], "7");
        assert_eq!(&*stored.fields[0], "7");
        assert_eq!(stored.labels.get("tier"), Some(""));
        assert_eq!(stored.labels.get("app"), Some("x"));
        assert_eq!(stored.labels.get("x"), None);
        let later: Value = serde_json::from_slice(&stored.at_revision(1000)).unwrap();
        assert_eq!(later["metadata"]["resourceVersion"], "1000");
    }

    #[test]
    fn an_object_without_metadata_gets_one() {
        let stored = Draft::new(&json!({"kind": "X"}), &[]).commit(Key::new("", "a"), 3);
        assert_eq!(stored.value(), json!({"kind": "X", "metadata": {"resourceVersion": "3"}}));
    }
}
