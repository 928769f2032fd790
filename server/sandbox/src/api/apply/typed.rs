//! Walking values by their schema: which fields a value has, how two values merge, what differs, what to take out.
//!
//! The rules are those of Kubernetes' structured merge: scalars, atomic lists and atomic maps are one field each, other maps
//! merge key by key, map lists and sets item by item.
use std::sync::LazyLock;

use serde_json::{Map, Value};

use super::set::FieldSet;
use crate::api::schema::{ListType, Schema};

static ANYTHING: LazyLock<Schema> = LazyLock::new(Schema::default);

fn node(schema: Option<&Schema>) -> &Schema {
    schema.map_or(&*ANYTHING, Schema::resolve)
}

fn field<'s>(schema: &'s Schema, name: &str) -> &'s Schema {
    node(schema.field(name))
}

fn item(schema: &Schema) -> &Schema {
    node(schema.items.as_deref())
}

/// The path element of a list item, when its list tells items apart.
fn element(schema: &Schema, value: &Value) -> Option<String> {
    match &schema.list {
        ListType::Atomic => None,
        ListType::Set => Some(format!("v:{value}")),
        ListType::Map(keys) => {
            let mut sorted: Vec<&String> = keys.iter().collect();
            sorted.sort();
            let id: Map<String, Value> = sorted
                .into_iter()
                .filter_map(|key| {
                    let default = || schema.items.as_deref()?.resolve().properties.get(key)?.default.clone();
                    Some((key.clone(), value.get(key).cloned().or_else(default)?))
                })
                .collect();
            Some(format!("k:{}", Value::Object(id)))
        }
    }
}

fn is_atomic(schema: &Schema, value: &Value) -> bool {
    match value {
        Value::Object(_) => schema.atomic_map,
        Value::Array(_) => schema.list == ListType::Atomic,
        _ => true,
    }
}

fn is_empty(value: Option<&Value>) -> bool {
    match value {
        None | Some(Value::Null) => true,
        Some(Value::Object(map)) => map.is_empty(),
        Some(Value::Array(items)) => items.is_empty(),
        Some(_) => false,
    }
}

/// The fields that a value has.
pub fn fields(schema: &Schema, value: &Value) -> FieldSet {
    let mut set = FieldSet::default();
    collect(schema.resolve(), value, &mut Vec::new(), &mut set);
    set
}

fn collect(schema: &Schema, value: &Value, path: &mut Vec<String>, set: &mut FieldSet) {
    if is_atomic(schema, value) {
        set.insert(path);
        return;
    }
    match value {
        Value::Object(map) => {
            for (name, child) in map {
                path.push(format!("f:{name}"));
                collect(field(schema, name), child, path, set);
                let empty_map = matches!(child, Value::Object(map) if map.is_empty());
                if child.is_null() || empty_map || !schema.properties.contains_key(name) {
                    set.insert(path);
                }
                path.pop();
            }
        }
        Value::Array(items) => {
            for child in items {
                path.push(element(schema, child).unwrap_or_default());
                collect(item(schema), child, path, set);
                set.insert(path);
                path.pop();
            }
        }
        _ => {}
    }
}

/// Whether a path leads to a field that the schema declares by name.
pub fn is_declared(schema: &Schema, path: &[String]) -> bool {
    let Some((last, above)) = path.split_last() else { return false };
    let mut here = schema.resolve();
    for step in above {
        here = match step.strip_prefix("f:") {
            Some(name) => field(here, name),
            None => item(here),
        };
    }
    last.strip_prefix("f:").is_some_and(|name| here.properties.contains_key(name))
}

/// What one value becomes when a configuration is applied to it.
pub fn merge(schema: &Schema, old: &Value, config: &Value) -> Value {
    let schema = schema.resolve();
    match (old, config) {
        (Value::Object(a), Value::Object(b)) if !(schema.atomic_map || a.is_empty() && b.is_empty()) => {
            let mut out = a.clone();
            for (name, child) in b {
                let merged = match a.get(name) {
                    Some(before) => merge(field(schema, name), before, child),
                    None => child.clone(),
                };
                out.insert(name.clone(), merged);
            }
            Value::Object(out)
        }
        (Value::Array(a), Value::Array(b))
            if schema.list != ListType::Atomic && !(a.is_empty() && b.is_empty()) =>
        {
            Value::Array(merge_lists(schema, a, b))
        }
        _ => config.clone(),
    }
}

/// Items of both in the order of the configuration, items of the old one near where they were.
fn merge_lists(schema: &Schema, old: &[Value], config: &[Value]) -> Vec<Value> {
    let id = |value: &Value| element(schema, value).unwrap_or_default();
    let old_ids: Vec<String> = old.iter().map(id).collect();
    let new_ids: Vec<String> = config.iter().map(id).collect();
    let merged = |i: usize| match old_ids.iter().position(|o| *o == new_ids[i]) {
        Some(o) => merge(item(schema), &old[o], &config[i]),
        None => config[i].clone(),
    };
    let mut shared = new_ids.iter().filter(|id| old_ids.contains(id));
    let mut next_shared = shared.next();
    let mut out = Vec::with_capacity(old.len().max(config.len()));
    let mut done = std::collections::HashSet::new();
    let (mut o, mut n) = (0, 0);
    while o < old.len() || n < config.len() {
        if o < old.len() && n < config.len() {
            if old_ids[o] == new_ids[n] {
                done.insert(&new_ids[n]);
                out.push(merged(n));
                o += 1;
                n += 1;
                next_shared = shared.next();
                continue;
            }
            if new_ids.contains(&old_ids[o]) && next_shared.is_some_and(|next| *next != old_ids[o]) {
                // Shared, but its turn comes later in the new order.
                o += 1;
                continue;
            }
        }
        if o < old.len() {
            if !new_ids.contains(&old_ids[o]) {
                out.push(old[o].clone());
                o += 1;
                continue;
            }
            if done.contains(&old_ids[o]) {
                o += 1;
                // A step is made even when the configuration is at its end.
                if n >= config.len() {
                    continue;
                }
            }
        }
        if n < config.len() {
            done.insert(&new_ids[n]);
            out.push(merged(n));
            if next_shared.is_some_and(|next| *next == new_ids[n]) {
                next_shared = shared.next();
            }
            n += 1;
        } else if o < old.len() {
            o += 1;
        }
    }
    out
}

/// What differs between two values.
#[derive(Debug, Default)]
pub struct Difference {
    pub added: FieldSet,
    pub modified: FieldSet,
    pub removed: FieldSet,
}

/// Compares two values.
pub fn compare(schema: &Schema, old: &Value, new: &Value) -> Difference {
    let mut difference = Difference::default();
    diff(schema.resolve(), Some(old), Some(new), &mut Vec::new(), &mut difference);
    difference
}

fn diff(
    schema: &Schema,
    old: Option<&Value>,
    new: Option<&Value>,
    path: &mut Vec<String>,
    out: &mut Difference,
) {
    let leaf = |path: &[String], out: &mut Difference| match (old, new) {
        (None, Some(_)) => out.added.insert(path),
        (Some(_), None) => out.removed.insert(path),
        (Some(a), Some(b)) if a != b => out.modified.insert(path),
        _ => {}
    };
    // null takes the shape of the other side.
    let present = new.filter(|value| !value.is_null()).or(old).or(new);
    let same_shape = match (old, new) {
        (Some(a), Some(b)) => {
            a.is_null() || b.is_null() || std::mem::discriminant(a) == std::mem::discriminant(b)
        }
        _ => true,
    };
    let both_empty = is_empty(old) && is_empty(new);
    if !same_shape || both_empty || present.is_none_or(|value| is_atomic(schema, value)) {
        leaf(path, out);
        return;
    }
    match present {
        Some(Value::Object(_)) => {
            let none = Map::new();
            let a = old.and_then(Value::as_object).unwrap_or(&none);
            let b = new.and_then(Value::as_object).unwrap_or(&none);
            for (name, before) in a {
                path.push(format!("f:{name}"));
                diff(field(schema, name), Some(before), b.get(name), path, out);
                path.pop();
            }
            for (name, after) in b.iter().filter(|(name, _)| !a.contains_key(*name)) {
                path.push(format!("f:{name}"));
                diff(field(schema, name), None, Some(after), path, out);
                path.pop();
            }
        }
        Some(Value::Array(_)) => {
            let a = old.and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
            let b = new.and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
            diff_lists(schema, a, b, path, out);
        }
        _ => {}
    }
    // A map or list that comes or goes is a difference of its own, besides what is in it.
    if !path.is_empty() {
        match (old, new) {
            (None, Some(_)) => out.added.insert(path),
            (Some(_), None) => out.removed.insert(path),
            _ => {}
        }
    }
}

fn diff_lists(schema: &Schema, a: &[Value], b: &[Value], path: &mut Vec<String>, out: &mut Difference) {
    let mut ids: Vec<String> = Vec::new();
    let mut by_id: std::collections::HashMap<String, (Vec<&Value>, Vec<&Value>)> =
        std::collections::HashMap::new();
    for (old, value) in a.iter().map(|v| (true, v)).chain(b.iter().map(|v| (false, v))) {
        let id = element(schema, value).unwrap_or_default();
        if !by_id.contains_key(&id) {
            ids.push(id.clone());
        }
        let (before, after) = by_id.entry(id).or_default();
        if old { before.push(value) } else { after.push(value) }
    }
    for id in ids {
        let Some((before, after)) = by_id.get(&id) else { continue };
        path.push(id);
        if before.len() <= 1 && after.len() <= 1 {
            diff(item(schema), before.first().copied(), after.first().copied(), path, out);
        } else if before.len() >= 2 && after.len() >= 2 {
            if before != after {
                out.modified.insert(path);
            }
        } else if before.len() >= 2 {
            out.removed.insert(path);
            if let Some(after) = after.first() {
                diff(item(schema), None, Some(after), path, out);
            }
        } else {
            if let Some(before) = before.first() {
                diff(item(schema), Some(before), None, path, out);
            }
            out.added.insert(path);
        }
        path.pop();
    }
}

/// The value without the fields in the set; `None` when a map or list that had something has nothing left.
pub fn without(schema: &Schema, value: &Value, gone: &FieldSet) -> Option<Value> {
    let schema = schema.resolve();
    match value {
        Value::Object(map) if !schema.atomic_map => {
            if map.is_empty() {
                return Some(value.clone());
            }
            let mut out = Map::new();
            for (name, child) in map {
                let element = format!("f:{name}");
                if gone.has(&element) {
                    continue;
                }
                match gone.below(&element) {
                    Some(below) => {
                        if let Some(left) = without(field(schema, name), child, below) {
                            out.insert(name.clone(), left);
                        }
                    }
                    None => drop(out.insert(name.clone(), child.clone())),
                }
            }
            (!out.is_empty()).then_some(Value::Object(out))
        }
        Value::Array(items) if schema.list != ListType::Atomic => {
            if items.is_empty() {
                return Some(value.clone());
            }
            let left: Vec<Value> = items
                .iter()
                .filter_map(|child| {
                    let element = element(schema, child).unwrap_or_default();
                    if gone.has(&element) {
                        return None;
                    }
                    match gone.below(&element) {
                        Some(below) => without(item(schema), child, below),
                        None => Some(child.clone()),
                    }
                })
                .collect();
            (!left.is_empty()).then_some(Value::Array(left))
        }
        _ => Some(value.clone()),
    }
}
