//! The objects of the provisioner: its storage classes, and the volume that it makes for a claim. Pure.

use k8s_openapi::api::core::v1::{PersistentVolume, PersistentVolumeClaim};
use k8s_openapi::api::storage::v1::StorageClass;
use serde_json::{Value, json};

use super::{BIND_COMPLETED, PROVISIONED_BY, PROVISIONER_WISH, SELECTED_NODE, Standing};

/// Name of the provisioner in storage classes; also the name of its CSI driver.
pub const PROVISIONER: &str = "volumes.sim.pilothouse.dev";
/// The storage class whose claims get a volume at once.
pub const STORAGE_CLASS: &str = "simulated";
/// The storage class whose claims wait for their first pod.
pub const ON_FIRST_USE_CLASS: &str = "simulated-on-first-use";

const ON_FIRST_USE: &str = "WaitForFirstConsumer";

/// The storage classes that simulated nodes bring. None of them is the default.
pub fn storage_classes() -> [Value; 2] {
    [(STORAGE_CLASS, "Immediate"), (ON_FIRST_USE_CLASS, ON_FIRST_USE)].map(|(name, mode)| {
        json!({
            "apiVersion": "storage.k8s.io/v1",
            "kind": "StorageClass",
            "metadata": {"name": name},
            "provisioner": PROVISIONER,
            "reclaimPolicy": "Delete",
            "volumeBindingMode": mode,
        })
    })
}

/// True for a class whose claims wait for their first pod.
pub fn waits_for_first_use(class: &StorageClass) -> bool {
    class.volume_binding_mode.as_deref() == Some(ON_FIRST_USE)
}

/// An annotation of a claim.
fn annotation<'a>(claim: &'a PersistentVolumeClaim, key: &str) -> Option<&'a str> {
    claim.metadata.annotations.as_ref()?.get(key).map(String::as_str)
}

/// The name of a claim's storage class.
pub fn class_name(claim: &PersistentVolumeClaim) -> Option<&str> {
    claim.spec.as_ref()?.storage_class_name.as_deref().filter(|name| !name.is_empty())
}

/// The volume that a claim names.
fn volume_name(claim: &PersistentVolumeClaim) -> Option<&str> {
    claim.spec.as_ref()?.volume_name.as_deref().filter(|name| !name.is_empty())
}

/// How a claim stands, as the scheduler sees it. A claim that names its volume already is no matter of first use.
pub fn standing(claim: &PersistentVolumeClaim, class: Option<&StorageClass>) -> Standing {
    if claim.metadata.deletion_timestamp.is_some() {
        return Standing::Deleting;
    }
    let named = volume_name(claim).is_some();
    if named && annotation(claim, BIND_COMPLETED).is_some() {
        return Standing::Bound;
    }
    Standing::Unbound {
        on_first_use: !named && class.is_some_and(waits_for_first_use),
        selected: annotation(claim, SELECTED_NODE).map(str::to_owned),
    }
}

/// The volume that shall be made for a claim, if one shall: the volume controller asked for it, and where the class
/// waits for the first pod, a node was chosen.
pub fn wanted_volume(claim: &PersistentVolumeClaim, class: &StorageClass) -> Option<Value> {
    let asked = annotation(claim, PROVISIONER_WISH) == Some(PROVISIONER) && class.provisioner == PROVISIONER;
    let ready = !waits_for_first_use(class) || annotation(claim, SELECTED_NODE).is_some();
    let unbound = volume_name(claim).is_none() && claim.metadata.deletion_timestamp.is_none();
    if !(asked && ready && unbound) {
        return None;
    }
    let meta = &claim.metadata;
    let (namespace, name, uid) = (meta.namespace.as_ref()?, meta.name.as_ref()?, meta.uid.as_ref()?);
    let spec = claim.spec.as_ref()?;
    let storage = spec.resources.as_ref()?.requests.as_ref()?.get("storage")?;
    let volume = format!("pvc-{uid}");
    Some(json!({
        "apiVersion": "v1",
        "kind": "PersistentVolume",
        "metadata": {"name": volume, "annotations": {PROVISIONED_BY: PROVISIONER}},
        "spec": {
            "accessModes": spec.access_modes,
            "capacity": {"storage": storage},
            "claimRef": {
                "apiVersion": "v1", "kind": "PersistentVolumeClaim", "namespace": namespace, "name": name, "uid": uid,
                "resourceVersion": meta.resource_version,
            },
            "csi": {"driver": PROVISIONER, "volumeHandle": volume},
            "mountOptions": class.mount_options,
            "persistentVolumeReclaimPolicy": class.reclaim_policy.as_deref().unwrap_or("Delete"),
            "storageClassName": class_name(claim)?,
            "volumeMode": spec.volume_mode.as_deref().unwrap_or("Filesystem"),
        },
    }))
}

/// True for a volume of ours whose claim is gone and whose policy is to go with it.
pub fn shall_be_deleted(volume: &PersistentVolume) -> bool {
    let ours = volume.metadata.annotations.as_ref().and_then(|all| all.get(PROVISIONED_BY));
    let policy = volume.spec.as_ref().and_then(|spec| spec.persistent_volume_reclaim_policy.as_deref());
    let phase = volume.status.as_ref().and_then(|status| status.phase.as_deref());
    ours.is_some_and(|by| by == PROVISIONER)
        && policy == Some("Delete")
        && phase == Some("Released")
        && volume.metadata.deletion_timestamp.is_none()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn class(mode: &str) -> StorageClass {
        serde_json::from_value(
            json!({"metadata": {"name": "c"}, "provisioner": PROVISIONER, "volumeBindingMode": mode}),
        )
        .unwrap()
    }

    fn claim(annotations: &Value, more: &Value) -> PersistentVolumeClaim {
        let mut claim = json!({
            "metadata": {"name": "data-a-0", "namespace": "x", "uid": "u", "resourceVersion": "7"},
            "spec": {"storageClassName": "c", "accessModes": ["ReadWriteOnce"],
                "resources": {"requests": {"storage": "5Gi"}}},
        });
        json_patch::merge(&mut claim, more);
        claim["metadata"]["annotations"] = annotations.clone();
        serde_json::from_value(claim).unwrap()
    }

    #[test]
    fn a_volume_fits_its_claim_and_names_it() {
        let asked = json!({PROVISIONER_WISH: PROVISIONER});
        let volume = wanted_volume(&claim(&asked, &json!({})), &class("Immediate")).unwrap();
        let volume: PersistentVolume = serde_json::from_value(volume).unwrap();
        assert_eq!(volume.metadata.name.as_deref(), Some("pvc-u"));
        let spec = volume.spec.unwrap();
        let claim_ref = spec.claim_ref.unwrap();
        assert_eq!((claim_ref.name.as_deref(), claim_ref.uid.as_deref()), (Some("data-a-0"), Some("u")));
        assert_eq!(spec.capacity.unwrap()["storage"].0, "5Gi");
        assert_eq!(spec.persistent_volume_reclaim_policy.as_deref(), Some("Delete"));
    }

    #[test]
    fn a_volume_is_made_only_when_it_is_asked_for_and_its_node_is_known() {
        let asked = json!({PROVISIONER_WISH: PROVISIONER});
        let chosen = json!({PROVISIONER_WISH: PROVISIONER, SELECTED_NODE: "n"});
        for (annotations, more, mode, made) in [
            (json!({}), json!({}), "Immediate", false),
            (json!({PROVISIONER_WISH: "other"}), json!({}), "Immediate", false),
            (asked.clone(), json!({}), "Immediate", true),
            (asked.clone(), json!({}), "WaitForFirstConsumer", false),
            (chosen, json!({}), "WaitForFirstConsumer", true),
            (asked.clone(), json!({"spec": {"volumeName": "v"}}), "Immediate", false),
            (asked, json!({"metadata": {"deletionTimestamp": "2026-11-29T10:00:00Z"}}), "Immediate", false),
        ] {
            let claim = claim(&annotations, &more);
            assert_eq!(wanted_volume(&claim, &class(mode)).is_some(), made, "{annotations} {more} {mode}");
        }
    }

    #[test]
    fn the_scheduler_is_told_how_a_claim_stands() {
        let waits = class("WaitForFirstConsumer");
        let none = json!({});
        let of = |annotations: &Value, more: &Value| standing(&claim(annotations, more), Some(&waits));
        let unbound = |on_first_use, selected: Option<&str>| Standing::Unbound {
            on_first_use,
            selected: selected.map(str::to_owned),
        };
        assert_eq!(of(&none, &none), unbound(true, None));
        assert_eq!(of(&json!({SELECTED_NODE: "n"}), &none), unbound(true, Some("n")));
        let named = json!({"spec": {"volumeName": "v"}});
        assert_eq!(of(&none, &named), unbound(false, None), "half bound");
        assert_eq!(of(&json!({BIND_COMPLETED: "yes"}), &named), Standing::Bound);
        assert_eq!(standing(&claim(&none, &none), None), unbound(false, None), "a class that is not there");
    }

    #[test]
    fn only_our_own_released_volumes_are_deleted() {
        let volume = |by: &str, policy: &str, phase: &str| -> PersistentVolume {
            serde_json::from_value(json!({
                "metadata": {"name": "v", "annotations": {PROVISIONED_BY: by}},
                "spec": {"persistentVolumeReclaimPolicy": policy}, "status": {"phase": phase},
            }))
            .unwrap()
        };
        assert!(shall_be_deleted(&volume(PROVISIONER, "Delete", "Released")));
        for (by, policy, phase) in [
            ("other", "Delete", "Released"),
            (PROVISIONER, "Retain", "Released"),
            (PROVISIONER, "Delete", "Bound"),
        ] {
            assert!(!shall_be_deleted(&volume(by, policy, phase)), "{by} {policy} {phase}");
        }
    }
}
