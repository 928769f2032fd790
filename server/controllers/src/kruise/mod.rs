//! The family `kruise` in `own` mode: OpenKruiseGame's GameServerSet and GameServer without its other parts.

pub mod conditions;
pub mod delete_order;
pub mod json;
pub mod kill;
pub mod observe;
pub mod ordinals;
pub mod pod;
pub mod preview;
pub mod revision;
pub mod scale;
pub mod server_conditions;
pub mod server_plan;
pub mod set_plan;
pub mod set_status;
pub mod state;
pub mod validate;
