//! What somebody may get wrong before the process runs: it ends at once, with one sentence that names what is wrong and, where there
//! is one, the way out. Never a panic, never a half-started server.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::{
    net::TcpListener,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    time::{Duration, Instant},
};

/// A command that sees nothing of the machine's own clusters.
fn pilothouse(home: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_pilothouse"));
    for name in ["KUBECONFIG", "PILOTHOUSE_KUBECONFIG", "PILOTHOUSE_LISTEN", "PILOTHOUSE_SITE"] {
        command.env_remove(name);
    }
    command.env_remove("KUBERNETES_SERVICE_HOST").env("HOME", home).args(args).stdin(Stdio::null());
    command
}

/// Runs it and returns what it said; it must end by itself, with a failure.
fn refused(args: &[&str]) -> String {
    let home = tempfile::tempdir().unwrap();
    // Any free port, so that only what is under test can be wrong.
    let listen: &[&str] = if args.contains(&"--listen") { &[] } else { &["--listen", "127.0.0.1:0"] };
    let mut child = pilothouse(home.path(), &[args, listen].concat())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let begun = Instant::now();
    while child.try_wait().unwrap().is_none() {
        if begun.elapsed() > Duration::from_secs(60) {
            child.kill().unwrap();
            panic!("{args:?}: still runs after a minute");
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    let output = child.wait_with_output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(!output.status.success(), "{args:?} started: {said}");
    assert!(!said.contains("panicked"), "{args:?}: {said}");
    assert!(output.stdout.is_empty(), "{args:?} printed an address and ended: {said}");
    said
}

#[track_caller]
fn says(args: &[&str], words: &[&str]) {
    let said = refused(args);
    for word in words {
        assert!(said.contains(word), "{args:?} does not say `{word}`:\n{said}");
    }
}

/// A file of this content in a folder that ends with the test.
fn file(content: &str) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("given");
    std::fs::write(&path, content).unwrap();
    (folder, path)
}

fn kubeconfig_says(content: &str, words: &[&str]) {
    let (_folder, path) = file(content);
    let path = path.to_str().unwrap();
    says(&["--kubeconfig", path], &[&[path], words].concat());
}

#[test]
fn a_port_in_use() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    says(&["--sandbox", "--listen", &address], &["cannot listen on", &address, "--listen 127.0.0.1:0"]);
}

#[test]
fn a_port_in_use_by_the_sandbox_api() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    says(&["--sandbox", "--sandbox-port", &port], &["sandbox's API cannot listen", &port, "--sandbox-port"]);
}

#[test]
fn an_address_that_everybody_could_reach() {
    says(&["--sandbox", "--listen", "0.0.0.0:0"], &["loopback"]);
}

#[test]
fn an_address_that_is_none() {
    for odd in ["here", "127.0.0.1", ":7373", "127.0.0.1:99999", ""] {
        says(&["--sandbox", "--listen", odd], &["--listen"]);
    }
}

#[test]
fn a_flag_that_is_unknown() {
    says(&["--sandbox", "--prot", "1"], &["--prot", "--help"]);
}

#[test]
fn a_base_path_that_is_none() {
    for odd in ["a b", "/a//b", "/../x", "/a?b", "/<script>"] {
        says(&["--sandbox", "--base-path", odd], &["--base-path", "/a/b"]);
    }
}

#[test]
fn a_sandbox_and_a_real_cluster_at_once() {
    says(&["--sandbox", "--kubeconfig", "x"], &["--sandbox", "--kubeconfig"]);
}

#[test]
fn a_kubeconfig_that_is_not_there() {
    says(&["--kubeconfig", "/nowhere/kubeconfig"], &["cannot read the kubeconfig /nowhere/kubeconfig"]);
}

#[test]
fn a_kubeconfig_that_cannot_be_read() {
    // A folder: root may read any file, whatever its mode.
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().to_str().unwrap();
    says(&["--kubeconfig", path], &["cannot read the kubeconfig", path]);
}

#[test]
fn a_kubeconfig_that_is_not_yaml() {
    kubeconfig_says("{ this is : not [ yaml", &["cannot read the kubeconfig"]);
}

#[test]
fn a_kubeconfig_that_is_something_else() {
    kubeconfig_says("- just\n- a list\n", &["kubeconfig"]);
    kubeconfig_says("hello: world\n", &["is not complete"]);
    kubeconfig_says("", &["kubeconfig"]);
}

#[test]
fn a_kubeconfig_whose_context_names_nothing() {
    kubeconfig_says(
        "apiVersion: v1\nkind: Config\ncurrent-context: gone\ncontexts: []\nclusters: []\nusers: []\n",
        &["gone"],
    );
}

#[test]
fn a_context_that_the_kubeconfig_does_not_have() {
    let (_folder, path) = file(
        "apiVersion: v1\nkind: Config\ncurrent-context: a\ncontexts: [{name: a, context: {cluster: a, user: a}}]\n\
         clusters: [{name: a, cluster: {server: 'https://127.0.0.1:9'}}]\nusers: [{name: a, user: {token: x}}]\n",
    );
    says(&["--kubeconfig", path.to_str().unwrap(), "--context", "b"], &["b"]);
}

#[test]
fn a_kubeconfig_whose_server_is_no_address() {
    kubeconfig_says(
        "apiVersion: v1\nkind: Config\ncurrent-context: a\ncontexts: [{name: a, context: {cluster: a, user: a}}]\n\
         clusters: [{name: a, cluster: {server: 'not an address'}}]\nusers: [{name: a, user: {token: x}}]\n",
        &["kubeconfig"],
    );
}

#[test]
fn no_cluster_at_all() {
    says(&[], &["found no API server", "pilothouse --sandbox"]);
}

#[test]
fn namespaces_that_cannot_be() {
    for odd in ["Games", "a,,b", "a/b", ""] {
        says(&["--sandbox", "--namespaces", odd], &["--namespaces", "small letters"]);
    }
}

#[test]
fn a_world_that_is_not_there() {
    says(&["--sandbox", "--sandbox-world", "/nowhere.yaml"], &["/nowhere.yaml", "demo"]);
}

#[test]
fn a_world_that_is_not_yaml() {
    let (_folder, path) = file("kind: [");
    says(&["--sandbox", "--sandbox-world", path.to_str().unwrap()], &[path.to_str().unwrap()]);
}

#[test]
fn a_world_of_objects_that_are_refused() {
    let manifest = "apiVersion: game.kruise.io/v1alpha1\nkind: GameServerSet\nmetadata: {name: bad, namespace: default}\nspec: {replicas: many}\n";
    let (_folder, path) = file(manifest);
    says(&["--sandbox", "--sandbox-world", path.to_str().unwrap()], &["GameServerSet bad", "replicas"]);
}

#[test]
fn a_world_of_an_unknown_kind() {
    let (_folder, path) = file("apiVersion: nobody.example/v1\nkind: Thing\nmetadata: {name: x}\n");
    says(&["--sandbox", "--sandbox-world", path.to_str().unwrap()], &["Thing x"]);
}

#[test]
fn a_world_of_an_absurd_size() {
    says(&["--sandbox", "--sandbox-world", "scale:9000000"], &["200000"]);
}

#[test]
fn no_machines_at_all() {
    says(&["--sandbox", "--sandbox-nodes", "0"], &["--sandbox-nodes"]);
}

#[test]
fn players_from_nowhere_known() {
    says(&["--sandbox", "--players-from", "guess"], &["--players-from"]);
}

#[test]
fn a_place_for_the_kubeconfig_that_cannot_be_written() {
    says(&["--sandbox", "--sandbox-kubeconfig", "/proc/nobody/kubeconfig"], &["/proc/nobody/kubeconfig"]);
}

#[test]
fn numbers_that_would_stop_everything() {
    for flag in ["--workers", "--batch-workers", "--qps", "--burst"] {
        says(&["--sandbox", flag, "0"], &[flag]);
        says(&["--sandbox", flag, "many"], &[flag]);
    }
}

#[test]
fn simulated_nodes_without_a_cluster() {
    let home = tempfile::tempdir().unwrap();
    let output = pilothouse(home.path(), &["simulate-nodes"]).output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(!output.status.success() && said.contains("found no API server"), "{said}");
}
