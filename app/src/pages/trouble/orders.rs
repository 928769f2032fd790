//! What can be ordered on the page Trouble, as data: each row with its choices, and what it says now.

use crate::{i18n::Words, time};
use wire::sandbox::{Trouble, TroubleOrder};

/// One trouble of the API server.
pub struct Row {
    /// Locale key under `trouble.api.`.
    pub key: &'static str,
    /// How much of it there is; 0 is none.
    pub now: fn(&Trouble) -> i64,
    /// How an amount is written.
    pub unit: Unit,
    /// Amounts that one click orders.
    pub choices: &'static [i64],
    /// The order for an amount.
    pub order: fn(i64) -> TroubleOrder,
    /// Whether an order of 0 ends it.
    pub ends: bool,
}

/// How an amount is written.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// `30s`, `2m`.
    Seconds,
    /// `5 %`.
    Percent,
    /// `+1h`.
    Shift,
}

impl Unit {
    /// An amount in words.
    pub fn text(self, amount: i64) -> String {
        let size = time::age(amount.saturating_abs());
        match self {
            Self::Seconds => size,
            Self::Percent => format!("{amount} %"),
            Self::Shift => format!("{}{size}", if amount < 0 { "−" } else { "+" }),
        }
    }
}

fn amount(amount: i64) -> Option<u32> {
    u32::try_from(amount).ok()
}

/// All troubles that last.
pub const ROWS: [Row; 6] = [
    Row {
        key: "away",
        now: |trouble| trouble.away_seconds.into(),
        unit: Unit::Seconds,
        choices: &[10, 30, 120],
        order: |time| TroubleOrder { away_seconds: amount(time), ..TroubleOrder::default() },
        ends: true,
    },
    Row {
        key: "throttled",
        now: |trouble| trouble.throttled_seconds.into(),
        unit: Unit::Seconds,
        choices: &[10, 30, 120],
        order: |time| TroubleOrder { throttled_seconds: amount(time), ..TroubleOrder::default() },
        ends: true,
    },
    Row {
        key: "unavailable",
        now: |trouble| trouble.unavailable_seconds.into(),
        unit: Unit::Seconds,
        choices: &[10, 30, 120],
        order: |time| TroubleOrder { unavailable_seconds: amount(time), ..TroubleOrder::default() },
        ends: true,
    },
    Row {
        key: "conflicts",
        now: |trouble| trouble.conflict_percent.into(),
        unit: Unit::Percent,
        choices: &[5, 25, 100],
        order: |share| TroubleOrder { conflict_percent: amount(share), ..TroubleOrder::default() },
        ends: true,
    },
    Row {
        key: "late",
        now: |trouble| trouble.watch_delay_seconds.into(),
        unit: Unit::Seconds,
        choices: &[1, 5, 30],
        order: |time| TroubleOrder { watch_delay_seconds: amount(time), ..TroubleOrder::default() },
        ends: true,
    },
    Row {
        key: "clock",
        now: |trouble| trouble.clock_ahead_seconds,
        unit: Unit::Shift,
        choices: &[-3600, 60, 3600, 86_400],
        order: |jump| TroubleOrder { clock_jump_seconds: Some(jump), ..TroubleOrder::default() },
        ends: false,
    },
];

/// Trouble of one pod: locale key under `trouble.pod.`, annotation, value.
pub const POD_CHOICES: [(&str, &str, &str); 8] = [
    ("crashOnce", "crash-once", "1"),
    ("crash", "crash", "1"),
    ("liveness", "liveness", "fail"),
    ("ready", "ready", "false"),
    ("startSlow", "start", "slow"),
    ("stopStuck", "stop", "stuck"),
    ("pullFail", "pull", "fail"),
    ("pullSlow", "pull", "slow"),
];

/// One trouble of a pod in words; what nobody named here is shown as it is.
pub fn pod_trouble(words: Words, key: &str, value: &str) -> String {
    // What follows an @ only makes a crash another one.
    let value = value.split('@').next().unwrap_or_default();
    let exact = POD_CHOICES.iter().find(|(_, annotation, wish)| *annotation == key && *wish == value);
    // A crash has many values: exit codes, containers.
    let found = exact.or_else(|| POD_CHOICES.iter().find(|(_, annotation, _)| *annotation == key));
    match found {
        Some((name, ..)) if exact.is_some() => named(words, "pod", name).to_owned(),
        Some((name, ..)) => format!("{} ({value})", named(words, "pod", name)),
        None => format!("{key}: {value}"),
    }
}

/// The text of a choice or a row: `trouble.api.away`.
pub fn named(words: Words, space: &str, name: &'static str) -> &'static str {
    words.find(&format!("trouble.{space}.{name}")).unwrap_or(name)
}

/// Whether anything goes on that can be ended.
pub fn goes_on(trouble: &Trouble) -> bool {
    ROWS.iter().any(|row| row.ends && (row.now)(trouble) != 0)
        || trouble.nodes.iter().any(|node| node.down)
        || !trouble.pods.is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Lang;

    #[test]
    fn amounts_are_written_short() {
        assert_eq!(Unit::Seconds.text(120), "2m");
        assert_eq!((Unit::Shift.text(-3600), Unit::Shift.text(60)), ("−1h".to_owned(), "+1m".to_owned()));
    }

    #[test]
    fn an_order_changes_one_thing() {
        for row in &ROWS {
            let mut trouble = Trouble::default();
            assert_eq!((row.now)(&trouble), 0);
            let order = (row.order)(7);
            assert_eq!(serde_json::to_value(&order).unwrap().as_object().unwrap().len(), 1, "{}", row.key);
            trouble.away_seconds = 1;
            assert!(goes_on(&trouble));
        }
        // A clock that was set stays so: there is nothing to end.
        assert!(!goes_on(&Trouble { clock_ahead_seconds: 5, ..Trouble::default() }));
    }

    #[test]
    fn trouble_of_a_pod_is_named() {
        let words = Words::new(Lang::En);
        assert_eq!(pod_trouble(words, "pull", "fail"), words.t("trouble.pod.pullFail"));
        assert!(pod_trouble(words, "crash", "game=3").ends_with("(game=3)"));
        assert_eq!(pod_trouble(words, "crash-once", "1@99"), words.t("trouble.pod.crashOnce"));
        assert_eq!(pod_trouble(words, "new", "x"), "new: x");
    }
}
