//! Labels of many pods in little memory, and label selectors.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::pod::or_default;

/// Labels whose texts are shared with other pods. Cheap to clone.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Labels(Arc<[(Arc<str>, Arc<str>)]>);

impl Labels {
    /// The value of a label.
    pub fn get(&self, key: &str) -> Option<&str> {
        self.0.iter().find(|(known, _)| &**known == key).map(|(_, value)| &**value)
    }
}

/// The texts that labels share.
#[derive(Debug, Default)]
pub struct LabelPool {
    texts: HashSet<Arc<str>>,
    /// At this size, texts that nobody uses any more are dropped.
    tidy_at: usize,
}

impl LabelPool {
    /// Labels made of shared texts.
    pub fn share(&mut self, labels: &BTreeMap<String, String>) -> Labels {
        let shared = labels.iter().map(|(key, value)| (self.text(key), self.text(value))).collect();
        if self.texts.len() > self.tidy_at {
            self.texts.retain(|text| Arc::strong_count(text) > 1);
            self.tidy_at = self.texts.len() * 2 + 1000;
        }
        Labels(shared)
    }

    fn text(&mut self, text: &str) -> Arc<str> {
        if let Some(known) = self.texts.get(text) {
            return known.clone();
        }
        let new: Arc<str> = text.into();
        self.texts.insert(new.clone());
        new
    }
}

/// A label selector as it stands in objects.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Selector {
    /// Labels that must have exactly these values.
    #[serde(deserialize_with = "or_default")]
    pub match_labels: BTreeMap<String, String>,
    /// Further requirements.
    #[serde(deserialize_with = "or_default")]
    pub match_expressions: Vec<Requirement>,
}

impl Selector {
    /// True when all requirements hold; a selector without any selects everything.
    pub fn selects<'a>(&self, label: impl Fn(&str) -> Option<&'a str>) -> bool {
        self.match_labels.iter().all(|(key, value)| label(key) == Some(value))
            && self.match_expressions.iter().all(|requirement| requirement.holds(label(&requirement.key)))
    }
}

/// One requirement on a label (or on a field of a node).
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Requirement {
    /// The label.
    pub key: String,
    /// `In`, `NotIn`, `Exists`, `DoesNotExist`; on nodes `Gt` and `Lt` too.
    pub operator: String,
    /// What it is compared with.
    #[serde(deserialize_with = "or_default")]
    pub values: Vec<String>,
}

impl Requirement {
    /// True when a label with this value, or without one, meets the requirement.
    pub fn holds(&self, value: Option<&str>) -> bool {
        let listed = |value: &str| self.values.iter().any(|wanted| wanted == value);
        let compared = |fits: fn(i64, i64) -> bool| {
            let bound = self.values.first().and_then(|text| text.parse().ok());
            let number = value.and_then(|text| text.parse().ok());
            number.zip(bound).is_some_and(|(number, bound)| fits(number, bound))
        };
        match self.operator.as_str() {
            "In" => value.is_some_and(listed),
            "NotIn" => !value.is_some_and(listed),
            "Exists" => value.is_some(),
            "DoesNotExist" => value.is_none(),
            "Gt" => compared(|number, bound| number > bound),
            "Lt" => compared(|number, bound| number < bound),
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{LabelPool, Requirement, Selector};
    use std::collections::BTreeMap;

    #[test]
    fn requirements_hold_as_in_kubernetes() {
        let holds = |operator: &str, values: &[&str], value: Option<&str>| {
            let values = values.iter().map(|text| (*text).to_owned()).collect();
            Requirement { key: "k".into(), operator: operator.into(), values }.holds(value)
        };
        for (operator, values, value, expected) in [
            ("In", &["a", "b"][..], Some("b"), true),
            ("In", &["a"], None, false),
            ("NotIn", &["a"], None, true),
            ("NotIn", &["a"], Some("a"), false),
            ("Exists", &[], Some(""), true),
            ("DoesNotExist", &[], None, true),
            ("Gt", &["4"], Some("5"), true),
            ("Gt", &["5"], Some("5"), false),
            ("Lt", &["5"], Some("x"), false),
            ("Lt", &["5"], Some("-1"), true),
            ("Odd", &["5"], Some("5"), false),
        ] {
            assert_eq!(holds(operator, values, value), expected, "{operator} {values:?} {value:?}");
        }
    }

    #[test]
    fn shared_labels_answer_like_those_they_were_made_of_and_unused_texts_go() {
        let mut pool = LabelPool::default();
        let make = |name: &str| {
            BTreeMap::from([("app".to_owned(), "game".to_owned()), ("name".to_owned(), name.to_owned())])
        };
        let kept = pool.share(&make("kept"));
        for index in 0..5_000 {
            drop(pool.share(&make(&index.to_string())));
        }
        assert!(pool.texts.len() < 2_000, "{} texts", pool.texts.len());
        assert_eq!((kept.get("app"), kept.get("name"), kept.get("none")), (Some("game"), Some("kept"), None));
        let selector: Selector = serde_json::from_value(serde_json::json!({"matchLabels": {"app": "game"},
            "matchExpressions": [{"key": "name", "operator": "NotIn", "values": ["other"]}]}))
        .unwrap();
        assert!(selector.selects(|key| kept.get(key)));
        assert!(Selector::default().selects(|_| None));
    }
}
