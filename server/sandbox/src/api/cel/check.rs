//! The type checker: an expression that mentions unknown fields or calls functions with the wrong types does not compile.
//!
//! The `cel` crate parses and evaluates; types it judges only while it evaluates. The API server refuses a definition whose rules
//! do not fit its schema, so this judges before. Wording and places follow cel-go.
use cel::common::ast::{EntryExpr, Expr, IdedExpr, LiteralValue, operators};

use super::signatures::{self, LETTERS, Signature};
use super::types::Ty;

/// Something that does not fit, and the node where.
#[derive(Debug)]
pub struct Mistake {
    /// The node of the expression.
    pub node: u64,
    /// What is wrong with it.
    pub message: String,
}

type Checked = Result<Ty, Mistake>;

/// The type of an expression, with these variables.
pub fn check(expression: &IdedExpr, variables: &[(&str, Ty)]) -> Checked {
    let scope = variables.iter().map(|(name, ty)| ((*name).to_owned(), ty.clone())).collect();
    let mut checker = Checker { scope, known: Vec::new() };
    let ty = checker.expr(expression)?;
    Ok(checker.resolve(&ty))
}

struct Checker {
    /// Variables, the innermost last.
    scope: Vec<(String, Ty)>,
    /// What the unknown types turned out to be.
    known: Vec<Option<Ty>>,
}

/// The names of types, which are values too.
const TYPES: [&str; 18] = [
    "int",
    "uint",
    "double",
    "bool",
    "string",
    "bytes",
    "list",
    "map",
    "null_type",
    "type",
    "dyn",
    "google.protobuf.Timestamp",
    "google.protobuf.Duration",
    "optional_type",
    "kubernetes.Quantity",
    "kubernetes.URL",
    "net.IP",
    "net.CIDR",
];

fn mistake<T>(at: &IdedExpr, message: impl Into<String>) -> Result<T, Mistake> {
    Err(Mistake { node: at.id, message: message.into() })
}

impl Checker {
    fn expr(&mut self, at: &IdedExpr) -> Checked {
        match &at.expr {
            Expr::Literal(literal) => Ok(Ty::Plain(match literal {
                LiteralValue::Boolean(_) => "bool",
                LiteralValue::Bytes(_) => "bytes",
                LiteralValue::Double(_) => "double",
                LiteralValue::Int(_) => "int",
                LiteralValue::Null => "null",
                LiteralValue::String(_) => "string",
                LiteralValue::UInt(_) => "uint",
            })),
            Expr::Ident(name) => self.name(at, name),
            Expr::Select(select) => {
                if let Some(name) = qualified(at).filter(|_| !select.test)
                    && TYPES.contains(&name.as_str())
                {
                    return Ok(Ty::Plain("type"));
                }
                let operand = self.expr(&select.operand)?;
                let field = self.select(at, &operand, &select.field)?;
                Ok(if select.test { Ty::BOOL } else { field })
            }
            Expr::List(list) => {
                let mut items = Vec::new();
                for (i, element) in list.elements.iter().enumerate() {
                    let ty = self.expr(element)?;
                    items
                        .push((element, if list.optional_indices.contains(&i) { unwrapped(ty) } else { ty }));
                }
                self.one_type(items).map(Ty::list)
            }
            Expr::Map(map) => {
                let (mut keys, mut values) = (Vec::new(), Vec::new());
                for entry in &map.entries {
                    let EntryExpr::MapEntry(entry) = &entry.expr else {
                        return mistake(at, "a map has keys and values");
                    };
                    keys.push((&entry.key, self.expr(&entry.key)?));
                    let value = self.expr(&entry.value)?;
                    values.push((&entry.value, if entry.optional { unwrapped(value) } else { value }));
                }
                let (key, value) = (self.one_type(keys)?, self.one_type(values)?);
                Ok(Ty::Map(key.into(), value.into()))
            }
            Expr::Call(call) => {
                if call.func_name == operators::OPT_SELECT
                    && let [operand, IdedExpr { expr: Expr::Literal(LiteralValue::String(field)), .. }] =
                        call.args.as_slice()
                {
                    let operand = self.expr(operand)?;
                    let field = self.select(at, &operand, field.inner())?;
                    return Ok(Ty::optional(unwrapped(field)));
                }
                // `optional.of(x)` looks like a method of `optional`.
                let in_namespace = call.target.as_deref().and_then(|target| {
                    let name = format!("{}.{}", qualified(target)?, call.func_name);
                    signatures::of(&name).iter().any(|s| !s.member).then_some(name)
                });
                let target = call.target.as_deref().filter(|_| in_namespace.is_none());
                let mut args = Vec::new();
                for arg in target.into_iter().chain(&call.args) {
                    args.push(self.expr(arg)?);
                }
                let name = in_namespace.as_deref().unwrap_or(&call.func_name);
                self.call(at, name, target.is_some(), &args)
            }
            Expr::Comprehension(each) => self.comprehension(at, each),
            Expr::Struct(of) => {
                mistake(at, format!("undeclared reference to '{}' (in container '')", of.type_name))
            }
            Expr::Unspecified => mistake(at, "an empty expression"),
        }
    }

    fn comprehension(&mut self, at: &IdedExpr, each: &cel::common::ast::ComprehensionExpr) -> Checked {
        let range = self.expr(&each.iter_range)?;
        let (first, second) = match self.resolve(&range) {
            Ty::List(item) => (Ty::INT, (*item).clone()),
            Ty::Map(key, value) => ((*key).clone(), (*value).clone()),
            Ty::Dyn | Ty::Unknown(_) => (Ty::Dyn, Ty::Dyn),
            other => {
                let why = format!(
                    "expression of type '{other}' cannot be range of a comprehension (must be list, map, or dynamic)"
                );
                return mistake(&each.iter_range, why);
            }
        };
        let accumulated = self.expr(&each.accu_init)?;
        let depth = self.scope.len();
        self.scope.push((each.accu_var.clone(), accumulated.clone()));
        match &each.iter_var2 {
            Some(name) => {
                self.scope.push((each.iter_var.clone(), first));
                self.scope.push((name.clone(), second));
            }
            None => {
                let over_map = matches!(self.resolve(&range), Ty::Map(..));
                self.scope.push((each.iter_var.clone(), if over_map { first } else { second }));
            }
        }
        let goes_on = self.expr(&each.loop_cond)?;
        self.expect(&each.loop_cond, &Ty::BOOL, &goes_on)?;
        let step = self.expr(&each.loop_step)?;
        self.expect(&each.loop_step, &accumulated, &step)?;
        self.scope.truncate(depth);
        self.scope.push((each.accu_var.clone(), accumulated));
        let result = self.expr(&each.result);
        self.scope.truncate(depth);
        let _ = at;
        result
    }

    fn name(&self, at: &IdedExpr, name: &str) -> Checked {
        if let Some((_, ty)) = self.scope.iter().rev().find(|(known, _)| known == name) {
            return Ok(ty.clone());
        }
        if TYPES.contains(&name) {
            return Ok(Ty::Plain("type"));
        }
        mistake(at, format!("undeclared reference to '{name}' (in container '')"))
    }

    fn select(&mut self, at: &IdedExpr, operand: &Ty, field: &str) -> Checked {
        match self.resolve(operand) {
            Ty::Object(fields) => match fields.get(field) {
                Some(ty) => Ok(ty.clone()),
                None => mistake(at, format!("undefined field '{field}'")),
            },
            Ty::Map(key, value) => {
                self.expect(at, &key, &Ty::STRING)?;
                Ok((*value).clone())
            }
            Ty::Optional(inner) => {
                let found = self.select(at, &inner, field)?;
                Ok(Ty::optional(unwrapped(found)))
            }
            Ty::Dyn | Ty::Unknown(_) => Ok(Ty::Dyn),
            other => mistake(at, format!("type '{other}' does not support field selection")),
        }
    }

    fn call(&mut self, at: &IdedExpr, name: &str, member: bool, args: &[Ty]) -> Checked {
        let candidates = signatures::of(name);
        if candidates.is_empty() {
            return mistake(at, format!("undeclared reference to '{name}' (in container '')"));
        }
        let mut found: Option<Ty> = None;
        let start = self.known.clone();
        let mut chosen = start.clone();
        for candidate in candidates.iter().filter(|c| c.member == member && c.args.len() == args.len()) {
            self.known.clone_from(&start);
            let Some(result) = self.fits(candidate, args) else { continue };
            match &found {
                None => {
                    found = Some(result);
                    chosen.clone_from(&self.known);
                }
                // Several ways fit because something is dynamic: what comes out is dynamic unless all agree.
                Some(before) if *before != result => found = Some(Ty::Dyn),
                Some(_) => {}
            }
        }
        self.known = chosen;
        if let Some(result) = found {
            return Ok(result);
        }
        let shown: Vec<String> = args.iter().map(|arg| self.resolve(arg).to_string()).collect();
        let applied = match shown.split_first() {
            Some((on, rest)) if member => format!("{on}.({})", rest.join(", ")),
            _ => format!("({})", shown.join(", ")),
        };
        mistake(at, format!("found no matching overload for '{name}' applied to '{applied}'"))
    }

    fn fits(&mut self, candidate: &Signature, args: &[Ty]) -> Option<Ty> {
        let base = self.known.len();
        self.known.resize(base + LETTERS, None);
        for (wanted, given) in candidate.args.iter().zip(args) {
            let wanted = shifted(wanted, base);
            if !self.unify(&wanted, given) {
                return None;
            }
        }
        Some(self.resolve(&shifted(&candidate.result, base)))
    }

    fn expect(&mut self, at: &IdedExpr, wanted: &Ty, found: &Ty) -> Result<(), Mistake> {
        if self.unify(wanted, found) {
            return Ok(());
        }
        let (wanted, found) = (self.resolve(wanted), self.resolve(found));
        mistake(at, format!("expected type '{wanted}' but found '{found}'"))
    }

    /// The one type of all items of a literal: Kubernetes allows no mixed ones.
    fn one_type(&mut self, items: Vec<(&IdedExpr, Ty)>) -> Checked {
        let mut items = items.into_iter();
        let Some((_, first)) = items.next() else {
            self.known.push(None);
            return Ok(Ty::Unknown(self.known.len() - 1));
        };
        for (at, item) in items {
            if !self.unify(&first, &item) {
                let (first, item) = (self.resolve(&first), self.resolve(&item));
                return mistake(at, format!("expected type '{first}' but found '{item}'"));
            }
        }
        Ok(self.resolve(&first))
    }

    /// Makes two types the same, if they can be.
    fn unify(&mut self, a: &Ty, b: &Ty) -> bool {
        match (self.resolve(a), self.resolve(b)) {
            (Ty::Unknown(x), Ty::Unknown(y)) if x == y => true,
            (Ty::Unknown(x), other) | (other, Ty::Unknown(x)) => {
                if mentions(&other, x) {
                    return false;
                }
                self.known[x] = Some(other);
                true
            }
            (Ty::Dyn, _) | (_, Ty::Dyn) => true,
            (Ty::List(x), Ty::List(y)) | (Ty::Optional(x), Ty::Optional(y)) => self.unify(&x, &y),
            (Ty::Map(k, v), Ty::Map(l, w)) => self.unify(&k, &l) && self.unify(&v, &w),
            // null stands for a missing object, time or amount, never for a text, number, list or map.
            (Ty::Plain("null"), other) | (other, Ty::Plain("null")) => match other {
                Ty::Object(_) | Ty::Optional(_) => true,
                Ty::Plain(name) => name == "null" || name.contains('.'),
                _ => false,
            },
            (a, b) => a == b,
        }
    }

    fn resolve(&self, ty: &Ty) -> Ty {
        match ty {
            Ty::Unknown(n) => match self.known.get(*n) {
                Some(Some(known)) => self.resolve(known),
                _ => ty.clone(),
            },
            Ty::List(item) => Ty::list(self.resolve(item)),
            Ty::Optional(inner) => Ty::optional(self.resolve(inner)),
            Ty::Map(key, value) => Ty::Map(self.resolve(key).into(), self.resolve(value).into()),
            other => other.clone(),
        }
    }
}

/// `optional(x)` as `x`: what an optional element adds, and selections on optionals do not nest.
fn unwrapped(ty: Ty) -> Ty {
    match ty {
        Ty::Optional(inner) => (*inner).clone(),
        other => other,
    }
}

fn mentions(ty: &Ty, unknown: usize) -> bool {
    match ty {
        Ty::Unknown(n) => *n == unknown,
        Ty::List(inner) | Ty::Optional(inner) => mentions(inner, unknown),
        Ty::Map(key, value) => mentions(key, unknown) || mentions(value, unknown),
        _ => false,
    }
}

/// A type of the table with its letters as unknowns of this call.
fn shifted(ty: &Ty, base: usize) -> Ty {
    match ty {
        Ty::Unknown(letter) => Ty::Unknown(base + letter),
        Ty::List(item) => Ty::list(shifted(item, base)),
        Ty::Optional(inner) => Ty::optional(shifted(inner, base)),
        Ty::Map(key, value) => Ty::Map(shifted(key, base).into(), shifted(value, base).into()),
        other => other.clone(),
    }
}

/// `a.b.c` as text, where an expression is nothing but names.
fn qualified(at: &IdedExpr) -> Option<String> {
    match &at.expr {
        Expr::Ident(name) => Some(name.clone()),
        Expr::Select(select) if !select.test => {
            Some(format!("{}.{}", qualified(&select.operand)?, select.field))
        }
        _ => None,
    }
}

/// Whether an expression reads a variable.
pub fn uses(at: &IdedExpr, name: &str) -> bool {
    matches!(&at.expr, Expr::Ident(ident) if ident == name)
        || children(at).into_iter().any(|child| uses(child, name))
}

/// How many levels an expression has.
pub fn depth(at: &IdedExpr) -> usize {
    1 + children(at).into_iter().map(depth).max().unwrap_or(0)
}

fn children(at: &IdedExpr) -> Vec<&IdedExpr> {
    match &at.expr {
        Expr::Select(select) => vec![&select.operand],
        Expr::Call(call) => call.target.as_deref().into_iter().chain(&call.args).collect(),
        Expr::List(list) => list.elements.iter().collect(),
        Expr::Map(map) => map.entries.iter().flat_map(|entry| parts_of(&entry.expr)).collect(),
        Expr::Comprehension(each) => {
            vec![&each.iter_range, &each.accu_init, &each.loop_cond, &each.loop_step, &each.result]
        }
        Expr::Ident(_) | Expr::Literal(_) | Expr::Struct(_) | Expr::Unspecified => Vec::new(),
    }
}

fn parts_of(entry: &EntryExpr) -> Vec<&IdedExpr> {
    match entry {
        EntryExpr::MapEntry(entry) => vec![&entry.key, &entry.value],
        EntryExpr::StructField(field) => vec![&field.value],
    }
}
