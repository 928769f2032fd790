//! Tables: what is understood, and what every mistake says and where.

use super::*;

fn term(text: &str) -> Term {
    match parse(text).map(|filter| filter.expr) {
        Ok(Some(Expr::Term(term))) => term,
        other => panic!("{text}: {other:?}"),
    }
}

fn text(value: &str) -> Value {
    Value::Text(value.to_owned())
}

#[test]
fn terms() {
    let number = |from, to| Value::Number { from, to };
    let age = |text: &str| Age::parse(text).unwrap();
    let pattern =
        |pieces: &[&str]| Pattern { pieces: pieces.iter().map(|piece| (*piece).to_owned()).collect() };
    for (typed, field, test) in [
        ("state:Ready", Field::State, Test::OneOf(vec![text("Ready")])),
        ("STATE=Ready,Crash", Field::State, Test::OneOf(vec![text("Ready"), text("Crash")])),
        ("ops!=Allocated", Field::Ops, Test::NoneOf(vec![text("Allocated")])),
        ("image:reg:5000/game:1.12", Field::Image, Test::OneOf(vec![text("reg:5000/game:1.12")])),
        ("image~1.12", Field::Image, Test::Contains(vec![pattern(&["1.12"])])),
        ("image~*:1.*,x", Field::Image, Test::Contains(vec![pattern(&["", ":1.", ""]), pattern(&["x"])])),
        (r#"ann.a~"1\*2"*"#, Field::Annotation("a".to_owned()), Test::Contains(vec![pattern(&["1*2", ""])])),
        ("id:0-499", Field::Id, Test::OneOf(vec![number(0, 499)])),
        ("dp:-10--1,5", Field::DeletionPriority, Test::OneOf(vec![number(-10, -1), number(5, 5)])),
        ("up>=-3", Field::UpdatePriority, Test::Compare(Comparison::AtLeast, number(-3, -3))),
        ("players>0", Field::Players, Test::Compare(Comparison::Above, number(0, 0))),
        ("players:", Field::Players, Test::OneOf(vec![Value::Missing])),
        ("node:", Field::Node, Test::OneOf(vec![text("")])),
        ("node:,n1", Field::Node, Test::OneOf(vec![text(""), text("n1")])),
        ("label.zone:8001", Field::Label("zone".to_owned()), Test::OneOf(vec![text("8001")])),
        (
            "label.app.kubernetes.io/Name:x",
            Field::Label("app.kubernetes.io/Name".to_owned()),
            Test::OneOf(vec![text("x")]),
        ),
        (r#"sq."my q":True"#, Field::Quality("my q".to_owned()), Test::OneOf(vec![text("True")])),
        ("cond.PodNormal!=True", Field::Condition("PodNormal".to_owned()), Test::NoneOf(vec![text("True")])),
        (
            r#"ann.note:"a b, (c)",d"#,
            Field::Annotation("note".to_owned()),
            Test::OneOf(vec![text("a b, (c)"), text("d")]),
        ),
        (
            "age>2h",
            Field::Age,
            Test::Compare(Comparison::Above, Value::Age { from: age("2h"), to: age("2h") }),
        ),
        ("age:30m-2h", Field::Age, Test::OneOf(vec![Value::Age { from: age("30m"), to: age("2h") }])),
        ("label.x<=a,b", Field::Label("x".to_owned()), Test::Compare(Comparison::AtMost, text("a,b"))),
        ("lobby", Field::Name, Test::Contains(vec![pattern(&["lobby"])])),
        ("lob*-1", Field::Name, Test::Contains(vec![pattern(&["lob", "-1"])])),
        (r#""or""#, Field::Name, Test::Contains(vec![pattern(&["or"])])),
        (r#""state:x""#, Field::Name, Test::Contains(vec![pattern(&["state:x"])])),
        (r#""-x""#, Field::Name, Test::Contains(vec![pattern(&["-x"])])),
        ("a!b", Field::Name, Test::Contains(vec![pattern(&["a!b"])])),
    ] {
        assert_eq!(term(typed), Term { field, test }, "{typed}");
    }
}

#[test]
fn and_binds_before_or_and_minus_before_both() {
    for (typed, canonical) in [
        ("", ""),
        ("  \t ", ""),
        ("a b", "a b"),
        ("a and b AND c", "a b c"),
        ("a b or c d", "a b or c d"),
        ("a (b or c) d", "a (b or c) d"),
        ("(a b) or (c)", "a b or c"),
        ("((a)) (b c)", "a b c"),
        ("a or (b or c)", "a or b or c"),
        ("not a b", "-a b"),
        ("not (a b)", "-(a b)"),
        ("-(a or b)c", "-(a or b) c"),
        ("--a", "--a"),
        ("not not -a", "---a"),
        ("NOT a OR NOT b", "-a or -b"),
        ("-state:Ready", "-state:Ready"),
        ("-\"or\"", "-\"or\""),
    ] {
        assert_eq!(parse(typed).map(|filter| filter.to_string()).as_deref(), Ok(canonical), "{typed}");
    }
}

#[test]
fn every_mistake_has_a_place_and_a_code() {
    let long = "x".repeat(MAX_LENGTH + 1);
    let deep = "(".repeat(MAX_DEPTH + 1);
    let nots = "not ".repeat(MAX_DEPTH + 1);
    let minuses = format!("{}x", "-".repeat(MAX_DEPTH + 1));
    for (typed, code, start, end, suggestion) in [
        (long.as_str(), Code::TooLong, MAX_LENGTH, MAX_LENGTH + 1, None),
        (&deep, Code::TooDeep, MAX_DEPTH, MAX_DEPTH + 1, None),
        (&nots, Code::TooDeep, MAX_DEPTH * 4, MAX_DEPTH * 4 + 3, None),
        (&minuses, Code::TooDeep, 0, minuses.len(), None),
        (r#"a set:"b c"#, Code::UnclosedQuote, 6, 10, None),
        (r#"a "b"#, Code::UnclosedQuote, 2, 4, None),
        ("a (b", Code::UnclosedParenthesis, 2, 3, None),
        ("a) b", Code::UnexpectedParenthesis, 1, 2, None),
        (")", Code::UnexpectedParenthesis, 0, 1, None),
        ("()", Code::ExpectedTerm, 1, 2, None),
        ("or a", Code::ExpectedTerm, 0, 2, None),
        ("a or", Code::ExpectedTerm, 4, 4, None),
        ("a or or b", Code::ExpectedTerm, 5, 7, None),
        ("a and", Code::ExpectedTerm, 5, 5, None),
        ("a not", Code::ExpectedTerm, 5, 5, None),
        ("(not) a", Code::ExpectedTerm, 4, 5, None),
        ("a - b", Code::ExpectedTerm, 3, 3, None),
        ("- (a)", Code::ExpectedTerm, 1, 1, None),
        (":x", Code::MissingField, 0, 1, None),
        ("-!=x", Code::MissingField, 1, 3, None),
        ("a stat:Ready", Code::UnknownField, 2, 6, Some("state")),
        ("-stat:Ready", Code::UnknownField, 1, 5, Some("state")),
        ("opsState:Kill", Code::UnknownField, 0, 8, Some("ops")),
        ("labels.zone:1", Code::UnknownField, 0, 11, Some("label.zone")),
        ("https://x", Code::UnknownField, 0, 5, None),
        ("label:zone", Code::NeedsKey, 0, 5, None),
        ("cond.:True", Code::NeedsKey, 0, 5, None),
        ("state.x:y", Code::TakesNoKey, 0, 7, Some("state")),
        ("image~", Code::MissingValue, 6, 6, None),
        ("image~a,", Code::MissingValue, 8, 8, None),
        ("players>", Code::MissingValue, 8, 8, None),
        (r#""""#, Code::MissingValue, 0, 2, None),
        ("id:x", Code::BadNumber, 3, 4, None),
        ("id:1,x", Code::BadNumber, 5, 6, None),
        ("id>1-2", Code::BadNumber, 3, 6, None),
        ("players:>5", Code::BadNumber, 7, 10, Some(">5")),
        ("age:<2h", Code::BadAge, 3, 7, Some("<2h")),
        ("age:5", Code::BadAge, 4, 5, None),
        ("age>1h-2h", Code::BadAge, 4, 9, None),
        ("id:9-3", Code::BadRange, 3, 6, None),
        ("age:2h-30m", Code::BadRange, 4, 10, None),
        ("age~2", Code::BadOperator, 3, 4, None),
        ("image!~1.12", Code::BadOperator, 0, 11, Some("-image~1.12")),
    ] {
        let error = parse(typed).expect_err(typed);
        let found = (error.code, error.span.start, error.span.end, error.suggestion.as_deref());
        assert_eq!(found, (code, start, end, suggestion), "{typed}: {error}");
        assert!(!error.message.is_empty());
    }
}

#[test]
fn a_suggestion_put_in_its_place_is_understood() {
    for typed in [
        "a stat:Ready",
        "labels.zone:1",
        "state.x:y",
        "players:>5",
        "age:<2h",
        "image!~1.12",
        "x opsstate!=a",
    ] {
        let error = parse(typed).expect_err(typed);
        let suggestion = error.suggestion.expect(typed);
        let better = format!("{}{suggestion}{}", &typed[..error.span.start], &typed[error.span.end..]);
        assert!(parse(&better).is_ok(), "{typed} → {better}");
    }
}

#[test]
fn the_longest_and_the_deepest_are_understood() {
    assert!(parse(&"x".repeat(MAX_LENGTH)).is_ok());
    assert!(parse(&format!("{}x{}", "(".repeat(MAX_DEPTH), ")".repeat(MAX_DEPTH))).is_ok());
    // Depth is what nests, not what follows one another.
    assert!(parse(&"(-a) ".repeat(MAX_DEPTH * 4)).is_ok());
}
