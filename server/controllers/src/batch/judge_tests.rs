//! Tests of the judge: every way in which a target may have changed since it was frozen.

use super::*;
use crds::pilothouse::FieldChange;

fn server(spec: Value) -> SlimGameServer {
    serde_json::from_value(json!({
        "apiVersion": "game.kruise.io/v1alpha1", "kind": "GameServer",
        "metadata": { "name": "mc-0", "namespace": "default", "uid": "u1", "resourceVersion": "7" },
        "spec": spec,
    }))
    .unwrap()
}

fn field(field: TargetField, container: Option<&str>, old: Value, new: Value) -> FieldChange {
    let some = |v: Value| if v.is_null() { None } else { Some(v) };
    FieldChange { field, container: container.map(str::to_owned), old: some(old), new: some(new) }
}

fn target(fields: Vec<FieldChange>) -> FrozenTarget {
    FrozenTarget { key: "kruise/default/mc-0".into(), uid: "u1".into(), fields, ..Default::default() }
}

fn ops(old: Value, new: &str) -> FrozenTarget {
    target(vec![field(TargetField::OpsState, None, old, new.into())])
}

fn verdict(server: &SlimGameServer, target: &FrozenTarget, in_use: bool) -> Judgement {
    judge(Some(Current { server, in_use, live: &[] }), target, Allow::default(), false)
}

fn outcome(judgement: &Judgement) -> Option<Outcome> {
    match judgement {
        Judgement::Done(outcome, _) => Some(*outcome),
        Judgement::Write(_) => None,
    }
}

#[test]
fn the_old_value_is_tested_in_the_same_request() {
    let judged = verdict(&server(json!({ "opsState": "None" })), &ops("None".into(), "Maintaining"), false);
    let expected = json!([
        { "op": "test", "path": "/metadata/uid", "value": "u1" },
        { "op": "test", "path": "/spec/opsState", "value": "None" },
        { "op": "replace", "path": "/spec/opsState", "value": "Maintaining" },
    ]);
    assert_eq!(judged, Judgement::Write(Guarded::Json(expected)));
}

#[test]
fn an_absent_old_value_is_guarded_by_the_version() {
    let judged = verdict(&server(json!({})), &ops(Value::Null, "Maintaining"), false);
    let expected = json!({
        "metadata": { "uid": "u1", "resourceVersion": "7" },
        "spec": { "opsState": "Maintaining" },
    });
    assert_eq!(judged, Judgement::Write(Guarded::Merge(expected)));
}

#[test]
fn gone_replaced_changed_and_already_set_are_told_apart() {
    let target = ops("None".into(), "Maintaining");
    assert_eq!(judge(None, &target, Allow::default(), false), Judgement::Done(Outcome::NotFound, None));
    let mut other = server(json!({ "opsState": "None" }));
    other.metadata.uid = Some("u2".into());
    assert_eq!(outcome(&verdict(&other, &target, false)), Some(Outcome::Replaced));
    let changed = server(json!({ "opsState": "Allocated" }));
    assert_eq!(
        verdict(&changed, &target, false),
        Judgement::Done(Outcome::Conflict, Some("opsState is Allocated, was None".into()))
    );
    let set = server(json!({ "opsState": "Maintaining" }));
    assert_eq!(outcome(&verdict(&set, &target, false)), Some(Outcome::Unchanged));
    let resumed =
        judge(Some(Current { server: &set, in_use: false, live: &[] }), &target, Allow::default(), true);
    assert_eq!(outcome(&resumed), Some(Outcome::Changed));
}

#[test]
fn a_server_that_came_into_use_meanwhile_is_not_killed() {
    let server = server(json!({ "opsState": "None" }));
    let kill = ops("None".into(), "Kill");
    assert_eq!(outcome(&verdict(&server, &kill, true)), Some(Outcome::LeftOut));
    assert_eq!(outcome(&verdict(&server, &ops("None".into(), "Maintaining"), true)), None);
    let allow = Allow { kill_in_use: true, restart_in_use: false };
    assert_eq!(
        outcome(&judge(Some(Current { server: &server, in_use: true, live: &[] }), &kill, allow, false)),
        None
    );
}

#[test]
fn an_image_of_a_server_in_use_is_written_only_when_nothing_restarts() {
    let server = server(json!({}));
    let image = target(vec![field(TargetField::Image, Some("game"), Value::Null, "mc:2".into())]);
    let judged = |live: &str| {
        let live = [("game".to_owned(), live.to_owned())];
        let current = Current { server: &server, in_use: true, live: &live };
        outcome(&judge(Some(current), &image, Allow::default(), false))
    };
    assert_eq!(judged("mc:1"), Some(Outcome::LeftOut));
    assert_eq!(judged("mc:2"), None);
}

#[test]
fn an_image_keeps_its_neighbours() {
    let server = server(json!({ "containers": [
        { "name": "side", "image": "s:1" },
        { "name": "game", "resources": { "limits": { "cpu": "1" } } },
    ] }));
    let image = target(vec![field(TargetField::Image, Some("game"), Value::Null, "mc:2".into())]);
    let Judgement::Write(Guarded::Merge(patch)) = verdict(&server, &image, false) else {
        panic!("no merge patch")
    };
    assert_eq!(
        patch["spec"]["containers"],
        json!([
            { "name": "side", "image": "s:1" },
            { "name": "game", "image": "mc:2", "resources": { "limits": { "cpu": "1" } } },
        ])
    );
    let own = target(vec![field(TargetField::Image, Some("side"), "s:1".into(), "s:2".into())]);
    let Judgement::Write(Guarded::Json(patch)) = verdict(&server, &own, false) else {
        panic!("no JSON patch")
    };
    assert_eq!(patch[1], json!({ "op": "test", "path": "/spec/containers/0/name", "value": "side" }));
    assert_eq!(patch[3], json!({ "op": "replace", "path": "/spec/containers/0/image", "value": "s:2" }));
}

#[test]
fn a_priority_is_the_same_as_number_and_as_text() {
    let target = target(vec![field(TargetField::DeletionPriority, None, 0.into(), 10.into())]);
    let judged = verdict(&server(json!({ "deletionPriority": "0" })), &target, false);
    let Judgement::Write(Guarded::Json(patch)) = judged else { panic!("no JSON patch") };
    assert_eq!(patch[1], json!({ "op": "test", "path": "/spec/deletionPriority", "value": "0" }));
    assert_eq!(patch[2], json!({ "op": "replace", "path": "/spec/deletionPriority", "value": 10 }));
}

#[test]
fn answers_of_the_api_are_sorted() {
    let api = |code: u16| {
        let status = kube::core::Status { code, message: "said".into(), ..Default::default() };
        refusal(&kube::Error::Api(Box::new(status)))
    };
    assert_eq!(api(403), Refusal::Final(Outcome::Forbidden, Some("said".into())));
    assert_eq!(api(404), Refusal::Final(Outcome::NotFound, None));
    assert_eq!(api(409), Refusal::Reread { invalid: false, message: "said".into() });
    assert_eq!(api(422), Refusal::Reread { invalid: true, message: "said".into() });
    assert_eq!(api(429), Refusal::Later("said".into()));
    assert_eq!(api(503), Refusal::Later("said".into()));
    assert_eq!(api(400), Refusal::Final(Outcome::Error, Some("said".into())));
}
