//! Trouble in the sandbox: what goes on now, and orders to begin or end it.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Trouble of one object by its name without the prefix `sim.pilothouse.dev/`, with its value: `crash` → `3`.
pub type Wishes = BTreeMap<String, String>;

/// The trouble that goes on. Numbers are 0 where there is none.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Trouble {
    /// Seconds that the API server stays away: connections break.
    pub away_seconds: u32,
    /// Seconds that it answers everything with 503.
    pub unavailable_seconds: u32,
    /// Seconds that it answers everything with 429.
    pub throttled_seconds: u32,
    /// Share of updates and patches that answer 409, in percent.
    pub conflict_percent: u32,
    /// Seconds by which watchers hear of changes late.
    pub watch_delay_seconds: u32,
    /// Seconds that the API server's clock is ahead; negative when it is behind.
    pub clock_ahead_seconds: i64,
    /// Simulated machines.
    pub nodes: Vec<SandboxNode>,
    /// Pods with trouble, at most [`MOST_PODS`].
    pub pods: Vec<TroubledPod>,
}

/// Most pods that are listed.
pub const MOST_PODS: usize = 200;

/// A simulated machine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SandboxNode {
    /// Its name.
    pub name: String,
    /// Its condition Ready is True.
    pub ready: bool,
    /// It was ordered to be down.
    pub down: bool,
}

/// A pod with trouble.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TroubledPod {
    /// Namespace.
    pub namespace: String,
    /// Name.
    pub name: String,
    /// Its trouble.
    pub trouble: Wishes,
}

/// An order for the API server: what is given is changed, the rest stays.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct TroubleOrder {
    /// As [`Trouble::away_seconds`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub away_seconds: Option<u32>,
    /// As [`Trouble::unavailable_seconds`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unavailable_seconds: Option<u32>,
    /// As [`Trouble::throttled_seconds`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub throttled_seconds: Option<u32>,
    /// As [`Trouble::conflict_percent`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub conflict_percent: Option<u32>,
    /// As [`Trouble::watch_delay_seconds`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub watch_delay_seconds: Option<u32>,
    /// Sets the clock of the API server ahead by so much, or back.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub clock_jump_seconds: Option<i64>,
    /// Ends all running watches without a word.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub drop_watches: bool,
    /// Ends all running watches with 410 and forgets what they could go on from.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub expire_watches: bool,
}

/// An order for a pod or a node: trouble by name, with its value, or null to end it.
pub type WishOrder = BTreeMap<String, Option<String>>;
