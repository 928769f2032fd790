//! Lists: `isSorted`, `sum`, `min`, `max`, `indexOf`, `lastIndexOf`, and `sets.…`.
use std::cmp::Ordering;

use cel::common::types::{CelBool, CelInt, DYN_TYPE, LIST_TYPE};
use cel::common::value::{CowVal, Val};
use cel::{DeclarationError, Env, ExecutionError};

use super::{Outcome, failed};

pub fn add(env: &mut Env) -> Result<(), DeclarationError> {
    env.add_member_overload("isSorted", "list.isSorted()", LIST_TYPE, vec![], is_sorted)?;
    env.add_member_overload("sum", "list.sum()", LIST_TYPE, vec![], sum)?;
    env.add_member_overload("min", "list.min()", LIST_TYPE, vec![], |args| {
        extreme(&args, "min", Ordering::Less)
    })?;
    env.add_member_overload("max", "list.max()", LIST_TYPE, vec![], |args| {
        extreme(&args, "max", Ordering::Greater)
    })?;
    env.add_member_overload("indexOf", "list.indexOf(dyn)", LIST_TYPE, vec![DYN_TYPE], |args| {
        let at = items(&args[0])?.iter().position(|item| item.equals(args[1].as_ref()));
        Ok(index(at))
    })?;
    env.add_member_overload("lastIndexOf", "list.lastIndexOf(dyn)", LIST_TYPE, vec![DYN_TYPE], |args| {
        let at = items(&args[0])?.iter().rposition(|item| item.equals(args[1].as_ref()));
        Ok(index(at))
    })?;
    let two = || vec![LIST_TYPE, LIST_TYPE];
    env.add_overload("sets.contains", "list_sets_contains_list", two(), |args| {
        Ok(flag(contains(&items(&args[0])?, &items(&args[1])?)))
    })?;
    env.add_overload("sets.equivalent", "list_sets_equivalent_list", two(), |args| {
        let (a, b) = (items(&args[0])?, items(&args[1])?);
        Ok(flag(contains(&a, &b) && contains(&b, &a)))
    })?;
    env.add_overload("sets.intersects", "list_sets_intersects_list", two(), |args| {
        let (a, b) = (items(&args[0])?, items(&args[1])?);
        Ok(flag(b.iter().any(|x| a.iter().any(|y| y.equals(*x)))))
    })
}

fn flag<'b, 'v>(value: bool) -> CowVal<'b, 'v> {
    CowVal::owned(CelBool::from(value))
}

/// A position; -1 for nowhere.
fn index<'b, 'v>(at: Option<usize>) -> CowVal<'b, 'v> {
    CowVal::owned(CelInt::from(at.and_then(|i| i64::try_from(i).ok()).unwrap_or(-1)))
}

fn contains(all: &[&dyn Val], wanted: &[&dyn Val]) -> bool {
    wanted.iter().all(|x| all.iter().any(|y| y.equals(*x)))
}

fn items<'a, 'v>(list: &'a CowVal<'_, 'v>) -> Result<Vec<&'a (dyn Val + 'v)>, ExecutionError> {
    let list = list.as_ref().as_iterable().ok_or_else(|| failed("list", "no such overload"))?;
    let mut all = Vec::new();
    let mut rest = list.iter();
    while let Some(item) = rest.next() {
        all.push(item);
    }
    Ok(all)
}

fn compare(a: &dyn Val, b: &dyn Val) -> Result<Ordering, ExecutionError> {
    a.as_comparer().ok_or_else(|| failed("compare", "no such overload"))?.compare(b)
}

fn is_sorted<'b, 'v>(args: Vec<CowVal<'b, 'v>>) -> Outcome<'b, 'v> {
    for pair in items(&args[0])?.windows(2) {
        if let [a, b] = pair
            && compare(*a, *b)? == Ordering::Greater
        {
            return Ok(flag(false));
        }
    }
    Ok(flag(true))
}

/// The sum; 0 when there is nothing (an empty list has no other type to tell).
fn sum<'b, 'v>(args: Vec<CowVal<'b, 'v>>) -> Outcome<'b, 'v> {
    let mut total: Option<Box<dyn Val + 'v>> = None;
    for item in items(&args[0])? {
        total = Some(match total {
            None => item.clone_as_boxed(),
            Some(before) => {
                let adder = before.as_adder().ok_or_else(|| failed("sum", "no such overload"))?;
                adder.add(item)?.into_owned()
            }
        });
    }
    Ok(total.map_or_else(|| CowVal::owned(CelInt::from(0)), CowVal::Owned))
}

fn extreme<'b, 'v>(args: &[CowVal<'b, 'v>], name: &str, wanted: Ordering) -> Outcome<'b, 'v> {
    let all = items(&args[0])?;
    let Some((first, rest)) = all.split_first() else {
        return Err(failed(name, format!("{name} called on empty list")));
    };
    let mut best = *first;
    for item in rest {
        if compare(*item, best)? == wanted {
            best = *item;
        }
    }
    Ok(CowVal::Owned(best.clone_as_boxed()))
}
