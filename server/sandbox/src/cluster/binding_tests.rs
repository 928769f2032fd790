//! Tests of the volume controller's decisions: objects in, the next write out, until nothing is left to write.

use serde_json::{Value, json};

use super::{Step, World, key};

fn claim(name: &str, spec: &Value) -> Value {
    let mut claim = json!({
        "metadata": {"name": name, "namespace": "x", "uid": format!("uid-{name}")},
        "spec": {"storageClassName": "c", "accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "5Gi"}}},
    });
    json_patch::merge(&mut claim["spec"], spec);
    claim
}

fn volume(name: &str, size: &str, spec: &Value) -> Value {
    let mut volume = json!({
        "metadata": {"name": name, "uid": format!("uid-{name}")},
        "spec": {"storageClassName": "c", "accessModes": ["ReadWriteOnce"], "capacity": {"storage": size}},
    });
    json_patch::merge(&mut volume["spec"], spec);
    volume
}

fn world(mode: &str, provisioner: &str, claims: &[Value], volumes: &[Value]) -> World {
    let mut world = World::default();
    let class = json!({"metadata": {"name": "c"}, "provisioner": provisioner, "volumeBindingMode": mode});
    world.classes.insert("c".into(), serde_json::from_value(class).unwrap());
    for value in claims {
        let claim = serde_json::from_value(value.clone()).unwrap();
        world.claims.insert(key(&claim), claim);
    }
    for value in volumes {
        let name = value["metadata"]["name"].as_str().unwrap();
        world.volumes.insert(name.into(), serde_json::from_value(value.clone()).unwrap());
    }
    world
}

/// Stores a step as the API server would.
fn store(world: &mut World, step: &Step) {
    match &step.target {
        Ok(key) => {
            let mut value = serde_json::to_value(&world.claims[key]).unwrap();
            json_patch::merge(&mut value, &step.patch);
            world.claims.insert(key.clone(), serde_json::from_value(value).unwrap());
        }
        Err(name) => {
            let mut value = serde_json::to_value(&world.volumes[name]).unwrap();
            json_patch::merge(&mut value, &step.patch);
            world.volumes.insert(name.clone(), serde_json::from_value(value).unwrap());
        }
    }
}

/// Takes every step there is; returns how many.
fn settle(world: &mut World) -> usize {
    for steps in 0..20 {
        let claims: Vec<_> = world.claims.keys().cloned().collect();
        let volumes: Vec<_> = world.volumes.keys().cloned().collect();
        let of_claims = claims.iter().find_map(|key| world.step_of_claim(key));
        match of_claims.or_else(|| volumes.iter().find_map(|name| world.step_of_volume(name))) {
            Some(step) => store(world, &step),
            None => return steps,
        }
    }
    panic!("it never comes to rest");
}

fn claim_status(world: &World, name: &str) -> (Option<String>, Option<String>) {
    let claim = &world.claims[&("x".to_owned(), name.to_owned())];
    let phase = claim.status.as_ref().and_then(|status| status.phase.clone());
    (phase, claim.spec.as_ref().and_then(|spec| spec.volume_name.clone()))
}

fn phase(world: &World, volume: &str) -> Option<String> {
    world.volumes[volume].status.as_ref().and_then(|status| status.phase.clone())
}

fn some(text: &str) -> Option<String> {
    Some(text.to_owned())
}

#[test]
fn a_provisioner_is_asked_once_and_its_volume_is_bound() {
    let mut world = world("Immediate", "p", &[claim("a", &json!({}))], &[]);
    assert_eq!(settle(&mut world), 1, "it asks");
    let asked = world.claims[&("x".to_owned(), "a".to_owned())].metadata.annotations.clone().unwrap();
    assert_eq!(asked["volume.kubernetes.io/storage-provisioner"], "p");
    let made = volume("v", "5Gi", &json!({"claimRef": {"namespace": "x", "name": "a", "uid": "uid-a"}}));
    world.volumes.insert("v".into(), serde_json::from_value(made).unwrap());
    settle(&mut world);
    assert_eq!(claim_status(&world, "a"), (some("Bound"), some("v")));
    assert_eq!(phase(&world, "v"), some("Bound"));
    world.claims.clear();
    settle(&mut world);
    assert_eq!(phase(&world, "v"), some("Released"), "its claim is gone");
}

#[test]
fn a_class_that_waits_is_asked_only_once_a_node_was_chosen() {
    let mut waiting = world("WaitForFirstConsumer", "p", &[claim("a", &json!({}))], &[]);
    assert_eq!(settle(&mut waiting), 0);
    let mut chosen = claim("a", &json!({}));
    chosen["metadata"]["annotations"] = json!({"volume.kubernetes.io/selected-node": "n"});
    assert_eq!(settle(&mut world("WaitForFirstConsumer", "p", &[chosen], &[])), 1);
    let by_hand = world("Immediate", "kubernetes.io/no-provisioner", &[claim("a", &json!({}))], &[]);
    assert_eq!(by_hand.step_of_claim(&("x".into(), "a".into())), None);
}

#[test]
fn the_smallest_free_volume_that_fits_is_taken() {
    let volumes = [
        volume("large", "50Gi", &json!({})),
        volume("other-class", "5Gi", &json!({"storageClassName": "d"})),
        volume("right", "6Gi", &json!({})),
        volume("small", "1Gi", &json!({})),
        volume("taken", "5Gi", &json!({"claimRef": {"namespace": "x", "name": "b", "uid": "uid-b"}})),
        volume("wrong-mode", "5Gi", &json!({"accessModes": ["ReadOnlyMany"]})),
    ];
    let mut world = world("Immediate", "kubernetes.io/no-provisioner", &[claim("a", &json!({}))], &volumes);
    settle(&mut world);
    assert_eq!(claim_status(&world, "a"), (some("Bound"), some("right")));
    assert_eq!(phase(&world, "large"), some("Available"));
    assert_eq!(phase(&world, "taken"), some("Released"), "its claim was never there");
}

#[test]
fn a_volume_of_an_older_claim_of_the_same_name_is_not_taken() {
    let old = volume("v", "5Gi", &json!({"claimRef": {"namespace": "x", "name": "a", "uid": "older"}}));
    let mut world = world("Immediate", "kubernetes.io/no-provisioner", &[claim("a", &json!({}))], &[old]);
    settle(&mut world);
    assert_eq!(claim_status(&world, "a"), (None, None));
    assert_eq!(phase(&world, "v"), some("Released"));
}

#[test]
fn a_claim_that_names_its_volume_gets_it_and_is_lost_with_it() {
    let named = claim("a", &json!({"volumeName": "v"}));
    let mut world = world("Immediate", "p", &[named], &[volume("v", "5Gi", &json!({}))]);
    settle(&mut world);
    assert_eq!(claim_status(&world, "a"), (some("Bound"), some("v")));
    assert_eq!(phase(&world, "v"), some("Bound"));
    world.volumes.clear();
    settle(&mut world);
    assert_eq!(claim_status(&world, "a").0, some("Lost"));
}
