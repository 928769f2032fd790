//! Server-side apply: who owns which field, and what an apply makes of an object.
mod set;
mod typed;

use serde_json::{Value, json};

use crate::api::error::{ApiError, Result};
use crate::api::kinds::{KindSchema, Resource};
use crate::api::schema::unset;
use crate::api::value::{list, remove, set as put, text};
use set::FieldSet;

/// Who writes.
#[derive(Debug, Clone, Copy)]
pub struct Owner<'a> {
    /// Name of the field manager.
    pub manager: &'a str,
    /// Version of the request.
    pub api_version: &'a str,
    /// Subresource, or empty.
    pub subresource: &'a str,
    /// Now.
    pub time: &'a str,
}

/// One entry of managedFields.
#[derive(Debug, Clone, PartialEq)]
struct Entry {
    manager: String,
    applied: bool,
    api_version: String,
    subresource: String,
    time: String,
    fields: FieldSet,
}

impl Entry {
    fn new(owner: &Owner<'_>, applied: bool, fields: FieldSet) -> Self {
        Self {
            manager: owner.manager.to_owned(),
            applied,
            api_version: owner.api_version.to_owned(),
            subresource: owner.subresource.to_owned(),
            time: owner.time.to_owned(),
            fields,
        }
    }

    fn is(&self, owner: &Owner<'_>, applied: bool) -> bool {
        self.applied == applied
            && self.manager == owner.manager
            && self.subresource == owner.subresource
            && self.api_version == owner.api_version
    }

    /// How a conflict names the owner.
    fn print(&self) -> String {
        let mut words = format!("{:?}", self.manager);
        if !self.subresource.is_empty() {
            words = format!("{words} with subresource {:?}", self.subresource);
        }
        if self.applied { words } else { format!("{words} using {}", self.api_version) }
    }
}

fn read(object: &Value) -> Vec<Entry> {
    let entries = list(object, &["metadata", "managedFields"]).iter();
    let entries = entries.map(|source| Entry {
        manager: text(source, &["manager"]).to_owned(),
        applied: text(source, &["operation"]) == "Apply",
        api_version: text(source, &["apiVersion"]).to_owned(),
        subresource: text(source, &["subresource"]).to_owned(),
        time: text(source, &["time"]).to_owned(),
        fields: source.get("fieldsV1").map(FieldSet::read).unwrap_or_default(),
    });
    entries.filter(|entry| !entry.fields.is_empty()).collect()
}

fn write(object: &mut Value, mut entries: Vec<Entry>) {
    entries.retain(|entry| !entry.fields.is_empty());
    if entries.is_empty() {
        remove(object, &["metadata", "managedFields"]);
        return;
    }
    entries.sort_by(|a, b| {
        let key = |e: &Entry| {
            (!e.applied, e.time.clone(), e.manager.clone(), e.api_version.clone(), e.subresource.clone())
        };
        key(a).cmp(&key(b))
    });
    let written: Vec<Value> = entries
        .iter()
        .map(|entry| {
            let mut out = json!({
                "manager": entry.manager, "operation": if entry.applied { "Apply" } else { "Update" },
                "apiVersion": entry.api_version, "fieldsType": "FieldsV1", "fieldsV1": entry.fields.write(),
            });
            if !entry.time.is_empty() {
                out["time"] = entry.time.clone().into();
            }
            if !entry.subresource.is_empty() {
                out["subresource"] = entry.subresource.clone().into();
            }
            out
        })
        .collect();
    put(object, &["metadata", "managedFields"], written);
}

/// Fields that nobody owns: the server writes them.
fn strip(fields: &FieldSet) -> FieldSet {
    let meta = [
        "name",
        "namespace",
        "creationTimestamp",
        "selfLink",
        "uid",
        "clusterName",
        "generation",
        "managedFields",
        "resourceVersion",
    ];
    let mut stripped = FieldSet::default();
    for top in ["f:apiVersion", "f:kind", "f:metadata"] {
        stripped.insert(&[top.to_owned()]);
    }
    for name in meta {
        stripped.insert(&["f:metadata".to_owned(), format!("f:{name}")]);
    }
    fields.difference(&stripped)
}

/// Without the fields that a write through this URL cannot change.
fn writable(resource: &Resource, owner: &Owner<'_>, fields: FieldSet) -> FieldSet {
    match owner.subresource {
        "" if resource.has_status() => fields.without("status"),
        "status" if resource.custom.is_some() => fields.without("spec").without("metadata"),
        "status" => fields.without("spec"),
        _ => fields,
    }
}

/// Takes differences away from what others own.
fn disown(entries: &mut [Entry], lost: &FieldSet, removed: &FieldSet, except: impl Fn(&Entry) -> bool) {
    for entry in entries.iter_mut().filter(|entry| !except(entry)) {
        entry.fields = entry.fields.difference(&entry.fields.intersection(lost)).difference(removed);
    }
}

/// Keeps account after a create, an update or a patch. `old` is absent on create.
pub fn track_update(resource: &Resource, owner: &Owner<'_>, old: Option<&Value>, new: &mut Value) {
    // managedFields may be edited like other fields, except through a subresource.
    let given = list(new, &["metadata", "managedFields"]);
    let mut entries = match old {
        Some(old) if given.is_empty() || !owner.subresource.is_empty() => read(old),
        _ => read(new),
    };
    if let [one] = given
        && old.is_some()
        && one.as_object().is_some_and(serde_json::Map::is_empty)
    {
        // The way to give everything up.
        entries.clear();
    }
    if entries.is_empty() && old.is_some() {
        // Nobody kept account so far: the first apply begins.
        write(new, entries);
        return;
    }
    // A new object is compared with one in which nothing was set; of a built-in kind that one has some empty parts.
    let nothing = || match &resource.schema {
        KindSchema::Builtin(schema) => unset(schema),
        KindSchema::Custom(_) => json!({}),
    };
    let difference = match old {
        Some(old) => typed::compare(&resource.schema, old, new),
        None => typed::compare(&resource.schema, &nothing(), new),
    };
    let taken = writable(resource, owner, difference.added.union(&difference.modified));
    let removed = writable(resource, owner, difference.removed);
    disown(&mut entries, &taken, &removed, |_| false);
    let mine = strip(&taken);
    if !mine.is_empty() {
        match entries.iter_mut().find(|entry| entry.is(owner, false)) {
            Some(entry) => {
                entry.fields = entry.fields.union(&mine);
                owner.time.clone_into(&mut entry.time);
            }
            None => entries.push(Entry::new(owner, false, mine)),
        }
    }
    cap(&mut entries);
    write(new, entries);
}

/// More than ten updaters are kept as one, the oldest first.
fn cap(entries: &mut Vec<Entry>) {
    const MOST: usize = 10;
    let updaters = |entries: &[Entry]| entries.iter().filter(|e| !e.applied).count();
    if updaters(entries) <= MOST {
        return;
    }
    entries.sort_by(|a, b| (a.applied, &a.time, &a.manager).cmp(&(b.applied, &b.time, &b.manager)));
    while updaters(entries) > MOST {
        let oldest = entries.remove(0);
        match entries.iter_mut().find(|e| !e.applied && e.api_version == oldest.api_version) {
            Some(next) => {
                next.fields = next.fields.union(&oldest.fields);
                next.manager = "ancient-changes".into();
                next.subresource = String::new();
            }
            None => return,
        }
    }
}

/// Writes who owns what into an object that an apply has just created.
pub fn track_created(resource: &Resource, owner: &Owner<'_>, new: &mut Value, config: &Value) {
    let mut config = config.clone();
    remove(&mut config, &["metadata", "managedFields"]);
    let mine = strip(&writable(resource, owner, typed::fields(&resource.schema, &config)));
    write(new, vec![Entry::new(owner, true, mine)]);
}

/// What an apply makes of an object, with managedFields; 409 with one cause per field when others own what it would change.
pub fn merge(
    resource: &Resource,
    owner: &Owner<'_>,
    old: &Value,
    config: &Value,
    force: bool,
) -> Result<Value> {
    let schema = &resource.schema;
    let mut entries = read(old);
    let mut old_content = old.clone();
    remove(&mut old_content, &["metadata", "managedFields"]);
    if entries.is_empty() {
        // Nobody kept account so far: everything that is there belongs to "before-first-apply".
        let there = strip(&typed::fields(schema, &old_content));
        let before = Owner { manager: "before-first-apply", subresource: "", ..*owner };
        entries.push(Entry::new(&before, false, there));
    }
    let merged = typed::merge(schema, &old_content, config);
    let last = entries.iter().find(|e| e.is(owner, true)).map(|e| (e.fields.clone(), e.time.clone()));
    let mine = strip(&writable(resource, owner, typed::fields(schema, config)));
    entries.retain(|e| !e.is(owner, true));
    let mut new = match &last {
        Some((last, _)) => prune(resource, &merged, last, &entries, &mine),
        None => merged,
    };
    let difference = typed::compare(schema, &old_content, &new);
    let changed = writable(resource, owner, difference.added.union(&difference.modified));
    let removed = writable(resource, owner, difference.removed);
    let conflicts: Vec<(&Entry, FieldSet)> = entries
        .iter()
        .map(|entry| (entry, entry.fields.intersection(&changed)))
        .filter(|(_, fields)| !fields.is_empty())
        .collect();
    if !force && !conflicts.is_empty() {
        return Err(conflict(&conflicts));
    }
    disown(&mut entries, &changed, &removed, |_| false);
    // An apply that changes nothing keeps its time, so that it writes nothing.
    let time = if new == old_content {
        last.map(|(_, time)| time).unwrap_or_default()
    } else {
        owner.time.to_owned()
    };
    entries.push(Entry { time, ..Entry::new(owner, true, mine) });
    write(&mut new, entries);
    Ok(new)
}

/// Takes out what this manager applied last time, does not apply now, and nobody else owns.
fn prune(resource: &Resource, merged: &Value, last: &FieldSet, others: &[Entry], mine: &FieldSet) -> Value {
    let schema = &resource.schema;
    let declared = |path: &[String]| typed::is_declared(schema, path);
    let named = |set: &FieldSet| set.with_named_parents(&declared);
    let last = named(last);
    let merged_fields = named(&typed::fields(schema, merged));
    let empty = json!({});
    let pruned = typed::without(schema, merged, &last).unwrap_or_else(|| empty.clone());
    // What others (or the new configuration) own comes back.
    let owned = others.iter().fold(mine.clone(), |all, entry| all.union(&entry.fields));
    let left = named(&typed::fields(schema, &pruned)).union(&named(&owned));
    let pruned =
        typed::without(schema, merged, &merged_fields.difference(&left)).unwrap_or_else(|| empty.clone());
    // And what went along with its parent without ever having been ours.
    let left = named(&typed::fields(schema, &pruned));
    let gone = merged_fields.difference(&left).intersection(&last);
    typed::without(schema, merged, &gone).unwrap_or(empty)
}

fn conflict(conflicts: &[(&Entry, FieldSet)]) -> ApiError {
    let mut causes = Vec::new();
    let mut lines: Vec<(String, Vec<String>)> = Vec::new();
    for (entry, fields) in conflicts {
        let who = entry.print();
        let paths = fields.paths();
        for path in &paths {
            causes.push(json!({ "reason": "FieldManagerConflict", "message": format!("conflict with {who}"), "field": path }));
        }
        lines.push((who, paths));
    }
    let message = match causes.as_slice() {
        [_] => {
            let (who, paths) = &lines[0];
            format!(
                "Apply failed with 1 conflict: conflict with {who}: {}",
                paths.first().map_or("", String::as_str)
            )
        }
        _ => {
            lines.sort();
            let words: Vec<String> = lines
                .iter()
                .flat_map(|(who, paths)| {
                    std::iter::once(format!("conflicts with {who}:"))
                        .chain(paths.iter().map(|path| format!("- {path}")))
                })
                .collect();
            format!("Apply failed with {} conflicts: {}", causes.len(), words.join("\n"))
        }
    };
    ApiError { details: Some(json!({ "causes": causes })), ..ApiError::new(409, "Conflict", message) }
}
