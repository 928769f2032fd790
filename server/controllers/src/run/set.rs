//! Reconciling one GameServerSet: fetch → validate → plan → apply → status.

use super::{Next, SET_CONTROLLER, Shared};
use crate::{
    cache::{Expect, Key},
    kruise::{
        json::merge_diff,
        observe::observe_set,
        ordinals::Ordinal,
        pod::{PodRecipe, ServerWishes, build_claims, build_pod, set_owner},
        revision,
        set_plan::{self, Acted, PlannedEvent, Refusal, SetAction, SetObservation, SetPlan},
        set_status,
        state::Lifecycle,
    },
    write::{Category, Kind, WriteError, Written},
};
use crds::{kruise::keys, slim::SlimGameServerSet};
use futures::{StreamExt, stream};
use k8s_openapi::api::apps::v1::ControllerRevision;
use kube::{Api, Resource, ResourceExt, api::ListParams};
use serde_json::{Value, json};
use std::{collections::HashSet, sync::Arc, time::Duration};

/// Pause after the first refusal of a pod; it doubles with each further one.
const REFUSAL_FIRST: Duration = Duration::from_secs(5);
/// Longest pause between two attempts with a template that the API refuses.
const REFUSAL_LONGEST: Duration = Duration::from_secs(60);

/// Revisions that are kept although no pod is on them, as with a StatefulSet.
const REVISIONS_KEPT: usize = 10;

/// What is remembered of a set between two reconciles. Losing it costs a request, never a decision.
#[derive(Default)]
pub(super) struct Memory {
    uid: String,
    stored_revisions: HashSet<String>,
    refusal: Option<Refusal>,
    refusals: u32,
}

pub(super) async fn reconcile(shared: &Shared, key: Key) -> Result<Next, WriteError> {
    let Some((set, seen)) = fetch(shared, &key) else {
        shared.memory().remove(&key);
        return Ok(Next { gone: true, ..Next::default() });
    };
    let applied = apply(shared, &key, &seen).await;
    let applied = applied.map(|events| {
        for event in events {
            shared.events.tell(SET_CONTROLLER, set.object_ref(&()), event);
        }
    });
    // The status tells how it is now, also when something failed: why the set is not what it should be.
    let Some((set, seen)) = fetch(shared, &key) else { return applied.map(|()| Next::default()) };
    let plan = set_plan::plan(&seen);
    let written = write_status(shared, &key, &set, &seen, &plan).await;
    applied?;
    written?;
    let pauses = [plan.look_again, set_status::next_available(&seen)];
    let look_again =
        if plan.actions.is_empty() { pauses.into_iter().flatten().min() } else { Some(Duration::ZERO) };
    Ok(Next { look_again, ..Next::default() })
}

/// Steps *fetch* and *validate*.
fn fetch(shared: &Shared, key: &Key) -> Option<(Arc<SlimGameServerSet>, SetObservation)> {
    let set = shared.caches.sets.get(key)?;
    let (pods, servers) = (shared.caches.pods_of(key), shared.caches.servers_of(key));
    let mut seen = observe_set(&set, &as_refs(&pods), &as_refs(&servers), shared.options.clock.now());
    let mut memory = shared.memory();
    let memory = memory.entry(key.clone()).or_default();
    if memory.uid != seen.set.uid {
        // Another set of the same name.
        *memory = Memory { uid: seen.set.uid.clone(), ..Memory::default() };
    }
    seen.revision_stored = memory.stored_revisions.contains(&seen.revision);
    seen.refusal.clone_from(&memory.refusal);
    Some((set, seen))
}

fn as_refs<T>(list: &[Arc<T>]) -> Vec<&T> {
    list.iter().map(|item| &**item).collect()
}

/// Does what the plan says; returns what is to be told.
async fn apply(shared: &Shared, key: &Key, seen: &SetObservation) -> Result<Vec<PlannedEvent>, WriteError> {
    let mut plan = set_plan::plan(seen);
    let mut events = std::mem::take(&mut plan.events);
    if !plan.actions.iter().any(SetAction::is_decision) {
        return carry_out(shared, key, seen, &plan).await.map(|()| events);
    }
    decide(shared, key, seen, &plan).await?;
    // Writing the decision took a while. What was learnt meanwhile may be that a server who was to go is Allocated now, so
    // nothing is removed before another look; a decision that has to be made anew ends this run.
    let Some((_, seen)) = fetch(shared, key) else { return Ok(events) };
    let plan = set_plan::plan(&seen);
    if !plan.actions.iter().any(SetAction::is_decision) {
        carry_out(shared, key, &seen, &plan).await?;
        events.extend(plan.events.into_iter().filter(|event| !events.contains(event)).collect::<Vec<_>>());
    }
    Ok(events)
}

/// The part of a plan that is written before a pod is touched.
async fn decide(shared: &Shared, key: &Key, seen: &SetObservation, plan: &SetPlan) -> Result<(), WriteError> {
    let mut marks = Vec::new();
    for action in &plan.actions {
        match action {
            SetAction::LowerReplicas { to, .. } => lower_replicas(shared, key, seen, *to).await?,
            SetAction::WriteReserve(ids) => {
                let patch = json!({
                    "metadata": {
                        "resourceVersion": seen.set.resource_version,
                        "annotations": { keys::RESERVE_IDS: ids.to_text(",") },
                    },
                    "spec": { "reserveGameServerIds": ids.compress() },
                });
                let written = shared.writer.merge(Kind::Set, &key.namespace, &key.name, &patch).await?;
                set_seen(shared, key, &written).await;
            }
            SetAction::WriteActed(acted) => write_acted(shared, key, seen, acted).await?,
            SetAction::MirrorReserve(text) => {
                let patch = json!({ "metadata": { "uid": seen.set.uid, "annotations": { keys::RESERVE_IDS: text } } });
                let written = shared.writer.merge(Kind::Set, &key.namespace, &key.name, &patch).await?;
                set_seen(shared, key, &written).await;
            }
            SetAction::StoreRevision => store_revision(shared, key, seen).await?,
            SetAction::MarkServer { .. } => marks.push(touch(shared, key, seen, action)),
            _ => {}
        }
    }
    side_by_side(shared, marks).await
}

/// The pods of a plan.
async fn carry_out(
    shared: &Shared,
    key: &Key,
    seen: &SetObservation,
    plan: &SetPlan,
) -> Result<(), WriteError> {
    let mut removals = Vec::new();
    let mut creations = Vec::new();
    for action in &plan.actions {
        match action {
            SetAction::HoldPod { .. } | SetAction::DeletePod { .. } | SetAction::AdoptPod { .. } => {
                removals.push(touch(shared, key, seen, action));
            }
            SetAction::CreatePod(ordinal) => creations.push(*ordinal),
            _ => {}
        }
    }
    side_by_side(shared, removals).await?;
    create_pods(shared, key, seen, &creations).await
}

/// Runs independent writes at once; all of them are tried, the first failure is told.
async fn side_by_side<F: Future<Output = Result<(), WriteError>>>(
    shared: &Shared,
    writes: Vec<F>,
) -> Result<(), WriteError> {
    let results: Vec<_> =
        stream::iter(writes).buffer_unordered(shared.options.writes_in_flight.max(1)).collect().await;
    results.into_iter().collect()
}

async fn lower_replicas(
    shared: &Shared,
    key: &Key,
    seen: &SetObservation,
    to: u32,
) -> Result<(), WriteError> {
    let patch = json!({
        // A test on the old number would not do: people may have set another one since, and then the same again.
        "metadata": { "resourceVersion": seen.set.resource_version },
        "spec": { "replicas": to },
    });
    let written = shared.writer.merge(Kind::Set, &key.namespace, &key.name, &patch).await?;
    set_seen(shared, key, &written).await;
    Ok(())
}

async fn write_acted(
    shared: &Shared,
    key: &Key,
    seen: &SetObservation,
    acted: &Acted,
) -> Result<(), WriteError> {
    let patch = json!({
        // What is acted on follows from what was read: another version might have to be acted on differently.
        "metadata": { "resourceVersion": seen.set.resource_version },
        "status": {
            "actedReplicas": acted.replicas,
            "actedReserveIds": acted.reserve.compress(),
            "implicitReserveIds": acted.implicit.compress(),
        },
    });
    let written = shared.writer.merge(Kind::SetStatus, &key.namespace, &key.name, &patch).await?;
    set_seen(shared, key, &written).await;
    Ok(())
}

async fn set_seen(shared: &Shared, key: &Key, written: &Written) {
    let expect = Expect::version(written.resource_version.as_deref());
    if !shared.caches.sets.wait_seen(key, expect, shared.options.seen_timeout).await {
        tracing::debug!(key = %key, "the watch is behind: an own write has not come back yet");
    }
}

async fn store_revision(shared: &Shared, key: &Key, seen: &SetObservation) -> Result<(), WriteError> {
    let Some(template) = revision::pod_template(&key.name, &seen.spec) else { return Ok(()) };
    let object = json!({
        "apiVersion": "apps/v1",
        "kind": "ControllerRevision",
        "metadata": {
            "name": seen.revision,
            "namespace": key.namespace,
            "labels": { keys::OWNER_GSS: key.name },
            "ownerReferences": [set_owner(&key.name, &seen.set.uid)],
        },
        "data": { "spec": { "template": template } },
        // Generations grow with every change of the spec, so a newer template has a higher number.
        "revision": seen.set.generation,
    });
    match shared.writer.create(Kind::Revision, &key.namespace, &object).await {
        Err(error) if error.category != Category::AlreadyExists => return Err(error),
        _ => {}
    }
    if let Some(memory) = shared.memory().get_mut(key) {
        memory.stored_revisions.insert(seen.revision.clone());
    }
    forget_old_revisions(shared, key, seen).await;
    Ok(())
}

/// Keeps the newest revisions that no pod is on any more, as a StatefulSet does. A failure costs nothing: the next new
/// template tries again.
async fn forget_old_revisions(shared: &Shared, key: &Key, seen: &SetObservation) {
    let api: Api<ControllerRevision> = Api::namespaced(shared.client.clone(), &key.namespace);
    let mine = ListParams::default().labels(&format!("{}={}", keys::OWNER_GSS, key.name));
    let Ok(list) = api.list(&mine).await else { return };
    let in_use = |name: &str| name == seen.revision || seen.pods.iter().any(|pod| pod.revision == name);
    let mut old: Vec<_> = list.into_iter().filter(|revision| !in_use(&revision.name_any())).collect();
    old.sort_by_key(|revision| std::cmp::Reverse(revision.revision));
    for revision in old.into_iter().skip(REVISIONS_KEPT) {
        let (name, uid) = (revision.name_any(), revision.uid().unwrap_or_default());
        let deleted = shared.writer.delete(Kind::Revision, &key.namespace, &name, &uid, None).await;
        if let Err(error) = deleted {
            tracing::debug!(%key, %error, "an old revision stays");
        }
        if let Some(memory) = shared.memory().get_mut(key) {
            memory.stored_revisions.remove(&name);
        }
    }
}

/// One write to a pod or a GameServer. That it is gone, or another one by now, is what the next look finds out.
async fn touch(
    shared: &Shared,
    key: &Key,
    seen: &SetObservation,
    action: &SetAction,
) -> Result<(), WriteError> {
    let labels = |uid: &str, labels: Value| json!({ "metadata": { "uid": uid, "labels": labels } });
    let result = match action {
        SetAction::MarkServer { name, uid, leaving } => {
            let patch = labels(uid, json!({ keys::GS_DELETING: leaving.to_string() }));
            patch_and_see(shared, Kind::Server, &Key::new(&key.namespace, name), &patch).await
        }
        SetAction::HoldPod { name, uid } => {
            let patch = labels(uid, json!({ keys::LIFECYCLE_STATE: Lifecycle::PREPARING_DELETE }));
            patch_and_see(shared, Kind::Pod, &Key::new(&key.namespace, name), &patch).await
        }
        SetAction::AdoptPod { name, uid } => {
            let pod = Key::new(&key.namespace, name);
            let patch = adoption(shared, &pod, uid, seen);
            patch_and_see(shared, Kind::Pod, &pod, &patch).await
        }
        SetAction::DeletePod { name, uid } => {
            let deleted = shared.writer.delete(Kind::Pod, &key.namespace, name, uid, None).await;
            if deleted.is_ok() {
                let (pod, expect) = (Key::new(&key.namespace, name), Expect::Removal { uid: uid.clone() });
                shared.caches.pods.wait_seen(&pod, expect, shared.options.seen_timeout).await;
            }
            deleted
        }
        _ => Ok(()),
    };
    match result {
        Err(error) if matches!(error.category, Category::NotFound | Category::Conflict) => Ok(()),
        other => other,
    }
}

async fn patch_and_see(shared: &Shared, kind: Kind, object: &Key, patch: &Value) -> Result<(), WriteError> {
    let written = shared.writer.merge(kind, &object.namespace, &object.name, patch).await?;
    let expect = Expect::version(written.resource_version.as_deref());
    let timeout = shared.options.seen_timeout;
    if kind == Kind::Pod {
        shared.caches.pods.wait_seen(object, expect, timeout).await;
    } else {
        shared.caches.servers.wait_seen(object, expect, timeout).await;
    }
    Ok(())
}

/// Adds the set to the owners of a pod; what else owns it, stays.
fn adoption(shared: &Shared, pod: &Key, uid: &str, seen: &SetObservation) -> Value {
    let cached = shared.caches.pods.get(pod);
    let owners = cached.as_ref().and_then(|pod| pod.metadata.owner_references.clone()).unwrap_or_default();
    let mut owners: Vec<Value> = owners.into_iter().map(|owner| json!(owner)).collect();
    owners.push(set_owner(&seen.set.name, &seen.set.uid));
    let version = cached.as_ref().and_then(|pod| pod.metadata.resource_version.clone());
    // The list is replaced whole, so it has to be the list that was read.
    json!({ "metadata": { "uid": uid, "resourceVersion": version, "ownerReferences": owners } })
}

/// Creates pods, first one, then two, four and so on: a template that the API refuses is tried once and not a thousand
/// times.
async fn create_pods(
    shared: &Shared,
    key: &Key,
    seen: &SetObservation,
    ordinals: &[Ordinal],
) -> Result<(), WriteError> {
    let mut rest = ordinals;
    let mut batch = 1;
    while !rest.is_empty() {
        let (now, later) = rest.split_at(batch.min(rest.len()));
        rest = later;
        batch *= 2;
        let writes = now.iter().map(|ordinal| create_server(shared, key, seen, *ordinal)).collect();
        let created = side_by_side(shared, writes).await;
        if let Err(error) = created {
            if matches!(error.category, Category::Invalid | Category::Forbidden) {
                note_refusal(shared, key, seen, &error);
                // It is told in a condition and tried again later; the queue's own back-off would hammer on.
                return Ok(());
            }
            return Err(error);
        }
    }
    if !ordinals.is_empty()
        && let Some(memory) = shared.memory().get_mut(key)
    {
        memory.refusal = None;
        memory.refusals = 0;
    }
    Ok(())
}

async fn create_server(
    shared: &Shared,
    key: &Key,
    seen: &SetObservation,
    ordinal: Ordinal,
) -> Result<(), WriteError> {
    let Some(template) = revision::pod_template(&key.name, &seen.spec) else { return Ok(()) };
    let new = ServerWishes::default();
    let outlived = seen.servers.get(&ordinal).filter(|server| server.owned_by_set);
    let recipe = PodRecipe {
        namespace: &key.namespace,
        set_name: &key.name,
        set_uid: &seen.set.uid,
        service_name: &seen.spec.service_name,
        template: &template,
        claims: seen.spec.template.as_ref().map_or(&[], |valid| &valid.claims),
        revision: &seen.revision,
        ordinal,
        wishes: outlived.map_or(&new, |server| &server.wishes),
        now: seen.now,
    };
    for claim in build_claims(recipe) {
        match shared.writer.create(Kind::Claim, &key.namespace, &json!(claim)).await {
            Err(error) if error.category != Category::AlreadyExists => return Err(error),
            _ => {}
        }
    }
    let pod = build_pod(recipe);
    match shared.writer.create(Kind::Pod, &key.namespace, &pod).await {
        Ok(written) => {
            let expect = Expect::version(written.resource_version.as_deref());
            let pod = Key::new(&key.namespace, ordinal.member_name(&key.name));
            shared.caches.pods.wait_seen(&pod, expect, shared.options.seen_timeout).await;
            Ok(())
        }
        // Ours that the cache does not show yet, or a stranger's: the next look tells.
        Err(error) if error.category == Category::AlreadyExists => Ok(()),
        Err(error) => Err(error),
    }
}

fn note_refusal(shared: &Shared, key: &Key, seen: &SetObservation, error: &WriteError) {
    let mut memory = shared.memory();
    let Some(memory) = memory.get_mut(key) else { return };
    let again = memory.refusal.as_ref().is_some_and(|refusal| refusal.revision == seen.revision);
    memory.refusals = if again { memory.refusals.saturating_add(1) } else { 1 };
    let pause =
        REFUSAL_FIRST.saturating_mul(2u32.saturating_pow(memory.refusals.min(10) - 1)).min(REFUSAL_LONGEST);
    memory.refusal = Some(Refusal {
        revision: seen.revision.clone(),
        message: error.message.clone(),
        retry_at: shared.options.clock.now() + pause,
    });
    if let Some(set) = shared.caches.sets.get(key) {
        let message = format!("create pod {}: {}", error.name, error.message);
        let event = PlannedEvent { warning: true, reason: "FailedCreate", message };
        shared.events.tell(SET_CONTROLLER, set.object_ref(&()), event);
    }
}

/// Step *status*.
async fn write_status(
    shared: &Shared,
    key: &Key,
    set: &SlimGameServerSet,
    seen: &SetObservation,
    plan: &SetPlan,
) -> Result<(), WriteError> {
    let status = set_status::status(seen, plan, set.status.as_ref());
    let before = set.status.as_ref().map_or_else(|| json!({}), |status| json!(status));
    let Some(patch) = merge_diff(&before, &json!(status)) else { return Ok(()) };
    let patch = json!({ "metadata": { "uid": seen.set.uid }, "status": patch });
    match shared.writer.merge(Kind::SetStatus, &key.namespace, &key.name, &patch).await {
        Ok(written) => {
            set_seen(shared, key, &written).await;
            Ok(())
        }
        Err(error) if matches!(error.category, Category::NotFound) => Ok(()),
        Err(error) => Err(error),
    }
}
