//! Pilothouse: runs game servers on Kubernetes and steers thousands of them from a live dashboard.
//!
//! This crate wires the parts: command line, clients, caches, controllers, board, HTTP. Decisions live in the
//! crates `controllers`, `board` and `wire`.

#![recursion_limit = "256"] // The views of the pages are deep types when the build does not erase them.

pub mod auth;
pub mod cli;
pub mod detail;
pub mod events;
pub mod feed;
pub mod http;
pub mod live;
pub mod logging;
pub mod metrics;
pub mod objects;
mod pulse;
pub mod reader;
pub mod runtime;
pub mod sandbox_run;
mod scale;
pub mod simulate;
pub mod world;
