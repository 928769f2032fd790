//! The one filter language: search box, REST `?q=`, batch target.
//!
//! ```text
//! set:minecraft state:Ready ops!=Allocated id:0-499 label.zone:8001 image~1.12 players>0
//! ```
//!
//! - Words are joined by *and*, which binds before `or`; `not`, `-word`, parentheses. `and` may be written.
//! - The first operator of a word splits it, so a value may hold `:` (`image:game:1.12`).
//! - `:` or `=` equals any of a comma list, `!=` none of it, `~` contains (any of the list; with `*` a glob over
//!   the whole value), `>` `>=` `<` `<=` compare.
//! - Numbers (`id players restarts dp up`) take ranges such as `0-499`, `-5--1` or `100-`. Ages are `90s 30m 2h 3d 1w`;
//!   `age:2h` is every age that reads as two hours, so 2 h up to just under 3 h.
//! - Double quotes hold blanks, commas, parentheses and operators; in them `\` takes the next character as it is.
//! - Values compare without case. A missing value equals the empty one (`label.zone:`), and no comparison
//!   (`>` …) is true of it: unknown players are not 0.
//! - A bare word is part of the name. `set:prod/minecraft` and `name:prod/minecraft-3` compare the namespace too,
//!   `kruise/prod/minecraft` also the family.
//! - Fields: `name ns set id family state ops image container node players restarts age rev dp up network ip
//!   label.K ann.K sq.NAME cond.TYPE`. `image` and `container` match any container, `sq.NAME` the status or the
//!   result, `cond.TYPE` the status or the reason, `network` the type, the current state or `Disabled`.
//!
//! Everything here is pure and bounded ([`MAX_LENGTH`], [`MAX_DEPTH`]), so that server and browser share it.

mod age;
mod ast;
mod complete;
mod edit;
mod error;
mod eval;
mod field;
mod highlight;
mod lex;
mod number;
mod parse;
mod print;
mod text;

#[cfg(test)]
mod model_test;

pub use age::Age;
pub use ast::{Comparison, Expr, Filter, Pattern, Span, Term, Test, Value};
pub use complete::{Completion, CompletionKind, KnownValues, ValueCount, ValueSource, complete};
pub use edit::{toggle_in, within};
pub use error::{FilterError, FilterErrorCode};
pub use eval::Fields;
pub use field::{Field, FieldKind, KeyedField};
pub use highlight::{Token, TokenKind, highlight};
pub use parse::{MAX_DEPTH, MAX_LENGTH, parse};
pub use print::quote_value;
pub use text::{contains_without_case, equal_without_case, natural_cmp};
