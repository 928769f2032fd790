//! The live stream: the view in its URL, and the messages it carries.

use crate::{
    batch::BatchView,
    deck::{DeckDelta, DeckQuery, DeckSnapshot},
    error::{ApiError, Reason},
    key::{ServerKey, SetKey},
    row::{Count, ServersDelta, ServersQuery, ServersWindow},
    server::ServerDetail,
    set::{SetDetail, SetRow},
};
use serde::{Deserialize, Serialize};

/// What a tab looks at. Serialised as JSON into the stream URL's `view` parameter.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(tag = "page", rename_all = "lowercase")]
pub enum View {
    /// Only header counters.
    Totals,
    /// The deck.
    Deck(DeckQuery),
    /// A window of the table.
    Servers(ServersQuery),
    /// All sets.
    Sets {
        /// Namespace; empty is all.
        ns: String,
    },
    /// One set.
    Set {
        /// Which.
        key: SetKey,
    },
    /// One server.
    Server {
        /// Which.
        key: ServerKey,
    },
    /// One batch.
    Batch {
        /// Its name.
        name: String,
    },
}

/// Something that needs a hand.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attention {
    /// What and why.
    pub reason: Reason,
    /// `bad`, `warn` or `info`.
    pub level: String,
    /// Filter that shows the servers, empty when it is about a set.
    pub q: String,
    /// The set it is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub set: Option<SetKey>,
    /// The server it is about, when it is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server: Option<ServerKey>,
}

/// Counters of the header and the menu, and what needs a hand.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Totals {
    /// Servers.
    pub servers: u32,
    /// Sets.
    pub sets: u32,
    /// Batches that run.
    pub batches_running: u32,
    /// Namespaces with servers or sets.
    pub namespaces: Vec<String>,
    /// Servers by state.
    pub state: Vec<Count>,
    /// Servers by opsState.
    pub ops: Vec<Count>,
    /// Sum of known players; absent when no server has a number.
    pub players: Option<i64>,
    /// What needs a hand, worst first.
    pub attention: Vec<Attention>,
    /// Whether this is the sandbox.
    pub sandbox: bool,
    /// What stands in the way of the whole page: CRDs not installed, API server away.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trouble: Option<ApiError>,
    /// Since when the server itself is behind the cluster, Unix seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stale_since: Option<i64>,
}

/// One message of the stream (an SSE `data:` line as JSON). Its SSE id is the board version.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", content = "data", rename_all = "kebab-case")]
pub enum LiveMessage {
    /// First message of every connection.
    Hello {
        /// Server clock, Unix milliseconds.
        now: i64,
        /// A heartbeat comes at least this often, seconds.
        heartbeat: u32,
    },
    /// Counters, on change.
    Totals(Totals),
    /// Whole deck.
    Deck(DeckSnapshot),
    /// Change of the deck.
    DeckDelta(DeckDelta),
    /// Whole window.
    Servers(ServersWindow),
    /// Change of the window.
    ServersDelta(ServersDelta),
    /// All sets, whole.
    Sets(Vec<SetRow>),
    /// One set, whole; absent when it is gone.
    Set(Option<Box<SetDetail>>),
    /// One server, whole; absent when it is gone.
    Server(Option<Box<ServerDetail>>),
    /// One batch, whole; absent when there is none of that name.
    Batch(Option<Box<BatchView>>),
    /// The filter or view is wrong; the stream stays open for counters.
    Refused(ApiError),
    /// Nothing happened, the line works.
    Heartbeat {
        /// Server clock, Unix milliseconds.
        now: i64,
    },
    /// The server ends the stream on purpose; connect again after this time.
    Bye {
        /// Milliseconds.
        retry: u32,
    },
}
