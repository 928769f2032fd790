//! Colours for the filter box. Reads anything, also what is only half typed.

use serde::{Deserialize, Serialize};

use super::ast::Span;
use super::field::{Field, FieldProblem, KeyedField};
use super::lex::{Lexeme, Word, lex};

/// A coloured piece of the filter's text. Tokens come in order, do not overlap, and leave out the blanks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Token {
    /// Where.
    pub span: Span,
    /// What.
    pub kind: TokenKind,
}

/// The kinds of [`Token`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TokenKind {
    /// A known field, up to its dot if it has one.
    Field,
    /// The key behind the dot.
    Key,
    /// A field that does not exist.
    UnknownField,
    /// `:` `!=` `~` and so on.
    Operator,
    /// A value behind an operator.
    Value,
    /// The comma in a list.
    Comma,
    /// `or`, `and`, `not`.
    Keyword,
    /// The minus that says not.
    Minus,
    /// A parenthesis.
    Parenthesis,
    /// A bare word: part of the name.
    Word,
}

/// Cuts a filter into coloured pieces.
#[must_use]
pub fn highlight(text: &str) -> Vec<Token> {
    let mut tokens = Vec::new();
    for lexeme in lex(text) {
        match lexeme {
            Lexeme::Open(span) | Lexeme::Close(span) => {
                tokens.push(Token { span, kind: TokenKind::Parenthesis });
            }
            Lexeme::Word(word) => word_tokens(&word, &mut tokens),
        }
    }
    tokens.retain(|token| token.span.start < token.span.end);
    tokens
}

fn word_tokens(word: &Word, tokens: &mut Vec<Token>) {
    let mut push = |start, end, kind| tokens.push(Token { span: Span::new(start, end), kind });
    let Span { start, end } = word.span;
    if ["or", "and", "not"].iter().any(|keyword| word.is_keyword(keyword)) {
        push(start, end, TokenKind::Keyword);
        return;
    }
    let minuses = word.minuses();
    push(start, start + minuses, TokenKind::Minus);
    let start = start + minuses;
    let Some(split) = word.split(minuses) else {
        push(start, end, TokenKind::Word);
        return;
    };
    let typed = word.text(minuses, split.letter);
    let dot =
        word.letters[minuses..split.letter].iter().find(|letter| letter.c == '.').map(|letter| letter.at + 1);
    match (Field::read(&typed), dot) {
        (Ok(field), Some(dot)) if field.key().is_some() => {
            push(start, dot, TokenKind::Field);
            push(dot, split.span.start, TokenKind::Key);
        }
        // `label.` is on its way to a field, not wrong yet.
        (Ok(_) | Err(FieldProblem::NeedsKey), _) => push(start, split.span.start, TokenKind::Field),
        (Err(_), _) => push(start, split.span.start, TokenKind::UnknownField),
    }
    push(split.span.start, split.span.end, TokenKind::Operator);
    let elements = word.elements(split.after, split.span.end);
    for (index, (_, _, span)) in elements.iter().enumerate() {
        if index > 0 {
            push(span.start - 1, span.start, TokenKind::Comma);
        }
        push(span.start, span.end, TokenKind::Value);
    }
}

impl KeyedField {
    /// The keyed field that a half-typed text such as `label.zo` is on its way to, and the key so far.
    pub(super) fn on_the_way(typed: &str) -> Option<(Self, &str)> {
        let (base, key) = typed.split_once('.')?;
        let field = Self::ALL.into_iter().find(|field| field.name().eq_ignore_ascii_case(base))?;
        Some((field, key))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::TokenKind::{
        Comma, Field, Key, Keyword, Minus, Operator, Parenthesis, UnknownField, Value, Word,
    };
    use super::*;

    #[test]
    fn pieces_have_their_kinds() {
        let cases: [(&str, &[(&str, TokenKind)]); 8] = [
            ("", &[]),
            ("lobby or -x", &[("lobby", Word), ("or", Keyword), ("-", Minus), ("x", Word)]),
            (
                "state:Ready,\"a b\"",
                &[("state", Field), (":", Operator), ("Ready", Value), (",", Comma), ("\"a b\"", Value)],
            ),
            ("label.zone!=8001", &[("label.", Field), ("zone", Key), ("!=", Operator), ("8001", Value)]),
            (
                "-(stat:x)",
                &[
                    ("-", Minus),
                    ("(", Parenthesis),
                    ("stat", UnknownField),
                    (":", Operator),
                    ("x", Value),
                    (")", Parenthesis),
                ],
            ),
            ("image~", &[("image", Field), ("~", Operator)]),
            ("set:\"a", &[("set", Field), (":", Operator), ("\"a", Value)]),
            (":x", &[(":", Operator), ("x", Value)]),
        ];
        for (text, wanted) in cases {
            let found: Vec<(&str, TokenKind)> = highlight(text)
                .iter()
                .map(|token| (&text[token.span.start..token.span.end], token.kind))
                .collect();
            assert_eq!(found, wanted, "{text}");
        }
    }

    proptest! {
        #[test]
        fn tokens_are_in_order_and_leave_out_only_blanks(text in r#"[a-c:=,!~<>()" \\.é-]{0,30}|\PC{0,20}"#) {
            let mut last = 0;
            for token in highlight(&text) {
                prop_assert!(text[last..token.span.start].chars().all(char::is_whitespace), "{:?}", text);
                last = token.span.end;
            }
            prop_assert!(text[last..].chars().all(char::is_whitespace));
        }
    }
}
