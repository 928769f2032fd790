//! Each invariant against handmade histories that break it, and against the nearest ones that do not.

use super::{edits, ids, lease, removal, reserve};
use crate::facts::{LEASES, NAMESPACE, PODS, SERVERS, SETS};
use sandbox::sim::{
    Broken, Entry, Writer,
    history::{History, View},
};
use serde_json::{Value, json};
use std::{sync::Arc, time::Duration};

/// A history that is written line by line.
#[derive(Default)]
struct Story {
    history: History,
    revision: u64,
    /// What the process has received, when not everything.
    seen: Option<u64>,
    at: Duration,
}

impl Story {
    fn write(&mut self, writer: &str, resource: &str, name: &str, after: Option<Value>) -> Entry {
        let everything = self.seen.unwrap_or(self.revision);
        self.revision += 1;
        let (writer, view) = match writer {
            "user" => (Writer::User, None),
            "cluster" => (Writer::Cluster, None),
            process => {
                let view = View::with(&[PODS, SERVERS, SETS].map(|kind| (kind, everything)), self.at);
                (Writer::Process(process.to_owned()), Some(view))
            }
        };
        let before = self.history.get(resource, NAMESPACE, name);
        let entry = Entry {
            revision: self.revision,
            at: self.at,
            verb: if before.is_none() { "create" } else { "patch" }.to_owned(),
            resource: resource.to_owned(),
            namespace: NAMESPACE.to_owned(),
            name: name.to_owned(),
            before,
            after: after.map(Arc::new),
            writer,
            view,
        };
        self.history.record(&entry);
        entry
    }

    fn set(&mut self, writer: &str, spec: Value, status: Value) -> Entry {
        let set = json!({ "metadata": { "name": "g", "uid": "set", "generation": 1 }, "spec": spec, "status": status });
        self.write(writer, SETS, "g", Some(set))
    }

    fn server(&mut self, writer: &str, name: &str, ops: &str) -> Entry {
        self.write(writer, SERVERS, name, Some(server(name, ops)))
    }

    /// A pod with its GameServer.
    fn pod(&mut self, name: &str, ops: &str) -> Entry {
        let pod = self.write("p", PODS, name, Some(pod(name)));
        self.server("p", name, ops);
        pod
    }

    fn delete_pod(&mut self, name: &str) -> Entry {
        self.write("p", PODS, name, None)
    }
}

fn pod(name: &str) -> Value {
    json!({
        "metadata": {
            "name": name, "uid": format!("pod-{name}"), "labels": { "game.kruise.io/owner-gss": "g" },
            "ownerReferences": [{ "uid": "set", "controller": true }],
        },
        "status": { "phase": "Running" },
    })
}

fn server(name: &str, ops: &str) -> Value {
    json!({
        "metadata": {
            "name": name, "labels": { "game.kruise.io/owner-gss": "g" },
            "ownerReferences": [{ "uid": format!("pod-{name}"), "controller": true }],
        },
        "spec": { "opsState": ops, "deletionPriority": 0 },
    })
}

fn acted(replicas: u32, implicit: &[u32]) -> Value {
    json!({ "actedReplicas": replicas, "implicitReserveIds": implicit, "observedGeneration": 1 })
}

fn breaks(result: Result<(), Broken>, invariant: &str) {
    assert_eq!(result.unwrap_err().invariant, invariant);
}

/// Three servers, and the decision that the one with `gone` goes.
fn three(ops: [&str; 3], gone: u32) -> Story {
    let mut story = Story::default();
    for (id, ops) in ops.into_iter().enumerate() {
        story.pod(&format!("g-{id}"), ops);
    }
    story.set("user", json!({ "replicas": 2 }), acted(2, &[gone]));
    story
}

#[test]
fn a_server_may_not_go_before_one_that_is_ranked_earlier() {
    for (ops, gone, fine) in [
        (["None", "None", "None"], 2, true),
        (["None", "None", "None"], 0, false),
        (["None", "None", "Allocated"], 2, false),
        (["None", "None", "Allocated"], 1, true),
        (["WaitToBeDeleted", "None", "None"], 2, false),
        (["Maintaining", "Allocated", "Allocated"], 2, true),
        (["Maintaining", "Allocated", "Allocated"], 0, false),
        (["Kill", "None", "None"], 0, true),
    ] {
        let mut story = three(ops, gone);
        let entry = story.delete_pod(&format!("g-{gone}"));
        let result = removal::check(&story.history, &entry);
        assert_eq!(result.is_ok(), fine, "{ops:?} {gone}: {result:?}");
    }
}

#[test]
fn without_a_decision_in_the_status_no_server_may_go() {
    let mut story = three(["None"; 3], 2);
    let entry = story.delete_pod("g-1");
    breaks(removal::check(&story.history, &entry), removal::NAME);
}

#[test]
fn a_reserved_id_and_a_pod_that_ended_may_go_whatever_their_rank() {
    let mut story = three(["Allocated", "None", "None"], 2);
    story.set("user", json!({ "replicas": 2, "reserveGameServerIds": [0] }), acted(2, &[]));
    let entry = story.delete_pod("g-0");
    assert_eq!(removal::check(&story.history, &entry), Ok(()));

    let mut story = three(["None", "None", "None"], 2);
    let mut ended = pod("g-0");
    ended["status"]["phase"] = "Failed".into();
    story.write("cluster", PODS, "g-0", Some(ended));
    let entry = story.delete_pod("g-0");
    assert_eq!(removal::check(&story.history, &entry), Ok(()));
}

#[test]
fn who_could_not_know_is_not_blamed() {
    // Decided while server 1 was None; it is made Allocated before its pod is deleted.
    let mut story = three(["None", "None", "Allocated"], 1);
    let known = story.revision;
    story.server("user", "g-1", "Allocated");
    story.server("user", "g-0", "None");
    story.seen = Some(known);
    let entry = story.delete_pod("g-1");
    assert_eq!(removal::check(&story.history, &entry), Ok(()));
    // The same by a process that had been told.
    let mut story = three(["None", "None", "Allocated"], 1);
    story.server("user", "g-1", "Maintaining");
    let entry = story.delete_pod("g-1");
    breaks(removal::check(&story.history, &entry), removal::NAME);
}

#[test]
fn waiting_for_a_hook_is_being_removed() {
    let mut story = three(["None"; 3], 0);
    let mut held = pod("g-0");
    held["metadata"]["labels"]["lifecycle.apps.kruise.io/state"] = "PreparingDelete".into();
    let entry = story.write("p", PODS, "g-0", Some(held));
    breaks(removal::check(&story.history, &entry), removal::NAME);
}

#[test]
fn an_id_may_not_be_live_and_reserved_when_the_status_is_up_to_date() {
    let mut story = three(["None"; 3], 2);
    let reserving = json!({ "replicas": 2, "reserveGameServerIds": ["1-2"] });
    let mut status = acted(2, &[]);
    status["observedGeneration"] = 0.into();
    let entry = story.set("user", reserving.clone(), status);
    assert_eq!(reserve::check(&story.history, &entry), Ok(()));
    let entry = story.set("p", reserving, acted(2, &[]));
    breaks(reserve::check(&story.history, &entry), reserve::NAME);
    story.delete_pod("g-2");
    let entry = story.delete_pod("g-1");
    assert_eq!(reserve::check(&story.history, &entry), Ok(()));
    let entry = story.pod("g-1", "None");
    breaks(reserve::check(&story.history, &entry), reserve::NAME);
}

#[test]
fn an_id_may_be_used_once() {
    let mut story = three(["None"; 3], 2);
    let entry = story.pod("g-01", "None");
    breaks(ids::check(&story.history, &entry), ids::NAME);
    let mut story = three(["None"; 3], 2);
    let entry = story.pod("g-3", "None");
    assert_eq!(ids::check(&story.history, &entry), Ok(()));
}

/// What the edits' judge says to a change of the set by a process, after people set it to `before`.
fn change(ops: [&str; 3], before: Value, after: Value) -> Result<(), Broken> {
    let mut story = three(ops, 2);
    let mut judge = edits::Edits::default();
    let entry = story.set("user", before, acted(2, &[2]));
    judge.check(&story.history, &entry).unwrap();
    let entry = story.set("p", after, acted(2, &[2]));
    judge.check(&story.history, &entry)
}

#[test]
fn a_process_may_not_change_what_people_want() {
    let none = ["None"; 3];
    let spec =
        |replicas: u32, reserve: &[u32]| json!({ "replicas": replicas, "reserveGameServerIds": reserve });
    breaks(change(none, spec(2, &[]), spec(3, &[])), edits::OVERWRITTEN);
    breaks(change(none, spec(2, &[5]), spec(2, &[])), edits::OVERWRITTEN);
    assert_eq!(change(none, spec(2, &[5]), spec(2, &[2, 5])), Ok(()));
    let other = json!({ "replicas": 2, "reserveGameServerIds": [], "serviceName": "x" });
    breaks(change(none, spec(2, &[]), other), edits::OVERWRITTEN);
    breaks(change(none, spec(2, &[]), spec(1, &[])), edits::KILL);
    assert_eq!(change(["Kill", "None", "None"], spec(2, &[]), spec(1, &[])), Ok(()));
    breaks(change(["Kill", "None", "None"], spec(2, &[]), spec(0, &[])), edits::KILL);

    let mut story = three(none, 2);
    let entry = story.server("p", "g-0", "Allocated");
    breaks(edits::Edits::default().check(&story.history, &entry), edits::OVERWRITTEN);
}

#[test]
fn a_size_that_was_not_seen_may_not_be_lowered() {
    let mut story = three(["Kill", "None", "None"], 2);
    let mut judge = edits::Edits::default();
    let known = story.revision;
    let entry = story.set("user", json!({ "replicas": 5 }), acted(2, &[]));
    judge.check(&story.history, &entry).unwrap();
    story.seen = Some(known);
    let entry = story.set("p", json!({ "replicas": 4 }), acted(2, &[]));
    breaks(judge.check(&story.history, &entry), edits::OVERWRITTEN);
}

#[test]
fn a_kill_is_counted_once_until_people_ask_again() {
    let mut story = three(["Kill", "None", "None"], 2);
    let mut judge = edits::Edits::default();
    let mut say = |story: &mut Story, writer: &str, replicas: u32| {
        let entry = story.set(writer, json!({ "replicas": replicas }), acted(3, &[]));
        judge.check(&story.history, &entry)
    };
    say(&mut story, "user", 3).unwrap();
    say(&mut story, "p", 2).unwrap();
    breaks(say(&mut story, "p", 1), edits::KILL);
    say(&mut story, "user", 3).unwrap();
    assert_eq!(say(&mut story, "p", 2), Ok(()));
}

#[test]
fn settings_may_not_go_before_their_server() {
    let mut story = three(["None"; 3], 2);
    let entry = story.write("p", SERVERS, "g-0", None);
    breaks(edits::Edits::default().check(&story.history, &entry), edits::SETTINGS);
    // Of a GameServer that outlives its pod the id counts.
    for (name, fine) in [("g-0", false), ("g-2", true)] {
        let mut story = three(["None"; 3], 2);
        let mut outlives = server(name, "None");
        outlives["metadata"]["ownerReferences"][0]["uid"] = "set".into();
        story.write("p", SERVERS, name, Some(outlives));
        story.delete_pod(name);
        let entry = story.write("p", SERVERS, name, None);
        assert_eq!(edits::Edits::default().check(&story.history, &entry).is_ok(), fine, "{name}");
    }
}

#[test]
fn only_the_holder_of_the_lease_may_write_and_only_in_time() {
    let mut story = three(["None"; 3], 2);
    let mut judge = lease::LeaseHolder::default();
    let renew = |story: &mut Story, judge: &mut lease::LeaseHolder, holder: &str| {
        let lease = json!({ "spec": { "holderIdentity": holder } });
        let entry = story.write(holder, LEASES, lease::LEASE, Some(lease));
        judge.check(&story.history, &entry).unwrap();
    };
    renew(&mut story, &mut judge, "p");
    story.at = Duration::from_secs(9);
    let entry = story.delete_pod("g-2");
    assert_eq!(judge.check(&story.history, &entry), Ok(()));
    story.at = Duration::from_secs(11);
    let mut entry = story.delete_pod("g-1");
    breaks(judge.check(&story.history, &entry), lease::NAME);
    // What a stalled process held back is not the lease's fault.
    entry.view.as_mut().unwrap().late = true;
    assert_eq!(judge.check(&story.history, &entry), Ok(()));
    story.at = Duration::from_secs(20);
    renew(&mut story, &mut judge, "q");
    let entry = story.delete_pod("g-0");
    breaks(judge.check(&story.history, &entry), lease::NAME);
}
