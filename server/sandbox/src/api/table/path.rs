//! The part of JSONPath that printer columns use: fields, quoted fields, indexes, `[*]` and one-condition filters.
use serde_json::Value;

/// A parsed path.
#[derive(Debug, Clone, PartialEq)]
pub struct JsonPath(Vec<Step>);

#[derive(Debug, Clone, PartialEq)]
enum Step {
    Field(String),
    Index(i64),
    All,
    /// Items whose field equals a text or number.
    Where(Vec<String>, Value),
}

impl JsonPath {
    /// Reads `.status.conditions[?(@.type=="Ready")].status`; `None` when it is beyond what we know.
    pub fn parse(text: &str) -> Option<Self> {
        let mut steps = Vec::new();
        let mut rest = text.trim().trim_start_matches('{').trim_end_matches('}').trim_start_matches('$');
        while !rest.is_empty() {
            if let Some(inner) = rest.strip_prefix('[') {
                let end = closing(inner)?;
                steps.push(bracket(&inner[..end])?);
                rest = &inner[end + 1..];
            } else {
                let (name, after) = field(rest.strip_prefix('.').unwrap_or(rest));
                if name == "*" {
                    steps.push(Step::All);
                } else if !name.is_empty() {
                    steps.push(Step::Field(name));
                } else if after.len() == rest.len() {
                    return None;
                }
                rest = after;
            }
        }
        Some(Self(steps))
    }

    /// All values that the path leads to.
    pub fn find<'v>(&self, value: &'v Value) -> Vec<&'v Value> {
        let mut found = vec![value];
        for step in &self.0 {
            found = found.into_iter().flat_map(|v| step.apply(v)).collect();
        }
        found
    }
}

impl Step {
    fn apply<'v>(&self, value: &'v Value) -> Vec<&'v Value> {
        match self {
            Self::Field(name) => value.get(name).into_iter().collect(),
            Self::All => match value {
                Value::Array(items) => items.iter().collect(),
                Value::Object(map) => map.values().collect(),
                _ => Vec::new(),
            },
            Self::Index(i) => {
                let Some(items) = value.as_array() else { return Vec::new() };
                let index = if *i < 0 { i64::try_from(items.len()).unwrap_or(0) + i } else { *i };
                usize::try_from(index).ok().and_then(|i| items.get(i)).into_iter().collect()
            }
            Self::Where(path, wanted) => {
                let fits = |item: &&Value| path.iter().try_fold(*item, |v, key| v.get(key)) == Some(wanted);
                value.as_array().into_iter().flatten().filter(fits).collect()
            }
        }
    }
}

/// A field name with `\.` for a dot, and what follows.
fn field(text: &str) -> (String, &str) {
    let mut name = String::new();
    let mut characters = text.char_indices();
    while let Some((i, c)) = characters.next() {
        match c {
            '\\' => name.extend(characters.next().map(|(_, c)| c)),
            '.' | '[' => return (name, &text[i..]),
            c => name.push(c),
        }
    }
    (name, "")
}

/// Where the bracket that is already open closes, quotes respected.
fn closing(text: &str) -> Option<usize> {
    let mut depth = 0;
    let mut quote = None;
    for (i, c) in text.char_indices() {
        match (quote, c) {
            (Some(q), c) if c == q => quote = None,
            (Some(_), _) => {}
            (None, '\'' | '"') => quote = Some(c),
            (None, '[') => depth += 1,
            (None, ']') if depth == 0 => return Some(i),
            (None, ']') => depth -= 1,
            _ => {}
        }
    }
    None
}

fn bracket(text: &str) -> Option<Step> {
    let text = text.trim();
    if text == "*" {
        return Some(Step::All);
    }
    if let Some(quoted) = unquote(text) {
        return Some(Step::Field(quoted.to_owned()));
    }
    if let Some(condition) = text.strip_prefix("?(").and_then(|t| t.strip_suffix(')')) {
        let (path, wanted) = condition.split_once("==")?;
        let path = path.trim().strip_prefix('@')?;
        let keys = path.split('.').filter(|k| !k.is_empty()).map(str::to_owned).collect();
        let wanted = wanted.trim();
        let wanted = match unquote(wanted) {
            Some(text) => Value::String(text.to_owned()),
            None => serde_json::from_str(wanted).ok()?,
        };
        return Some(Step::Where(keys, wanted));
    }
    text.parse().ok().map(Step::Index)
}

fn unquote(text: &str) -> Option<&str> {
    ['\'', '"'].iter().find_map(|q| text.strip_prefix(*q)?.strip_suffix(*q))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn paths_of_printer_columns() {
        let object = json!({
            "metadata": {"labels": {"a.b/c": "label"}},
            "status": {"n": 3, "conditions": [{"type": "A", "status": "x"}, {"type": "Ready", "status": "True"}]},
        });
        for (path, expected) in [
            (".status.n", json!([3])),
            ("{.status.n}", json!([3])),
            (".metadata.labels.a\\.b/c", json!(["label"])),
            (".metadata.labels['a.b/c']", json!(["label"])),
            (".status.conditions[?(@.type==\"Ready\")].status", json!(["True"])),
            (".status.conditions[?(@.type=='Ready')].status", json!(["True"])),
            (".status.conditions[-1].type", json!(["Ready"])),
            (".status.conditions[*].type", json!(["A", "Ready"])),
            (".status.none", json!([])),
        ] {
            assert_eq!(json!(JsonPath::parse(path).expect(path).find(&object)), expected, "{path}");
        }
        for bad in [".a[", ".a[?(x)]", ".a[x]", "..", "["] {
            let _ = JsonPath::parse(bad);
        }
        assert_eq!(JsonPath::parse(".a[x]"), None);
    }
}
