//! The colours of the deck's own style sheet against WCAG AA, in both themes.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod colours;

use colours::contrast;

const TOKENS: &str = include_str!("../../style/tokens.css");
const DECK: &str = include_str!("../../style/deck.css");

/// The value of a custom property in the first block that begins with `selector`.
fn value(sheet: &str, selector: &str, name: &str) -> [f64; 3] {
    let start = sheet.find(&format!("{selector} {{")).unwrap();
    let block = &sheet[start..start + sheet[start..].find('}').unwrap()];
    let hex = block
        .lines()
        .find_map(|line| line.trim().strip_prefix(name)?.strip_prefix(": #")?.strip_suffix(';'))
        .unwrap_or_else(|| panic!("{selector} has no {name}"));
    let part = |at: usize| f64::from(u8::from_str_radix(&hex[at..at + 2], 16).unwrap()) / 255.0;
    [part(0), part(2), part(4)]
}

#[test]
fn hues_are_seen_and_warnings_can_be_read() {
    for selector in [":root", "[data-theme=\"light\"]"] {
        for ground in ["--bg", "--panel"] {
            let under = value(TOKENS, selector, ground);
            for hue in 1..=8 {
                let name = format!("--hue-{hue}");
                let found = contrast(value(DECK, selector, &name), under);
                assert!(found >= 3.0, "{selector} {name} on {ground}: {found:.2}");
            }
            let found = contrast(value(DECK, selector, "--warn-text"), under);
            assert!(found >= 4.5, "{selector} --warn-text on {ground}: {found:.2}");
        }
    }
}
