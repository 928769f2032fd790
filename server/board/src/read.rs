//! From slim objects to the parts of a row. Reading never fails: what is absent or odd is simply not there.

use std::collections::BTreeMap;
use std::sync::Arc;

use crds::kruise::keys::{
    CONTROLLER_REVISION_HASH, GS_OPS_STATE, NODE_NAME, OPS_STATE_LAST_CHANGED_TIME, OWNER_GSS,
    QUALITY_CONDITION_PREFIX,
};
use crds::slim::{SlimGameServer, SlimPod};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{ObjectMeta, Time};
use k8s_openapi::apimachinery::pkg::util::intstr::IntOrString;

use crate::players::{PlayersFrom, count};
use crate::pool::Pools;
use crate::row::{Condition, Container, CrashLoop, Pairs, PodPart, Quality, ServerPart};
use crate::state;

/// Longer annotation values are cut: the board is for finding servers, a page that shows one reads the object.
pub(crate) const LONGEST_VALUE: usize = 512;

/// Longer values are hardly shared by several rows.
const LONGEST_SHARED: usize = 64;

/// The set that an object belongs to by its label.
pub(crate) fn owner(metadata: &ObjectMeta) -> Option<&str> {
    let owner = metadata.labels.as_ref()?.get(OWNER_GSS)?;
    Some(owner.as_str()).filter(|owner| !owner.is_empty())
}

pub(crate) fn server(server: &SlimGameServer, pools: &mut Pools) -> ServerPart {
    let status = server.status.as_ref();
    let network = status.and_then(|status| status.network_status.as_ref());
    let wish_or_fact = |wish: Option<&IntOrString>, fact: Option<&IntOrString>, pools: &mut Pools| {
        wish.or(fact).map(|value| match value {
            IntOrString::Int(number) => pools.text(&number.to_string()),
            IntOrString::String(text) => pools.text(text),
        })
    };
    let label =
        |key: &str| server.metadata.labels.as_ref().and_then(|labels| labels.get(key)).map(String::as_str);
    let outside = network.map_or(&[][..], |network| &network.external_addresses);
    let addresses = outside.iter().flat_map(|address| {
        [Some(address.ip.as_str()), address.end_point.as_deref()]
            .into_iter()
            .flatten()
            .filter(|text| !text.is_empty())
    });
    ServerPart {
        uid: server.metadata.uid.as_deref().unwrap_or("").into(),
        set: pools.filled(owner(&server.metadata)),
        created: seconds(server.metadata.creation_timestamp.as_ref()).unwrap_or(0),
        state: pools.filled(status.and_then(|status| status.current_state.as_deref())),
        ops: {
            let ops = server.spec.ops_state.as_ref().map_or("", |ops| ops.as_str());
            pools.text(if ops.is_empty() { "None" } else { ops })
        },
        deletion_priority: wish_or_fact(
            server.spec.deletion_priority.as_ref(),
            status.and_then(|status| status.deletion_priority.as_ref()),
            pools,
        ),
        update_priority: wish_or_fact(
            server.spec.update_priority.as_ref(),
            status.and_then(|status| status.update_priority.as_ref()),
            pools,
        ),
        network_disabled: server.spec.network_disabled.unwrap_or(false),
        network_type: pools.filled(network.and_then(|network| network.network_type.as_deref())),
        network_state: pools.filled(network.and_then(|network| network.current_network_state.as_deref())),
        addresses: addresses.map(|text| pools.text(text)).collect(),
        node: pools.filled(label(NODE_NAME)),
        labels: pairs(server.metadata.labels.as_ref(), pools),
        annotations: pairs(server.metadata.annotations.as_ref(), pools),
        qualities: status
            .map_or(&[][..], |status| &status.service_qualities_conditions)
            .iter()
            .map(|quality| Quality {
                name: pools.text(&quality.name),
                status: pools.filled(quality.status.as_deref()),
                result: pools.filled(quality.result.as_deref()),
            })
            .collect(),
        conditions: {
            let conditions = status.map_or(&[][..], |status| &status.conditions).iter();
            let conditions = conditions
                .map(|condition| Condition {
                    kind: pools.text(&condition.type_),
                    status: pools.text(&condition.status),
                    reason: pools.filled(condition.reason.as_deref()),
                })
                .collect();
            pools.conditions(conditions)
        },
    }
}

pub(crate) fn pod(pod: &SlimPod, players: &PlayersFrom, pools: &mut Pools) -> PodPart {
    let label =
        |key: &str| pod.metadata.labels.as_ref().and_then(|labels| labels.get(key)).map(String::as_str);
    let annotation =
        |key: &str| pod.metadata.annotations.as_ref().and_then(|map| map.get(key)).map(String::as_str);
    let (qualities, conditions): (Vec<_>, Vec<_>) = pod
        .status
        .conditions
        .iter()
        .partition(|condition| condition.type_.starts_with(QUALITY_CONDITION_PREFIX));
    PodPart {
        set: pools.filled(owner(&pod.metadata)),
        created: seconds(pod.metadata.creation_timestamp.as_ref()).unwrap_or(0),
        state: state::of_pod(pod).map(|state| pools.text(state)),
        ops: pools.filled(label(GS_OPS_STATE)),
        containers: containers(pod, pools),
        node: pools.filled(pod.spec.node_name.as_deref()),
        ip: pod.status.pod_ip.as_deref().and_then(|ip| ip.parse().ok()),
        revision: pools.filled(label(CONTROLLER_REVISION_HASH)),
        qualities: qualities
            .into_iter()
            .map(|condition| Quality {
                name: pools.text(&condition.type_[QUALITY_CONDITION_PREFIX.len()..]),
                status: pools.filled(Some(&condition.status)),
                // The probe's output, as OpenKruiseGame reads it.
                result: condition.message.as_deref().and_then(|message| {
                    let result = message.replace(['|', '\n', '\r'], "");
                    pools.filled(Some(cut(&result)))
                }),
            })
            .collect(),
        conditions: {
            let conditions = conditions
                .into_iter()
                .map(|condition| Condition {
                    kind: pools.text(&condition.type_),
                    status: pools.text(&condition.status),
                    reason: pools.filled(condition.reason.as_deref()),
                })
                .collect();
            pools.conditions(conditions)
        },
        players: match players {
            PlayersFrom::Annotation(key) => annotation(key).and_then(count),
            _ => None,
        },
        ready_changed: pod.condition("Ready").and_then(|ready| seconds(ready.last_transition_time.as_ref())),
        ops_changed: annotation(OPS_STATE_LAST_CHANGED_TIME)
            .and_then(|text| text.parse::<jiff::Timestamp>().ok())
            .map(jiff::Timestamp::as_second),
        deleting_since: seconds(pod.metadata.deletion_timestamp.as_ref()),
        crash_loop: crash_loop(pod, pools).map(Box::new),
    }
}

fn containers(pod: &SlimPod, pools: &mut Pools) -> Arc<[Container]> {
    let containers = pod
        .spec
        .containers
        .iter()
        .map(|container| {
            let status = pod.status.container_statuses.iter().find(|status| status.name == container.name);
            Container {
                name: pools.text(&container.name),
                image: pools.text(&container.image),
                restarts: status.map_or(0, |status| u32::try_from(status.restart_count).unwrap_or(0)),
                ready: status.is_some_and(|status| status.ready),
            }
        })
        .collect();
    pools.containers(containers)
}

fn crash_loop(pod: &SlimPod, pools: &mut Pools) -> Option<CrashLoop> {
    let all = pod.status.container_statuses.iter().chain(&pod.status.init_container_statuses);
    let mut looping = all.filter(|status| {
        status
            .state
            .waiting
            .as_ref()
            .is_some_and(|waiting| waiting.reason.as_deref() == Some("CrashLoopBackOff"))
    });
    let status = looping.next()?;
    let ended = status.last_state.terminated.as_ref();
    Some(CrashLoop {
        container: pools.text(&status.name),
        exit_code: ended.map(|ended| ended.exit_code),
        reason: pools.filled(ended.and_then(|ended| ended.reason.as_deref())),
        restarts: u32::try_from(status.restart_count).unwrap_or(0),
    })
}

fn pairs(map: Option<&BTreeMap<String, String>>, pools: &mut Pools) -> Pairs {
    let share = |value: &str, pools: &mut Pools| {
        let value = cut(value);
        if value.len() <= LONGEST_SHARED { pools.text(value) } else { value.into() }
    };
    map.into_iter().flatten().map(|(key, value)| (pools.text(key), share(value, pools))).collect()
}

/// The start of a value that is longer than the board keeps.
fn cut(value: &str) -> &str {
    let mut end = value.len().min(LONGEST_VALUE);
    while !value.is_char_boundary(end) {
        end -= 1;
    }
    &value[..end]
}

pub(crate) fn seconds(time: Option<&Time>) -> Option<i64> {
    time.map(|time| time.0.as_second())
}
