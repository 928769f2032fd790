//! Comparing texts the way people read them: without case, numbers inside names by their value.

use std::cmp::Ordering;

use super::ast::Pattern;

/// Whether two texts are equal but for case.
#[must_use]
pub fn equal_without_case(left: &str, right: &str) -> bool {
    if left.is_ascii() && right.is_ascii() {
        return left.eq_ignore_ascii_case(right);
    }
    lower(left).eq(lower(right))
}

/// Whether `text` contains `part`, but for case. Everything contains the empty text.
#[must_use]
pub fn contains_without_case(text: &str, part: &str) -> bool {
    if text.is_ascii() && part.is_ascii() {
        return find_ascii(text.as_bytes(), part.as_bytes()).is_some();
    }
    let text: String = lower(text).collect();
    let part: String = lower(part).collect();
    text.contains(&part)
}

fn lower(text: &str) -> impl Iterator<Item = char> + '_ {
    text.chars().flat_map(char::to_lowercase)
}

fn find_ascii(text: &[u8], part: &[u8]) -> Option<usize> {
    if part.is_empty() {
        return Some(0);
    }
    text.windows(part.len()).position(|window| window.eq_ignore_ascii_case(part))
}

/// Compares texts without case and digits inside them as numbers: `lobby-9` is before `lobby-10`. Texts that differ
/// only in case or in leading zeros are equal here; who needs a total order adds one.
#[must_use]
pub fn natural_cmp(left: &str, right: &str) -> Ordering {
    let (mut left, mut right) = (left.chars().peekable(), right.chars().peekable());
    loop {
        match (left.peek().copied(), right.peek().copied()) {
            (None, None) => return Ordering::Equal,
            (None, Some(_)) => return Ordering::Less,
            (Some(_), None) => return Ordering::Greater,
            (Some(a), Some(b)) if a.is_ascii_digit() && b.is_ascii_digit() => {
                let order = compare_digits(&mut left, &mut right);
                if order.is_ne() {
                    return order;
                }
            }
            (Some(a), Some(b)) => {
                let order = if a.is_ascii() && b.is_ascii() {
                    a.to_ascii_lowercase().cmp(&b.to_ascii_lowercase())
                } else {
                    a.to_lowercase().cmp(b.to_lowercase())
                };
                if order.is_ne() {
                    return order;
                }
                left.next();
                right.next();
            }
        }
    }
}

type Letters<'a> = std::iter::Peekable<std::str::Chars<'a>>;

/// Compares two runs of digits by value, whatever their length: the longer one without its leading zeros is the
/// greater one, else the first digit that differs decides.
fn compare_digits(left: &mut Letters<'_>, right: &mut Letters<'_>) -> Ordering {
    skip_zeros(left);
    skip_zeros(right);
    let mut order = Ordering::Equal;
    loop {
        match (next_digit(left), next_digit(right)) {
            (None, None) => return order,
            (None, Some(_)) => return Ordering::Less,
            (Some(_), None) => return Ordering::Greater,
            (Some(a), Some(b)) => order = order.then(a.cmp(&b)),
        }
    }
}

fn skip_zeros(letters: &mut Letters<'_>) {
    while letters.next_if_eq(&'0').is_some() {}
}

fn next_digit(letters: &mut Letters<'_>) -> Option<char> {
    letters.next_if(char::is_ascii_digit)
}

impl Pattern {
    /// Whether the text contains the one piece or, with `*` in the pattern, is as the glob says. Without case.
    #[must_use]
    pub fn matches(&self, text: &str) -> bool {
        match self.pieces.as_slice() {
            [] => true,
            [part] => contains_without_case(text, part),
            pieces => {
                if text.is_ascii() && pieces.iter().all(|piece| piece.is_ascii()) {
                    return glob(text.as_bytes(), pieces.iter().map(String::as_bytes));
                }
                let text: String = lower(text).collect();
                let pieces: Vec<String> = pieces.iter().map(|piece| lower(piece).collect()).collect();
                glob(text.as_bytes(), pieces.iter().map(String::as_bytes))
            }
        }
    }
}

/// The first piece starts the text, the last ends it, and each one between is taken as early as it can be: that
/// leaves the most for the rest, so no going back is needed.
fn glob<'a>(text: &[u8], mut pieces: impl DoubleEndedIterator<Item = &'a [u8]>) -> bool {
    let (Some(first), Some(last)) = (pieces.next(), pieces.next_back()) else { return true };
    if text.len() < first.len() + last.len() {
        return false;
    }
    let (start, rest) = text.split_at(first.len());
    let (mut middle, end) = rest.split_at(rest.len() - last.len());
    if !start.eq_ignore_ascii_case(first) || !end.eq_ignore_ascii_case(last) {
        return false;
    }
    for piece in pieces {
        match find_ascii(middle, piece) {
            Some(at) => middle = &middle[at + piece.len()..],
            None => return false,
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn pattern(text: &str) -> Pattern {
        Pattern { pieces: text.split('*').map(str::to_owned).collect() }
    }

    #[test]
    fn globs_cover_the_whole_text_and_plain_words_a_part() {
        for (wanted, text, matches) in [
            ("1.12", "game:1.12.2", true),
            ("GAME", "game:1.12.2", true),
            ("1.13", "game:1.12.2", false),
            ("game*", "game:1.12.2", true),
            ("ame*", "game:1.12.2", false),
            ("*.2", "game:1.12.2", true),
            ("*.1", "game:1.12.2", false),
            ("g*:*2", "game:1.12.2", true),
            ("*", "", true),
            ("**", "x", true),
            ("a*a", "a", false),
            ("a*a", "aa", true),
            ("*ab*ab*", "ab", false),
            ("ÄÖ", "xäöx", true),
            ("Ä*Ö", "ä-ö", true),
        ] {
            assert_eq!(pattern(wanted).matches(text), matches, "{wanted} in {text}");
        }
    }

    #[test]
    fn order_is_natural() {
        for (left, right, wanted) in [
            ("lobby-9", "lobby-10", Ordering::Less),
            ("lobby-09", "lobby-9", Ordering::Equal),
            ("Lobby", "lobby", Ordering::Equal),
            ("a", "ab", Ordering::Less),
            ("", "a", Ordering::Less),
            ("a10b2", "a10b10", Ordering::Less),
            ("1", "a", Ordering::Less),
            ("v1.9", "v1.12", Ordering::Less),
            ("x00", "x0", Ordering::Equal),
        ] {
            assert_eq!(natural_cmp(left, right), wanted, "{left} {right}");
            assert_eq!(natural_cmp(right, left), wanted.reverse(), "{right} {left}");
        }
    }

    proptest! {
        #[test]
        fn a_glob_agrees_with_trying_every_way(pieces in prop::collection::vec("[abAB]{0,2}", 2..5), text in "[abAB]{0,8}") {
            fn naive(pieces: &[String], text: &str) -> bool {
                let Some((first, rest)) = pieces.split_first() else { return text.is_empty() };
                let Some(tail) = text.strip_prefix(first.as_str()) else { return false };
                if rest.is_empty() { return tail.is_empty(); }
                (0..=tail.len()).any(|at| naive(rest, &tail[at..]))
            }
            let lowered: Vec<String> = pieces.iter().map(|piece| piece.to_lowercase()).collect();
            let found = Pattern { pieces }.matches(&text);
            prop_assert_eq!(found, naive(&lowered, &text.to_lowercase()));
        }

        #[test]
        fn natural_order_is_an_order(a in "[a0-2B]{0,5}", b in "[a0-2B]{0,5}", c in "[a0-2B]{0,5}") {
            prop_assert_eq!(natural_cmp(&a, &b), natural_cmp(&b, &a).reverse());
            if natural_cmp(&a, &b).is_le() && natural_cmp(&b, &c).is_le() {
                prop_assert!(natural_cmp(&a, &c).is_le());
            }
        }
    }
}
