//! Step *join*: the parts of GameServer and Pod become one row.

use std::sync::Arc;

use wire::key::Family;

use crate::players::{PlayersFrom, count};
use crate::pool::Pools;
use crate::row::{PodPart, Row, ServerPart};

/// The row of a server; `None` when neither object is there.
pub(crate) fn join(
    namespace: &Arc<str>,
    name: &Arc<str>,
    server: Option<Arc<ServerPart>>,
    pod: Option<Arc<PodPart>>,
    players: &PlayersFrom,
    pools: &mut Pools,
) -> Option<Row> {
    if server.is_none() && pod.is_none() {
        return None;
    }
    let set = server.as_ref().and_then(|server| server.set.clone());
    let set = set.or_else(|| pod.as_ref().and_then(|pod| pod.set.clone()));
    let id = set.as_deref().and_then(|set| ordinal(set, name));
    let state = server.as_ref().and_then(|server| server.state.clone());
    let state =
        state.or_else(|| pod.as_ref().and_then(|pod| pod.state.clone())).unwrap_or_else(|| pools.text(""));
    let ops = server.as_ref().map(|server| server.ops.clone());
    let ops =
        ops.or_else(|| pod.as_ref().and_then(|pod| pod.ops.clone())).unwrap_or_else(|| pools.text("None"));
    let restarts = pod.as_ref().map_or(0, |pod| {
        pod.containers.iter().fold(0_u32, |sum, container| sum.saturating_add(container.restarts))
    });
    let created = server.as_ref().map(|server| server.created);
    let created = created.or_else(|| pod.as_ref().map(|pod| pod.created)).unwrap_or(0);
    let mut row = Row {
        family: Family::Kruise,
        namespace: namespace.clone(),
        name: name.clone(),
        set,
        id,
        state,
        ops,
        players: None,
        restarts,
        created,
        server,
        pod,
    };
    row.players = number_of_players(&row, players);
    Some(row)
}

fn number_of_players(row: &Row, players: &PlayersFrom) -> Option<i64> {
    match players {
        PlayersFrom::Nowhere => None,
        PlayersFrom::Annotation(key) => {
            row.annotation(key).and_then(count).or_else(|| row.pod.as_ref().and_then(|pod| pod.players))
        }
        PlayersFrom::Quality(name) => {
            let quality = row.qualities().iter().find(|quality| quality.name.eq_ignore_ascii_case(name))?;
            quality.result.as_deref().and_then(count)
        }
    }
}

/// The id of `<set>-<id>`; nothing for a name of another shape.
fn ordinal(set: &str, name: &str) -> Option<u32> {
    let digits = name.strip_prefix(set)?.strip_prefix('-')?;
    let canonical = digits == "0" || !digits.starts_with('0');
    let plain = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    (canonical && plain).then(|| digits.parse().ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_come_from_names_of_the_right_shape() {
        for (set, name, wanted) in [
            ("game", "game-0", Some(0)),
            ("game", "game-12", Some(12)),
            ("game-a", "game-a-7", Some(7)),
            ("game", "game-a-7", None),
            ("game", "game-07", None),
            ("game", "game-", None),
            ("game", "game-+7", None),
            ("game", "other-7", None),
            ("game", "game-99999999999", None),
        ] {
            assert_eq!(ordinal(set, name), wanted, "{set} {name}");
        }
    }
}
