//! Ids of game servers: single ids, sets of ids as ranges, and the texts that OpenKruiseGame reads and writes.
//!
//! A reserve list may hold ranges such as `"0-2000000000"`, so a set is kept as sorted ranges and never expanded.

use k8s_openapi::apimachinery::pkg::util::intstr::IntOrString;
use std::fmt;
use thiserror::Error;

/// The id of a game server within its set: what stands after the last dash of its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Ordinal(u32);

impl Ordinal {
    /// The highest id: replicas are 32-bit signed, so no set can ever reach beyond it.
    pub const MAX: Self = Self(i32::MAX as u32);

    /// An id from a number; `None` above [`Ordinal::MAX`].
    #[must_use]
    pub fn new(number: u32) -> Option<Self> {
        (number <= Self::MAX.0).then_some(Self(number))
    }

    /// The number.
    #[must_use]
    pub fn get(self) -> u32 {
        self.0
    }

    /// The id at the end of a name, `None` when what follows the last dash is not a number.
    #[must_use]
    pub fn at_end_of(name: &str) -> Option<Self> {
        let (_, digits) = name.rsplit_once('-')?;
        if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
            return None;
        }
        digits.parse().ok().and_then(Self::new)
    }

    /// The id of a member of `set`: the name is the set's, a dash, and a number without leading zeros.
    #[must_use]
    pub fn of_member(set: &str, name: &str) -> Option<Self> {
        let ordinal = Self::at_end_of(name)?;
        (ordinal.member_name(set) == name).then_some(ordinal)
    }

    /// The id that upstream reads from any name, where a text that does not parse is 0. For display only: deciding by
    /// it would take a stray pod for server 0.
    #[must_use]
    pub fn lenient(name: &str) -> Self {
        Self::at_end_of(name).unwrap_or(Self(0))
    }

    /// The name of the server, its pod and its GameServer: `<set>-<id>`.
    #[must_use]
    pub fn member_name(self, set: &str) -> String {
        format!("{set}-{}", self.0)
    }
}

impl fmt::Display for Ordinal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// What is wrong with one entry of a reserve list.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum EntryProblem {
    /// A number in quotes: the API keeps it as text, and upstream takes text for a range.
    #[error("a single id is written as a number, without quotes")]
    QuotedNumber,
    /// Not two parts around one dash.
    #[error("neither an id nor a range \"a-b\"")]
    NotARange,
    /// A part of a range is no number from 0 to [`Ordinal::MAX`].
    #[error("`{0}` is not an id from 0 to {max}", max = Ordinal::MAX)]
    NotAnId(String),
    /// The range runs backwards.
    #[error("the range starts above its end")]
    Reversed,
}

/// One entry that cannot be read, with its place in the list.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("[{index}] `{entry}`: {problem}")]
pub struct BadEntry {
    /// Place in the list, counted from 0.
    pub index: usize,
    /// The entry as it was written.
    pub entry: String,
    /// What is wrong with it.
    pub problem: EntryProblem,
}

/// A set of ids, kept as sorted, disjoint, non-adjacent inclusive ranges.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct OrdinalSet {
    ranges: Vec<(u32, u32)>,
}

impl OrdinalSet {
    /// No ids.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Whether there is no id.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.ranges.is_empty()
    }

    /// How many ids.
    #[must_use]
    pub fn len(&self) -> u64 {
        self.ranges.iter().map(|(a, b)| u64::from(b - a) + 1).sum()
    }

    /// Whether the id is in the set.
    #[must_use]
    pub fn contains(&self, ordinal: Ordinal) -> bool {
        let at = self.ranges.partition_point(|(_, last)| *last < ordinal.0);
        self.ranges.get(at).is_some_and(|(first, _)| *first <= ordinal.0)
    }

    /// The highest id.
    #[must_use]
    pub fn max(&self) -> Option<Ordinal> {
        self.ranges.last().map(|(_, last)| Ordinal(*last))
    }

    /// Adds one id.
    pub fn insert(&mut self, ordinal: Ordinal) {
        self.insert_range(ordinal, ordinal);
    }

    /// Adds `first` to `last`, both included; nothing when `first` is above `last`.
    pub fn insert_range(&mut self, first: Ordinal, last: Ordinal) {
        if first > last {
            return;
        }
        let (mut first, mut last) = (first.0, last.0);
        // Everything that touches or overlaps the new range melts into it.
        let from = self.ranges.partition_point(|(_, b)| b.saturating_add(1) < first);
        let to = self.ranges.partition_point(|(a, _)| *a <= last.saturating_add(1));
        if let Some((a, _)) = self.ranges.get(from).filter(|_| from < to) {
            first = first.min(*a);
        }
        if let Some((_, b)) = to.checked_sub(1).filter(|i| *i >= from).and_then(|i| self.ranges.get(i)) {
            last = last.max(*b);
        }
        self.ranges.splice(from..to.max(from), [(first, last)]);
    }

    /// Takes one id out.
    pub fn remove(&mut self, ordinal: Ordinal) {
        let mut single = Self::new();
        single.insert(ordinal);
        *self = self.difference(&single);
    }

    /// Ids of either set.
    #[must_use]
    pub fn union(&self, other: &Self) -> Self {
        let mut all = self.clone();
        for (a, b) in &other.ranges {
            all.insert_range(Ordinal(*a), Ordinal(*b));
        }
        all
    }

    /// Ids of this set that are not in the other.
    #[must_use]
    pub fn difference(&self, other: &Self) -> Self {
        let mut ranges = Vec::new();
        for (first, last) in &self.ranges {
            let mut from = *first;
            let mut open = true;
            let at = other.ranges.partition_point(|(_, b)| *b < *first);
            for (a, b) in other.ranges.iter().skip(at).take_while(|(a, _)| a <= last) {
                if *a > from {
                    ranges.push((from, a - 1));
                }
                match b.checked_add(1).filter(|next| next <= last) {
                    Some(next) => from = next,
                    None => {
                        open = false;
                        break;
                    }
                }
            }
            if open {
                ranges.push((from, *last));
            }
        }
        Self { ranges }
    }

    /// Whether no id is in both.
    #[must_use]
    pub fn is_disjoint(&self, other: &Self) -> bool {
        self.difference(other).len() == self.len()
    }

    /// The ids below the highest one that are not in the set.
    #[must_use]
    pub fn gaps(&self) -> Self {
        let mut below = Self::new();
        if let Some(max) = self.max() {
            below.insert_range(Ordinal(0), max);
        }
        below.difference(self)
    }

    /// The first `count` ids, counted from 0, that are not in the set: what a workload with this reserve keeps.
    /// Fewer when the numbers end.
    #[must_use]
    pub fn first_free(&self, count: u32) -> Self {
        let mut free = Self::new();
        let mut left = u64::from(count);
        let mut from = 0u32;
        let end = (Ordinal::MAX.0.saturating_add(1), Ordinal::MAX.0);
        for (a, b) in self.ranges.iter().copied().chain([end]) {
            if left == 0 || from > Ordinal::MAX.0 {
                break;
            }
            if a > from {
                let take = u64::from(a - from).min(left);
                let last = u32::try_from(u64::from(from) + take - 1).unwrap_or(Ordinal::MAX.0);
                free.insert_range(Ordinal(from), Ordinal(last));
                left -= take;
            }
            from = from.max(b.saturating_add(1));
        }
        free
    }

    /// Ids in order.
    pub fn iter(&self) -> impl Iterator<Item = Ordinal> + '_ {
        self.ranges.iter().flat_map(|(a, b)| (*a..=*b).map(Ordinal))
    }

    /// The ranges in order, both ends included.
    pub fn ranges(&self) -> impl Iterator<Item = (Ordinal, Ordinal)> + '_ {
        self.ranges.iter().map(|(a, b)| (Ordinal(*a), Ordinal(*b)))
    }

    /// The list as the API takes it: runs of three or more ids as `"a-b"`, shorter ones as numbers.
    #[must_use]
    pub fn compress(&self) -> Vec<IntOrString> {
        let mut list = Vec::new();
        for (a, b) in &self.ranges {
            if b - a >= 2 {
                list.push(IntOrString::String(format!("{a}-{b}")));
            } else {
                list.extend((*a..=*b).filter_map(|id| i32::try_from(id).ok()).map(IntOrString::Int));
            }
        }
        list
    }

    /// The same list as text, in the form of the annotation `game.kruise.io/reserve-ids`: `0,2,4-6`.
    #[must_use]
    pub fn to_text(&self, delimiter: &str) -> String {
        self.compress().iter().map(entry_text).collect::<Vec<_>>().join(delimiter)
    }

    /// Reads a list as upstream's strict reader does, except that it says what is wrong instead of returning nothing.
    ///
    /// # Errors
    /// Every entry that cannot be read.
    pub fn parse_entries(list: &[IntOrString]) -> Result<Self, Vec<BadEntry>> {
        let mut set = Self::new();
        let mut bad = Vec::new();
        for (index, entry) in list.iter().enumerate() {
            let read = match entry {
                IntOrString::Int(number) => read_id(&number.to_string()).map(|id| (id, id)),
                IntOrString::String(text) => match read_range(text) {
                    Err(EntryProblem::NotARange) if read_id(text).is_ok() => Err(EntryProblem::QuotedNumber),
                    other => other,
                },
            };
            match read {
                Ok((first, last)) => set.insert_range(first, last),
                Err(problem) => bad.push(BadEntry { index, entry: entry_text(entry), problem }),
            }
        }
        if bad.is_empty() { Ok(set) } else { Err(bad) }
    }

    /// Reads a list that only controllers write, skipping what cannot be read.
    #[must_use]
    pub fn parse_own(list: &[IntOrString]) -> Self {
        let mut set = Self::new();
        for entry in list {
            let text = entry_text(entry);
            if let Ok((first, last)) = read_id(&text).map(|id| (id, id)).or_else(|_| read_range(&text)) {
                set.insert_range(first, last);
            }
        }
        set
    }

    /// Reads the text of the annotation. Bad parts are skipped and blanks around numbers do not matter.
    #[must_use]
    pub fn parse_text(text: &str, delimiter: &str) -> Self {
        Self::parse_own(&split_entries(text, delimiter))
    }
}

impl FromIterator<Ordinal> for OrdinalSet {
    fn from_iter<I: IntoIterator<Item = Ordinal>>(ids: I) -> Self {
        let mut sorted: Vec<Ordinal> = ids.into_iter().collect();
        sorted.sort_unstable();
        let mut set = Self::new();
        for id in sorted {
            match set.ranges.last_mut() {
                Some((_, last)) if id.0 <= last.saturating_add(1) => *last = id.0.max(*last),
                _ => set.ranges.push((id.0, id.0)),
            }
        }
        set
    }
}

impl fmt::Display for OrdinalSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.to_text(","))
    }
}

/// Cuts a text into list entries: numbers become numbers, everything else (also a number with a blank before it) stays
/// text without its outer blanks; empty parts vanish. An empty delimiter cuts nothing and gives nothing.
#[must_use]
pub fn split_entries(text: &str, delimiter: &str) -> Vec<IntOrString> {
    if delimiter.is_empty() {
        return Vec::new();
    }
    let parts = text.split(delimiter).filter(|part| !part.trim().is_empty());
    parts
        .map(|part| {
            part.parse().map_or_else(|_| IntOrString::String(part.trim().to_owned()), IntOrString::Int)
        })
        .collect()
}

fn entry_text(entry: &IntOrString) -> String {
    match entry {
        IntOrString::Int(number) => number.to_string(),
        IntOrString::String(text) => text.clone(),
    }
}

fn read_id(text: &str) -> Result<Ordinal, EntryProblem> {
    let digits = text.trim();
    let number = digits.parse::<u32>().ok().filter(|_| digits.bytes().all(|b| b.is_ascii_digit()));
    number.and_then(Ordinal::new).ok_or_else(|| EntryProblem::NotAnId(digits.to_owned()))
}

fn read_range(text: &str) -> Result<(Ordinal, Ordinal), EntryProblem> {
    let mut parts = text.split('-');
    let (Some(first), Some(last), None) = (parts.next(), parts.next(), parts.next()) else {
        return Err(EntryProblem::NotARange);
    };
    let (first, last) = (read_id(first)?, read_id(last)?);
    if first > last { Err(EntryProblem::Reversed) } else { Ok((first, last)) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    fn set(ids: &[u32]) -> OrdinalSet {
        ids.iter().map(|id| Ordinal(*id)).collect()
    }

    fn numbers(set: &OrdinalSet) -> BTreeSet<u32> {
        set.iter().map(Ordinal::get).collect()
    }

    #[test]
    fn members_have_exact_names() {
        assert_eq!(Ordinal::of_member("a-1", "a-1-3"), Some(Ordinal(3)));
        for stray in ["a-1", "a-1-03", "a-2-3", "a-1-x", "a-1-", "a-1-99999999999", "a-1-+3"] {
            assert_eq!(Ordinal::of_member("a-1", stray), None, "{stray}");
        }
    }

    #[test]
    fn a_bad_entry_is_named_and_does_not_hide_the_others() {
        let list = [
            IntOrString::Int(1),
            IntOrString::String("5-3".into()),
            IntOrString::String("7".into()),
            IntOrString::Int(-2),
            IntOrString::String("x".into()),
            IntOrString::String("1-x".into()),
        ];
        let bad = OrdinalSet::parse_entries(&list).unwrap_err();
        let told: Vec<String> = bad.iter().map(ToString::to_string).collect();
        assert_eq!(
            told,
            [
                "[1] `5-3`: the range starts above its end",
                "[2] `7`: a single id is written as a number, without quotes",
                "[3] `-2`: `-2` is not an id from 0 to 2147483647",
                "[4] `x`: neither an id nor a range \"a-b\"",
                "[5] `1-x`: `x` is not an id from 0 to 2147483647",
            ]
        );
    }

    #[test]
    fn both_readers_agree_on_blanks() {
        let spec =
            OrdinalSet::parse_entries(&[IntOrString::Int(1), IntOrString::String(" 5 - 7 ".into())]).unwrap();
        assert_eq!(OrdinalSet::parse_text("1, 5 - 7", ","), spec);
        assert_eq!(OrdinalSet::parse_text(" 1 ,5,6,7", ","), spec);
    }

    #[test]
    fn a_huge_range_costs_nothing() {
        let set = OrdinalSet::parse_entries(&[IntOrString::String("0-2147483647".into())]).unwrap();
        assert_eq!(set.len(), 2_147_483_648);
        assert!(set.first_free(5).is_empty(), "there is nothing beyond it");
        let tail = OrdinalSet::parse_entries(&[IntOrString::String("2-2147483646".into())]).unwrap();
        assert_eq!(numbers(&tail.first_free(5)), BTreeSet::from([0, 1, 2_147_483_647]));
    }

    proptest! {
        #[test]
        fn algebra_agrees_with_plain_sets(a in prop::collection::btree_set(0u32..40, 0..20), b in prop::collection::btree_set(0u32..40, 0..20), n in 0u32..30) {
            let (x, y) = (set(&a.iter().copied().collect::<Vec<_>>()), set(&b.iter().copied().collect::<Vec<_>>()));
            prop_assert_eq!(numbers(&x), a.clone());
            prop_assert_eq!(numbers(&x.union(&y)), &a | &b);
            prop_assert_eq!(numbers(&x.difference(&y)), &a - &b);
            prop_assert_eq!(x.is_disjoint(&y), a.is_disjoint(&b));
            prop_assert_eq!(x.len(), a.len() as u64);
            let gaps: BTreeSet<u32> = a.last().map(|m| (0..*m).filter(|i| !a.contains(i)).collect()).unwrap_or_default();
            prop_assert_eq!(numbers(&x.gaps()), gaps);
            let free: BTreeSet<u32> = (0..).filter(|i| !a.contains(i)).take(n as usize).collect();
            prop_assert_eq!(numbers(&x.first_free(n)), free);
            for id in 0..41 { prop_assert_eq!(x.contains(Ordinal(id)), a.contains(&id)); }
            // Built one by one in any order it is the same value, so equality and hashing mean what they say.
            let mut one_by_one = OrdinalSet::new();
            for id in a.iter().rev() { one_by_one.insert(Ordinal(*id)); }
            prop_assert_eq!(&one_by_one, &x);
            if let Some(first) = a.first() {
                one_by_one.remove(Ordinal(*first));
                prop_assert_eq!(numbers(&one_by_one), a.iter().skip(1).copied().collect::<BTreeSet<_>>());
            }
        }

        #[test]
        fn what_is_written_is_read_back(a in prop::collection::btree_set(0u32..200, 0..60)) {
            let x = set(&a.iter().copied().collect::<Vec<_>>());
            prop_assert_eq!(OrdinalSet::parse_text(&x.to_text(","), ","), x.clone());
            prop_assert_eq!(OrdinalSet::parse_entries(&x.compress()), Ok(x));
        }
    }
}
