//! Schemas: one form for built-in kinds (recorded from a real server) and for custom ones (from their CRDs).
//!
//! Pruning, defaulting, validation, strategic merge and server-side apply all walk this form, so there is no code per kind.
pub mod builtin;
mod decode;
mod defaults;
mod rules;
mod soundness;
mod structural;

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Map, Value};

pub use decode::{check_types, prune, unset};
pub use defaults::apply_defaults;
pub use rules::Rule;
pub use structural::{compile, structural_errors};

/// What JSON type a value must have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Type {
    /// Anything.
    #[default]
    Any,
    /// A map.
    Object,
    /// A list.
    Array,
    /// A text.
    String,
    /// A whole number.
    Integer,
    /// A number.
    Number,
    /// true or false.
    Boolean,
    /// A whole number or a text.
    IntOrString,
    /// A text or number that is an amount, written as text.
    Quantity,
    /// Bytes, written in base64.
    Bytes,
}

/// How the items of a list are told apart when two writers' lists meet.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum ListType {
    /// The list is one value.
    #[default]
    Atomic,
    /// Each item is one value.
    Set,
    /// Items are maps known by these keys.
    Map(Vec<String>),
}

/// What a value must look like, and how it merges.
#[derive(Debug, Clone, Default)]
pub struct Schema {
    /// JSON type.
    pub kind: Type,
    /// Declared fields of a map.
    pub properties: BTreeMap<String, Schema>,
    /// What undeclared fields of a map must look like.
    pub additional: Option<Box<Schema>>,
    /// What the items of a list must look like.
    pub items: Option<Box<Schema>>,
    /// Name of a built-in definition that says the rest.
    pub reference: Option<Arc<str>>,
    /// `x-kubernetes-list-type` with its keys.
    pub list: ListType,
    /// `x-kubernetes-map-type: atomic`: the map is one value.
    pub atomic_map: bool,
    /// Merge key of strategic merge patch.
    pub merge_key: Option<String>,
    /// Strategic merge patch merges this list instead of replacing it.
    pub merge_list: bool,
    /// Undeclared fields are kept.
    pub preserve_unknown: bool,
    /// The map is a whole object with apiVersion, kind and metadata.
    pub embedded: bool,
    /// null is a value.
    pub nullable: bool,
    /// Filled in where absent.
    pub default: Option<Value>,
    /// What a built-in field is written as when it was never set: `{}` for a part that is always there, for example.
    pub zero: Option<Value>,
    /// A plain built-in value that is not written when it is empty, 0 or false.
    pub omit_zero: bool,
    /// Fields of a built-in map that are written even when they are empty.
    pub always_written: Vec<String>,
    /// Bounds, patterns and the like; only custom kinds have them.
    pub limits: Option<Box<Limits>>,
    /// Here or somewhere below stands a rule of `x-kubernetes-validations`.
    pub has_rules: bool,
}

/// Value rules of a custom kind.
#[derive(Debug, Clone, Default)]
pub struct Limits {
    /// Fields that must be there.
    pub required: Vec<String>,
    /// The only allowed values.
    pub one_of_values: Vec<Value>,
    /// Texts must match.
    pub pattern: Option<regex::Regex>,
    /// Known formats of texts.
    pub format: Option<String>,
    /// Smallest number, and whether it is excluded itself.
    pub minimum: Option<(f64, bool)>,
    /// Largest number, and whether it is excluded itself.
    pub maximum: Option<(f64, bool)>,
    /// Numbers are a multiple.
    pub multiple_of: Option<f64>,
    /// Shortest text, in characters.
    pub min_length: Option<u64>,
    /// Longest text, in characters.
    pub max_length: Option<u64>,
    /// Fewest items.
    pub min_items: Option<u64>,
    /// Most items.
    pub max_items: Option<u64>,
    /// Fewest fields.
    pub min_properties: Option<u64>,
    /// Most fields.
    pub max_properties: Option<u64>,
    /// All of these hold.
    pub all_of: Vec<Schema>,
    /// At least one of these holds.
    pub any_of: Vec<Schema>,
    /// Exactly one of these holds.
    pub one_of: Vec<Schema>,
    /// This does not hold.
    pub not: Option<Box<Schema>>,
    /// `x-kubernetes-validations`.
    pub rules: Vec<Rule>,
}

impl Schema {
    /// Follows a reference to the built-in definition.
    pub fn resolve(&self) -> &Schema {
        match &self.reference {
            Some(name) => builtin::definition(name),
            None => self,
        }
    }

    /// The schema of a field: declared, additional or unknown.
    pub fn field(&self, name: &str) -> Option<&Schema> {
        self.properties.get(name).or(self.additional.as_deref())
    }

    /// A map in which anything goes.
    pub fn is_free_form(&self) -> bool {
        self.kind == Type::Object && self.properties.is_empty() && self.additional.is_none()
    }
}

/// What a schema calls its type, in errors about rules.
pub fn type_word(schema: &Schema) -> &'static str {
    match schema.kind {
        Type::Any | Type::IntOrString => "",
        Type::Object => "object",
        Type::Array => "array",
        Type::String | Type::Quantity | Type::Bytes => "string",
        Type::Integer => "integer",
        Type::Number => "number",
        Type::Boolean => "boolean",
    }
}

/// Reads the part of a schema that OpenAPI and CRDs write alike: types, fields, list and map types, nullability.
fn common(source: &Map<String, Value>, child: &dyn Fn(&Value) -> Schema) -> Schema {
    let text = |key: &str| source.get(key).and_then(Value::as_str);
    let flag = |key: &str| source.get(key).and_then(Value::as_bool).unwrap_or(false);
    let kind = if flag("x-kubernetes-int-or-string") || text("format") == Some("int-or-string") {
        Type::IntOrString
    } else {
        match text("type") {
            Some("object") => Type::Object,
            Some("array") => Type::Array,
            Some("string") if text("format") == Some("byte") => Type::Bytes,
            Some("string") => Type::String,
            Some("integer") => Type::Integer,
            Some("number") => Type::Number,
            Some("boolean") => Type::Boolean,
            _ if source.contains_key("properties") => Type::Object,
            _ => Type::Any,
        }
    };
    let properties = source.get("properties").and_then(Value::as_object);
    let properties = properties.map(|p| p.iter().map(|(name, s)| (name.clone(), child(s))).collect());
    let additional = match source.get("additionalProperties") {
        Some(schema @ Value::Object(_)) => Some(Box::new(child(schema))),
        Some(Value::Bool(true)) => Some(Box::new(Schema { preserve_unknown: true, ..Schema::default() })),
        _ => None,
    };
    let items = source.get("items").map(|items| Box::new(child(items)));
    let list = match text("x-kubernetes-list-type") {
        Some("set") => ListType::Set,
        Some("map") => {
            let keys = source.get("x-kubernetes-list-map-keys").and_then(Value::as_array);
            ListType::Map(keys.into_iter().flatten().filter_map(|k| k.as_str().map(str::to_owned)).collect())
        }
        _ => ListType::Atomic,
    };
    Schema {
        kind,
        properties: properties.unwrap_or_default(),
        additional,
        items,
        reference: None,
        list,
        atomic_map: text("x-kubernetes-map-type") == Some("atomic"),
        merge_key: text("x-kubernetes-patch-merge-key").map(str::to_owned),
        merge_list: text("x-kubernetes-patch-strategy")
            .is_some_and(|s| s.split(',').any(|part| part == "merge")),
        preserve_unknown: flag("x-kubernetes-preserve-unknown-fields"),
        embedded: flag("x-kubernetes-embedded-resource"),
        nullable: flag("nullable"),
        default: source.get("default").cloned(),
        zero: None,
        omit_zero: false,
        always_written: Vec::new(),
        limits: None,
        has_rules: false,
    }
}
