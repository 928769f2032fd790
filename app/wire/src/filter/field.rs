//! The fields of the filter language: names, kinds of value, and the nearest name for a mistyped one.

use std::borrow::Cow;
use std::fmt;

/// A field of a row.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Field {
    /// `name`: of the game server.
    Name,
    /// `ns`: its namespace.
    Namespace,
    /// `set`: the name of its set, empty without one.
    Set,
    /// `id`: its ordinal in the set.
    Id,
    /// `family`: kruise, minato or agones.
    Family,
    /// `state`
    State,
    /// `ops`: opsState.
    Ops,
    /// `image`: of any container.
    Image,
    /// `container`: the name of any container.
    Container,
    /// `node`
    Node,
    /// `players`
    Players,
    /// `restarts`: of all its containers.
    Restarts,
    /// `age`: since it was created.
    Age,
    /// `rev`: the revision it runs.
    Revision,
    /// `dp`: deletionPriority.
    DeletionPriority,
    /// `up`: updatePriority.
    UpdatePriority,
    /// `network`: type, current state, `Disabled`.
    Network,
    /// `ip`: any of its addresses.
    Ip,
    /// `label.K`
    Label(String),
    /// `ann.K`
    Annotation(String),
    /// `sq.NAME`: status or result of a service quality.
    Quality(String),
    /// `cond.TYPE`: status or reason of a condition.
    Condition(String),
}

/// What kind of value a field has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FieldKind {
    /// One or several texts.
    Text,
    /// A whole number, perhaps unknown.
    Number,
    /// Seconds since creation, perhaps unknown.
    Age,
}

/// The fields that take a key after a dot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum KeyedField {
    /// `label.`
    Label,
    /// `ann.`
    Annotation,
    /// `sq.`
    Quality,
    /// `cond.`
    Condition,
}

impl KeyedField {
    /// All of them, in the order in which completion offers them.
    pub const ALL: [Self; 4] = [Self::Label, Self::Annotation, Self::Quality, Self::Condition];

    /// The name before the dot.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Label => "label",
            Self::Annotation => "ann",
            Self::Quality => "sq",
            Self::Condition => "cond",
        }
    }

    /// The field with this key.
    #[must_use]
    pub fn with_key(self, key: &str) -> Field {
        let key = key.to_owned();
        match self {
            Self::Label => Field::Label(key),
            Self::Annotation => Field::Annotation(key),
            Self::Quality => Field::Quality(key),
            Self::Condition => Field::Condition(key),
        }
    }

    fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|field| field.name().eq_ignore_ascii_case(name))
    }
}

/// Why a text is no field; the parser adds the place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum FieldProblem {
    Unknown { suggestion: Option<String> },
    NeedsKey,
    TakesNoKey { plain: &'static str },
}

/// What people from other tools type, and what we call it.
const SYNONYMS: [(&str, &str); 24] = [
    ("namespace", "ns"),
    ("opsstate", "ops"),
    ("status", "state"),
    ("phase", "state"),
    ("currentstate", "state"),
    ("gss", "set"),
    ("gameserverset", "set"),
    ("fleet", "set"),
    ("deletionpriority", "dp"),
    ("updatepriority", "up"),
    ("revision", "rev"),
    ("images", "image"),
    ("containers", "container"),
    ("nodename", "node"),
    ("host", "node"),
    ("ordinal", "id"),
    ("index", "id"),
    ("kind", "family"),
    ("address", "ip"),
    ("labels", "label"),
    ("annotation", "ann"),
    ("annotations", "ann"),
    ("quality", "sq"),
    ("condition", "cond"),
];

impl Field {
    /// The fields without a key, in the order in which completion offers them.
    pub const PLAIN: [Self; 18] = [
        Self::Name,
        Self::Namespace,
        Self::Set,
        Self::Id,
        Self::Family,
        Self::State,
        Self::Ops,
        Self::Image,
        Self::Container,
        Self::Node,
        Self::Players,
        Self::Restarts,
        Self::Age,
        Self::Revision,
        Self::DeletionPriority,
        Self::UpdatePriority,
        Self::Network,
        Self::Ip,
    ];

    /// The field of this name, such as `state` or `label.zone`. Names are read without case, keys as they are.
    #[must_use]
    pub fn named(text: &str) -> Option<Self> {
        Self::read(text).ok()
    }

    pub(super) fn read(text: &str) -> Result<Self, FieldProblem> {
        if let Some(field) = Self::PLAIN.into_iter().find(|field| field.base().eq_ignore_ascii_case(text)) {
            return Ok(field);
        }
        let (base, key) = text.split_once('.').map_or((text, None), |(base, key)| (base, Some(key)));
        if let Some(keyed) = KeyedField::named(base) {
            return match key {
                Some(key) if !key.is_empty() => Ok(keyed.with_key(key)),
                _ => Err(FieldProblem::NeedsKey),
            };
        }
        if key.is_some()
            && let Some(field) = Self::PLAIN.into_iter().find(|field| field.base().eq_ignore_ascii_case(base))
        {
            return Err(FieldProblem::TakesNoKey { plain: field.base() });
        }
        let suggestion = nearest(base).map(|near| match (KeyedField::named(near), key) {
            (Some(_), key) => format!("{near}.{}", key.unwrap_or("")),
            (None, _) => near.to_owned(),
        });
        Err(FieldProblem::Unknown { suggestion })
    }

    /// What kind of value it has.
    #[must_use]
    pub const fn kind(&self) -> FieldKind {
        match self {
            Self::Id | Self::Players | Self::Restarts | Self::DeletionPriority | Self::UpdatePriority => {
                FieldKind::Number
            }
            Self::Age => FieldKind::Age,
            _ => FieldKind::Text,
        }
    }

    /// The name without a key: `label` of `label.zone`.
    #[must_use]
    pub const fn base(&self) -> &'static str {
        match self {
            Self::Name => "name",
            Self::Namespace => "ns",
            Self::Set => "set",
            Self::Id => "id",
            Self::Family => "family",
            Self::State => "state",
            Self::Ops => "ops",
            Self::Image => "image",
            Self::Container => "container",
            Self::Node => "node",
            Self::Players => "players",
            Self::Restarts => "restarts",
            Self::Age => "age",
            Self::Revision => "rev",
            Self::DeletionPriority => "dp",
            Self::UpdatePriority => "up",
            Self::Network => "network",
            Self::Ip => "ip",
            Self::Label(_) => "label",
            Self::Annotation(_) => "ann",
            Self::Quality(_) => "sq",
            Self::Condition(_) => "cond",
        }
    }

    /// The key of `label.K` and its kin.
    #[must_use]
    pub fn key(&self) -> Option<&str> {
        match self {
            Self::Label(key) | Self::Annotation(key) | Self::Quality(key) | Self::Condition(key) => Some(key),
            _ => None,
        }
    }

    /// The whole name, such as `label.zone`, without quotes: what [`Field::named`] reads.
    #[must_use]
    pub fn full_name(&self) -> Cow<'static, str> {
        match self.key() {
            Some(key) => Cow::Owned(format!("{}.{key}", self.base())),
            None => Cow::Borrowed(self.base()),
        }
    }
}

impl fmt::Display for Field {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.full_name())
    }
}

/// The known name that is nearest to a mistyped one, if one is near enough to be meant.
fn nearest(typed: &str) -> Option<&'static str> {
    let typed = typed.to_ascii_lowercase();
    if let Some((_, name)) = SYNONYMS.iter().find(|(word, _)| *word == typed) {
        return Some(name);
    }
    let names =
        Field::PLAIN.into_iter().map(|field| field.base()).chain(KeyedField::ALL.map(KeyedField::name));
    let words = names.map(|name| (name, name)).chain(SYNONYMS);
    let (distance, name) =
        words.map(|(word, name)| (distance(&typed, word), name)).min_by_key(|(distance, _)| *distance)?;
    // Two mistakes in a short word make another word.
    let bearable = if typed.chars().count() <= 4 { 1 } else { 2 };
    (distance <= bearable).then_some(name)
}

/// How many letters must be added, left out, changed or swapped with their neighbour to get from one to the other.
fn distance(from: &str, to: &str) -> usize {
    let from: Vec<char> = from.chars().collect();
    let to: Vec<char> = to.chars().collect();
    let width = to.len() + 1;
    let mut cost = vec![0; (from.len() + 1) * width];
    for i in 0..=from.len() {
        for j in 0..=to.len() {
            cost[i * width + j] = if i == 0 || j == 0 {
                i + j
            } else {
                let change = usize::from(from[i - 1] != to[j - 1]);
                let mut best = (cost[(i - 1) * width + j] + 1)
                    .min(cost[i * width + j - 1] + 1)
                    .min(cost[(i - 1) * width + j - 1] + change);
                if i > 1 && j > 1 && from[i - 1] == to[j - 2] && from[i - 2] == to[j - 1] {
                    best = best.min(cost[(i - 2) * width + j - 2] + 1);
                }
                best
            };
        }
    }
    cost[from.len() * width + to.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_field_is_found_by_its_own_name() {
        let keyed = KeyedField::ALL.iter().map(|field| field.with_key("app.kubernetes.io/Name"));
        for field in Field::PLAIN.into_iter().chain(keyed) {
            assert_eq!(Field::named(&field.full_name()), Some(field.clone()));
            assert_eq!(Field::named(&field.base().to_uppercase()).is_some(), field.key().is_none());
        }
        assert_eq!(Field::named("LABEL.Zone"), Some(Field::Label("Zone".to_owned())), "keys keep their case");
    }

    #[test]
    fn the_nearest_name_is_offered() {
        for (typed, wanted) in [
            ("stat", Some("state")),
            ("sate", Some("state")),
            ("staet", Some("state")),
            ("opsState", Some("ops")),
            ("namespace", Some("ns")),
            ("imag", Some("image")),
            ("player", Some("players")),
            ("restrats", Some("restarts")),
            ("labels.zone", Some("label.zone")),
            ("lable.zone", Some("label.zone")),
            ("annotations.a/b", Some("ann.a/b")),
            ("conditions.Ready", Some("cond.Ready")),
            ("gameserversets", Some("set")),
            ("nonsense", None),
            ("x", None),
            ("", None),
        ] {
            let found = match Field::read(typed) {
                Err(FieldProblem::Unknown { suggestion }) => suggestion,
                other => panic!("{typed}: {other:?}"),
            };
            assert_eq!(found.as_deref(), wanted, "{typed}");
        }
    }

    #[test]
    fn keys_belong_to_some_fields_only() {
        assert_eq!(Field::read("label"), Err(FieldProblem::NeedsKey));
        assert_eq!(Field::read("label."), Err(FieldProblem::NeedsKey));
        assert_eq!(Field::read("state.x"), Err(FieldProblem::TakesNoKey { plain: "state" }));
    }

    #[test]
    fn distance_counts_a_swap_as_one_mistake() {
        assert_eq!(distance("", "abc"), 3);
        assert_eq!(distance("abc", "abc"), 0);
        assert_eq!(distance("acb", "abc"), 1);
        assert_eq!(distance("ab", "axb"), 1);
    }
}
