//! The embedded controllers: GameServerSet and GameServer of OpenKruiseGame, batch edits; watch caches and leader
//! election.
//!
//! * [`batch`]: plan of batch edits and the controller that carries them out.
//! * [`cache`]: one watch per kind, shared with the board.
//! * [`kruise`]: validate, plan, status of the family `kruise`; pure.
//! * [`run`]: feeds, queues and workers around it: fetch and apply.
//! * [`leader`], [`events`], [`metrics`], [`queue`], [`write`], [`clock`]: what they run on.
#![deny(missing_docs)]

pub mod batch;
pub mod cache;
pub mod clock;
pub mod events;
pub mod kruise;
pub mod leader;
pub mod metrics;
pub mod queue;
pub mod run;
pub mod write;
