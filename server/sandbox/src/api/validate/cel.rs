//! Judging an object by the rules of its schema (`x-kubernetes-validations`).
//!
//! A rule that looks at `oldSelf` is judged only where there is a value before. What did not change is not refused again, it is
//! only warned about; the items of a list continue old ones only where keys tell them apart.
use serde_json::Value;

use crate::api::cel::Subject;
use crate::api::error::{FieldError, FieldErrorKind};
use crate::api::schema::{ListType, Rule, Schema};

/// What the rules say.
#[derive(Debug, Default, PartialEq)]
pub struct Verdict {
    /// Why the object is refused.
    pub errors: Vec<FieldError>,
    /// What would be refused if it were new.
    pub warnings: Vec<String>,
}

/// Judges an object; `old` is the one before.
pub fn validate(schema: &Schema, value: &Value, old: Option<&Value>) -> Verdict {
    let mut verdict = Verdict::default();
    let past = Past { old, unchanged: old == Some(value), known: old.is_some() };
    node(schema, value, past, true, "", &mut verdict);
    verdict
}

/// What was there before, seen from one place.
#[derive(Clone, Copy)]
struct Past<'a> {
    /// The value at this place.
    old: Option<&'a Value>,
    /// It, or the nearest place above that can be told apart, is the same.
    unchanged: bool,
    /// The place itself can be told apart from its neighbours.
    known: bool,
}

impl<'a> Past<'a> {
    /// The past of a part.
    fn of(self, old: Option<&'a Value>, value: &Value) -> Self {
        match old {
            Some(old) if self.known => Self { old: Some(old), unchanged: old == value, known: true },
            _ => Self { old, unchanged: self.unchanged, known: false },
        }
    }
}

fn node(schema: &Schema, value: &Value, past: Past<'_>, root: bool, path: &str, verdict: &mut Verdict) {
    if value.is_null() || !schema.has_rules {
        return;
    }
    let subject =
        Subject { schema, root: root || schema.embedded, value, old: past.old.filter(|old| !old.is_null()) };
    for rule in schema.limits.iter().flat_map(|limits| &limits.rules) {
        judge(rule, subject, past.unchanged, path, verdict);
    }
    match value {
        Value::Object(map) => {
            for (name, child) in map {
                let old = past.old.and_then(|old| old.get(name));
                let (field, place) = match (schema.properties.get(name), &schema.additional) {
                    (Some(property), _) => (property, join(path, name)),
                    (None, Some(additional)) => (&**additional, format!("{path}[{name}]")),
                    (None, None) => continue,
                };
                node(field, child, past.of(old, child), false, &place, verdict);
            }
        }
        Value::Array(items) => {
            let Some(item_schema) = &schema.items else { return };
            for (i, item) in items.iter().enumerate() {
                let old = past.old.and_then(|old| continued(schema, item, old));
                node(item_schema, item, past.of(old, item), false, &format!("{path}[{i}]"), verdict);
            }
        }
        _ => {}
    }
}

fn join(path: &str, name: &str) -> String {
    if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") }
}

/// The old item that a new one continues.
fn continued<'a>(schema: &Schema, item: &Value, old: &'a Value) -> Option<&'a Value> {
    let ListType::Map(keys) = &schema.list else { return None };
    old.as_array()?.iter().find(|o| keys.iter().all(|key| o.get(key) == item.get(key)))
}

fn judge(rule: &Rule, on: Subject<'_>, unchanged: bool, path: &str, verdict: &mut Verdict) {
    let shown = crate::api::schema::type_word(on.schema);
    // What is said about the whole object has no path; the real server prints that so.
    let place = if path.is_empty() { "<nil>" } else { path };
    let expression = match &rule.expression {
        Ok(expression) => expression,
        // Such a definition is not accepted, so none is stored.
        Err(why) => {
            verdict.errors.push(FieldError::invalid(place, shown, format!("rule compile error: {why}")));
            return;
        }
    };
    if expression.uses_old && on.old.is_none() && !expression.optional_old {
        return;
    }
    match expression.holds(on) {
        Ok(true) => return,
        Ok(false) => {}
        Err(why) if why == "no such overload" => {
            let why = format!(
                "'{why}': call arguments did not match a supported operator, function or macro signature for rule: {}",
                rule.name
            );
            verdict.errors.push(FieldError::invalid(place, shown, why));
            return;
        }
        Err(why) => {
            let why = format!("{why} evaluating rule: {}", rule.name);
            verdict.errors.push(FieldError::invalid(place, shown, why));
            return;
        }
    }
    let made = match &rule.message_expression {
        Some(Ok(expression)) => expression.message(on),
        _ => None,
    };
    let detail = made.unwrap_or_else(|| rule.message.clone());
    let field = match (path, rule.field.as_str()) {
        (_, "") => place.to_owned(),
        (path, field) => join(path, field),
    };
    // Maps and lists are too long to be shown.
    let value = if on.value.is_object() || on.value.is_array() { None } else { Some(on.value.clone()) };
    let error = match rule.reason {
        FieldErrorKind::Forbidden => FieldError::forbidden(field, detail),
        FieldErrorKind::Required => FieldError::required(field, detail),
        // A duplicate says only what it duplicates.
        FieldErrorKind::Duplicate => {
            FieldError::about(FieldErrorKind::Duplicate, field, value, String::new())
        }
        kind => FieldError::about(kind, field, value, detail),
    };
    if unchanged && !expression.uses_old {
        verdict.warnings.push(error.to_string());
    } else {
        verdict.errors.push(error);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::schema::compile;
    use serde_json::json;

    fn schema() -> Schema {
        compile(
            &json!({"type": "object", "x-kubernetes-validations": [{"rule": "self.metadata.name != 'bad'", "message": "bad name"}],
            "properties": {"spec": {"type": "object",
                "x-kubernetes-validations": [
                    {"rule": "self.low <= self.high", "messageExpression": "'low is %d'.format([self.low])", "fieldPath": ".low", "reason": "FieldValueForbidden"},
                    {"rule": "!oldSelf.hasValue() || self.high >= oldSelf.value().high", "optionalOldSelf": true, "message": "high sinks"}],
                "properties": {
                    "low": {"type": "integer"}, "high": {"type": "integer"},
                    "name": {"type": "string", "x-kubernetes-validations": [{"rule": "self == oldSelf", "message": "immutable"}]},
                    "even": {"type": "integer", "x-kubernetes-validations": [{"rule": "self % 2 == 0"}]},
                    "many": {"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["k"],
                        "items": {"type": "object", "properties": {"k": {"type": "string"}, "v": {"type": "integer",
                            "x-kubernetes-validations": [{"rule": "self >= oldSelf", "message": "must not sink"}, {"rule": "self < 9", "message": "below 9"}]}}}}}}}}),
        )
    }

    fn told(value: &Value, old: Option<&Value>) -> (Vec<String>, usize) {
        let verdict = validate(&schema(), value, old);
        (verdict.errors.iter().map(ToString::to_string).collect(), verdict.warnings.len())
    }

    fn of(spec: Value) -> Value {
        json!({"metadata": {"name": "a"}, "spec": spec})
    }

    #[test]
    fn rules_messages_reasons_and_fields() {
        assert_eq!(told(&of(json!({"low": 1, "high": 2, "even": 2})), None), (vec![], 0));
        assert_eq!(told(&of(json!({"low": 3, "high": 2})), None).0, ["spec.low: Forbidden: low is 3"]);
        assert_eq!(
            told(&of(json!({"low": 1, "high": 2, "even": 3})), None).0,
            ["spec.even: Invalid value: 3: failed rule: self % 2 == 0"]
        );
        let bad = json!({"metadata": {"name": "bad"}});
        assert_eq!(told(&bad, None).0, ["<nil>: Invalid value: bad name"]);
        let missing = told(&of(json!({"low": 1})), None).0;
        assert_eq!(
            missing,
            ["spec: Invalid value: \"object\": no such key: high evaluating rule: self.low <= self.high"]
        );
    }

    #[test]
    fn transition_rules_need_a_past() {
        let old = of(json!({"low": 1, "high": 5, "name": "x", "many": [{"k": "a", "v": 3}]}));
        assert_eq!(told(&old, None), (vec![], 0));
        let mut new = old.clone();
        new["spec"]["name"] = "y".into();
        assert_eq!(told(&new, Some(&old)).0, ["spec.name: Invalid value: \"y\": immutable"]);
        new = old.clone();
        new["spec"]["high"] = 4.into();
        assert_eq!(told(&new, Some(&old)).0, ["spec: Invalid value: high sinks"]);
        // Items of a map list continue the one with the same key, wherever it stands.
        new = old.clone();
        new["spec"]["many"] = json!([{"k": "b", "v": 1}, {"k": "a", "v": 2}]);
        assert_eq!(told(&new, Some(&old)).0, ["spec.many[1].v: Invalid value: 2: must not sink"]);
    }

    #[test]
    fn what_did_not_change_is_only_warned_about() {
        let old = of(json!({"low": 1, "high": 2, "even": 3, "many": [{"k": "a", "v": 20}]}));
        let mut new = old.clone();
        new["spec"]["high"] = 3.into();
        assert_eq!(told(&new, Some(&old)), (vec![], 2));
        new["spec"]["even"] = 5.into();
        assert_eq!(told(&new, Some(&old)).0.len(), 1);
    }
}
