//! Step plan of a batch: for each server old → new, what the controllers do about it, and who is left out.
//!
//! Pure and infallible: preview and execution both call it, so that what is shown is what happens.

use std::collections::BTreeMap;
use wire::{
    batch::{Change, Effect, FieldChange, Policy, Preview, PreviewEntry, Verdict},
    error::Reason,
    key::{Family, ServerKey},
};

/// Entries that one preview answer lists.
pub const PREVIEW_ENTRIES: usize = 200;

/// What is known of one server when a batch looks at it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Observed {
    /// uid of the GameServer; empty while there is only a pod.
    pub uid: String,
    /// Name of its set.
    pub set: Option<String>,
    /// `spec.opsState`; absent when not set.
    pub ops_state: Option<String>,
    /// `spec.deletionPriority` as text; absent when not set.
    pub deletion_priority: Option<String>,
    /// `spec.containers[].image` of the server: container, image.
    pub overrides: Vec<(String, String)>,
    /// Containers and images of the live pod; empty when there is no pod.
    pub live: Vec<(String, String)>,
    /// Allocated or players > 0.
    pub in_use: bool,
}

/// What the author allowed to happen to servers in use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Allow {
    /// `Kill` also removes them.
    pub kill_in_use: bool,
    /// A change that restarts containers also reaches them.
    pub restart_in_use: bool,
}

impl From<Policy> for Allow {
    fn from(policy: Policy) -> Self {
        Self { kill_in_use: policy.include_in_use, restart_in_use: policy.include_in_use }
    }
}

impl From<crds::pilothouse::BatchPolicy> for Allow {
    fn from(policy: crds::pilothouse::BatchPolicy) -> Self {
        Self { kill_in_use: policy.override_in_use, restart_in_use: policy.also_restart_in_use }
    }
}

/// What a batch will do to one server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlannedTarget {
    /// Server.
    pub key: ServerKey,
    /// uid it was planned for.
    pub uid: String,
    /// Set of the server.
    pub set: Option<String>,
    /// Fields that differ.
    pub fields: Vec<FieldChange>,
    /// What becomes of it.
    pub verdict: Verdict,
}

/// Plans one server. The change must have passed [`super::change::validate`].
#[must_use]
pub fn plan_target(key: &ServerKey, observed: &Observed, change: &Change, allow: Allow) -> PlannedTarget {
    let planned = |fields, verdict| PlannedTarget {
        key: key.clone(),
        uid: observed.uid.clone(),
        set: observed.set.clone(),
        fields,
        verdict,
    };
    let refused = |reason| planned(Vec::new(), Verdict::Refused { reason });
    if key.family != Family::Kruise {
        return refused(
            Reason::new("family-not-editable", format!("{} servers cannot be edited yet", key.family))
                .with("family", key.family),
        );
    }
    if observed.uid.is_empty() {
        return refused(Reason::new("no-game-server", "its GameServer object does not exist yet"));
    }

    let mut fields = Vec::new();
    let mut effect = None;
    let (mut kills, mut restarts) = (false, false);
    let mut raise = |found: Effect| effect = effect.max(Some(found));
    if let Some(new) = &change.ops_state
        && observed.ops_state.as_ref() != Some(new)
    {
        fields.push(FieldChange {
            field: "opsState".into(),
            container: None,
            old: observed.ops_state.clone(),
            live: None,
            new: new.clone(),
        });
        match new.as_str() {
            "Kill" => {
                raise(Effect::Removed);
                kills = true;
            }
            "WaitToBeDeleted" => raise(Effect::LeavesFirst),
            _ => raise(Effect::LabelOnly),
        }
    }
    if let Some(new) = change.deletion_priority.map(|n| n.to_string())
        && observed.deletion_priority.as_ref() != Some(&new)
    {
        fields.push(FieldChange {
            field: "deletionPriority".into(),
            container: None,
            old: observed.deletion_priority.clone(),
            live: None,
            new,
        });
        raise(Effect::LabelOnly);
    }
    for image in &change.images {
        let find = |list: &[(String, String)]| {
            list.iter().find(|(name, _)| *name == image.container).map(|(_, value)| value.clone())
        };
        let (own, live) = (find(&observed.overrides), find(&observed.live));
        if !observed.live.is_empty() && live.is_none() {
            return refused(
                Reason::new("no-such-container", format!("it has no container `{}`", image.container))
                    .with("container", &image.container),
            );
        }
        if own.as_ref() == Some(&image.image) {
            continue;
        }
        match &live {
            None => raise(Effect::NextPod),
            Some(live) if *live == image.image => raise(Effect::SpecOnly),
            Some(_) => {
                raise(Effect::RestartsContainer);
                restarts = true;
            }
        }
        fields.push(FieldChange {
            field: "image".into(),
            container: Some(image.container.clone()),
            live: if own.is_none() { live } else { None },
            old: own,
            new: image.image.clone(),
        });
    }

    let Some(effect) = effect else { return planned(fields, Verdict::Unchanged) };
    if observed.in_use && ((kills && !allow.kill_in_use) || (restarts && !allow.restart_in_use)) {
        let reason = Reason::new("left-out-in-use", "it is in use and the change would stop or restart it");
        return planned(fields, Verdict::LeftOut { reason });
    }
    planned(fields, Verdict::Apply { effect })
}

/// The plan for a name that no server has.
#[must_use]
pub fn missing(key: &ServerKey) -> PlannedTarget {
    let reason = Reason::new("no-such-server", "there is no server of this name");
    PlannedTarget {
        key: key.clone(),
        uid: String::new(),
        set: None,
        fields: Vec::new(),
        verdict: Verdict::Refused { reason },
    }
}

/// Names what a plan does to whom: equal plans have equal tokens, whatever the order.
///
/// 64-bit FNV-1a over the sorted targets; a name for comparing, not a secret.
#[must_use]
pub fn token(targets: &[PlannedTarget]) -> String {
    let mut order: Vec<&PlannedTarget> = targets.iter().collect();
    order.sort_by(|a, b| a.key.cmp(&b.key));
    let mut hash = Fnv::default();
    for target in order {
        hash.text(&target.key.to_string());
        hash.text(&target.uid);
        hash.text(match target.verdict {
            Verdict::Apply { .. } => "apply",
            Verdict::Unchanged => "unchanged",
            Verdict::LeftOut { .. } => "left-out",
            Verdict::Refused { .. } => "refused",
        });
        for field in &target.fields {
            hash.text(&field.field);
            hash.text(field.container.as_deref().unwrap_or(""));
            hash.text(field.old.as_deref().unwrap_or("\u{1}"));
            hash.text(&field.new);
        }
    }
    format!("p-{:016x}", hash.0)
}

struct Fnv(u64);

impl Default for Fnv {
    fn default() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }
}

impl Fnv {
    fn text(&mut self, text: &str) {
        for byte in text.bytes().chain([0]) {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
}

/// What the warnings need to know of a set.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SetFigures {
    /// Replicas wanted.
    pub wanted: u32,
}

/// Sums a plan up for people. `sets` holds the figures of the targets' sets by namespace and name.
#[must_use]
pub fn preview(
    targets: &[PlannedTarget],
    change: &Change,
    sets: &BTreeMap<(String, String), SetFigures>,
) -> Preview {
    let mut preview = Preview {
        token: token(targets),
        total: count(targets, |_| true),
        applies: count(targets, |v| matches!(v, Verdict::Apply { .. })),
        unchanged: count(targets, |v| matches!(v, Verdict::Unchanged)),
        left_out: count(targets, |v| matches!(v, Verdict::LeftOut { .. })),
        refused: count(targets, |v| matches!(v, Verdict::Refused { .. })),
        effects: Vec::new(),
        warnings: warnings(targets, change, sets),
        entries: Vec::new(),
        more: 0,
        kubectl: String::new(),
    };
    let mut effects: BTreeMap<Effect, u32> = BTreeMap::new();
    for target in targets {
        if let Verdict::Apply { effect } = target.verdict {
            *effects.entry(effect).or_default() += 1;
        }
    }
    preview.effects = effects.into_iter().collect();
    if let Some(first) = targets.iter().find(|t| matches!(t.verdict, Verdict::Apply { .. })) {
        preview.kubectl = kubectl_line(first);
    }
    let mut order: Vec<&PlannedTarget> = targets.iter().collect();
    order.sort_by_key(|target| rank(&target.verdict));
    preview.more = u32::try_from(order.len().saturating_sub(PREVIEW_ENTRIES)).unwrap_or(u32::MAX);
    preview.entries = order
        .into_iter()
        .take(PREVIEW_ENTRIES)
        .map(|t| PreviewEntry { key: t.key.clone(), fields: t.fields.clone(), verdict: t.verdict.clone() })
        .collect();
    preview
}

fn rank(verdict: &Verdict) -> u8 {
    match verdict {
        Verdict::Refused { .. } => 0,
        Verdict::LeftOut { .. } => 1,
        Verdict::Apply { .. } => 2,
        Verdict::Unchanged => 3,
    }
}

fn count(targets: &[PlannedTarget], matches: impl Fn(&Verdict) -> bool) -> u32 {
    u32::try_from(targets.iter().filter(|t| matches(&t.verdict)).count()).unwrap_or(u32::MAX)
}

fn warnings(
    targets: &[PlannedTarget],
    change: &Change,
    sets: &BTreeMap<(String, String), SetFigures>,
) -> Vec<Reason> {
    let mut leaving: BTreeMap<(String, String), u32> = BTreeMap::new();
    for target in targets {
        if let (Verdict::Apply { effect: Effect::Removed | Effect::LeavesFirst }, Some(set)) =
            (&target.verdict, &target.set)
        {
            *leaving.entry((target.key.namespace.clone(), set.clone())).or_default() += 1;
        }
    }
    let kill = change.ops_state.as_deref() == Some("Kill");
    let mut found = Vec::new();
    for ((namespace, name), servers) in leaving {
        let Some(figures) = sets.get(&(namespace.clone(), name.clone())) else { continue };
        let to = figures.wanted.saturating_sub(servers);
        let reason = if kill {
            Reason::new(
                "kill-lowers-replicas",
                format!("{namespace}/{name} gets smaller: replicas {} → {to}", figures.wanted),
            )
        } else {
            Reason::new(
                "wait-to-be-deleted-needs-scale",
                format!(
                    "{namespace}/{name} still wants {} servers: {servers} leave only when it is scaled to {to}",
                    figures.wanted
                ),
            )
        };
        found.push(
            reason
                .with("set", format!("{namespace}/{name}"))
                .with("from", figures.wanted)
                .with("to", to)
                .with("count", servers),
        );
    }
    found
}

/// One kubectl command that does to this server what the batch does.
fn kubectl_line(target: &PlannedTarget) -> String {
    let mut spec = serde_json::Map::new();
    let mut containers = Vec::new();
    for field in &target.fields {
        match (field.field.as_str(), &field.container) {
            ("image", Some(container)) => {
                containers.push(serde_json::json!({ "name": container, "image": field.new }));
            }
            ("deletionPriority", _) => {
                let number = field.new.parse::<i64>().map_or_else(|_| field.new.clone().into(), Into::into);
                spec.insert("deletionPriority".into(), number);
            }
            (name, _) => {
                spec.insert(name.to_owned(), field.new.clone().into());
            }
        }
    }
    if !containers.is_empty() {
        spec.insert("containers".into(), containers.into());
    }
    let patch = serde_json::json!({ "spec": spec });
    format!(
        "kubectl -n {} patch {} {} --type merge -p '{patch}'",
        target.key.namespace,
        target.key.family.server_resource(),
        target.key.name
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use wire::batch::ImageChange;

    fn key(name: &str) -> ServerKey {
        ServerKey::new(Family::Kruise, "default", name)
    }

    fn observed() -> Observed {
        Observed {
            uid: "u1".into(),
            set: Some("mc".into()),
            ops_state: Some("None".into()),
            deletion_priority: Some("0".into()),
            overrides: Vec::new(),
            live: vec![("game".into(), "mc:1".into())],
            in_use: false,
        }
    }

    fn ops(value: &str) -> Change {
        Change { ops_state: Some(value.into()), ..Change::default() }
    }

    fn image(value: &str) -> Change {
        Change {
            images: vec![ImageChange { container: "game".into(), image: value.into() }],
            ..Change::default()
        }
    }

    fn verdict(observed: &Observed, change: &Change, include: bool) -> Verdict {
        plan_target(&key("mc-0"), observed, change, Policy { include_in_use: include }.into()).verdict
    }

    #[test]
    fn an_ops_state_is_a_label_and_wait_to_be_deleted_goes_first() {
        assert_eq!(verdict(&observed(), &ops("None"), false), Verdict::Unchanged);
        assert_eq!(
            verdict(&observed(), &ops("Maintaining"), false),
            Verdict::Apply { effect: Effect::LabelOnly }
        );
        assert_eq!(
            verdict(&observed(), &ops("WaitToBeDeleted"), false),
            Verdict::Apply { effect: Effect::LeavesFirst }
        );
    }

    #[test]
    fn what_stops_a_server_in_use_needs_the_override() {
        let busy = Observed { in_use: true, ..observed() };
        for change in [ops("Kill"), image("mc:2")] {
            assert!(matches!(verdict(&busy, &change, false), Verdict::LeftOut { .. }));
            assert!(matches!(verdict(&busy, &change, true), Verdict::Apply { .. }));
            assert!(matches!(verdict(&observed(), &change, false), Verdict::Apply { .. }));
        }
        assert!(matches!(verdict(&busy, &ops("Maintaining"), false), Verdict::Apply { .. }));
    }

    #[test]
    fn an_image_restarts_only_when_the_live_one_differs() {
        assert_eq!(
            verdict(&observed(), &image("mc:2"), false),
            Verdict::Apply { effect: Effect::RestartsContainer }
        );
        assert_eq!(verdict(&observed(), &image("mc:1"), false), Verdict::Apply { effect: Effect::SpecOnly });
        let own = Observed { overrides: vec![("game".into(), "mc:2".into())], ..observed() };
        assert_eq!(verdict(&own, &image("mc:2"), false), Verdict::Unchanged);
        let gone = Observed { live: Vec::new(), ..observed() };
        assert_eq!(verdict(&gone, &image("mc:2"), false), Verdict::Apply { effect: Effect::NextPod });
        let other = Observed { live: vec![("sidecar".into(), "x".into())], ..observed() };
        assert!(matches!(verdict(&other, &image("mc:2"), false), Verdict::Refused { .. }));
    }

    #[test]
    fn a_server_without_object_or_of_another_family_is_refused() {
        let bare = Observed { uid: String::new(), ..observed() };
        assert!(matches!(verdict(&bare, &ops("Kill"), true), Verdict::Refused { .. }));
        let agones = ServerKey::new(Family::Agones, "default", "a");
        let planned = plan_target(&agones, &observed(), &ops("None"), Allow::default());
        assert!(matches!(planned.verdict, Verdict::Refused { .. }));
    }

    #[test]
    fn the_token_names_whom_and_what_but_not_the_order() {
        let plan = |names: &[&str], change: &Change| -> Vec<PlannedTarget> {
            names.iter().map(|n| plan_target(&key(n), &observed(), change, Allow::default())).collect()
        };
        let one = token(&plan(&["mc-0", "mc-1"], &ops("Kill")));
        assert_eq!(one, token(&plan(&["mc-1", "mc-0"], &ops("Kill"))));
        assert_ne!(one, token(&plan(&["mc-0"], &ops("Kill"))));
        assert_ne!(one, token(&plan(&["mc-0", "mc-1"], &ops("Maintaining"))));
    }

    #[test]
    fn the_preview_counts_and_warns() {
        let change = ops("WaitToBeDeleted");
        let mut targets: Vec<PlannedTarget> = (0..3)
            .map(|n| plan_target(&key(&format!("mc-{n}")), &observed(), &change, Allow::default()))
            .collect();
        let bare = Observed { uid: String::new(), ..observed() };
        targets.push(plan_target(&key("mc-9"), &bare, &change, Allow::default()));
        let sets = BTreeMap::from([(("default".into(), "mc".into()), SetFigures { wanted: 5 })]);
        let preview = preview(&targets, &change, &sets);
        assert_eq!((preview.total, preview.applies, preview.refused, preview.more), (4, 3, 1, 0));
        assert_eq!(preview.effects, vec![(Effect::LeavesFirst, 3)]);
        assert_eq!(preview.warnings[0].code, "wait-to-be-deleted-needs-scale");
        assert_eq!(preview.warnings[0].args["to"], "2");
        assert_eq!(preview.entries[0].key, key("mc-9"));
        assert_eq!(
            preview.kubectl,
            "kubectl -n default patch gameservers.game.kruise.io mc-0 --type merge -p '{\"spec\":{\"opsState\":\"WaitToBeDeleted\"}}'"
        );
    }
}
