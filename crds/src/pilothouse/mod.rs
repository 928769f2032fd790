//! `pilothouse.dev/v1alpha1`: durable batch edits.
//!
//! A batch is three kinds of objects, because one object with thousands of results would be too slow to write:
//! [`BatchEdit`] says what to do and carries the totals, immutable [`BatchEditTargets`] pieces hold the frozen
//! targets with their old and new values, and one small [`BatchEditProgress`] per piece is written while the
//! batch runs. The pieces and the progress belong to the batch (owner reference) and go with it.

mod batchedit;
mod batcheditprogress;
mod batchedittargets;

pub use batchedit::{
    Author, BatchChange, BatchEdit, BatchEditSpec, BatchEditStatus, BatchPhase, BatchPolicy, BatchTarget,
    BatchTotals, ImageChange,
};
pub use batcheditprogress::{BatchEditProgress, BatchEditProgressSpec, Outcome, TargetResult};
pub use batchedittargets::{
    BatchEditTargets, BatchEditTargetsSpec, FieldChange, FrozenTarget, TARGETS_PER_PIECE, TargetField,
    Verdict,
};

/// API group of the kinds in this module.
pub const GROUP: &str = "pilothouse.dev";

/// The one version that is served and stored.
pub const VERSION: &str = "v1alpha1";

/// Namespace that batches live in, unless Pilothouse is confined to some namespaces.
pub const NAMESPACE: &str = "pilothouse-system";

/// Label on pieces and progress objects: name of their batch.
pub const BATCH_LABEL: &str = "pilothouse.dev/batch";
