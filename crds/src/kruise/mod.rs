//! `game.kruise.io/v1alpha1`: OpenKruiseGame's kinds, field for field, so that its manifests work unmodified.

mod container;
mod gameserver;
mod gameserverset;
pub mod keys;
mod lifecycle;
mod network;
mod ops_state;
mod quality;
mod state;
mod strategy;
mod template;

pub use container::{GameServerContainer, ResourceClaim, Resources};
pub use gameserver::{
    GameServer, GameServerCondition, GameServerSpec, GameServerStatus, ServiceQualityCondition,
    condition_types,
};
pub use gameserverset::{GameServerSet, GameServerSetSpec, GameServerSetStatus};
pub use lifecycle::{Lifecycle, LifecycleHook};
pub use network::{
    Network, NetworkAddress, NetworkConfParam, NetworkPort, NetworkPortRange, NetworkState, NetworkStatus,
};
pub use ops_state::{OpsState, OpsStateError};
pub use quality::{ServiceQuality, ServiceQualityAction};
pub use state::GameServerState;
pub use strategy::{
    ClaimRetentionPolicy, InPlaceUpdateStrategy, RollingUpdate, ScaleDownStrategyType, ScaleStrategy,
    UpdateStrategy,
};
pub use template::{GameServerTemplate, ReclaimPolicy, TemplateError};

/// API group of the kinds in this module.
pub const GROUP: &str = "game.kruise.io";

/// The one version that is served and stored.
pub const VERSION: &str = "v1alpha1";
