//! The preview in numbers and sentences. Pure.

use super::request::Entered;
use crate::i18n::Words;
use wire::{
    Preview,
    batch::{Effect, PreviewEntry, Verdict},
};

/// A number with what it stands for.
#[derive(Debug, PartialEq, Eq)]
pub struct Tile {
    /// How many servers.
    pub count: u32,
    /// Locale key of the words.
    pub key: &'static str,
    /// Whether it is bad news when it is not 0.
    pub bad: bool,
}

fn key_of(effect: Effect) -> &'static str {
    match effect {
        Effect::LabelOnly => "batch.effect.labelOnly",
        Effect::LeavesFirst => "batch.effect.leavesFirst",
        Effect::RestartsContainer => "batch.effect.restarts",
        Effect::Removed => "batch.effect.removed",
        Effect::NextPod => "batch.effect.nextPod",
        Effect::SpecOnly => "batch.effect.specOnly",
    }
}

/// What will happen, as tiles. Restarts and refusals are always told, also when there are none: that is what people
/// look for.
pub fn tiles(preview: &Preview) -> Vec<Tile> {
    let tile = |count, key, bad| Tile { count, key, bad };
    let mut tiles: Vec<Tile> = preview
        .effects
        .iter()
        .filter(|(_, count)| *count > 0)
        .map(|(effect, count)| tile(*count, key_of(*effect), *effect == Effect::Removed))
        .collect();
    if preview.unchanged > 0 {
        tiles.push(tile(preview.unchanged, "batch.effect.unchanged", false));
    }
    if !tiles.iter().any(|tile| tile.key == "batch.effect.restarts") {
        tiles.push(tile(0, "batch.effect.restarts", false));
    }
    if preview.left_out > 0 {
        tiles.push(tile(preview.left_out, "batch.effect.leftOut", false));
    }
    tiles.push(tile(preview.refused, "batch.effect.refused", true));
    tiles
}

/// The words on the button that does it.
pub fn button(words: Words, entered: &Entered, applies: u32) -> String {
    let n = u64::from(applies);
    if applies == 0 {
        return words.t("batch.nothingToDo").to_owned();
    }
    let (ops, priority) = (entered.ops.trim(), entered.priority.trim());
    let images = entered.images.values().any(|image| !image.trim().is_empty());
    match (ops.is_empty(), priority.is_empty(), images) {
        (false, true, false) if ops == "Kill" => words.n("batch.button.kill", n),
        (false, true, false) => words.plural("batch.button.ops", n, &[("value", ops.to_owned())]),
        (true, false, false) => words.plural("batch.button.priority", n, &[("value", priority.to_owned())]),
        (true, true, true) => words.n("batch.button.image", n),
        _ => words.n("batch.button.change", n),
    }
}

/// What becomes of one server, in words: the reason when it is not touched, else what that does.
pub fn note(words: Words, entry: &PreviewEntry) -> (String, bool) {
    match &entry.verdict {
        Verdict::Apply { effect: Effect::LabelOnly } => (String::new(), false),
        Verdict::Apply { effect } => (words.t(note_key(*effect)).to_owned(), false),
        Verdict::Unchanged => (words.t("batch.note.unchanged").to_owned(), false),
        Verdict::LeftOut { reason } => {
            (words.with("batch.note.leftOut", &[("why", words.reason(reason))]), false)
        }
        Verdict::Refused { reason } => {
            (words.with("batch.note.refused", &[("why", words.reason(reason))]), true)
        }
    }
}

fn note_key(effect: Effect) -> &'static str {
    match effect {
        Effect::LabelOnly => "batch.note.labelOnly",
        Effect::LeavesFirst => "batch.note.leavesFirst",
        Effect::RestartsContainer => "batch.note.restarts",
        Effect::Removed => "batch.note.removed",
        Effect::NextPod => "batch.note.nextPod",
        Effect::SpecOnly => "batch.note.specOnly",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Lang;

    fn preview(effects: &[(Effect, u32)], unchanged: u32, left_out: u32, refused: u32) -> Preview {
        Preview {
            token: String::new(),
            total: 0,
            applies: effects.iter().map(|(_, count)| count).sum(),
            unchanged,
            left_out,
            refused,
            effects: effects.to_vec(),
            warnings: Vec::new(),
            entries: Vec::new(),
            more: 0,
            kubectl: String::new(),
        }
    }

    #[test]
    fn restarts_and_refusals_are_always_told() {
        let keys = |preview: &Preview| {
            tiles(preview).into_iter().map(|tile| (tile.key, tile.count)).collect::<Vec<_>>()
        };
        assert_eq!(
            keys(&preview(&[(Effect::LabelOnly, 31), (Effect::Removed, 0)], 0, 0, 2)),
            [("batch.effect.labelOnly", 31), ("batch.effect.restarts", 0), ("batch.effect.refused", 2)]
        );
        assert_eq!(
            keys(&preview(&[(Effect::RestartsContainer, 3)], 4, 5, 0)),
            [
                ("batch.effect.restarts", 3),
                ("batch.effect.unchanged", 4),
                ("batch.effect.leftOut", 5),
                ("batch.effect.refused", 0)
            ]
        );
    }

    #[test]
    fn the_button_says_what_and_how_many() {
        let words = Words::new(Lang::En);
        let ops = |value: &str| Entered { ops: value.to_owned(), ..Entered::default() };
        assert_eq!(button(words, &ops("Maintaining"), 38), "Set 38 servers to Maintaining");
        assert_eq!(button(words, &ops("Maintaining"), 1), "Set 1 server to Maintaining");
        assert_eq!(button(words, &ops("Kill"), 2), "Kill 2 servers");
        let both = Entered { priority: "5".to_owned(), ..ops("None") };
        assert_eq!(button(words, &both, 1200), "Change 1,200 servers");
        assert_eq!(button(words, &both, 0), "Nothing to change");
    }
}
