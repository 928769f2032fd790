//! Amounts: `quantity('1Gi')` and what can be asked of it.
use std::cmp::Ordering;

use cel::common::types::{CelBool, CelDouble, CelInt, CelString, Type};
use cel::{DeclarationError, Env, ExecutionError, add_member_overload, add_overload};

use super::{Boxed, Own, failed};
use crate::api::special::quantity::parse;

/// An amount in billionths.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Amount(i128);

static TYPE: Type = Type::new_unspecified_type("kubernetes.Quantity");

impl Own for Amount {
    const TYPE: &'static Type = &TYPE;
}

type Quantity = Boxed<Amount>;

const BILLION: i128 = 1_000_000_000;

pub fn add(env: &mut Env) -> Result<(), DeclarationError> {
    env.add_type(TYPE.to_owned())?;
    add_overload!(env, fn quantity: (CelString) -> Result<Quantity>)?;
    add_overload!(env, fn is_quantity: (CelString) -> CelBool)?;
    add_overload!(env, fn sign: (Quantity) -> CelInt)?;
    add_member_overload!(env, fn is_greater_than: (Quantity, Quantity) -> CelBool)?;
    add_member_overload!(env, fn is_less_than: (Quantity, Quantity) -> CelBool)?;
    add_member_overload!(env, fn compare_to: (Quantity, Quantity) -> CelInt)?;
    add_member_overload!(env, fn as_approximate_float: (Quantity) -> CelDouble)?;
    add_member_overload!(env, fn as_integer: (Quantity) -> Result<CelInt>)?;
    add_member_overload!(env, fn is_integer: (Quantity) -> CelBool)?;
    add_member_overload!(env, fn plus: (Quantity, Quantity) -> Quantity, name = "add")?;
    add_member_overload!(env, fn plus_int: (Quantity, CelInt) -> Quantity, name = "add")?;
    add_member_overload!(env, fn minus: (Quantity, Quantity) -> Quantity, name = "sub")?;
    add_member_overload!(env, fn minus_int: (Quantity, CelInt) -> Quantity, name = "sub")
}

fn quantity(text: &CelString<'_>) -> Result<Quantity, ExecutionError> {
    let words = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";
    parse(text.inner()).map(|n| Boxed(Amount(n))).ok_or_else(|| failed("quantity", words))
}

fn is_quantity(text: &CelString<'_>) -> CelBool {
    parse(text.inner()).is_some().into()
}

fn sign(this: &Quantity) -> CelInt {
    CelInt::from(i64::from(this.0.0.signum() as i8))
}

fn is_greater_than(this: &Quantity, other: &Quantity) -> CelBool {
    (this.0.0 > other.0.0).into()
}

fn is_less_than(this: &Quantity, other: &Quantity) -> CelBool {
    (this.0.0 < other.0.0).into()
}

fn compare_to(this: &Quantity, other: &Quantity) -> CelInt {
    CelInt::from(match this.0.0.cmp(&other.0.0) {
        Ordering::Less => -1,
        Ordering::Equal => 0,
        Ordering::Greater => 1,
    })
}

fn as_approximate_float(this: &Quantity) -> CelDouble {
    CelDouble::from(this.0.0 as f64 / BILLION as f64)
}

fn whole(this: &Quantity) -> Option<i64> {
    (this.0.0 % BILLION == 0).then(|| i64::try_from(this.0.0 / BILLION).ok()).flatten()
}

fn as_integer(this: &Quantity) -> Result<CelInt, ExecutionError> {
    whole(this).map(CelInt::from).ok_or_else(|| failed("asInteger", "cannot convert value to integer"))
}

fn is_integer(this: &Quantity) -> CelBool {
    whole(this).is_some().into()
}

fn plus(this: &Quantity, other: &Quantity) -> Quantity {
    Boxed(Amount(this.0.0.saturating_add(other.0.0)))
}

fn minus(this: &Quantity, other: &Quantity) -> Quantity {
    Boxed(Amount(this.0.0.saturating_sub(other.0.0)))
}

fn of_int(n: &CelInt) -> Quantity {
    Boxed(Amount(i128::from(*n.inner()) * BILLION))
}

fn plus_int(this: &Quantity, n: &CelInt) -> Quantity {
    plus(this, &of_int(n))
}

fn minus_int(this: &Quantity, n: &CelInt) -> Quantity {
    minus(this, &of_int(n))
}
