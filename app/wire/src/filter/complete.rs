//! What could be typed next: fields, keys of labels, known values with their counts.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::ast::Span;
use super::field::{Field, FieldKind, KeyedField};
use super::lex::{Lexeme, Split, Word, lex};
use super::print::{field_text, quote_value};
use super::text::{contains_without_case, equal_without_case, natural_cmp};

/// A proposal for the filter box.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Completion {
    /// The piece of the filter that it takes the place of, in bytes; empty where something is added.
    pub span: Span,
    /// What to put there.
    pub insert: String,
    /// What to show.
    pub label: String,
    /// How many servers have the value; `None` where that says nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub count: Option<u64>,
    /// What it is.
    pub kind: CompletionKind,
}

/// The kinds of [`Completion`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CompletionKind {
    /// A field with its operator.
    Field,
    /// A key of `label.` and its kin.
    Key,
    /// A value.
    Value,
    /// `or`, `not`.
    Keyword,
}

/// A value and how many servers have it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ValueCount {
    /// The value, or the key where keys are asked for.
    pub value: String,
    /// Servers that have it.
    pub count: u64,
}

/// Who knows which values there are. Both answers hold only what contains `typed` (without case), best first, at
/// most `limit`.
pub trait ValueSource {
    /// Values of a field.
    fn values(&self, field: &Field, typed: &str, limit: usize) -> Vec<ValueCount>;
    /// Keys of labels and their kin.
    fn keys(&self, field: KeyedField, typed: &str, limit: usize) -> Vec<ValueCount>;
}

/// Known values as they travel to the browser.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct KnownValues {
    /// By full field name, such as `state` or `label.zone`.
    pub values: BTreeMap<String, Vec<ValueCount>>,
    /// By the name before the dot: `label`, `ann`, `sq`, `cond`.
    pub keys: BTreeMap<String, Vec<ValueCount>>,
}

impl ValueSource for KnownValues {
    fn values(&self, field: &Field, typed: &str, limit: usize) -> Vec<ValueCount> {
        best(self.values.get(field.full_name().as_ref()).into_iter().flatten(), typed, limit)
    }

    fn keys(&self, field: KeyedField, typed: &str, limit: usize) -> Vec<ValueCount> {
        best(self.keys.get(field.name()).into_iter().flatten(), typed, limit)
    }
}

impl ValueCount {
    /// The values that contain what was typed: those that start with it first, then the most frequent.
    #[must_use]
    pub fn best<'a>(all: impl IntoIterator<Item = &'a Self>, typed: &str, limit: usize) -> Vec<Self> {
        best(all, typed, limit)
    }
}

fn best<'a>(all: impl IntoIterator<Item = &'a ValueCount>, typed: &str, limit: usize) -> Vec<ValueCount> {
    let mut found: Vec<(bool, &ValueCount)> = all
        .into_iter()
        .filter(|known| contains_without_case(&known.value, typed))
        .map(|known| (starts_without_case(&known.value, typed), known))
        .collect();
    found.sort_by(|(left_starts, left), (right_starts, right)| {
        right_starts
            .cmp(left_starts)
            .then(right.count.cmp(&left.count))
            .then_with(|| natural_cmp(&left.value, &right.value))
            .then_with(|| left.value.cmp(&right.value))
    });
    found.into_iter().take(limit).map(|(_, known)| known.clone()).collect()
}

fn starts_without_case(text: &str, start: &str) -> bool {
    // Letters that change length with their case are not worth more than this.
    text.get(..start.len()).is_some_and(|head| equal_without_case(head, start))
}

/// Most proposals at once.
const LIMIT: usize = 50;

/// Values that people may want although no server has them now.
const STATES: [&str; 9] =
    ["Ready", "Creating", "NotReady", "Crash", "Updating", "PreUpdate", "PreDelete", "Deleting", "Unknown"];
const OPS: [&str; 5] = ["None", "Allocated", "Maintaining", "WaitToBeDeleted", "Kill"];

/// Proposals for the place of the cursor (a byte of the text; one inside a character counts as its start).
#[must_use]
pub fn complete(text: &str, cursor: usize, source: &dyn ValueSource) -> Vec<Completion> {
    let mut cursor = cursor.min(text.len());
    while !text.is_char_boundary(cursor) {
        cursor -= 1;
    }
    let head = lex(&text[..cursor]);
    let typed = match head.last() {
        Some(Lexeme::Word(word)) if word.span.end == cursor => Some(word),
        _ => None,
    };
    let Some(typed) = typed else {
        return fields("", Span::new(cursor, cursor), true, source);
    };
    // The same word with what stands behind the cursor.
    let whole = lex(text).into_iter().find_map(|lexeme| match lexeme {
        Lexeme::Word(word) if word.span.start == typed.span.start => Some(word),
        _ => None,
    });
    let whole = whole.unwrap_or_else(|| typed.clone());
    let minuses = typed.minuses();
    match typed.split(minuses) {
        Some(split) => values(typed, &whole, minuses, split, source),
        None if typed.letters.iter().any(|letter| letter.quoted) || typed.unclosed.is_some() => Vec::new(),
        None => {
            let rest = whole.split(minuses);
            let end = rest.map_or(whole.span.end, |split| split.span.start);
            let span = Span::new(typed.span.start + minuses, end);
            let name = typed.text(minuses, typed.letters.len());
            let mut found = fields(&name, span, rest.is_none(), source);
            if rest.is_none() && !name.is_empty() {
                found.extend(values_of_any_field(&name, span, source));
                found.extend(keywords(&name, span, minuses == 0, head.len() > 1));
            }
            found
        }
    }
}

/// Fields, and keys behind `label.`; with their operator unless one stands there already.
fn fields(typed: &str, span: Span, with_operator: bool, source: &dyn ValueSource) -> Vec<Completion> {
    if let Some((keyed, key)) = KeyedField::on_the_way(typed) {
        let keys = source.keys(keyed, key, LIMIT).into_iter();
        return keys
            .map(|known| {
                let field = field_text(&keyed.with_key(&known.value));
                let insert = if with_operator { format!("{field}:") } else { field };
                let label = format!("{}.{}", keyed.name(), known.value);
                Completion { span, insert, label, count: Some(known.count), kind: CompletionKind::Key }
            })
            .collect();
    }
    let plain = Field::PLAIN.into_iter().map(|field| {
        let operator = match field.kind() {
            FieldKind::Age => ">",
            FieldKind::Number if field != Field::Id => ">",
            _ => ":",
        };
        (field.base(), operator)
    });
    let names = plain.chain(KeyedField::ALL.map(|field| (field.name(), ".")));
    names
        .filter(|(name, _)| starts_without_case(name, typed))
        .map(|(name, operator)| {
            let insert =
                if with_operator || operator == "." { format!("{name}{operator}") } else { name.to_owned() };
            Completion { span, insert, label: name.to_owned(), count: None, kind: CompletionKind::Field }
        })
        .collect()
}

/// `Rea` may be meant as `state:Ready`.
fn values_of_any_field(typed: &str, span: Span, source: &dyn ValueSource) -> Vec<Completion> {
    let fields = [Field::State, Field::Ops, Field::Set, Field::Namespace, Field::Node, Field::Name];
    let mut found = Vec::new();
    for field in fields {
        let known = source.values(&field, typed, 5).into_iter();
        found.extend(known.filter(|known| starts_without_case(&known.value, typed)).map(|known| {
            let insert = format!("{}:{}", field.base(), quote_value(&known.value));
            Completion {
                span,
                label: insert.clone(),
                insert,
                count: Some(known.count),
                kind: CompletionKind::Value,
            }
        }));
    }
    found
}

fn keywords(typed: &str, span: Span, at_start: bool, after_something: bool) -> Vec<Completion> {
    [("or", after_something), ("not", true)]
        .into_iter()
        .filter(|(keyword, fits)| *fits && at_start && starts_without_case(keyword, typed))
        .map(|(keyword, _)| Completion {
            span,
            insert: keyword.to_owned(),
            label: keyword.to_owned(),
            count: None,
            kind: CompletionKind::Keyword,
        })
        .collect()
}

fn values(
    typed: &Word,
    whole: &Word,
    minuses: usize,
    split: Split,
    source: &dyn ValueSource,
) -> Vec<Completion> {
    let Some(field) = Field::named(&typed.text(minuses, split.letter)) else { return Vec::new() };
    let elements = typed.elements(split.after, split.span.end);
    let Some((first, last, place)) = elements.last().copied() else { return Vec::new() };
    let wanted = typed.text(first, last);
    // `whole` may split otherwise when the cursor is inside `>=`; then only what is before the cursor counts.
    let all = whole
        .split(minuses)
        .filter(|other| other.after == split.after)
        .map(|other| whole.elements(other.after, other.span.end));
    let here = all.as_deref().and_then(|all| all.get(elements.len() - 1)).map_or(place, |(_, _, span)| *span);
    let span = Span::new(place.start, here.end);
    let others: Vec<String> = all
        .iter()
        .flatten()
        .enumerate()
        .filter(|(index, _)| *index != elements.len() - 1)
        .map(|(_, (from, to, _))| whole.text(*from, *to))
        .collect();
    known_values(&field, &wanted, source)
        .into_iter()
        .filter(|(value, _)| !others.iter().any(|other| equal_without_case(other, value)))
        .map(|(value, count)| Completion {
            span,
            insert: quote_value(&value),
            label: value,
            count,
            kind: CompletionKind::Value,
        })
        .collect()
}

fn known_values(field: &Field, typed: &str, source: &dyn ValueSource) -> Vec<(String, Option<u64>)> {
    if *field == Field::Age {
        let digits = !typed.is_empty() && typed.bytes().all(|byte| byte.is_ascii_digit());
        let ages: Vec<String> = match typed {
            "" => ["30m", "2h", "1d", "1w"].map(str::to_owned).to_vec(),
            _ if digits => ["s", "m", "h", "d", "w"].map(|unit| format!("{typed}{unit}")).to_vec(),
            _ => Vec::new(),
        };
        return ages.into_iter().map(|age| (age, None)).collect();
    }
    let mut known: Vec<(String, Option<u64>)> = source
        .values(field, typed, LIMIT)
        .into_iter()
        .map(|known| (known.value, Some(known.count)))
        .collect();
    let always: &[&str] = match field {
        Field::State => &STATES,
        Field::Ops => &OPS,
        _ => &[],
    };
    for value in always {
        let listed = known.iter().any(|(known, _)| equal_without_case(known, value));
        if !listed && contains_without_case(value, typed) {
            known.push(((*value).to_owned(), Some(0)));
        }
    }
    known
}

#[cfg(test)]
#[path = "complete_test.rs"]
mod tests;
