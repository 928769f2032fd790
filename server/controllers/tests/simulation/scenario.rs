//! The world: one set, one or two processes with the controllers in them, as the server wires them.

use crate::{
    actions::Action,
    facts::{NAMESPACE, PODS, SERVERS, SETS},
    goal, judge,
    plain_set::set_object,
};
use controllers::{
    cache::{Caches, Namespaces},
    clock::Clock,
    events::Events,
    leader::{self, Election},
    metrics::Metrics,
    run::{self, Context, Options},
};
use sandbox::sim::{Call, Invariants, Launch, Random, Scenario, history::History};
use serde_json::{Value, json};
use tokio::task::AbortHandle;

/// The world of a seed, or one with a given spec of the set and one process.
#[derive(Default)]
pub struct Sets {
    pub spec: Option<Value>,
}

/// How a world is set up.
struct Setup {
    processes: usize,
    spec: Value,
}

impl Sets {
    fn setup(&self, seed: u64) -> Setup {
        match &self.spec {
            Some(spec) => Setup { processes: 1, spec: spec.clone() },
            None => Setup::of(seed),
        }
    }
}

impl Setup {
    fn of(seed: u64) -> Self {
        let mut random = Random::of(seed, "world");
        let mut spec = json!({ "replicas": random.between(1, 6) });
        if random.chance(50) {
            spec["gameServerTemplate"] = json!({ "reclaimPolicy": "Delete" });
        }
        if random.chance(35) {
            spec["scaleStrategy"] = json!({ "scaleDownStrategyType": "ReserveIds" });
        } else if random.chance(15) {
            spec["scaleStrategy"] = json!({ "maxUnavailable": random.between(1, 3) });
        }
        if random.chance(25) {
            spec["reserveGameServerIds"] = json!([random.between(0, 4)]);
        }
        Self { processes: if random.chance(50) { 2 } else { 1 }, spec }
    }
}

impl Scenario for Sets {
    type Action = Action;

    fn world(&self, seed: u64) -> Vec<(String, Value)> {
        let definitions = crds::all().into_iter().map(|crd| json!(crd)).filter(|crd| {
            let name = crd["metadata"]["name"].as_str().unwrap_or_default();
            name == SETS || name == SERVERS
        });
        let path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
        let mut world: Vec<(String, Value)> = definitions.map(|crd| (path.to_owned(), crd)).collect();
        let path = format!("/apis/game.kruise.io/v1alpha1/namespaces/{NAMESPACE}/gameserversets");
        world.push((path, set_object(self.setup(seed).spec)));
        world
    }

    fn processes(&self, seed: u64) -> usize {
        self.setup(seed).processes
    }

    fn resources(&self) -> &'static [&'static str] {
        &[SETS, SERVERS, PODS]
    }

    fn owned(&self) -> &'static [(&'static str, &'static str)] {
        &[
            (SETS, "/apis/game.kruise.io/v1alpha1"),
            (SERVERS, "/apis/game.kruise.io/v1alpha1"),
            (PODS, "/api/v1"),
        ]
    }

    fn action(&self, random: &mut Random) -> Action {
        Action::draw(random)
    }

    fn perform(&self, action: &Action, history: &History) -> Option<Call> {
        action.perform(history)
    }

    fn start(&self, launch: Launch) -> Vec<AbortHandle> {
        let Launch { client, name, seed, now, stop, process: _ } = launch;
        let clock = Clock::counted_from(now);
        let mut tasks = Vec::new();
        let leader = if self.processes(seed) == 1 {
            leader::alone()
        } else {
            let election =
                Election { clock: clock.clone(), ..Election::new(NAMESPACE, judge::LEASE, name.clone()) };
            let (leads, task) = election.start(client.clone(), stop.clone());
            tasks.push(task.abort_handle());
            leads
        };
        let metrics = Metrics::default();
        let context = Context {
            caches: Caches::start_seeded(&client, &Namespaces::All, &stop, Some(seed)),
            events: Events::start_with(client.clone(), name, metrics.clone(), stop.clone(), clock.clone()),
            options: Options { clock, ..Options::default() },
            client,
            metrics,
        };
        tasks.push(tokio::spawn(run::run(context, leader, stop)).abort_handle());
        tasks
    }

    fn invariants(&self, seed: u64) -> Box<dyn Invariants> {
        Box::new(judge::Judge::new(self.processes(seed) > 1))
    }

    fn goal(&self, history: &History) -> Result<(), String> {
        goal::reached(history)
    }
}
