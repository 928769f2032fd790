//! The embedded controllers: GameServerSet and GameServer of OpenKruiseGame, batch edits; watch caches and leader
//! election.
//!
//! * [`batch`]: plan of batch edits and the controller that carries them out.
//! * [`cache`]: one watch per kind, shared with the board.
//! * [`kruise`]: validate, plan, apply, status of the family `kruise`.
#![deny(missing_docs)]

pub mod batch;
pub mod cache;
pub mod kruise;
