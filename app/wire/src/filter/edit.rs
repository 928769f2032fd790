//! Changing a filter by clicks: a legend adds, removes or toggles one value of one field.

use super::ast::{Expr, Filter, Span, Term, Test, Value};
use super::error::{FilterError, FilterErrorCode};
use super::field::Field;
use super::parse::{parse, value};
use super::text::equal_without_case;

impl Filter {
    /// Whether the filter asks for this value: the outermost *and* has `field:…` with it in the list.
    #[must_use]
    pub fn has_term(&self, field: &str, value: &str) -> bool {
        let Ok((field, value)) = read(field, value) else { return false };
        self.conjuncts().iter().any(|part| match part {
            Expr::Term(Term { field: other, test: Test::OneOf(values) }) => {
                *other == field && values.iter().any(|other| same(other, &value))
            }
            _ => false,
        })
    }

    /// How many values the filter asks of a field, over all terms that must hold.
    fn values_of(&self, field_name: &str) -> usize {
        let Some(field) = Field::named(field_name) else { return 0 };
        self.conjuncts()
            .iter()
            .map(|part| match part {
                Expr::Term(Term { field: other, test: Test::OneOf(values) }) if *other == field => {
                    values.len()
                }
                _ => 0,
            })
            .sum()
    }

    /// Asks for this value too: `state:Ready` becomes `state:Ready,Crash`. Taken out of a `state!=…` before.
    ///
    /// # Errors
    /// No such field, or a value that the field cannot have. The place is in the field or the value.
    pub fn with_term(self, field: &str, value: &str) -> Result<Self, FilterError> {
        let (field, value) = read(field, value)?;
        let mut parts = without(self, &field, &value);
        let list = parts.iter_mut().find_map(|part| match part {
            Expr::Term(Term { field: other, test: Test::OneOf(values) }) if *other == field => Some(values),
            _ => None,
        });
        match list {
            Some(values) => values.push(value),
            None => parts.push(Expr::Term(Term { field, test: Test::OneOf(vec![value]) })),
        }
        Ok(all_of(parts))
    }

    /// No longer asks for this value, nor excludes it.
    ///
    /// # Errors
    /// As [`Filter::with_term`].
    pub fn without_term(self, field: &str, value: &str) -> Result<Self, FilterError> {
        let (field, value) = read(field, value)?;
        Ok(all_of(without(self, &field, &value)))
    }

    /// Asks for the value if it did not, and the other way round.
    ///
    /// # Errors
    /// As [`Filter::with_term`].
    pub fn toggle_term(self, field: &str, value: &str) -> Result<Self, FilterError> {
        if self.has_term(field, value) {
            self.without_term(field, value)
        } else {
            self.with_term(field, value)
        }
    }

    /// Excludes the value: adds it to `field!=…`.
    ///
    /// # Errors
    /// As [`Filter::with_term`].
    pub fn excluding_term(self, field: &str, value: &str) -> Result<Self, FilterError> {
        let (field, value) = read(field, value)?;
        let mut parts = without(self, &field, &value);
        let list = parts.iter_mut().find_map(|part| match part {
            Expr::Term(Term { field: other, test: Test::NoneOf(values) }) if *other == field => Some(values),
            _ => None,
        });
        match list {
            Some(values) => values.push(value),
            None => parts.push(Expr::Term(Term { field, test: Test::NoneOf(vec![value]) })),
        }
        Ok(all_of(parts))
    }

    /// What passes both filters.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        let mut parts = into_conjuncts(self);
        parts.extend(into_conjuncts(other));
        all_of(parts)
    }
}

/// [`Filter::toggle_term`] on the text of a filter; the answer is canonical.
///
/// # Errors
/// The text is no filter, or as [`Filter::with_term`].
pub fn toggle_in(text: &str, field: &str, value: &str) -> Result<String, FilterError> {
    Ok(parse(text)?.toggle_term(field, value)?.to_string())
}

/// The text of a filter narrowed to one value: what it matches and what has the value, such as a group of a table.
///
/// # Errors
/// As [`toggle_in`].
pub fn within(text: &str, field: &str, value: &str) -> Result<String, FilterError> {
    let filter = parse(text)?;
    if filter.has_term(field, value) && filter.values_of(field) == 1 {
        return Ok(filter.to_string());
    }
    Ok(filter.and(Filter::default().with_term(field, value)?).to_string())
}

fn read(field_name: &str, text: &str) -> Result<(Field, Value), FilterError> {
    let field = Field::named(field_name).ok_or_else(|| {
        let span = Span::new(0, field_name.len());
        FilterError::new(span, FilterErrorCode::UnknownField, &[("field", field_name)])
    })?;
    let value = value(&field, text, Span::new(0, text.len()))?;
    Ok((field, value))
}

fn same(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::Text(left), Value::Text(right)) => equal_without_case(left, right),
        _ => left == right,
    }
}

fn into_conjuncts(filter: Filter) -> Vec<Expr> {
    match filter.expr {
        None => Vec::new(),
        Some(Expr::And(parts)) => parts,
        Some(one) => vec![one],
    }
}

fn all_of(mut parts: Vec<Expr>) -> Filter {
    let expr = match parts.pop() {
        Some(last) if !parts.is_empty() => {
            parts.push(last);
            Some(Expr::And(parts))
        }
        one_or_none => one_or_none,
    };
    Filter { expr }
}

/// The conjuncts without the value; a list that gets empty goes.
fn without(filter: Filter, field: &Field, value: &Value) -> Vec<Expr> {
    let mut parts = into_conjuncts(filter);
    parts.retain_mut(|part| match part {
        Expr::Term(Term { field: other, test: Test::OneOf(values) | Test::NoneOf(values) })
            if other == field =>
        {
            values.retain(|other| !same(other, value));
            !values.is_empty()
        }
        _ => true,
    });
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clicks_on_a_legend() {
        for (text, field, value, wanted) in [
            ("", "state", "Ready", "state:Ready"),
            ("state:Ready", "state", "ready", ""),
            ("state:Ready", "state", "Crash", "state:Ready,Crash"),
            ("state:Ready,Crash", "state", "Ready", "state:Crash"),
            ("lobby state:Ready", "ops", "None", "lobby state:Ready ops:None"),
            ("a or b", "state", "Ready", "(a or b) state:Ready"),
            ("(a or b) state:Ready", "state", "Ready", "a or b"),
            ("state!=Ready,Crash", "state", "Ready", "state!=Crash state:Ready"),
            ("-state:Ready", "state", "Ready", "-state:Ready state:Ready"),
            ("", "label.zone", "", "label.zone:"),
            ("label.zone:a", "label.zone", "", "label.zone:a,\"\""),
            ("", "id", "0-499", "id:0-499"),
            ("", "label.my key", "a b", "label.\"my key\":\"a b\""),
        ] {
            assert_eq!(toggle_in(text, field, value).as_deref(), Ok(wanted), "{text} + {field}:{value}");
        }
    }

    #[test]
    fn exclusion_is_the_opposite() {
        let filter = parse("state:Ready,Crash lobby").unwrap();
        let filter =
            filter.excluding_term("state", "Ready").unwrap().excluding_term("state", "Creating").unwrap();
        assert_eq!(filter.to_string(), "state:Crash lobby state!=Ready,Creating");
        assert_eq!(
            filter.with_term("state", "Ready").unwrap().to_string(),
            "state:Crash,Ready lobby state!=Creating"
        );
    }

    #[test]
    fn what_cannot_be_is_refused() {
        assert_eq!(toggle_in("", "nonsense", "x").unwrap_err().code, FilterErrorCode::UnknownField);
        assert_eq!(toggle_in("", "id", "x").unwrap_err().code, FilterErrorCode::BadNumber);
        assert_eq!(toggle_in("(", "state", "x").unwrap_err().code, FilterErrorCode::ExpectedTerm);
    }

    #[test]
    fn a_filter_is_narrowed_to_a_value() {
        for (text, wanted) in [
            ("", "state:Ready"),
            ("state:Ready lobby", "state:Ready lobby"),
            ("state:Ready,Crash", "state:Ready,Crash state:Ready"),
            ("a or b", "(a or b) state:Ready"),
        ] {
            assert_eq!(within(text, "state", "Ready").as_deref(), Ok(wanted), "{text}");
        }
        assert_eq!(within("", "label.zone", "").as_deref(), Ok("label.zone:"));
        assert!(within("(", "state", "Ready").is_err());
    }

    #[test]
    fn both_filters_hold() {
        let both = |left: &str, right: &str| parse(left).unwrap().and(parse(right).unwrap()).to_string();
        assert_eq!(both("", ""), "");
        assert_eq!(both("a b", "c or d"), "a b (c or d)");
        assert_eq!(both("", "c or d"), "c or d");
    }
}
