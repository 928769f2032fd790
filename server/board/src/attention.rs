//! What needs a hand: servers that do not come up, do not go, and sets that are refused. Few entries, one a set and
//! kind, each with a filter that shows the servers.
//!
//! Codes and their arguments (all also have `set` where the servers have one):
//!
//! | Code | Arguments |
//! |---|---|
//! | `crash-loop` | `name`, `container`, `restarts`, `exit` and `reason` where known |
//! | `crash-loops` | `count` |
//! | `crashed` | `count` |
//! | `nodes-not-ready` | `nodes`, `count` (servers on them) |
//! | `set-unreadable` `set-invalid` `pods-refused` `name-taken` `network-not-served` `not-scaled` | `message` |
//! | `not-leaving` | `count`, `wanted`, `to` (replicas that would let them go), `since` |
//! | `kill-waits` | `count`, `since` |
//! | `not-ready-long` `creating-long` `deleting-long` | `count`, `since` |
//!
//! `since` is in Unix seconds, of the one that waits longest.

use std::collections::BTreeMap;
use std::sync::Arc;

use wire::error::Reason;
use wire::filter::quote_value;
use wire::key::SetKey;
use wire::live::Attention;

use crate::problem;
use crate::row::Row;
use crate::snapshot::Snapshot;

/// Shorter than these, in seconds, everything is on its way.
const LEAVING: i64 = 600;
const NOT_READY: i64 = 300;
const CREATING: i64 = 300;
const DELETING: i64 = 600;
const SCALING: i64 = 600;

/// Up to so many crash loops of a set are told one by one.
const SINGLE: usize = 3;

/// Most entries; a page that needs more needs another page.
const MOST: usize = 50;

/// Nodes that are named in a filter.
const NODES: usize = 20;

/// What is wrong with the servers of one set.
#[derive(Default)]
struct Trouble<'a> {
    looping: Vec<&'a Arc<Row>>,
    crashed: Vec<&'a Arc<Row>>,
    leaving: Since,
    killed: Since,
    not_ready: Since,
    creating: Since,
    deleting: Since,
    live: u32,
}

/// How many wait, and since when the first of them does.
#[derive(Clone, Copy, Default)]
struct Since {
    count: u32,
    first: Option<i64>,
}

impl Since {
    fn add(&mut self, since: Option<i64>, now: i64, bearable: i64) {
        if let Some(since) = since.filter(|since| now.saturating_sub(*since) >= bearable) {
            self.count += 1;
            self.first = Some(self.first.map_or(since, |first| first.min(since)));
        }
    }
}

impl Snapshot {
    /// What needs a hand at a time of day, worst first.
    #[must_use]
    pub fn attention(&self, now: i64) -> Vec<Attention> {
        let mut found = Vec::new();
        found.extend(self.lost_nodes());
        // Rows of a set stand together.
        for rows in self.rows.chunk_by(|one, other| one.same_set(other)) {
            let mut trouble = Trouble::default();
            rows.iter().for_each(|row| trouble.look_at(row, now));
            if let (true, Some(row)) = (trouble.is_any(), rows.first()) {
                let key = SetKey::new(row.family, &*row.namespace, row.set.as_deref().unwrap_or(""));
                self.tell(&key, &trouble, &mut found);
            }
        }
        for (key, set) in self.sets.iter() {
            let waiting = problem::waiting(set).filter(|(_, since)| now.saturating_sub(*since) >= SCALING);
            let (reason, level) = match (problem::of_set(set), waiting) {
                (Some(reason), _) if reason.code == "network-not-served" => (reason, "info"),
                (Some(reason), _) => (reason, "bad"),
                (None, Some((reason, _))) => (reason, "warn"),
                (None, None) => continue,
            };
            found.push(attention(reason, level, String::new(), Some(key)));
        }
        let rank = |level: &str| ["bad", "warn"].iter().position(|known| *known == level).unwrap_or(2);
        found.sort_by_key(|attention| rank(&attention.level));
        found.truncate(MOST);
        found
    }

    /// Servers on nodes that are not ready. Mostly there is no such node, and no row is looked at.
    fn lost_nodes(&self) -> Option<Attention> {
        let mut lost: BTreeMap<&str, u32> =
            self.nodes.iter().filter(|(_, ready)| !**ready).map(|(name, _)| (name.as_str(), 0)).collect();
        if lost.is_empty() {
            return None;
        }
        for row in &self.rows {
            if let Some(count) = lost.get_mut(row.node()) {
                *count += 1;
            }
        }
        lost.retain(|_, count| *count > 0);
        nodes(&lost)
    }

    fn tell(&self, key: &SetKey, trouble: &Trouble<'_>, found: &mut Vec<Attention>) {
        let set = Some(key).filter(|key| !key.name.is_empty());
        let within = within(key);
        if trouble.looping.len() <= SINGLE {
            found.extend(trouble.looping.iter().filter_map(|row| crash_loop(row, set)));
        } else {
            let count = trouble.looping.len();
            let reason = Reason::new("crash-loops", format!("{count} servers of {} crash loop", told(key)));
            let q = format!("{within} restarts>0 -state:Ready");
            found.push(attention(reason.with("count", count), "bad", q, set));
        }
        if !trouble.crashed.is_empty() {
            let count = trouble.crashed.len();
            let reason = Reason::new("crashed", format!("{count} servers of {} crashed", told(key)));
            found.push(attention(reason.with("count", count), "bad", format!("{within} state:Crash"), set));
        }
        let wanted = self.set_rows().get(key).map(|row| row.wanted);
        // When the set wants fewer than there are, they are on their way.
        if let Some(wanted) = wanted.filter(|wanted| *wanted >= trouble.live) {
            let count = trouble.leaving.count;
            let to = wanted.saturating_sub(count);
            let message = format!(
                "{count} servers of {} wait to be deleted, but the set wants {wanted}: scale it to {to} to let them go",
                told(key)
            );
            let reason = Reason::new("not-leaving", message).with("wanted", wanted).with("to", to);
            waiting(reason, trouble.leaving, format!("{within} ops:WaitToBeDeleted"), set, found);
        }
        for (since, code, words, q) in [
            (trouble.killed, "kill-waits", "were to be killed and still live", "ops:Kill"),
            (trouble.not_ready, "not-ready-long", "are not ready for long", "state:NotReady"),
            (trouble.creating, "creating-long", "have been in creation for long", "state:Creating"),
            (trouble.deleting, "deleting-long", "have been going for long", "state:Deleting"),
        ] {
            let reason = Reason::new(code, format!("{} servers of {} {words}", since.count, told(key)));
            waiting(reason, since, format!("{within} {q}"), set, found);
        }
    }
}

impl<'a> Trouble<'a> {
    fn is_any(&self) -> bool {
        let waiting = [self.leaving, self.killed, self.not_ready, self.creating, self.deleting];
        !self.looping.is_empty() || !self.crashed.is_empty() || waiting.iter().any(|since| since.count > 0)
    }

    fn look_at(&mut self, row: &'a Arc<Row>, now: i64) {
        self.live += 1;
        let at_ease = &*row.state == "Ready" && matches!(&*row.ops, "None" | "Allocated");
        if at_ease && row.restarts == 0 {
            return;
        }
        let pod = row.pod.as_deref();
        let ready_changed = pod.and_then(|pod| pod.ready_changed);
        let ops_changed = pod.and_then(|pod| pod.ops_changed);
        if pod.is_some_and(|pod| pod.crash_loop.is_some()) {
            self.looping.push(row);
        } else if &*row.state == "NotReady" {
            self.not_ready.add(ready_changed, now, NOT_READY);
        }
        match &*row.state {
            "Crash" => self.crashed.push(row),
            "Creating" => self.creating.add(pod.map(|pod| pod.created), now, CREATING),
            "Deleting" => self.deleting.add(pod.and_then(|pod| pod.deleting_since), now, DELETING),
            _ => {}
        }
        match &*row.ops {
            "WaitToBeDeleted" => self.leaving.add(ops_changed, now, LEAVING),
            "Kill" => self.killed.add(ops_changed, now, LEAVING),
            _ => {}
        }
    }
}

fn attention(reason: Reason, level: &str, q: String, set: Option<&SetKey>) -> Attention {
    let reason = match set {
        Some(set) => reason.with("set", &set.name),
        None => reason,
    };
    Attention { reason, level: level.to_owned(), q, set: set.cloned(), server: None }
}

fn waiting(reason: Reason, since: Since, q: String, set: Option<&SetKey>, found: &mut Vec<Attention>) {
    if let Some(first) = since.first {
        let reason = reason.with("count", since.count).with("since", first);
        found.push(attention(reason, "warn", q, set));
    }
}

fn crash_loop(row: &Arc<Row>, set: Option<&SetKey>) -> Option<Attention> {
    let crash = row.pod.as_ref()?.crash_loop.as_ref()?;
    let end = match (&crash.reason, crash.exit_code) {
        (Some(reason), Some(code)) => format!(" with {code} ({reason})"),
        (None, Some(code)) => format!(" with {code}"),
        _ => String::new(),
    };
    let message = format!(
        "{} crash loops: container {} ended{end}, {} restarts",
        row.name, crash.container, crash.restarts
    );
    let mut reason = Reason::new("crash-loop", message)
        .with("name", &row.name)
        .with("container", &crash.container)
        .with("restarts", crash.restarts);
    if let Some(code) = crash.exit_code {
        reason = reason.with("exit", code);
    }
    if let Some(why) = &crash.reason {
        reason = reason.with("reason", why);
    }
    let q = format!("name:{}", quote_value(&format!("{}/{}", row.namespace, row.name)));
    Some(Attention { server: Some(row.key()), ..attention(reason, "bad", q, set) })
}

fn nodes(lost: &BTreeMap<&str, u32>) -> Option<Attention> {
    let count: u32 = lost.values().sum();
    if count == 0 {
        return None;
    }
    let names: Vec<String> = lost.keys().take(NODES).map(|name| quote_value(name)).collect();
    let more = if lost.len() > NODES { ", …" } else { "" };
    let message = format!("{count} servers are on nodes that are not ready: {}{more}", names.join(", "));
    let reason = Reason::new("nodes-not-ready", message).with("nodes", names.join(", ")).with("count", count);
    Some(attention(reason, "bad", format!("node:{}", names.join(",")), None))
}

fn within(key: &SetKey) -> String {
    match key.name.is_empty() {
        true => format!("ns:{} set:", quote_value(&key.namespace)),
        false => format!("set:{}", quote_value(&format!("{}/{}", key.namespace, key.name))),
    }
}

fn told(key: &SetKey) -> &str {
    if key.name.is_empty() { &key.namespace } else { &key.name }
}

#[cfg(test)]
#[path = "attention_test.rs"]
mod tests;
