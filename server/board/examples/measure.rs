//! Prints what the board costs at 5,000 and 50,000 servers: bytes a row and the time of each question, the middle of
//! nine runs, each on a version that nothing has been asked of.
//!
//! `cargo run --release -p board --example measure`

use std::sync::Arc;
use std::time::{Duration, Instant};

use board::{Board, diff_deck, diff_window};
use crds::slim::{SlimGameServer, SlimGameServerSet, SlimPod};
use serde_json::{Value, json};
use wire::deck::DeckQuery;
use wire::row::{ServersQuery, SortKey};

const NOW: i64 = 1_767_268_800;

fn main() {
    for servers in [5_000, 50_000] {
        measure(servers);
    }
}

fn measure(count: usize) {
    let (servers, pods, sets) = world(count);
    println!("\n{count} servers with pods in {} sets", sets.len());
    let before = resident();
    let start = Instant::now();
    let mut board = Board::default();
    sets.iter().for_each(|set| board.apply_set(set));
    servers.iter().for_each(|server| board.apply_server(server));
    pods.iter().for_each(|pod| board.apply_pod(pod));
    row("take everything in", start.elapsed());
    if let (Some(before), Some(after)) = (before, resident()) {
        println!("  {:<44} {:>9} bytes", "resident memory a row", after.saturating_sub(before) / count);
    }
    drop((servers, pods));

    let window = |q: &str, sort: SortKey| ServersQuery {
        q: q.to_owned(),
        sort,
        limit: 100,
        ..ServersQuery::default()
    };
    row("make a snapshot", fresh(&mut board, |_| ()));
    for (name, query) in [
        ("first window, no filter", window("", SortKey::Name)),
        ("first window, bare word", window("game-7", SortKey::Name)),
        (
            "first window, four terms",
            window("state:Ready ops!=Allocated image~1.12 id:0-4999", SortKey::Name),
        ),
        ("first window, label, by image", window("label.zone:8001 or label.zone:8002", SortKey::Image)),
        ("first window, by restarts", window("", SortKey::Restarts)),
        ("first window, by ip", window("", SortKey::Ip)),
        ("first window, by age", window("age>1h", SortKey::Age)),
    ] {
        row(
            name,
            fresh(&mut board, |snapshot| {
                snapshot.servers(&query, NOW).expect("a good filter");
            }),
        );
    }
    let snapshot = board.snapshot();
    let sorted = window("state:Ready", SortKey::Ip);
    snapshot.servers(&sorted, NOW).expect("a good filter");
    row(
        "scroll in a sorted window",
        timed(|| {
            snapshot.servers(&ServersQuery { offset: 2_000, ..sorted.clone() }, NOW).expect("a good filter");
        }),
    );
    for by in ["state", "node", "label.zone"] {
        let query = DeckQuery { by: by.to_owned(), ..DeckQuery::default() };
        row(
            &format!("deck by {by}"),
            fresh(&mut board, |snapshot| {
                snapshot.deck(&query, NOW).expect("a good deck");
            }),
        );
    }
    row("totals and what needs a hand", fresh(&mut board, |snapshot| drop(snapshot.totals(NOW))));
    row("list of sets", fresh(&mut board, |snapshot| drop(snapshot.sets(""))));
    row("values of a field", fresh(&mut board, |snapshot| drop(snapshot.values("node", "", "n", 20))));

    let (old_window, old_deck) = views(&mut board);
    board.apply_server(&changed(1, "Kill"));
    let (new_window, new_deck) = views(&mut board);
    row("delta of a window", timed(|| drop(diff_window(&old_window, &new_window))));
    row("delta of the deck", timed(|| drop(diff_deck(&old_deck, &new_deck))));
    let size = |value: Value| value.to_string().len();
    println!("  {:<44} {:>9} bytes", "JSON of a window of 100", size(json!(new_window)));
    println!("  {:<44} {:>9} bytes", "JSON of the deck", size(json!(new_deck)));
    println!(
        "  {:<44} {:>9} bytes",
        "JSON of the delta of one cell",
        size(json!(diff_deck(&old_deck, &new_deck)))
    );
    let changes: Vec<SlimGameServer> = (0..1_000).map(|number| changed(number, "Kill")).collect();
    let start = Instant::now();
    changes.iter().for_each(|server| board.apply_server(server));
    println!("  {:<44} {:>9.3} µs", "one change", start.elapsed().as_secs_f64() * 1e3);
}

fn views(board: &mut Board) -> (wire::ServersWindow, wire::DeckSnapshot) {
    let snapshot = board.snapshot();
    let query = ServersQuery { limit: 100, ..ServersQuery::default() };
    let window = snapshot.servers(&query, NOW).expect("a good filter");
    (window, snapshot.deck(&DeckQuery::default(), NOW).expect("a good deck"))
}

/// A change that makes a new version, so that nothing is remembered.
fn touch(board: &mut Board, number: usize) {
    let ops = if board.version().is_multiple_of(2) { "Maintaining" } else { "WaitToBeDeleted" };
    board.apply_server(&changed(number, ops));
}

fn changed(number: usize, ops: &str) -> SlimGameServer {
    let (mut server, _) = objects(number);
    server["spec"]["opsState"] = json!(ops);
    serde_json::from_value(server).expect("a server")
}

/// The middle of several runs, each on a snapshot that nothing has been asked of.
fn fresh(board: &mut Board, question: impl Fn(&board::Snapshot)) -> Duration {
    let mut times: Vec<Duration> = (0..9)
        .map(|number| {
            touch(board, number);
            touch(board, number);
            let start = Instant::now();
            let snapshot = board.snapshot();
            question(&snapshot);
            start.elapsed()
        })
        .collect();
    times.sort();
    times[times.len() / 2]
}

fn timed(mut question: impl FnMut()) -> Duration {
    let mut times: Vec<Duration> = (0..9)
        .map(|_| {
            let start = Instant::now();
            question();
            start.elapsed()
        })
        .collect();
    times.sort();
    times[times.len() / 2]
}

fn row(name: &str, time: Duration) {
    println!("  {name:<44} {:>9.3} ms", time.as_secs_f64() * 1e3);
}

/// Resident bytes of this process.
fn resident() -> Option<usize> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmRSS:"))?;
    line.split_whitespace().nth(1)?.parse::<usize>().ok().map(|kib| kib * 1_024)
}

type World = (Vec<SlimGameServer>, Vec<SlimPod>, Vec<Arc<SlimGameServerSet>>);

/// Servers of sets of 5,000, as a busy cluster has them.
fn world(count: usize) -> World {
    let (servers, pods) = (0..count)
        .map(|number| {
            let (server, pod) = objects(number);
            (
                serde_json::from_value::<SlimGameServer>(server).expect("a server"),
                serde_json::from_value::<SlimPod>(pod).expect("a pod"),
            )
        })
        .unzip();
    let sets = (0..count.div_ceil(5_000))
        .map(|set| {
            let set = json!({
                "metadata": { "namespace": "prod", "name": format!("game-{set}") },
                "spec": { "replicas": 5_000, "gameServerTemplate": { "spec": { "containers": [{ "name": "game" }] } } },
            });
            Arc::new(serde_json::from_value(set).expect("a set"))
        })
        .collect();
    (servers, pods, sets)
}

fn objects(number: usize) -> (Value, Value) {
    let (set, id) = (format!("game-{}", number / 5_000), number % 5_000);
    let name = format!("{set}-{id}");
    let pick = |words: &[&str], prime: usize| words[number * prime % words.len()].to_owned();
    let state = if number.is_multiple_of(50) { "Updating" } else { "Ready" };
    let node = format!("node-{}", number / 50);
    let image = format!("registry.example/games/minecraft-server:1.{}", 12 + number % 2);
    let metadata = |uid: usize| {
        json!({
            "namespace": "prod",
            "name": name,
            "uid": format!("{uid:08x}-1111-4222-8333-{number:012x}"),
            "creationTimestamp": jiff::Timestamp::from_second(NOW - 60 - i64::try_from(number).unwrap_or(0)).expect("a time").to_string(),
            "labels": {
                "game.kruise.io/owner-gss": set,
                "game.kruise.io/node-name": node,
                "app": "minecraft",
                "zone": format!("{}", 8_000 + number % 20),
                "shard": format!("s{}", number % 100),
                "controller-revision-hash": format!("{set}-6d5f{}", number % 2),
            },
        })
    };
    let mut server = json!({
        "metadata": metadata(1),
        "spec": {
            "opsState": pick(&["None", "Allocated", "Allocated", "Maintaining"], 7),
            "deletionPriority": 0,
            "updatePriority": 0,
            "networkDisabled": false,
        },
        "status": {
            "currentState": state,
            "networkStatus": {
                "networkType": "Kubernetes-HostPort",
                "currentNetworkState": "Ready",
                "externalAddresses": [{ "ip": format!("203.0.{}.{}", number / 50 / 250, number / 50 % 250) }],
            },
            "serviceQualitiesConditions": [{ "name": "idle", "status": "True", "result": format!("{}", number % 30) }],
            "conditions": [
                { "type": "PodNormal", "status": "True" },
                { "type": "NodeNormal", "status": "True" },
                { "type": "PersistentVolumeNormal", "status": "True" },
            ],
        },
    });
    server["metadata"]["annotations"] = json!({ "game.kruise.io/gsTemplate-metadata-hash": "3716291985" });
    let conditions = ["PodScheduled", "Initialized", "ContainersReady", "Ready", "InPlaceUpdateReady"];
    let conditions: Vec<Value> = conditions
        .iter()
        .map(|kind| json!({ "type": kind, "status": "True", "lastTransitionTime": "2026-01-01T00:00:00Z" }))
        .collect();
    let mut pod = json!({
        "metadata": metadata(2),
        "spec": {
            "nodeName": node,
            "containers": [{ "name": "game", "image": image }, { "name": "sidecar", "image": "registry.example/sidecar:7" }],
        },
        "status": {
            "phase": "Running",
            "podIP": format!("10.{}.{}.{}", number / 65_025, number / 255 % 255, number % 255),
            "conditions": conditions,
            "containerStatuses": [
                { "name": "game", "ready": true, "restartCount": number % 7 },
                { "name": "sidecar", "ready": true, "restartCount": 0 },
            ],
        },
    });
    pod["metadata"]["annotations"] =
        json!({ "game.kruise.io/opsState-last-changed-time": "2026-01-01T00:00:00Z" });
    (server, pod)
}
