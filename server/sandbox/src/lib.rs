//! The embedded Kubernetes API with its cluster controllers, and the simulated nodes that work on any API server.
//!
//! Three parts with a border between them: [`api`] is the API server alone (storage and semantics), [`cluster`] holds
//! the controllers that a real cluster brings itself, [`nodes`] plays scheduler and kubelets as an ordinary client of
//! *any* API server. It is for laptops, tests and demonstrations, never for production.
#![deny(missing_docs)]

pub mod api;
pub mod cluster;
pub mod nodes;
