//! The real kubectl against a sandbox over TLS, and objects to try it with.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::process::{Output, Stdio};
use std::time::Duration;

use sandbox::api::{Serving, serve};
use tokio::io::AsyncWriteExt;
use tokio::process::Command;

/// The kubectl to use: named by the environment, else the installed one.
fn kubectl() -> Option<String> {
    let named = std::env::var("PILOTHOUSE_KUBECTL").ok().filter(|path| !path.is_empty());
    let found = named.or_else(|| {
        let paths = std::env::var_os("PATH")?;
        std::env::split_paths(&paths)
            .map(|dir| dir.join("kubectl"))
            .find(|p| p.is_file())
            .map(|p| p.display().to_string())
    });
    if found.is_none() {
        eprintln!("SKIPPED: no kubectl found; set PILOTHOUSE_KUBECTL or run `./dev cluster up` once");
    }
    found
}

/// A sandbox on loopback and a kubectl for it.
pub struct World {
    kubectl: String,
    directory: tempfile::TempDir,
    _serving: Serving,
}

impl World {
    pub async fn new() -> Option<Self> {
        let kubectl = kubectl()?;
        let serving = serve(&super::server().0, "127.0.0.1:0".parse().unwrap()).await.unwrap();
        let directory = tempfile::tempdir().unwrap();
        std::fs::write(directory.path().join("config"), &serving.kubeconfig).unwrap();
        Some(Self { kubectl, directory, _serving: serving })
    }

    pub fn command(&self, arguments: &str) -> Command {
        let mut command = Command::new(&self.kubectl);
        command.args(arguments.split_whitespace()).env("KUBECONFIG", self.directory.path().join("config"));
        // Discovery is cached on disk; nothing of another run may be seen.
        command.env("KUBECACHEDIR", self.directory.path().join("cache")).env("HOME", self.directory.path());
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
        command
    }

    pub async fn output(&self, arguments: &str, input: &str) -> Output {
        let mut child = self.command(arguments).spawn().unwrap();
        let mut stdin = child.stdin.take().unwrap();
        stdin.write_all(input.as_bytes()).await.unwrap();
        drop(stdin);
        tokio::time::timeout(Duration::from_secs(120), child.wait_with_output())
            .await
            .expect("kubectl ends")
            .unwrap()
    }

    /// Runs kubectl and returns what it prints; it must succeed.
    pub async fn run(&self, arguments: &str, input: &str) -> String {
        let output = self.output(arguments, input).await;
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "kubectl {arguments}: {errors}");
        assert!(!errors.contains("Error") && !errors.contains("panic"), "kubectl {arguments}: {errors}");
        String::from_utf8(output.stdout).unwrap()
    }

    /// Runs kubectl, which must fail; returns its errors.
    pub async fn fail(&self, arguments: &str, input: &str) -> String {
        let output = self.output(arguments, input).await;
        assert!(
            !output.status.success(),
            "kubectl {arguments} should fail: {}",
            String::from_utf8_lossy(&output.stdout)
        );
        String::from_utf8(output.stderr).unwrap()
    }
}

pub const GAMESERVER: &str = "
apiVersion: game.example.com/v1
kind: GameServer
metadata: { name: a, labels: { l: '1' } }
spec:
  replicas: 2
  opsState: None
  containers: [{ name: game, image: 'i:1' }]
";

pub const POD: &str = "
apiVersion: v1
kind: Pod
metadata: { name: p }
spec:
  containers:
  - { name: game, image: 'i:1', ports: [{ containerPort: 80 }], env: [{ name: A, value: '1' }] }
  - { name: side, image: 's:1' }
";

pub const NODE: &str = "
apiVersion: v1
kind: Node
metadata: { name: n1 }
status: { conditions: [{ type: Ready, status: 'True' }] }
";

pub const EVENT: &str = "
apiVersion: v1
kind: Event
metadata: { name: e }
involvedObject: { apiVersion: v1, kind: Pod, name: p, namespace: default }
reason: Started
message: hello
type: Normal
lastTimestamp: '2026-01-01T00:00:00Z'
";

/// A world that knows a custom kind.
pub async fn world_with_kind() -> Option<World> {
    let world = World::new().await?;
    world.run("apply -f -", &serde_json::to_string(&super::crd()).unwrap()).await;
    world.run("wait --for=condition=established crd/gameservers.game.example.com --timeout=20s", "").await;
    Some(world)
}
