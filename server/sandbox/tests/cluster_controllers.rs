//! The cluster controllers on the sandbox: what a kube-controller-manager would do there.
#![allow(clippy::unwrap_used, reason = "helpers of tests, where a panic is the message")]

mod common;

use std::time::Duration;

use k8s_openapi::api::core::v1::{ConfigMap, Namespace, Node, Pod, Secret, ServiceAccount};
use kube::api::{Api, DeleteParams, ListParams, Patch, PatchParams, PostParams, PropagationPolicy};
use kube::{Client, Resource, ResourceExt};
use sandbox::api::{Clock, Server};
use serde_json::{Value, json};
use tokio_util::sync::{CancellationToken, DropGuard};

/// Nobody waits longer than this for anything; only a failure takes so long.
const GUARD: Duration = Duration::from_secs(120);

/// A sandbox with cluster controllers.
struct World {
    server: Server,
    client: Client,
    _stop: DropGuard,
}

impl World {
    async fn start() -> Self {
        let server =
            Server::with_options(sandbox::api::Options { clock: Clock::runtime(), ..Default::default() });
        let client = server.client();
        let stop = CancellationToken::new();
        tokio::spawn(sandbox::cluster::run(client.clone(), stop.clone()));
        Self { server, client, _stop: stop.drop_guard() }
    }

    fn maps(&self) -> Api<ConfigMap> {
        Api::namespaced(self.client.clone(), "default")
    }

    /// A config map with these owners, as (name, uid, blocks).
    async fn map(&self, name: &str, owners: &[(&str, String)]) -> String {
        let references: Vec<Value> = owners
            .iter()
            .map(|(name, uid)| {
                json!({"apiVersion": "v1", "kind": "ConfigMap", "name": name, "uid": uid, "blockOwnerDeletion": true})
            })
            .collect();
        let map = json!({"metadata": {"name": name, "ownerReferences": references}});
        let map: ConfigMap = serde_json::from_value(map).unwrap();
        self.maps().create(&PostParams::default(), &map).await.unwrap().uid().unwrap()
    }

    async fn namespace(&self, name: &str) {
        let namespace: Namespace = serde_json::from_value(json!({"metadata": {"name": name}})).unwrap();
        Api::<Namespace>::all(self.client.clone()).create(&PostParams::default(), &namespace).await.unwrap();
    }
}

/// Waits for something to become true.
async fn wait(what: &str, is: impl AsyncFn() -> bool) {
    let poll = async {
        while !is().await {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    assert!(tokio::time::timeout(GUARD, poll).await.is_ok(), "waited in vain for {what}");
}

async fn gone<K>(api: &Api<K>, name: &str)
where
    K: Resource + Clone + std::fmt::Debug + serde::de::DeserializeOwned,
{
    wait(&format!("{name} to go"), async || api.get_opt(name).await.unwrap().is_none()).await;
}

fn policy(policy: PropagationPolicy) -> DeleteParams {
    DeleteParams { propagation_policy: Some(policy), ..DeleteParams::default() }
}

#[tokio::test(start_paused = true)]
async fn owned_objects_follow_their_owner_through_generations() {
    let world = World::start().await;
    let owner = world.map("owner", &[]).await;
    let child = world.map("child", &[("owner", owner)]).await;
    world.map("grandchild", &[("child", child)]).await;
    world.map("bystander", &[]).await;
    world.maps().delete("owner", &policy(PropagationPolicy::Background)).await.unwrap();
    gone(&world.maps(), "grandchild").await;
    assert!(world.maps().get_opt("child").await.unwrap().is_none());
    assert!(world.maps().get_opt("bystander").await.unwrap().is_some());
}

#[tokio::test(start_paused = true)]
async fn five_hundred_owned_objects_go_in_about_a_second() {
    let world = World::start().await;
    let owner = world.map("owner", &[]).await;
    for index in 0..500 {
        world.map(&format!("owned-{index}"), &[("owner", owner.clone())]).await;
    }
    world.maps().delete("owner", &DeleteParams::default()).await.unwrap();
    let begun = tokio::time::Instant::now();
    wait("all to go", async || {
        world.maps().list(&ListParams::default().limit(1)).await.unwrap().items.is_empty()
    })
    .await;
    // The clock is paused: this counts waiting, not computing.
    assert!(begun.elapsed() < Duration::from_secs(1), "{:?}", begun.elapsed());
    let deletes = world.server.writes().get("delete", "configmaps").requests;
    assert_eq!(deletes, 501, "each is asked to go once");
}

#[tokio::test(start_paused = true)]
async fn an_object_whose_owner_never_was_goes_too() {
    let world = World::start().await;
    let other = world.map("other", &[]).await;
    world.map("lonely", &[("nobody", "no-such-uid".into())]).await;
    world.map("replaced", &[("other", "uid-of-an-older-other".into())]).await;
    world.map("shared", &[("nobody", "no-such-uid".into()), ("other", other)]).await;
    gone(&world.maps(), "lonely").await;
    gone(&world.maps(), "replaced").await;
    let references = async || world.maps().get("shared").await.unwrap().owner_references().to_vec();
    wait("the dead reference to go", async || references().await.len() == 1).await;
    assert_eq!(references().await[0].name, "other");
}

#[tokio::test(start_paused = true)]
async fn foreground_deletion_takes_the_owner_last() {
    let world = World::start().await;
    let owner = world.map("owner", &[]).await;
    world.map("owned", &[("owner", owner)]).await;
    let hold = json!({"metadata": {"finalizers": ["example.com/hold"]}});
    world.maps().patch("owned", &PatchParams::default(), &Patch::Merge(hold)).await.unwrap();
    world.maps().delete("owner", &policy(PropagationPolicy::Foreground)).await.unwrap();
    let asked = async || world.maps().get("owned").await.unwrap().meta().deletion_timestamp.is_some();
    wait("the dependent to be asked to go", asked).await;
    tokio::time::sleep(Duration::from_secs(30)).await;
    assert!(world.maps().get_opt("owner").await.unwrap().is_some(), "it waits for its dependent");
    let release = json!({"metadata": {"finalizers": null}});
    world.maps().patch("owned", &PatchParams::default(), &Patch::Merge(release)).await.unwrap();
    gone(&world.maps(), "owner").await;
    assert!(world.maps().get_opt("owned").await.unwrap().is_none());
}

#[tokio::test(start_paused = true)]
async fn orphaned_objects_stay_and_forget_their_owner() {
    let world = World::start().await;
    let owner = world.map("owner", &[]).await;
    for index in 0..20 {
        world.map(&format!("owned-{index}"), &[("owner", owner.clone())]).await;
    }
    // Let the controllers see the dependents: the real ones also release only those that they know.
    tokio::time::sleep(Duration::from_secs(1)).await;
    world.maps().delete("owner", &policy(PropagationPolicy::Orphan)).await.unwrap();
    gone(&world.maps(), "owner").await;
    tokio::time::sleep(Duration::from_secs(10)).await;
    let left = world.maps().list(&ListParams::default()).await.unwrap();
    assert_eq!(left.items.len(), 20);
    assert!(left.items.iter().all(|map| map.owner_references().is_empty()));
}

#[tokio::test(start_paused = true)]
async fn custom_kinds_are_collected_as_soon_as_they_exist() {
    let world = World::start().await;
    tokio::time::sleep(Duration::from_secs(10)).await;
    common::install_gameservers(&world.client).await;
    let servers = common::namespaced(&world.client, "default");
    let server = servers.create(&PostParams::default(), &common::gameserver("a", json!({}))).await.unwrap();
    let reference =
        json!({"apiVersion": "game.example.com/v1", "kind": "GameServer", "name": "a", "uid": server.uid()});
    let mut pod = common::pod("p");
    pod.meta_mut().owner_references = Some(vec![serde_json::from_value(reference).unwrap()]);
    let pods: Api<Pod> = Api::namespaced(world.client.clone(), "default");
    pods.create(&PostParams::default(), &pod).await.unwrap();
    tokio::time::sleep(Duration::from_secs(20)).await;
    assert!(pods.get_opt("p").await.unwrap().is_some(), "its owner lives");
    servers.delete("a", &DeleteParams::default()).await.unwrap();
    gone(&pods, "p").await;
}

#[tokio::test(start_paused = true)]
async fn owners_deleted_while_nobody_looked_are_noticed_at_the_start() {
    let server =
        Server::with_options(sandbox::api::Options { clock: Clock::runtime(), ..Default::default() });
    let client = server.client();
    let stop = CancellationToken::new();
    let world = World { server, client, _stop: stop.clone().drop_guard() };
    let owner = world.map("owner", &[]).await;
    world.map("owned", &[("owner", owner)]).await;
    world.maps().delete("owner", &policy(PropagationPolicy::Background)).await.unwrap();
    tokio::spawn(sandbox::cluster::run(world.client.clone(), stop));
    gone(&world.maps(), "owned").await;
}

#[tokio::test(start_paused = true)]
async fn a_namespace_goes_with_everything_in_it() {
    let world = World::start().await;
    let stop = CancellationToken::new();
    let _stop = stop.clone().drop_guard();
    let options = sandbox::nodes::Options { schedule_all: true, ..Default::default() };
    tokio::spawn(sandbox::nodes::run(world.client.clone(), options, stop));
    common::install_gameservers(&world.client).await;
    world.namespace("doomed").await;
    let pods: Api<Pod> = Api::namespaced(world.client.clone(), "doomed");
    let maps: Api<ConfigMap> = Api::namespaced(world.client.clone(), "doomed");
    let secrets: Api<Secret> = Api::namespaced(world.client.clone(), "doomed");
    for index in 0..10 {
        pods.create(&PostParams::default(), &common::pod(&format!("p-{index}"))).await.unwrap();
        maps.create(&PostParams::default(), &common::config_map(&format!("m-{index}"), json!({})))
            .await
            .unwrap();
    }
    secrets
        .create(&PostParams::default(), &serde_json::from_value(json!({"metadata": {"name": "s"}})).unwrap())
        .await
        .unwrap();
    let servers = common::namespaced(&world.client, "doomed");
    servers.create(&PostParams::default(), &common::gameserver("a", json!({}))).await.unwrap();
    let ready = |pod: &Pod| pod.status.as_ref().and_then(|status| status.phase.as_deref()) == Some("Running");
    wait("the pods to run", async || {
        pods.list(&ListParams::default()).await.unwrap().items.iter().all(ready)
    })
    .await;
    let namespaces: Api<Namespace> = Api::all(world.client.clone());
    namespaces.delete("doomed", &DeleteParams::default()).await.unwrap();
    gone(&namespaces, "doomed").await;
    assert!(pods.list(&ListParams::default()).await.unwrap().items.is_empty());
    assert!(maps.list(&ListParams::default()).await.unwrap().items.is_empty());
    assert!(servers.list(&ListParams::default()).await.unwrap().items.is_empty());
    world.namespace("doomed").await;
    assert!(namespaces.get_opt("doomed").await.unwrap().is_some(), "the name is free again");
}

#[tokio::test(start_paused = true)]
async fn a_namespace_waits_for_finalizers_in_it() {
    let world = World::start().await;
    world.namespace("held").await;
    let maps: Api<ConfigMap> = Api::namespaced(world.client.clone(), "held");
    let held = json!({"metadata": {"name": "m", "finalizers": ["example.com/hold"]}});
    maps.create(&PostParams::default(), &common::config_map("m", held)).await.unwrap();
    let namespaces: Api<Namespace> = Api::all(world.client.clone());
    namespaces.delete("held", &DeleteParams::default()).await.unwrap();
    tokio::time::sleep(Duration::from_secs(60)).await;
    let namespace = namespaces.get("held").await.unwrap();
    assert_eq!(namespace.status.unwrap().phase.as_deref(), Some("Terminating"));
    let release = json!({"metadata": {"finalizers": null}});
    maps.patch("m", &PatchParams::default(), &Patch::Merge(release)).await.unwrap();
    gone(&namespaces, "held").await;
}

#[tokio::test(start_paused = true)]
async fn every_namespace_has_its_default_service_account() {
    let world = World::start().await;
    world.namespace("fresh").await;
    for namespace in ["default", "kube-system", "fresh"] {
        let accounts: Api<ServiceAccount> = Api::namespaced(world.client.clone(), namespace);
        let there = async || accounts.get_opt("default").await.unwrap().is_some();
        wait("the account", there).await;
        let old = accounts.get("default").await.unwrap().uid();
        accounts.delete("default", &DeleteParams::default()).await.unwrap();
        let again =
            async || accounts.get_opt("default").await.unwrap().is_some_and(|account| account.uid() != old);
        wait("the account again", again).await;
    }
}

#[tokio::test(start_paused = true)]
async fn pods_of_a_node_that_is_gone_are_deleted_after_a_while() {
    let world = World::start().await;
    let nodes: Api<Node> = Api::all(world.client.clone());
    for name in ["back", "gone"] {
        let node = serde_json::from_value(json!({"metadata": {"name": name}})).unwrap();
        nodes.create(&PostParams::default(), &node).await.unwrap();
    }
    let pods: Api<Pod> = Api::namespaced(world.client.clone(), "default");
    for name in ["back", "gone"] {
        let mut pod = common::pod(&format!("on-{name}"));
        pod.spec.as_mut().unwrap().node_name = Some(name.into());
        pods.create(&PostParams::default(), &pod).await.unwrap();
    }
    tokio::time::sleep(Duration::from_secs(1)).await;
    for name in ["back", "gone"] {
        nodes.delete(name, &DeleteParams::default()).await.unwrap();
    }
    let node = serde_json::from_value(json!({"metadata": {"name": "back"}})).unwrap();
    nodes.create(&PostParams::default(), &node).await.unwrap();
    gone(&pods, "on-gone").await;
    tokio::time::sleep(Duration::from_secs(60)).await;
    assert!(pods.get_opt("on-back").await.unwrap().is_some());
}

#[tokio::test(start_paused = true)]
async fn an_outage_only_delays_the_collection() {
    let world = World::start().await;
    let owner = world.map("owner", &[]).await;
    for index in 0..20 {
        world.map(&format!("owned-{index}"), &[("owner", owner.clone())]).await;
    }
    world.maps().delete("owner", &policy(PropagationPolicy::Background)).await.unwrap();
    world.server.faults().expire_watches();
    world.server.faults().away_for(Duration::from_secs(60));
    tokio::time::sleep(Duration::from_secs(61)).await;
    wait("all to go", async || world.maps().list(&ListParams::default()).await.unwrap().items.is_empty())
        .await;
}

#[tokio::test(start_paused = true)]
async fn a_settled_cluster_is_not_written_to() {
    let world = World::start().await;
    let owner = world.map("owner", &[]).await;
    world.map("owned", &[("owner", owner)]).await;
    tokio::time::sleep(Duration::from_secs(10)).await;
    let before = world.server.writes();
    tokio::time::sleep(Duration::from_secs(600)).await;
    let since = world.server.writes().since(&before);
    assert_eq!(since.commits_except(&[]), 0, "{since:?}");
}
