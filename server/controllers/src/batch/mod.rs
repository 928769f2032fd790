//! Batch edits: the pure plan (whom, old → new, what it does), and the controller that carries a stored batch out.
//!
//! A batch is resolved once into frozen targets (immutable pieces), then applied piece by piece; results are written
//! about once a second into one progress object a piece. After a crash the pieces say what was meant and the
//! progress what is known; the rest is looked at again.

pub mod change;
mod controller;
mod convert;
mod execute;
mod flush;
mod judge;
pub mod plan;
mod target;
pub mod view;

pub use controller::{BY_BATCH, BatchCaches, BatchContext, run};
pub use convert::{MAX_KEYS, RequestError, batch_name, edit_of, namespaced_query};
pub use execute::ClientFor;
pub use target::{Resolver, observe};

/// Field manager of the edits that batches make.
pub const FIELD_MANAGER: &str = "pilothouse-batch";
