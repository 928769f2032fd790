//! Tests of the simulated scheduler: which machine takes a pod, and what it is told when none does.

use super::{
    Arc, BTreeMap, Candidate, Decision, Demand, HashMap, Pod, Rules, SIMULATED_TAINT, refused_everywhere,
    schedule,
};
use serde_json::json;

fn machine(name: &str, pods: u64) -> Candidate {
    Candidate {
        name: name.into(),
        labels: BTreeMap::from([("zone".to_owned(), name.to_owned())]),
        size: Demand { cpu_milli: 4000, memory: 8 << 30, storage: 1 << 40, pods, ..Demand::default() },
        ..Candidate::default()
    }
}

fn pod(spec: &serde_json::Value) -> Pod {
    serde_json::from_value(json!({"metadata": {"name": "p", "namespace": "n", "uid": "u"}, "spec": spec}))
        .unwrap()
}

fn with_requests(requests: &serde_json::Value) -> Pod {
    pod(&json!({"containers": [{"name": "c", "image": "i", "resources": {"requests": requests}}]}))
}

fn all(machines: &[Candidate]) -> Vec<Arc<Candidate>> {
    machines.iter().cloned().map(Arc::new).collect()
}

fn bound(decision: Decision) -> String {
    match decision {
        Decision::Bind(name) => name,
        Decision::Unschedulable(message) => panic!("unschedulable: {message}"),
    }
}

fn refused(decision: Decision) -> String {
    match decision {
        Decision::Bind(name) => panic!("bound to {name}"),
        Decision::Unschedulable(message) => message,
    }
}

#[test]
fn pods_spread_over_machines_by_their_size() {
    let machines = [machine("a", 10), machine("b", 20)];
    let mut usage: HashMap<String, Demand> = HashMap::new();
    let mut counts: BTreeMap<String, u32> = BTreeMap::new();
    for _ in 0..30 {
        let pod = with_requests(&json!({}));
        let name = bound(schedule(&pod, &all(&machines), &usage, &Rules::default()));
        usage.entry(name.clone()).or_default().add(&Demand::of(&pod));
        *counts.entry(name).or_default() += 1;
    }
    assert_eq!(counts, BTreeMap::from([("a".into(), 10), ("b".into(), 20)]));
    assert_eq!(
        refused(schedule(&with_requests(&json!({})), &all(&machines), &usage, &Rules::default())),
        "0/2 nodes are available: 2 Too many pods. preemption: 0/2 nodes are available: \
         2 No preemption victims found for incoming pod."
    );
}

#[test]
fn requests_must_fit_into_what_is_left() {
    let machines = [machine("a", 10)];
    let used = HashMap::from([("a".to_owned(), Demand { cpu_milli: 3500, ..Demand::default() })]);
    assert_eq!(
        bound(schedule(&with_requests(&json!({"cpu": "500m"})), &all(&machines), &used, &Rules::default())),
        "a"
    );
    let message = refused(schedule(
        &with_requests(&json!({"cpu": "501m", "memory": "9Gi"})),
        &all(&machines),
        &used,
        &Rules::default(),
    ));
    assert!(
        message.starts_with("0/1 nodes are available: 1 Insufficient cpu, 1 Insufficient memory. "),
        "{message}"
    );
    let message = refused(schedule(
        &with_requests(&json!({"example.com/gpu": 1})),
        &all(&machines),
        &used,
        &Rules::default(),
    ));
    assert!(message.contains("1 Insufficient example.com/gpu"), "{message}");
}

#[test]
fn limits_stand_in_for_missing_requests_and_init_containers_for_their_peak() {
    let pod = pod(&json!({
        "containers": [{"name": "a", "resources": {"limits": {"cpu": "1", "memory": "1Gi"}}},
            {"name": "b", "resources": {"limits": {"cpu": "2"}, "requests": {"cpu": "500m"}}}],
        "initContainers": [{"name": "i", "resources": {"requests": {"cpu": "3"}}}],
        "overhead": {"cpu": "100m"},
    }));
    let demand = Demand::of(&pod);
    assert_eq!((demand.cpu_milli, demand.memory, demand.pods), (3100, 1 << 30, 1));
}

#[test]
fn selectors_cordons_and_taints_keep_pods_away() {
    let mut machines = [machine("a", 10), machine("b", 10), machine("c", 10)];
    let pick = |zone: &str| pod(&json!({"containers": [], "nodeSelector": {"zone": zone}}));
    assert_eq!(bound(schedule(&pick("b"), &all(&machines), &HashMap::new(), &Rules::default())), "b");
    machines[0].cordoned = true;
    machines[1].taints = vec![("dedicated".into(), "x".into(), "NoSchedule".into())];
    assert_eq!(
        refused(schedule(&pick("b"), &all(&machines), &HashMap::new(), &Rules::default())),
        "0/3 nodes are available: 1 node(s) didn't match Pod's node affinity/selector, 1 node(s) had untolerated \
         taint(s), 1 node(s) were unschedulable. preemption: 0/3 nodes are available: \
         3 Preemption is not helpful for scheduling."
    );
    let tolerant = pod(&json!({"containers": [], "nodeSelector": {"zone": "b"},
        "tolerations": [{"key": "dedicated", "value": "x", "effect": "NoSchedule"}]}));
    assert_eq!(bound(schedule(&tolerant, &all(&machines), &HashMap::new(), &Rules::default())), "b");
    let any = pod(
        &json!({"containers": [], "nodeSelector": {"zone": "a"}, "tolerations": [{"operator": "Exists"}]}),
    );
    assert_eq!(bound(schedule(&any, &all(&machines), &HashMap::new(), &Rules::default())), "a");
}

#[test]
fn ports_of_a_node_are_taken_once() {
    let with_port = |ip: &str, port: u16, protocol: &str| {
        let port = json!({"containerPort": 1, "hostPort": port, "hostIP": ip, "protocol": protocol});
        pod(&json!({"containers": [{"name": "c", "ports": [port]}]}))
    };
    let machines = [machine("a", 10)];
    let mut used = HashMap::from([("a".to_owned(), Demand::of(&with_port("", 7777, "UDP")))]);
    for (ip, port, protocol, free) in [
        ("", 7777, "UDP", false),
        ("10.0.0.1", 7777, "UDP", false),
        ("", 7777, "TCP", true),
        ("", 7778, "UDP", true),
    ] {
        match schedule(&with_port(ip, port, protocol), &all(&machines), &used, &Rules::default()) {
            Decision::Bind(_) => assert!(free, "{ip}:{port}/{protocol}"),
            Decision::Unschedulable(message) => {
                assert!(
                    !free && message.contains("1 node(s) didn't have free ports for the requested pod ports")
                );
                assert!(message.contains("1 No preemption victims found"), "{message}");
            }
        }
    }
    used.get_mut("a").unwrap().remove(&Demand::of(&with_port("", 7777, "UDP")));
    assert_eq!(bound(schedule(&with_port("", 7777, "UDP"), &all(&machines), &used, &Rules::default())), "a");
}

#[test]
fn affinity_decides_and_preference_ranks() {
    let machines = [machine("a", 10), machine("b", 10), machine("c", 10)];
    let in_zones = |zones: &[&str]| json!([{"key": "zone", "operator": "In", "values": zones}]);
    let wants = pod(&json!({"containers": [], "affinity": {"nodeAffinity": {
        "requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [{"matchExpressions": in_zones(&["b", "c"])}]},
        "preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 1, "preference": {"matchExpressions": in_zones(&["c"])}}],
    }}}));
    assert_eq!(bound(schedule(&wants, &all(&machines), &HashMap::new(), &Rules::default())), "c");
    let only_a = &machines[..1];
    let message = refused(schedule(&wants, &all(only_a), &HashMap::new(), &Rules::default()));
    assert!(message.contains("1 node(s) didn't match Pod's node affinity/selector"), "{message}");
}

#[test]
fn claims_refuse_all_machines_at_once() {
    assert_eq!(
        refused_everywhere(3, "persistentvolumeclaim \"x\" not found"),
        "0/3 nodes are available: persistentvolumeclaim \"x\" not found. preemption: 0/3 nodes are available: \
         3 Preemption is not helpful for scheduling."
    );
}

#[test]
fn our_own_taint_repels_only_other_schedulers() {
    let mut only = machine("a", 10);
    only.taints = vec![(SIMULATED_TAINT.into(), "true".into(), "NoSchedule".into())];
    assert_eq!(
        bound(schedule(&with_requests(&json!({})), &all(&[only]), &HashMap::new(), &Rules::default())),
        "a"
    );
}

#[test]
fn without_machines_the_message_is_that_of_the_real_scheduler() {
    let message = refused(schedule(&with_requests(&json!({})), &[], &HashMap::new(), &Rules::default()));
    assert_eq!(message, "no nodes available to schedule pods");
}
