//! What simulated nodes must do on every API server, as scenes that are played on the sandbox and on a real one.
#![allow(dead_code, reason = "each test file plays a part of them")]
#![allow(clippy::unwrap_used, reason = "helpers of tests, where a panic is the message")]

mod trouble;

use std::collections::BTreeSet;
use std::time::Duration;

use futures::{StreamExt, TryStreamExt};
use k8s_openapi::api::coordination::v1::Lease;
use k8s_openapi::api::core::v1::{ContainerStatus, Namespace, Node, Pod};
use kube::Client;
use kube::api::{Api, DeleteParams, ListParams, Patch, PatchParams, PostParams};
use kube::runtime::wait::await_condition;
use kube::runtime::{WatchStreamExt, watcher};
use sandbox::nodes::{self, Options, SCHEDULER_NAME, SIMULATION_LABEL};
use serde_json::{Value, json};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
pub use trouble::*;

/// Nobody waits longer than this for anything; only a failure takes so long.
const GUARD: Duration = Duration::from_secs(120);

/// Simulated nodes of their own and a namespace on some API server.
pub struct World {
    pub client: Client,
    pub namespace: String,
    pub options: Options,
    running: Option<(CancellationToken, JoinHandle<Result<(), nodes::Error>>)>,
}

impl World {
    /// Makes the namespace and starts the nodes. Everything is named after the scene, so that scenes do not meet.
    pub async fn start(client: Client, scene: &str, options: Options) -> Self {
        let unique = uuid::Uuid::new_v4().simple().to_string()[..6].to_owned();
        let namespace = format!("{scene}-{unique}");
        let options = Options { prefix: namespace.clone(), ..options };
        let object: Namespace = serde_json::from_value(json!({"metadata": {"name": namespace}})).unwrap();
        Api::<Namespace>::all(client.clone()).create(&PostParams::default(), &object).await.unwrap();
        let mut world = Self { client, namespace, options, running: None };
        world.start_nodes();
        world.machines_ready().await;
        world
    }

    pub fn start_nodes(&mut self) {
        let stop = CancellationToken::new();
        let task = tokio::spawn(nodes::run(self.client.clone(), self.options.clone(), stop.clone()));
        self.running = Some((stop, task));
    }

    pub async fn stop_nodes(&mut self) {
        let (stop, task) = self.running.take().expect("the nodes run");
        stop.cancel();
        tokio::time::timeout(GUARD, task).await.expect("they end in time").unwrap().unwrap();
    }

    /// Takes everything away again, for servers that outlive the test.
    pub async fn clean_up(mut self) {
        // A real namespace controller that finds pods looks again only after half their grace period.
        self.pods().delete_collection(&DeleteParams::default(), &ListParams::default()).await.unwrap();
        let no_pods = async || self.pods().list(&ListParams::default()).await.unwrap().items.is_empty();
        self.wait("the pods to go", no_pods).await;
        let namespaces: Api<Namespace> = Api::all(self.client.clone());
        namespaces.delete(&self.namespace, &DeleteParams::default()).await.unwrap();
        self.stop_nodes().await;
        let label = format!("{SIMULATION_LABEL}={}", self.options.prefix);
        for node in self.nodes().list(&ListParams::default().labels(&label)).await.unwrap() {
            self.nodes().delete(&node.metadata.name.unwrap(), &DeleteParams::default()).await.unwrap();
        }
    }

    pub fn pods(&self) -> Api<Pod> {
        Api::namespaced(self.client.clone(), &self.namespace)
    }

    pub fn nodes(&self) -> Api<Node> {
        Api::all(self.client.clone())
    }

    pub async fn machines_ready(&self) {
        for index in 0..self.options.machines {
            let name = format!("{}-{index}", self.options.prefix);
            let ready = await_condition(self.nodes(), &name, |node: Option<&Node>| {
                let conditions = node.and_then(|node| node.status.as_ref()?.conditions.as_ref());
                conditions.is_some_and(|all| all.iter().any(|c| c.type_ == "Ready" && c.status == "True"))
            });
            tokio::time::timeout(GUARD, ready).await.expect("the node is Ready in time").unwrap();
        }
    }

    /// Creates a pod that only our machines can take. `spec` is laid over a spec with one container `game`.
    pub async fn create(&self, name: &str, annotations: Value, spec: Value) -> Pod {
        let mut whole = json!({
            "schedulerName": SCHEDULER_NAME,
            "nodeSelector": {SIMULATION_LABEL: self.options.prefix},
            "containers": [{"name": "game", "image": "game:1"}],
        });
        json_patch::merge(&mut whole, &spec);
        let pod = json!({"metadata": {"name": name, "annotations": annotations}, "spec": whole});
        let pod: Pod = serde_json::from_value(pod).unwrap();
        self.pods().create(&PostParams::default(), &pod).await.unwrap()
    }

    pub async fn simple(&self, name: &str) -> Pod {
        self.create(name, json!({}), json!({})).await
    }

    /// Waits until a pod is as described, and returns it.
    pub async fn pod(&self, name: &str, what: &str, is: impl Fn(&Pod) -> bool + Send) -> Pod {
        let found = await_condition(self.pods(), name, |pod: Option<&Pod>| pod.is_some_and(&is));
        match tokio::time::timeout(GUARD, found).await {
            Ok(pod) => pod.unwrap().expect("it is there"),
            Err(_) => panic!("{name} never was {what}: {:#?}", self.pods().get_opt(name).await),
        }
    }

    pub async fn ready(&self, name: &str) -> Pod {
        self.pod(name, "Ready", |pod| condition(pod, "Ready") == Some("True")).await
    }

    pub async fn gone(&self, name: &str) {
        let gone = await_condition(self.pods(), name, |pod: Option<&Pod>| pod.is_none());
        tokio::time::timeout(GUARD, gone).await.expect("it goes in time").unwrap();
    }

    pub async fn patch(&self, name: &str, patch: Value) -> Pod {
        self.pods().patch(name, &PatchParams::default(), &Patch::Merge(patch)).await.unwrap()
    }

    pub async fn wait(&self, what: &str, is: impl AsyncFn() -> bool) {
        let poll = async {
            while !is().await {
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
        };
        assert!(tokio::time::timeout(GUARD, poll).await.is_ok(), "waited in vain for {what}");
    }
}

pub fn condition<'a>(pod: &'a Pod, kind: &str) -> Option<&'a str> {
    let all = pod.status.as_ref()?.conditions.as_ref()?;
    all.iter().find(|condition| condition.type_ == kind).map(|condition| condition.status.as_str())
}

pub fn container(pod: &Pod) -> Option<&ContainerStatus> {
    pod.status.as_ref()?.container_statuses.as_ref()?.first()
}

fn phase(pod: &Pod) -> &str {
    pod.status.as_ref().and_then(|status| status.phase.as_deref()).unwrap_or_default()
}

/// A pod is bound, runs and is Ready, with an address of its own and all that a kubelet reports.
pub async fn pods_come_up(world: &mut World) {
    for index in 0..12 {
        world.simple(&format!("up-{index}")).await;
    }
    let mut addresses = BTreeSet::new();
    for index in 0..12 {
        let pod = world.ready(&format!("up-{index}")).await;
        let spec_node = pod.spec.as_ref().unwrap().node_name.clone().unwrap();
        assert!(spec_node.starts_with(&world.options.prefix));
        let status = pod.status.clone().unwrap();
        assert_eq!(status.phase.as_deref(), Some("Running"));
        assert!(status.start_time.is_some() && status.host_ip.is_some());
        assert!(addresses.insert(status.pod_ip.clone().unwrap()), "every pod has an address of its own");
        let container = container(&pod).unwrap();
        assert!(container.ready && container.started == Some(true) && container.restart_count == 0);
        assert!(container.image_id.contains("@sha256:") && container.resources.is_some());
        assert!(container.state.as_ref().unwrap().running.as_ref().unwrap().started_at.is_some());
        assert_eq!(condition(&pod, "PodScheduled"), Some("True"));
    }
    let leases: Api<Lease> = Api::namespaced(world.client.clone(), "kube-node-lease");
    let lease = leases.get(&format!("{}-0", world.options.prefix)).await.unwrap();
    assert!(lease.spec.unwrap().renew_time.is_some());
}

/// A changed image restarts that container only, and the pod is seen as not ready in between.
pub async fn image_changes_in_place(world: &mut World) {
    let containers = json!([{"name": "game", "image": "game:1"}, {"name": "side", "image": "side:1"}]);
    world.create("image", json!({}), json!({"containers": containers})).await;
    let before = world.ready("image").await;
    let config = watcher::Config::default().fields("metadata.name=image");
    let mut states = watcher(world.pods(), config).applied_objects().boxed();
    let mut changed = before.clone();
    changed.spec.as_mut().unwrap().containers[0].image = Some("game:2".into());
    world.pods().replace("image", &PostParams::default(), &changed).await.unwrap();
    let mut was_not_ready = false;
    let watched = async {
        while let Some(pod) = states.try_next().await.unwrap() {
            was_not_ready |= condition(&pod, "Ready") == Some("False");
            let game = container(&pod).unwrap();
            if game.restart_count == 1 && condition(&pod, "Ready") == Some("True") {
                return pod;
            }
        }
        panic!("the watch ended");
    };
    let after = tokio::time::timeout(GUARD, watched).await.expect("the new image runs in time");
    assert!(was_not_ready);
    let (old, new) = (container(&before).unwrap(), container(&after).unwrap());
    assert_eq!(new.image, "game:2");
    assert_ne!(old.image_id, new.image_id);
    assert_ne!(old.container_id, new.container_id);
    assert!(new.last_state.as_ref().unwrap().terminated.is_some());
    let side = |pod: &Pod| pod.status.clone().unwrap().container_statuses.unwrap()[1].clone();
    assert_eq!(side(&before), side(&after));
}

/// A readiness gate keeps a pod unready until its owner opens it; nobody else does.
pub async fn gates_are_respected(world: &mut World) {
    let gates = json!({"readinessGates": [{"conditionType": "InPlaceUpdateReady"}]});
    world.create("gate", json!({}), gates).await;
    let pod = world.pod("gate", "up", |pod| condition(pod, "ContainersReady") == Some("True")).await;
    assert_eq!((condition(&pod, "Ready"), condition(&pod, "InPlaceUpdateReady")), (Some("False"), None));
    let opened = json!([{"op": "add", "path": "/status/conditions/-",
        "value": {"type": "InPlaceUpdateReady", "status": "True"}}]);
    let patch: json_patch::Patch = serde_json::from_value(opened).unwrap();
    world.pods().patch_status("gate", &PatchParams::default(), &Patch::<Pod>::Json(patch)).await.unwrap();
    let pod = world.ready("gate").await;
    assert_eq!(condition(&pod, "InPlaceUpdateReady"), Some("True"), "the owner's condition stays");
}

/// A container that is told to crash does so, with back-off, and recovers when it is let be.
pub async fn crashes_back_off(world: &mut World) {
    world.create("crash", json!({"sim.pilothouse.dev/crash": "3"}), json!({})).await;
    let waiting = |pod: &Pod| {
        let state = container(pod).and_then(|container| container.state.clone());
        state.and_then(|state| state.waiting).and_then(|waiting| waiting.reason)
    };
    let is = |pod: &Pod| waiting(pod).as_deref() == Some("CrashLoopBackOff");
    let pod = world.pod("crash", "in CrashLoopBackOff", is).await;
    let container = container(&pod).unwrap();
    assert!(container.restart_count >= 1);
    assert_eq!(container.last_state.clone().unwrap().terminated.unwrap().exit_code, 3);
    assert_eq!(phase(&pod), "Running");
    world.patch("crash", json!({"metadata": {"annotations": {"sim.pilothouse.dev/crash": null}}})).await;
    world.ready("crash").await;
}

/// An image that does not exist is reported as a kubelet does, until it is replaced.
pub async fn bad_images_wait(world: &mut World) {
    world
        .create(
            "image-pull",
            json!({}),
            json!({"containers": [{"name": "game", "image": "does-not-exist:1"}]}),
        )
        .await;
    let waiting = |pod: &Pod| {
        let state = container(pod).and_then(|container| container.state.clone());
        state.and_then(|state| state.waiting).and_then(|waiting| waiting.reason)
    };
    let pod =
        world.pod("image-pull", "ErrImagePull", |pod| waiting(pod).as_deref() == Some("ErrImagePull")).await;
    assert_eq!(phase(&pod), "Pending");
    world
        .pod("image-pull", "ImagePullBackOff", |pod| waiting(pod).as_deref() == Some("ImagePullBackOff"))
        .await;
    let mut good = world.pods().get("image-pull").await.unwrap();
    good.spec.as_mut().unwrap().containers[0].image = Some("game:1".into());
    world
        .pods()
        .patch("image-pull", &PatchParams::default(), &Patch::Merge(json!({"spec": good.spec})))
        .await
        .unwrap();
    assert_eq!(container(&world.ready("image-pull").await).unwrap().restart_count, 0);
}

/// A pod that fits nowhere says so, and starts when another makes room.
pub async fn unschedulable_pods_wait_for_room(world: &mut World) {
    let size = |cpu: u32| json!({"containers": [{"name": "game", "image": "game:1", "resources": {"requests": {"cpu": cpu.to_string()}}}]});
    let all = world.options.capacity.cpu;
    for index in 0..world.options.machines {
        world.create(&format!("large-{index}"), json!({}), size(all - 1)).await;
        world.ready(&format!("large-{index}")).await;
    }
    world.create("waits", json!({}), size(all)).await;
    let pod = world
        .pod("waits", "unschedulable", |pod| {
            let conditions =
                pod.status.as_ref().and_then(|status| status.conditions.clone()).unwrap_or_default();
            conditions.iter().any(|c| {
                c.type_ == "PodScheduled"
                    && c.status == "False"
                    && c.reason.as_deref() == Some("Unschedulable")
                    && c.message.as_deref().is_some_and(|message| message.contains("nodes are available: "))
            })
        })
        .await;
    assert_eq!(phase(&pod), "Pending");
    assert_eq!(pod.spec.unwrap().node_name, None);
    world.pods().delete("large-0", &DeleteParams::default()).await.unwrap();
    world.ready("waits").await;
    for index in 1..world.options.machines {
        world.pods().delete(&format!("large-{index}"), &DeleteParams::default()).await.unwrap();
    }
    world.pods().delete("waits", &DeleteParams::default()).await.unwrap();
    world.gone("waits").await;
}

/// Deletion goes through the grace period, and finalizers hold the object after everything has ended.
pub async fn deletion_is_graceful(world: &mut World) {
    world.simple("leaves").await;
    world.create("held", json!({}), json!({})).await;
    world.ready("leaves").await;
    world.ready("held").await;
    world.patch("held", json!({"metadata": {"finalizers": ["example.com/hold"]}})).await;
    for name in ["leaves", "held"] {
        let asked = world.pods().delete(name, &DeleteParams::default()).await.unwrap();
        let pod = asked.left().expect("the pod is still there");
        assert_eq!(pod.metadata.deletion_grace_period_seconds, Some(30));
    }
    world.gone("leaves").await;
    let ended = world.pod("held", "ended", |pod| phase(pod) == "Succeeded").await;
    assert!(container(&ended).unwrap().state.as_ref().unwrap().terminated.is_some());
    world.patch("held", json!({"metadata": {"finalizers": null}})).await;
    world.gone("held").await;
}

/// A node that somebody deletes registers again.
pub async fn nodes_register_again(world: &mut World) {
    let name = format!("{}-0", world.options.prefix);
    let old = world.nodes().get(&name).await.unwrap().metadata.uid.unwrap();
    world.nodes().delete(&name, &DeleteParams::default()).await.unwrap();
    let is_new =
        |node: Option<&Node>| node.is_some_and(|node| node.metadata.uid.as_deref() != Some(old.as_str()));
    let again = await_condition(world.nodes(), &name, is_new);
    tokio::time::timeout(GUARD, again).await.expect("it registers in time").unwrap();
    world.machines_ready().await;
}

/// A simulation that ends and begins again leaves every running container alone.
pub async fn restarts_disturb_nobody(world: &mut World) {
    world.simple("stays").await;
    world.create("refused", json!({"sim.pilothouse.dev/ready": "false"}), json!({})).await;
    let before = world.ready("stays").await;
    let is_running = |pod: &Pod| container(pod).is_some_and(|container| container.started == Some(true));
    let refused = world.pod("refused", "running", is_running).await;
    world.stop_nodes().await;
    // Deleted while nobody looks: the new simulation must finish it.
    world.simple("new").await;
    world.start_nodes();
    world.ready("new").await;
    for old in [before, refused] {
        let name = old.metadata.name.clone().unwrap();
        let now = world.pods().get(&name).await.unwrap();
        assert_eq!(now.metadata.resource_version, old.metadata.resource_version, "{name} was not written");
    }
}
