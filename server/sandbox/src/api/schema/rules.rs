//! `x-kubernetes-validations` of a schema: read, compiled, and judged when the definition is written.
use std::sync::Arc;

use serde_json::{Map, Value};

use super::{ListType, Schema};
use crate::api::cel::{self, Expression, Ty, Unfit};
use crate::api::error::{FieldError, FieldErrorKind};

/// One rule.
#[derive(Debug, Clone)]
pub struct Rule {
    /// The expression, or why it cannot be used.
    pub expression: Result<Arc<Expression>, Unfit>,
    /// The expression that makes the message, if there is one.
    pub message_expression: Option<Result<Arc<Expression>, Unfit>>,
    /// What is said when the rule does not hold and no expression says it.
    pub message: String,
    /// What the rule is called when it cannot be evaluated.
    pub name: String,
    /// What kind of mistake it is when the rule does not hold.
    pub reason: FieldErrorKind,
    /// Which field is to blame, relative to where the rule stands; empty for that place itself.
    pub field: String,
    /// The rule as errors about it show it.
    shown: String,
    /// The expression as it is written.
    source: String,
    /// `optionalOldSelf` is written down.
    says_optional: Option<bool>,
}

/// Reads and compiles the rules that stand at a schema.
pub fn compile(source: &Map<String, Value>, schema: &Schema, root: bool) -> Vec<Rule> {
    let rules = source.get("x-kubernetes-validations").and_then(Value::as_array);
    let Some(rules) = rules.filter(|rules| !rules.is_empty()) else { return Vec::new() };
    let Some(of) = cel::self_type(schema, root) else { return Vec::new() };
    rules.iter().map(|rule| compile_one(rule, schema, &of)).collect()
}

fn compile_one(source: &Value, schema: &Schema, of: &Ty) -> Rule {
    let text = |key: &str| source.get(key).and_then(Value::as_str).unwrap_or_default();
    let says_optional = source.get("optionalOldSelf").and_then(Value::as_bool);
    let optional = says_optional.unwrap_or(false);
    let rule = text("rule");
    let name = if text("message").trim().is_empty() { rule.trim() } else { text("message").trim() };
    let message = match text("message").trim() {
        "" => format!("failed rule: {}", rule.trim()),
        message => message.to_owned(),
    };
    let making = Some(text("messageExpression")).filter(|source| !source.is_empty());
    Rule {
        expression: cel::compile(rule, of, optional, &Ty::BOOL).map(Arc::new),
        message_expression: making
            .map(|source| cel::compile(source, of, optional, &Ty::STRING).map(Arc::new)),
        message,
        name: name.to_owned(),
        reason: match text("reason") {
            "FieldValueForbidden" => FieldErrorKind::Forbidden,
            "FieldValueRequired" => FieldErrorKind::Required,
            "FieldValueDuplicate" => FieldErrorKind::Duplicate,
            _ => FieldErrorKind::Invalid,
        },
        field: field_path(text("fieldPath"), schema).unwrap_or_default(),
        shown: format!(
            r#"{{"Rule":{},"Message":{},"MessageExpression":{},"Reason":{},"FieldPath":{},"OptionalOldSelf":{}}}"#,
            quoted(rule),
            quoted(text("message")),
            quoted(text("messageExpression")),
            source.get("reason").map_or_else(|| "null".to_owned(), ToString::to_string),
            quoted(text("fieldPath")),
            says_optional.map_or_else(|| "null".to_owned(), |said| said.to_string()),
        ),
        source: rule.to_owned(),
        says_optional,
    }
}

/// What is wrong with the form of the rules at a schema, apart from their expressions.
pub fn check_form(source: &Value, path: &str, errors: &mut Vec<FieldError>) {
    let rules = source.get("x-kubernetes-validations").and_then(Value::as_array);
    for (i, rule) in rules.into_iter().flatten().enumerate() {
        let text = |key: &str| rule.get(key).and_then(Value::as_str);
        let place = |key: &str| format!("{path}.x-kubernetes-validations[{i}].{key}");
        let (expression, message) = (text("rule").unwrap_or_default().trim(), text("message"));
        let trimmed = message.unwrap_or_default().trim();
        if expression.is_empty() {
            errors.push(FieldError::required(place("rule"), "rule is not specified"));
        } else if message.is_some_and(|m| !m.is_empty()) && trimmed.is_empty() {
            errors.push(FieldError::invalid(place("message"), message, "must be non-empty if specified"));
        } else if trimmed.contains('\n') {
            errors.push(FieldError::invalid(place("message"), message, "must not contain line breaks"));
        } else if expression.contains('\n') && trimmed.is_empty() {
            let why = "message must be specified if rule contains line breaks";
            errors.push(FieldError::required(place("message"), why));
        }
        if text("messageExpression").is_some_and(|m| !m.is_empty() && m.trim().is_empty()) {
            let why = "messageExpression must be non-empty if specified";
            errors.push(FieldError::required(place("messageExpression"), why));
        }
        let known = ["FieldValueDuplicate", "FieldValueForbidden", "FieldValueInvalid", "FieldValueRequired"];
        if let Some(reason) = text("reason").filter(|reason| !known.contains(reason)) {
            errors.push(FieldError::not_supported(place("reason"), reason, &known.map(str::to_owned)));
        }
        if let Some(field) = text("fieldPath").filter(|field| !field.is_empty()) {
            let schema = super::compile(source);
            if field.trim().is_empty() {
                errors.push(FieldError::invalid(place("fieldPath"), field, "must be non-empty if specified"));
            }
            if field.contains('\n') {
                errors.push(FieldError::invalid(place("fieldPath"), field, "must not contain line breaks"));
            }
            if field_path(field, &schema).is_none() {
                errors.push(FieldError::invalid(place("fieldPath"), field, "must be a valid path"));
            }
        }
    }
}

/// What is wrong with the expressions of the rules in a schema. `uncorrelated`: the list whose items have no value before.
pub fn check(schema: &Schema, path: &str, uncorrelated: Option<&str>, errors: &mut Vec<FieldError>) {
    for (name, property) in &schema.properties {
        check(property, &format!("{path}.properties[{name}]"), uncorrelated, errors);
    }
    if let Some(additional) = &schema.additional {
        check(additional, &format!("{path}.additionalProperties"), uncorrelated, errors);
    }
    if let Some(items) = &schema.items {
        let lost = uncorrelated.or(match schema.list {
            ListType::Map(_) => None,
            ListType::Atomic | ListType::Set => Some(path),
        });
        check(items, &format!("{path}.items"), lost, errors);
    }
    let rules = schema.limits.as_ref().map_or(&[][..], |limits| &limits.rules);
    for (i, rule) in rules.iter().enumerate() {
        let place = |key: &str| format!("{path}.x-kubernetes-validations[{i}].{key}");
        let expression = match &rule.expression {
            Ok(expression) => expression,
            Err(why) => {
                let why = match why {
                    Unfit::Mistake(_) => why.to_string(),
                    Unfit::Result(_) => format!("cel expression {why}"),
                };
                errors.push(about(place("rule"), &rule.shown, &why));
                if let Some(said) = rule.says_optional {
                    errors.push(unused_optional(place("optionalOldSelf"), said));
                }
                continue;
            }
        };
        if let Some(Err(why)) = &rule.message_expression {
            errors.push(about(place("messageExpression"), &rule.shown, &format!("messageExpression {why}")));
        }
        if expression.uses_old {
            if let Some(list) = uncorrelated {
                let why = format!(
                    "oldSelf cannot be used on the uncorrelatable portion of the schema within {list}"
                );
                errors.push(FieldError::invalid(place("rule"), rule.source.as_str(), why));
            }
        } else if let Some(said) = rule.says_optional {
            errors.push(unused_optional(place("optionalOldSelf"), said));
        }
    }
}

/// A text as Go writes it in JSON.
fn quoted(text: &str) -> String {
    let plain = Value::from(text).to_string();
    plain.replace('<', "\\u003c").replace('>', "\\u003e").replace('&', "\\u0026")
}

fn unused_optional(place: String, said: bool) -> FieldError {
    FieldError::invalid(place, said, "may not be set if oldSelf is not used in rule")
}

/// An invalid rule, which is shown with its parts in the order in which Go has them.
fn about(place: String, shown: &str, why: &str) -> FieldError {
    FieldError::about(FieldErrorKind::Invalid, place, None, format!("{shown}: {why}"))
}

/// `.spec['a.b'].c` as `spec.a.b.c`, where every step is a field or a key of the schema.
fn field_path(path: &str, schema: &Schema) -> Option<String> {
    let (mut out, mut here, mut rest) = (String::new(), schema, path);
    while !rest.is_empty() {
        let (name, after) = if let Some(quoted) = rest.strip_prefix("['") {
            // The quote that is not escaped itself.
            let end = quoted.match_indices("']").map(|(i, _)| i).find(|i| !quoted[..*i].ends_with('\\'))?;
            (unescaped(&quoted[..end])?, &quoted[end + 2..])
        } else {
            let plain = rest.strip_prefix('.')?;
            let end = plain.find(['.', '[', ']']).unwrap_or(plain.len());
            (plain[..end].to_owned(), &plain[end..])
        };
        if here.properties.is_empty() {
            here = here.additional.as_deref()?;
            out.push_str(&format!("[{name}]"));
        } else {
            here = here.properties.get(&name)?;
            if !out.is_empty() {
                out.push('.');
            }
            out.push_str(&name);
        }
        rest = after;
    }
    Some(out)
}

fn unescaped(text: &str) -> Option<String> {
    let mut out = String::new();
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        out.push(match c {
            '\\' => match chars.next()? {
                'n' => '\n',
                't' => '\t',
                'r' => '\r',
                c @ ('\'' | '\\') => c,
                _ => return None,
            },
            c => c,
        });
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::super::{compile, structural_errors};
    use super::*;
    use serde_json::json;

    #[test]
    fn a_field_path_must_lead_somewhere() {
        let schema = compile(&json!({"type": "object", "properties": {
            "a": {"type": "object", "properties": {"x.y": {"type": "string"}}},
            "m": {"type": "object", "additionalProperties": {"type": "string"}}}}));
        assert_eq!(field_path(".a['x.y']", &schema).as_deref(), Some("a.x.y"));
        assert_eq!(field_path(".m['k']", &schema).as_deref(), Some("m[k]"));
        for wrong in [".b", "a", ".a.b", ".a[0]", ".a['x", "['", ".m['\\q']", ".a['größe']", "['ö"] {
            assert_eq!(field_path(wrong, &schema), None, "{wrong}");
        }
    }

    #[test]
    fn a_definition_with_wrong_rules_is_told_where() {
        let errors = structural_errors(
            &json!({"type": "object", "properties": {
                "n": {"type": "integer", "x-kubernetes-validations": [
                    {"rule": "self.x"}, {"rule": "self"}, {"rule": "true", "messageExpression": "self"},
                    {"rule": "true", "optionalOldSelf": true}, {"rule": "optionalOldSelf"}]},
                "l": {"type": "array", "items": {"type": "string", "x-kubernetes-validations": [{"rule": "self == oldSelf"}]}}}}),
            "s",
        );
        let told: Vec<String> = errors.iter().map(|e| format!("{}: {}", e.field, e.detail)).collect();
        let n = "s.properties[n].x-kubernetes-validations";
        for (place, words) in [
            (format!("{n}[0].rule"), "does not support field selection"),
            (format!("{n}[1].rule"), "cel expression must evaluate to a bool"),
            (format!("{n}[2].messageExpression"), "messageExpression must evaluate to a string"),
            (format!("{n}[3].optionalOldSelf"), "may not be set if oldSelf is not used in rule"),
            (format!("{n}[4].rule"), "undeclared reference to 'optionalOldSelf'"),
            (
                "s.properties[l].items.x-kubernetes-validations[0].rule".into(),
                "uncorrelatable portion of the schema within s.properties[l]",
            ),
        ] {
            assert!(told.iter().any(|t| t.starts_with(&place) && t.contains(words)), "{place}: {told:#?}");
        }
        assert_eq!(told.len(), 6);
    }

    #[test]
    fn the_form_of_a_rule_is_judged_first() {
        let rules = json!([{"rule": " "}, {"rule": "true", "message": " "}, {"rule": "true\n"}, {"rule": "true\n&& true"},
            {"rule": "true", "reason": "Bad"}, {"rule": "true", "fieldPath": ".x"}, {"rule": "nonsense("}]);
        let errors = structural_errors(&json!({"type": "object", "x-kubernetes-validations": rules}), "s");
        let fields: Vec<&str> =
            errors.iter().map(|e| e.field.rsplit_once("validations").map_or("", |f| f.1)).collect();
        assert_eq!(fields, ["[0].rule", "[1].message", "[3].message", "[4].reason", "[5].fieldPath"]);
    }
}
