//! Properties: parsing never panics, printing comes back, evaluation equals a naive model.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;

/// A row as the model sees it: texts by field name, numbers by field name.
#[derive(Clone, Debug, Default)]
pub(super) struct Row {
    pub(super) texts: BTreeMap<&'static str, Vec<String>>,
    pub(super) numbers: BTreeMap<&'static str, i64>,
}

impl Row {
    fn one(&self, field: &str) -> &str {
        self.texts.get(field).and_then(|values| values.first()).map_or("", String::as_str)
    }

    fn all(&self, field: &str, visit: &mut dyn FnMut(&str)) {
        for value in self.texts.get(field).into_iter().flatten() {
            visit(value);
        }
    }
}

impl Fields for Row {
    fn name(&self) -> &str {
        self.one("name")
    }
    fn namespace(&self) -> &str {
        self.one("ns")
    }
    fn set(&self) -> &str {
        self.one("set")
    }
    fn family(&self) -> &str {
        self.one("family")
    }
    fn id(&self) -> Option<i64> {
        self.numbers.get("id").copied()
    }
    fn state(&self) -> &str {
        self.one("state")
    }
    fn ops(&self) -> &str {
        self.one("ops")
    }
    fn images(&self, visit: &mut dyn FnMut(&str)) {
        self.all("image", visit);
    }
    fn containers(&self, visit: &mut dyn FnMut(&str)) {
        self.all("container", visit);
    }
    fn node(&self) -> &str {
        self.one("node")
    }
    fn players(&self) -> Option<i64> {
        self.numbers.get("players").copied()
    }
    fn restarts(&self) -> Option<i64> {
        self.numbers.get("restarts").copied()
    }
    fn age_seconds(&self) -> Option<u64> {
        self.numbers.get("age").map(|age| age.unsigned_abs())
    }
    fn revision(&self) -> &str {
        self.one("rev")
    }
    fn deletion_priority(&self) -> Option<i64> {
        self.numbers.get("dp").copied()
    }
    fn update_priority(&self) -> Option<i64> {
        self.numbers.get("up").copied()
    }
    fn network(&self, visit: &mut dyn FnMut(&str)) {
        self.all("network", visit);
    }
    fn ips(&self, visit: &mut dyn FnMut(&str)) {
        self.all("ip", visit);
    }
    fn label(&self, key: &str) -> Option<&str> {
        (key == "zone").then(|| self.texts.get("label.zone").map(|values| values[0].as_str())).flatten()
    }
    fn annotation(&self, key: &str) -> Option<&str> {
        (key == "note").then(|| self.texts.get("ann.note").map(|values| values[0].as_str())).flatten()
    }
    fn quality(&self, name: &str, visit: &mut dyn FnMut(&str)) {
        if name.eq_ignore_ascii_case("room") {
            self.all("sq.room", visit);
        }
    }
    fn condition(&self, kind: &str, visit: &mut dyn FnMut(&str)) {
        if kind.eq_ignore_ascii_case("PodNormal") {
            self.all("cond.PodNormal", visit);
        }
    }
}

/// The rules of the language once more, as slowly and plainly as they can be written.
fn model(expr: &Expr, row: &Row) -> bool {
    match expr {
        Expr::And(parts) => parts.iter().filter(|part| !model(part, row)).count() == 0,
        Expr::Or(parts) => parts.iter().filter(|part| model(part, row)).count() > 0,
        Expr::Not(inner) => !model(inner, row),
        Expr::Term(term) => model_term(term, row),
    }
}

fn model_term(term: &Term, row: &Row) -> bool {
    let name = term.field.full_name().into_owned();
    if term.field.kind() != FieldKind::Text {
        let actual = row.numbers.get(name.as_str()).copied();
        let equal = |value: &Value| match (value, actual) {
            (Value::Missing, actual) => actual.is_none(),
            (Value::Number { from, to }, Some(actual)) => *from <= actual && actual <= *to,
            (Value::Age { from, to }, Some(actual)) => {
                from.seconds() as i64 <= actual && actual < to.end_seconds() as i64
            }
            _ => false,
        };
        return match (&term.test, actual) {
            (Test::OneOf(values), _) => values.iter().any(equal),
            (Test::NoneOf(values), _) => !values.iter().any(equal),
            (Test::Contains(patterns), actual) => {
                let actual = actual.map_or(String::new(), |actual| actual.to_string());
                patterns.iter().any(|pattern| pattern.matches(&actual))
            }
            (Test::Compare(..), None) => false,
            (Test::Compare(comparison, Value::Number { from, .. }), Some(actual)) => {
                comparison.holds(actual.cmp(from))
            }
            (Test::Compare(comparison, Value::Age { from, .. }), Some(actual)) => {
                comparison.holds(actual.cmp(&(from.seconds() as i64)))
            }
            (Test::Compare(..), Some(_)) => false,
        };
    }
    let mut actual = row.texts.get(name.as_str()).cloned().unwrap_or_default();
    if actual.is_empty() {
        actual.push(String::new());
    }
    // What a path such as prod/minecraft is compared with.
    let as_path = |wanted: &str| -> Vec<String> {
        let slashes = wanted.matches('/').count();
        if slashes == 0 || !["name", "set"].contains(&name.as_str()) {
            return actual.clone();
        }
        if actual[0].is_empty() {
            return Vec::new();
        }
        let tail = format!("{}/{}", row.one("ns"), actual[0]);
        vec![if slashes == 1 { tail } else { format!("{}/{tail}", row.one("family")) }]
    };
    let equal = |value: &Value| {
        let Value::Text(wanted) = value else { return false };
        as_path(wanted).iter().any(|actual| actual.to_lowercase() == wanted.to_lowercase())
    };
    // The empty value is only missing when nothing is there at all.
    let equal = |value: &Value| {
        let empty = *value == Value::Text(String::new());
        if empty { actual.iter().all(String::is_empty) } else { equal(value) }
    };
    match &term.test {
        Test::OneOf(values) => values.iter().any(equal),
        Test::NoneOf(values) => !values.iter().any(equal),
        Test::Contains(patterns) => patterns
            .iter()
            .any(|pattern| as_path(&pattern.pieces.concat()).iter().any(|actual| pattern.matches(actual))),
        Test::Compare(comparison, Value::Text(wanted)) => {
            as_path(wanted).iter().any(|actual| match wanted.parse::<i64>() {
                Ok(wanted) => actual.parse::<i64>().is_ok_and(|actual| comparison.holds(actual.cmp(&wanted))),
                Err(_) => !actual.is_empty() && comparison.holds(natural_cmp(actual, wanted)),
            })
        }
        Test::Compare(..) => false,
    }
}

fn a_text() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => "[abAB]{1,2}",
        1 => "(prod|b)/[ab]{1,2}",
        1 => "kruise/prod/[ab]",
        1 => "-?[0-9]{1,2}",
        1 => r#"[a"\\ (),*:=!~<>é-]{1,4}"#,
        1 => "(or|AND|not|-a)",
    ]
}

fn a_field() -> impl Strategy<Value = Field> {
    let keyed = [
        Field::Label("zone".to_owned()),
        Field::Label("other key".to_owned()),
        Field::Annotation("note".to_owned()),
        Field::Quality("room".to_owned()),
        Field::Condition("PodNormal".to_owned()),
    ];
    prop::sample::select(Field::PLAIN.into_iter().chain(keyed).collect::<Vec<_>>())
}

fn an_age() -> impl Strategy<Value = Age> {
    ("[0-9]{1,2}", "[smhdw]").prop_map(|(count, unit)| Age::parse(&format!("{count}{unit}")).unwrap())
}

fn a_value(kind: FieldKind) -> BoxedStrategy<Value> {
    match kind {
        FieldKind::Text => prop_oneof![6 => a_text(), 1 => Just(String::new())].prop_map(Value::Text).boxed(),
        FieldKind::Number => prop_oneof![
            6 => (-9..9_i64, 0..4_i64).prop_map(|(from, more)| Value::Number { from, to: from + more }),
            1 => Just(Value::Missing),
        ]
        .boxed(),
        FieldKind::Age => prop_oneof![
            6 => (an_age(), an_age()).prop_map(|(one, other)| {
                let (from, to) = if other.seconds() < one.seconds() { (other, one) } else { (one, other) };
                Value::Age { from, to }
            }),
            1 => Just(Value::Missing),
        ]
        .boxed(),
    }
}

fn a_single(kind: FieldKind) -> BoxedStrategy<Value> {
    match kind {
        FieldKind::Text => a_text().prop_map(Value::Text).boxed(),
        FieldKind::Number => {
            (-9..9_i64).prop_map(|number| Value::Number { from: number, to: number }).boxed()
        }
        FieldKind::Age => an_age().prop_map(|age| Value::Age { from: age, to: age }).boxed(),
    }
}

fn a_pattern() -> impl Strategy<Value = Pattern> {
    let pieces = prop_oneof![
        2 => a_text().prop_map(|text| vec![text]),
        1 => prop::collection::vec(prop_oneof![a_text(), Just(String::new())], 2..4),
    ];
    pieces.prop_map(|pieces| Pattern { pieces })
}

fn a_term() -> impl Strategy<Value = Term> {
    a_field().prop_flat_map(|field| {
        let kind = field.kind();
        let comparison = prop::sample::select(vec![
            Comparison::Above,
            Comparison::AtLeast,
            Comparison::Below,
            Comparison::AtMost,
        ]);
        let test = prop_oneof![
            prop::collection::vec(a_value(kind), 1..3).prop_map(Test::OneOf),
            prop::collection::vec(a_value(kind), 1..3).prop_map(Test::NoneOf),
            prop::collection::vec(a_pattern(), 1..3).prop_map(Test::Contains),
            (comparison, a_single(kind)).prop_map(|(comparison, value)| Test::Compare(comparison, value)),
        ];
        let fits = |test: &Test| !matches!(test, Test::Contains(_));
        let test =
            test.prop_filter("an age contains nothing", move |test| kind != FieldKind::Age || fits(test));
        test.prop_map(move |test| Term { field: field.clone(), test })
    })
}

/// An expression of the shape that the parser makes: no And in an And, no Or in an Or.
fn an_expr() -> impl Strategy<Value = Expr> {
    a_term().prop_map(Expr::Term).prop_recursive(4, 16, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 2..4).prop_map(|parts| flat(parts, true)),
            prop::collection::vec(inner.clone(), 2..4).prop_map(|parts| flat(parts, false)),
            inner.prop_map(|inner| Expr::Not(Box::new(inner))),
        ]
    })
}

fn flat(parts: Vec<Expr>, and: bool) -> Expr {
    let mut all = Vec::new();
    for part in parts {
        match part {
            Expr::And(inner) if and => all.extend(inner),
            Expr::Or(inner) if !and => all.extend(inner),
            other => all.push(other),
        }
    }
    if and { Expr::And(all) } else { Expr::Or(all) }
}

fn a_row() -> impl Strategy<Value = Row> {
    let text = || prop_oneof![1 => Just(String::new()), 5 => "[abAB]{1,2}", 1 => "-?[0-9]{1,2}"];
    let singles = ["name", "ns", "set", "family", "state", "ops", "node", "rev", "label.zone", "ann.note"];
    let lists = ["image", "container", "network", "ip", "sq.room", "cond.PodNormal"];
    let numbers = ["id", "players", "restarts", "dp", "up"];
    let singles = prop::collection::vec(text(), singles.len()).prop_map(move |values| {
        singles.into_iter().zip(values.into_iter().map(|value| vec![value])).collect::<Vec<_>>()
    });
    let lists = prop::collection::vec(prop::collection::vec(text(), 0..3), lists.len())
        .prop_map(move |values| lists.into_iter().zip(values).collect::<Vec<_>>());
    let numbers = prop::collection::vec(prop::option::of(-9..9_i64), numbers.len()).prop_map(move |values| {
        numbers.into_iter().zip(values).filter_map(|(name, value)| Some((name, value?))).collect::<Vec<_>>()
    });
    let age = prop::option::of(prop_oneof![0..200_i64, 0..400_000_i64]);
    let paths = prop::option::of(Just(("kruise", "prod")));
    (singles, lists, numbers, age, paths).prop_map(|(singles, lists, numbers, age, paths)| {
        let mut row =
            Row { texts: singles.into_iter().chain(lists).collect(), numbers: numbers.into_iter().collect() };
        row.numbers.extend(age.map(|age| ("age", age)));
        if let Some((family, namespace)) = paths {
            row.texts.insert("family", vec![family.to_owned()]);
            row.texts.insert("ns", vec![namespace.to_owned()]);
        }
        row
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn parsing_never_panics(text in r#"([a-e(),:=!~<>"* \\-]|state|age|id|label\.|or |not |[0-9]|\PC){0,40}"#) {
        if let Err(error) = parse(&text) {
            prop_assert!(error.span.start <= error.span.end && error.span.end <= text.len());
            // The place can be marked in the text.
            prop_assert!(text.get(error.span.start..error.span.end).is_some(), "{:?} {:?}", text, error);
        }
    }

    #[test]
    fn completion_never_panics_and_stays_in_the_text(text in r#"([a-e(),:=!~<>" -]|state:|set:|label\.|\PC){0,12}"#, cursor in 0_usize..40) {
        let mut source = KnownValues::default();
        let known = vec![ValueCount { value: "a b".to_owned(), count: 1 }, ValueCount { value: "c".to_owned(), count: 2 }];
        source.values.insert("set".to_owned(), known.clone());
        source.keys.insert("label".to_owned(), known);
        for proposal in complete(&text, cursor, &source) {
            prop_assert!(text.get(proposal.span.start..proposal.span.end).is_some(), "{:?} {:?}", text, proposal);
        }
    }

    #[test]
    fn what_parses_prints_and_comes_back(text in r#"([a-c]{1,2}|state|image|id|age|label\.x|[0-9]|[:=!~<>,]|"[ a-c*\\\\]{0,2}"|[() -]| or | not |2h){1,14}"#) {
        if let Ok(filter) = parse(&text) {
            let printed = filter.to_string();
            prop_assert_eq!(parse(&printed), Ok(filter), "{}", printed);
        }
    }

    #[test]
    fn what_prints_parses_to_the_same(expr in an_expr()) {
        let filter = Filter { expr: Some(expr) };
        let printed = filter.to_string();
        prop_assert_eq!(parse(&printed), Ok(filter), "{}", printed);
    }

    #[test]
    fn evaluation_equals_the_model(expr in an_expr(), row in a_row()) {
        prop_assert_eq!(expr.matches(&row), model(&expr, &row), "{}", expr);
    }
}
