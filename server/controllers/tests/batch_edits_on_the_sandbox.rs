//! Batches carried out against the embedded API: freshly accepted ones, and ones that an earlier process left behind.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use controllers::{
    batch::{self, BatchCaches, BatchContext, Resolver, observe, plan, view},
    cache::{Caches, Key, Namespaces},
};
use crds::{
    kruise::{GameServer, GameServerSpec, OpsState},
    pilothouse::{
        BatchChange, BatchEdit, BatchEditProgress, BatchEditSpec, BatchEditTargets, BatchEditTargetsSpec,
        BatchPhase, BatchTarget, FieldChange, FrozenTarget, NAMESPACE, Outcome, TargetField,
    },
};
use kube::{
    Api, Client, ResourceExt,
    api::{ListParams, Patch, PatchParams, PostParams},
};
use serde_json::json;
use std::{collections::BTreeMap, sync::Arc, time::Duration};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use wire::{ApiError, Family, ServerKey};

/// Finds servers in the caches alone; players are in an annotation.
struct CacheResolver(Caches);

impl Resolver for CacheResolver {
    fn keys(&self, target: &wire::BatchTarget) -> Result<Vec<ServerKey>, ApiError> {
        match target {
            wire::BatchTarget::Keys(keys) => Ok(keys.clone()),
            wire::BatchTarget::Query(_) => {
                let key = |s: &Arc<crds::slim::SlimGameServer>| {
                    ServerKey::new(Family::Kruise, s.namespace().unwrap(), s.name_any())
                };
                let mut keys: Vec<ServerKey> = self.0.servers.all().iter().map(key).collect();
                keys.sort();
                Ok(keys)
            }
        }
    }

    fn observe(&self, key: &ServerKey) -> Option<plan::Observed> {
        let server = self.0.servers.get(&Key::new(&key.namespace, &key.name))?;
        let players = server.annotations().get("players").and_then(|text| text.parse().ok());
        observe(Some(&server), None, players)
    }

    fn sets(&self) -> BTreeMap<(String, String), plan::SetFigures> {
        BTreeMap::new()
    }
}

struct World {
    client: Client,
    server: sandbox::api::Server,
    caches: Caches,
    batches: BatchCaches,
    leader: watch::Sender<bool>,
    stop: CancellationToken,
}

impl World {
    async fn new() -> Self {
        let server = sandbox::api::Server::new();
        let client = server.client();
        crds::install::install(&client).await.unwrap();
        let stop = CancellationToken::new();
        let caches = Caches::start(&client, &Namespaces::All, &stop);
        let batches = BatchCaches::start(&client, NAMESPACE, &stop);
        Self { client, server, caches, batches, leader: watch::Sender::new(false), stop }
    }

    fn run(&self) {
        self.run_as(self.client.clone());
    }

    /// Runs batches with a client of their author.
    fn run_as(&self, client: Client) {
        let context = BatchContext {
            client: self.client.clone(),
            client_for: Arc::new(move |_| client.clone()),
            batches: self.batches.clone(),
            caches: self.caches.clone(),
            resolver: Arc::new(CacheResolver(self.caches.clone())),
            workers: 8,
        };
        tokio::spawn(batch::run(context, self.leader.subscribe(), self.stop.clone()));
        self.leader.send_replace(true);
    }

    fn servers(&self) -> Api<GameServer> {
        Api::namespaced(self.client.clone(), "default")
    }

    fn edits(&self) -> Api<BatchEdit> {
        Api::namespaced(self.client.clone(), NAMESPACE)
    }

    async fn add(&self, name: &str, spec: GameServerSpec) -> GameServer {
        self.servers().create(&PostParams::default(), &GameServer::new(name, spec)).await.unwrap()
    }

    /// Waits until the caches know as many servers.
    async fn known(&self, count: usize) {
        while self.caches.servers.len() < count {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }

    async fn ended(&self, name: &str) -> BatchEdit {
        let wait = async {
            loop {
                let edit = self.edits().get(name).await.unwrap();
                if edit.status.as_ref().is_some_and(|status| status.phase.is_final()) {
                    return edit;
                }
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        };
        tokio::time::timeout(Duration::from_secs(30), wait).await.expect("the batch did not end")
    }

    async fn results(&self, name: &str) -> BTreeMap<String, Outcome> {
        let list = ListParams::default().labels(&format!("{}={name}", crds::pilothouse::BATCH_LABEL));
        let pieces: Api<BatchEditTargets> = Api::namespaced(self.client.clone(), NAMESPACE);
        let progress: Api<BatchEditProgress> = Api::namespaced(self.client.clone(), NAMESPACE);
        let pieces = pieces.list(&list).await.unwrap().items;
        let mut found = BTreeMap::new();
        for progress in progress.list(&list).await.unwrap() {
            let piece = pieces.iter().find(|piece| piece.spec.index == progress.spec.piece).unwrap();
            for result in progress.spec.results {
                let target = &piece.spec.targets[usize::try_from(result.index).unwrap()];
                found.insert(target.key.rsplit('/').next().unwrap().to_owned(), result.outcome);
            }
        }
        found
    }

    async fn ops(&self, name: &str) -> Option<OpsState> {
        self.servers().get(name).await.unwrap().spec.ops_state
    }
}

fn spec(ops: OpsState) -> GameServerSpec {
    GameServerSpec { ops_state: Some(ops), ..GameServerSpec::default() }
}

fn edit(name: &str, target: BatchTarget, ops: &str) -> BatchEdit {
    let change = BatchChange { ops_state: Some(OpsState::from(ops)), ..BatchChange::default() };
    BatchEdit::new(name, BatchEditSpec { target, change, ..BatchEditSpec::default() })
}

fn everything() -> BatchTarget {
    BatchTarget { query: Some(String::new()), keys: Vec::new() }
}

/// A client whose every change takes this long.
fn slow(client: &Client, each: Duration) -> Client {
    let inner = client.clone();
    let service = tower::service_fn(move |request: http::Request<kube::client::Body>| {
        let inner = inner.clone();
        async move {
            if request.method() == http::Method::PATCH {
                tokio::time::sleep(each).await;
            }
            inner.send(request).await
        }
    });
    Client::new(service, "default")
}

/// Results are written about once a second: a batch that takes longer is written down in several steps.
#[tokio::test(start_paused = true)]
async fn every_result_of_a_batch_that_takes_long_is_stored() {
    let world = World::new().await;
    for number in 0..40 {
        world.add(&format!("mc-{number}"), spec(OpsState::None)).await;
    }
    world.known(40).await;
    world.run_as(slow(&world.client, Duration::from_millis(700)));
    world.edits().create(&PostParams::default(), &edit("long", everything(), "Maintaining")).await.unwrap();
    while world.results("long").await.is_empty() {
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    let first = world.results("long").await.len();
    assert!(first < 40, "all 40 results came at once, so nothing was written in steps");
    let done = world.ended("long").await.status.unwrap();
    assert_eq!((done.totals.changed, done.totals.pending), (40, 0));
    let results = world.results("long").await;
    assert_eq!(results.len(), 40, "the first step had {first}");
    assert!(results.values().all(|outcome| *outcome == Outcome::Changed));
}

#[tokio::test]
async fn every_target_gets_a_result_and_the_pieces_stay() {
    let world = World::new().await;
    for number in 0..600 {
        world.add(&format!("mc-{number}"), spec(OpsState::None)).await;
    }
    world.add("set-already", spec(OpsState::WaitToBeDeleted)).await;
    world.add("without-value", GameServerSpec::default()).await;
    world.known(602).await;
    world.run();
    world.edits().create(&PostParams::default(), &edit("b1", everything(), "WaitToBeDeleted")).await.unwrap();
    let done = world.ended("b1").await.status.unwrap();
    assert_eq!(done.phase, BatchPhase::Done);
    assert_eq!((done.totals.total, done.totals.changed, done.totals.unchanged), (602, 601, 1));
    assert_eq!((done.totals.failed, done.totals.pending, done.target_pieces), (0, 0, Some(2)));
    let results = world.results("b1").await;
    assert_eq!(results.len(), 602);
    assert_eq!(results["set-already"], Outcome::Unchanged);
    for name in ["mc-0", "mc-599", "without-value"] {
        assert_eq!(world.ops(name).await, Some(OpsState::WaitToBeDeleted), "{name}");
    }
}

#[tokio::test]
async fn keys_that_name_nobody_and_servers_in_use_are_told() {
    let world = World::new().await;
    world.add("quiet", spec(OpsState::None)).await;
    world.add("allocated", spec(OpsState::Allocated)).await;
    let mut busy = GameServer::new("busy", spec(OpsState::None));
    busy.annotations_mut().insert("players".into(), "3".into());
    world.servers().create(&PostParams::default(), &busy).await.unwrap();
    world.known(3).await;
    world.run();
    let keys = ["quiet", "allocated", "busy", "nobody"].map(|name| format!("kruise/default/{name}")).to_vec();
    let target = BatchTarget { query: None, keys };
    world.edits().create(&PostParams::default(), &edit("kill", target, "Kill")).await.unwrap();
    let done = world.ended("kill").await.status.unwrap();
    assert_eq!((done.totals.changed, done.totals.left_out, done.totals.failed), (1, 2, 1));
    let results = world.results("kill").await;
    assert_eq!(results["quiet"], Outcome::Changed);
    assert_eq!(results["allocated"], Outcome::LeftOut);
    assert_eq!(results["busy"], Outcome::LeftOut);
    assert_eq!(results["nobody"], Outcome::NotFound);
    assert_eq!(world.ops("busy").await, Some(OpsState::None));
}

/// A batch that an earlier process froze and began: what happened to the servers since is told apart.
#[tokio::test]
async fn a_batch_left_behind_goes_on_and_overwrites_nobody() {
    let world = World::new().await;
    let written = world.add("written-before-the-crash", spec(OpsState::Maintaining)).await;
    let open = world.add("not-yet", spec(OpsState::None)).await;
    let touched = world.add("touched-by-somebody", spec(OpsState::Allocated)).await;
    world.add("replaced", spec(OpsState::None)).await;
    world.known(4).await;
    let stored = world
        .edits()
        .create(&PostParams::default(), &edit("left", everything(), "Maintaining"))
        .await
        .unwrap();
    let target = |name: &str, uid: String| FrozenTarget {
        key: format!("kruise/default/{name}"),
        uid,
        fields: vec![FieldChange {
            field: TargetField::OpsState,
            old: Some("None".into()),
            new: Some("Maintaining".into()),
            ..FieldChange::default()
        }],
        ..FrozenTarget::default()
    };
    let targets = vec![
        target("written-before-the-crash", written.uid().unwrap()),
        target("not-yet", open.uid().unwrap()),
        target("touched-by-somebody", touched.uid().unwrap()),
        target("replaced", "another-uid".into()),
        target("gone", "gone-uid".into()),
    ];
    let mut piece =
        BatchEditTargets::new("left-t0", BatchEditTargetsSpec { batch: "left".into(), index: 0, targets });
    piece.labels_mut().insert(crds::pilothouse::BATCH_LABEL.into(), "left".into());
    let pieces: Api<BatchEditTargets> = Api::namespaced(world.client.clone(), NAMESPACE);
    pieces.create(&PostParams::default(), &piece).await.unwrap();
    let status = json!({ "status": { "phase": "Running", "targetPieces": 1 } });
    world
        .edits()
        .patch_status(&stored.name_any(), &PatchParams::default(), &Patch::Merge(status))
        .await
        .unwrap();

    world.run();
    assert_eq!(world.ended("left").await.status.unwrap().phase, BatchPhase::Done);
    let results = world.results("left").await;
    assert_eq!(results["written-before-the-crash"], Outcome::Changed);
    assert_eq!(results["not-yet"], Outcome::Changed);
    assert_eq!(results["touched-by-somebody"], Outcome::Conflict);
    assert_eq!(results["replaced"], Outcome::Replaced);
    assert_eq!(results["gone"], Outcome::NotFound);
    assert_eq!(world.ops("touched-by-somebody").await, Some(OpsState::Allocated));
    assert_eq!(world.ops("replaced").await, Some(OpsState::None));
}

#[tokio::test]
async fn a_preview_that_no_longer_holds_stops_the_batch() {
    let world = World::new().await;
    world.add("mc-0", spec(OpsState::None)).await;
    world.known(1).await;
    world.run();
    let mut stale = edit("stale", everything(), "Maintaining");
    stale.spec.preview_token = Some("p-of-another-time".into());
    world.edits().create(&PostParams::default(), &stale).await.unwrap();
    let ended = world.ended("stale").await;
    let shown = view::view(&ended, &[], &[]);
    assert_eq!(shown.phase, wire::batch::Phase::Failed);
    assert!(shown.message.unwrap().contains("changed since the preview"));
    assert_eq!(world.ops("mc-0").await, Some(OpsState::None));
}

#[tokio::test]
async fn nothing_is_written_without_the_lease() {
    let world = World::new().await;
    world.add("mc-0", spec(OpsState::None)).await;
    world.known(1).await;
    world.run();
    world.leader.send_replace(false);
    tokio::task::yield_now().await;
    let before = world.server.writes().commits_except(&[]);
    world.edits().create(&PostParams::default(), &edit("waits", everything(), "Maintaining")).await.unwrap();
    while world.batches.edits.is_empty() {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    tokio::time::sleep(Duration::from_millis(100)).await;
    assert_eq!(world.server.writes().commits_except(&[]) - before, 1, "only the batch itself was written");
    world.leader.send_replace(true);
    assert_eq!(world.ended("waits").await.status.unwrap().phase, BatchPhase::Done);
}
