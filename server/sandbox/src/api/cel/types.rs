//! The static types of CEL expressions, and which one a schema stands for.
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use crate::api::schema::{Schema, Type};

/// A type as the checker knows it.
#[derive(Debug, Clone, PartialEq)]
pub enum Ty {
    /// Anything: what int-or-string is.
    Dyn,
    /// A plain type: `int`, `string`, `kubernetes.Quantity` and so on.
    Plain(&'static str),
    /// A list.
    List(Arc<Ty>),
    /// A map.
    Map(Arc<Ty>, Arc<Ty>),
    /// A value that may be absent.
    Optional(Arc<Ty>),
    /// A map with declared fields, under their escaped names.
    Object(Arc<BTreeMap<String, Ty>>),
    /// A type of a signature or an empty list that is found out by what it meets.
    Unknown(usize),
}

impl Ty {
    /// A list of these.
    pub fn list(item: Ty) -> Self {
        Self::List(Arc::new(item))
    }

    /// An optional one.
    pub fn optional(inner: Ty) -> Self {
        Self::Optional(Arc::new(inner))
    }

    /// `bool`.
    pub const BOOL: Ty = Ty::Plain("bool");
    /// `string`.
    pub const STRING: Ty = Ty::Plain("string");
    /// `int`.
    pub const INT: Ty = Ty::Plain("int");
}

impl fmt::Display for Ty {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Dyn => f.write_str("dyn"),
            Self::Plain("null") => f.write_str("null"),
            Self::Plain(name) => f.write_str(name),
            Self::List(item) => write!(f, "list({item})"),
            Self::Map(key, value) => write!(f, "map({key}, {value})"),
            Self::Optional(inner) => write!(f, "optional_type({inner})"),
            Self::Object(_) => f.write_str("object"),
            Self::Unknown(n) => write!(f, "_var{n}"),
        }
    }
}

/// The type of values of a schema; `None` where CEL cannot see them (no type known). `root`: a whole object.
pub fn of_schema(schema: &Schema, root: bool) -> Option<Ty> {
    if schema.reference.is_some() {
        // Of metadata a rule sees only the names.
        return Some(object_meta());
    }
    let format = schema.limits.as_ref().and_then(|limits| limits.format.as_deref());
    match schema.kind {
        Type::IntOrString => Some(Ty::Dyn),
        Type::Boolean => Some(Ty::BOOL),
        Type::Integer => Some(Ty::INT),
        Type::Number => Some(Ty::Plain("double")),
        Type::Bytes => Some(Ty::Plain("bytes")),
        Type::String => Some(match format {
            Some("duration") => Ty::Plain("google.protobuf.Duration"),
            Some("date" | "date-time") => Ty::Plain("google.protobuf.Timestamp"),
            _ => Ty::STRING,
        }),
        Type::Array => {
            let items = schema.items.as_deref()?;
            of_schema(items, items.embedded).map(Ty::list)
        }
        Type::Object => {
            if let Some(additional) = schema.additional.as_deref() {
                let value = of_schema(additional, additional.embedded)?;
                return Some(Ty::Map(Arc::new(Ty::STRING), Arc::new(value)));
            }
            let mut fields = BTreeMap::new();
            for (name, property) in &schema.properties {
                if let (Some(escaped), Some(ty)) = (escape(name), of_schema(property, property.embedded)) {
                    fields.insert(escaped, ty);
                }
            }
            if root || schema.embedded {
                fields.insert("apiVersion".into(), Ty::STRING);
                fields.insert("kind".into(), Ty::STRING);
                fields.insert("metadata".into(), object_meta());
            }
            Some(Ty::Object(Arc::new(fields)))
        }
        Type::Any | Type::Quantity => None,
    }
}

fn object_meta() -> Ty {
    let fields = ["name", "generateName"].map(|name| (name.to_owned(), Ty::STRING));
    Ty::Object(Arc::new(BTreeMap::from(fields)))
}

/// Words of the CEL grammar that a field must not be called.
const RESERVED: [&str; 21] = [
    "true",
    "false",
    "null",
    "in",
    "as",
    "break",
    "const",
    "continue",
    "else",
    "for",
    "function",
    "if",
    "import",
    "let",
    "loop",
    "package",
    "namespace",
    "return",
    "var",
    "void",
    "while",
];

/// The name under which an expression sees a field; `None` when there is none (the rules of Kubernetes' `Escape`).
pub fn escape(name: &str) -> Option<String> {
    if RESERVED.contains(&name) {
        return Some(format!("__{name}__"));
    }
    let first = name.chars().next()?;
    if !(first.is_ascii_alphabetic() || matches!(first, '_' | '.' | '-' | '/')) {
        return None;
    }
    let mut out = String::with_capacity(name.len());
    let mut rest = name;
    while let Some(c) = rest.chars().next() {
        let (text, taken) = match c {
            '_' if rest.starts_with("__") => ("__underscores__", 2),
            '.' => ("__dot__", 1),
            '-' => ("__dash__", 1),
            '/' => ("__slash__", 1),
            c if c.is_ascii_alphanumeric() || c == '_' => (&rest[..1], 1),
            _ => return None,
        };
        out.push_str(text);
        rest = &rest[taken..];
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::schema::compile;
    use serde_json::json;

    #[test]
    fn names_that_cel_cannot_say_are_escaped() {
        for (name, seen) in [
            ("plain_1", Some("plain_1")),
            ("namespace", Some("__namespace__")),
            ("a.b/c-d", Some("a__dot__b__slash__c__dash__d")),
            ("a__b", Some("a__underscores__b")),
            ("1a", None),
            ("größe", None),
            ("", None),
        ] {
            assert_eq!(escape(name).as_deref(), seen, "{name}");
        }
    }

    #[test]
    fn a_schema_becomes_a_type() {
        let schema =
            compile(&json!({"type": "object", "properties": {"spec": {"type": "object", "properties": {
            "n": {"type": "integer"}, "either": {"x-kubernetes-int-or-string": true},
            "when": {"type": "string", "format": "date-time"},
            "map": {"type": "object", "additionalProperties": {"type": "array", "items": {"type": "number"}}},
            "hidden": {"x-kubernetes-preserve-unknown-fields": true}}}}}));
        let Some(Ty::Object(root)) = of_schema(&schema, true) else { panic!("an object") };
        assert!(matches!(&root["metadata"], Ty::Object(meta) if meta.len() == 2));
        let Ty::Object(spec) = &root["spec"] else { panic!("an object") };
        assert_eq!(spec["either"], Ty::Dyn);
        assert_eq!(spec["when"].to_string(), "google.protobuf.Timestamp");
        assert_eq!(spec["map"].to_string(), "map(string, list(double))");
        assert!(!spec.contains_key("hidden"));
    }
}
