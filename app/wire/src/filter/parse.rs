//! From words to a filter: a recursive descent with bounded depth. Every refusal has a place.

use super::age::Age;
use super::ast::{Comparison, Expr, Filter, Pattern, Span, Term, Test, Value};
use super::error::{FilterError, FilterErrorCode as Code};
use super::field::{Field, FieldKind, FieldProblem};
use super::lex::{Lexeme, Operator, Split, Word, lex};
use super::number::{self, NumberProblem};

/// Longest filter, in bytes.
pub const MAX_LENGTH: usize = 8_192;

/// How deep parentheses and nots may nest.
pub const MAX_DEPTH: usize = 64;

/// Reads a filter.
///
/// # Errors
/// The first mistake from the left, with its place and, where one is likely, what was meant.
pub fn parse(text: &str) -> Result<Filter, FilterError> {
    if text.len() > MAX_LENGTH {
        let span = Span::new(MAX_LENGTH, text.len());
        return Err(FilterError::new(span, Code::TooLong, &[("max", &MAX_LENGTH.to_string())]));
    }
    let lexemes = lex(text);
    if lexemes.is_empty() {
        return Ok(Filter::default());
    }
    let mut parser = Parser { text, lexemes: &lexemes, next: 0, depth: 0 };
    let expr = parser.any_of()?;
    match parser.peek() {
        None => Ok(Filter { expr: Some(expr) }),
        Some(lexeme) => Err(FilterError::new(lexeme.span(), Code::UnexpectedParenthesis, &[])),
    }
}

impl std::str::FromStr for Filter {
    type Err = FilterError;

    fn from_str(text: &str) -> Result<Self, FilterError> {
        parse(text)
    }
}

struct Parser<'a> {
    text: &'a str,
    lexemes: &'a [Lexeme],
    next: usize,
    depth: usize,
}

impl<'a> Parser<'a> {
    fn peek(&self) -> Option<&'a Lexeme> {
        self.lexemes.get(self.next)
    }

    fn take_keyword(&mut self, keyword: &str) -> bool {
        let found = matches!(self.peek(), Some(Lexeme::Word(word)) if word.is_keyword(keyword));
        self.next += usize::from(found);
        found
    }

    fn any_of(&mut self) -> Result<Expr, FilterError> {
        let mut parts = Vec::new();
        loop {
            match self.all_of()? {
                Expr::Or(inner) => parts.extend(inner),
                other => parts.push(other),
            }
            if !self.take_keyword("or") {
                return Ok(one_or(parts, Expr::Or));
            }
        }
    }

    fn all_of(&mut self) -> Result<Expr, FilterError> {
        let mut parts = Vec::new();
        loop {
            match self.condition()? {
                Expr::And(inner) => parts.extend(inner),
                other => parts.push(other),
            }
            if self.take_keyword("and") {
                continue;
            }
            match self.peek() {
                None | Some(Lexeme::Close(_)) => break,
                Some(Lexeme::Word(word)) if word.is_keyword("or") => break,
                Some(_) => {}
            }
        }
        Ok(one_or(parts, Expr::And))
    }

    fn condition(&mut self) -> Result<Expr, FilterError> {
        let Some(lexeme) = self.peek() else {
            return Err(self.expected_term(Span::new(self.text.len(), self.text.len())));
        };
        match lexeme {
            Lexeme::Close(span) if self.depth == 0 => {
                Err(FilterError::new(*span, Code::UnexpectedParenthesis, &[]))
            }
            Lexeme::Close(span) => Err(self.expected_term(*span)),
            Lexeme::Open(span) => self.group(*span),
            Lexeme::Word(word) if word.is_keyword("or") || word.is_keyword("and") => {
                Err(self.expected_term(word.span))
            }
            Lexeme::Word(word) if word.is_keyword("not") => {
                self.next += 1;
                self.negated(word.span, 1, Self::condition)
            }
            Lexeme::Word(word) => match word.minuses() {
                0 => {
                    self.next += 1;
                    self.word(word, 0)
                }
                minuses => self.minus_word(word, minuses),
            },
        }
    }

    fn group(&mut self, open: Span) -> Result<Expr, FilterError> {
        self.next += 1;
        self.enter(open, 1)?;
        let inner = self.any_of()?;
        self.depth -= 1;
        match self.peek() {
            Some(Lexeme::Close(_)) => {
                self.next += 1;
                Ok(inner)
            }
            _ => Err(FilterError::new(open, Code::UnclosedParenthesis, &[])),
        }
    }

    fn minus_word(&mut self, word: &Word, minuses: usize) -> Result<Expr, FilterError> {
        self.next += 1;
        let only_minuses = word.letters.len() == minuses && word.span.end - word.span.start == minuses;
        if !only_minuses {
            return self.negated(word.span, minuses, |parser| parser.word(word, minuses));
        }
        // A minus belongs to what it touches: `-(…)`, but not `- word`.
        match self.peek() {
            Some(Lexeme::Open(open)) if open.start == word.span.end => {
                self.negated(word.span, minuses, |parser| parser.group(*open))
            }
            _ => Err(self.expected_term(Span::new(word.span.end, word.span.end))),
        }
    }

    fn negated(
        &mut self,
        span: Span,
        times: usize,
        inner: impl FnOnce(&mut Self) -> Result<Expr, FilterError>,
    ) -> Result<Expr, FilterError> {
        self.enter(span, times)?;
        let mut expr = inner(self)?;
        self.depth -= times;
        for _ in 0..times {
            expr = Expr::Not(Box::new(expr));
        }
        Ok(expr)
    }

    fn enter(&mut self, span: Span, levels: usize) -> Result<(), FilterError> {
        self.depth += levels;
        if self.depth > MAX_DEPTH {
            return Err(FilterError::new(span, Code::TooDeep, &[("max", &MAX_DEPTH.to_string())]));
        }
        Ok(())
    }

    fn expected_term(&self, span: Span) -> FilterError {
        let after = self.next.checked_sub(1).and_then(|index| self.lexemes.get(index));
        let after = after.map_or("", |lexeme| &self.text[lexeme.span().start..lexeme.span().end]);
        FilterError::new(span, Code::ExpectedTerm, &[("after", after)])
    }

    /// A word behind its minuses: a comparison or a part of the name.
    fn word(&self, word: &Word, from: usize) -> Result<Expr, FilterError> {
        if let Some(quote) = word.unclosed {
            return Err(FilterError::new(Span::new(quote, word.span.end), Code::UnclosedQuote, &[]));
        }
        let start = word.span.start + from;
        let term = match word.split(from) {
            Some(split) => self.comparison(word, from, split)?,
            None => {
                let patterns = patterns(&Field::Name, "~", word, from, start)?;
                Term { field: Field::Name, test: Test::Contains(patterns) }
            }
        };
        Ok(Expr::Term(term))
    }

    fn comparison(&self, word: &Word, from: usize, split: Split) -> Result<Term, FilterError> {
        let symbol = &self.text[split.span.start..split.span.end];
        let place = Span::new(word.span.start + from, split.span.start);
        let field = self.field(word, from, split, place, symbol)?;
        let list = || word.elements(split.after, split.span.end).into_iter();
        let value = |(first, last, span): (usize, usize, Span)| {
            value(&field, &word.text(first, last), span).map_err(|error| self.doubled_operator(error, split))
        };
        let test = match split.operator {
            Operator::Equal => Test::OneOf(list().map(value).collect::<Result<_, _>>()?),
            Operator::NotEqual => Test::NoneOf(list().map(value).collect::<Result<_, _>>()?),
            Operator::Contains if field.kind() == FieldKind::Age => {
                let args = [("field", field.base()), ("operator", symbol)];
                return Err(FilterError::new(split.span, Code::BadOperator, &args));
            }
            Operator::Contains => {
                Test::Contains(patterns(&field, symbol, word, split.after, split.span.end)?)
            }
            Operator::Above => compare(Comparison::Above, &field, word, split)?,
            Operator::AtLeast => compare(Comparison::AtLeast, &field, word, split)?,
            Operator::Below => compare(Comparison::Below, &field, word, split)?,
            Operator::AtMost => compare(Comparison::AtMost, &field, word, split)?,
        };
        Ok(Term { field, test })
    }

    /// `players:>5` is what other languages have; ours says `players>5`.
    fn doubled_operator(&self, error: FilterError, split: Split) -> FilterError {
        let value = &self.text[error.span.start..error.span.end];
        let is_value =
            matches!(error.code, Code::BadNumber | Code::BadAge) && error.span.start == split.span.end;
        if !is_value || !value.starts_with(['>', '<']) {
            return error;
        }
        let suggestion = Some(value.to_owned());
        FilterError { span: Span::new(split.span.start, error.span.end), ..error }.suggest(suggestion)
    }

    fn field(
        &self,
        word: &Word,
        from: usize,
        split: Split,
        place: Span,
        symbol: &str,
    ) -> Result<Field, FilterError> {
        let typed = word.text(from, split.letter);
        if typed.is_empty() {
            return Err(FilterError::new(split.span, Code::MissingField, &[("operator", symbol)]));
        }
        Field::read(&typed).map_err(|problem| match problem {
            FieldProblem::NeedsKey => {
                FilterError::new(place, Code::NeedsKey, &[("field", typed.trim_end_matches('.'))])
            }
            FieldProblem::TakesNoKey { plain } => {
                FilterError::new(place, Code::TakesNoKey, &[("field", plain)]).suggest(Some(plain.to_owned()))
            }
            FieldProblem::Unknown { suggestion } => match typed.strip_suffix('!').and_then(Field::named) {
                // `image!~1.12` is what other languages have; ours says `-image~1.12`.
                Some(field) => {
                    let span = Span::new(place.start, word.span.end);
                    let rest = &self.text[split.span.start..word.span.end];
                    let operator = format!("!{symbol}");
                    FilterError::new(
                        span,
                        Code::BadOperator,
                        &[("field", field.base()), ("operator", &operator)],
                    )
                    .suggest(Some(format!("-{}{rest}", super::print::field_text(&field))))
                }
                None => FilterError::new(place, Code::UnknownField, &[("field", &typed)]).suggest(suggestion),
            },
        })
    }
}

fn one_or(mut parts: Vec<Expr>, join: fn(Vec<Expr>) -> Expr) -> Expr {
    match parts.pop() {
        Some(only) if parts.is_empty() => only,
        last => {
            parts.extend(last);
            join(parts)
        }
    }
}

/// What `~` looks for: elements of a list, each cut at its unescaped stars.
fn patterns(
    field: &Field,
    symbol: &str,
    word: &Word,
    from: usize,
    start: usize,
) -> Result<Vec<Pattern>, FilterError> {
    let elements = word.elements(from, start).into_iter();
    elements
        .map(|(first, last, span)| {
            if first == last {
                return Err(missing_value(field, symbol, span));
            }
            let mut pieces = vec![String::new()];
            for letter in &word.letters[first..last] {
                match pieces.last_mut() {
                    Some(piece) if letter.c != '*' || letter.escaped => piece.push(letter.c),
                    _ => pieces.push(String::new()),
                }
            }
            Ok(Pattern { pieces })
        })
        .collect()
}

/// The value of `>` and its kin: all of the rest, commas too.
fn compare(comparison: Comparison, field: &Field, word: &Word, split: Split) -> Result<Test, FilterError> {
    let text = word.text(split.after, word.letters.len());
    let span = Span::new(split.span.end, word.span.end);
    if text.is_empty() {
        return Err(missing_value(field, comparison.symbol(), span));
    }
    let value = value(field, &text, span)?;
    let single = match value {
        Value::Number { .. } => number::parse_number(&text).is_some(),
        Value::Age { .. } => Age::parse(&text).is_some(),
        Value::Text(_) | Value::Missing => true,
    };
    if single {
        return Ok(Test::Compare(comparison, value));
    }
    let code = if field.kind() == FieldKind::Age { Code::BadAge } else { Code::BadNumber };
    Err(FilterError::new(span, code, &[("field", field.base()), ("value", &text)]))
}

fn missing_value(field: &Field, symbol: &str, span: Span) -> FilterError {
    FilterError::new(span, Code::MissingValue, &[("field", &field.full_name()), ("operator", symbol)])
}

/// Reads one value as the kind that the field has.
pub(super) fn value(field: &Field, text: &str, span: Span) -> Result<Value, FilterError> {
    let error = |code| FilterError::new(span, code, &[("field", &field.full_name()), ("value", text)]);
    match field.kind() {
        FieldKind::Text => Ok(Value::Text(text.to_owned())),
        _ if text.is_empty() => Ok(Value::Missing),
        FieldKind::Number => match number::parse_range(text) {
            Ok((from, to)) => Ok(Value::Number { from, to }),
            Err(NumberProblem::Reversed) => Err(error(Code::BadRange)),
            Err(NumberProblem::NotANumber) => Err(error(Code::BadNumber)),
        },
        FieldKind::Age => {
            let ends = match text.split_once('-') {
                Some((from, "")) => Age::parse(from).map(|from| (from, Age::OPEN)),
                Some((from, to)) => Age::parse(from).zip(Age::parse(to)),
                None => Age::parse(text).map(|age| (age, age)),
            };
            match ends {
                Some((from, to)) if to.seconds() < from.seconds() => Err(error(Code::BadRange)),
                Some((from, to)) => Ok(Value::Age { from, to }),
                None => Err(error(Code::BadAge)),
            }
        }
    }
}

#[cfg(test)]
#[path = "parse_test.rs"]
mod tests;
