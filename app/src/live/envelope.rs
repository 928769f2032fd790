//! Reads a live message. Its type is looked at first and its data read as just that; the derived way reads data of
//! every type into a general value before, which costs time for a window and much wasm.

use serde::{Deserialize, de::DeserializeOwned};
use serde_json::{Error, value::RawValue};
use wire::{LiveMessage, Totals};

#[derive(Deserialize)]
struct Envelope<'a> {
    #[serde(rename = "type")]
    kind: &'a str,
    #[serde(borrow, default)]
    data: Option<&'a RawValue>,
}

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
    let Envelope { kind, data } = serde_json::from_str(text)?;
    let json = data.map_or("null", RawValue::get);
    fn of<T: DeserializeOwned>(json: &str) -> Result<T, Error> {
        serde_json::from_str(json)
    }
    Ok(match kind {
        "hello" => of(json).map(|Hello { now, heartbeat }| LiveMessage::Hello { now, heartbeat })?,
        "totals" => LiveMessage::Totals(of::<Totals>(json)?),
        "deck" => LiveMessage::Deck(of(json)?),
        "deck-delta" => LiveMessage::DeckDelta(of(json)?),
        "servers" => LiveMessage::Servers(of(json)?),
        "servers-delta" => LiveMessage::ServersDelta(of(json)?),
        "sets" => LiveMessage::Sets(of(json)?),
        "set" => LiveMessage::Set(of(json)?),
        "server" => LiveMessage::Server(of(json)?),
        "batch" => LiveMessage::Batch(of(json)?),
        "refused" => LiveMessage::Refused(of(json)?),
        "heartbeat" => of(json).map(|Heartbeat { now }| LiveMessage::Heartbeat { now })?,
        "bye" => of(json).map(|Bye { retry }| LiveMessage::Bye { retry })?,
        other => return Err(serde::de::Error::custom(format_args!("a live message of type {other}"))),
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
