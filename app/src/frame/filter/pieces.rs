//! Pure pieces of the filter box: colours, places in the text, what a proposal does to it.

use super::Field;
use crate::i18n::Words;
use leptos::prelude::*;
use wire::filter::{Completion, CompletionKind, TokenKind, highlight};

/// UTF-16 units before a byte: the browser counts in those.
pub fn units_of(text: &str, byte: usize) -> usize {
    text.char_indices().take_while(|(at, _)| *at < byte).map(|(_, c)| c.len_utf16()).sum()
}

/// The byte after so many UTF-16 units.
pub fn bytes_of(text: &str, units: usize) -> usize {
    let mut left = units;
    for (at, c) in text.char_indices() {
        if left == 0 {
            return at;
        }
        left = left.saturating_sub(c.len_utf16());
    }
    text.len()
}

/// The text with a proposal in place, and where the cursor goes. A value at the end is followed by a blank, ready
/// for the next word.
pub fn insert(text: &str, offer: &Completion) -> (String, usize) {
    let Some((mut now, mut cursor)) = replace(text, offer.span.start, offer.span.end, &offer.insert) else {
        return (text.to_owned(), text.len());
    };
    let ends_word = matches!(offer.kind, CompletionKind::Value | CompletionKind::Keyword);
    if ends_word && cursor == now.len() {
        now.push(' ');
        cursor += 1;
    }
    (now, cursor)
}

/// The text with bytes `start..end` replaced, and where the new piece ends; `None` when the place is not in it.
pub fn replace(text: &str, start: usize, end: usize, by: &str) -> Option<(String, usize)> {
    let (before, after) = (text.get(..start)?, text.get(end..)?);
    Some((format!("{before}{by}{after}"), start + by.len()))
}

/// Whether the hand is plainly in the middle of a word: an operator without its value, a list without its next
/// member. Filtering by it would only empty the page for a moment.
pub fn unfinished(text: &str) -> bool {
    text.ends_with([':', '=', '!', '~', '<', '>', ',', '(', '.', '-'])
}

/// A stretch of text with its class and whether it is part of what is wrong.
#[derive(Debug, PartialEq, Eq)]
struct Piece<'a> {
    text: &'a str,
    class: &'static str,
    wrong: bool,
}

fn class(kind: TokenKind) -> &'static str {
    match kind {
        TokenKind::Field => "t-field",
        TokenKind::Key => "t-key",
        TokenKind::UnknownField => "t-unknown",
        TokenKind::Operator => "t-operator",
        TokenKind::Value => "t-value",
        TokenKind::Comma => "t-comma",
        TokenKind::Keyword => "t-keyword",
        TokenKind::Minus => "t-minus",
        TokenKind::Parenthesis => "t-parenthesis",
        TokenKind::Word => "t-word",
    }
}

/// Cuts the text where a colour or the mistake begins or ends. A mistake without length marks the character
/// before it, so that it can be seen.
fn cut(text: &str, wrong: Option<(usize, usize)>) -> Vec<Piece<'_>> {
    let tokens = highlight(text);
    let wrong = wrong.map(|(start, end)| {
        let start = start.min(text.len());
        if end > start {
            (start, end.min(text.len()))
        } else {
            (text[..start].char_indices().next_back().map_or(0, |(at, _)| at), start)
        }
    });
    let mut edges: Vec<usize> = tokens.iter().flat_map(|token| [token.span.start, token.span.end]).collect();
    edges.extend([0, text.len()]);
    edges.extend(wrong.into_iter().flat_map(|(start, end)| [start, end]));
    edges.retain(|edge| text.is_char_boundary(*edge));
    edges.sort_unstable();
    edges.dedup();
    edges
        .windows(2)
        .map(|edge| {
            let (start, end) = (edge[0], edge[1]);
            let token = tokens.iter().find(|token| token.span.start <= start && end <= token.span.end);
            Piece {
                text: &text[start..end],
                class: token.map_or("", |token| class(token.kind)),
                wrong: wrong.is_some_and(|(from, to)| from <= start && end <= to),
            }
        })
        .collect()
}

/// The text in its colours, with the mistake underlined.
pub fn coloured(text: &str, wrong: Option<(usize, usize)>) -> impl IntoView + use<> {
    cut(text, wrong)
        .into_iter()
        .map(|piece| {
            let class =
                if piece.wrong { format!("{} wrong-part", piece.class) } else { piece.class.to_owned() };
            view! { <span class=class>{piece.text.to_owned()}</span> }
        })
        .collect_view()
}

/// Moves the coloured text to where the field has scrolled.
pub fn scroll_together(field: &Field) {
    if let Some(under) = field.previous_element_sibling() {
        under.set_scroll_left(field.scroll_left());
    }
}

/// What a proposal is, in words: what a field means.
pub fn what_it_is(words: Words, offer: &Completion) -> String {
    match offer.kind {
        CompletionKind::Field => {
            let name = offer.label.trim_end_matches('.');
            words.find(&format!("filter.field.{name}")).unwrap_or_default().to_owned()
        }
        CompletionKind::Keyword => {
            words.find(&format!("filter.keyword.{}", offer.label)).unwrap_or_default().to_owned()
        }
        CompletionKind::Key | CompletionKind::Value => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Lang;
    use wire::filter::{Field as FilterField, FilterErrorCode, KeyedField, Span};

    #[test]
    fn places_count_in_bytes_here_and_in_units_there() {
        let text = "a日😀b";
        for (byte, units) in [(0, 0), (1, 1), (4, 2), (8, 4), (9, 5)] {
            assert_eq!((units_of(text, byte), bytes_of(text, units)), (units, byte));
        }
        assert_eq!(bytes_of(text, 99), 9);
    }

    #[test]
    fn a_value_at_the_end_is_followed_by_a_blank() {
        let offer = |kind, start, end, insert: &str| Completion {
            span: Span::new(start, end),
            insert: insert.to_owned(),
            label: insert.to_owned(),
            count: None,
            kind,
        };
        assert_eq!(
            insert("state:Re", &offer(CompletionKind::Value, 6, 8, "Ready")),
            ("state:Ready ".to_owned(), 12)
        );
        assert_eq!(
            insert("st ops:Kill", &offer(CompletionKind::Field, 0, 2, "state:")),
            ("state: ops:Kill".to_owned(), 6)
        );
    }

    #[test]
    fn the_mistake_is_a_piece_of_its_own_and_nothing_is_lost() {
        let text = "stat:x ops!=Allocated";
        let pieces = cut(text, Some((0, 4)));
        assert_eq!(pieces.iter().map(|piece| piece.text).collect::<String>(), text);
        assert_eq!(pieces[0], Piece { text: "stat", class: "t-unknown", wrong: true });
        assert!(pieces[1..].iter().all(|piece| !piece.wrong));
    }

    #[test]
    fn a_mistake_without_length_marks_the_character_before_it() {
        let pieces = cut("a or", Some((4, 4)));
        let wrong: String = pieces.iter().filter(|piece| piece.wrong).map(|piece| piece.text).collect();
        assert_eq!(wrong, "r");
        assert!(cut("", Some((0, 0))).is_empty());
    }

    #[test]
    fn every_field_and_every_mistake_has_words() {
        for lang in Lang::ALL {
            let words = Words::new(lang);
            for name in
                FilterField::PLAIN.iter().map(FilterField::base).chain(KeyedField::ALL.map(KeyedField::name))
            {
                assert!(words.find(&format!("filter.field.{name}")).is_some(), "{} {name}", lang.code());
            }
            for code in FilterErrorCode::ALL {
                assert!(words.find(&format!("reason.filter-{code}")).is_some(), "{} {code}", lang.code());
            }
        }
    }
}
