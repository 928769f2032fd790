//! What is read is written back unchanged: upstream's manifests, and every object that the table of rules accepts.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use crds::kruise::{GameServer, GameServerSet, OpsState};
use crds::pilothouse::{BatchEdit, BatchEditProgress, BatchEditTargets};
use crds::rules::{definition, table};
use k8s_openapi::apimachinery::pkg::util::intstr::IntOrString;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

/// In the manner of upstream's own samples: a set with overrides of everything that a user can write.
const SET: &str = "
apiVersion: game.kruise.io/v1alpha1
kind: GameServerSet
metadata: { name: minecraft, namespace: default }
spec:
  replicas: 3
  serviceName: minecraft
  reserveGameServerIds: [1, 3-5]
  updateStrategy:
    rollingUpdate: { podUpdatePolicy: InPlaceIfPossible, maxUnavailable: 100%, partition: 1, paused: true, minReadySeconds: 3 }
  scaleStrategy: { scaleDownStrategyType: ReserveIds, maxUnavailable: 2 }
  network:
    networkType: Kubernetes-HostPort
    networkConf: [{ name: ContainerPorts, value: 'minecraft:25565/TCP' }]
  lifecycle: { preDelete: { labelsHandler: { a: b } } }
  persistentVolumeClaimRetentionPolicy: { whenScaled: Delete }
  gameServerTemplate:
    reclaimPolicy: Delete
    metadata: { labels: { app: minecraft } }
    spec:
      terminationGracePeriodSeconds: 5
      containers: [{ name: minecraft, image: 'minecraft:1.12.2', volumeMounts: [{ name: data, mountPath: /data }] }]
    volumeClaimTemplates: [{ metadata: { name: data }, spec: { accessModes: [ReadWriteOnce], resources: { requests: { storage: 1Gi } } } }]
  serviceQualities:
  - name: idle
    containerName: minecraft
    permanent: false
    exec: { command: [bash, ./probe.sh] }
    httpGet: { port: web, path: /x, httpHeaders: [{ name: a, value: b }] }
    serviceQualityAction:
    - { state: true, result: idle, opsState: WaitToBeDeleted, deletionPriority: '{{ .Result }}', networkDisabled: false }
";

fn round_trip<T: DeserializeOwned + Serialize>(value: &Value) -> Value {
    let typed: T = serde_json::from_value(value.clone()).unwrap_or_else(|error| panic!("{error} in {value}"));
    serde_json::to_value(typed).expect("JSON")
}

#[test]
fn an_upstream_manifest_comes_back_unchanged() {
    let written: Value = serde_yaml::from_str(SET).unwrap();
    assert_eq!(round_trip::<GameServerSet>(&written), written);
}

#[test]
fn the_fields_are_where_code_looks_for_them() {
    let set: GameServerSet = serde_yaml::from_str(SET).unwrap();
    assert_eq!(set.spec.reserve_game_server_ids, [IntOrString::Int(1), IntOrString::String("3-5".into())]);
    assert_eq!(set.spec.game_server_template.container_image("minecraft"), Some("minecraft:1.12.2"));
    let rolling = set.spec.update_strategy.unwrap().rolling_update.unwrap();
    assert_eq!(rolling.max_unavailable, Some(IntOrString::String("100%".into())));

    let server = json!({
        "metadata": { "name": "a-0" },
        "spec": { "opsState": "Allocated", "deletionPriority": 3_000_000_000_i64, "containers": [
            { "name": "main", "resources": { "limits": { "cpu": 2 } } },
        ] },
    });
    let server: GameServer = serde_json::from_value(server).unwrap();
    assert_eq!(server.spec.ops_state, Some(OpsState::Allocated));
    assert_eq!(server.spec.deletion_priority, Some(IntOrString::String("3000000000".into())));
    assert_eq!(server.spec.containers[0].resources.as_ref().unwrap().limits["cpu"].0, "2");
}

#[test]
fn whatever_the_rules_accept_the_types_read_and_write() {
    for row in table().unwrap().into_iter().filter(|row| row.refuse.is_none()) {
        let crd = definition(&row.kind).unwrap();
        let mut written = row.whole(&row.object, &crd);
        if row.kind == "GameServer" && written.get("spec").is_none() {
            // Only the slim type reads a server without a spec; the full one is for objects that we make.
            written["spec"] = json!({});
        }
        let read = match row.kind.as_str() {
            "GameServer" => round_trip::<GameServer>(&written),
            "GameServerSet" => round_trip::<GameServerSet>(&written),
            "BatchEdit" => round_trip::<BatchEdit>(&written),
            "BatchEditTargets" => round_trip::<BatchEditTargets>(&written),
            "BatchEditProgress" => round_trip::<BatchEditProgress>(&written),
            other => panic!("no type for {other}"),
        };
        assert_eq!(meaning(read), meaning(written), "{}", row.id);
    }
}

/// An object without what says nothing (null, empty, false, 0), and with numbers as text.
fn meaning(value: Value) -> Value {
    match value {
        Value::Object(fields) => {
            let kept = fields
                .into_iter()
                .map(|(key, field)| (key, meaning(field)))
                .filter(|(_, field)| !field.is_null());
            let kept: serde_json::Map<_, _> = kept.collect();
            if kept.is_empty() { Value::Null } else { Value::Object(kept) }
        }
        Value::Array(items) if items.is_empty() => Value::Null,
        Value::Array(items) => Value::Array(items.into_iter().map(meaning).collect()),
        Value::Bool(false) => Value::Null,
        Value::Number(number) if number.as_i64() == Some(0) => Value::Null,
        Value::Number(number) => Value::String(number.to_string()),
        Value::String(text) if text.is_empty() => Value::Null,
        other => other,
    }
}
