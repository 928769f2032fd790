//! Volumes of simulated nodes: storage classes, a provisioner that makes volumes for claims, and what the scheduler must
//! know about claims.
//!
//! The parts are those of a real cluster. The provisioner is an external one: it makes a PersistentVolume for a claim
//! when the cluster's volume controller asks for it by annotation, and deletes it after the claim is gone. Binding the
//! two is that controller's work: kube-controller-manager on a real cluster, [`crate::cluster`] in the sandbox.

mod claims;
mod objects;
mod provision;
mod task;

pub use claims::{Claims, News, Standing, Waits};
pub use objects::{ON_FIRST_USE_CLASS, PROVISIONER, STORAGE_CLASS};
pub use task::run;

/// Names the provisioner that shall make a volume for a claim; the volume controller writes it.
pub const PROVISIONER_WISH: &str = "volume.kubernetes.io/storage-provisioner";
/// Names the node that the scheduler chose for the first pod of a claim.
pub const SELECTED_NODE: &str = "volume.kubernetes.io/selected-node";
/// Says that the volume controller has finished binding a claim.
pub const BIND_COMPLETED: &str = "pv.kubernetes.io/bind-completed";
/// Names who made a volume, and so who deletes it.
pub const PROVISIONED_BY: &str = "pv.kubernetes.io/provisioned-by";
