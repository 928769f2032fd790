//! What one connection has been shown, and the messages that bring it to now. Pure but for reading the board.

use crate::reader::Reader;
use wire::{
    batch::BatchView,
    deck::DeckSnapshot,
    error::ApiError,
    live::{LiveMessage, Totals, View},
    row::ServersWindow,
    server::{EventView, ServerDetail},
    set::{SetDetail, SetRow},
};

/// The last state sent, one slot a kind of view.
#[derive(Default)]
pub struct Shown {
    totals: Option<Totals>,
    deck: Option<DeckSnapshot>,
    servers: Option<ServersWindow>,
    sets: Option<Vec<SetRow>>,
    set: Option<Option<Box<SetDetail>>>,
    server: Option<Option<Box<ServerDetail>>>,
    batch: Option<Option<Box<BatchView>>>,
    refused: Option<ApiError>,
    /// Events of the server or set in view, asked for by the connection.
    pub events: Vec<EventView>,
}

impl Shown {
    /// The messages from what was shown to what is; nothing when nothing in view changed.
    pub fn step(&mut self, reader: &Reader, view: &View) -> Vec<LiveMessage> {
        let mut messages = Vec::new();
        if let Some(totals) = replace(&mut self.totals, reader.totals()) {
            messages.push(LiveMessage::Totals(totals));
        }
        match view {
            View::Totals => {}
            View::Deck(query) => match reader.deck(query) {
                Err(error) => self.refuse(error, &mut messages),
                Ok(new) => {
                    match &self.deck {
                        None => messages.push(LiveMessage::Deck(new.clone())),
                        Some(old) => {
                            if let Some(delta) = board::diff_deck(old, &new) {
                                messages.push(LiveMessage::DeckDelta(delta));
                            }
                        }
                    }
                    self.deck = Some(new);
                }
            },
            View::Servers(query) => match reader.servers(query) {
                Err(error) => self.refuse(error, &mut messages),
                Ok(new) => {
                    match &self.servers {
                        None => messages.push(LiveMessage::Servers(new.clone())),
                        Some(old) => {
                            if let Some(delta) = board::diff_window(old, &new) {
                                messages.push(LiveMessage::ServersDelta(delta));
                            }
                        }
                    }
                    self.servers = Some(new);
                }
            },
            View::Sets { ns } => {
                if let Some(sets) = replace(&mut self.sets, reader.sets(ns)) {
                    messages.push(LiveMessage::Sets(sets));
                }
            }
            View::Set { key } => {
                let mut detail = reader.set(key);
                if let Some(detail) = &mut detail {
                    detail.events.clone_from(&self.events);
                }
                if let Some(set) = replace(&mut self.set, detail.map(Box::new)) {
                    messages.push(LiveMessage::Set(set));
                }
            }
            View::Server { key } => {
                let mut detail = reader.server(key);
                if let Some(detail) = &mut detail {
                    detail.events.clone_from(&self.events);
                }
                if let Some(server) = replace(&mut self.server, detail.map(Box::new)) {
                    messages.push(LiveMessage::Server(server));
                }
            }
            View::Batch { name } => {
                if let Some(batch) = replace(&mut self.batch, reader.batch(name).map(Box::new)) {
                    messages.push(LiveMessage::Batch(batch));
                }
            }
        }
        messages
    }

    fn refuse(&mut self, error: ApiError, messages: &mut Vec<LiveMessage>) {
        if let Some(error) = replace(&mut self.refused, error) {
            messages.push(LiveMessage::Refused(error));
        }
    }
}

/// Keeps the new value; gives it back when it differs from the old one.
fn replace<T: PartialEq + Clone>(slot: &mut Option<T>, new: T) -> Option<T> {
    if slot.as_ref() == Some(&new) {
        return None;
    }
    *slot = Some(new.clone());
    Some(new)
}
