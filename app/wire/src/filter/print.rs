//! The canonical text of a filter: what [`parse`](super::parse()) reads back as the same filter.

use std::fmt::{self, Display, Formatter};

use super::age::Age;
use super::ast::{Expr, Filter, Pattern, Term, Test, Value};
use super::field::Field;

impl Display for Filter {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        self.expr.as_ref().map_or(Ok(()), |expr| expr.fmt(f))
    }
}

impl Display for Expr {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::And(parts) => joined(f, parts, " ", |part| matches!(part, Self::And(_) | Self::Or(_))),
            Self::Or(parts) => joined(f, parts, " or ", |part| matches!(part, Self::Or(_))),
            Self::Not(inner) => match inner.as_ref() {
                Self::And(_) | Self::Or(_) => write!(f, "-({inner})"),
                Self::Not(_) | Self::Term(_) => write!(f, "-{inner}"),
            },
            Self::Term(term) => term.fmt(f),
        }
    }
}

fn joined(
    f: &mut Formatter<'_>,
    parts: &[Expr],
    with: &str,
    in_group: impl Fn(&Expr) -> bool,
) -> fmt::Result {
    for (index, part) in parts.iter().enumerate() {
        if index > 0 {
            f.write_str(with)?;
        }
        if in_group(part) {
            write!(f, "({part})")?;
        } else {
            part.fmt(f)?;
        }
    }
    Ok(())
}

impl Display for Term {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        if let (Field::Name, Test::Contains(patterns)) = (&self.field, &self.test) {
            return f.write_str(&bare_word(patterns));
        }
        f.write_str(&field_text(&self.field))?;
        match &self.test {
            Test::OneOf(values) => write!(f, ":{}", list(values)),
            Test::NoneOf(values) => write!(f, "!={}", list(values)),
            Test::Contains(patterns) => {
                let words: Vec<String> =
                    patterns.iter().map(|pattern| glob_text(pattern, is_special)).collect();
                write!(f, "~{}", words.join(","))
            }
            Test::Compare(comparison, Value::Text(text)) if text.starts_with('=') => {
                // Without quotes `>` and `=` would grow together.
                write!(f, "{}{}", comparison.symbol(), quoted(text))
            }
            Test::Compare(comparison, value) => {
                write!(f, "{}{}", comparison.symbol(), value_text(value, false))
            }
        }
    }
}

/// The field as it is typed: its key in quotes where it must be.
pub(super) fn field_text(field: &Field) -> String {
    match field.key() {
        Some(key) if key.chars().any(|c| is_special(c) || is_operator(c)) => {
            format!("{}.{}", field.base(), quoted(key))
        }
        _ => field.full_name().into_owned(),
    }
}

/// A value as it is typed, in quotes where it must be, so that it can follow `field:` or stand in its comma list.
#[must_use]
pub fn quote_value(text: &str) -> String {
    if text.is_empty() || text.chars().any(is_special) { quoted(text) } else { text.to_owned() }
}

fn list(values: &[Value]) -> String {
    let alone = values.len() == 1;
    values.iter().map(|value| value_text(value, alone)).collect::<Vec<_>>().join(",")
}

fn value_text(value: &Value, alone: bool) -> String {
    match value {
        // `node:` reads well alone; in a list the empty value must be seen.
        Value::Text(text) if text.is_empty() && alone => String::new(),
        Value::Text(text) => quote_value(text),
        Value::Number { from, to } if from == to => from.to_string(),
        Value::Number { from, to: i64::MAX } => format!("{from}-"),
        Value::Number { from, to } => format!("{from}-{to}"),
        Value::Age { from, to } if from == to => from.to_string(),
        Value::Age { from, to: Age::OPEN } => format!("{from}-"),
        Value::Age { from, to } => format!("{from}-{to}"),
        Value::Missing if alone => String::new(),
        Value::Missing => "\"\"".to_owned(),
    }
}

fn bare_word(patterns: &[Pattern]) -> String {
    let words: Vec<String> =
        patterns.iter().map(|pattern| glob_text(pattern, |c| is_special(c) || is_operator(c))).collect();
    let word = words.join(",");
    let is_keyword = ["or", "and", "not"].iter().any(|keyword| word.eq_ignore_ascii_case(keyword));
    if is_keyword || word.starts_with('-') {
        // The first piece is not in quotes yet, or the word would start with one.
        let first = word.split(['*', ',']).next().unwrap_or("");
        return format!("{}{}", quoted(first), &word[first.len()..]);
    }
    word
}

/// A pattern as it is typed: its pieces, in quotes where they must be, with stars between them.
fn glob_text(pattern: &Pattern, needs_quotes: impl Fn(char) -> bool) -> String {
    let pieces: Vec<String> =
        pattern
            .pieces
            .iter()
            .map(|piece| {
                if piece.chars().any(|c| c == '*' || needs_quotes(c)) { quoted(piece) } else { piece.clone() }
            })
            .collect();
    pieces.join("*")
}

fn is_special(c: char) -> bool {
    c.is_whitespace() || matches!(c, '"' | '(' | ')' | ',')
}

fn is_operator(c: char) -> bool {
    matches!(c, ':' | '=' | '!' | '~' | '<' | '>')
}

fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in text.chars() {
        if matches!(c, '"' | '\\' | '*') {
            out.push('\\');
        }
        out.push(c);
    }
    out.push('"');
    out
}

#[cfg(test)]
#[path = "print_test.rs"]
mod tests;
