//! Random sequences of requests on both servers: every answer must agree, and so must what is there at the end.
//!
//! A sequence is a pure function of its seed. It ends at its first difference, so what is printed is the shortest failing prefix,
//! reduced to the steps about the object in question.
use std::collections::BTreeMap;

use kube::Client;
use rand::rngs::StdRng;
use rand::seq::IndexedRandom;
use rand::{Rng, SeedableRng};
use serde_json::{Value, json};

use crate::compare::differences;
use crate::exchange::{self, send, shown};
use crate::mask::Mask;
use crate::steps::Step;

/// How many steps a sequence has: long enough that objects live through a dozen changes.
const LENGTH: usize = 100;

/// What the sequences came to.
pub struct Told {
    /// Steps that agreed.
    pub steps: usize,
    /// The sequences that differ, by seed, in words.
    pub differ: BTreeMap<u64, String>,
}

/// Runs `steps` steps in sequences with the seeds 1, 2, 3 and so on, or only the one given.
pub async fn compare(real: &Client, sandbox: &Client, steps: usize, only: Option<u64>) -> Told {
    let seeds: Vec<u64> = match only {
        Some(seed) => vec![seed],
        None => (1..=(steps / LENGTH) as u64).collect(),
    };
    let unique = exchange::unique();
    for client in [real, sandbox] {
        define(client, &unique).await;
    }
    let mut told = Told { steps: 0, differ: BTreeMap::new() };
    for seed in seeds {
        match sequence(real, sandbox, seed, &unique).await {
            Ok(steps) => told.steps += steps,
            Err(words) => drop(told.differ.insert(seed, words)),
        }
    }
    exchange::clean_up(real, "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", &unique).await;
    told
}

async fn sequence(real: &Client, sandbox: &Client, seed: u64, unique: &str) -> Result<usize, String> {
    let namespace = format!("random-{seed}-{unique}");
    let mask = Mask::new(unique);
    for client in [real, sandbox] {
        exchange::make_namespace(client, &namespace).await;
    }
    let mut steps = Generator { random: StdRng::seed_from_u64(seed) }.steps();
    for kind in KINDS {
        steps.push(Step { request: format!("GET {}", kind.list), ..Step::default() });
    }
    // The version that each server last told about an object, for writes that insist on one.
    let mut versions = [String::new(), String::new()];
    for (i, step) in steps.iter().enumerate() {
        let mut both = Vec::new();
        for (client, version) in [real, sandbox].into_iter().zip(&mut versions) {
            let fill =
                |text: &str| text.replace("{ns}", &namespace).replace("{x}", unique).replace("{rv}", version);
            let answer = send(client, step, &fill).await;
            if let Some(found) = answer.body.pointer("/metadata/resourceVersion").and_then(Value::as_str) {
                found.clone_into(version);
            }
            both.push(shown(step, answer, &mask));
        }
        let mut out = Vec::new();
        differences("", &both[0], &both[1], &mut out);
        if !out.is_empty() {
            let about = step.request.split(['?', ' ']).nth(1).unwrap_or_default();
            let trace: Vec<String> = steps[..=i]
                .iter()
                .filter(|s| {
                    s.request.contains(about)
                        || about.contains(s.request.split(['?', ' ']).nth(1).unwrap_or("-"))
                })
                .map(|s| format!("    {} [{}] {}", s.request, s.r#type, s.body))
                .collect();
            return Err(format!(
                "PILOTHOUSE_SEED={seed} differs at step {i}: {}\n{}\n  steps about it:\n{}",
                step.request,
                out.join("\n"),
                trace.join("\n")
            ));
        }
    }
    Ok(steps.len())
}

/// The custom kind of the sequences, with what a schema can say, rules included.
async fn define(client: &Client, unique: &str) {
    let container = json!({"type": "object", "required": ["name"], "properties": {
        "name": {"type": "string"}, "image": {"type": "string"}, "n": {"type": "integer",
            "x-kubernetes-validations": [{"rule": "self >= oldSelf", "message": "n must not sink"}]}}});
    let spec = json!({"type": "object", "required": ["replicas"],
        "x-kubernetes-validations": [
            {"rule": "!has(self.high) || self.replicas <= self.high", "messageExpression": "'too many in ' + (has(self.state) ? self.state : 'no state')", "fieldPath": ".replicas"},
            {"rule": "!has(oldSelf.state) || has(self.state)", "message": "state must stay", "reason": "FieldValueRequired", "fieldPath": ".state"}],
        "properties": {
            "replicas": {"type": "integer", "minimum": 0, "maximum": 10},
            "high": {"type": "integer"},
            "state": {"type": "string", "enum": ["A", "B", "C"]},
            "port": {"x-kubernetes-int-or-string": true},
            "nested": {"type": "object", "default": {}, "properties": {"deep": {"type": "string", "default": "x"}}},
            "free": {"type": "object", "x-kubernetes-preserve-unknown-fields": true},
            "map": {"type": "object", "additionalProperties": {"type": "integer", "x-kubernetes-validations": [{"rule": "self < 5"}]}},
            "set": {"type": "array", "maxItems": 4, "x-kubernetes-list-type": "set", "items": {"type": "string"}},
            "list": {"type": "array", "items": {"type": "integer"}},
            "containers": {"type": "array", "maxItems": 5, "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"], "items": container}}});
    let status = json!({"type": "object", "properties": {"state": {"type": "string"}, "replicas": {"type": "integer"}}});
    let group = format!("r{unique}.example.com");
    let crd = json!({"metadata": {"name": format!("things.{group}")}, "spec": {
        "group": group, "scope": "Namespaced", "names": {"plural": "things", "kind": "Thing"},
        "versions": [{"name": "v1", "served": true, "storage": true,
            "subresources": {"status": {}, "scale": {"specReplicasPath": ".spec.replicas", "statusReplicasPath": ".status.replicas"}},
            "selectableFields": [{"jsonPath": ".spec.state"}],
            "schema": {"openAPIV3Schema": {"type": "object", "properties": {"spec": spec, "status": status}}}}]}});
    let path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
    let step = Step { request: format!("POST {path}"), body: crd, ..Step::default() };
    let answer = send(client, &step, &str::to_owned).await;
    assert_eq!(answer.code, 201, "{}", answer.body);
    let probe = Step { request: format!("GET /apis/{group}/v1/things"), ..Step::default() };
    for _ in 0..200 {
        if send(client, &probe, &str::to_owned).await.code == 200 {
            return;
        }
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    }
    panic!("the custom kind is not served");
}

struct Kind {
    list: &'static str,
    api_version: &'static str,
    kind: &'static str,
}

const KINDS: [Kind; 3] = [
    Kind { list: "/api/v1/namespaces/{ns}/configmaps", api_version: "v1", kind: "ConfigMap" },
    Kind { list: "/api/v1/namespaces/{ns}/pods", api_version: "v1", kind: "Pod" },
    Kind {
        list: "/apis/r{x}.example.com/v1/namespaces/{ns}/things",
        api_version: "r{x}.example.com/v1",
        kind: "Thing",
    },
];

struct Generator {
    random: StdRng,
}

impl Generator {
    fn steps(&mut self) -> Vec<Step> {
        (0..LENGTH).map(|_| self.step()).collect()
    }

    fn below(&mut self, n: u32) -> u32 {
        self.random.random_range(0..n)
    }

    fn often(&mut self, percent: u32) -> bool {
        self.below(100) < percent
    }

    fn pick(&mut self, from: &[&str]) -> String {
        from.choose(&mut self.random).map_or_else(String::new, |text| (*text).to_owned())
    }

    fn step(&mut self) -> Step {
        let kind = &KINDS[self.below(3) as usize];
        let name = self.pick(&["a", "b", "c"]);
        let one = format!("{}/{name}", kind.list);
        let dry = if self.often(8) { "dryRun=All" } else { "" };
        let step = |verb: &str, path: &str, query: &[&str], r#type: &str, body: Value| {
            let query: Vec<&str> = query.iter().copied().filter(|q| !q.is_empty()).collect();
            let query = if query.is_empty() { String::new() } else { format!("?{}", query.join("&")) };
            Step { request: format!("{verb} {path}{query}"), r#type: r#type.into(), body, ..Step::default() }
        };
        match self.below(100) {
            0..=27 => {
                let body = self.object(kind, &name);
                step("POST", kind.list, &[dry], "", body)
            }
            28..=42 => {
                let body = self.patch(kind);
                step("PATCH", &one, &[dry], "merge", body)
            }
            43..=49 => {
                let body = self.operations();
                step("PATCH", &one, &[dry], "json-patch", body)
            }
            50..=55 => {
                let body = self.patch(kind);
                step("PATCH", &one, &[dry], "strategic", body)
            }
            56..=71 => {
                let manager = self.pick(&["fieldManager=one", "fieldManager=two"]);
                let force = if self.often(40) { "force=true" } else { "" };
                let body = self.object(kind, &name);
                step("PATCH", &one, &[&manager, force, dry], "apply", body)
            }
            72..=79 => {
                let mut body = self.object(kind, &name);
                if self.often(60) {
                    body["metadata"]["resourceVersion"] = "{rv}".into();
                }
                step("PUT", &one, &[dry], "", body)
            }
            80..=85 => {
                let policy = self.pick(&[
                    "",
                    "",
                    "propagationPolicy=Foreground",
                    "propagationPolicy=Orphan",
                    "propagationPolicy=Background",
                ]);
                step("DELETE", &one, &[&policy, dry], "", Value::Null)
            }
            86..=90 => {
                let body = json!({"status": self.status(kind), "metadata": {"labels": self.labels()}});
                step("PATCH", &format!("{one}/status"), &[dry], "merge", body)
            }
            91..=92 => {
                let body = json!({"spec": {"replicas": self.below(12)}});
                step("PATCH", &format!("{one}/scale"), &[dry], "merge", body)
            }
            93..=95 => step("GET", &one, &[], "", Value::Null),
            96..=98 => {
                let selector = self.pick(&[
                    "labelSelector=l1",
                    "labelSelector=l1%3Dv0",
                    "labelSelector=l1%20in%20(v0,v1),!l2",
                    "labelSelector=l2!%3Dv1",
                    "fieldSelector=metadata.name%3Da",
                    "limit=1",
                    "",
                ]);
                step("GET", kind.list, &[&selector], "", Value::Null)
            }
            _ => step("DELETE", kind.list, &["labelSelector=l1%3Dv0", dry], "", Value::Null),
        }
    }

    fn word(&mut self) -> Value {
        json!(format!("v{}", self.below(3)))
    }

    fn labels(&mut self) -> Value {
        let mut labels = json!({});
        for key in ["l1", "l2"] {
            if self.often(40) {
                labels[key] = self.word();
            }
        }
        labels
    }

    fn metadata(&mut self) -> Value {
        let mut metadata = json!({});
        if self.often(60) {
            metadata["labels"] = self.labels();
        }
        if self.often(20) {
            metadata["annotations"] = json!({"a": self.word()});
        }
        if self.often(6) {
            metadata["finalizers"] = json!([self.pick(&["x.example.com/f", "x.example.com/g"])]);
        }
        if self.often(4) {
            metadata["ownerReferences"] =
                json!([{"apiVersion": "v1", "kind": "ConfigMap", "name": "o", "uid": "u"}]);
        }
        metadata
    }

    fn object(&mut self, kind: &Kind, name: &str) -> Value {
        let mut object = self.content(kind);
        object["apiVersion"] = kind.api_version.into();
        object["kind"] = kind.kind.into();
        object["metadata"] = self.metadata();
        object["metadata"]["name"] = name.into();
        object
    }

    fn content(&mut self, kind: &Kind) -> Value {
        match kind.kind {
            "ConfigMap" => self.config(),
            "Pod" => self.pod(),
            _ => self.thing(),
        }
    }

    /// A part of an object, with nulls.
    fn patch(&mut self, kind: &Kind) -> Value {
        let mut patch = self.content(kind);
        if self.often(60) {
            patch["metadata"] = self.metadata();
        }
        if let Some(metadata) = patch.get_mut("metadata").and_then(Value::as_object_mut)
            && self.below(100) < 20
        {
            let key = self.pick(&["labels", "annotations", "finalizers"]);
            metadata.insert(key, Value::Null);
        }
        for part in ["data", "spec"] {
            let keys: Vec<String> = patch
                .get(part)
                .and_then(Value::as_object)
                .map(|m| m.keys().cloned().collect())
                .unwrap_or_default();
            for key in keys {
                if self.often(25) {
                    patch[part][key] = Value::Null;
                } else if self.often(40) {
                    patch[part].as_object_mut().unwrap().remove(&key);
                }
            }
        }
        patch
    }

    fn operations(&mut self) -> Value {
        let mut operations = Vec::new();
        for _ in 0..=self.below(2) {
            let path = self.pick(&[
                "/data/k1",
                "/data",
                "/metadata/labels/l1",
                "/metadata/labels",
                "/spec/replicas",
                "/spec/containers/0/image",
                "/spec/set/-",
                "/spec/list/0",
                "/spec/map",
                "/spec/state",
            ]);
            let op = self.pick(&["add", "replace", "remove", "test"]);
            let value = match path.as_str() {
                "/data" => json!({"k1": self.word()}),
                "/metadata/labels" => self.labels(),
                "/spec/replicas" | "/spec/list/0" => json!(self.below(12)),
                "/spec/map" => json!({"m": self.below(7)}),
                "/spec/state" => json!("A"),
                _ => self.word(),
            };
            operations.push(if op == "remove" {
                json!({"op": op, "path": path})
            } else {
                json!({"op": op, "path": path, "value": value})
            });
        }
        json!(operations)
    }

    fn config(&mut self) -> Value {
        let mut data = json!({});
        for key in ["k1", "k2", "k3"] {
            if self.often(50) {
                data[key] = self.word();
            }
        }
        let mut object = json!({});
        // Who owns a map that is applied empty is the one thing of server-side apply that differs (docs/sandbox.md).
        if data != json!({}) {
            object["data"] = data;
        }
        if self.often(4) {
            object["immutable"] = true.into();
        }
        if self.often(3) {
            object["unknown"] = self.word();
        }
        object
    }

    fn pod(&mut self) -> Value {
        let mut container = json!({"name": "main", "image": format!("i:{}", self.below(3))});
        if self.often(20) {
            container["env"] = json!([{"name": "A", "value": self.word()}]);
        }
        if self.often(20) {
            container["resources"] = json!({"requests": {"cpu": self.pick(&["100m", "0.5", "1"])}});
        }
        if self.often(15) {
            container["ports"] = json!([{"containerPort": 80 + self.below(2)}]);
        }
        let mut containers = vec![container];
        if self.often(15) {
            containers.push(json!({"name": self.pick(&["side", "main", "Bad"]), "image": "s"}));
        }
        let mut spec = json!({"containers": containers});
        if self.often(10) {
            spec["activeDeadlineSeconds"] = json!(self.below(3) * 100);
        }
        if self.often(10) {
            spec["tolerations"] = json!([{"key": self.pick(&["t1", "t2"]), "operator": "Exists"}]);
        }
        if self.often(8) {
            spec["terminationGracePeriodSeconds"] = json!(self.below(3));
        }
        json!({"spec": spec})
    }

    fn thing(&mut self) -> Value {
        let mut spec = json!({"replicas": self.below(12)});
        if self.often(30) {
            spec["high"] = json!(self.below(10));
        }
        if self.often(40) {
            spec["state"] = self.pick(&["A", "B", "C", "D"]).into();
        }
        if self.often(20) {
            spec["port"] = if self.often(50) { json!(self.below(9)) } else { self.word() };
        }
        if self.often(15) {
            spec["nested"] = if self.often(50) { json!({"deep": self.word()}) } else { json!({"more": 1}) };
        }
        if self.often(15) {
            spec["free"] = json!({"x": {"y": self.below(3)}});
        }
        if self.often(30) {
            spec["map"] = json!({self.pick(&["m", "n"]): self.below(6)});
        }
        if self.often(30) {
            spec["set"] = json!([self.word(), "v9"]);
        }
        if self.often(20) {
            spec["list"] = json!([self.below(3), self.below(3)]);
        }
        if self.often(40) {
            let mut containers = vec![json!({"name": "a", "n": self.below(4)})];
            if self.often(50) {
                containers.push(json!({"name": self.pick(&["b", "c", "a"]), "image": self.word()}));
            }
            spec["containers"] = json!(containers);
        }
        if self.often(5) {
            spec["replicas"] = "many".into();
        }
        json!({"spec": spec})
    }

    fn status(&mut self, kind: &Kind) -> Value {
        match kind.kind {
            "Pod" => {
                json!({"phase": self.pick(&["Pending", "Running"]), "conditions": [{"type": "Ready", "status": self.pick(&["True", "False"])}]})
            }
            _ => json!({"state": self.word(), "replicas": self.below(5)}),
        }
    }
}
