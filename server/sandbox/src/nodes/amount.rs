//! Kubernetes quantities, as far as a scheduler needs them: text such as `250m` or `1.5Gi` to whole units.

use serde::{Deserialize, Deserializer, Serialize};

/// The text of one quantity, exactly as the API gave it.
///
/// A real API server always sends text; a number is accepted too, because a client may write one.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Amount(pub String);

impl Amount {
    /// The value in thousandths (`250m` is 250, `2` is 2000), rounded up as the scheduler does for CPU.
    /// Text that is no quantity counts as zero: the API server refuses such pods, so nothing depends on it.
    pub fn milli(&self) -> u64 {
        self.scaled(1000)
    }

    /// The value in whole units (bytes for memory), rounded up.
    pub fn units(&self) -> u64 {
        self.scaled(1)
    }

    fn scaled(&self, factor: i128) -> u64 {
        let value = parse(&self.0).map_or(0, |(nano, _)| ceil_div(nano.saturating_mul(factor), NANO));
        u64::try_from(value.max(0)).unwrap_or(u64::MAX)
    }
}

impl<'de> Deserialize<'de> for Amount {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Written {
            Text(String),
            Number(serde_json::Number),
            Nothing(()),
        }
        Ok(match Written::deserialize(deserializer)? {
            Written::Text(text) => Self(text),
            Written::Number(number) => Self(number.to_string()),
            Written::Nothing(_) => Self("0".into()),
        })
    }
}

impl From<&str> for Amount {
    fn from(text: &str) -> Self {
        Self(text.into())
    }
}

const NANO: i128 = 1_000_000_000;

/// Splits a quantity into nano units and its suffix. The finest suffix Kubernetes knows is `n`.
fn parse(text: &str) -> Option<(i128, &str)> {
    let text = text.trim();
    let end = text.find(|c: char| !matches!(c, '0'..='9' | '.' | '+' | '-')).unwrap_or(text.len());
    let (number, suffix) = text.split_at(end);
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    if whole.is_empty() && fraction.is_empty() {
        return None;
    }
    let negative = whole.starts_with('-');
    let whole: i128 = match whole.trim_start_matches(['+', '-']) {
        "" => 0,
        digits => digits.parse().ok()?,
    };
    let mut part: i128 = 0;
    for place in 0..9 {
        let digit = match fraction.as_bytes().get(place) {
            Some(byte) if byte.is_ascii_digit() => i128::from(byte - b'0'),
            Some(_) => return None,
            None => 0,
        };
        part = part * 10 + digit;
    }
    let nano = whole.checked_mul(NANO)?.checked_add(part)?;
    let nano = if negative { -nano } else { nano };
    let scaled = match suffix {
        "" => nano,
        "n" => nano / NANO,
        "u" => nano / 1_000_000,
        "m" => nano / 1000,
        "k" => nano.checked_mul(1000)?,
        "M" => nano.checked_mul(1_000_000)?,
        "G" => nano.checked_mul(1_000_000_000)?,
        "T" => nano.checked_mul(1_000_000_000_000)?,
        "P" => nano.checked_mul(1_000_000_000_000_000)?,
        "E" => nano.checked_mul(1_000_000_000_000_000_000)?,
        "Ki" => nano.checked_mul(1 << 10)?,
        "Mi" => nano.checked_mul(1 << 20)?,
        "Gi" => nano.checked_mul(1 << 30)?,
        "Ti" => nano.checked_mul(1 << 40)?,
        "Pi" => nano.checked_mul(1 << 50)?,
        "Ei" => nano.checked_mul(1 << 60)?,
        exponent => {
            let power: u32 = exponent.strip_prefix(['e', 'E'])?.trim_start_matches('+').parse().ok()?;
            nano.checked_mul(10_i128.checked_pow(power)?)?
        }
    };
    Some((scaled, suffix))
}

fn ceil_div(value: i128, by: i128) -> i128 {
    let quotient = value / by;
    if value % by > 0 { quotient + 1 } else { quotient }
}

#[cfg(test)]
mod tests {
    use super::Amount;

    #[test]
    fn cpu_is_read_in_thousandths() {
        for (text, milli) in
            [("250m", 250), ("2", 2000), ("0.1", 100), ("1.5", 1500), ("100u", 1), ("1e3", 1_000_000)]
        {
            assert_eq!(Amount::from(text).milli(), milli, "{text}");
        }
    }

    #[test]
    fn memory_is_read_in_bytes_and_rounded_up() {
        for (text, bytes) in [
            ("128Mi", 134_217_728),
            ("1Gi", 1 << 30),
            ("1.5Gi", 3 << 29),
            ("64M", 64_000_000),
            ("100m", 1),
            ("12", 12),
        ] {
            assert_eq!(Amount::from(text).units(), bytes, "{text}");
        }
    }

    #[test]
    fn nonsense_counts_as_nothing() {
        for text in ["", "abc", "1x", "-5", "."] {
            assert_eq!(Amount::from(text).units(), 0, "{text}");
        }
    }

    #[test]
    fn numbers_are_accepted_as_well_as_text() {
        let amounts: Vec<Amount> = serde_json::from_str(r#"[1, "2", null, 0.5]"#).unwrap();
        assert_eq!(amounts.iter().map(Amount::milli).collect::<Vec<_>>(), [1000, 2000, 0, 500]);
    }
}
