//! Times: relative ones in words of the page, absolute ones with their zone.

use crate::i18n::Words;

/// An age of `seconds` in its two largest units, one when it is over 10 of the larger: `45s`, `12m`, `3h 20m`, `5d 3h`, `42d`.
#[must_use]
pub fn age(seconds: i64) -> String {
    let s = seconds.max(0);
    let (m, h, d) = (s / 60, s / 3600, s / 86_400);
    let two = |big: i64, big_unit: &str, small: i64, small_unit: &str| {
        if big >= 10 || small == 0 {
            format!("{big}{big_unit}")
        } else {
            format!("{big}{big_unit} {small}{small_unit}")
        }
    };
    if d > 0 {
        two(d, "d", h % 24, "h")
    } else if h > 0 {
        two(h, "h", m % 60, "m")
    } else if m > 0 {
        format!("{m}m")
    } else {
        format!("{s}s")
    }
}

/// An age in a sentence: "3h 20m ago", "just now".
#[must_use]
pub fn ago(words: Words, seconds: i64) -> String {
    if seconds < 5 {
        words.t("common.justNow").to_owned()
    } else {
        words.with("common.ago", &[("age", age(seconds))])
    }
}

/// A Unix time as `2026-11-29 17:30:05 UTC`.
#[must_use]
pub fn absolute(unix: i64) -> String {
    let days = unix.div_euclid(86_400);
    let second = unix.rem_euclid(86_400);
    // Days to a date of the Gregorian calendar, with years that begin in March so that the leap day comes last.
    let z = days + 719_468;
    let era = z.div_euclid(146_097);
    let day_of_era = z.rem_euclid(146_097);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 { shifted_month + 3 } else { shifted_month - 9 };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    format!(
        "{year:04}-{month:02}-{day:02} {:02}:{:02}:{:02} UTC",
        second / 3600,
        second / 60 % 60,
        second % 60
    )
}

/// Now by this machine's clock, Unix milliseconds. In the browser pages use the live stream's clock instead.
#[must_use]
pub fn machine_now() -> i64 {
    #[cfg(target_arch = "wasm32")]
    {
        js_sys::Date::now() as i64
    }
    #[cfg(not(target_arch = "wasm32"))]
    {
        std::time::SystemTime::now()
            .duration_since(std::time::UNIX_EPOCH)
            .map_or(0, |elapsed| i64::try_from(elapsed.as_millis()).unwrap_or(i64::MAX))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ages_use_one_or_two_units() {
        let cases = [
            (-3, "0s"),
            (45, "45s"),
            (60, "1m"),
            (3599, "59m"),
            (3600, "1h"),
            (12_000, "3h 20m"),
            (40_000, "11h"),
            (442_800, "5d 3h"),
            (86_400 * 42 + 7200, "42d"),
        ];
        for (seconds, text) in cases {
            assert_eq!(age(seconds), text);
        }
    }

    #[test]
    fn absolute_times_follow_the_calendar() {
        let cases = [
            (0, "1970-01-01 00:00:00 UTC"),
            (951_782_400, "2000-02-29 00:00:00 UTC"),
            (1_795_973_405, "2026-11-29 17:30:05 UTC"),
            (-1, "1969-12-31 23:59:59 UTC"),
        ];
        for (unix, text) in cases {
            assert_eq!(absolute(unix), text);
        }
    }
}
