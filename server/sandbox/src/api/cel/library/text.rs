//! Regular expressions: `find` and `findAll`.
use cel::common::types::{CelInt, CelList, CelString};
use cel::common::value::Val;
use cel::{DeclarationError, Env, ExecutionError, add_member_overload};
use regex::Regex;

use super::failed;

pub fn add(env: &mut Env) -> Result<(), DeclarationError> {
    add_member_overload!(env, fn find: (CelString, CelString) -> Result<CelString>)?;
    add_member_overload!(env, fn find_all: (CelString, CelString) -> Result<CelList>)?;
    add_member_overload!(env, fn find_some: (CelString, CelString, CelInt) -> Result<CelList>, name = "findAll")
}

fn expression(source: &CelString<'_>) -> Result<Regex, ExecutionError> {
    Regex::new(source.inner()).map_err(|e| failed("find", format!("Illegal regex: {e}")))
}

fn find(text: &CelString<'_>, pattern: &CelString<'_>) -> Result<CelString<'static>, ExecutionError> {
    let found = expression(pattern)?.find(text.inner()).map_or("", |found| found.as_str()).to_owned();
    Ok(CelString::from(found))
}

fn find_all(text: &CelString<'_>, pattern: &CelString<'_>) -> Result<CelList<'static>, ExecutionError> {
    find_some(text, pattern, &CelInt::from(-1))
}

/// At most `most` hits; all when it is negative.
fn find_some(
    text: &CelString<'_>,
    pattern: &CelString<'_>,
    most: &CelInt,
) -> Result<CelList<'static>, ExecutionError> {
    let most = usize::try_from(*most.inner()).unwrap_or(usize::MAX);
    let expression = expression(pattern)?;
    let found = expression.find_iter(text.inner()).take(most);
    let boxed = |text: &str| Box::new(CelString::from(text.to_owned())) as Box<dyn Val>;
    Ok(CelList::from(found.map(|found| boxed(found.as_str())).collect::<Vec<_>>()))
}
