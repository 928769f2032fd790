//! The list of requests.
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::Value;

use crate::our_rules;

/// Requests about one thing, in a namespace of their own.
#[derive(Debug, Deserialize)]
pub struct Group {
    pub name: String,
    pub steps: Vec<Step>,
}

/// One request. `{ns}` is a namespace of the group's own, `{x}` a text that makes cluster-wide names unique, `{rv}` the
/// resourceVersion of the last answer that had one.
#[derive(Debug, Default, Clone, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Step {
    /// Method and path. `WAIT` repeats a GET until it succeeds, `GONE` until it fails, `PREPARE` a PATCH until it succeeds, `REFUSED POST`
    /// one until it is refused: what a definition says comes into force a moment later. These are not compared.
    #[serde(rename = "do")]
    pub request: String,
    pub body: Value,
    /// Sent as it is, instead of `body`.
    pub raw: Option<String>,
    /// Content type: json, merge, strategic, json-patch, apply, or a whole one.
    pub r#type: String,
    /// Accept: table, metadata, or a whole one.
    pub accept: String,
    /// Compare only code and reason: the rest is words or noise.
    pub code_only: bool,
    /// Compare code, reason, and the field and reason of each cause, in any order.
    pub causes_only: bool,
    /// Asks for a compressed answer.
    pub gzip: bool,
    /// Pointers into the answer that are not compared.
    pub ignore: Vec<String>,
}

/// Where the requests and the record are.
pub fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/differential")
}

/// All groups, by file and place.
pub fn groups() -> Vec<Group> {
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(folder()).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|path| path.extension().is_some_and(|e| e == "yaml"));
    files.sort();
    let read = |path: &PathBuf| -> Vec<Group> {
        serde_yaml::from_str(&std::fs::read_to_string(path).unwrap())
            .unwrap_or_else(|e| panic!("{}: {e}", path.display()))
    };
    let mut groups: Vec<Group> = files.iter().flat_map(read).collect();
    groups.push(our_rules::group());
    groups
}
