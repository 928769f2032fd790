//! From text to words and parentheses. It accepts everything (a quote that is not closed is noted), because
//! highlighting and completion read filters while they are typed; the parser refuses.

use super::ast::Span;

/// One character of a word, without the quotes and escapes around it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Letter {
    pub(super) c: char,
    /// Byte where it stands in the filter's text.
    pub(super) at: usize,
    /// Stood in quotes: it is never an operator, a comma, a minus or part of a keyword.
    pub(super) quoted: bool,
    /// Stood behind a backslash in quotes: a `*` is only a star.
    pub(super) escaped: bool,
}

impl Letter {
    fn is(self, c: char) -> bool {
        self.c == c && !self.quoted
    }
}

/// Characters without a blank or parenthesis between them, or with these in quotes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Word {
    pub(super) span: Span,
    pub(super) letters: Vec<Letter>,
    /// Where the quote starts that is not closed.
    pub(super) unclosed: Option<usize>,
}

/// What filters are made of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Lexeme {
    Open(Span),
    Close(Span),
    Word(Word),
}

impl Lexeme {
    pub(super) const fn span(&self) -> Span {
        match self {
            Self::Open(span) | Self::Close(span) => *span,
            Self::Word(word) => word.span,
        }
    }
}

/// The operator that splits a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operator {
    Equal,
    NotEqual,
    Contains,
    Above,
    AtLeast,
    Below,
    AtMost,
}

/// Where a word splits.
#[derive(Clone, Copy, Debug)]
pub(super) struct Split {
    pub(super) operator: Operator,
    /// Index of the operator's first letter.
    pub(super) letter: usize,
    /// Index of the first letter behind it.
    pub(super) after: usize,
    /// The operator in the text.
    pub(super) span: Span,
}

/// Cuts a text into lexemes.
pub(super) fn lex(text: &str) -> Vec<Lexeme> {
    let mut lexemes = Vec::new();
    let mut chars = text.char_indices().peekable();
    while let Some(&(at, c)) = chars.peek() {
        match c {
            '(' | ')' => {
                chars.next();
                let span = Span::new(at, at + 1);
                lexemes.push(if c == '(' { Lexeme::Open(span) } else { Lexeme::Close(span) });
            }
            c if c.is_whitespace() => {
                chars.next();
            }
            _ => lexemes.push(Lexeme::Word(word(text, at, &mut chars))),
        }
    }
    lexemes
}

type Chars<'a> = std::iter::Peekable<std::str::CharIndices<'a>>;

fn word(text: &str, start: usize, chars: &mut Chars<'_>) -> Word {
    let mut letters = Vec::new();
    let mut open: Option<usize> = None;
    while let Some(&(at, c)) = chars.peek() {
        if open.is_none() && (c.is_whitespace() || c == '(' || c == ')') {
            break;
        }
        chars.next();
        match (c, open) {
            ('"', None) => open = Some(at),
            ('"', Some(_)) => open = None,
            ('\\', Some(_)) => {
                if let Some((_, c)) = chars.next() {
                    letters.push(Letter { c, at, quoted: true, escaped: true });
                }
            }
            _ => letters.push(Letter { c, at, quoted: open.is_some(), escaped: false }),
        }
    }
    let end = chars.peek().map_or(text.len(), |(at, _)| *at);
    Word { span: Span::new(start, end), letters, unclosed: open }
}

impl Word {
    /// How many minuses it starts with; each says "not".
    pub(super) fn minuses(&self) -> usize {
        self.letters.iter().take_while(|letter| letter.is('-')).count()
    }

    /// The first operator behind the letter `from`.
    pub(super) fn split(&self, from: usize) -> Option<Split> {
        (from..self.letters.len()).find_map(|letter| {
            let here = self.letters[letter];
            let next_is_equal = self
                .letters
                .get(letter + 1)
                .is_some_and(|next| next.is('=') && next.at == here.at + here.c.len_utf8());
            let (operator, length) = match here.c {
                _ if here.quoted => return None,
                ':' | '=' => (Operator::Equal, 1),
                '~' => (Operator::Contains, 1),
                '!' if next_is_equal => (Operator::NotEqual, 2),
                '>' if next_is_equal => (Operator::AtLeast, 2),
                '>' => (Operator::Above, 1),
                '<' if next_is_equal => (Operator::AtMost, 2),
                '<' => (Operator::Below, 1),
                _ => return None,
            };
            let span = Span::new(here.at, here.at + length);
            Some(Split { operator, letter, after: letter + length, span })
        })
    }

    /// The letters from one index up to another as text.
    pub(super) fn text(&self, from: usize, to: usize) -> String {
        self.letters[from..to].iter().map(|letter| letter.c).collect()
    }

    /// Whether it reads as this keyword: without quotes, without case.
    pub(super) fn is_keyword(&self, keyword: &str) -> bool {
        // Quotes around nothing leave no letter, but make the word longer than its letters.
        self.span.end - self.span.start == keyword.len()
            && self.letters.len() == keyword.len()
            && self.letters.iter().zip(keyword.chars()).all(|(letter, c)| letter.c.eq_ignore_ascii_case(&c))
    }

    /// The elements of a comma list that starts with the letter `from`: letters (start, end) and place. There is
    /// always at least one; elements may be empty. `start` is the byte where the list starts.
    pub(super) fn elements(&self, from: usize, start: usize) -> Vec<(usize, usize, Span)> {
        let mut elements = Vec::new();
        let (mut first, mut begin) = (from, start);
        for index in from..self.letters.len() {
            if self.letters[index].is(',') {
                let at = self.letters[index].at;
                elements.push((first, index, Span::new(begin, at)));
                (first, begin) = (index + 1, at + 1);
            }
        }
        elements.push((first, self.letters.len(), Span::new(begin, self.span.end)));
        elements
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        lex(text)
            .iter()
            .map(|lexeme| match lexeme {
                Lexeme::Open(_) => "(".to_owned(),
                Lexeme::Close(_) => ")".to_owned(),
                Lexeme::Word(word) => word.text(0, word.letters.len()),
            })
            .collect()
    }

    #[test]
    fn words_end_at_blanks_and_parentheses() {
        assert_eq!(words(" a  b:c(d)e\t\u{3000}f "), ["a", "b:c", "(", "d", ")", "e", "f"]);
        assert_eq!(words(r#"a:"b c" "d"e f"g h""#), ["a:b c", "de", "fg h"]);
        assert_eq!(words(r#""a\"b\\c\d" \n"#), [r#"a"b\cd"#, r"\n"]);
        assert_eq!(words(r#""""#), [""]);
    }

    #[test]
    fn spans_are_bytes_of_the_text_with_quotes() {
        let lexemes = lex(r#"é "a b":c"#);
        assert_eq!(lexemes.iter().map(Lexeme::span).collect::<Vec<_>>(), [Span::new(0, 2), Span::new(3, 10)]);
    }

    #[test]
    fn an_open_quote_takes_the_rest() {
        let Lexeme::Word(word) = &lex(r#"set:"a b"#)[0] else { panic!("a word") };
        assert_eq!((word.unclosed, word.text(0, word.letters.len()).as_str()), (Some(4), "set:a b"));
    }

    #[test]
    fn the_first_operator_splits() {
        for (text, wanted) in [
            ("a:b=c", Some((Operator::Equal, 1, 2))),
            ("a=b:c", Some((Operator::Equal, 1, 2))),
            ("a!=b", Some((Operator::NotEqual, 1, 3))),
            ("a>=b", Some((Operator::AtLeast, 1, 3))),
            ("a>b=", Some((Operator::Above, 1, 2))),
            ("a<=b", Some((Operator::AtMost, 1, 3))),
            ("a<b", Some((Operator::Below, 1, 2))),
            ("a!b~c", Some((Operator::Contains, 3, 4))),
            ("a!b", None),
            (r#""a:b""#, None),
            (r#""a:b":c"#, Some((Operator::Equal, 3, 4))),
            (r#"a>"=b""#, Some((Operator::Above, 1, 2))),
        ] {
            let Lexeme::Word(word) = &lex(text)[0] else { panic!("a word") };
            let found = word.split(0).map(|split| (split.operator, split.letter, split.after));
            assert_eq!(found, wanted, "{text}");
        }
    }

    #[test]
    fn lists_split_at_commas_outside_quotes() {
        let Lexeme::Word(word) = &lex(r#"a:b,"c,d",,e"#)[0] else { panic!("a word") };
        let split = word.split(0).unwrap();
        let found: Vec<(String, Span)> = word
            .elements(split.after, split.span.end)
            .into_iter()
            .map(|(from, to, span)| (word.text(from, to), span))
            .collect();
        let wanted = [("b", 2, 3), ("c,d", 4, 9), ("", 10, 10), ("e", 11, 12)]
            .map(|(text, start, end)| (text.to_owned(), Span::new(start, end)));
        assert_eq!(found, wanted);
    }
}
