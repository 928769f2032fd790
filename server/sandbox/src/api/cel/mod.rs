//! `x-kubernetes-validations`: rules of custom kinds in the Common Expression Language.
//!
//! The `cel` crate parses and evaluates; here is what Kubernetes has beside it: types from schemas ([`types`], [`check`] with the
//! table of functions), its own functions ([`library`]), and what a rule says when it does not hold. Rules are compiled once, when
//! the definition is written. Not judged: the cost of a rule, before or while it
//! runs. Not understood, and so refused: macros with two variables (`all(k, v, …)`), `sortBy`, `format.…` and `semver`.
mod check;
mod library;
mod signatures;
mod types;
mod values;

use std::fmt;

use cel::common::ast::SourceInfo;
use cel::common::types::CelOptional;
use cel::{Context, ExecutionError, Program, Value as Outcome};
use serde_json::Value;

pub use types::Ty;

use crate::api::schema::Schema;

/// An expression that fits its schema.
pub struct Expression {
    program: Program,
    /// Whether it looks at the value before.
    pub uses_old: bool,
    /// Whether the value before may be missing: `oldSelf` is then an optional.
    pub optional_old: bool,
}

impl fmt::Debug for Expression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.program.source_info().source)
    }
}

/// The type that a rule of this schema sees as `self`; `None` where CEL cannot see the value.
pub fn self_type(schema: &Schema, root: bool) -> Option<Ty> {
    types::of_schema(schema, root)
}

/// Why an expression cannot be used; the words are those of the API server.
#[derive(Debug, Clone, thiserror::Error)]
pub enum Unfit {
    /// It does not read well, or does not fit the schema.
    #[error("compilation failed: {0}")]
    Mistake(String),
    /// It comes to something else than it should.
    #[error("must evaluate to a {0}")]
    Result(Ty),
}

/// Longest expression, in bytes. The real server takes more, but reckons with what it costs.
const LONGEST: usize = 8 * 1024;
/// Deepest expression: what is evaluated on an ordinary stack. The real parser stops there too.
const DEEPEST: usize = 250;
/// What the parser may need for the longest expression when it is nothing but parentheses.
const STACK: usize = 256 << 20;

/// Compiles an expression that must come to a `wanted` (`bool` or `string`).
pub fn compile(source: &str, of: &Ty, optional_old: bool, wanted: &Ty) -> Result<Expression, Unfit> {
    if source.len() > LONGEST {
        let why = format!("expression size exceeds limit: size: {}, limit {LONGEST}", source.len());
        return Err(Unfit::Mistake(why));
    }
    // The parser goes as deep as the expression does, so it gets a stack of its own; what comes back is shallow.
    std::thread::scope(|scope| {
        let worker = std::thread::Builder::new().name("cel".into()).stack_size(STACK);
        let work = worker.spawn_scoped(scope, || compile_deep(source, of, optional_old, wanted));
        let broken = || Unfit::Mistake("the expression could not be compiled".into());
        work.map_err(|_| broken())?.join().unwrap_or_else(|_| Err(broken()))
    })
}

fn compile_deep(source: &str, of: &Ty, optional_old: bool, wanted: &Ty) -> Result<Expression, Unfit> {
    let program = library::environment().compile(source).map_err(|e| Unfit::Mistake(e.to_string()))?;
    if check::depth(program.expression()) > DEEPEST {
        return Err(Unfit::Mistake(format!("expression recursion limit exceeded: {DEEPEST}")));
    }
    let old = if optional_old { Ty::optional(of.clone()) } else { of.clone() };
    let variables = [("self", of.clone()), ("oldSelf", old)];
    let found = check::check(program.expression(), &variables)
        .map_err(|mistake| Unfit::Mistake(shown(program.source_info(), mistake.node, &mistake.message)))?;
    if found != *wanted {
        return Err(Unfit::Result(wanted.clone()));
    }
    let uses_old = check::uses(program.expression(), "oldSelf");
    Ok(Expression { program, uses_old, optional_old })
}

/// A mistake with its place under the source, as cel-go prints it.
fn shown(info: &SourceInfo, node: u64, message: &str) -> String {
    let offset = info.offset_for(node).map_or(0, |(start, _)| start as usize);
    let (mut line, mut column) = (1, 0);
    for c in info.source.chars().take(offset) {
        if c == '\n' {
            line += 1;
            column = 0;
        } else {
            column += 1;
        }
    }
    let text = info.source.lines().nth(line - 1).unwrap_or_default();
    format!("ERROR: <input>:{line}:{}: {message}\n | {text}\n | {}^", column + 1, ".".repeat(column))
}

/// What an expression is evaluated on.
#[derive(Debug, Clone, Copy)]
pub struct Subject<'a> {
    /// The schema of the value.
    pub schema: &'a Schema,
    /// Whether it is a whole object.
    pub root: bool,
    /// The value.
    pub value: &'a Value,
    /// The value before.
    pub old: Option<&'a Value>,
}

impl Expression {
    fn run(&self, on: Subject<'_>) -> Result<Outcome, String> {
        let mut context = Context::with_env(library::environment());
        context.add_variable_as_val("self", values::of(on.schema, on.value, on.root));
        if self.uses_old {
            let old = on.old.map(|old| values::of(on.schema, old, on.root));
            if self.optional_old {
                context.add_variable_as_val("oldSelf", Box::new(CelOptional::from(old)));
            } else if let Some(old) = old {
                context.add_variable_as_val("oldSelf", old);
            }
        }
        self.program.execute(&context).map_err(|error| words(&error))
    }

    /// Whether the rule holds. The error is what went wrong, in cel-go's words.
    pub fn holds(&self, on: Subject<'_>) -> Result<bool, String> {
        match self.run(on)? {
            Outcome::Bool(holds) => Ok(holds),
            _ => Err("no such overload".into()),
        }
    }

    /// The message that the expression makes, if it makes one that may be shown.
    pub fn message(&self, on: Subject<'_>) -> Option<String> {
        /// Longer messages are not used.
        const LONGEST: usize = 5 * 1024;
        match self.run(on) {
            Ok(Outcome::String(text)) => Some(text.trim().to_owned())
                .filter(|text| !text.is_empty() && text.len() <= LONGEST && !text.contains('\n')),
            _ => None,
        }
    }
}

/// An error as cel-go says it.
fn words(error: &ExecutionError) -> String {
    match error {
        ExecutionError::NoSuchKey(key) => format!("no such key: {key}"),
        ExecutionError::IndexOutOfBounds(index) => {
            let index =
                if let Outcome::Int(index) = index { index.to_string() } else { format!("{index:?}") };
            format!("index out of bounds: {index}")
        }
        ExecutionError::DivisionByZero(_) => "division by zero".into(),
        ExecutionError::RemainderByZero(_) => "modulus by zero".into(),
        ExecutionError::Overflow(..) => "integer overflow".into(),
        ExecutionError::FunctionError { function, .. }
            if matches!(function.as_str(), "int" | "uint" | "double" | "bool") =>
        {
            format!("type conversion error from 'string' to '{function}'")
        }
        ExecutionError::FunctionError { message, .. } => message.clone(),
        ExecutionError::UndeclaredReference(name) => format!("no such attribute(s): {name}"),
        _ => "no such overload".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::schema;
    use serde_json::json;

    fn spec() -> Schema {
        let source = json!({"type": "object", "properties": {
            "n": {"type": "integer"}, "s": {"type": "string"}, "either": {"x-kubernetes-int-or-string": true},
            "l": {"type": "array", "items": {"type": "string"}}, "o": {"type": "object", "properties": {"x": {"type": "number"}}},
            "m": {"type": "object", "additionalProperties": {"type": "integer"}},
            "when": {"type": "string", "format": "date-time"}, "for": {"type": "string", "format": "duration"},
            "a-b": {"type": "string"}}});
        schema::compile(&json!({"type": "object", "properties": {"spec": source}})).properties["spec"].clone()
    }

    fn compiled(source: &str) -> Result<Expression, String> {
        let of = self_type(&spec(), false).expect("a type");
        compile(source, &of, false, &Ty::BOOL).map_err(|e| e.to_string())
    }

    #[test]
    fn what_fits_the_schema_compiles_and_holds() {
        let value = json!({"n": 3, "s": "abc", "either": "5%", "l": ["a", "b"], "o": {"x": 1}, "m": {"k": 1},
            "when": "2026-01-02T03:04:05Z", "for": "90s", "a-b": "dash"});
        let schema = spec();
        for rule in [
            "self.n == 3 && self.n > 2.5",
            "type(self.either) == string && self.either.endsWith('%')",
            "type(self.either) == int ? self.either < 5 : self.either.matches('^[0-9]+%$')",
            "self.l.all(x, x.size() == 1) && self.l.exists(x, x == 'b') && self.l.map(x, x + '!')[1] == 'b!'",
            "self.l.filter(x, x > 'a').size() == 1 && 'a' in self.l && 'k' in self.m && self.m['k'] == 1 && self.m.k == 1",
            "has(self.o.x) && self.o.x == 1.0 && !has(self.m.other)",
            "self.?s.orValue('') == 'abc' && self.l[?7].orValue('none') == 'none' && self.?o.?x.hasValue()",
            "self.when < timestamp('2027-01-01T00:00:00Z') && self.when.getFullYear() == 2026 && self.__for__ == duration('1m30s')",
            "self.a__dash__b == 'dash' && self.o != null",
            "self.l.exists_one(x, x == 'a') && [1, 2].sum() == self.n && self.m.map(k, k) == ['k']",
            "self.s.split('').size() == 3 || 1 / 0 == 1",
            "{'a': 1, 'b': self.n}.b == 3 && self.l + ['c'] == ['a', 'b', 'c']",
            "dyn(self.n) == 3 && string(self.n) == '3' && int('3') == self.n && double(self.n) == 3.0",
        ] {
            let expression = compiled(rule).unwrap_or_else(|e| panic!("{rule}: {e}"));
            let on = Subject { schema: &schema, root: false, value: &value, old: None };
            assert_eq!(expression.holds(on), Ok(true), "{rule}");
        }
    }

    #[test]
    fn what_does_not_fit_is_refused_with_its_place() {
        for (rule, words) in [
            (
                "self.a.b == 1",
                "compilation failed: ERROR: <input>:1:5: undefined field 'a'\n | self.a.b == 1\n | ....^",
            ),
            (
                "self.s.startsWith(1)",
                "compilation failed: ERROR: <input>:1:18: found no matching overload for 'startsWith' applied to 'string.(int)'\n | self.s.startsWith(1)\n | .................^",
            ),
            ("self.n + 1", "must evaluate to a bool"),
            ("self.n == 'a'", "no matching overload for '_==_' applied to '(int, string)'"),
            ("self.s == null", "no matching overload"),
            ("other == 1", "undeclared reference to 'other' (in container '')"),
            ("self.n.foo()", "undeclared reference to 'foo'"),
            ("self.n.x == 1", "does not support field selection"),
            ("self.n.all(x, true)", "cannot be range of a comprehension"),
            ("[1, 'a'].size() == 2", "expected type 'int' but found 'string'"),
            ("math.abs(1) == 1", "undeclared reference"),
            ("self.n ==", "Syntax error"),
            ("", ""),
        ] {
            let error = compiled(rule).expect_err(rule);
            assert!(error.contains(words), "{rule}: {error}");
        }
    }

    #[test]
    fn errors_at_run_time_have_the_words_of_cel_go() {
        let schema = spec();
        let value = json!({"n": 0, "l": [], "either": true, "m": {}});
        for (rule, expected) in [
            ("self.s == 'a'", "no such key: s"),
            ("self.l[0] == 'a'", "index out of bounds: 0"),
            ("1 / self.n == 1", "division by zero"),
            ("self.either < 1", "no such overload"),
            ("self.m['x'] == 1", "no such key: x"),
            ("9223372036854775807 + 1 > self.n", "integer overflow"),
        ] {
            let on = Subject { schema: &schema, root: false, value: &value, old: None };
            let error = compiled(rule).unwrap_or_else(|e| panic!("{rule}: {e}")).holds(on).expect_err(rule);
            assert_eq!(error, expected, "{rule}");
        }
    }
}
