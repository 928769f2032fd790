//! Events have two groups and one storage: the core form is stored, the other is another spelling of it.
use serde_json::Value;

use crate::api::value::as_map;

/// Core name and name in events.k8s.io.
const NAMES: [(&str, &str); 7] = [
    ("involvedObject", "regarding"),
    ("message", "note"),
    ("source", "deprecatedSource"),
    ("firstTimestamp", "deprecatedFirstTimestamp"),
    ("lastTimestamp", "deprecatedLastTimestamp"),
    ("count", "deprecatedCount"),
    ("reportingComponent", "reportingController"),
];

fn rename(
    mut event: Value,
    pairs: impl Iterator<Item = (&'static str, &'static str)>,
    api_version: &str,
) -> Value {
    let map = as_map(&mut event);
    for (from, to) in pairs {
        if let Some(value) = map.remove(from) {
            map.insert(to.into(), value);
        }
    }
    map.insert("apiVersion".into(), api_version.into());
    event
}

/// The form of events.k8s.io, which leaves out what is empty.
pub fn from_core(event: Value) -> Value {
    let mut event = rename(event, NAMES.into_iter(), "events.k8s.io/v1");
    as_map(&mut event).retain(|_, value| value != "");
    event
}

/// The form that is stored.
pub fn to_core(event: Value) -> Value {
    rename(event, NAMES.into_iter().map(|(core, other)| (other, core)), "v1")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn both_spellings_say_the_same() {
        let core =
            json!({"apiVersion": "v1", "involvedObject": {"name": "a"}, "message": "m", "reason": "R"});
        let other = from_core(core.clone());
        assert_eq!(
            other,
            json!({"apiVersion": "events.k8s.io/v1", "regarding": {"name": "a"}, "note": "m", "reason": "R"})
        );
        assert_eq!(to_core(other), core);
    }
}
