//! The in-memory read model of every game server: rows joined from watched objects, and the questions that pages,
//! REST and batches ask of them.
//!
//! - [`Board`] takes in slim objects and keeps one immutable [`Row`] a server. Only a real difference makes a new
//!   version.
//! - [`Snapshot`] is the board at one version. It is cheap to make (the rows are shared), never changes, and answers
//!   everything; what it works out (matches of a filter, orders, counts) is kept with it, so that scrolling and a
//!   second viewer cost nothing.
//! - [`SharedBoard`] puts a lock around the first that nobody holds while asking the second: a slow reader holds up
//!   no writer.
//! - [`diff_window`] and [`diff_deck`] turn two answers into what a live stream sends.
//!
//! Whether what is watched is stale or not installed is the server's matter, not the board's.
#![deny(missing_docs)]
// A refusal is the one JSON error shape of the API; it is made seldom, and boxing it would only burden its callers.
#![allow(clippy::result_large_err)]

mod attention;
mod board;
mod category;
mod deck;
mod deck_diff;
mod fields;
mod grouped;
mod ids;
mod join;
mod known;
mod matching;
mod memo;
mod order;
mod players;
mod pool;
mod problem;
mod read;
mod row;
mod sets;
mod shared;
mod snapshot;
mod state;
mod tally;
mod totals;
mod window;
mod window_diff;

#[cfg(test)]
mod testing;

pub use board::{Board, Place};
pub use deck_diff::diff_deck;
pub use players::{PlayersFrom, PlayersFromError};
pub use row::Row;
pub use shared::SharedBoard;
pub use snapshot::Snapshot;
pub use window_diff::diff_window;
