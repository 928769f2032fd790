//! What the volume controller decides about one claim or one volume, pure, and the writes that carry it out.
//!
//! The rules are those of `pkg/controller/volume/persistentvolume` of Kubernetes 1.36. Both halves are written first in
//! the volume, then in the claim; what is half done is finished by the next look.

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::{PersistentVolume, PersistentVolumeClaim};
use k8s_openapi::api::storage::v1::StorageClass;
use kube::api::{Api, Patch, PatchParams};
use kube::{Client, ResourceExt};
use serde_json::{Value, json};

use super::writes::FIELD_MANAGER;
use crate::nodes::volumes::{BIND_COMPLETED, PROVISIONER_WISH, SELECTED_NODE};

/// The same wish under its older name, which real controllers write too.
const PROVISIONER_WISH_BETA: &str = "volume.beta.kubernetes.io/storage-provisioner";
/// Says that the volume controller, not a person, joined the two.
const BOUND_BY_CONTROLLER: &str = "pv.kubernetes.io/bound-by-controller";
/// What a class names whose volumes people make by hand.
const NO_PROVISIONER: &str = "kubernetes.io/no-provisioner";

/// Namespace and name of a claim.
pub type Key = (String, String);

/// Everything that a decision looks at.
#[derive(Debug, Default)]
pub struct World {
    /// The claims.
    pub claims: BTreeMap<Key, PersistentVolumeClaim>,
    /// The volumes, by name.
    pub volumes: BTreeMap<String, PersistentVolume>,
    /// The storage classes, by name.
    pub classes: BTreeMap<String, StorageClass>,
}

/// One write, which only holds for the version that was looked at.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    /// The claim, or else the volume of this name.
    pub target: Result<Key, String>,
    /// True when it goes to the status.
    pub status: bool,
    /// Merge patch.
    pub patch: Value,
}

/// Namespace and name of a claim.
pub fn key(claim: &PersistentVolumeClaim) -> Key {
    (claim.namespace().unwrap_or_default(), claim.name_any())
}

/// The claim that a volume is for.
pub fn claim_of(volume: &PersistentVolume) -> Option<Key> {
    let claim = volume.spec.as_ref()?.claim_ref.as_ref()?;
    Some((claim.namespace.clone()?, claim.name.clone()?))
}

fn claim_uid(volume: &PersistentVolume) -> Option<&str> {
    volume.spec.as_ref()?.claim_ref.as_ref()?.uid.as_deref().filter(|uid| !uid.is_empty())
}

/// True when a volume is for this claim and not for an older one of the same name.
fn is_for(volume: &PersistentVolume, claim: &PersistentVolumeClaim) -> bool {
    claim_of(volume) == Some(key(claim))
        && claim_uid(volume).is_none_or(|uid| claim.metadata.uid.as_deref() == Some(uid))
}

fn volume_name(claim: &PersistentVolumeClaim) -> Option<&str> {
    claim.spec.as_ref()?.volume_name.as_deref().filter(|name| !name.is_empty())
}

fn annotation<'a>(claim: &'a PersistentVolumeClaim, key: &str) -> Option<&'a str> {
    claim.metadata.annotations.as_ref()?.get(key).map(String::as_str)
}

fn class_name(claim: &PersistentVolumeClaim) -> &str {
    claim.spec.as_ref().and_then(|spec| spec.storage_class_name.as_deref()).unwrap_or_default()
}

impl World {
    /// What is to be written next about a claim.
    pub fn step_of_claim(&self, key: &Key) -> Option<Step> {
        let claim = self.claims.get(key)?;
        let step = |status: bool, patch: Value| {
            let mut patch = patch;
            patch["metadata"]["uid"] = json!(claim.metadata.uid);
            patch["metadata"]["resourceVersion"] = json!(claim.metadata.resource_version);
            Some(Step { target: Ok(key.clone()), status, patch })
        };
        let phase = claim.status.as_ref().and_then(|status| status.phase.as_deref());
        let Some(name) = volume_name(claim) else {
            if claim.metadata.deletion_timestamp.is_some() {
                return None;
            }
            if let Some(volume) = self.volume_for(claim) {
                if claim_uid(volume).is_none() {
                    return self.reserve(volume, claim);
                }
                return step(
                    false,
                    json!({
                        "metadata": {"annotations": {BIND_COMPLETED: "yes", BOUND_BY_CONTROLLER: "yes"}},
                        "spec": {"volumeName": volume.name_any()},
                    }),
                );
            }
            let class = self.classes.get(class_name(claim))?;
            let waits = class.volume_binding_mode.as_deref() == Some("WaitForFirstConsumer")
                && annotation(claim, SELECTED_NODE).is_none();
            let provisioner = class.provisioner.as_str();
            let asked = annotation(claim, PROVISIONER_WISH) == Some(provisioner);
            if waits || asked || provisioner == NO_PROVISIONER {
                return None;
            }
            let wish = json!({PROVISIONER_WISH: provisioner, PROVISIONER_WISH_BETA: provisioner});
            return step(false, json!({"metadata": {"annotations": wish}}));
        };
        match self.volumes.get(name).filter(|volume| is_for(volume, claim) || claim_of(volume).is_none()) {
            None if annotation(claim, BIND_COMPLETED).is_some() && phase != Some("Lost") => {
                step(true, json!({"status": {"phase": "Lost"}}))
            }
            None => None,
            // Somebody wrote the volume's name into the claim.
            Some(volume) if claim_uid(volume).is_none() => self.reserve(volume, claim),
            Some(_) if annotation(claim, BIND_COMPLETED).is_none() => {
                step(false, json!({"metadata": {"annotations": {BIND_COMPLETED: "yes"}}}))
            }
            Some(volume) if phase != Some("Bound") => {
                let spec = volume.spec.as_ref()?;
                step(
                    true,
                    json!({"status": {"phase": "Bound", "accessModes": spec.access_modes, "capacity": spec.capacity}}),
                )
            }
            Some(_) => None,
        }
    }

    /// What is to be written next about a volume.
    pub fn step_of_volume(&self, name: &str) -> Option<Step> {
        let volume = self.volumes.get(name)?;
        let wanted = match (claim_of(volume), claim_uid(volume)) {
            (Some(key), Some(uid)) => {
                let claim = self.claims.get(&key).filter(|claim| claim.metadata.uid.as_deref() == Some(uid));
                match claim {
                    None => "Released",
                    Some(claim) if volume_name(claim) == Some(name) => "Bound",
                    // It was made for the claim, which does not know yet.
                    Some(claim) if volume_name(claim).is_none() => "Bound",
                    // The claim has taken another one.
                    Some(_) => "Available",
                }
            }
            _ => "Available",
        };
        let phase = volume.status.as_ref().and_then(|status| status.phase.as_deref());
        if phase == Some(wanted) || volume.metadata.deletion_timestamp.is_some() {
            return None;
        }
        Some(volume_step(volume, true, json!({"status": {"phase": wanted}})))
    }

    /// Writes the claim into a volume that is free.
    fn reserve(&self, volume: &PersistentVolume, claim: &PersistentVolumeClaim) -> Option<Step> {
        let (namespace, name) = key(claim);
        let claim_ref = json!({
            "apiVersion": "v1", "kind": "PersistentVolumeClaim", "namespace": namespace, "name": name,
            "uid": claim.metadata.uid, "resourceVersion": claim.metadata.resource_version,
        });
        let by = json!({"annotations": {BOUND_BY_CONTROLLER: "yes"}});
        Some(volume_step(volume, false, json!({"metadata": by, "spec": {"claimRef": claim_ref}})))
    }

    /// The volume that is meant for a claim, else the smallest free one that fits.
    fn volume_for(&self, claim: &PersistentVolumeClaim) -> Option<&PersistentVolume> {
        let alive = || self.volumes.values().filter(|volume| volume.metadata.deletion_timestamp.is_none());
        if let Some(meant) = alive().find(|volume| is_for(volume, claim)) {
            return Some(meant);
        }
        let free = alive().filter(|volume| claim_of(volume).is_none() && fits(volume, claim));
        free.min_by_key(|volume| size(volume))
    }
}

fn volume_step(volume: &PersistentVolume, status: bool, mut patch: Value) -> Step {
    patch["metadata"]["uid"] = json!(volume.metadata.uid);
    patch["metadata"]["resourceVersion"] = json!(volume.metadata.resource_version);
    Step { target: Err(volume.name_any()), status, patch }
}

fn size(volume: &PersistentVolume) -> u64 {
    let capacity = volume.spec.as_ref().and_then(|spec| spec.capacity.as_ref());
    capacity.and_then(|all| all.get("storage")).map_or(0, |text| bytes(&text.0))
}

fn bytes(text: &str) -> u64 {
    crate::nodes::Amount::from(text).units()
}

/// True when a free volume has the class, the modes and the size that a claim asks for. Selectors of claims are not
/// looked at: a claim with one gets no free volume.
fn fits(volume: &PersistentVolume, claim: &PersistentVolumeClaim) -> bool {
    let (Some(has), Some(wants)) = (volume.spec.as_ref(), claim.spec.as_ref()) else { return false };
    let modes = has.access_modes.clone().unwrap_or_default();
    let wanted = wants.resources.as_ref().and_then(|all| all.requests.as_ref()?.get("storage"));
    let mode = |text: &Option<String>| text.clone().unwrap_or_else(|| "Filesystem".into());
    wants.selector.is_none()
        && has.storage_class_name.as_deref().unwrap_or_default() == class_name(claim)
        && wants.access_modes.iter().flatten().all(|mode| modes.contains(mode))
        && mode(&has.volume_mode) == mode(&wants.volume_mode)
        && size(volume) >= wanted.map_or(0, |text| bytes(&text.0))
}

/// Carries out a step. What is gone or was changed meanwhile is told of by the watch.
pub async fn write(client: &Client, step: &Step) -> kube::Result<()> {
    let params = PatchParams { field_manager: Some(FIELD_MANAGER.into()), ..PatchParams::default() };
    let patch = Patch::Merge(&step.patch);
    let result = match &step.target {
        Ok((namespace, name)) => {
            let claims: Api<PersistentVolumeClaim> = Api::namespaced(client.clone(), namespace);
            if step.status {
                claims.patch_status(name, &params, &patch).await.map(|_| ())
            } else {
                claims.patch(name, &params, &patch).await.map(|_| ())
            }
        }
        Err(name) => {
            let volumes: Api<PersistentVolume> = Api::all(client.clone());
            if step.status {
                volumes.patch_status(name, &params, &patch).await.map(|_| ())
            } else {
                volumes.patch(name, &params, &patch).await.map(|_| ())
            }
        }
    };
    match result {
        Err(kube::Error::Api(status)) if matches!(status.code, 404 | 409) => Ok(()),
        result => result,
    }
}

#[cfg(test)]
#[path = "binding_tests.rs"]
mod tests;
