//! Scenes of volumes, of trouble by annotation, and of what is told about it.

use k8s_openapi::api::core::v1::{Event, Node, PersistentVolume, PersistentVolumeClaim, Pod};
use kube::api::{Api, DeleteParams, ListParams, Patch, PatchParams, PostParams};
use kube::runtime::wait::await_condition;
use sandbox::nodes::{DOWN_ANNOTATION, ON_FIRST_USE_CLASS, PLAYERS_ANNOTATION, STORAGE_CLASS};
use serde_json::json;

use super::{GUARD, World, condition, container};

impl World {
    fn claims(&self) -> Api<PersistentVolumeClaim> {
        Api::namespaced(self.client.clone(), &self.namespace)
    }

    fn volumes(&self) -> Api<PersistentVolume> {
        Api::all(self.client.clone())
    }

    async fn claim(&self, name: &str, class: &str) {
        let claim = json!({
            "metadata": {"name": name},
            "spec": {"storageClassName": class, "accessModes": ["ReadWriteOnce"],
                "resources": {"requests": {"storage": "5Gi"}}},
        });
        let claim = serde_json::from_value(claim).unwrap();
        self.claims().create(&PostParams::default(), &claim).await.unwrap();
    }

    async fn user_of(&self, name: &str, claim: &str) {
        let volumes = json!({"volumes": [{"name": "data", "persistentVolumeClaim": {"claimName": claim}}]});
        self.create(name, json!({}), volumes).await;
    }

    async fn bound(&self, claim: &str) -> PersistentVolumeClaim {
        let is_bound = |claim: Option<&PersistentVolumeClaim>| {
            claim.and_then(|claim| claim.status.as_ref()?.phase.as_deref()) == Some("Bound")
        };
        let found = await_condition(self.claims(), claim, is_bound);
        match tokio::time::timeout(GUARD, found).await {
            Ok(claim) => claim.unwrap().unwrap(),
            Err(_) => panic!("{claim} is not bound: {:#?}", self.claims().get_opt(claim).await),
        }
    }

    /// Deletes a claim that no pod uses, and waits until its volume is gone too.
    async fn release(&self, claim: &str) {
        let volume = self.bound(claim).await.spec.unwrap().volume_name.unwrap();
        self.claims().delete(claim, &DeleteParams::default()).await.unwrap();
        let gone =
            await_condition(self.volumes(), &volume, |volume: Option<&PersistentVolume>| volume.is_none());
        tokio::time::timeout(GUARD, gone).await.expect("the volume goes with its claim").unwrap();
    }

    async fn unschedulable(&self, name: &str, part: &str) {
        self.pod(name, &format!("unschedulable with {part:?}"), |pod| {
            let conditions =
                pod.status.as_ref().and_then(|status| status.conditions.clone()).unwrap_or_default();
            conditions.iter().any(|condition| {
                condition.type_ == "PodScheduled"
                    && condition.reason.as_deref() == Some("Unschedulable")
                    && condition.message.as_deref().is_some_and(|message| message.contains(part))
            })
        })
        .await;
    }

    async fn annotate_node(&self, name: &str, down: Option<&str>) {
        let patch = json!({"metadata": {"annotations": {DOWN_ANNOTATION: down}}});
        self.nodes().patch(name, &PatchParams::default(), &Patch::Merge(patch)).await.unwrap();
    }

    async fn node_is(&self, name: &str, status: &str) {
        let is = |node: Option<&Node>| {
            let conditions = node.and_then(|node| node.status.as_ref()?.conditions.as_ref());
            conditions.is_some_and(|all| all.iter().any(|c| c.type_ == "Ready" && c.status == status))
        };
        let reached = await_condition(self.nodes(), name, is);
        tokio::time::timeout(GUARD, reached).await.expect("the node's Ready changes in time").unwrap();
    }
}

/// A claim of our class gets a volume at once, a pod waits for it, and the volume goes with the claim.
pub async fn claims_get_volumes(world: &mut World) {
    world.user_of("user", "data").await;
    world.unschedulable("user", "nodes are available: persistentvolumeclaim \"data\" not found.").await;
    world.claim("data", STORAGE_CLASS).await;
    let claim = world.bound("data").await;
    let volume = world.volumes().get(&claim.spec.unwrap().volume_name.unwrap()).await.unwrap();
    let spec = volume.spec.unwrap();
    assert_eq!(spec.capacity.unwrap()["storage"].0, "5Gi");
    assert_eq!(spec.claim_ref.unwrap().name.as_deref(), Some("data"));
    assert_eq!(claim.status.unwrap().capacity.unwrap()["storage"].0, "5Gi");
    world.ready("user").await;
    world.pods().delete("user", &DeleteParams::default()).await.unwrap();
    world.gone("user").await;
    world.release("data").await;
}

/// A claim whose class waits for its first pod gets its volume after a node was chosen for that pod.
pub async fn claims_wait_for_their_first_pod(world: &mut World) {
    world.claim("late", ON_FIRST_USE_CLASS).await;
    world.simple("other").await;
    world.ready("other").await;
    let claim = world.claims().get("late").await.unwrap();
    assert_eq!(claim.spec.unwrap().volume_name, None, "no pod has asked for it");
    world.user_of("first", "late").await;
    let pod = world.ready("first").await;
    let claim = world.bound("late").await;
    let chosen = claim.metadata.annotations.unwrap()["volume.kubernetes.io/selected-node"].clone();
    assert_eq!(pod.spec.unwrap().node_name, Some(chosen));
    for name in ["first", "other"] {
        world.pods().delete(name, &DeleteParams::default()).await.unwrap();
        world.gone(name).await;
    }
    world.release("late").await;
}

/// Ports of nodes and rules about other pods keep pods apart.
pub async fn pods_keep_apart(world: &mut World) {
    let apart = json!({"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [
        {"topologyKey": "kubernetes.io/hostname", "labelSelector": {"matchLabels": {"app": "apart"}}}]}});
    let port =
        json!([{"name": "game", "image": "game:1", "ports": [{"containerPort": 7777, "hostPort": 7777}]}]);
    let machines = world.options.machines;
    for index in 0..=machines {
        let name = format!("apart-{index}");
        let pod = json!({
            "metadata": {"name": name, "labels": {"app": "apart"}},
            "spec": {"schedulerName": sandbox::nodes::SCHEDULER_NAME, "affinity": apart,
                "nodeSelector": {sandbox::nodes::SIMULATION_LABEL: world.options.prefix},
                "containers": [{"name": "game", "image": "game:1"}]},
        });
        let pod: Pod = serde_json::from_value(pod).unwrap();
        world.pods().create(&PostParams::default(), &pod).await.unwrap();
        world.create(&format!("port-{index}"), json!({}), json!({"containers": port})).await;
        if index < machines {
            world.ready(&name).await;
            world.ready(&format!("port-{index}")).await;
        }
    }
    world.unschedulable(&format!("apart-{machines}"), "node(s) didn't match pod anti-affinity rules").await;
    world
        .unschedulable(
            &format!("port-{machines}"),
            "node(s) didn't have free ports for the requested pod ports",
        )
        .await;
    world.pods().delete("apart-0", &DeleteParams::default()).await.unwrap();
    world.ready(&format!("apart-{machines}")).await;
}

/// Scheduler and kubelet tell what they do.
pub async fn events_tell_of_pods(world: &mut World) {
    world.create("told", json!({"sim.pilothouse.dev/liveness": "fail"}), json!({})).await;
    let reasons = ["Scheduled", "Pulling", "Pulled", "Created", "Started", "Unhealthy", "Killing", "BackOff"];
    let api: Api<Event> = Api::namespaced(world.client.clone(), &world.namespace);
    let about = ListParams::default().fields("involvedObject.name=told");
    let all_told = async || {
        let events = api.list(&about).await.unwrap().items;
        reasons.iter().all(|reason| events.iter().any(|event| event.reason.as_deref() == Some(reason)))
    };
    world.wait("all events", all_told).await;
    let events = api.list(&about).await.unwrap().items;
    let event = events.iter().find(|event| event.reason.as_deref() == Some("BackOff")).unwrap();
    assert_eq!(event.type_.as_deref(), Some("Warning"));
    assert_eq!(event.involved_object.field_path.as_deref(), Some("spec.containers{game}"));
    let started = events.iter().find(|event| event.reason.as_deref() == Some("Started")).unwrap();
    assert!(started.count > Some(1), "it came again: {started:?}");
    assert_eq!(started.source.as_ref().unwrap().component.as_deref(), Some("kubelet"));
}

/// A machine that is played down is not heard of; its pods are not ready until it is up again, and no container restarts.
pub async fn nodes_go_down_and_come_back(world: &mut World) {
    world.simple("stays").await;
    let node = world.ready("stays").await.spec.unwrap().node_name.unwrap();
    world.annotate_node(&node, Some("true")).await;
    world.node_is(&node, "Unknown").await;
    world.pod("stays", "not Ready", |pod| condition(pod, "Ready") == Some("False")).await;
    let tainted = await_condition(world.nodes(), &node, |node: Option<&Node>| {
        let taints = node.and_then(|node| node.spec.as_ref()?.taints.as_ref());
        taints.is_some_and(|all| {
            all.iter()
                .any(|taint| taint.key == "node.kubernetes.io/unreachable" && taint.effect == "NoExecute")
        })
    });
    tokio::time::timeout(GUARD, tainted).await.expect("it is tainted").unwrap();
    world.annotate_node(&node, None).await;
    world.node_is(&node, "True").await;
    let pod = world.ready("stays").await;
    assert_eq!(container(&pod).unwrap().restart_count, 0);
}

/// Players come, and their number stands on the pod. A game may be empty for minutes; of ten, some are not.
pub async fn players_come(world: &mut World) {
    for index in 0..10 {
        world
            .create(&format!("played-{index}"), json!({"sim.pilothouse.dev/players": "max=40"}), json!({}))
            .await;
    }
    world.simple("quiet").await;
    let number = |pod: &Pod| pod.metadata.annotations.as_ref()?.get(PLAYERS_ANNOTATION)?.parse::<u32>().ok();
    let numbers = async || {
        let pods = world.pods().list(&ListParams::default()).await.unwrap().items;
        pods.iter().filter_map(number).collect::<Vec<u32>>()
    };
    let all_tell = async || {
        let numbers = numbers().await;
        numbers.len() == 10 && numbers.iter().any(|players| *players > 0)
    };
    world.wait("players", all_tell).await;
    assert!(numbers().await.iter().all(|players| *players <= 40));
    assert_eq!(number(&world.ready("quiet").await), None);
}

/// Pods of a machine that stays down are asked to go when their patience ends, and go when its kubelet is back.
pub async fn pods_leave_a_node_that_stays_down(world: &mut World) {
    let patience = json!({"tolerations": [{"key": "node.kubernetes.io/unreachable", "operator": "Exists",
        "effect": "NoExecute", "tolerationSeconds": 10}]});
    world.create("impatient", json!({}), patience).await;
    let node = world.ready("impatient").await.spec.unwrap().node_name.unwrap();
    world.annotate_node(&node, Some("true")).await;
    let asked = |pod: &Pod| pod.metadata.deletion_timestamp.is_some();
    let pod = world.pod("impatient", "asked to go", asked).await;
    let conditions = pod.status.unwrap().conditions.unwrap();
    let why = conditions.iter().find(|condition| condition.type_ == "DisruptionTarget").unwrap();
    assert_eq!(why.reason.as_deref(), Some("DeletionByTaintManager"));
    world.annotate_node(&node, None).await;
    world.gone("impatient").await;
    world.node_is(&node, "True").await;
}
