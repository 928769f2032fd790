//! Amounts such as `500m` and `1Gi`.

/// An amount in billionths, so that all usual ones are whole; `None` when the text is no amount.
pub fn parse(text: &str) -> Option<i128> {
    const BILLION: i128 = 1_000_000_000;
    let text = text.trim();
    let end =
        text.find(|c: char| !(c.is_ascii_digit() || matches!(c, '.' | '+' | '-'))).unwrap_or(text.len());
    let (number, suffix) = text.split_at(end);
    let (negative, digits) = match number.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, number.strip_prefix('+').unwrap_or(number)),
    };
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let numeric = |s: &str| s.bytes().all(|b| b.is_ascii_digit());
    if (whole.is_empty() && fraction.is_empty()) || !numeric(whole) || !numeric(fraction) {
        return None;
    }
    let (times, over): (i128, i128) = match suffix {
        "" => (1, 1),
        "n" => (1, BILLION),
        "u" => (1, 1_000_000),
        "m" => (1, 1000),
        "k" => (1000, 1),
        "M" => (1_000_000, 1),
        "G" => (BILLION, 1),
        "T" => (1000 * BILLION, 1),
        "P" => (1_000_000 * BILLION, 1),
        "E" => (BILLION * BILLION, 1),
        "Ki" => (1 << 10, 1),
        "Mi" => (1 << 20, 1),
        "Gi" => (1 << 30, 1),
        "Ti" => (1 << 40, 1),
        "Pi" => (1 << 50, 1),
        "Ei" => (1 << 60, 1),
        exponent => {
            let power: i32 = exponent.strip_prefix(['e', 'E'])?.parse().ok()?;
            let factor = 10_i128.checked_pow(power.unsigned_abs())?;
            if power < 0 { (1, factor) } else { (factor, 1) }
        }
    };
    let whole: i128 = if whole.is_empty() { 0 } else { whole.parse().ok()? };
    let mut nano = whole.checked_mul(BILLION)?;
    let kept: String = fraction.chars().chain("000000000".chars()).take(9).collect();
    nano = nano.checked_add(kept.parse().ok()?)?;
    let value = nano.checked_mul(times)? / over;
    Some(if negative { -value } else { value })
}

/// How an amount is written.
#[derive(Clone, Copy, PartialEq)]
enum Style {
    /// `k`, `M`, … and `m`, `u`, `n`.
    Decimal,
    /// `Ki`, `Mi`, …
    Binary,
    /// `e3`.
    Exponent,
}

/// An amount as Kubernetes writes it: `0.5` as `500m`, `1024Mi` as `1Gi`. `None` when the text is no amount.
pub fn canonical(text: &str) -> Option<String> {
    const BILLION: i128 = 1_000_000_000;
    let mut nano = parse(text)?;
    let suffix = text.trim_start_matches(|c: char| c.is_ascii_digit() || matches!(c, '.' | '+' | '-'));
    let style = if suffix.ends_with('i') {
        Style::Binary
    } else if suffix.starts_with('e') || (suffix.starts_with('E') && suffix.len() > 1) {
        Style::Exponent
    } else {
        Style::Decimal
    };
    if nano == 0 {
        return Some("0".into());
    }
    if style == Style::Binary && nano.abs() >= 1024 * BILLION {
        // Parts of one are rounded away from zero.
        let up = if nano % BILLION == 0 { 0 } else { nano.signum() };
        let (mut whole, mut power) = (nano / BILLION + up, 0);
        while whole % 1024 == 0 && power < 6 {
            whole /= 1024;
            power += 1;
        }
        return Some(format!("{whole}{}", ["", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"][power]));
    }
    let mut exponent = -9_i32;
    while nano % 1000 == 0 && exponent < 18 {
        nano /= 1000;
        exponent += 3;
    }
    Some(match style {
        Style::Exponent if exponent == 0 => nano.to_string(),
        Style::Exponent => format!("{nano}e{exponent}"),
        _ => {
            let suffixes = ["n", "u", "m", "", "k", "M", "G", "T", "P", "E"];
            let place = usize::try_from((exponent + 9) / 3).unwrap_or(0);
            format!("{nano}{}", suffixes[place.min(suffixes.len() - 1)])
        }
    })
}

#[cfg(test)]
mod tests {
    use super::{canonical, parse};

    #[test]
    fn amounts_are_written_in_one_way() {
        for (given, written) in [
            ("0.5", "500m"),
            ("1000m", "1"),
            ("1024Mi", "1Gi"),
            ("1.5Gi", "1536Mi"),
            ("1500Mi", "1500Mi"),
            ("1e3", "1e3"),
            ("1000", "1k"),
            ("0", "0"),
            ("0Gi", "0"),
            ("512", "512"),
            ("0.5Ki", "512"),
            ("-0.1", "-100m"),
            ("100k", "100k"),
            ("1000k", "1M"),
            ("1E", "1E"),
            ("12e6", "12e6"),
            ("10e2", "1e3"),
            ("0.0001", "100u"),
            ("+1", "1"),
        ] {
            assert_eq!(canonical(given).as_deref(), Some(written), "{given}");
        }
        assert_eq!(canonical("x"), None);
    }

    #[test]
    fn amounts_compare_by_value() {
        assert_eq!(parse("1"), parse("1000m"));
        assert_eq!(parse("1Gi"), parse("1024Mi"));
        assert_eq!(parse("0.5"), parse("500m"));
        assert_eq!(parse("1e3"), parse("1k"));
        assert!(parse("-1") < parse("0"));
        for bad in ["", "x", "1x", "1.2.3", "Gi", "--1", "1e", "1e99", "."] {
            assert_eq!(parse(bad), None, "{bad}");
        }
    }
}
