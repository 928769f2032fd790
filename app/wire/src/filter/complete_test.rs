//! A table of what is offered where. `|` marks the cursor.

use super::*;

fn source() -> KnownValues {
    let counts = |values: &[(&str, u64)]| {
        values
            .iter()
            .map(|(value, count)| ValueCount { value: (*value).to_owned(), count: *count })
            .collect::<Vec<_>>()
    };
    KnownValues {
        values: [
            ("state", counts(&[("Ready", 40), ("Crash", 2), ("NotReady", 3)])),
            ("ops", counts(&[("None", 30), ("my state", 1)])),
            ("set", counts(&[("minecraft", 20), ("lobby", 20), ("arena", 5)])),
            ("label.zone", counts(&[("8001", 3), ("8002", 9)])),
            ("name", counts(&[("minecraft-1", 1)])),
        ]
        .map(|(name, values)| (name.to_owned(), values))
        .into(),
        keys: [("label".to_owned(), counts(&[("zone", 12), ("my zone", 1), ("app", 40)]))].into(),
    }
}

/// The text after taking each proposal.
fn taken(marked: &str) -> Vec<String> {
    let cursor = marked.find('|').unwrap();
    let text = marked.replacen('|', "", 1);
    let proposals = complete(&text, cursor, &source());
    proposals
        .iter()
        .map(|proposal| {
            format!("{}{}{}", &text[..proposal.span.start], proposal.insert, &text[proposal.span.end..])
        })
        .collect()
}

#[test]
fn proposals() {
    for (typed, wanted) in [
        ("st|", &["state:"][..]),
        ("-st|", &["-state:"]),
        ("a (pl|", &["a (players>"]),
        ("n|", &["name:", "ns:", "node:", "network:", "state:NotReady", "ops:None", "not"]),
        ("a o|", &["a ops:", "a or"]),
        ("-n|", &["-name:", "-ns:", "-node:", "-network:", "-state:NotReady", "-ops:None"]),
        ("la|", &["label."]),
        ("ag|", &["age>"]),
        ("st|:Ready", &["state:Ready"]),
        ("la|:Ready", &["label.:Ready"]),
        ("lab|el.zone:x", &["label.:x"]),
        ("label.z|", &["label.zone:", "label.\"my zone\":"]),
        ("label.z|:x", &["label.zone:x", "label.\"my zone\":x"]),
        ("rea|", &["state:Ready"]),
        ("mine|", &["set:minecraft", "name:minecraft-1"]),
        ("state:read|", &["state:Ready", "state:NotReady"]),
        ("state:cr|", &["state:Crash", "state:Creating"]),
        ("state!=cr|", &["state!=Crash", "state!=Creating"]),
        ("set:|", &["set:lobby", "set:minecraft", "set:arena"]),
        ("set:lobby,|", &["set:lobby,minecraft", "set:lobby,arena"]),
        ("set:|,arena", &["set:lobby,arena", "set:minecraft,arena"]),
        ("set:ar|xx,b", &["set:arena,b"]),
        ("ops:st|", &["ops:\"my state\""]),
        ("ops:\"my s|\" x", &["ops:\"my state\" x"]),
        ("ops:\"my s|", &["ops:\"my state\""]),
        ("label.zone:|", &["label.zone:8002", "label.zone:8001"]),
        ("age>|", &["age>30m", "age>2h", "age>1d", "age>1w"]),
        ("age>9|", &["age>9s", "age>9m", "age>9h", "age>9d", "age>9w"]),
        ("nonsense:|", &[]),
        ("\"st|", &[]),
        ("players>|", &[]),
    ] {
        assert_eq!(taken(typed), wanted, "{typed}");
    }
}

#[test]
fn an_empty_place_offers_every_field() {
    for text in ["|", "a |", "(|", "| a"] {
        let cursor = text.find('|').unwrap();
        let found = complete(&text.replacen('|', "", 1), cursor, &source());
        assert_eq!(found.len(), Field::PLAIN.len() + KeyedField::ALL.len(), "{text}");
        assert!(found.iter().all(|proposal| proposal.span == Span::new(cursor, cursor)));
    }
}

#[test]
fn counts_are_told_and_known_words_come_without_servers_too() {
    let found = complete("ops:", 4, &source());
    let found: Vec<(&str, Option<u64>)> =
        found.iter().map(|found| (found.label.as_str(), found.count)).collect();
    assert_eq!(
        found,
        [
            ("None", Some(30)),
            ("my state", Some(1)),
            ("Allocated", Some(0)),
            ("Maintaining", Some(0)),
            ("WaitToBeDeleted", Some(0)),
            ("Kill", Some(0)),
        ]
    );
}
