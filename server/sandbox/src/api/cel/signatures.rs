//! The table of functions (`data/cel.txt`): what may be called with which types.
use std::collections::HashMap;
use std::sync::{Arc, LazyLock};

use super::types::Ty;

/// One way to call a function. Letters of the table are `Ty::Unknown` with the letter's number.
#[derive(Debug)]
pub struct Signature {
    /// Called on a value, which is then the first of `args`.
    pub member: bool,
    /// What it takes.
    pub args: Vec<Ty>,
    /// What comes out.
    pub result: Ty,
}

/// How many letters a signature may use.
pub const LETTERS: usize = 26;

/// All signatures of a function, by name.
pub fn of(name: &str) -> &'static [Signature] {
    static TABLE: LazyLock<HashMap<&'static str, Vec<Signature>>> =
        LazyLock::new(|| read(include_str!("../../../data/cel.txt")));
    TABLE.get(name).map_or(&[], Vec::as_slice)
}

fn read(text: &'static str) -> HashMap<&'static str, Vec<Signature>> {
    let mut table: HashMap<&'static str, Vec<Signature>> = HashMap::new();
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#')) {
        let Some((name, signature)) = parse(line) else {
            tracing::error!(line, "the table of CEL functions has a line that cannot be read");
            continue;
        };
        let names = if name == "ORDERED" { vec!["_<_", "_<=_", "_>_", "_>=_"] } else { vec![name] };
        for name in names {
            let copy = Signature {
                member: signature.member,
                args: signature.args.clone(),
                result: signature.result.clone(),
            };
            table.entry(name).or_default().push(copy);
        }
    }
    table
}

/// `name(args) result`, `type.name(args) result`.
fn parse(line: &'static str) -> Option<(&'static str, Signature)> {
    let (call, result) = line.rsplit_once(") ").map(|(call, result)| (call, result.trim()))?;
    // A result such as `optional(A)` has parentheses too, so the last `) ` ends the arguments.
    let open = opening(call)?;
    let (head, args) = (&call[..open], &call[open + 1..]);
    let mut types: Vec<Ty> = Vec::new();
    let (member, name) = match head.rsplit_once('.').filter(|(on, _)| !is_namespace(on)) {
        Some((on, name)) => {
            types.push(ty(on)?);
            (true, name)
        }
        None => (false, head),
    };
    for arg in split(args) {
        types.push(ty(arg)?);
    }
    Some((name, Signature { member, args: types, result: ty(result)? }))
}

/// Functions in a namespace look like methods: `optional.of`, `ip.isCanonical`.
fn is_namespace(on: &str) -> bool {
    matches!(on, "optional" | "strings" | "lists" | "sets" | "ip" | "")
}

/// Where the parenthesis of the call opens whose closing one was cut off.
fn opening(call: &str) -> Option<usize> {
    let mut depth = 0;
    for (i, c) in call.char_indices().rev() {
        match c {
            ')' => depth += 1,
            '(' if depth == 0 => return Some(i),
            '(' => depth -= 1,
            _ => {}
        }
    }
    None
}

/// Splits at the commas that are in no parentheses.
fn split(text: &'static str) -> Vec<&'static str> {
    let mut parts = Vec::new();
    let (mut depth, mut start) = (0, 0);
    for (i, c) in text.char_indices() {
        match c {
            '(' => depth += 1,
            ')' => depth -= 1,
            ',' if depth == 0 => {
                parts.push(text[start..i].trim());
                start = i + 1;
            }
            _ => {}
        }
    }
    parts.push(text[start..].trim());
    parts.retain(|part| !part.is_empty());
    parts
}

fn ty(text: &'static str) -> Option<Ty> {
    if let Some((head, inner)) = text.strip_suffix(')').and_then(|t| t.split_once('(')) {
        let inner = split(inner);
        return match (head, inner.as_slice()) {
            ("list", [item]) => Some(Ty::list(ty(item)?)),
            ("optional", [value]) => Some(Ty::optional(ty(value)?)),
            ("map", [key, value]) => Some(Ty::Map(Arc::new(ty(key)?), Arc::new(ty(value)?))),
            _ => None,
        };
    }
    match text.as_bytes() {
        b"dyn" => Some(Ty::Dyn),
        [letter] if letter.is_ascii_uppercase() => Some(Ty::Unknown(usize::from(letter - b'A'))),
        [] => None,
        _ => Some(Ty::Plain(text)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_of_the_table_is_understood() {
        let text = include_str!("../../../data/cel.txt");
        let lines = text.lines().filter(|line| !line.trim().is_empty() && !line.starts_with('#'));
        for line in lines {
            assert!(parse(line.trim()).is_some(), "{line}");
        }
    }

    #[test]
    fn methods_namespaces_and_letters() {
        let index = of("indexOf");
        assert!(index.iter().any(|s| s.member && s.args == [Ty::list(Ty::Unknown(0)), Ty::Unknown(0)]));
        assert!(!of("optional.of")[0].member);
        assert_eq!(of("_<_").len(), 14);
        assert_eq!(of("_[?_]")[1].result, Ty::optional(Ty::Unknown(1)));
        assert!(of("getFullYear")[0].member && of("math.abs").is_empty());
    }
}
