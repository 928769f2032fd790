//! Merging conditions: one function, and times that move only when the status does.

use jiff::Timestamp;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, Time};

/// A condition that should be there, without times.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wanted {
    /// Type.
    pub type_: &'static str,
    /// True or False.
    pub status: bool,
    /// Stable reason.
    pub reason: &'static str,
    /// Words for people.
    pub message: String,
}

/// The conditions afterwards: every wanted one, in this order, with the time of the old one where the status stayed; then
/// conditions of other types that are not `ours`, as they are. An old one of ours that is not wanted is gone.
#[must_use]
pub fn merge(
    old: &[Condition],
    wanted: Vec<Wanted>,
    ours: &[&str],
    generation: i64,
    now: Timestamp,
) -> Vec<Condition> {
    let mut merged: Vec<Condition> = wanted
        .into_iter()
        .map(|wanted| {
            let status = if wanted.status { "True" } else { "False" };
            let before = old.iter().find(|old| old.type_ == wanted.type_ && old.status == status);
            Condition {
                type_: wanted.type_.to_owned(),
                status: status.to_owned(),
                reason: wanted.reason.to_owned(),
                message: wanted.message,
                observed_generation: Some(generation),
                last_transition_time: before.map_or(Time(now), |old| old.last_transition_time.clone()),
            }
        })
        .collect();
    merged.extend(old.iter().filter(|old| !ours.contains(&old.type_.as_str())).cloned());
    merged
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_move_only_with_the_status() {
        let (then, now) = (Timestamp::UNIX_EPOCH, "2026-01-01T00:00:00Z".parse().unwrap());
        let wanted =
            |status, message: &str| Wanted { type_: "Valid", status, reason: "R", message: message.into() };
        let foreign = Condition {
            type_: "Other".into(),
            status: "True".into(),
            reason: "X".into(),
            message: String::new(),
            observed_generation: None,
            last_transition_time: Time(then),
        };
        let first =
            merge(std::slice::from_ref(&foreign), vec![wanted(true, "a")], &["Valid", "Gone"], 1, then);
        assert_eq!(first.len(), 2);
        let second = merge(&first, vec![wanted(true, "b")], &["Valid", "Gone"], 2, now);
        assert_eq!(second[0].last_transition_time, Time(then));
        assert_eq!(second[0].message, "b");
        assert_eq!(second[1], foreign);
        let third = merge(&second, vec![wanted(false, "b")], &["Valid", "Gone"], 2, now);
        assert_eq!(third[0].last_transition_time, Time(now));
        assert_eq!(merge(&third, vec![], &["Valid"], 2, now), [foreign]);
    }
}
