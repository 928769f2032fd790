//! The colours of both themes against WCAG AA: 4.5 for text, 3 for marks that carry meaning and for field borders.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod colours;

use colours::contrast;
use std::collections::HashMap;

const TOKENS: &str = include_str!("../../style/tokens.css");

/// The colours of a block that starts with `selector`.
fn colours(selector: &str) -> HashMap<&'static str, [f64; 3]> {
    let start = TOKENS.find(&format!("{selector} {{")).expect("the block is there");
    let block = &TOKENS[start..start + TOKENS[start..].find('}').expect("the block ends")];
    block
        .lines()
        .filter_map(|line| line.trim().trim_end_matches(';').split_once(": #"))
        .map(|(name, hex)| {
            let wide: String =
                if hex.len() == 3 { hex.chars().flat_map(|c| [c, c]).collect() } else { hex.to_owned() };
            let part = |at: usize| {
                f64::from(u8::from_str_radix(&wide[at..at + 2], 16).expect("a hex colour")) / 255.0
            };
            (name, [part(0), part(2), part(4)])
        })
        .collect()
}

#[test]
fn both_themes_can_be_read() {
    let text_on = ["--bg", "--panel", "--raised", "--hover"];
    let tinted = ["--accent-soft", "--warn-soft", "--bad-soft", "--good-soft", "--info-soft"];
    let marks = [
        "--ready",
        "--creating",
        "--updating",
        "--leaving",
        "--notready",
        "--crash",
        "--deleting",
        "--unknown",
    ];
    let mut wanted: Vec<(&str, &str, f64)> = Vec::new();
    for ground in text_on {
        wanted
            .extend(["--text", "--soft", "--faint", "--accent", "--bad-text"].map(|ink| (ink, ground, 4.5)));
        wanted.extend(marks.map(|mark| (mark, ground, 3.0)));
    }
    for ground in tinted {
        wanted.extend(["--text", "--soft"].map(|ink| (ink, ground, 4.5)));
    }
    wanted.push(("--accent-ink", "--accent", 4.5));
    wanted.push(("--bad-text", "--bad-soft", 4.5));
    wanted.push(("--field-line", "--bg", 3.0));
    let mut poor = Vec::new();
    for selector in [":root", "[data-theme=\"light\"]"] {
        let colours = colours(selector);
        for (ink, ground, least) in &wanted {
            let found = contrast(colours[ink], colours[ground]);
            if found < *least {
                poor.push(format!("{selector} {ink} on {ground}: {found:.2}, wanted {least}"));
            }
        }
    }
    assert!(poor.is_empty(), "{poor:#?}");
}
