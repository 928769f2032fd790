//! How patches change objects. Merge patches (RFC 7386) need no code of ours.
pub mod json;
pub mod strategic;
