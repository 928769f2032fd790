//! Deciding whether an object may be stored.
pub mod cel;
pub mod formats;
pub mod metadata;
pub mod names;
pub mod schema;
