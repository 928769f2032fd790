//! The built-in kinds: discovery and schemas recorded from a real server, and the defaults it fills in.
use std::collections::HashMap;
use std::io::Read;
use std::sync::LazyLock;

use serde_json::Value;

use super::{Schema, Type, common};

static RECORDED: &[u8] = include_bytes!("../../../data/builtin.json.gz");
static DEFAULTS: &str = include_str!("../../../data/defaults.yaml");

/// What the recording holds.
struct Builtin {
    groups: Vec<Value>,
    raw: serde_json::Map<String, Value>,
    compiled: HashMap<String, Schema>,
    by_kind: HashMap<(String, String, String), String>,
    wire: serde_json::Map<String, Value>,
}

static BUILTIN: LazyLock<Builtin> = LazyLock::new(load);
static ANYTHING: LazyLock<Schema> = LazyLock::new(|| Schema { preserve_unknown: true, ..Schema::default() });

fn load() -> Builtin {
    let mut text = String::new();
    // The recording is part of the program; a test makes sure that it can be read.
    let read = flate2::read::GzDecoder::new(RECORDED).read_to_string(&mut text);
    debug_assert!(read.is_ok());
    let mut recorded: Value = serde_json::from_str(&text).unwrap_or_default();
    let groups = recorded["groups"].take().as_array().cloned().unwrap_or_default();
    let wire = recorded["wire"].take().as_object().cloned().unwrap_or_default();
    let raw = recorded["definitions"].take().as_object().cloned().unwrap_or_default();
    let defaults: Value = serde_yaml::from_str(DEFAULTS).unwrap_or_default();
    let mut compiled = HashMap::new();
    let mut by_kind = HashMap::new();
    for (name, source) in &raw {
        let mut schema = compile(source);
        for (field, default) in defaults.get(name).and_then(Value::as_object).into_iter().flatten() {
            if let Some(property) = schema.properties.get_mut(field) {
                property.default = Some(default.clone());
            }
        }
        if name.ends_with("api.resource.Quantity") {
            schema.kind = Type::Quantity;
        }
        compiled.insert(name.clone(), schema);
        for gvk in source["x-kubernetes-group-version-kind"].as_array().into_iter().flatten() {
            let part = |key: &str| gvk[key].as_str().unwrap_or_default().to_owned();
            by_kind.entry((part("group"), part("version"), part("kind"))).or_insert_with(|| name.clone());
        }
    }
    Builtin { groups, raw, compiled, by_kind, wire }
}

fn compile(source: &Value) -> Schema {
    let Some(map) = source.as_object() else { return Schema::default() };
    let mut schema = common(map, &compile);
    if let Some(reference) = map.get("$ref").and_then(Value::as_str) {
        schema.reference = Some(reference.trim_start_matches("#/definitions/").into());
    }
    // Definitions without a type hold any JSON; an object without fields does too (RawExtension, FieldsV1).
    if (schema.kind == Type::Any && schema.reference.is_none()) || schema.is_free_form() {
        schema.preserve_unknown = true;
    }
    // A map of which nothing is known has one owner.
    schema.atomic_map |= schema.is_free_form();
    schema.nullable = true;
    let always = map.get("required").and_then(Value::as_array);
    schema.always_written =
        always.into_iter().flatten().filter_map(|r| r.as_str().map(str::to_owned)).collect();
    // The recorded defaults are mostly Go's zero values; a real default says something.
    let says_nothing = |value: &Value| match value {
        Value::Object(map) => map.is_empty(),
        Value::String(text) => text.is_empty(),
        Value::Number(number) => number.as_f64() == Some(0.0),
        Value::Bool(flag) => !flag,
        _ => false,
    };
    if schema.default.as_ref().is_some_and(says_nothing) {
        schema.zero = schema.default.take();
    }
    if map.contains_key("x-null-time") {
        // How Go writes a time that was never set.
        schema.zero = Some(Value::Null);
    }
    schema.omit_zero = map.contains_key("x-omit-zero");
    schema
}

/// A definition by name. An unknown name allows anything.
pub fn definition(name: &str) -> &'static Schema {
    BUILTIN.compiled.get(name).unwrap_or(&ANYTHING)
}

/// The schema of a built-in kind.
pub fn of_kind(group: &str, version: &str, kind: &str) -> Option<&'static Schema> {
    name_of_kind(group, version, kind).map(definition)
}

/// The definition of a built-in kind by name.
pub fn name_of_kind(group: &str, version: &str, kind: &str) -> Option<&'static str> {
    let name = BUILTIN.by_kind.get(&(group.to_owned(), version.to_owned(), kind.to_owned()))?;
    Some(name.as_str())
}

/// How the fields of a built-in message are numbered in protobuf: number to name and code, by message.
pub fn wire() -> &'static serde_json::Map<String, Value> {
    &BUILTIN.wire
}

/// The recorded OpenAPI definitions, for `/openapi`.
pub fn raw_definitions() -> &'static serde_json::Map<String, Value> {
    &BUILTIN.raw
}

/// Recorded discovery: groups with their versions and resources in the aggregated form.
pub fn groups() -> &'static [Value] {
    &BUILTIN.groups
}

/// The schema of `metadata`.
pub fn object_meta() -> &'static Schema {
    definition("io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta")
}

#[cfg(test)]
mod tests {
    use super::super::ListType;
    use super::*;

    #[test]
    fn the_recording_can_be_read_and_knows_how_pods_merge() {
        assert!(groups().len() > 10);
        let pod = of_kind("", "v1", "Pod").expect("Pod");
        let spec = pod.properties["spec"].resolve();
        let containers = &spec.properties["containers"];
        assert_eq!(containers.list, ListType::Map(vec!["name".into()]));
        assert_eq!(containers.merge_key.as_deref(), Some("name"));
        let container = containers.items.as_ref().map(|i| i.resolve()).expect("items");
        assert!(container.properties.contains_key("image"));
        assert_eq!(spec.properties["restartPolicy"].default, Some("Always".into()));
    }

    #[test]
    fn every_default_names_a_field_that_exists() {
        let defaults: Value = serde_yaml::from_str(DEFAULTS).expect("defaults.yaml");
        for (name, fields) in defaults.as_object().expect("a map") {
            for field in fields.as_object().expect("a map").keys() {
                assert!(definition(name).properties.contains_key(field), "{name}.{field}");
            }
        }
    }
}
