//! Who goes first when a set gets smaller: opsState, then deletion priority, then the highest id.

use super::observe::PodFacts;
use std::cmp::{Ordering, Reverse};

/// How willing an opsState is to go, the highest first. Custom values rank like `None`.
#[must_use]
pub fn ops_rank(ops_state: &str) -> i32 {
    match ops_state {
        "Kill" => 100,
        "WaitToBeDeleted" => 1,
        "Allocated" => -1,
        "Maintaining" => -2,
        _ => 0,
    }
}

/// The deletion priority that a label stands for; a text that is no number is 0.
#[must_use]
pub fn priority(label: &str) -> i64 {
    label.parse().unwrap_or(0)
}

/// `Less` when `a` goes before `b`. A total order over pods of one set; opsState always beats priority.
#[must_use]
pub fn compare(a: &PodFacts, b: &PodFacts) -> Ordering {
    let key = |pod: &PodFacts| {
        (Reverse(ops_rank(&pod.ops_state)), Reverse(priority(&pod.deletion_priority)), Reverse(pod.ordinal))
    };
    key(a).cmp(&key(b))
}
