//! Reading case files and the list of differences.

pub mod adapters;
mod fields;
mod objects;
mod properties;

use serde::Deserialize;
use serde_yaml::Value as Yaml;
use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
};

/// One case.
#[derive(Debug, Deserialize)]
pub struct Case {
    pub id: String,
    pub area: String,
    pub input: serde_json::Value,
    pub expected: serde_json::Value,
    #[serde(default)]
    pub defect: bool,
}

/// What became of a case.
pub enum Outcome {
    Passed,
    Failed(String),
    Listed,
}

#[derive(Deserialize)]
struct File {
    cases: Vec<Yaml>,
}

/// All cases of a file, or of every YAML file in a folder.
pub fn load(place: &Path) -> Result<Vec<Case>, String> {
    let mut files: Vec<PathBuf> = if place.is_dir() {
        let entries = std::fs::read_dir(place).map_err(|error| error.to_string())?;
        entries.filter_map(|entry| entry.ok().map(|entry| entry.path())).collect()
    } else {
        vec![place.to_owned()]
    };
    files.sort();
    let mut cases = Vec::new();
    for path in files.iter().filter(|path| path.extension().is_some_and(|e| e == "yaml" || e == "yml")) {
        let in_file = |error: String| format!("{}: {error}", path.display());
        let text = std::fs::read_to_string(path).map_err(|error| in_file(error.to_string()))?;
        let file: File = serde_yaml::from_str(&text).map_err(|error| in_file(error.to_string()))?;
        for yaml in file.cases {
            cases.push(serde_yaml::from_value(yaml).map_err(|error| in_file(error.to_string()))?);
        }
    }
    Ok(cases)
}

/// The ids in the first column of the tables of `docs/differences.md`, each between backticks.
pub fn listed_ids(path: &Path) -> Result<BTreeSet<String>, String> {
    let text = std::fs::read_to_string(path).map_err(|error| error.to_string())?;
    let is_id = |word: &&str| {
        word.contains('-') && word.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '-')
    };
    let first_columns = text.lines().filter_map(|line| line.strip_prefix('|')?.split('|').next());
    Ok(first_columns.flat_map(|column| column.split('`').filter(is_id)).map(ToOwned::to_owned).collect())
}
