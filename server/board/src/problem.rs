//! What is wrong with a set, as a reason: from what could not be read and from the conditions that the controller
//! writes.

use crds::slim::SlimGameServerSet;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use wire::error::Reason;

use crate::read::seconds;

/// Condition of the set controller: the spec can be acted on.
const VALID: &str = "Valid";
/// Condition of the set controller: exactly the wanted servers exist.
const SCALED: &str = "Scaled";
/// Condition of the set controller: the network that the spec asks for is served.
const NETWORK_READY: &str = "NetworkReady";

fn failed<'a>(set: &'a SlimGameServerSet, kind: &str) -> Option<&'a Condition> {
    let conditions = set.status.as_ref().map_or(&[][..], |status| &status.conditions);
    conditions.iter().find(|condition| condition.type_ == kind && condition.status == "False")
}

fn reason(code: &str, set: &SlimGameServerSet, message: &str) -> Reason {
    let name = set.metadata.name.as_deref().unwrap_or("");
    Reason::new(code, format!("{name}: {message}")).with("set", name).with("message", message)
}

/// The worst thing that is wrong with a set. Codes: `set-unreadable`, `set-invalid`, `pods-refused`, `name-taken`,
/// `network-not-served`; arguments `set` and `message`.
pub(crate) fn of_set(set: &SlimGameServerSet) -> Option<Reason> {
    if let Some(error) = &set.spec_error {
        return Some(reason("set-unreadable", set, error));
    }
    if let Some(invalid) = failed(set, VALID) {
        return Some(reason("set-invalid", set, &invalid.message));
    }
    if let Some(waiting) = failed(set, SCALED) {
        match waiting.reason.as_str() {
            "PodTemplateRefused" => return Some(reason("pods-refused", set, &waiting.message)),
            "NameTaken" => return Some(reason("name-taken", set, &waiting.message)),
            _ => {}
        }
    }
    failed(set, NETWORK_READY).map(|network| reason("network-not-served", set, &network.message))
}

/// What a set that is not scaled waits for, and since when (Unix seconds).
pub(crate) fn waiting(set: &SlimGameServerSet) -> Option<(Reason, i64)> {
    let condition = failed(set, SCALED)?;
    let since = seconds(Some(&condition.last_transition_time))?;
    Some((reason("not-scaled", set, &condition.message), since))
}
