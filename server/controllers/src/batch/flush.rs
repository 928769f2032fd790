//! Step status of a batch: results gathered in memory and written about once a second, a small object a piece.

use crds::pilothouse::{
    BATCH_LABEL, BatchEdit, BatchEditProgress, BatchEditProgressSpec, BatchEditStatus, BatchPhase,
    BatchTotals, Outcome, TargetResult,
};
use jiff::Timestamp;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{OwnerReference, Time};
use kube::{
    Api, Client, Resource, ResourceExt,
    api::{Patch, PatchParams, PostParams},
};
use serde_json::json;
use std::collections::BTreeMap;

/// Longest time that a result is only in memory.
pub const EVERY: std::time::Duration = std::time::Duration::from_secs(1);

/// Parameters of every write of a batch's own objects.
pub(super) fn params() -> PatchParams {
    PatchParams { field_manager: Some(super::FIELD_MANAGER.into()), ..PatchParams::default() }
}

/// The owner reference that makes pieces and progress go with their batch.
pub(super) fn owner(edit: &BatchEdit) -> Option<Vec<OwnerReference>> {
    edit.controller_owner_ref(&()).map(|owner| vec![owner])
}

/// The label by which pieces and progress of a batch are found.
pub(super) fn labels(batch: &str) -> BTreeMap<String, String> {
    BTreeMap::from([(BATCH_LABEL.to_owned(), batch.to_owned())])
}

/// Where a batch lies; its pieces and progress lie beside it.
pub(super) fn namespace(edit: &BatchEdit) -> String {
    edit.namespace().unwrap_or_default()
}

/// Name of the progress of a piece.
pub(super) fn progress_name(batch: &str, piece: i32) -> String {
    format!("{batch}-p{piece}")
}

/// Counts results into totals.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Tally(pub BatchTotals);

impl Tally {
    /// A tally of so many targets, none of them tried.
    pub fn of(total: usize) -> Self {
        let total = i32::try_from(total).unwrap_or(i32::MAX);
        Self(BatchTotals { total, pending: total, ..BatchTotals::default() })
    }

    /// Adds a result.
    pub fn add(&mut self, outcome: Outcome) {
        self.0.pending -= 1;
        match outcome {
            Outcome::Changed => self.0.changed += 1,
            Outcome::Unchanged => self.0.unchanged += 1,
            Outcome::LeftOut | Outcome::Cancelled => self.0.left_out += 1,
            _ => self.0.failed += 1,
        }
    }
}

/// Writes the results of one piece as they are now.
pub(super) async fn write_progress(
    client: &Client,
    edit: &BatchEdit,
    piece: i32,
    results: &[TargetResult],
) -> Result<(), kube::Error> {
    let api: Api<BatchEditProgress> = Api::namespaced(client.clone(), &namespace(edit));
    let batch = edit.name_any();
    let name = progress_name(&batch, piece);
    let now = Time(Timestamp::now());
    // The fields sit at the root: a progress has no spec, and what the schema does not know is dropped without a word.
    let patch = json!({ "results": results, "updatedAt": now });
    match api.patch(&name, &params(), &Patch::Merge(&patch)).await {
        Ok(_) => Ok(()),
        Err(kube::Error::Api(status)) if status.code == 404 => {
            let spec = BatchEditProgressSpec {
                batch: batch.clone(),
                piece,
                results: results.to_vec(),
                updated_at: Some(now),
            };
            let mut progress = BatchEditProgress::new(&name, spec);
            progress.metadata.labels = Some(labels(&batch));
            progress.metadata.owner_references = owner(edit);
            let post =
                PostParams { field_manager: Some(super::FIELD_MANAGER.into()), ..PostParams::default() };
            api.create(&post, &progress).await.map(|_| ())
        }
        Err(error) => Err(error),
    }
}

/// Writes parts of the status.
pub(super) async fn write_status(
    client: &Client,
    edit: &BatchEdit,
    status: &serde_json::Value,
) -> Result<BatchEdit, kube::Error> {
    let api: Api<BatchEdit> = Api::namespaced(client.clone(), &namespace(edit));
    api.patch_status(&edit.name_any(), &params(), &Patch::Merge(json!({ "status": status }))).await
}

/// Ends a batch that cannot run.
pub(super) async fn fail(client: &Client, edit: &BatchEdit, message: &str) -> Result<(), kube::Error> {
    let status = BatchEditStatus {
        phase: BatchPhase::Failed,
        finished_at: Some(Time(Timestamp::now())),
        message: Some(message.to_owned()),
        ..edit.status.clone().unwrap_or_default()
    };
    write_status(client, edit, &json!(status)).await.map(|_| ())
}
