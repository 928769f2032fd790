//! Step apply of a batch: resolve once, then piece by piece, a bounded number of edits under way at a time.

use super::{
    change, convert, flush,
    flush::Tally,
    judge::{self, Current, Guarded, Judgement, Refusal},
    plan::{self, Allow, PlannedTarget},
    target::Resolver,
};
use crds::{
    pilothouse::{
        Author, BatchEdit, BatchEditProgress, BatchEditTargets, BatchEditTargetsSpec, BatchPhase,
        FrozenTarget, Outcome, TARGETS_PER_PIECE, TargetResult, Verdict,
    },
    slim::SlimGameServer,
};
use futures::{StreamExt, stream};
use jiff::Timestamp;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use kube::{
    Api, Client, ResourceExt,
    api::{DeleteParams, ListParams, Patch, PostParams},
};
use serde_json::json;
use std::{collections::BTreeSet, sync::Arc, time::Duration};
use tokio::time::Instant;
use wire::ServerKey;

/// Times that a target is read and judged again after a conflict.
const REREADS: u32 = 6;
/// Times that a target is tried again while the API is busy or away; with the back-off about a minute.
const LATERS: u32 = 14;

/// Finds the client that acts for an author.
pub type ClientFor = Arc<dyn Fn(Option<&Author>) -> Client + Send + Sync>;

/// Reads a server from the cache.
pub(super) type Cached = Arc<dyn Fn(&ServerKey) -> Option<Arc<SlimGameServer>> + Send + Sync>;

/// What one run needs.
#[derive(Clone)]
pub(super) struct Run {
    /// Client for the batch's own objects.
    pub own: Client,
    /// Client for the edits.
    pub author: Client,
    /// Finds and observes servers.
    pub resolver: Arc<dyn Resolver>,
    /// Reads a server from the cache.
    pub cached: Cached,
    /// Whether the batch was cancelled, asked before each edit.
    pub cancelled: Arc<dyn Fn() -> bool + Send + Sync>,
    /// Edits under way at once.
    pub workers: usize,
}

/// Carries a batch from where it stands to its end.
///
/// # Errors
/// When the batch's own objects cannot be read or written; a later run goes on from what is stored.
pub(super) async fn run(run: &Run, edit: BatchEdit) -> Result<(), kube::Error> {
    let status = edit.status.clone().unwrap_or_default();
    if status.phase.is_final() {
        return Ok(());
    }
    let (edit, resumed) = match status.target_pieces {
        Some(_) => (edit, true),
        None => match resolve(run, edit).await? {
            Some(edit) => (edit, false),
            None => return Ok(()),
        },
    };
    apply(run, &edit, resumed).await
}

/// Freezes the targets. `None` when the batch ended here.
async fn resolve(run: &Run, edit: BatchEdit) -> Result<Option<BatchEdit>, kube::Error> {
    let wanted = convert::change_of(&edit.spec.change);
    if let Err(error) = change::validate(&wanted) {
        flush::fail(&run.own, &edit, &error.to_string()).await?;
        return Ok(None);
    }
    let keys = match run.resolver.keys(&convert::target_of(&edit.spec.target)) {
        Ok(keys) => keys,
        Err(error) => {
            flush::fail(&run.own, &edit, &error.reason.message).await?;
            return Ok(None);
        }
    };
    let allow = Allow::from(edit.spec.policy);
    let planned: Vec<PlannedTarget> = keys
        .iter()
        .map(|key| match run.resolver.observe(key) {
            Some(observed) => plan::plan_target(key, &observed, &wanted, allow),
            None => plan::missing(key),
        })
        .collect();
    if let Some(token) = &edit.spec.preview_token
        && *token != plan::token(&planned)
    {
        let message = "the servers or their values changed since the preview; look again";
        flush::fail(&run.own, &edit, message).await?;
        return Ok(None);
    }
    let frozen: Vec<FrozenTarget> = planned.iter().map(convert::frozen).collect();
    write_pieces(&run.own, &edit, &frozen).await?;
    let pieces = frozen.len().div_ceil(TARGETS_PER_PIECE);
    let status = json!({
        "phase": BatchPhase::Running,
        "targetPieces": pieces,
        "totals": Tally::of(frozen.len()).0,
        "startedAt": Time(Timestamp::now()),
    });
    flush::write_status(&run.own, &edit, &status).await.map(Some)
}

async fn write_pieces(client: &Client, edit: &BatchEdit, frozen: &[FrozenTarget]) -> Result<(), kube::Error> {
    let api: Api<BatchEditTargets> = Api::namespaced(client.clone(), &flush::namespace(edit));
    let batch = edit.name_any();
    for (index, targets) in frozen.chunks(TARGETS_PER_PIECE).enumerate() {
        let index = i32::try_from(index).unwrap_or(i32::MAX);
        let spec = BatchEditTargetsSpec { batch: batch.clone(), index, targets: targets.to_vec() };
        let mut piece = BatchEditTargets::new(&format!("{batch}-t{index}"), spec);
        piece.metadata.labels = Some(flush::labels(&batch));
        piece.metadata.owner_references = flush::owner(edit);
        let post = PostParams { field_manager: Some(super::FIELD_MANAGER.into()), ..PostParams::default() };
        match api.create(&post, &piece).await {
            Ok(_) => {}
            Err(kube::Error::Api(status)) if status.code == 409 => {
                // Left by a run that died before the status said that the pieces count: nothing was applied from it.
                api.delete(&piece.name_any(), &DeleteParams::default()).await?;
                api.create(&post, &piece).await?;
            }
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

async fn apply(run: &Run, edit: &BatchEdit, resumed: bool) -> Result<(), kube::Error> {
    let batch = edit.name_any();
    let selector = ListParams::default().labels(&format!("{}={batch}", crds::pilothouse::BATCH_LABEL));
    let wanted = edit.status.as_ref().and_then(|status| status.target_pieces).unwrap_or_default();
    let api: Api<BatchEditTargets> = Api::namespaced(run.own.clone(), &flush::namespace(edit));
    let mut pieces = api.list(&selector).await?.items;
    pieces.retain(|piece| piece.spec.index < wanted);
    pieces.sort_by_key(|piece| piece.spec.index);
    let known = if resumed {
        let api: Api<BatchEditProgress> = Api::namespaced(run.own.clone(), &flush::namespace(edit));
        api.list(&selector).await?.items
    } else {
        Vec::new()
    };
    let mut tally = Tally::of(pieces.iter().map(|piece| piece.spec.targets.len()).sum());
    for progress in &known {
        progress.spec.results.iter().for_each(|result| tally.add(result.outcome));
    }
    for piece in &pieces {
        let before = known.iter().find(|progress| progress.spec.piece == piece.spec.index);
        let results = before.map_or_else(Vec::new, |progress| progress.spec.results.clone());
        apply_piece(run, edit, &piece.spec, results, &mut tally, resumed).await?;
    }
    let phase = if (run.cancelled)() { BatchPhase::Cancelled } else { BatchPhase::Done };
    let status = json!({ "phase": phase, "totals": tally.0, "finishedAt": Time(Timestamp::now()) });
    flush::write_status(&run.own, edit, &status).await?;
    let totals = tally.0;
    tracing::info!(
        batch,
        changed = totals.changed,
        unchanged = totals.unchanged,
        left_out = totals.left_out,
        failed = totals.failed,
        "batch {batch} is {phase:?}"
    );
    Ok(())
}

async fn apply_piece(
    run: &Run,
    edit: &BatchEdit,
    piece: &BatchEditTargetsSpec,
    mut results: Vec<TargetResult>,
    tally: &mut Tally,
    resumed: bool,
) -> Result<(), kube::Error> {
    let known: BTreeSet<i32> = results.iter().map(|result| result.index).collect();
    let allow = Allow::from(edit.spec.policy);
    let mut open = Vec::new();
    for (at, target) in piece.targets.iter().enumerate() {
        let index = i32::try_from(at).unwrap_or(i32::MAX);
        if !known.contains(&index) {
            open.push((index, target.clone()));
        }
    }
    let mut edits = stream::iter(open)
        .map(|(index, target)| async move {
            let (outcome, detail) = apply_target(run, &target, allow, resumed).await;
            TargetResult { index, outcome, detail }
        })
        .buffer_unordered(run.workers.max(1));
    let mut dirty = false;
    let mut flush_at = Instant::now() + flush::EVERY;
    loop {
        let next = tokio::select! {
            next = edits.next() => next,
            () = tokio::time::sleep_until(flush_at) => {
                if dirty {
                    flush::write_progress(&run.own, edit, piece.index, &results).await?;
                    flush::write_status(&run.own, edit, &json!({ "totals": tally.0 })).await?;
                    dirty = false;
                }
                flush_at = Instant::now() + flush::EVERY;
                continue;
            }
        };
        let Some(result) = next else { break };
        tally.add(result.outcome);
        results.push(result);
        dirty = true;
    }
    if dirty {
        flush::write_progress(&run.own, edit, piece.index, &results).await?;
    }
    Ok(())
}

/// Brings one target to its result.
async fn apply_target(
    run: &Run,
    target: &FrozenTarget,
    allow: Allow,
    resumed: bool,
) -> (Outcome, Option<String>) {
    match target.verdict {
        Verdict::Unchanged => return (Outcome::Unchanged, None),
        Verdict::LeftOut => {
            let outcome = match target.reason.as_deref() {
                Some("no-such-server") => Outcome::NotFound,
                Some("no-such-container") => Outcome::Invalid,
                _ => Outcome::LeftOut,
            };
            return (outcome, target.reason.clone());
        }
        Verdict::Change => {}
    }
    let Ok(key) = target.key.parse::<ServerKey>() else {
        return (Outcome::Invalid, Some(format!("`{}` is no key", target.key)));
    };
    let api: Api<SlimGameServer> = Api::namespaced(run.author.clone(), &key.namespace);
    let mut server = (run.cached)(&key);
    let mut unexplained: Option<String> = None;
    let (mut rereads, mut laters) = (0, 0);
    loop {
        if (run.cancelled)() {
            return (Outcome::Cancelled, None);
        }
        let observed = run.resolver.observe(&key);
        let current = server.as_deref().map(|server| Current {
            server,
            in_use: observed.as_ref().is_some_and(|o| o.in_use)
                || server.spec.ops_state == Some(crds::kruise::OpsState::Allocated),
            live: observed.as_ref().map_or(&[], |o| &o.live),
        });
        let guarded = match judge::judge(current, target, allow, resumed || laters > 0) {
            Judgement::Done(outcome, detail) => return (outcome, detail),
            // Still as it was frozen: the API refused the new value itself.
            Judgement::Write(_) if unexplained.is_some() => return (Outcome::Invalid, unexplained),
            Judgement::Write(guarded) => guarded,
        };
        let Err(error) = write(&api, &key.name, guarded).await else { return (Outcome::Changed, None) };
        match judge::refusal(&error) {
            Refusal::Final(outcome, detail) => return (outcome, detail),
            Refusal::Reread { invalid, message } => {
                rereads += 1;
                if rereads > REREADS {
                    return (Outcome::Conflict, Some(message));
                }
                unexplained = invalid.then_some(message);
            }
            Refusal::Later(message) => {
                laters += 1;
                if laters > LATERS {
                    return (Outcome::Error, Some(message));
                }
                tokio::time::sleep(back_off(laters)).await;
            }
        }
        match api.get_opt(&key.name).await {
            Ok(found) => server = found.map(Arc::new),
            Err(error) => tracing::debug!(%error, server = %key, "a target could not be read again"),
        }
    }
}

/// 100 ms doubling to 5 s.
fn back_off(times: u32) -> Duration {
    Duration::from_millis(100 << times.min(6)).min(Duration::from_secs(5))
}

async fn write(api: &Api<SlimGameServer>, name: &str, guarded: Guarded) -> Result<(), kube::Error> {
    let params = flush::params();
    match guarded {
        Guarded::Json(operations) => {
            let patch: json_patch::Patch =
                serde_json::from_value(operations).map_err(kube::Error::SerdeError)?;
            api.patch(name, &params, &Patch::<()>::Json(patch)).await.map(|_| ())
        }
        Guarded::Merge(patch) => api.patch(name, &params, &Patch::Merge(patch)).await.map(|_| ()),
    }
}
