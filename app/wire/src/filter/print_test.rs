//! The canonical text, where quotes decide.

use super::super::parse;

#[test]
fn canonical_text() {
    for (typed, canonical) in [
        ("state=Ready", "state:Ready"),
        ("STATE:Ready", "state:Ready"),
        ("name~lobby", "lobby"),
        ("\"lobby\"", "lobby"),
        ("\"lob by\"", "\"lob by\""),
        ("\"OR\"", "\"OR\""),
        ("\"-1\"", "\"-1\""),
        ("\"-1\"*", "\"-1\"*"),
        ("\"a:b\"", "\"a:b\""),
        ("name~a:b", "\"a:b\""),
        ("name~a\\*b", "a\\*b"),
        ("image~\"a\\*b\"*", "image~\"a\\*b\"*"),
        ("node:\"\"", "node:"),
        ("node:,a", "node:\"\",a"),
        ("players:\"\",5-5", "players:\"\",5"),
        ("players:100-,5", "players:100-,5"),
        ("age:1w-", "age:1w-"),
        ("age:1h30m", "age:90m"),
        ("label.\"a b\":c", "label.\"a b\":c"),
        ("ann.note:\"say \\\"hi\\\"\"", "ann.note:\"say \\\"hi\\\"\""),
        ("label.x>\"a,b\"", "label.x>\"a,b\""),
    ] {
        assert_eq!(parse(typed).map(|filter| filter.to_string()).as_deref(), Ok(canonical), "{typed}");
    }
}
