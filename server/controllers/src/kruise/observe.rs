//! What the planning sees: typed facts taken from the cached objects, and nothing of the API around them.

use super::{
    ordinals::Ordinal,
    pod::ServerWishes,
    revision,
    set_plan::{ServerFacts, SetFacts, SetObservation},
    set_status,
    state::{Lifecycle, Phase, ServerState},
    validate::validate,
};
use crds::{
    kruise::{LifecycleHook, keys},
    slim::{SlimGameServer, SlimGameServerSet, SlimPod},
};
use jiff::Timestamp;
use k8s_openapi::apimachinery::pkg::{
    apis::meta::v1::{ObjectMeta, OwnerReference},
    util::intstr::IntOrString,
};
use std::{borrow::Borrow, collections::BTreeMap};

/// Who controls a pod.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Controller {
    /// The set that is being planned.
    #[default]
    Ours,
    /// Nobody: made by hand, or left over by a workload that was deleted with `--cascade=orphan`.
    Nobody,
    /// Something else, as `Kind/name`.
    Other(String),
}

/// One pod that carries the label `game.kruise.io/owner-gss` of the set.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PodFacts {
    /// Object name.
    pub name: String,
    /// Object uid.
    pub uid: String,
    /// Its id; `None` for a stray pod whose name is not `<set>-<id>`.
    pub ordinal: Option<Ordinal>,
    /// The GameServer's opsState, or label `game.kruise.io/gs-opsState` while it has none; empty when absent.
    pub ops_state: String,
    /// The GameServer's deletion priority, or label `game.kruise.io/gs-delete-priority`; empty when absent.
    pub deletion_priority: String,
    /// Label `game.kruise.io/gs-state`, empty when absent.
    pub state: String,
    /// Lifecycle label.
    pub lifecycle: Lifecycle,
    /// Whether it has a deletion timestamp.
    pub deleting: bool,
    /// Phase.
    pub phase: Phase,
    /// Ready condition: true only for status `True`, `None` when there is none.
    pub ready: Option<bool>,
    /// When the Ready condition changed the last time.
    pub ready_since: Option<Timestamp>,
    /// Label `controller-revision-hash`, empty when absent.
    pub revision: String,
    /// Creation time.
    pub created: Option<Timestamp>,
    /// Who controls it.
    pub controller: Controller,
    /// Whether a label or finalizer of the set's preDelete hook is on it, so that its removal has to wait.
    pub held: bool,
}

impl PodFacts {
    /// Whether it counts as a server of the set: alive and not waiting for a preDelete hook.
    #[must_use]
    pub fn counts(&self) -> bool {
        !self.deleting && self.lifecycle != Lifecycle::PreparingDelete
    }

    /// Whether it is ready now.
    #[must_use]
    pub fn is_ready(&self) -> bool {
        self.ready == Some(true) && !self.deleting
    }
}

/// Puts together what a plan of the set is made from: its object, its pods and its GameServers. What only the running
/// controller knows (whether the revision is stored, whether the API refused a pod) starts as unknown.
#[must_use]
pub fn observe_set(
    set: &SlimGameServerSet,
    pods: &[impl Borrow<SlimPod>],
    servers: &[impl Borrow<SlimGameServer>],
    now: Timestamp,
) -> SetObservation {
    let facts = set_facts(set);
    let spec = validate(set);
    let template = revision::pod_template(&facts.name, &spec);
    let mut pods: Vec<PodFacts> = pods
        .iter()
        .map(|pod| pod_facts(pod.borrow(), &facts.name, &facts.uid, spec.pre_delete.as_ref()))
        .collect();
    heed_wishes(&mut pods, servers, &facts.uid);
    let servers = servers.iter().filter_map(|server| {
        let server = server.borrow();
        let ordinal = Ordinal::of_member(&facts.name, server.metadata.name.as_deref()?)?;
        Some((ordinal, server_facts(server, &facts.uid)))
    });
    SetObservation {
        pods,
        servers: servers.collect(),
        acted: set_status::acted(set.status.as_ref()),
        revision: template
            .map(|template| revision::revision_name(&facts.name, &template))
            .unwrap_or_default(),
        set: facts,
        spec,
        revision_stored: false,
        refusal: None,
        now,
    }
}

/// What people want of a server counts as soon as its GameServer says so. The labels of its pod follow, and whoever was
/// made Allocated a moment ago must not be removed because they had not come that far. Labels count while there is no
/// GameServer, or only that of an earlier pod.
fn heed_wishes(pods: &mut [PodFacts], servers: &[impl Borrow<SlimGameServer>], set_uid: &str) {
    let by_name: BTreeMap<&str, &SlimGameServer> = servers
        .iter()
        .filter_map(|server| Some((server.borrow().metadata.name.as_deref()?, server.borrow())))
        .collect();
    for pod in pods {
        let Some(server) = by_name.get(pod.name.as_str()) else { continue };
        if controller_of(&server.metadata).is_some_and(|owner| owner.uid == pod.uid || owner.uid == set_uid) {
            let wishes = wishes(server);
            (pod.ops_state, pod.deletion_priority) = (wishes.ops_state, wishes.deletion_priority);
        }
    }
}

/// The facts of a set itself.
#[must_use]
pub fn set_facts(set: &SlimGameServerSet) -> SetFacts {
    let meta = &set.metadata;
    SetFacts {
        namespace: meta.namespace.clone().unwrap_or_default(),
        name: meta.name.clone().unwrap_or_default(),
        uid: meta.uid.clone().unwrap_or_default(),
        resource_version: meta.resource_version.clone().unwrap_or_default(),
        generation: meta.generation.unwrap_or_default(),
        deleting: meta.deletion_timestamp.is_some(),
        reserve_annotation: meta.annotations.as_ref().and_then(|map| map.get(keys::RESERVE_IDS)).cloned(),
    }
}

/// The facts of a pod of the set with this name and uid.
#[must_use]
pub fn pod_facts(
    pod: &SlimPod,
    set_name: &str,
    set_uid: &str,
    pre_delete: Option<&LifecycleHook>,
) -> PodFacts {
    let meta = &pod.metadata;
    let ready = pod.condition("Ready");
    let name = meta.name.clone().unwrap_or_default();
    PodFacts {
        ordinal: Ordinal::of_member(set_name, &name),
        name,
        uid: meta.uid.clone().unwrap_or_default(),
        ops_state: label(meta, keys::GS_OPS_STATE).to_owned(),
        deletion_priority: label(meta, keys::GS_DELETE_PRIORITY).to_owned(),
        state: label(meta, keys::GS_STATE).to_owned(),
        lifecycle: lifecycle(pod),
        deleting: meta.deletion_timestamp.is_some(),
        phase: Phase::parse(&pod.status.phase),
        ready: ready.map(|condition| condition.status == "True"),
        ready_since: ready.and_then(|condition| condition.last_transition_time.as_ref()).map(|time| time.0),
        revision: label(meta, keys::CONTROLLER_REVISION_HASH).to_owned(),
        created: meta.creation_timestamp.as_ref().map(|time| time.0),
        controller: match controller_of(meta) {
            None => Controller::Nobody,
            Some(owner) if owner.uid == set_uid => Controller::Ours,
            Some(owner) => Controller::Other(format!("{}/{}", owner.kind, owner.name)),
        },
        held: pre_delete.is_some_and(|hook| is_held(meta, hook)),
    }
}

/// The facts of a GameServer of the set with this uid.
#[must_use]
pub fn server_facts(server: &SlimGameServer, set_uid: &str) -> ServerFacts {
    ServerFacts {
        uid: server.metadata.uid.clone().unwrap_or_default(),
        marked: label(&server.metadata, keys::GS_DELETING) == "true",
        owned_by_set: controller_of(&server.metadata).is_some_and(|owner| owner.uid == set_uid),
        wishes: wishes(server),
    }
}

/// What a GameServer wants its pod to be.
#[must_use]
pub fn wishes(server: &SlimGameServer) -> ServerWishes {
    let spec = &server.spec;
    let synced = |map: Option<&BTreeMap<String, String>>| {
        let pairs = map.into_iter().flatten().filter(|(key, _)| key.starts_with(keys::GS_SYNC_PREFIX));
        pairs.map(|(key, value)| (key.clone(), value.clone())).collect()
    };
    ServerWishes {
        ops_state: spec.ops_state.as_ref().map(ToString::to_string).unwrap_or_default(),
        deletion_priority: priority_text(spec.deletion_priority.as_ref()),
        update_priority: priority_text(spec.update_priority.as_ref()),
        network_disabled: spec.network_disabled.unwrap_or_default(),
        sync_labels: synced(server.metadata.labels.as_ref()),
        sync_annotations: synced(server.metadata.annotations.as_ref()),
        containers: spec.containers.clone(),
    }
}

/// The state that a pod shows.
#[must_use]
pub fn state_of(pod: &SlimPod) -> ServerState {
    ServerState::of_pod(
        Phase::parse(&pod.status.phase),
        pod.metadata.deletion_timestamp.is_some(),
        lifecycle(pod),
        pod.condition("Ready").map(|condition| condition.status == "True"),
    )
}

/// A label's value, empty when it is absent.
#[must_use]
pub fn label<'a>(meta: &'a ObjectMeta, key: &str) -> &'a str {
    meta.labels.as_ref().and_then(|labels| labels.get(key)).map_or("", String::as_str)
}

/// An annotation's value.
#[must_use]
pub fn annotation<'a>(meta: &'a ObjectMeta, key: &str) -> Option<&'a str> {
    meta.annotations.as_ref().and_then(|annotations| annotations.get(key)).map(String::as_str)
}

/// The owner that controls an object.
#[must_use]
pub fn controller_of(meta: &ObjectMeta) -> Option<&OwnerReference> {
    meta.owner_references.iter().flatten().find(|owner| owner.controller == Some(true))
}

fn lifecycle(pod: &SlimPod) -> Lifecycle {
    Lifecycle::parse(label(&pod.metadata, keys::LIFECYCLE_STATE))
}

fn is_held(meta: &ObjectMeta, hook: &LifecycleHook) -> bool {
    let has_label =
        hook.labels_handler.iter().any(|(key, value)| !key.is_empty() && label(meta, key) == value);
    let finalizers = meta.finalizers.iter().flatten();
    has_label || finalizers.into_iter().any(|own| hook.finalizers_handler.contains(own))
}

fn priority_text(priority: Option<&IntOrString>) -> String {
    match priority {
        None => String::new(),
        Some(IntOrString::Int(number)) => number.to_string(),
        Some(IntOrString::String(text)) => text.clone(),
    }
}
