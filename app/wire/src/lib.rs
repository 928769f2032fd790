//! What travels between browser and server: rows, filter language, previews, live messages.
//!
//! Pure types without Leptos and without Kubernetes, so that the server, the wasm build and tests share
//! one definition. Every list and counter is bounded by what a view asks for, not by the cluster's size.
#![deny(missing_docs)]

pub mod batch;
pub mod deck;
pub mod error;
pub mod filter;
pub mod key;
pub mod live;
pub mod row;
pub mod sandbox;
pub mod server;
pub mod set;

pub use batch::{BatchRequest, BatchTarget, BatchView, Change, Preview, PreviewRequest};
pub use deck::{DeckQuery, DeckSnapshot};
pub use error::{ApiError, Reason};
pub use key::{Family, ServerKey, SetKey};
pub use live::{LiveMessage, Totals, View};
pub use row::{Count, Counts, GroupHead, ServerRow, ServersQuery, ServersWindow, SortKey};
pub use server::ServerDetail;
pub use set::{ScalePreview, SetDetail, SetRow};
