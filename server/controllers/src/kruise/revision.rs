//! Revisions of a set's template: a stable name for what pods are made from, on every pod from the first one on.
//!
//! The hash is 64-bit FNV-1a over the template's JSON with sorted keys, written in the 27 letters and digits that
//! Kubernetes uses for such names (no vowels, so no words). It depends only on what the user wrote and on the network
//! annotations, never on our version, so an upgrade of Pilothouse does not make every server look outdated.

use super::validate::ValidSet;
use crds::{hash::hash_json, kruise::keys};
use serde_json::{Value, json};

const ALPHABET: &[u8; 27] = b"bcdfghjklmnpqrstvwxz2456789";

/// A hash as ten letters and digits that may stand in any Kubernetes name.
#[must_use]
pub fn short(mut hash: u64) -> String {
    let base = ALPHABET.len() as u64;
    (0..10)
        .map(|_| {
            let letter = ALPHABET[usize::try_from(hash % base).unwrap_or(0)];
            hash /= base;
            char::from(letter)
        })
        .collect()
}

/// The template that pods of this set are made from: the user's, with the labels and annotations that every pod gets.
/// `None` while the template is not valid.
#[must_use]
pub fn pod_template(set_name: &str, spec: &ValidSet) -> Option<Value> {
    let valid = spec.template.as_ref()?;
    let mut labels = valid.template.labels();
    labels.insert(keys::OWNER_GSS.to_owned(), set_name.to_owned());
    let mut annotations = valid.template.annotations();
    if let Some((network_type, conf)) = &spec.network {
        annotations.insert(keys::NETWORK_TYPE.to_owned(), network_type.clone());
        annotations.insert(keys::NETWORK_CONF.to_owned(), conf.clone());
    }
    let mut template = valid.template.pod_template();
    let mut metadata = template.get("metadata").and_then(Value::as_object).cloned().unwrap_or_default();
    metadata.insert("labels".to_owned(), json!(labels));
    metadata.insert("annotations".to_owned(), json!(annotations));
    template["metadata"] = Value::Object(metadata);
    Some(template)
}

/// The name of the revision: object name of the ControllerRevision and value of the pods' label
/// `controller-revision-hash`, as a StatefulSet has it. A label value ends at 63 characters, so a long set name is cut
/// and told apart by a hash of its own.
#[must_use]
pub fn revision_name(set_name: &str, template: &Value) -> String {
    let hash = short(hash_json(template));
    let whole = format!("{set_name}-{hash}");
    if whole.len() <= 63 {
        return whole;
    }
    let own = short(hash_json(&Value::String(set_name.to_owned())));
    let cut: String = set_name.chars().take(63 - 22).collect();
    format!("{}-{own}-{hash}", cut.trim_end_matches(['-', '.']))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Pods carry this name for as long as they live: changing how it is made would mark every server as outdated.
    #[test]
    fn the_name_of_a_template_never_changes() {
        let template = json!({ "spec": { "containers": [{ "name": "main", "image": "game:1" }] } });
        assert_eq!(revision_name("minecraft", &template), "minecraft-p6s8jrt5zg");
    }

    #[test]
    fn long_set_names_still_make_legal_labels() {
        let template = json!({});
        let (a, b) = (format!("{}a", "x".repeat(60)), format!("{}b", "x".repeat(60)));
        let (name_a, name_b) = (revision_name(&a, &template), revision_name(&b, &template));
        assert!(name_a.len() <= 63 && name_b.len() <= 63);
        assert_ne!(name_a, name_b);
        assert!(name_a.chars().all(|c| c.is_ascii_alphanumeric() || c == '-'));
    }
}
