//! Label and field selectors.
use crate::api::error::{ApiError, Result};
use crate::api::store::{Labels, Stored};
use crate::api::validate::names;

/// A parsed label selector; empty selects everything.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct LabelSelector(Vec<Requirement>);

#[derive(Debug, Clone, PartialEq)]
struct Requirement {
    key: String,
    test: Test,
}

#[derive(Debug, Clone, PartialEq)]
enum Test {
    Exists,
    Absent,
    In(Vec<String>),
    NotIn(Vec<String>),
    Greater(i64),
    Less(i64),
}

impl LabelSelector {
    /// Parses `a=b,c!=d,e in (f,g),!h`.
    pub fn parse(text: &str) -> Result<Self> {
        let refuse = |why: &str| ApiError::bad_request(format!("unable to parse requirement: {why}"));
        let mut requirements = Vec::new();
        let mut rest = text.trim();
        while !rest.is_empty() {
            let (one, after) = cut(rest);
            requirements.push(requirement(one.trim()).map_err(|why| refuse(&why))?);
            rest = after.trim();
        }
        Ok(Self(requirements))
    }

    /// Whether it selects everything.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether labels satisfy every requirement.
    pub fn matches(&self, labels: &Labels) -> bool {
        self.0.iter().all(|r| {
            let value = labels.get(&r.key);
            match &r.test {
                Test::Exists => value.is_some(),
                Test::Absent => value.is_none(),
                Test::In(values) => value.is_some_and(|v| values.iter().any(|w| w == v)),
                Test::NotIn(values) => value.is_none_or(|v| values.iter().all(|w| w != v)),
                Test::Greater(n) => value.and_then(|v| v.parse::<i64>().ok()).is_some_and(|v| v > *n),
                Test::Less(n) => value.and_then(|v| v.parse::<i64>().ok()).is_some_and(|v| v < *n),
            }
        })
    }
}

/// The text up to the next comma outside parentheses, and what follows it.
fn cut(text: &str) -> (&str, &str) {
    let mut depth = 0_i32;
    for (i, c) in text.char_indices() {
        match c {
            '(' => depth += 1,
            ')' => depth -= 1,
            ',' if depth == 0 => return (&text[..i], &text[i + 1..]),
            _ => {}
        }
    }
    (text, "")
}

fn requirement(text: &str) -> std::result::Result<Requirement, String> {
    let make = |key: &str, test: Test| {
        let key = key.trim();
        names::qualified_name(key).map_err(|why| format!("{key:?}: {why}"))?;
        let values = match &test {
            Test::In(values) | Test::NotIn(values) => values.as_slice(),
            _ => &[],
        };
        for value in values {
            names::label_value(value).map_err(|why| format!("{value:?}: {why}"))?;
        }
        Ok(Requirement { key: key.to_owned(), test })
    };
    if let Some(key) = text.strip_prefix('!') {
        return make(key, Test::Absent);
    }
    if let Some((key, value)) = text.split_once("!=") {
        return make(key, Test::NotIn(vec![value.trim().to_owned()]));
    }
    if let Some((key, value)) = text.split_once("==").or_else(|| text.split_once('=')) {
        return make(key, Test::In(vec![value.trim().to_owned()]));
    }
    for (sign, greater) in [('>', true), ('<', false)] {
        if let Some((key, value)) = text.split_once(sign) {
            let number = value.trim().parse().map_err(|_| format!("{value:?} is not a whole number"))?;
            return make(key, if greater { Test::Greater(number) } else { Test::Less(number) });
        }
    }
    let mut words = text.splitn(2, char::is_whitespace);
    let key = words.next().unwrap_or_default();
    let Some(operation) = words.next().map(str::trim) else {
        return make(key, Test::Exists);
    };
    let (negated, list) = match operation.strip_prefix("notin") {
        Some(list) => (true, list),
        None => (
            false,
            operation
                .strip_prefix("in")
                .ok_or_else(|| format!("found {operation:?}, expected: in, notin"))?,
        ),
    };
    let list = list.trim().strip_prefix('(').and_then(|l| l.strip_suffix(')'));
    let list = list.ok_or_else(|| format!("found {operation:?}, expected: ("))?;
    let values = list.split(',').map(|v| v.trim().to_owned()).collect();
    make(key, if negated { Test::NotIn(values) } else { Test::In(values) })
}

/// A parsed field selector; empty selects everything.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct FieldSelector(Vec<FieldTest>);

#[derive(Debug, Clone, PartialEq)]
struct FieldTest {
    field: Field,
    equal: bool,
    value: String,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Field {
    Name,
    Namespace,
    Indexed(usize),
}

impl FieldSelector {
    /// Parses `metadata.name=a,status.phase!=Running`; `known` are the kind's selectable paths.
    pub fn parse(text: &str, known: &[Vec<String>]) -> Result<Self> {
        let mut tests = Vec::new();
        for term in text.split(',').map(str::trim).filter(|term| !term.is_empty()) {
            let (field, equal, value) = if let Some((field, value)) = term.split_once("!=") {
                (field, false, value)
            } else if let Some((field, value)) = term.split_once("==").or_else(|| term.split_once('=')) {
                (field, true, value)
            } else {
                return Err(ApiError::bad_request(format!(
                    "invalid selector: '{text}'; can't understand '{term}'"
                )));
            };
            let field = match field.trim() {
                "metadata.name" => Field::Name,
                "metadata.namespace" => Field::Namespace,
                other => {
                    let index = known.iter().position(|path| path.join(".") == other);
                    let unknown = || ApiError::bad_request(format!("field label not supported: {other}"));
                    Field::Indexed(index.ok_or_else(unknown)?)
                }
            };
            tests.push(FieldTest { field, equal, value: value.trim().to_owned() });
        }
        Ok(Self(tests))
    }

    /// Whether it selects everything.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether an object satisfies every test.
    pub fn matches(&self, object: &Stored) -> bool {
        self.0.iter().all(|test| {
            let value = match test.field {
                Field::Name => &*object.key.name,
                Field::Namespace => &*object.key.namespace,
                Field::Indexed(i) => object.fields.get(i).map_or("", |v| &**v),
            };
            (value == test.value) == test.equal
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn labels() -> Labels {
        Labels::of(&json!({"metadata": {"labels": {"app": "game", "tier": "1", "example.com/zone": ""}}}))
    }

    #[test]
    fn label_selectors_select() {
        for (text, expected) in [
            ("", true),
            ("app=game", true),
            ("app == game , tier != 2", true),
            ("app in (a, game),!other", true),
            ("app notin (game)", false),
            ("missing notin (game)", true),
            ("missing", false),
            ("example.com/zone", true),
            ("tier>0,tier<2", true),
            ("example.com/zone=", true),
        ] {
            assert_eq!(LabelSelector::parse(text).unwrap().matches(&labels()), expected, "{text}");
        }
    }

    #[test]
    fn nonsense_is_refused() {
        for text in ["a b", "a in b", "=", "a=b c", "x in (a", ",,", "a=-", "!", "a>b"] {
            assert!(LabelSelector::parse(text).is_err(), "{text}");
        }
        assert!(FieldSelector::parse("spec.x=1", &[]).is_err());
        assert!(FieldSelector::parse("metadata.name", &[]).is_err());
    }
}
