//! Reads a live message. Its type is looked at first and its data read as just that; the derived way reads data of
//! every type into a general value before, which costs time for a window and much wasm.

use crate::json::{self, Error};
use serde::Deserialize;
use wire::{LiveMessage, Totals};

#[derive(Deserialize)]
struct Hello {
    now: i64,
    heartbeat: u32,
}

#[derive(Deserialize)]
struct Heartbeat {
    now: i64,
}

#[derive(Deserialize)]
struct Bye {
    retry: u32,
}

/// Reads the JSON of a [`LiveMessage`].
///
/// # Errors
/// It is none, or of a type that a newer server has.
pub fn read(text: &str) -> Result<LiveMessage, Error> {
    json::read_tagged(text, |kind, data| {
        Ok(match kind {
            "hello" => data.read().map(|Hello { now, heartbeat }| LiveMessage::Hello { now, heartbeat })?,
            "totals" => LiveMessage::Totals(data.read::<Totals>()?),
            "deck" => LiveMessage::Deck(data.read()?),
            "deck-delta" => LiveMessage::DeckDelta(data.read()?),
            "servers" => LiveMessage::Servers(data.read()?),
            "servers-delta" => LiveMessage::ServersDelta(data.read()?),
            "sets" => LiveMessage::Sets(data.read()?),
            "set" => LiveMessage::Set(data.read()?),
            "server" => LiveMessage::Server(data.read()?),
            "batch" => LiveMessage::Batch(data.read()?),
            "refused" => LiveMessage::Refused(data.read()?),
            "heartbeat" => data.read().map(|Heartbeat { now }| LiveMessage::Heartbeat { now })?,
            "bye" => data.read().map(|Bye { retry }| LiveMessage::Bye { retry })?,
            other => return Err(Error::Value(other.to_owned())),
        })
    })
}

#[cfg(test)]
mod tests {
    use super::read;
    use wire::{
        ApiError, LiveMessage, Reason, ServersWindow, Totals,
        deck::{DeckDelta, DeckSnapshot},
        row::ServersDelta,
    };

    #[test]
    fn every_message_is_read_as_it_was_written() {
        let error =
            ApiError { status: 400, reason: Reason::new("x", "y"), span: Some((1, 2)), command: None };
        let all = [
            LiveMessage::Hello { now: 5, heartbeat: 15 },
            LiveMessage::Totals(Totals { servers: 3, ..Totals::default() }),
            LiveMessage::Deck(DeckSnapshot { total: 7, ..DeckSnapshot::default() }),
            LiveMessage::DeckDelta(DeckDelta { matched: 2, ..DeckDelta::default() }),
            LiveMessage::Servers(ServersWindow { matched: 9, ..ServersWindow::default() }),
            LiveMessage::ServersDelta(ServersDelta { version: 4, ..ServersDelta::default() }),
            LiveMessage::Sets(Vec::new()),
            LiveMessage::Set(None),
            LiveMessage::Server(None),
            LiveMessage::Batch(None),
            LiveMessage::Refused(error),
            LiveMessage::Heartbeat { now: 6 },
            LiveMessage::Bye { retry: 300 },
        ];
        for message in all {
            let text = serde_json::to_string(&message).unwrap();
            assert_eq!(read(&text).unwrap(), message, "{text}");
        }
    }

    #[test]
    fn what_is_no_message_is_an_error() {
        for text in ["", "{}", "[]", r#"{"type":"song","data":1}"#, r#"{"type":"totals"}"#] {
            assert!(read(text).is_err(), "{text}");
        }
    }
}
