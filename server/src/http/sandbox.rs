//! Trouble on purpose, for the sandbox's own page and for scripts: `/sandbox/…`. Without a sandbox there is none of it.

use crate::{
    auth::Caller,
    http::{
        AppState,
        errors::{Answer, Failure},
        extract::Body,
    },
};
use axum::{
    Json, Router,
    extract::{Path, State},
    routing::{get, post},
};
use crds::kruise::GameServer;
use jiff::SignedDuration;
use k8s_openapi::api::core::v1::{Node, Pod};
use kube::{
    Api,
    api::{Patch, PatchParams},
};
use sandbox::{
    api::Server,
    nodes::{ANNOTATION_PREFIX, DOWN_ANNOTATION, SYNCED_PREFIX},
};
use serde_json::{Value, json};
use std::{collections::BTreeMap, time::Duration};
use wire::sandbox::{MOST_PODS, SandboxNode, Trouble, TroubleOrder, TroubledPod, WishOrder, Wishes};

/// Longest trouble and longest delay that one may order, in seconds.
const LONGEST: u32 = 3600;
/// Farthest jump of the clock in one order, in seconds: ten years.
const FARTHEST: i64 = 10 * 365 * 24 * 3600;
/// Nodes that are listed; a sandbox may have thousands.
const MOST_NODES: usize = 200;
/// What clients of a busy server are told to wait.
const RETRY_AFTER: Duration = Duration::from_secs(1);

/// Whole names of annotations and their values; none takes one away.
type Annotations = BTreeMap<String, Option<String>>;

/// The routes.
pub fn router() -> Router<AppState> {
    Router::new()
        .route("/trouble", get(going).post(order).delete(end))
        .route("/pods/{namespace}/{name}", post(pod))
        .route("/nodes/{name}", post(node))
}

fn server(state: &AppState) -> Answer<&Server> {
    state.sandbox.as_ref().ok_or_else(|| Failure::not_found(&"sandbox here"))
}

/// `GET /sandbox/trouble`: what goes on.
async fn going(State(state): State<AppState>, _caller: Caller) -> Answer<Json<Trouble>> {
    Ok(Json(trouble(server(&state)?)))
}

/// `POST /sandbox/trouble`: begins, changes or ends trouble of the API server; answers what goes on then.
async fn order(
    State(state): State<AppState>,
    _caller: Caller,
    Body(order): Body<TroubleOrder>,
) -> Answer<Json<Trouble>> {
    let server = server(&state)?;
    check(&order)?;
    let faults = server.faults();
    let seconds = |seconds: u32| Duration::from_secs(seconds.into());
    if let Some(time) = order.unavailable_seconds {
        faults.unavailable_for(seconds(time));
    }
    if let Some(time) = order.throttled_seconds {
        faults.throttle_for(seconds(time), RETRY_AFTER);
    }
    if let Some(percent) = order.conflict_percent {
        faults.conflicts(f64::from(percent) / 100.0);
    }
    if let Some(delay) = order.watch_delay_seconds {
        faults.delay_watches(seconds(delay));
    }
    if let Some(jump) = order.clock_jump_seconds {
        server.clock().jump(SignedDuration::from_secs(jump));
    }
    if order.expire_watches {
        server.compact();
        faults.expire_watches();
    }
    if order.drop_watches {
        faults.drop_watches();
    }
    // Last: with it the watches are cut.
    match order.away_seconds {
        Some(0) => faults.back(),
        Some(time) => faults.away_for(seconds(time)),
        None => {}
    }
    tracing::info!(?order, "trouble in the sandbox, on purpose");
    Ok(Json(trouble(server)))
}

fn check(order: &TroubleOrder) -> Answer<()> {
    let times = [
        ("awaySeconds", order.away_seconds),
        ("unavailableSeconds", order.unavailable_seconds),
        ("throttledSeconds", order.throttled_seconds),
        ("watchDelaySeconds", order.watch_delay_seconds),
    ];
    for (name, time) in times {
        if time.is_some_and(|time| time > LONGEST) {
            return Err(Failure::bad_parameter(name, format!("{name} is at most {LONGEST}")));
        }
    }
    if order.conflict_percent.is_some_and(|percent| percent > 100) {
        return Err(Failure::bad_parameter("conflictPercent", "conflictPercent is at most 100"));
    }
    if order.clock_jump_seconds.is_some_and(|jump| jump.unsigned_abs() > FARTHEST.unsigned_abs()) {
        let why = format!("clockJumpSeconds is at most {FARTHEST} either way");
        return Err(Failure::bad_parameter("clockJumpSeconds", why));
    }
    Ok(())
}

/// `DELETE /sandbox/trouble`: ends all of it, on pods and nodes too. The clock stays where it jumped to.
async fn end(State(state): State<AppState>, _caller: Caller) -> Answer<Json<Trouble>> {
    let server = server(&state)?;
    server.faults().clear();
    for pod in troubled(server) {
        let order = pod.trouble.into_keys().map(|key| (key, None)).collect();
        wish(server, &pod.namespace, &pod.name, order).await?;
    }
    for found in server.holding("nodes", DOWN_ANNOTATION, usize::MAX) {
        let up = Annotations::from([(DOWN_ANNOTATION.to_owned(), None)]);
        annotate(&Api::<Node>::all(server.spared_client()), text(&found, "name"), &up).await?;
    }
    Ok(Json(trouble(server)))
}

/// `POST /sandbox/pods/NAMESPACE/NAME`: trouble of one pod by name and value, null ends it.
async fn pod(
    State(state): State<AppState>,
    _caller: Caller,
    Path((namespace, name)): Path<(String, String)>,
    Body(order): Body<WishOrder>,
) -> Answer<Json<Trouble>> {
    let server = server(&state)?;
    if let Some(key) = order.keys().find(|key| !is_trouble(key)) {
        let known = sandbox::nodes::TROUBLE.join(", ");
        return Err(Failure::bad_parameter(
            "trouble",
            format!("there is no trouble `{key}`; there is: {known}"),
        ));
    }
    wish(server, &namespace, &name, order).await?;
    Ok(Json(trouble(server)))
}

/// Begins or ends trouble of a pod. What is asked for on its GameServer ends there first: it would come back from there.
async fn wish(server: &Server, namespace: &str, name: &str, order: WishOrder) -> Answer<()> {
    let ended = order.iter().filter(|(_, value)| value.is_none());
    let synced: Annotations = ended.map(|(key, _)| (format!("{SYNCED_PREFIX}{key}"), None)).collect();
    if !synced.is_empty() {
        let servers: Api<GameServer> = Api::namespaced(server.spared_client(), namespace);
        match annotate(&servers, name, &synced).await {
            // A pod without a GameServer, or a cluster without our resources.
            Err(failure) if failure.0.status == 404 => {}
            done => done?,
        }
    }
    let mut annotations = synced;
    annotations.extend(order.into_iter().map(|(key, value)| (format!("{ANNOTATION_PREFIX}{key}"), value)));
    annotate(&Api::<Pod>::namespaced(server.spared_client(), namespace), name, &annotations).await
}

/// `POST /sandbox/nodes/NAME`: `{"down": "true"}`, or null to bring it up again.
async fn node(
    State(state): State<AppState>,
    _caller: Caller,
    Path(name): Path<String>,
    Body(order): Body<WishOrder>,
) -> Answer<Json<Trouble>> {
    let server = server(&state)?;
    if let Some(key) = order.keys().find(|key| *key != down_key()) {
        let why = format!("there is no trouble `{key}` of nodes; there is: {}", down_key());
        return Err(Failure::bad_parameter("trouble", why));
    }
    let down = order.into_values().map(|value| (DOWN_ANNOTATION.to_owned(), value)).collect();
    annotate(&Api::<Node>::all(server.spared_client()), &name, &down).await?;
    Ok(Json(trouble(server)))
}

fn is_trouble(key: &str) -> bool {
    sandbox::nodes::TROUBLE.contains(&key)
}

fn down_key() -> &'static str {
    DOWN_ANNOTATION.trim_start_matches(ANNOTATION_PREFIX)
}

/// Writes annotations, as anybody could with kubectl.
async fn annotate<K>(api: &Api<K>, name: &str, annotations: &Annotations) -> Answer<()>
where
    K: Clone + serde::de::DeserializeOwned + std::fmt::Debug,
{
    if !annotations.is_empty() {
        let patch = Patch::Merge(json!({ "metadata": { "annotations": annotations } }));
        // Only metadata comes back: what else an object lacks is no matter here.
        api.patch_metadata(name, &PatchParams::default(), &patch).await?;
    }
    Ok(())
}

/// Pods with trouble.
fn troubled(server: &Server) -> Vec<TroubledPod> {
    // Both prefixes hold this text.
    let pods = server.holding("pods", ANNOTATION_PREFIX.trim_end_matches('/'), usize::MAX);
    let told = pods.iter().map(|pod| TroubledPod {
        namespace: text(pod, "namespace").to_owned(),
        name: text(pod, "name").to_owned(),
        trouble: wishes(pod),
    });
    told.filter(|pod| !pod.trouble.is_empty()).collect()
}

/// What goes on now.
fn trouble(server: &Server) -> Trouble {
    let going = server.faults().going();
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a share from 0 to 1")]
    let conflict_percent = (going.conflicts * 100.0).round() as u32;
    let mut pods = troubled(server);
    pods.truncate(MOST_PODS);
    Trouble {
        away_seconds: seconds(going.away),
        unavailable_seconds: seconds(going.unavailable),
        throttled_seconds: seconds(going.throttled),
        conflict_percent,
        watch_delay_seconds: seconds(going.watch_delay),
        clock_ahead_seconds: server.clock().ahead().as_secs(),
        nodes: server.holding("nodes", "", MOST_NODES).iter().map(seen_node).collect(),
        pods,
    }
}

/// Whole seconds, a begun one counted.
fn seconds(time: Duration) -> u32 {
    u32::try_from(time.as_millis().div_ceil(1000)).unwrap_or(u32::MAX)
}

fn seen_node(node: &Value) -> SandboxNode {
    let conditions = node["status"]["conditions"].as_array().into_iter().flatten();
    SandboxNode {
        name: text(node, "name").to_owned(),
        ready: conditions.filter(|one| one["type"] == "Ready").any(|one| one["status"] == "True"),
        down: node["metadata"]["annotations"][DOWN_ANNOTATION] == "true",
    }
}

/// The trouble that a pod's annotations ask for, by the names without their prefix.
fn wishes(pod: &Value) -> Wishes {
    let annotations = pod["metadata"]["annotations"].as_object().into_iter().flatten();
    let ours = annotations.filter_map(|(key, value)| {
        let key = key.strip_prefix(ANNOTATION_PREFIX).or_else(|| key.strip_prefix(SYNCED_PREFIX))?;
        is_trouble(key).then_some(())?;
        Some((key.to_owned(), value.as_str()?.to_owned()))
    });
    ours.collect()
}

fn text<'a>(object: &'a Value, field: &str) -> &'a str {
    object["metadata"][field].as_str().unwrap_or_default()
}
