//! Whole numbers and ranges of them: `7`, `0-499`, `-5--1`, and without an end `100-`.

/// Why a text is no number or range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NumberProblem {
    /// It is none.
    NotANumber,
    /// The end is before the start.
    Reversed,
}

/// Reads a number or a range, both ends included. A range without an end goes up to [`i64::MAX`].
pub(super) fn parse_range(text: &str) -> Result<(i64, i64), NumberProblem> {
    let (from, rest) = leading_number(text).ok_or(NumberProblem::NotANumber)?;
    if rest.is_empty() {
        return Ok((from, from));
    }
    if rest == "-" {
        return Ok((from, i64::MAX));
    }
    let end = rest.strip_prefix('-').and_then(leading_number);
    match end {
        Some((to, "")) if to < from => Err(NumberProblem::Reversed),
        Some((to, "")) => Ok((from, to)),
        _ => Err(NumberProblem::NotANumber),
    }
}

/// Reads exactly one number.
pub(super) fn parse_number(text: &str) -> Option<i64> {
    match leading_number(text) {
        Some((number, "")) => Some(number),
        _ => None,
    }
}

fn leading_number(text: &str) -> Option<(i64, &str)> {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let length = digits.bytes().take_while(u8::is_ascii_digit).count();
    if length == 0 {
        return None;
    }
    let (number, rest) = text.split_at(text.len() - digits.len() + length);
    Some((number.parse().ok()?, rest))
}

/// Reads a plain decimal number such as `-1.5`; the values of labels and qualities are compared as numbers when
/// they are such.
pub(super) fn parse_decimal(text: &str) -> Option<f64> {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let plain = digits.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.')
        && digits.starts_with(|c: char| c.is_ascii_digit());
    plain.then(|| text.parse().ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges() {
        for (text, wanted) in [
            ("7", Ok((7, 7))),
            ("-7", Ok((-7, -7))),
            ("0-499", Ok((0, 499))),
            ("-5--1", Ok((-5, -1))),
            ("-5-5", Ok((-5, 5))),
            ("3-3", Ok((3, 3))),
            ("5-3", Err(NumberProblem::Reversed)),
            ("", Err(NumberProblem::NotANumber)),
            ("-", Err(NumberProblem::NotANumber)),
            ("5-", Ok((5, i64::MAX))),
            ("-5-", Ok((-5, i64::MAX))),
            ("-5--", Err(NumberProblem::NotANumber)),
            ("1-2-3", Err(NumberProblem::NotANumber)),
            ("1.5", Err(NumberProblem::NotANumber)),
            ("+5", Err(NumberProblem::NotANumber)),
            ("٣", Err(NumberProblem::NotANumber)),
            ("99999999999999999999", Err(NumberProblem::NotANumber)),
        ] {
            assert_eq!(parse_range(text), wanted, "{text}");
        }
    }

    #[test]
    fn decimals_are_plain() {
        for (text, wanted) in [
            ("5", Some(5.0)),
            ("-1.5", Some(-1.5)),
            ("5.", Some(5.0)),
            (".5", None),
            ("1.2.3", None),
            ("1e3", None),
            ("inf", None),
            ("nan", None),
            ("", None),
            ("-", None),
        ] {
            assert_eq!(parse_decimal(text), wanted, "{text}");
        }
    }
}
