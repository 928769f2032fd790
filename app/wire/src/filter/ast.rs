//! What a filter is once it is understood: terms joined by and, or, not. It holds nothing that cannot be evaluated.

use serde::{Deserialize, Serialize};

use super::age::Age;
use super::field::Field;

/// A piece of the filter's text, in bytes, end exclusive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Span {
    /// First byte.
    pub start: usize,
    /// Byte after the last one.
    pub end: usize,
}

impl Span {
    /// A span from `start` up to, not including, `end`.
    #[must_use]
    pub const fn new(start: usize, end: usize) -> Self {
        Self { start, end }
    }
}

/// A parsed filter. Without an expression it matches everything.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Filter {
    /// The whole condition, `None` for the empty filter.
    pub expr: Option<Expr>,
}

/// A condition. The parser never nests an [`Expr::And`] in an `And`, nor an `Or` in an `Or`, and both hold two or
/// more conditions; canonical printing relies on it.
#[derive(Clone, Debug, PartialEq)]
pub enum Expr {
    /// All of these.
    And(Vec<Expr>),
    /// Any of these.
    Or(Vec<Expr>),
    /// Not this.
    Not(Box<Expr>),
    /// One comparison.
    Term(Term),
}

/// One comparison of a field. A bare word is `name` with [`Test::Contains`].
#[derive(Clone, Debug, PartialEq)]
pub struct Term {
    /// What is compared.
    pub field: Field,
    /// How, and with what.
    pub test: Test,
}

/// How a field is compared. The values fit the kind of the field.
#[derive(Clone, Debug, PartialEq)]
pub enum Test {
    /// `:` or `=`: equals one of these. Never an empty list.
    OneOf(Vec<Value>),
    /// `!=`: equals none of these. Never an empty list.
    NoneOf(Vec<Value>),
    /// `~`: contains one of these. Never an empty list.
    Contains(Vec<Pattern>),
    /// `>` and its kin.
    Compare(Comparison, Value),
}

/// The four comparisons of order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Comparison {
    /// `>`
    Above,
    /// `>=`
    AtLeast,
    /// `<`
    Below,
    /// `<=`
    AtMost,
}

impl Comparison {
    /// The operator as it is written.
    #[must_use]
    pub const fn symbol(self) -> &'static str {
        match self {
            Self::Above => ">",
            Self::AtLeast => ">=",
            Self::Below => "<",
            Self::AtMost => "<=",
        }
    }

    /// Whether an actual value with this order towards the wanted one passes.
    #[must_use]
    pub fn holds(self, order: std::cmp::Ordering) -> bool {
        match self {
            Self::Above => order.is_gt(),
            Self::AtLeast => order.is_ge(),
            Self::Below => order.is_lt(),
            Self::AtMost => order.is_le(),
        }
    }
}

/// A wanted value.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// Text as it was typed; compared without case. The empty text also means "missing".
    Text(String),
    /// A whole number, or a range of them, both ends included.
    Number {
        /// Lowest number.
        from: i64,
        /// Highest number, not below `from`; [`i64::MAX`] for a range without an end.
        to: i64,
    },
    /// An age, or a range of them.
    Age {
        /// Lowest age.
        from: Age,
        /// Highest age, not below `from`; [`Age::OPEN`] for a range without an end.
        to: Age,
    },
    /// The empty value of a number or an age: unknown.
    Missing,
}

/// What `~` looks for: the pieces between the `*`s. One piece: the value contains it. More: the whole value is the
/// pieces in this order with anything between them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pattern {
    /// At least one piece; pieces of a glob may be empty.
    pub pieces: Vec<String>,
}

impl Filter {
    /// Whether it matches everything because nothing was typed.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.expr.is_none()
    }

    /// Whether its answer changes as time passes, without any object changing.
    #[must_use]
    pub fn depends_on_time(&self) -> bool {
        self.terms().any(|term| term.field == Field::Age)
    }

    /// Every comparison in it, from left to right.
    pub fn terms(&self) -> impl Iterator<Item = &Term> {
        let mut waiting: Vec<&Expr> = self.expr.iter().collect();
        std::iter::from_fn(move || {
            loop {
                match waiting.pop()? {
                    Expr::And(parts) | Expr::Or(parts) => waiting.extend(parts.iter().rev()),
                    Expr::Not(inner) => waiting.push(inner),
                    Expr::Term(term) => return Some(term),
                }
            }
        })
    }

    /// The conditions that all must hold: the parts of the outermost *and*.
    #[must_use]
    pub fn conjuncts(&self) -> &[Expr] {
        match &self.expr {
            None => &[],
            Some(Expr::And(parts)) => parts,
            Some(one) => std::slice::from_ref(one),
        }
    }
}
