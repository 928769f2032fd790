//! Where answers differ.
use std::collections::BTreeMap;

use serde_json::Value;

/// What a comparison came to.
#[derive(Default)]
pub struct Told {
    /// How many answers agree.
    pub agree: usize,
    /// What differs, in words.
    pub differ: Vec<String>,
    /// Agreeing and differing answers of each group.
    pub table: BTreeMap<String, (usize, usize)>,
}

/// Where two answers differ, as pointers with both sides.
pub fn differences(path: &str, expected: &Value, found: &Value, out: &mut Vec<String>) {
    match (expected, found) {
        (Value::Object(a), Value::Object(b)) => {
            let keys: std::collections::BTreeSet<&String> = a.keys().chain(b.keys()).collect();
            let none = Value::String("(absent)".into());
            for key in keys {
                let (a, b) = (a.get(key).unwrap_or(&none), b.get(key).unwrap_or(&none));
                differences(&format!("{path}/{key}"), a, b, out);
            }
        }
        (Value::Array(a), Value::Array(b)) if a.len() == b.len() => {
            for (i, (a, b)) in a.iter().zip(b).enumerate() {
                differences(&format!("{path}/{i}"), a, b, out);
            }
        }
        (a, b) if a != b => out.push(format!("  {path}\n    real:    {a}\n    sandbox: {b}")),
        _ => {}
    }
}

/// Compares all groups.
pub fn groups(expected: &BTreeMap<String, Vec<Value>>, found: &BTreeMap<String, Vec<Value>>) -> Told {
    let mut told = Told::default();
    for (group, answers) in found {
        let recorded = expected.get(group).map_or(&[][..], Vec::as_slice);
        let (before, row) = (told.differ.len(), told.agree);
        if recorded.len() != answers.len() {
            let (a, b) = (recorded.len(), answers.len());
            told.differ.push(format!("{group}: {a} answers recorded, {b} found; record anew"));
        } else {
            for (i, (a, b)) in recorded.iter().zip(answers).enumerate() {
                let mut out = Vec::new();
                differences("", a, b, &mut out);
                if out.is_empty() {
                    told.agree += 1;
                } else {
                    told.differ.push(format!("{group} step {i}: {}\n{}", b["do"], out.join("\n")));
                }
            }
        }
        told.table.insert(group.clone(), (told.agree - row, told.differ.len() - before));
    }
    told
}
