//! Counts of a match by a dimension, for tables that are grouped.

use wire::error::ApiError;
use wire::row::Count;

use crate::category::Dimension;
use crate::snapshot::Snapshot;
use crate::tally::Tally;

impl Snapshot {
    /// How many servers of a match each group has, most first. `by` is `set` (values `namespace/name`) or a dimension
    /// of the deck; `by:value` is the term of the filter language that shows a group. The empty value is the group of
    /// those that have none.
    ///
    /// # Errors
    /// The filter or the dimension cannot be understood.
    pub fn groups(&self, q: &str, namespace: &str, by: &str, now: i64) -> Result<Vec<Count>, ApiError> {
        let dimension = if by == "set" { None } else { Some(Dimension::parse(by)?) };
        let (_, matches) = self.matches(q, namespace, now)?;
        let rows = || matches.rows.iter().map(|place| &self.rows[*place as usize]);
        let mut tally = Tally::default();
        if let Some(dimension) = dimension {
            rows().for_each(|row| tally.add(dimension.of(row, now)));
            return Ok(tally.most_first());
        }
        let mut paths: Vec<(String, u32)> = Vec::new();
        let mut last = None;
        for row in rows() {
            // Rows of a set stand together.
            match (last, paths.last_mut()) {
                (Some(before), Some((_, count))) if row.same_set(before) => *count += 1,
                _ => {
                    let path = row.set.as_ref().map(|set| format!("{}/{set}", row.namespace));
                    paths.push((path.unwrap_or_default(), 1));
                }
            }
            last = Some(row);
        }
        // Servers without a set are one group, whatever their namespaces.
        paths.iter().for_each(|(path, count)| tally.add_many(path, *count));
        Ok(tally.most_first())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::testing::{NOW, board};

    #[test]
    fn groups_are_counted_and_their_filter_finds_them() {
        let lone = || json!({ "metadata": { "labels": { "game.kruise.io/owner-gss": null } } });
        let snapshot = board(&[
            ("a/game-0", json!({ "metadata": { "labels": { "zone": "z1" } } })),
            ("a/game-1", json!({ "status": { "currentState": "Crash" } })),
            ("b/game-0", json!({})),
            ("a/lone", lone()),
            ("b/lone", lone()),
        ])
        .snapshot();
        for (by, q, wanted) in [
            ("set", "", &["=2", "a/game=2", "b/game=1"][..]),
            ("set", "state:Crash", &["a/game=1"]),
            ("state", "", &["Ready=4", "Crash=1"]),
            ("node", "", &["n1=3", "=2"]),
            ("label.zone", "", &["=4", "z1=1"]),
        ] {
            let groups = snapshot.groups(q, "", by, NOW).unwrap();
            let told: Vec<String> =
                groups.iter().map(|count| format!("{}={}", count.value, count.count)).collect();
            assert_eq!(told, wanted, "{by} {q}");
            for group in groups {
                let q = wire::filter::toggle_in(q, by, &group.value).unwrap();
                assert_eq!(snapshot.keys(&q, "", NOW).unwrap().len(), group.count as usize, "{q}");
            }
        }
        assert_eq!(snapshot.groups("", "", "moon", NOW).unwrap_err().reason.code, "unknown-dimension");
    }
}
