//! Whether a row passes a filter. Nothing is allocated for it except where non-ASCII text or a path such as
//! `set~prod/mine` is compared.

use std::cmp::Ordering;

use super::ast::{Comparison, Expr, Filter, Pattern, Term, Test, Value};
use super::field::{Field, FieldKind};
use super::number::parse_decimal;
use super::text::{equal_without_case, natural_cmp};

/// What a filter asks of a row. Missing texts are empty, missing numbers `None`. Accessors of several values call
/// `visit` once for each.
pub trait Fields {
    /// `name`
    fn name(&self) -> &str;
    /// `ns`
    fn namespace(&self) -> &str;
    /// `set`: the name of the set.
    fn set(&self) -> &str;
    /// `family`
    fn family(&self) -> &str;
    /// `id`
    fn id(&self) -> Option<i64>;
    /// `state`
    fn state(&self) -> &str;
    /// `ops`
    fn ops(&self) -> &str;
    /// `image`: of every container.
    fn images(&self, visit: &mut dyn FnMut(&str));
    /// `container`: the name of every container.
    fn containers(&self, visit: &mut dyn FnMut(&str));
    /// `node`
    fn node(&self) -> &str;
    /// `players`; unknown is not 0.
    fn players(&self) -> Option<i64>;
    /// `restarts`
    fn restarts(&self) -> Option<i64>;
    /// `age`, in seconds.
    fn age_seconds(&self) -> Option<u64>;
    /// `rev`
    fn revision(&self) -> &str;
    /// `dp`
    fn deletion_priority(&self) -> Option<i64>;
    /// `up`
    fn update_priority(&self) -> Option<i64>;
    /// `network`: the type, the current state, `Disabled`; those that there are.
    fn network(&self, visit: &mut dyn FnMut(&str));
    /// `ip`: every address.
    fn ips(&self, visit: &mut dyn FnMut(&str));
    /// `label.K`; the key with its case.
    fn label(&self, key: &str) -> Option<&str>;
    /// `ann.K`; the key with its case.
    fn annotation(&self, key: &str) -> Option<&str>;
    /// `sq.NAME`: the status and the result; the name without case.
    fn quality(&self, name: &str, visit: &mut dyn FnMut(&str));
    /// `cond.TYPE`: the status and the reason; the type without case.
    fn condition(&self, kind: &str, visit: &mut dyn FnMut(&str));
}

impl Filter {
    /// Whether the row passes.
    #[must_use]
    pub fn matches<F: Fields + ?Sized>(&self, row: &F) -> bool {
        self.expr.as_ref().is_none_or(|expr| expr.matches(row))
    }
}

impl Expr {
    /// Whether the row passes.
    #[must_use]
    pub fn matches<F: Fields + ?Sized>(&self, row: &F) -> bool {
        match self {
            Self::And(parts) => parts.iter().all(|part| part.matches(row)),
            Self::Or(parts) => parts.iter().any(|part| part.matches(row)),
            Self::Not(inner) => !inner.matches(row),
            Self::Term(term) => term.matches(row),
        }
    }
}

impl Term {
    /// Whether the row passes.
    #[must_use]
    pub fn matches<F: Fields + ?Sized>(&self, row: &F) -> bool {
        match self.field.kind() {
            FieldKind::Text => self.matches_text(row),
            FieldKind::Number => matches_number(&self.test, self.field.number_of(row)),
            FieldKind::Age => matches_age(&self.test, row.age_seconds()),
        }
    }

    fn matches_text<F: Fields + ?Sized>(&self, row: &F) -> bool {
        match &self.test {
            Test::OneOf(values) => self.equals_one(values, row),
            Test::NoneOf(values) => !self.equals_one(values, row),
            Test::Contains(patterns) => patterns.iter().any(|pattern| self.contains(pattern, row)),
            Test::Compare(comparison, value) => self.compares(*comparison, value, row),
        }
    }

    fn equals_one<F: Fields + ?Sized>(&self, values: &[Value], row: &F) -> bool {
        if matches!(self.field, Field::Name | Field::Set) {
            return values.iter().any(|value| equals_path(&self.field, text(value), row));
        }
        let (mut found, mut present) = (false, false);
        visit(&self.field, row, &mut |actual| {
            // An empty value beside others, such as a quality without a result, does not make the field empty.
            if !actual.is_empty() {
                present = true;
                found = found || values.iter().any(|value| equal_without_case(actual, text(value)));
            }
        });
        found || (!present && values.iter().any(|value| text(value).is_empty()))
    }

    fn contains<F: Fields + ?Sized>(&self, pattern: &Pattern, row: &F) -> bool {
        let slashes = pattern.pieces.iter().map(|piece| piece.matches('/').count()).sum();
        if slashes > 0 && matches!(self.field, Field::Name | Field::Set) {
            return path(&self.field, slashes, row).is_some_and(|path| pattern.matches(&path));
        }
        let (mut found, mut any) = (false, false);
        visit(&self.field, row, &mut |actual| {
            any = true;
            found = found || pattern.matches(actual);
        });
        found || (!any && pattern.matches(""))
    }

    fn compares<F: Fields + ?Sized>(&self, comparison: Comparison, value: &Value, row: &F) -> bool {
        let wanted = text(value);
        let slashes = wanted.matches('/').count();
        if slashes > 0 && matches!(self.field, Field::Name | Field::Set) {
            return path(&self.field, slashes, row)
                .is_some_and(|path| comparison.holds(natural_cmp(&path, wanted)));
        }
        let wanted_number = parse_decimal(wanted);
        let mut found = false;
        visit(&self.field, row, &mut |actual| {
            let order = match wanted_number {
                // Where a number is wanted, text is neither above nor below it.
                Some(wanted) => parse_decimal(actual).and_then(|actual| actual.partial_cmp(&wanted)),
                None => (!actual.is_empty()).then(|| natural_cmp(actual, wanted)),
            };
            found = found || order.is_some_and(|order| comparison.holds(order));
        });
        found
    }
}

fn text(value: &Value) -> &str {
    match value {
        Value::Text(text) => text,
        _ => "",
    }
}

impl Field {
    /// The number that a row has in this field; `None` for fields of other kinds too.
    pub fn number_of<F: Fields + ?Sized>(&self, row: &F) -> Option<i64> {
        match self {
            Self::Id => row.id(),
            Self::Players => row.players(),
            Self::Restarts => row.restarts(),
            Self::DeletionPriority => row.deletion_priority(),
            Self::UpdatePriority => row.update_priority(),
            _ => None,
        }
    }

    /// Calls `seen` with every text that a row has in this field, for a missing one perhaps with the empty text;
    /// never for fields of other kinds.
    pub fn texts_of<F: Fields + ?Sized>(&self, row: &F, seen: &mut dyn FnMut(&str)) {
        visit(self, row, seen);
    }
}

fn visit<F: Fields + ?Sized>(field: &Field, row: &F, seen: &mut dyn FnMut(&str)) {
    match field {
        Field::Name => seen(row.name()),
        Field::Namespace => seen(row.namespace()),
        Field::Set => seen(row.set()),
        Field::Family => seen(row.family()),
        Field::State => seen(row.state()),
        Field::Ops => seen(row.ops()),
        Field::Node => seen(row.node()),
        Field::Revision => seen(row.revision()),
        Field::Image => row.images(seen),
        Field::Container => row.containers(seen),
        Field::Network => row.network(seen),
        Field::Ip => row.ips(seen),
        Field::Label(key) => seen(row.label(key).unwrap_or("")),
        Field::Annotation(key) => seen(row.annotation(key).unwrap_or("")),
        Field::Quality(name) => row.quality(name, seen),
        Field::Condition(kind) => row.condition(kind, seen),
        Field::Id
        | Field::Players
        | Field::Restarts
        | Field::DeletionPriority
        | Field::UpdatePriority
        | Field::Age => {}
    }
}

/// `minecraft`, `prod/minecraft` or `kruise/prod/minecraft` against the row, from the right.
fn equals_path<F: Fields + ?Sized>(field: &Field, wanted: &str, row: &F) -> bool {
    let actual = if *field == Field::Set { row.set() } else { row.name() };
    let mut parts = wanted.rsplitn(3, '/');
    let named = parts.next().is_some_and(|name| equal_without_case(actual, name));
    // A row without a set is in no namespace's set either.
    named
        && parts
            .next()
            .is_none_or(|namespace| !actual.is_empty() && equal_without_case(row.namespace(), namespace))
        && parts.next().is_none_or(|family| equal_without_case(row.family(), family))
}

/// The name with as much before it as the wanted text has; `None` for a row without a set.
fn path<F: Fields + ?Sized>(field: &Field, slashes: usize, row: &F) -> Option<String> {
    let actual = if *field == Field::Set { row.set() } else { row.name() };
    if actual.is_empty() {
        return None;
    }
    Some(match slashes {
        1 => format!("{}/{actual}", row.namespace()),
        _ => format!("{}/{}/{actual}", row.family(), row.namespace()),
    })
}

fn matches_number(test: &Test, actual: Option<i64>) -> bool {
    let equals = |values: &[Value]| {
        values.iter().any(|value| match (value, actual) {
            (Value::Number { from, to }, Some(actual)) => (*from..=*to).contains(&actual),
            (Value::Missing, None) => true,
            _ => false,
        })
    };
    match test {
        Test::OneOf(values) => equals(values),
        Test::NoneOf(values) => !equals(values),
        Test::Contains(patterns) => {
            let text = actual.map(|number| number.to_string()).unwrap_or_default();
            patterns.iter().any(|pattern| pattern.matches(&text))
        }
        Test::Compare(comparison, Value::Number { from, .. }) => {
            actual.is_some_and(|actual| comparison.holds(actual.cmp(from)))
        }
        Test::Compare(..) => false,
    }
}

fn matches_age(test: &Test, actual: Option<u64>) -> bool {
    let equals = |values: &[Value]| {
        values.iter().any(|value| match (value, actual) {
            (Value::Age { from, to }, Some(actual)) => (from.seconds()..to.end_seconds()).contains(&actual),
            (Value::Missing, None) => true,
            _ => false,
        })
    };
    match test {
        Test::OneOf(values) => equals(values),
        Test::NoneOf(values) => !equals(values),
        Test::Compare(comparison, Value::Age { from, .. }) => actual.is_some_and(|actual| {
            let order: Ordering = actual.cmp(&from.seconds());
            comparison.holds(order)
        }),
        // The parser lets neither through.
        Test::Contains(_) | Test::Compare(..) => false,
    }
}

#[cfg(test)]
#[path = "eval_test.rs"]
mod tests;
