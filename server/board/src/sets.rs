//! Sets: the list with counts over their servers, and one set whole.

use std::collections::BTreeMap;
use std::sync::Arc;

use crds::kruise::GameServerSetSpec;
use crds::slim::SlimGameServerSet;
use wire::key::SetKey;
use wire::row::Count;
use wire::set::{IdCell, IdKind, SetDetail, SetRow};

use crate::ids;
use crate::problem;
use crate::read::seconds;
use crate::row::Row;
use crate::snapshot::Snapshot;
use crate::tally::{Tally, length};

impl Snapshot {
    /// The list rows of every set object.
    pub(crate) fn set_rows(&self) -> Arc<BTreeMap<SetKey, SetRow>> {
        self.set_rows.get((), || {
            self.sets
                .iter()
                .map(|(key, set)| (key.clone(), set_row(key, set, self.rows_of_set(key))))
                .collect()
        })
    }

    /// The servers of a set; they stand together, ordered by id.
    pub(crate) fn rows_of_set(&self, key: &SetKey) -> &[Arc<Row>] {
        let wanted = (key.namespace.as_str(), Some(key.name.as_str()), key.family);
        let place = |row: &Arc<Row>| (&*row.namespace, row.set.as_deref(), row.family).cmp(&wanted);
        let start = self.rows.partition_point(|row| place(row).is_lt());
        let end = start + self.rows[start..].partition_point(|row| place(row).is_eq());
        &self.rows[start..end]
    }

    /// The sets of a namespace, ordered by key; an empty namespace is all.
    #[must_use]
    pub fn sets(&self, namespace: &str) -> Vec<SetRow> {
        let rows = self.set_rows();
        rows.values().filter(|row| namespace.is_empty() || row.key.namespace == namespace).cloned().collect()
    }

    /// One set, without conditions and events: these the board does not keep.
    #[must_use]
    pub fn set(&self, key: &SetKey) -> Option<SetDetail> {
        let set = self.sets.get(key)?;
        let row = self.set_rows().get(key)?.clone();
        let spec = set.spec.as_ref();
        let status = set.status.as_ref();
        let reserve = spec.map_or(&[][..], |spec| &spec.reserve_game_server_ids);
        let implicit = status.map_or(&[][..], |status| &status.implicit_reserve_ids);
        let rows = self.rows_of_set(key);
        let strategy = spec.and_then(|spec| spec.update_strategy.as_ref());
        let rolling = strategy.and_then(|strategy| strategy.rolling_update.as_ref());
        let or = |text: Option<&String>, other: &str| {
            text.filter(|text| !text.is_empty()).map_or_else(|| other.to_owned(), Clone::clone)
        };
        Some(SetDetail {
            row,
            ids: ids::strip(live(rows), &ids::ranges(reserve), &ids::ranges(implicit)),
            scale_down: or(
                spec.and_then(|spec| spec.scale_strategy.as_ref())
                    .and_then(|strategy| strategy.scale_down_strategy_type.as_ref()),
                "General",
            ),
            reserve_ids: ids::as_written(reserve),
            update_type: or(strategy.and_then(|strategy| strategy.type_.as_ref()), "RollingUpdate"),
            pod_update_policy: or(rolling.and_then(|rolling| rolling.pod_update_policy.as_ref()), ""),
            reclaim_policy: or(
                spec.and_then(|spec| spec.game_server_template.reclaim_policy.as_ref()),
                "Cascade",
            ),
            network_type: or(
                spec.and_then(|spec| spec.network.as_ref()).and_then(|network| network.network_type.as_ref()),
                "",
            ),
            template: spec.map(template).unwrap_or_default(),
            revisions: revisions(rows, set),
            conditions: Vec::new(),
            events: Vec::new(),
        })
    }
}

fn set_row(key: &SetKey, set: &SlimGameServerSet, rows: &[Arc<Row>]) -> SetRow {
    let (mut states, mut ops, mut images) = (Tally::default(), Tally::default(), Tally::default());
    let newest = newest(set);
    let mut updated = 0;
    for row in rows {
        states.add(&row.state);
        ops.add(&row.ops);
        // A server without a pod runs no image; it is not part of the mix.
        if !row.image().is_empty() {
            images.add(row.image());
        }
        updated += u32::from(newest.is_some_and(|newest| row.revision() == newest));
    }
    let number = |number: i32| u32::try_from(number).unwrap_or(0);
    let status = set.status.as_ref();
    SetRow {
        key: key.clone(),
        uid: set.metadata.uid.clone().unwrap_or_default(),
        // What cannot be read keeps the size that was last acted on.
        wanted: set
            .spec
            .as_ref()
            .map(|spec| spec.replicas)
            .or_else(|| status.map(|status| status.acted_replicas.unwrap_or(status.replicas)))
            .map_or(0, number),
        live: length(rows.len()),
        ready: length(rows.iter().filter(|row| &*row.state == "Ready").count()),
        updated: match newest {
            Some(_) => updated,
            None => status.map_or(0, |status| number(status.updated_replicas)),
        },
        states: states.most_first(),
        ops: ops.most_first(),
        images: images.most_first(),
        created: seconds(set.metadata.creation_timestamp.as_ref()).unwrap_or(0),
        problem: problem::of_set(set),
    }
}

fn newest(set: &SlimGameServerSet) -> Option<&str> {
    set.status.as_ref().and_then(|status| status.update_revision.as_deref()).filter(|name| !name.is_empty())
}

/// Cells of the servers that have an id.
fn live(rows: &[Arc<Row>]) -> Vec<IdCell> {
    let cells = rows.iter().filter_map(|row| {
        let id = row.id?;
        let kind = IdKind::Live { state: row.state.to_string(), ops: row.ops.to_string(), key: row.key() };
        Some(IdCell { first: id, last: id, kind })
    });
    cells.collect()
}

/// The revisions of the live servers: the newest first, then the most frequent.
fn revisions(rows: &[Arc<Row>], set: &SlimGameServerSet) -> Vec<Count> {
    let mut tally = Tally::default();
    for row in rows.iter().filter(|row| !row.revision().is_empty()) {
        tally.add(row.revision());
    }
    let mut revisions = tally.most_first();
    let newest = newest(set);
    revisions.sort_by_key(|count| Some(count.value.as_str()) != newest);
    revisions
}

fn template(spec: &GameServerSetSpec) -> Vec<(String, String)> {
    let text = |container: &serde_json::Map<String, serde_json::Value>, key: &str| {
        container.get(key).and_then(|value| value.as_str()).unwrap_or("").to_owned()
    };
    spec.game_server_template
        .containers()
        .map(|container| (text(container, "name"), text(container, "image")))
        .collect()
}

#[cfg(test)]
#[path = "sets_test.rs"]
mod tests;
