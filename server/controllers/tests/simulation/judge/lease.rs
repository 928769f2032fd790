//! (g) Only the holder of the lease writes.
//!
//! A holder gives up 10 s after its last renewal, others take over 15 s after they saw the last one. So what is sent in time
//! and takes no longer than the 5 s between them arrives before anybody else may write: nothing is committed while the
//! lease belongs to another, and nothing is sent more than 10 s after the sender's last renewal.
//!
//! What lies in a stalled process for longer than that cannot be held back by any lease ([`View::late`]); such writes are
//! judged by all the other invariants.
//!
//! [`View::late`]: sandbox::sim::View::late

use crate::facts::{LEASES, NAMESPACE, text};
use sandbox::sim::{Broken, Entry, Writer, history::History};
use std::{collections::BTreeMap, time::Duration};

pub const NAME: &str = "only the holder of the lease writes";
/// Name of the lease.
pub const LEASE: &str = "pilothouse";
/// How long after a renewal its holder may send, with a little for the way of the renewal's answer.
const RENEW_DEADLINE: Duration = Duration::from_millis(10_050);

/// When each process renewed the last time.
#[derive(Default)]
pub struct LeaseHolder {
    renewed: BTreeMap<String, Duration>,
}

impl LeaseHolder {
    pub fn check(&mut self, history: &History, entry: &Entry) -> Result<(), Broken> {
        if entry.resource == LEASES {
            if let Some(holder) = entry.after.as_ref().map(|lease| text(lease, "/spec/holderIdentity")) {
                self.renewed.insert(holder.to_owned(), entry.at);
            }
            return Ok(());
        }
        let (Writer::Process(name), Some(view)) = (&entry.writer, &entry.view) else { return Ok(()) };
        if view.late || entry.resource.starts_with("events") {
            return Ok(());
        }
        let lease = history.get(LEASES, NAMESPACE, LEASE);
        let holder = lease.as_ref().map_or("", |lease| text(lease, "/spec/holderIdentity"));
        if holder != name {
            let what =
                format!("{name} writes {} {}, and {holder:?} holds the lease", entry.resource, entry.name);
            return Err(Broken::new(NAME, what));
        }
        match self.renewed.get(name) {
            Some(renewed) if view.sent_at <= *renewed + RENEW_DEADLINE => Ok(()),
            renewed => {
                let what = format!("{name} sends at {:?}, its last renewal was at {renewed:?}", view.sent_at);
                Err(Broken::new(NAME, what))
            }
        }
    }
}
