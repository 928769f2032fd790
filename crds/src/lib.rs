//! Typed resources, one file per kind, their CRD manifests, and the slim types that the watch caches hold.
//!
//! * [`kruise`]: `game.kruise.io/v1alpha1` as OpenKruiseGame publishes it, with additive status fields of ours.
//! * [`pilothouse`]: `pilothouse.dev/v1alpha1`, the durable batch edits.
//! * [`slim`]: what watch caches keep of game servers, sets, pods and nodes.
#![deny(missing_docs)]
// Printer columns of one kind share types; the lint takes the second `type_ = "string"` for a repeated attribute.
#![allow(clippy::duplicated_attributes)]

pub mod kruise;
pub mod lenient;
pub mod pilothouse;
pub mod schema;
pub mod slim;
