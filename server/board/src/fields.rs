//! A row as the filter language asks for it.

use wire::filter::Fields;

use crate::row::{Condition, Row};

/// A row at a time of day; ages need one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RowAt<'a> {
    pub(crate) row: &'a Row,
    /// Unix seconds.
    pub(crate) now: i64,
}

impl Row {
    /// Seconds since creation; a clock that runs behind the API server's makes nobody younger than 0.
    pub(crate) fn age(&self, now: i64) -> Option<u64> {
        (self.created > 0).then(|| u64::try_from(now.saturating_sub(self.created)).unwrap_or(0))
    }

    pub(crate) fn conditions(&self) -> impl Iterator<Item = &Condition> {
        let of_server = self.server.iter().flat_map(|server| server.conditions.iter());
        of_server.chain(self.pod.iter().flat_map(|pod| pod.conditions.iter()))
    }
}

impl Fields for RowAt<'_> {
    fn name(&self) -> &str {
        &self.row.name
    }

    fn namespace(&self) -> &str {
        &self.row.namespace
    }

    fn set(&self) -> &str {
        self.row.set.as_deref().unwrap_or("")
    }

    fn family(&self) -> &str {
        self.row.family.as_str()
    }

    fn id(&self) -> Option<i64> {
        self.row.id.map(i64::from)
    }

    fn state(&self) -> &str {
        &self.row.state
    }

    fn ops(&self) -> &str {
        &self.row.ops
    }

    fn images(&self, visit: &mut dyn FnMut(&str)) {
        for container in self.row.containers() {
            visit(&container.image);
        }
    }

    fn containers(&self, visit: &mut dyn FnMut(&str)) {
        for container in self.row.containers() {
            visit(&container.name);
        }
    }

    fn node(&self) -> &str {
        self.row.node()
    }

    fn players(&self) -> Option<i64> {
        self.row.players
    }

    fn restarts(&self) -> Option<i64> {
        self.row.pod.is_some().then(|| i64::from(self.row.restarts))
    }

    fn age_seconds(&self) -> Option<u64> {
        self.row.age(self.now)
    }

    fn revision(&self) -> &str {
        self.row.revision()
    }

    fn deletion_priority(&self) -> Option<i64> {
        self.row.deletion_priority()
    }

    fn update_priority(&self) -> Option<i64> {
        self.row.update_priority()
    }

    fn network(&self, visit: &mut dyn FnMut(&str)) {
        let Some(server) = &self.row.server else { return };
        for text in [&server.network_type, &server.network_state].into_iter().flatten() {
            visit(text);
        }
        if server.network_disabled {
            visit("Disabled");
        }
    }

    fn ips(&self, visit: &mut dyn FnMut(&str)) {
        if let Some(ip) = self.row.ip() {
            visit(&ip.to_string());
        }
        for address in self.row.server.iter().flat_map(|server| &server.addresses) {
            visit(address);
        }
    }

    fn label(&self, key: &str) -> Option<&str> {
        self.row.label(key)
    }

    fn annotation(&self, key: &str) -> Option<&str> {
        self.row.annotation(key)
    }

    fn quality(&self, name: &str, visit: &mut dyn FnMut(&str)) {
        let named = self.row.qualities().iter().filter(|quality| quality.name.eq_ignore_ascii_case(name));
        for text in named.flat_map(|quality| [&quality.status, &quality.result]).flatten() {
            visit(text);
        }
    }

    fn condition(&self, kind: &str, visit: &mut dyn FnMut(&str)) {
        for condition in self.row.conditions().filter(|condition| condition.kind.eq_ignore_ascii_case(kind)) {
            visit(&condition.status);
            if let Some(reason) = &condition.reason {
                visit(reason);
            }
        }
    }
}
