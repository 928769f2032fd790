//! Ages as people type them: `90s 30m 2h 3d 1w`, also `1h30m`.

use std::fmt;

/// A length of time in a unit. It covers the whole unit: `2h` is 2 h up to just under 3 h when it stands for one
/// age, so that what a table shows as "2h" equals `2h`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Age {
    count: u64,
    unit: Unit,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Unit {
    Second,
    Minute,
    Hour,
    Day,
    Week,
}

impl Unit {
    const ALL: [Self; 5] = [Self::Second, Self::Minute, Self::Hour, Self::Day, Self::Week];

    const fn letter(self) -> char {
        match self {
            Self::Second => 's',
            Self::Minute => 'm',
            Self::Hour => 'h',
            Self::Day => 'd',
            Self::Week => 'w',
        }
    }

    const fn seconds(self) -> u64 {
        match self {
            Self::Second => 1,
            Self::Minute => 60,
            Self::Hour => 3_600,
            Self::Day => 86_400,
            Self::Week => 604_800,
        }
    }
}

/// Longest age: about 3,000 years. Everything below is free of overflow.
const MAX_SECONDS: u64 = 100_000_000_000;

impl Age {
    /// Longer than anything: the end of a range without one, such as `1w-`.
    pub const OPEN: Self = Self { count: MAX_SECONDS, unit: Unit::Second };

    /// Reads `2h` or `1h30m`; `None` if it is no age.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let mut seconds: u64 = 0;
        let mut finest: Option<Unit> = None;
        let mut digits = String::new();
        for c in text.chars() {
            if c.is_ascii_digit() {
                digits.push(c);
                continue;
            }
            let unit = Unit::ALL.into_iter().find(|unit| unit.letter() == c.to_ascii_lowercase())?;
            // 1h30m is fine, 30m1h and 1h1h are slips.
            if finest.is_some_and(|finest| unit >= finest) {
                return None;
            }
            let count: u64 = digits.parse().ok()?;
            seconds = count.checked_mul(unit.seconds()).and_then(|more| seconds.checked_add(more))?;
            finest = Some(unit);
            digits.clear();
        }
        let unit = finest?;
        (digits.is_empty() && seconds <= MAX_SECONDS).then(|| Self { count: seconds / unit.seconds(), unit })
    }

    /// Its length in seconds.
    #[must_use]
    pub const fn seconds(self) -> u64 {
        self.count * self.unit.seconds()
    }

    /// The first second that no longer reads as this age.
    #[must_use]
    pub const fn end_seconds(self) -> u64 {
        (self.count + 1) * self.unit.seconds()
    }
}

impl fmt::Display for Age {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.count, self.unit.letter())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ages_are_read_and_printed() {
        for (text, seconds, end, printed) in [
            ("0s", 0, 1, "0s"),
            ("90s", 90, 91, "90s"),
            ("30m", 1_800, 1_860, "30m"),
            ("2H", 7_200, 10_800, "2h"),
            ("3d", 259_200, 345_600, "3d"),
            ("1w", 604_800, 1_209_600, "1w"),
            ("1h30m", 5_400, 5_460, "90m"),
            ("1d0h", 86_400, 90_000, "24h"),
        ] {
            let age = Age::parse(text).unwrap();
            assert_eq!(
                (age.seconds(), age.end_seconds(), age.to_string().as_str()),
                (seconds, end, printed),
                "{text}"
            );
            assert_eq!(Age::parse(printed), Some(age));
        }
    }

    #[test]
    fn what_is_no_age_is_refused() {
        for text in [
            "",
            "5",
            "h",
            "5x",
            "1h30",
            "30m1h",
            "1h1h",
            "-1h",
            "1.5h",
            "99999999999999999999s",
            "999999999w",
        ] {
            assert_eq!(Age::parse(text), None, "{text}");
        }
    }
}
