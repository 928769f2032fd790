//! Step *validate* of a GameServerSet: loose spec in, typed parts out, and a list of what is wrong.
//!
//! A part that is wrong does not touch the others: with a bad reserve list the set keeps the size that it had, with a
//! bad template nothing new is created, and the servers that live go on living.

use super::ordinals::OrdinalSet;
use crds::{
    kruise::{GameServerSetSpec, GameServerTemplate, LifecycleHook, ReclaimPolicy, ScaleDownStrategyType},
    slim::SlimGameServerSet,
};
use k8s_openapi::{api::core::v1::PersistentVolumeClaim, apimachinery::pkg::util::intstr::IntOrString};
use serde_json::Value;
use std::fmt;

/// One thing that is wrong with a spec.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Path of the field.
    pub field: String,
    /// What is wrong with it.
    pub message: String,
}

impl Problem {
    fn new(field: impl Into<String>, message: impl Into<String>) -> Self {
        Self { field: field.into(), message: message.into() }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.field, self.message)
    }
}

/// A number of servers, or a share of all of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Amount {
    /// So many.
    Number(u32),
    /// So many of a hundred.
    Percent(u32),
}

impl Amount {
    /// The number that it means out of `total`: shares are rounded down, and at least 1, or nothing would ever move.
    #[must_use]
    pub fn of(self, total: u32) -> u32 {
        match self {
            Self::Number(number) => number.max(1),
            Self::Percent(percent) => {
                u32::try_from(u64::from(total) * u64::from(percent) / 100).unwrap_or(u32::MAX).max(1)
            }
        }
    }

    fn parse(value: &IntOrString) -> Option<Self> {
        match value {
            IntOrString::Int(number) => u32::try_from(*number).ok().map(Self::Number),
            IntOrString::String(text) => {
                text.strip_suffix('%').and_then(|digits| digits.parse().ok()).map(Self::Percent)
            }
        }
    }
}

/// How the set scales, when all of it is valid.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ValidScale {
    /// `spec.replicas`.
    pub replicas: u32,
    /// `spec.reserveGameServerIds`.
    pub reserve: OrdinalSet,
    /// What becomes of removed ids.
    pub strategy: ScaleDownStrategyType,
}

/// What pods are made from, when all of it is valid.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ValidTemplate {
    /// The template as written.
    pub template: GameServerTemplate,
    /// Its claims, each with a name.
    pub claims: Vec<PersistentVolumeClaim>,
}

/// The parts of a spec.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ValidSet {
    /// Size and ids; `None` when something about them is wrong: the size that was acted on stays.
    pub scale: Option<ValidScale>,
    /// What pods are made from; `None` when something about it is wrong: nothing new is created.
    pub template: Option<ValidTemplate>,
    /// Who owns the GameServer objects.
    pub reclaim: ReclaimPolicy,
    /// How many servers may be not ready while others are created; `None` is no bound.
    pub scale_max_unavailable: Option<Amount>,
    /// The hook that holds a removal.
    pub pre_delete: Option<LifecycleHook>,
    /// Subdomain of the pods.
    pub service_name: String,
    /// Seconds that a pod has to be ready before it counts as available.
    pub min_ready_seconds: i64,
    /// Network plugin asked for, with its parameters as the JSON text of the pod annotation.
    pub network: Option<(String, String)>,
    /// Fields that are set and that nothing here acts on yet.
    pub ignored: Vec<&'static str>,
    /// What is wrong.
    pub problems: Vec<Problem>,
}

/// Checks a set.
#[must_use]
pub fn validate(set: &SlimGameServerSet) -> ValidSet {
    let name = set.metadata.name.clone().unwrap_or_default();
    let Some(spec) = &set.spec else {
        let message = set.spec_error.clone().unwrap_or_else(|| "missing".to_owned());
        return ValidSet {
            problems: vec![Problem::new("spec", message)],
            service_name: name,
            ..ValidSet::default()
        };
    };
    let mut problems = Vec::new();
    let scale = valid_scale(spec, &mut problems);
    let template = valid_template(spec, &mut problems);
    let reclaim = spec.game_server_template.reclaim().unwrap_or_else(|| {
        problems.push(Problem::new(
            "spec.gameServerTemplate.reclaimPolicy",
            format!(
                "`{}` is neither Cascade nor Delete",
                text(spec.game_server_template.reclaim_policy.as_ref())
            ),
        ));
        ReclaimPolicy::Cascade
    });
    let limit = spec.scale_strategy.as_ref().and_then(|strategy| strategy.max_unavailable.as_ref());
    let scale_max_unavailable = limit.and_then(|value| {
        let amount = Amount::parse(value);
        if amount.is_none() {
            problems.push(Problem::new(
                "spec.scaleStrategy.maxUnavailable",
                "neither a number from 0 nor a share such as \"20%\"",
            ));
        }
        amount
    });
    let rolling = spec.update_strategy.as_ref().and_then(|strategy| strategy.rolling_update.as_ref());
    ValidSet {
        scale,
        template,
        reclaim,
        scale_max_unavailable,
        pre_delete: spec.lifecycle.as_ref().and_then(|lifecycle| lifecycle.pre_delete.clone()),
        service_name: spec.service_name.clone().filter(|service| !service.is_empty()).unwrap_or(name),
        min_ready_seconds: rolling.and_then(|rolling| rolling.min_ready_seconds).map_or(0, i64::from).max(0),
        network: spec.network.as_ref().map(|network| {
            let conf = serde_json::to_string(&network.network_conf).unwrap_or_default();
            (network.network_type.clone().unwrap_or_default(), conf)
        }),
        ignored: ignored_fields(spec),
        problems,
    }
}

fn valid_scale(spec: &GameServerSetSpec, problems: &mut Vec<Problem>) -> Option<ValidScale> {
    let before = problems.len();
    let replicas = u32::try_from(spec.replicas).unwrap_or_else(|_| {
        problems.push(Problem::new("spec.replicas", format!("{} is below 0", spec.replicas)));
        0
    });
    let reserve = OrdinalSet::parse_entries(&spec.reserve_game_server_ids).unwrap_or_else(|bad| {
        problems.extend(bad.into_iter().map(|entry| {
            Problem::new(
                format!("spec.reserveGameServerIds[{}]", entry.index),
                format!("`{}`: {}", entry.entry, entry.problem),
            )
        }));
        OrdinalSet::new()
    });
    let strategy = spec
        .scale_strategy
        .as_ref()
        .map_or(Some(ScaleDownStrategyType::General), crds::kruise::ScaleStrategy::scale_down);
    let strategy = strategy.unwrap_or_else(|| {
        let written = spec.scale_strategy.as_ref().and_then(|s| s.scale_down_strategy_type.as_ref());
        problems.push(Problem::new(
            "spec.scaleStrategy.scaleDownStrategyType",
            format!("`{}` is neither General nor ReserveIds", text(written)),
        ));
        ScaleDownStrategyType::General
    });
    (problems.len() == before).then_some(ValidScale { replicas, reserve, strategy })
}

fn valid_template(spec: &GameServerSetSpec, problems: &mut Vec<Problem>) -> Option<ValidTemplate> {
    let before = problems.len();
    let template = &spec.game_server_template;
    match template.pod_spec() {
        None => problems.push(Problem::new("spec.gameServerTemplate.spec", "missing, or not an object")),
        Some(_) if template.containers().next().is_none() => {
            problems.push(Problem::new(
                "spec.gameServerTemplate.spec.containers",
                "a server needs at least one container",
            ));
        }
        Some(_) => {}
    }
    if template.pod.get("metadata").is_some_and(|metadata| !metadata.is_object() && !metadata.is_null()) {
        problems.push(Problem::new("spec.gameServerTemplate.metadata", "not an object"));
    }
    for key in ["labels", "annotations"] {
        let map = template.pod.get("metadata").and_then(|metadata| metadata.get(key));
        if let Some(odd) =
            map.and_then(Value::as_object).and_then(|map| map.iter().find(|(_, v)| !v.is_string()))
        {
            let field = format!("spec.gameServerTemplate.metadata.{key}.{}", odd.0);
            problems.push(Problem::new(field, "the value is not a text: put it in quotes"));
        }
    }
    let claims = template.claims().unwrap_or_else(|error| {
        problems.push(Problem::new(format!("spec.gameServerTemplate.{}", error.field), error.reason));
        Vec::new()
    });
    for (index, claim) in claims.iter().enumerate() {
        if claim.metadata.name.as_deref().unwrap_or_default().is_empty() {
            let field = format!("spec.gameServerTemplate.volumeClaimTemplates[{index}].metadata.name");
            problems.push(Problem::new(field, "a claim template needs a name"));
        }
    }
    (problems.len() == before).then(|| ValidTemplate { template: template.clone(), claims })
}

/// Everything that upstream acts on and that we do not yet: it must not look as if it worked.
fn ignored_fields(spec: &GameServerSetSpec) -> Vec<&'static str> {
    let lifecycle = spec.lifecycle.as_ref();
    let retention = spec.persistent_volume_claim_retention_policy.as_ref();
    let deletes = |policy: Option<&String>| policy.is_some_and(|policy| policy == "Delete");
    let rolling = spec.update_strategy.as_ref().and_then(|strategy| strategy.rolling_update.as_ref());
    [
        (!spec.service_qualities.is_empty(), "spec.serviceQualities"),
        (rolling.is_some(), "spec.updateStrategy.rollingUpdate"),
        (lifecycle.is_some_and(|l| l.in_place_update.is_some()), "spec.lifecycle.inPlaceUpdate"),
        (lifecycle.is_some_and(|l| l.pre_normal.is_some()), "spec.lifecycle.preNormal"),
        (
            retention.is_some_and(|r| deletes(r.when_deleted.as_ref()) || deletes(r.when_scaled.as_ref())),
            "spec.persistentVolumeClaimRetentionPolicy",
        ),
    ]
    .into_iter()
    .filter_map(|(set, field)| set.then_some(field))
    .collect()
}

fn text(value: Option<&String>) -> &str {
    value.map_or("", String::as_str)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn set(spec: Value) -> SlimGameServerSet {
        let object = json!({ "metadata": { "name": "g", "namespace": "ns" }, "spec": spec });
        serde_json::from_value(object).unwrap()
    }

    fn told(valid: &ValidSet) -> Vec<String> {
        valid.problems.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_plain_set_is_valid() {
        let valid = validate(&set(json!({
            "replicas": 3,
            "reserveGameServerIds": [1, "4-6"],
            "gameServerTemplate": { "spec": { "containers": [{ "name": "main", "image": "game:1" }] } },
        })));
        assert_eq!(told(&valid), Vec::<String>::new());
        assert_eq!(valid.scale.unwrap().reserve.to_string(), "1,4-6");
        assert!(valid.template.is_some());
        assert_eq!(valid.service_name, "g");
    }

    #[test]
    fn a_bad_range_stops_the_scale_and_not_the_template() {
        let valid = validate(&set(json!({
            "replicas": 3,
            "reserveGameServerIds": [1, "5-3"],
            "gameServerTemplate": { "spec": { "containers": [{ "name": "main" }] } },
        })));
        assert_eq!(told(&valid), ["spec.reserveGameServerIds[1]: `5-3`: the range starts above its end"]);
        assert!(valid.scale.is_none() && valid.template.is_some());
    }

    #[test]
    fn every_other_fault_names_its_field() {
        let valid = validate(&set(json!({
            "replicas": -1,
            "scaleStrategy": { "scaleDownStrategyType": "Protected", "maxUnavailable": "many" },
            "gameServerTemplate": {
                "reclaimPolicy": "Keep",
                "metadata": { "labels": { "zone": 8001 } },
                "spec": { "containers": [] },
                "volumeClaimTemplates": [{ "spec": {} }],
            },
        })));
        assert_eq!(
            told(&valid),
            [
                "spec.replicas: -1 is below 0",
                "spec.scaleStrategy.scaleDownStrategyType: `Protected` is neither General nor ReserveIds",
                "spec.gameServerTemplate.spec.containers: a server needs at least one container",
                "spec.gameServerTemplate.metadata.labels.zone: the value is not a text: put it in quotes",
                "spec.gameServerTemplate.volumeClaimTemplates[0].metadata.name: a claim template needs a name",
                "spec.gameServerTemplate.reclaimPolicy: `Keep` is neither Cascade nor Delete",
                "spec.scaleStrategy.maxUnavailable: neither a number from 0 nor a share such as \"20%\"",
            ]
        );
    }

    #[test]
    fn a_spec_that_cannot_be_read_is_one_problem() {
        let valid = validate(&set(json!({ "replicas": "three" })));
        assert_eq!(valid.problems[0].field, "spec");
        assert!(valid.scale.is_none() && valid.template.is_none());
    }

    #[test]
    fn what_nothing_acts_on_yet_is_listed() {
        let valid = validate(&set(json!({
            "replicas": 1,
            "gameServerTemplate": { "spec": { "containers": [{ "name": "main" }] } },
            "lifecycle": { "preNormal": {}, "preDelete": { "labelsHandler": { "a": "b" } } },
            "persistentVolumeClaimRetentionPolicy": { "whenScaled": "Delete" },
        })));
        assert_eq!(valid.ignored, ["spec.lifecycle.preNormal", "spec.persistentVolumeClaimRetentionPolicy"]);
        assert!(valid.pre_delete.is_some());
    }

    #[test]
    fn shares_round_down_and_never_stop_everything() {
        assert_eq!(Amount::Percent(20).of(14), 2);
        assert_eq!(Amount::Percent(1).of(14), 1);
        assert_eq!(Amount::Number(0).of(14), 1);
    }
}
