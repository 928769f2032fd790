//! What the state of a node means for its taints, and what its taints mean for its pods. Pure.
//!
//! The rules are those of `pkg/controller/nodelifecycle` and `pkg/controller/tainteviction` of Kubernetes 1.36.

use std::time::Duration;

use jiff::Timestamp;
use k8s_openapi::api::core::v1::{Taint, Toleration};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;

const NOT_READY: &str = "node.kubernetes.io/not-ready";
const UNREACHABLE: &str = "node.kubernetes.io/unreachable";

/// The taints that a node should have whose condition Ready has this status; nothing when it has them.
pub fn wanted(taints: &[Taint], ready: &str, now: Timestamp) -> Option<Vec<Taint>> {
    let key = match ready {
        "True" => None,
        "Unknown" => Some(UNREACHABLE),
        _ => Some(NOT_READY),
    };
    let is_ours = |taint: &&Taint| [NOT_READY, UNREACHABLE].contains(&taint.key.as_str());
    let mut all: Vec<Taint> = taints.iter().filter(|taint| !is_ours(taint)).cloned().collect();
    for effect in key.map_or(&[][..], |_| &["NoSchedule", "NoExecute"]) {
        let known = taints.iter().find(|taint| Some(taint.key.as_str()) == key && taint.effect == *effect);
        all.push(known.cloned().unwrap_or_else(|| Taint {
            key: key.unwrap_or_default().to_owned(),
            effect: (*effect).to_owned(),
            time_added: Some(Time(now)),
            value: None,
        }));
    }
    let same = all.len() == taints.len() && all.iter().all(|taint| taints.contains(taint));
    (!same).then_some(all)
}

/// What the taints of its node mean for a pod.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It may stay.
    Stays,
    /// It goes at this time.
    Goes(Timestamp),
}

/// Judges a pod by the NoExecute taints of its node. Time runs from when the last of them was added, or from `seen`.
pub fn fate(taints: &[Taint], tolerations: &[Toleration], seen: Timestamp) -> Fate {
    let mut least: Option<Duration> = None;
    let mut begin = Timestamp::MIN;
    for taint in taints.iter().filter(|taint| taint.effect == "NoExecute") {
        begin = begin.max(taint.time_added.as_ref().map_or(seen, |time| time.0));
        let mut fitting = tolerations.iter().filter(|toleration| tolerates(toleration, taint)).peekable();
        if fitting.peek().is_none() {
            return Fate::Goes(begin);
        }
        let bounds = fitting.filter_map(|toleration| toleration.toleration_seconds);
        if let Some(seconds) = bounds.min() {
            let span = Duration::from_secs(u64::try_from(seconds).unwrap_or(0));
            least = Some(least.map_or(span, |known| known.min(span)));
        }
    }
    match least {
        None => Fate::Stays,
        Some(span) => Fate::Goes(crate::nodes::clock::after(begin, span)),
    }
}

fn tolerates(toleration: &Toleration, taint: &Taint) -> bool {
    let exists = toleration.operator.as_deref() == Some("Exists");
    let key = match toleration.key.as_deref().unwrap_or_default() {
        "" => exists,
        key => key == taint.key,
    };
    let value = exists
        || toleration.value.as_deref().unwrap_or_default() == taint.value.as_deref().unwrap_or_default();
    let effect =
        toleration.effect.as_deref().is_none_or(|effect| effect.is_empty() || effect == taint.effect);
    key && value && effect
}

#[cfg(test)]
mod tests {
    use super::*;

    fn now() -> Timestamp {
        "2026-11-29T10:00:00Z".parse().unwrap()
    }

    fn taint(key: &str, effect: &str) -> Taint {
        Taint { key: key.into(), effect: effect.into(), time_added: Some(Time(now())), value: None }
    }

    fn toleration(key: &str, seconds: Option<i64>) -> Toleration {
        let effect = Some("NoExecute".to_owned());
        let key = Some(key.to_owned());
        Toleration { key, effect, operator: Some("Exists".into()), toleration_seconds: seconds, value: None }
    }

    #[test]
    fn taints_follow_the_state_of_the_node_and_leave_others_alone() {
        let mut taints = vec![taint("dedicated", "NoSchedule")];
        assert_eq!(wanted(&taints, "True", now()), None);
        taints = wanted(&taints, "Unknown", now()).unwrap();
        let keys = |taints: &[Taint]| {
            taints.iter().map(|taint| (taint.key.clone(), taint.effect.clone())).collect::<Vec<_>>()
        };
        assert_eq!(
            keys(&taints),
            [
                ("dedicated".into(), "NoSchedule".into()),
                (UNREACHABLE.into(), "NoSchedule".into()),
                (UNREACHABLE.into(), "NoExecute".into()),
            ]
        );
        let later = crate::nodes::clock::after(now(), Duration::from_secs(60));
        assert_eq!(wanted(&taints, "Unknown", later), None, "the time stays that of the beginning");
        let not_ready = wanted(&taints, "False", later).unwrap();
        assert!(not_ready.iter().all(|taint| taint.key != UNREACHABLE) && not_ready.len() == 3);
        assert_eq!(
            keys(&wanted(&not_ready, "True", later).unwrap()),
            [("dedicated".into(), "NoSchedule".into())]
        );
    }

    #[test]
    fn pods_go_when_their_patience_ends() {
        let unreachable = [taint(UNREACHABLE, "NoSchedule"), taint(UNREACHABLE, "NoExecute")];
        let after =
            |seconds: u64| Fate::Goes(crate::nodes::clock::after(now(), Duration::from_secs(seconds)));
        assert_eq!(fate(&unreachable, &[], now()), after(0));
        assert_eq!(fate(&unreachable, &[toleration(UNREACHABLE, Some(300))], now()), after(300));
        assert_eq!(fate(&unreachable, &[toleration(UNREACHABLE, None)], now()), Fate::Stays);
        assert_eq!(fate(&unreachable, &[toleration(NOT_READY, None)], now()), after(0));
        let both = [toleration(UNREACHABLE, Some(300)), toleration(UNREACHABLE, Some(10))];
        assert_eq!(fate(&unreachable, &both, now()), after(10), "the shortest counts");
        assert_eq!(fate(&[taint("x", "NoSchedule")], &[], now()), Fate::Stays);
        let two = [taint(UNREACHABLE, "NoExecute"), taint("x", "NoExecute")];
        assert_eq!(
            fate(&two, &[toleration(UNREACHABLE, None)], now()),
            after(0),
            "every taint must be tolerated"
        );
    }
}
