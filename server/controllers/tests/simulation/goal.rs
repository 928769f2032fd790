//! What a set has to come to when nothing goes wrong any more: as many servers as wanted, with the ids that the rules say,
//! each as its people want it, and a status that tells so.

use crate::facts::{self, NAMESPACE, PODS, SERVERS, SETS, label, number, text};
use sandbox::sim::history::{History, Object};
use serde_json::Value;
use std::collections::BTreeSet;

/// # Errors
/// What is not as it has to be.
pub fn reached(history: &History) -> Result<(), String> {
    let of_set = |resource: &str| -> Vec<Object> {
        let all = history.all(resource).into_iter();
        all.filter(|object| label(object, "game.kruise.io/owner-gss") == "g").collect()
    };
    let (pods, servers) = (of_set(PODS), of_set(SERVERS));
    let names = |objects: &[Object]| -> BTreeSet<String> {
        objects.iter().map(|object| text(object, "/metadata/name").to_owned()).collect()
    };
    let Some(set) = history.get(SETS, NAMESPACE, "g") else {
        let left = (names(&pods), names(&servers));
        return check(pods.is_empty() && servers.is_empty(), || format!("the set is gone, not so {left:?}"));
    };
    let replicas = number(&set, "/spec/replicas").unwrap_or(0);
    let observed = number(&set, "/status/observedGeneration");
    check(observed == number(&set, "/metadata/generation"), || {
        format!("observedGeneration is {observed:?}")
    })?;
    let acted = number(&set, "/status/actedReplicas");
    check(acted == Some(replicas), || format!("{replicas} replicas are wanted, acted on are {acted:?}"))?;
    let acted_reserve = facts::ids(set.pointer("/status/actedReserveIds"));
    check(acted_reserve == facts::reserved(&set), || format!("acted on is the reserve {acted_reserve:?}"))?;
    let wanted = facts::decided(&set).unwrap_or_default();
    let wanted: BTreeSet<String> = wanted.into_iter().map(|id| format!("g-{id}")).collect();
    check(names(&pods) == wanted, || format!("pods {:?} instead of {wanted:?}", names(&pods)))?;
    check(names(&servers) == wanted, || format!("GameServers {:?} instead of {wanted:?}", names(&servers)))?;
    for (pod, server) in pods.iter().zip(&servers) {
        one(pod, server)?;
    }
    for field in ["replicas", "currentReplicas", "readyReplicas"] {
        // A field that is not there is 0, for the scale subresource too.
        let told = number(&set, &format!("/status/{field}")).unwrap_or(0);
        check(told == replicas, || format!("status.{field} is {told}, not {replicas}"))?;
    }
    let scaled = set.pointer("/status/conditions").and_then(Value::as_array).into_iter().flatten();
    let scaled =
        scaled.filter(|c| text(c, "/type") == "Scaled").map(|c| text(c, "/status")).collect::<Vec<_>>();
    check(scaled == ["True"], || format!("condition Scaled is {scaled:?}"))
}

/// A pod and its GameServer agree.
fn one(pod: &Value, server: &Value) -> Result<(), String> {
    let name = text(pod, "/metadata/name");
    let differs = |what: &str, is: &str, should: &str| format!("{what} of {name} is {is:?}, not {should:?}");
    check(!facts::is_deleting(pod) && !facts::is_deleting(server), || format!("{name} is going"))?;
    let ops = text(server, "/spec/opsState");
    check(ops != "Kill", || format!("{name} still waits to be killed"))?;
    let priority = server.pointer("/spec/deletionPriority").map_or_else(String::new, ToString::to_string);
    let labels = [
        ("game.kruise.io/gs-opsState", ops),
        ("game.kruise.io/gs-delete-priority", priority.as_str()),
        ("game.kruise.io/gs-state", "Ready"),
    ];
    for (key, should) in labels {
        check(label(pod, key) == should, || differs(key, label(pod, key), should))?;
    }
    let state = text(server, "/status/currentState");
    check(state == "Ready", || differs("currentState", state, "Ready"))?;
    let image = text(pod, "/spec/containers/0/image");
    if let Some(wish) = server.pointer("/spec/containers/0/image").and_then(Value::as_str) {
        check(image == wish, || differs("image", image, wish))?;
    }
    let copied = server.pointer("/status/podStatus/containerStatuses/0/image").and_then(Value::as_str);
    check(copied == Some(image), || differs("copied image", copied.unwrap_or_default(), image))
}

fn check(holds: bool, why: impl FnOnce() -> String) -> Result<(), String> {
    if holds { Ok(()) } else { Err(why()) }
}
