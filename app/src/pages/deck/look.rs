//! Deck page, look: what a cell is painted like, from its state, opsState and category. Pure.
//!
//! Colours are named by the CSS custom property that holds them, so that themes decide them and the canvas reads
//! them once per theme. State colours a cell (or the chosen dimension does), opsState is the mark on it.

use std::collections::HashMap;
use wire::{DeckSnapshot, ServerKey, SetKey, deck::DeckSet, row::Count};

/// The custom properties that colours come from; [`Look::hue`] is an index into it.
pub const HUES: [&str; 17] = [
    "--ready",
    "--creating",
    "--updating",
    "--leaving",
    "--notready",
    "--crash",
    "--deleting",
    "--unknown",
    "--accent",
    "--hue-1",
    "--hue-2",
    "--hue-3",
    "--hue-4",
    "--hue-5",
    "--hue-6",
    "--hue-7",
    "--hue-8",
];
const READY: u8 = 0;
const LEAVING: u8 = 3;
const NOT_READY: u8 = 4;
const CRASH: u8 = 5;
const DELETING: u8 = 6;
const UNKNOWN: u8 = 7;
const ACCENT: u8 = 8;
const FIRST_FREE: u8 = 9;
const FREE: usize = 8;
/// Strength of a Ready server that nobody uses, so that the occupied ones stand out. At night it still has a
/// contrast of 3 to the ground.
const QUIET: u8 = 56;

/// What colours the cells.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub enum By {
    /// State, with Ready servers that are not Allocated at half strength.
    #[default]
    State,
    /// opsState.
    Ops,
    /// Image of the first container.
    Image,
    /// Node.
    Node,
    /// Players.
    Players,
    /// Age.
    Age,
    /// A label of the server.
    Label(String),
}

impl By {
    /// Every dimension that needs no argument.
    pub const PLAIN: [Self; 6] = [Self::State, Self::Ops, Self::Image, Self::Node, Self::Players, Self::Age];

    /// Reads the word of a URL; anything unknown is the state.
    #[must_use]
    pub fn parse(word: &str) -> Self {
        match word {
            "ops" => Self::Ops,
            "image" => Self::Image,
            "node" => Self::Node,
            "players" => Self::Players,
            "age" => Self::Age,
            other => match other.strip_prefix("label.") {
                Some(key) if !key.is_empty() => Self::Label(key.to_owned()),
                _ => Self::State,
            },
        }
    }

    /// The word in URLs and in [`wire::DeckQuery::by`]; also the field of the filter language.
    #[must_use]
    pub fn word(&self) -> String {
        match self {
            Self::State => "state".to_owned(),
            Self::Ops => "ops".to_owned(),
            Self::Image => "image".to_owned(),
            Self::Node => "node".to_owned(),
            Self::Players => "players".to_owned(),
            Self::Age => "age".to_owned(),
            Self::Label(key) => format!("label.{key}"),
        }
    }
}

/// The second channel of a cell: opsState as a shape.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Mark {
    /// `None`: nothing.
    #[default]
    None,
    /// `Allocated`: a dot.
    Dot,
    /// `Maintaining`: a wrench.
    Wrench,
    /// `WaitToBeDeleted`: an hourglass.
    Hourglass,
    /// `Kill`: a cross.
    Cross,
    /// Any other word: its first letter.
    Letter(char),
}

impl Mark {
    /// The mark of an opsState.
    #[must_use]
    pub fn of(ops: &str) -> Self {
        match ops {
            "" | "None" => Self::None,
            "Allocated" => Self::Dot,
            "Maintaining" => Self::Wrench,
            "WaitToBeDeleted" => Self::Hourglass,
            "Kill" => Self::Cross,
            other => other
                .chars()
                .next()
                .map_or(Self::None, |first| Self::Letter(first.to_uppercase().next().unwrap_or(first))),
        }
    }
}

/// A colour: the custom property, and how strong it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Tone {
    /// Index into [`HUES`].
    pub hue: u8,
    /// Opacity in percent.
    pub level: u8,
}

impl Tone {
    /// A Ready server that is not Allocated.
    pub const IDLE: Self = Self { hue: READY, level: QUIET };

    const fn full(hue: u8) -> Self {
        Self { hue, level: 100 }
    }

    /// As the value of an SVG `fill` attribute.
    #[must_use]
    pub fn fill(self) -> String {
        format!("var({})", HUES[usize::from(self.hue)])
    }

    /// As the value of an SVG `fill-opacity` attribute.
    #[must_use]
    pub fn opacity(self) -> String {
        format!("{:.2}", f64::from(self.level) / 100.0)
    }
}

/// What one cell is painted like. Two cells with equal looks have equal pixels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Look {
    /// Colour.
    pub tone: Tone,
    /// Deleting: striped whatever the colour.
    pub striped: bool,
    /// opsState.
    pub mark: Mark,
    /// In the selection.
    pub selected: bool,
}

/// The colour of a state.
#[must_use]
pub fn state_tone(state: &str) -> Tone {
    Tone::full(match state {
        "Ready" => READY,
        "Creating" => 1,
        "Updating" => 2,
        "PreUpdate" | "PreDelete" => LEAVING,
        "NotReady" => NOT_READY,
        "Crash" => CRASH,
        "Deleting" => DELETING,
        _ => UNKNOWN,
    })
}

/// The colours of a legend, one for each category.
#[must_use]
pub fn tones(by: &By, legend: &[Count]) -> Vec<Tone> {
    let known = legend.iter().filter(|count| !count.value.is_empty()).count();
    let mut free = 0;
    let mut next_free = || {
        let tone = Tone {
            hue: FIRST_FREE + (free % FREE) as u8,
            level: if (free / FREE).is_multiple_of(2) { 100 } else { 55 },
        };
        free += 1;
        tone
    };
    let mut rank = 0;
    legend
        .iter()
        .map(|count| match by {
            By::State => state_tone(&count.value),
            _ if count.value.is_empty() => Tone::full(UNKNOWN),
            By::Ops => match count.value.as_str() {
                "None" => Tone { hue: UNKNOWN, level: 60 },
                "Allocated" => Tone::full(ACCENT),
                "Maintaining" => Tone::full(NOT_READY),
                "WaitToBeDeleted" => Tone::full(LEAVING),
                "Kill" => Tone::full(CRASH),
                _ => next_free(),
            },
            By::Players | By::Age => {
                let level = if known < 2 { 100 } else { 25 + 75 * rank / (known - 1) };
                rank += 1;
                Tone { hue: ACCENT, level: level as u8 }
            }
            By::Image | By::Node | By::Label(_) => next_free(),
        })
        .collect()
}

/// The looks of all cells of one deck. `selected` are positions in ascending order.
#[must_use]
pub fn looks(by: &By, snapshot: &DeckSnapshot, set: &DeckSet, selected: &[usize]) -> Vec<Look> {
    let tones = tones(by, &snapshot.legend);
    let marks: Vec<Mark> = snapshot.ops.iter().map(|ops| Mark::of(ops)).collect();
    let ready: Vec<bool> = snapshot.states.iter().map(|state| state == "Ready").collect();
    let deleting: Vec<bool> = snapshot.states.iter().map(|state| state == "Deleting").collect();
    let quiet: Vec<bool> = snapshot.ops.iter().map(|ops| ops != "Allocated").collect();
    let mut cells: Vec<Look> = (0..set.ids.len())
        .map(|at| {
            let state = usize::from(set.state.get(at).copied().unwrap_or(u8::MAX));
            let ops = usize::from(set.ops.get(at).copied().unwrap_or(u8::MAX));
            let category = usize::from(set.category.get(at).copied().unwrap_or(u16::MAX));
            let is = |words: &[bool], index: usize| words.get(index).copied().unwrap_or(false);
            let mut tone = tones.get(category).copied().unwrap_or(Tone::full(UNKNOWN));
            if *by == By::State && is(&ready, state) && is(&quiet, ops) {
                tone.level = QUIET;
            }
            Look {
                tone,
                striped: is(&deleting, state),
                mark: marks.get(ops).copied().unwrap_or_default(),
                selected: false,
            }
        })
        .collect();
    for &at in selected {
        if let Some(look) = cells.get_mut(at) {
            look.selected = true;
        }
    }
    cells
}

/// Positions whose pixels differ. A deck whose length changed is wholly new: `None`.
#[must_use]
pub fn damage(old: &[Look], new: &[Look]) -> Option<Vec<usize>> {
    (old.len() == new.len()).then(|| {
        old.iter().zip(new).enumerate().filter(|(_, (old, new))| old != new).map(|(at, _)| at).collect()
    })
}

/// Whether a change is worth a glow: something about the server, not merely its being selected.
#[must_use]
pub fn glows(old: Look, new: Look) -> bool {
    Look { selected: false, ..old } != Look { selected: false, ..new }
}

/// Where the servers of `keys` stand: for each deck the positions in ascending order. Keys that the deck does not
/// show are left out.
pub fn positions<'a>(
    snapshot: &DeckSnapshot,
    keys: impl IntoIterator<Item = &'a ServerKey>,
) -> Vec<Vec<usize>> {
    let mut found = vec![Vec::new(); snapshot.sets.len()];
    // Only decks with free names need a look-up by name, and only when a key is not found by its id.
    type ByName<'a> = HashMap<(&'a SetKey, &'a str), (usize, usize)>;
    let mut by_name: Option<ByName> = None;
    for key in keys {
        let place = by_id(snapshot, key).or_else(|| {
            let index = by_name.get_or_insert_with(|| {
                let mut index = HashMap::new();
                for (deck, set) in snapshot.sets.iter().enumerate() {
                    for (at, name) in set.names.iter().enumerate() {
                        index.insert((&set.key, name.as_str()), (deck, at));
                    }
                }
                index
            });
            snapshot
                .sets
                .iter()
                .filter(|set| {
                    !set.names.is_empty()
                        && set.key.family == key.family
                        && set.key.namespace == key.namespace
                })
                .find_map(|set| index.get(&(&set.key, key.name.as_str())).copied())
        });
        if let Some((deck, at)) = place {
            found[deck].push(at);
        }
    }
    for deck in &mut found {
        deck.sort_unstable();
        deck.dedup();
    }
    found
}

fn by_id(snapshot: &DeckSnapshot, key: &ServerKey) -> Option<(usize, usize)> {
    let (set, id) = key.name.rsplit_once('-')?;
    let id: u32 = id.parse().ok()?;
    let wanted = SetKey::new(key.family, &key.namespace, set);
    let deck = snapshot.sets.binary_search_by(|set| set.key.cmp(&wanted)).ok()?;
    let set = &snapshot.sets[deck];
    let at = set.ids.binary_search(&id).ok()?;
    (set.server_name(at).as_deref() == Some(key.name.as_str())).then_some((deck, at))
}

/// The key of the server at a cell.
#[must_use]
pub fn key_at(snapshot: &DeckSnapshot, deck: usize, at: usize) -> Option<ServerKey> {
    let set = snapshot.sets.get(deck)?;
    Some(ServerKey::new(set.key.family, &set.key.namespace, set.server_name(at)?))
}

/// What the tooltip and the live region say about a cell: name, namespace, state, opsState, category.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Told {
    /// Its key.
    pub key: ServerKey,
    /// State; empty when unknown.
    pub state: String,
    /// opsState.
    pub ops: String,
    /// Value of the dimension that colours the deck.
    pub category: String,
}

/// Describes a cell.
#[must_use]
pub fn tell(snapshot: &DeckSnapshot, deck: usize, at: usize) -> Option<Told> {
    let key = key_at(snapshot, deck, at)?;
    let set = &snapshot.sets[deck];
    let word = |words: &[String], index: Option<&u8>| {
        index.and_then(|index| words.get(usize::from(*index))).cloned().unwrap_or_default()
    };
    Some(Told {
        key,
        state: word(&snapshot.states, set.state.get(at)),
        ops: word(&snapshot.ops, set.ops.get(at)),
        category: set
            .category
            .get(at)
            .and_then(|index| snapshot.legend.get(usize::from(*index)))
            .map(|count| count.value.clone())
            .unwrap_or_default(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use wire::Family;

    fn count(value: &str) -> Count {
        Count { value: value.to_owned(), count: 1 }
    }

    fn deck(name: &str, ids: &[u32], names: &[&str]) -> DeckSet {
        DeckSet {
            key: SetKey::new(Family::Kruise, "prod", name),
            ids: ids.to_vec(),
            names: names.iter().map(|name| (*name).to_owned()).collect(),
            state: vec![0; ids.len()],
            ops: vec![0; ids.len()],
            category: vec![0; ids.len()],
            wanted: None,
            ready: 0,
        }
    }

    fn snapshot() -> DeckSnapshot {
        DeckSnapshot {
            states: vec!["Ready".to_owned(), "Deleting".to_owned(), "Crash".to_owned()],
            ops: vec!["None".to_owned(), "Allocated".to_owned(), "warmup".to_owned()],
            legend: vec![count("Ready"), count("Deleting"), count("Crash")],
            sets: vec![deck("", &[0, 1], &["alone", "other-7"]), deck("eu", &[0, 2, 5], &[])],
            ..DeckSnapshot::default()
        }
    }

    #[test]
    fn dimensions_survive_the_url() {
        for by in By::PLAIN.into_iter().chain([By::Label("zone".to_owned())]) {
            assert_eq!(By::parse(&by.word()), by);
        }
        for word in ["", "nonsense", "label."] {
            assert_eq!(By::parse(word), By::State);
        }
    }

    #[test]
    fn an_idle_ready_server_is_quieter_than_a_used_one() {
        let mut snapshot = snapshot();
        snapshot.sets[1].ops[1] = 1;
        let cells = looks(&By::State, &snapshot, &snapshot.sets[1], &[]);
        assert_eq!(cells[0].tone, Tone { hue: READY, level: QUIET });
        assert_eq!(cells[1].tone, Tone::full(READY));
        assert_eq!((cells[0].mark, cells[1].mark), (Mark::None, Mark::Dot));
    }

    #[test]
    fn deleting_is_striped_whatever_colours_the_deck() {
        let mut snapshot = snapshot();
        snapshot.sets[1].state[2] = 1;
        for by in [By::State, By::Node] {
            let cells = looks(&by, &snapshot, &snapshot.sets[1], &[]);
            assert_eq!(cells.iter().map(|cell| cell.striped).collect::<Vec<_>>(), [false, false, true]);
        }
    }

    #[test]
    fn words_out_of_range_are_unknown_and_not_a_panic() {
        let mut snapshot = snapshot();
        snapshot.sets[1].state = vec![9];
        snapshot.sets[1].ops = vec![9; 2];
        snapshot.sets[1].category = Vec::new();
        let cells = looks(&By::State, &snapshot, &snapshot.sets[1], &[77]);
        assert!(cells.iter().all(|cell| cell.tone == Tone::full(UNKNOWN) && !cell.selected));
        assert_eq!(tell(&snapshot, 1, 2).unwrap().state, "");
        assert_eq!(tell(&snapshot, 7, 0), None);
    }

    #[test]
    fn every_ops_state_has_its_own_mark() {
        let marks = ["None", "Allocated", "Maintaining", "WaitToBeDeleted", "Kill", "warmup"].map(Mark::of);
        for (at, mark) in marks.iter().enumerate() {
            assert!(!marks[..at].contains(mark), "{mark:?}");
        }
        assert_eq!(Mark::of("warmup"), Mark::Letter('W'));
    }

    #[test]
    fn categories_keep_apart_and_an_ordered_dimension_gets_stronger() {
        let nodes: Vec<Count> = (0..16).map(|at| count(&format!("node-{at}"))).collect();
        let colours = tones(&By::Node, &nodes);
        for (at, tone) in colours.iter().enumerate() {
            assert!(!colours[..at].contains(tone));
        }
        let players = tones(&By::Players, &[count(""), count("0"), count("1-9"), count("10-")]);
        assert_eq!(players[0], Tone::full(UNKNOWN));
        assert_eq!(players[1..].iter().map(|tone| tone.level).collect::<Vec<_>>(), [25, 62, 100]);
        let ops = tones(&By::Ops, &[count("None"), count("Allocated"), count("warmup"), count("drain")]);
        assert_ne!(ops[2], ops[3]);
    }

    #[test]
    fn damage_names_exactly_the_cells_that_differ() {
        let snapshot = snapshot();
        let old = looks(&By::State, &snapshot, &snapshot.sets[1], &[]);
        assert_eq!(damage(&old, &old), Some(Vec::new()));
        let new = looks(&By::State, &snapshot, &snapshot.sets[1], &[1]);
        assert_eq!(damage(&old, &new), Some(vec![1]));
        assert!(!glows(old[1], new[1]), "being selected is not news");
        assert_eq!(damage(&old, &new[..2]), None);
    }

    #[test]
    fn selected_keys_are_found_by_id_and_by_name() {
        let snapshot = snapshot();
        let keys: Vec<ServerKey> =
            ["kruise/prod/eu-5", "kruise/prod/eu-0", "kruise/prod/eu-05", "kruise/prod/eu-1"]
                .iter()
                .chain(&["kruise/prod/other-7", "kruise/test/eu-2", "kruise/prod/alone"])
                .map(|key| key.parse().unwrap())
                .collect();
        assert_eq!(positions(&snapshot, &keys), vec![vec![0, 1], vec![0, 2]]);
        assert_eq!(key_at(&snapshot, 0, 1), Some(keys[4].clone()));
    }
}
