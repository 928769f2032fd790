//! Step *status* of a GameServerSet: the counters as upstream counts them, and why the set is not yet what its spec says.

use super::{
    conditions::{self, Wanted},
    kill::KILL,
    observe::PodFacts,
    ordinals::OrdinalSet,
    scale,
    set_plan::{Acted, SetObservation, SetPlan, Wait, list, members},
    validate::Problem,
};
use crds::kruise::{GameServerSetStatus, keys};
use jiff::Timestamp;
use std::time::Duration;

/// Condition: the spec can be acted on. `False` names the field.
pub const VALID: &str = "Valid";
/// Condition: exactly the wanted servers exist. `False` says what is waited for.
pub const SCALED: &str = "Scaled";
/// Condition: servers run an older template than the spec's.
pub const UPDATE_PENDING: &str = "UpdatePending";
/// Condition: the network that the spec asks for is served.
pub const NETWORK_READY: &str = "NetworkReady";
/// Condition: fields are set that nothing acts on yet.
pub const FIELDS_IGNORED: &str = "FieldsIgnored";

const OURS: [&str; 5] = [VALID, SCALED, UPDATE_PENDING, NETWORK_READY, FIELDS_IGNORED];

/// What the acted ids were read back from the status as.
#[must_use]
pub fn acted(status: Option<&GameServerSetStatus>) -> Option<Acted> {
    let status = status?;
    Some(Acted {
        replicas: u32::try_from(status.acted_replicas?).ok()?,
        reserve: OrdinalSet::parse_own(&status.acted_reserve_ids),
        implicit: OrdinalSet::parse_own(&status.implicit_reserve_ids),
    })
}

/// The status as it should be. What was acted on is taken over from `old`: it is written by the plan, before pods are
/// touched, and never here.
#[must_use]
pub fn status(
    seen: &SetObservation,
    plan: &SetPlan,
    old: Option<&GameServerSetStatus>,
) -> GameServerSetStatus {
    let old = old.cloned().unwrap_or_default();
    let count = |matches: &dyn Fn(&PodFacts) -> bool| {
        i32::try_from(seen.pods.iter().filter(|pod| matches(pod)).count()).unwrap_or(i32::MAX)
    };
    let updated = |pod: &PodFacts| !seen.revision.is_empty() && pod.revision == seen.revision;
    let replicas = match (&seen.spec.scale, &seen.acted) {
        (Some(scale), _) => scale.replicas,
        (None, Some(acted)) => acted.replicas,
        (None, None) => u32::try_from(old.replicas).unwrap_or(0),
    };
    let min_ready = Duration::from_secs(u64::try_from(seen.spec.min_ready_seconds).unwrap_or(0));
    let update_revision =
        Some(seen.revision.clone()).filter(|name| !name.is_empty()).or(old.update_revision.clone());
    GameServerSetStatus {
        observed_generation: observed_generation(seen, &old),
        replicas: i32::try_from(replicas).unwrap_or(i32::MAX),
        current_replicas: count(&|_| true),
        ready_replicas: count(&PodFacts::is_ready),
        available_replicas: count(&|pod| is_available(pod, min_ready, seen.now)),
        updated_replicas: count(&updated),
        updated_ready_replicas: Some(count(&|pod| updated(pod) && pod.is_ready())),
        maintaining_replicas: Some(count(&|pod| pod.ops_state == "Maintaining")),
        wait_to_be_deleted_replicas: Some(count(&|pod| pod.ops_state == "WaitToBeDeleted")),
        pre_delete_replicas: Some(count(&|pod| pod.state == "PreDelete")),
        label_selector: Some(format!("{}={}", keys::OWNER_GSS, seen.set.name)),
        current_revision: current_revision(seen).or(update_revision.clone()),
        update_revision,
        conditions: conditions::merge(
            &old.conditions,
            wanted(seen, plan),
            &OURS,
            seen.set.generation,
            seen.now,
        ),
        ..old
    }
}

/// The generation is observed when its size and ids are decided and no server lives under an id that it reserves: whoever
/// waits for `observedGeneration` does not find one. A spec that cannot be acted on is observed at once; nothing follows.
fn observed_generation(seen: &SetObservation, old: &GameServerSetStatus) -> Option<i64> {
    let Some(wanted) = seen.spec.scale.as_ref().filter(|_| !seen.set.deleting) else {
        return Some(seen.set.generation);
    };
    let decided = seen.acted.as_ref().is_some_and(|acted| {
        !scale::is_due(wanted.replicas, acted.replicas, &wanted.reserve, &acted.reserve)
    });
    let reserved = |pod: &PodFacts| pod.ordinal.is_some_and(|ordinal| wanted.reserve.contains(ordinal));
    let lingers = members(&seen.pods).iter().any(|pod| pod.counts() && reserved(pod));
    if decided && !lingers { Some(seen.set.generation) } else { old.observed_generation }
}

/// When a pod that is ready now becomes available, so that the status can be looked at again then.
#[must_use]
pub fn next_available(seen: &SetObservation) -> Option<Duration> {
    let min_ready = Duration::from_secs(u64::try_from(seen.spec.min_ready_seconds).unwrap_or(0));
    seen.pods
        .iter()
        .filter(|pod| pod.is_ready() && !is_available(pod, min_ready, seen.now))
        .filter_map(|pod| Some(min_ready.saturating_sub(age(pod.ready_since?, seen.now))))
        .min()
}

fn is_available(pod: &PodFacts, min_ready: Duration, now: Timestamp) -> bool {
    pod.is_ready()
        && (min_ready.is_zero() || pod.ready_since.is_some_and(|since| age(since, now) >= min_ready))
}

fn age(since: Timestamp, now: Timestamp) -> Duration {
    Duration::try_from(now.duration_since(since)).unwrap_or(Duration::ZERO)
}

/// The revision that most live pods are on, the newest one among equals.
fn current_revision(seen: &SetObservation) -> Option<String> {
    let mut counts: std::collections::BTreeMap<&str, usize> = std::collections::BTreeMap::new();
    for pod in seen.pods.iter().filter(|pod| !pod.deleting && !pod.revision.is_empty()) {
        *counts.entry(&pod.revision).or_default() += 1;
    }
    let best = counts.into_iter().max_by_key(|(revision, count)| (*count, *revision == seen.revision));
    best.map(|(revision, _)| revision.to_owned())
}

fn wanted(seen: &SetObservation, plan: &SetPlan) -> Vec<Wanted> {
    let mut wanted = vec![valid(&seen.spec.problems), scaled(seen, plan)];
    wanted.extend(update_pending(seen));
    if let Some((network_type, _)) = &seen.spec.network {
        wanted.push(Wanted {
            type_: NETWORK_READY,
            status: false,
            reason: "PluginNotBuiltIn",
            message: format!(
                "network plugin `{network_type}` is not built in yet: servers run without the addresses that it would give"
            ),
        });
    }
    if !seen.spec.ignored.is_empty() {
        wanted.push(Wanted {
            type_: FIELDS_IGNORED,
            status: true,
            reason: "NotBuiltInYet",
            message: format!("nothing acts on these fields yet: {}", seen.spec.ignored.join(", ")),
        });
    }
    wanted
}

fn valid(problems: &[Problem]) -> Wanted {
    if problems.is_empty() {
        return Wanted { type_: VALID, status: true, reason: "Valid", message: String::new() };
    }
    let told: Vec<String> = problems.iter().map(ToString::to_string).collect();
    Wanted { type_: VALID, status: false, reason: "InvalidSpec", message: told.join("; ") }
}

fn scaled(seen: &SetObservation, plan: &SetPlan) -> Wanted {
    let no = |reason, message| Wanted { type_: SCALED, status: false, reason, message };
    if seen.set.deleting {
        return no("Deleting", "the set is being deleted".to_owned());
    }
    if seen.spec.scale.is_none() {
        return no(
            "InvalidSpec",
            format!("{} servers are kept as they are until the spec is put right", plan.desired.len()),
        );
    }
    // The order of the variants is the order of importance.
    match plan.waits.iter().min() {
        Some(Wait::Refused(message)) => no("PodTemplateRefused", message.clone()),
        Some(Wait::NameTaken(names)) => {
            no("NameTaken", format!("names belong to somebody else: {}", list(names)))
        }
        Some(Wait::NoTemplate) => {
            no("InvalidSpec", "servers are missing and the template is not valid".to_owned())
        }
        Some(Wait::Hook(names)) => {
            no("PreDeleteHook", format!("waiting for the preDelete hook of {}", list(names)))
        }
        Some(Wait::Removal(names)) => {
            no("WaitingForRemoval", format!("waiting until {} is gone", list(names)))
        }
        Some(Wait::Ended(names)) => {
            no("ServersEnded", format!("ended and created again soon: {}", list(names)))
        }
        Some(Wait::NotReady(count)) => no(
            "WaitingForReady",
            format!("{count} servers wait until others are ready (scaleStrategy.maxUnavailable)"),
        ),
        Some(Wait::Creating(count)) => no("Creating", format!("{count} servers are being created")),
        Some(Wait::Removing(count)) => no("Removing", format!("{count} servers are being removed")),
        None if plan.replan => {
            no("Scaling", "the spec was changed by an opsState or the reserve strategy".to_owned())
        }
        None => Wanted {
            type_: SCALED,
            status: true,
            reason: "AsWanted",
            message: format!("{} servers", plan.desired.len()),
        },
    }
}

fn update_pending(seen: &SetObservation) -> Option<Wanted> {
    if seen.revision.is_empty() {
        return None;
    }
    let members = members(&seen.pods);
    let live: Vec<&PodFacts> = members.iter().filter(|pod| !pod.deleting && pod.ops_state != KILL).collect();
    let old = live.iter().filter(|pod| pod.revision != seen.revision).count();
    if old == 0 {
        return None;
    }
    Some(Wanted {
        type_: UPDATE_PENDING,
        status: true,
        reason: "OnlyNewServers",
        message: format!(
            "{old} of {} servers run an older template: rolling updates are not built in yet, a new template reaches only \
             servers that are created from now on",
            live.len()
        ),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kruise::{
        ordinals::Ordinal,
        set_plan,
        validate::{ValidScale, ValidSet},
    };

    fn pod(id: u32, ready: bool) -> PodFacts {
        PodFacts {
            name: format!("g-{id}"),
            ordinal: Ordinal::new(id),
            ready: Some(ready),
            ready_since: Some("2026-01-01T00:00:00Z".parse().unwrap()),
            revision: "g-new".into(),
            ..PodFacts::default()
        }
    }

    fn seen(pods: Vec<PodFacts>, replicas: u32) -> SetObservation {
        SetObservation {
            pods,
            acted: Some(Acted { replicas, ..Acted::default() }),
            spec: ValidSet {
                scale: Some(ValidScale { replicas, ..ValidScale::default() }),
                ..ValidSet::default()
            },
            revision: "g-new".into(),
            now: "2026-01-01T00:00:10Z".parse().unwrap(),
            ..SetObservation::default()
        }
    }

    fn condition(status: &GameServerSetStatus, type_: &str) -> Option<(String, String, String)> {
        let found = status.conditions.iter().find(|condition| condition.type_ == type_)?;
        Some((found.status.clone(), found.reason.clone(), found.message.clone()))
    }

    fn of(seen: &SetObservation) -> GameServerSetStatus {
        status(seen, &set_plan::plan(seen), None)
    }

    #[test]
    fn counters_count_what_upstream_counts() {
        let mut pods = vec![pod(0, true), pod(1, false), pod(2, true), pod(3, true)];
        pods[1].ops_state = "Maintaining".into();
        pods[2].state = "PreDelete".into();
        pods[3].deleting = true;
        pods[0].revision = "g-old".into();
        let status = of(&seen(pods, 3));
        assert_eq!((status.replicas, status.current_replicas, status.ready_replicas), (3, 4, 2));
        assert_eq!((status.maintaining_replicas, status.pre_delete_replicas), (Some(1), Some(1)));
        assert_eq!((status.updated_replicas, status.updated_ready_replicas), (3, Some(1)));
        assert_eq!(status.current_revision.as_deref(), Some("g-new"));
        let pending = condition(&status, UPDATE_PENDING).unwrap();
        assert!(pending.2.starts_with("1 of 3 servers"), "{}", pending.2);
    }

    #[test]
    fn available_comes_min_ready_seconds_after_ready() {
        let mut seen = seen(vec![pod(0, true)], 1);
        seen.spec.min_ready_seconds = 30;
        assert_eq!(of(&seen).available_replicas, 0);
        assert_eq!(next_available(&seen), Some(Duration::from_secs(20)));
        seen.now = "2026-01-01T00:00:30Z".parse().unwrap();
        assert_eq!((of(&seen).available_replicas, next_available(&seen)), (1, None));
    }

    #[test]
    fn a_settled_set_is_scaled_and_an_unsettled_one_says_why() {
        assert_eq!(condition(&of(&seen(vec![pod(0, true)], 1)), SCALED).unwrap().1, "AsWanted");
        let mut waiting = seen(vec![pod(0, true)], 1);
        waiting.pods[0].deleting = true;
        assert_eq!(
            condition(&of(&waiting), SCALED).unwrap(),
            ("False".into(), "WaitingForRemoval".into(), "waiting until g-0 is gone".into())
        );
    }

    #[test]
    fn what_was_acted_on_is_never_written_here() {
        let old = GameServerSetStatus { acted_replicas: Some(9), ..GameServerSetStatus::default() };
        let seen = seen(vec![pod(0, true)], 1);
        assert_eq!(status(&seen, &set_plan::plan(&seen), Some(&old)).acted_replicas, Some(9));
    }
}
