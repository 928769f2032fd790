//! What a scale would do, from the caches, by the code that does it; worded for the wire.

use controllers::{
    cache::{Caches, Key},
    kruise::{
        observe::observe_set,
        ordinals::{Ordinal, OrdinalSet},
        preview,
    },
};
use crds::slim::{SlimGameServer, SlimPod};
use jiff::Timestamp;
use wire::{
    error::Reason,
    key::{ServerKey, SetKey},
    set::{Leaving, ScalePreview},
};

/// Most joining ids that are listed one by one: a page shows a dozen ranges of them, and an answer must not grow with a
/// number that anybody may type.
const JOINING_SHOWN: usize = 10_000;

/// Previews a change of replicas; `None` when there is no such set.
#[must_use]
pub fn preview(caches: &Caches, key: &SetKey, replicas: u32) -> Option<ScalePreview> {
    let at = Key::new(&key.namespace, &key.name);
    let set = caches.sets.get(&at)?;
    let (pods, servers) = (caches.pods_of(&at), caches.servers_of(&at));
    let pods: Vec<&SlimPod> = pods.iter().map(AsRef::as_ref).collect();
    let servers: Vec<&SlimGameServer> = servers.iter().map(AsRef::as_ref).collect();
    let seen = observe_set(&set, &pods, &servers, Timestamp::now());
    let found = preview::preview_scale(&seen, replicas);
    let mut warnings: Vec<Reason> = found
        .blocked
        .iter()
        .map(|problem| {
            Reason::new("set-invalid", format!("{}: {}", problem.field, problem.message))
                .with("field", &problem.field)
                .with("message", &problem.message)
        })
        .collect();
    let leaving: Vec<Leaving> =
        found.leaving.into_iter().map(|one| line(key, one, |r| (r.code(), r.message()))).collect();
    let in_use = leaving.iter().filter(|one| one.in_use).count();
    if in_use > 0 {
        warnings.push(
            Reason::new("scale-removes-in-use", format!("{in_use} servers in use would be removed"))
                .with("count", in_use),
        );
    }
    if !found.newly_reserved.is_empty() {
        let ids = found.newly_reserved.to_text(",");
        warnings.push(
            Reason::new(
                "scale-reserves-ids",
                format!("ReserveIds: {ids} are not used again until you remove them"),
            )
            .with("ids", ids),
        );
    }
    Some(ScalePreview {
        set: key.clone(),
        resource_version: seen.set.resource_version.clone(),
        from: found.from,
        to: found.to,
        leaving,
        staying: found.staying.into_iter().map(|one| line(key, one, |r| (r.code(), r.message()))).collect(),
        joining: listed(&found.joining),
        joining_count: u32::try_from(found.joining.len()).unwrap_or(u32::MAX),
        warnings,
    })
}

fn listed(joining: &OrdinalSet) -> Vec<u32> {
    joining.iter().take(JOINING_SHOWN).map(Ordinal::get).collect()
}

fn line<R: Copy>(
    key: &SetKey,
    one: preview::Judged<R>,
    word: impl Fn(R) -> (&'static str, &'static str),
) -> Leaving {
    let (code, message) = word(one.reason);
    Leaving {
        key: ServerKey::new(key.family, &key.namespace, one.name),
        id: one.ordinal.get(),
        in_use: one.ops_state == "Allocated",
        ops: one.ops_state,
        reason: Reason::new(code, message),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn range(first: u32, last: u32) -> OrdinalSet {
        let mut ids = OrdinalSet::new();
        ids.insert_range(Ordinal::new(first).unwrap(), Ordinal::new(last).unwrap());
        ids
    }

    #[test]
    fn a_huge_scale_lists_its_lowest_ids_only() {
        let ids = listed(&range(5, 2_000_000_000));
        assert_eq!((ids.len(), ids.first(), ids.last()), (JOINING_SHOWN, Some(&5), Some(&10_004)));
        assert_eq!(listed(&range(3, 4)), [3, 4]);
    }
}
