//! Typed resources, one file per kind, their CRD manifests, and the slim types that the watch caches hold.
//!
//! * [`kruise`]: `game.kruise.io/v1alpha1` as OpenKruiseGame publishes it, with additive status fields of ours.
//! * [`pilothouse`]: `pilothouse.dev/v1alpha1`, the durable batch edits.
//! * [`slim`]: what watch caches keep of game servers, sets, pods and nodes.
//! * [`all`], [`yaml`] and [`files`]: the manifests; [`install`] puts them on a server of ours.
//! * [`hash`]: a hash of JSON for names of revisions and for telling whether a copy is current.
//! * [`rules`]: what the manifests refuse and accept, as data that any server can be tried with.
#![deny(missing_docs)]
// Printer columns of one kind share types; the lint takes the second `type_ = "string"` for a repeated attribute.
#![allow(clippy::duplicated_attributes)]

pub mod hash;
pub mod install;
pub mod kruise;
pub mod lenient;
mod manifest;
pub mod pilothouse;
pub mod rules;
pub mod schema;
pub mod slim;
mod structural;

pub use manifest::{ManifestError, all, files, namespace, yaml};
