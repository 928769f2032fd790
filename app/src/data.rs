//! What pages read while the server renders them, and how that reaches the browser without a second request.

use crate::json;
use leptos::{
    prelude::*,
    server::codee::{Decoder, Encoder},
};
use serde::{Serialize, de::DeserializeOwned};
use wire::{
    ApiError, BatchView, DeckQuery, DeckSnapshot, ServerDetail, ServerKey, ServersQuery, ServersWindow,
    SetDetail, SetKey, SetRow, Totals,
};

/// Reads the board for one request. The server puts an `Arc<dyn Reader>` into the context of every render; it
/// answers from memory and never waits. Which caller asks is the reader's own knowledge.
pub trait Reader: Send + Sync {
    /// Counters of header and menu.
    fn totals(&self) -> Totals;
    /// A window of servers; refuses a filter that does not parse.
    ///
    /// # Errors
    /// The filter is wrong (with its place), or the caller may not look.
    fn servers(&self, query: &ServersQuery) -> Result<ServersWindow, ApiError>;
    /// The deck; refuses like [`Reader::servers`].
    ///
    /// # Errors
    /// As [`Reader::servers`], and for an unknown dimension.
    fn deck(&self, query: &DeckQuery) -> Result<DeckSnapshot, ApiError>;
    /// Sets of a namespace; empty is all.
    ///
    /// # Errors
    /// The caller may not look.
    fn sets(&self, ns: &str) -> Result<Vec<SetRow>, ApiError>;
    /// One set.
    ///
    /// # Errors
    /// There is none (404), or the caller may not look.
    fn set(&self, key: &SetKey) -> Result<SetDetail, ApiError>;
    /// One server.
    ///
    /// # Errors
    /// There is none (404), or the caller may not look.
    fn server(&self, key: &ServerKey) -> Result<ServerDetail, ApiError>;
    /// Batches, newest first.
    ///
    /// # Errors
    /// The caller may not look.
    fn batches(&self) -> Result<Vec<BatchView>, ApiError>;
    /// One batch.
    ///
    /// # Errors
    /// There is none (404), or the caller may not look.
    fn batch(&self, name: &str) -> Result<BatchView, ApiError>;
}

/// How a value gets from the server into the browser: as JSON within the page. Only the server writes.
pub(crate) struct Handed;

impl<T: Serialize> Encoder<T> for Handed {
    type Error = serde_json::Error;
    type Encoded = String;

    fn encode(value: &T) -> Result<String, Self::Error> {
        // Leptos calls this in the browser too, for nothing; without it the code that writes all types is left out there.
        if cfg!(feature = "hydrate") { Ok(String::new()) } else { serde_json::to_string(value) }
    }
}

impl<T: DeserializeOwned> Decoder<T> for Handed {
    type Error = json::Error;
    type Encoded = str;

    fn decode(text: &str) -> Result<T, Self::Error> {
        json::read(text)
    }
}

/// Makes a value on the server and hands it to the browser, which gets the same one while it hydrates.
pub(crate) fn handed<T>(make: impl FnOnce() -> T) -> T
where
    T: Serialize + DeserializeOwned + 'static,
{
    SharedValue::<T, Handed>::new_with_encoding(make).into_inner()
}

/// Runs `read` on the server and hands its answer to the browser, which gets the same value while it hydrates.
/// `None` when the page is made in the browser later: then the live stream brings the data.
pub(crate) fn initial<T>(read: impl FnOnce(&dyn Reader) -> T) -> Option<T>
where
    T: Serialize + DeserializeOwned + 'static,
{
    handed(|| use_context::<std::sync::Arc<dyn Reader>>().map(|reader| read(reader.as_ref())))
}
