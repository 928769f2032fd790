//! Objects made from cases, and a set's world on which plans are carried out without any API.

use super::fields::Fields;
use controllers::kruise::{
    observe::observe_set,
    ordinals::OrdinalSet,
    set_plan::{SetAction, SetObservation, SetPlan, plan},
};
use crds::slim::{SlimGameServer, SlimGameServerSet, SlimPod};
use serde_json::{Value, json};

/// A pod of the set `g` from one entry of a case's `pods`.
pub fn pod(entry: &Value) -> Result<SlimPod, String> {
    let mut fields = Fields::new("input.pods[]", entry)?;
    let id: u32 = fields.take("id")?;
    let mut labels = serde_json::Map::new();
    for (field, key) in [
        ("opsState", "game.kruise.io/gs-opsState"),
        ("deletionPriority", "game.kruise.io/gs-delete-priority"),
        ("lifecycle", "lifecycle.apps.kruise.io/state"),
    ] {
        if let Some(value) = fields.take_optional::<String>(field)? {
            labels.insert(key.to_owned(), json!(value));
        }
    }
    let deleting = fields.take_optional::<bool>("deleting")?.unwrap_or_default();
    fields.done()?;
    let mut metadata =
        json!({ "name": format!("g-{id}"), "namespace": "ns", "uid": format!("p{id}"), "labels": labels });
    if deleting {
        metadata["deletionTimestamp"] = json!("2026-01-01T00:00:00Z");
    }
    serde_json::from_value(json!({ "metadata": metadata, "status": { "phase": "Running" } }))
        .map_err(|e| e.to_string())
}

/// A set `g` with its pods.
pub struct World {
    pub set: Value,
    pub pods: Vec<SlimPod>,
}

impl World {
    pub fn new(replicas: i64, reserve: &Value, pods: Vec<SlimPod>) -> Self {
        let set = json!({
            "metadata": { "name": "g", "namespace": "ns", "uid": "u", "annotations": {} },
            "spec": {
                "replicas": replicas,
                "reserveGameServerIds": reserve,
                "gameServerTemplate": { "spec": { "containers": [{ "name": "main", "image": "game:1" }] } },
            },
            "status": {},
        });
        Self { set, pods }
    }

    /// The explicit reserve that was acted on, as upstream keeps it: in the annotation.
    pub fn annotate(&mut self, reserve: &str) {
        self.set["metadata"]["annotations"]["game.kruise.io/reserve-ids"] = json!(reserve);
    }

    /// What upstream keeps in its workload stands in our status.
    pub fn acted(&mut self, replicas: i64, annotation: &str, workload_reserve: &OrdinalSet) {
        let explicit = OrdinalSet::parse_text(annotation, ",");
        self.set["status"]["actedReplicas"] = json!(replicas);
        self.set["status"]["actedReserveIds"] = json!(explicit.compress());
        self.set["status"]["implicitReserveIds"] = json!(workload_reserve.difference(&explicit).compress());
    }

    pub fn observe(&self) -> Result<SetObservation, String> {
        let set: SlimGameServerSet =
            serde_json::from_value(self.set.clone()).map_err(|error| error.to_string())?;
        let now = "2026-01-01T00:00:00Z".parse().map_err(|error| format!("{error}"))?;
        Ok(observe_set(&set, &self.pods, &[] as &[SlimGameServer], now))
    }

    /// Plans and carries out what concerns the set itself, until only pods are left to be touched.
    pub fn settle(&mut self) -> Result<SetPlan, String> {
        for _ in 0..10 {
            let plan = plan(&self.observe()?);
            let mut changed = false;
            for action in &plan.actions {
                changed |= self.carry_out(action);
            }
            if !changed {
                return Ok(plan);
            }
        }
        Err("the set does not come to rest".to_owned())
    }

    fn carry_out(&mut self, action: &SetAction) -> bool {
        match action {
            SetAction::LowerReplicas { to, .. } => self.set["spec"]["replicas"] = json!(to),
            SetAction::WriteReserve(ids) => {
                self.set["spec"]["reserveGameServerIds"] = json!(ids.compress());
                self.annotate(&ids.to_text(","));
            }
            SetAction::WriteActed(acted) => {
                self.set["status"]["actedReplicas"] = json!(acted.replicas);
                self.set["status"]["actedReserveIds"] = json!(acted.reserve.compress());
                self.set["status"]["implicitReserveIds"] = json!(acted.implicit.compress());
            }
            SetAction::MirrorReserve(text) => self.annotate(text),
            _ => return false,
        }
        true
    }
}
