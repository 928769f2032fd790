//! Programs of other languages against the sandbox over TLS: client-go with its informers and leader election, and the Python package.
//!
//! They live in `clients/`. `./dev test` builds them and names them in `PILOTHOUSE_TEST_GO_CLIENT` (a program) and
//! `PILOTHOUSE_TEST_PYTHON` (an interpreter with the package `kubernetes`); the tests are ignored unless asked for.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use sandbox::{
    SimulatedLogs,
    api::{Server, serve},
};
use std::{
    path::{Path, PathBuf},
    process::Stdio,
    sync::Arc,
    time::Duration,
};
use tokio::process::Command;
use tokio_util::sync::CancellationToken;

/// How long a client may take; they end after two minutes by themselves.
const PATIENCE: Duration = Duration::from_secs(180);

/// Runs a client against a sandbox with our resources and simulated nodes; the steps it says `ok` to.
async fn steps_of(mut client: Command) -> Vec<String> {
    let server = Server::new();
    crds::install::install(&server.client()).await.unwrap();
    let options = sandbox::nodes::Options { schedule_all: true, ..Default::default() };
    server.serve_logs(Arc::new(SimulatedLogs { seed: options.seed }));
    let stop = CancellationToken::new();
    sandbox::animate(&server.client(), options, &stop);
    let serving = serve(&server, "127.0.0.1:0".parse().unwrap()).await.unwrap();
    let folder = tempfile::tempdir().unwrap();
    let kubeconfig = folder.path().join("config");
    std::fs::write(&kubeconfig, &serving.kubeconfig).unwrap();
    client.env("KUBECONFIG", &kubeconfig).env("HOME", folder.path()).stdin(Stdio::null()).kill_on_drop(true);
    let output = tokio::time::timeout(PATIENCE, client.output()).await.expect("the client ends").unwrap();
    let (said, errors) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{said}\n{errors}");
    stop.cancel();
    said.lines().filter_map(|line| line.strip_prefix("ok ")).map(str::to_owned).collect()
}

fn named(variable: &str) -> PathBuf {
    std::env::var_os(variable).unwrap_or_else(|| panic!("{variable} is not set: use ./dev test")).into()
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs the Go client: ./dev test clients"]
async fn client_go_with_informers() {
    let steps = steps_of(Command::new(named("PILOTHOUSE_TEST_GO_CLIENT"))).await;
    let all = [
        "informers",
        "pod life",
        "log",
        "eviction",
        "server-side apply",
        "conflicts",
        "custom objects",
        "leader election",
    ];
    assert_eq!(steps, all);
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs the Python client: ./dev test clients"]
async fn the_python_package() {
    let mut client = Command::new(named("PILOTHOUSE_TEST_PYTHON"));
    client.arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/clients/python/client.py"));
    assert_eq!(
        steps_of(client).await,
        ["watch until it runs", "patches", "log", "delete", "pages", "custom objects"]
    );
}
