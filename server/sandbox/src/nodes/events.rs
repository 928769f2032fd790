//! Events about pods, in the shape and the words of the real scheduler and kubelet.
//!
//! Events are for people at the moment and cost a write each, so they are bounded in four ways: none while more pods than
//! [`super::Options::events_up_to`] are played, what is said again only raises a count, each pod has a budget as in
//! client-go, and all together keep to a rate. What does not fit is dropped; nothing depends on events.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use jiff::Timestamp;
use k8s_openapi::api::core::v1::Event;
use kube::Client;
use kube::api::{Api, Patch, PatchParams, PostParams};
use serde_json::{Value, json};
use tokio::sync::mpsc;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tracing::debug;

use super::clock::Clock;
use super::ids::mix;
use super::options::SCHEDULER_NAME;
use super::pace::Pace;
use super::pod::Pod;
use super::write::FIELD_MANAGER;

/// Events that wait to be written; more are dropped.
const QUEUE: usize = 1000;
/// Event writes in a second, all together.
const PER_SECOND: u32 = 25;
/// Events of one pod that are written at once, and how long until one more may be: the numbers of client-go.
const BURST_OF_A_POD: f64 = 25.0;
const REFILL_OF_A_POD: Duration = Duration::from_secs(300);
/// Events and pods that are remembered, to raise counts and keep budgets.
const REMEMBERED: usize = 4096;

/// Something that scheduler or kubelet say about a pod.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    /// `Warning`, not `Normal`.
    pub warning: bool,
    /// In one word.
    pub reason: &'static str,
    /// In a sentence.
    pub message: String,
    /// The field of the pod that it is about, such as `spec.containers{game}`; empty for the pod itself.
    pub field: String,
}

impl Note {
    /// All is well.
    pub fn normal(reason: &'static str, message: impl Into<String>) -> Self {
        Self { warning: false, reason, message: message.into(), field: String::new() }
    }

    /// Something is wrong.
    pub fn warning(reason: &'static str, message: impl Into<String>) -> Self {
        Self { warning: true, ..Self::normal(reason, message) }
    }

    /// The same about a field of the pod.
    pub fn about(self, field: &str) -> Self {
        Self { field: field.into(), ..self }
    }
}

/// Who says it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Speaker {
    /// The scheduler.
    Scheduler,
    /// The kubelet of this node.
    Kubelet(String),
}

/// A note with all that its Event needs.
#[derive(Clone, Debug)]
struct Said {
    speaker: Speaker,
    note: Note,
    when: Timestamp,
    namespace: String,
    pod: String,
    uid: String,
    version: Option<String>,
}

/// Takes notes; never waits.
#[derive(Debug)]
pub struct Recorder {
    sender: mpsc::Sender<Said>,
}

/// Writes what the recorder took.
#[derive(Debug)]
pub struct Writer {
    receiver: mpsc::Receiver<Said>,
    seed: u64,
}

/// A recorder and its writer.
pub fn recorder(seed: u64) -> (Recorder, Writer) {
    let (sender, receiver) = mpsc::channel(QUEUE);
    (Recorder { sender }, Writer { receiver, seed })
}

impl Recorder {
    /// Notes something about a pod; drops it when too much waits.
    pub fn tell(&self, pod: &Pod, speaker: &Speaker, note: Note, clock: &Clock) {
        let said = Said {
            speaker: speaker.clone(),
            note,
            when: clock.now(),
            namespace: pod.namespace().to_owned(),
            pod: pod.name().to_owned(),
            uid: pod.uid().to_owned(),
            version: pod.metadata.resource_version.clone(),
        };
        if self.sender.try_send(said).is_err() {
            debug!("an event of a simulated node was dropped: too many wait");
        }
    }
}

impl Writer {
    /// Writes events until `stop`, one after the other.
    pub async fn run(mut self, client: Client, stop: CancellationToken) {
        let mut memory = Memory::new(self.seed);
        let mut pace = Pace::new(Some(PER_SECOND));
        loop {
            let said = tokio::select! {
                biased;
                () = stop.cancelled() => return,
                said = self.receiver.recv() => said,
            };
            let Some(said) = said else { return };
            let Some(write) = memory.judge(&said, Instant::now()) else { continue };
            while let Err(wait) = pace.take(Instant::now()) {
                tokio::select! {
                    biased;
                    () = stop.cancelled() => return,
                    () = tokio::time::sleep(wait) => {}
                }
            }
            // An event that cannot be written is lost, as it would be on a real node after a few tries.
            if let Err(error) = store(&client, &said.namespace, write).await {
                debug!(%error, reason = said.note.reason, "an event of a simulated node could not be written");
            }
        }
    }
}

/// How an event is written.
#[derive(Clone, Debug, PartialEq)]
enum EventWrite {
    Create(Value),
    /// It was said before: name, the new count and time, and the event anew should it be gone.
    Count(String, Value, Value),
}

async fn store(client: &Client, namespace: &str, write: EventWrite) -> kube::Result<()> {
    let events: Api<Event> = Api::namespaced(client.clone(), namespace);
    let body = match write {
        EventWrite::Create(body) => body,
        EventWrite::Count(name, patch, anew) => {
            let params = PatchParams { field_manager: Some(FIELD_MANAGER.into()), ..PatchParams::default() };
            match events.patch(&name, &params, &Patch::Merge(patch)).await {
                Err(kube::Error::Api(status)) if status.code == 404 => anew,
                result => return result.map(|_| ()),
            }
        }
    };
    let event: Event = serde_json::from_value(body).map_err(kube::Error::SerdeError)?;
    let params = PostParams { field_manager: Some(FIELD_MANAGER.into()), ..PostParams::default() };
    events.create(&params, &event).await.map(|_| ())
}

/// What makes two notes the same: pod, speaker, field, reason, message.
type Key = (String, Speaker, String, &'static str, String);

/// An event that was written.
#[derive(Debug)]
struct Told {
    name: String,
    count: u32,
    first: Timestamp,
}

/// What was written before.
#[derive(Debug)]
struct Memory {
    seed: u64,
    told: BTreeMap<Key, Told>,
    order: VecDeque<Key>,
    budgets: BTreeMap<String, (f64, Instant)>,
}

impl Memory {
    fn new(seed: u64) -> Self {
        Self { seed, told: BTreeMap::new(), order: VecDeque::new(), budgets: BTreeMap::new() }
    }

    /// How a note is written; nothing when its pod has said enough.
    fn judge(&mut self, said: &Said, now: Instant) -> Option<EventWrite> {
        if !self.pod_may_speak(&said.uid, now) {
            return None;
        }
        let note = &said.note;
        let key =
            (said.uid.clone(), said.speaker.clone(), note.field.clone(), note.reason, note.message.clone());
        if let Some(told) = self.told.get_mut(&key) {
            told.count += 1;
            let patch = json!({"count": told.count, "lastTimestamp": second(said.when)});
            return Some(EventWrite::Count(told.name.clone(), patch, event(said, told)));
        }
        while self.order.len() >= REMEMBERED {
            if let Some(oldest) = self.order.pop_front() {
                self.told.remove(&oldest);
            }
        }
        let unique =
            mix(self.seed, &[&said.uid, &note.field, note.reason, &note.message, &said.when.to_string()]);
        let pod: String = said.pod.chars().take(230).collect();
        let told = Told { name: format!("{pod}.{unique:016x}"), count: 1, first: said.when };
        let body = event(said, &told);
        self.order.push_back(key.clone());
        self.told.insert(key, told);
        Some(EventWrite::Create(body))
    }

    fn pod_may_speak(&mut self, uid: &str, now: Instant) -> bool {
        if self.budgets.len() >= REMEMBERED && !self.budgets.contains_key(uid) {
            self.budgets.pop_first();
        }
        let (tokens, at) = self.budgets.entry(uid.to_owned()).or_insert((BURST_OF_A_POD, now));
        let gained = now.duration_since(*at).as_secs_f64() / REFILL_OF_A_POD.as_secs_f64();
        *tokens = (*tokens + gained).min(BURST_OF_A_POD);
        *at = now;
        let may = *tokens >= 1.0;
        if may {
            *tokens -= 1.0;
        }
        may
    }
}

/// The Event object, in the shape that kubelets write; the scheduler's differ only in who speaks.
fn event(said: &Said, told: &Told) -> Value {
    let note = &said.note;
    let mut object = json!({
        "apiVersion": "v1", "kind": "Pod", "namespace": said.namespace, "name": said.pod, "uid": said.uid,
        "resourceVersion": said.version,
    });
    if !note.field.is_empty() {
        object["fieldPath"] = json!(note.field);
    }
    let mut event = json!({
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": {"name": told.name, "namespace": said.namespace},
        "involvedObject": object,
        "reason": note.reason,
        "message": note.message,
        "type": if note.warning { "Warning" } else { "Normal" },
        "firstTimestamp": second(told.first),
        "lastTimestamp": second(said.when),
        "count": told.count,
    });
    match &said.speaker {
        Speaker::Scheduler => {
            event["source"] = json!({"component": SCHEDULER_NAME});
            event["reportingComponent"] = json!(SCHEDULER_NAME);
            event["reportingInstance"] = json!("");
        }
        Speaker::Kubelet(node) => {
            event["source"] = json!({"component": "kubelet", "host": node});
            event["reportingComponent"] = json!("kubelet");
            event["reportingInstance"] = json!(node);
        }
    }
    event
}

fn second(when: Timestamp) -> String {
    when.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

#[cfg(test)]
mod tests {
    use super::{BURST_OF_A_POD, EventWrite, Memory, Note, REFILL_OF_A_POD, REMEMBERED, Said, Speaker};
    use tokio::time::Instant;

    fn said(uid: &str, note: Note) -> Said {
        Said {
            speaker: Speaker::Kubelet("sim-node-0".into()),
            note,
            when: "2026-11-29T10:00:00Z".parse().unwrap(),
            namespace: "x".into(),
            pod: "a-0".into(),
            uid: uid.into(),
            version: Some("7".into()),
        }
    }

    fn back_off() -> Note {
        Note::warning("BackOff", "Back-off restarting failed container").about("spec.containers{game}")
    }

    #[test]
    fn an_event_has_the_shape_of_a_kubelet_and_is_counted_when_it_comes_again() {
        let (mut memory, now) = (Memory::new(1), Instant::now());
        let Some(EventWrite::Create(first)) = memory.judge(&said("u", back_off()), now) else {
            panic!("no event")
        };
        let typed: k8s_openapi::api::core::v1::Event = serde_json::from_value(first.clone()).unwrap();
        assert_eq!(typed.involved_object.field_path.as_deref(), Some("spec.containers{game}"));
        assert_eq!((typed.type_.as_deref(), typed.count), (Some("Warning"), Some(1)));
        assert_eq!(typed.source.unwrap().host.as_deref(), Some("sim-node-0"));
        let again = memory.judge(&said("u", back_off()), now);
        let Some(EventWrite::Count(name, patch, anew)) = again else { panic!("no count: {again:?}") };
        assert_eq!(first["metadata"]["name"], name);
        assert_eq!((&patch["count"], &anew["count"]), (&2.into(), &2.into()));
        let other = said("v", back_off());
        assert!(matches!(memory.judge(&other, now), Some(EventWrite::Create(_))), "another pod");
    }

    #[test]
    fn a_pod_that_says_too_much_is_not_heard_for_a_while() {
        let (mut memory, now) = (Memory::new(1), Instant::now());
        let heard = |memory: &mut Memory, at| {
            (0..100).filter(|_| memory.judge(&said("u", back_off()), at).is_some()).count()
        };
        assert_eq!(heard(&mut memory, now), 25);
        assert_eq!(heard(&mut memory, now + REFILL_OF_A_POD * 2), 2);
        assert_eq!(heard(&mut memory, now + REFILL_OF_A_POD * 1000), 25, "never more than {BURST_OF_A_POD}");
    }

    #[test]
    fn memory_is_bounded() {
        let (mut memory, now) = (Memory::new(1), Instant::now());
        for index in 0..REMEMBERED * 2 {
            memory.judge(&said(&index.to_string(), back_off()), now);
        }
        assert!(memory.told.len() <= REMEMBERED && memory.budgets.len() <= REMEMBERED);
        assert_eq!(memory.told.len(), memory.order.len());
    }
}
