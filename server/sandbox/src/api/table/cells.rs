//! Columns of tables: from CRDs, from the list of built-in kinds, or name and age.
use std::collections::HashMap;
use std::sync::LazyLock;

use jiff::Timestamp;
use serde_json::Value;

use super::path::JsonPath;
use crate::api::kinds::Resource;
use crate::api::value::{at, int, list, text};

/// Columns of built-in kinds, by `plural.group`.
static BUILTIN: LazyLock<HashMap<String, Vec<Column>>> = LazyLock::new(|| {
    let source: HashMap<String, Vec<Value>> =
        serde_yaml::from_str(include_str!("../../../data/columns.yaml")).unwrap_or_default();
    source.into_iter().map(|(kind, columns)| (kind, columns.iter().map(Column::of_crd).collect())).collect()
});

/// One column.
#[derive(Debug, Clone)]
pub struct Column {
    /// Header.
    pub name: String,
    /// `string`, `integer`, `boolean`, `number` or `date`.
    pub kind: String,
    /// OpenAPI format; `name` marks the column of names.
    pub format: String,
    /// Words for people.
    pub description: String,
    /// 0 is always shown, larger only when wide.
    pub priority: i64,
    source: Source,
}

#[derive(Debug, Clone)]
enum Source {
    Path(Option<JsonPath>),
    /// A cell that must be computed.
    Computed(String),
}

impl Column {
    /// A column of a CRD (`jsonPath`), or of our own list (`@name` for computed cells).
    pub fn of_crd(source: &Value) -> Self {
        let path = text(source, &["jsonPath"]);
        Self {
            name: text(source, &["name"]).to_owned(),
            kind: Some(text(source, &["type"])).filter(|t| !t.is_empty()).unwrap_or("string").to_owned(),
            format: text(source, &["format"]).to_owned(),
            description: match text(source, &["description"]) {
                "" => format!("Custom resource definition column (in JSONPath format): {path}"),
                words => words.to_owned(),
            },
            priority: int(source, &["priority"]).unwrap_or(0),
            source: match path.strip_prefix('@') {
                Some(name) => Source::Computed(name.to_owned()),
                None => Source::Path(JsonPath::parse(path)),
            },
        }
    }

    fn plain(name: &str, kind: &str, format: &str, path: &str) -> Self {
        Self {
            name: name.into(),
            kind: kind.into(),
            format: format.into(),
            description: String::new(),
            priority: 0,
            source: Source::Path(JsonPath::parse(path)),
        }
    }

    /// The cell of an object.
    pub fn cell(&self, object: &Value, now: Timestamp) -> Value {
        match &self.source {
            Source::Computed(name) => computed(name, object, now),
            Source::Path(path) => {
                let found = path.as_ref().map(|p| p.find(object)).unwrap_or_default();
                self.show(&found, now)
            }
        }
    }

    fn show(&self, found: &[&Value], now: Timestamp) -> Value {
        let Some(first) = found.first() else {
            return if self.kind == "date" { "<unknown>".into() } else { Value::Null };
        };
        match (self.kind.as_str(), first) {
            ("date", Value::String(time)) => age(time, now).into(),
            (_, Value::Null) => Value::Null,
            ("integer", Value::Number(n)) => n.as_i64().map_or(Value::Null, Value::from),
            ("number" | "boolean", value) => (*value).clone(),
            ("string", _) if found.len() > 1 => {
                let words: Vec<String> = found.iter().map(|v| plain_text(v)).collect();
                words.join(",").into()
            }
            ("string", value) => plain_text(value).into(),
            _ => Value::Null,
        }
    }
}

fn plain_text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// The columns of a kind.
pub fn columns(resource: &Resource) -> Vec<Column> {
    let mut columns = vec![Column::plain("Name", "string", "name", ".metadata.name")];
    let age = || Column::plain("Age", "string", "", "@").with(Source::Computed("age".into()));
    if resource.custom.is_some() {
        if resource.columns.is_empty() {
            columns.push(age());
        }
        columns.extend(resource.columns.iter().cloned());
        return columns;
    }
    match BUILTIN.get(&resource.full_name()) {
        Some(own) => {
            // Events begin with what is newest about them, not with their name.
            if own.iter().any(|c| c.format == "name") {
                columns.clear();
            }
            columns.extend(own.iter().cloned());
        }
        None => columns.push(age()),
    }
    columns
}

impl Column {
    fn with(mut self, source: Source) -> Self {
        self.source = source;
        self
    }
}

/// Cells that no path leads to.
fn computed(name: &str, object: &Value, now: Timestamp) -> Value {
    match name {
        "age" => age(text(object, &["metadata", "creationTimestamp"]), now).into(),
        "count" => count(object).into(),
        "ports" => ports(object).into(),
        "selector" => selector(&object["spec"]["selector"]).into(),
        "pod-ready" => pod(object, now).ready.into(),
        "pod-status" => pod(object, now).status.into(),
        "pod-restarts" => pod(object, now).restarts.into(),
        "ready-of-wanted" => {
            let ready = int(object, &["status", "readyReplicas"]).unwrap_or(0);
            format!("{ready}/{}", int(object, &["spec", "replicas"]).unwrap_or(0)).into()
        }
        "node-status" => node_status(object).into(),
        "internal-ip" => node_address(object, "InternalIP").into(),
        "external-ip" => node_address(object, "ExternalIP").into(),
        "node-roles" => node_roles(object).into(),
        "event-seen" => {
            let times = ["lastTimestamp", "eventTime", "firstTimestamp"];
            let time =
                times.iter().map(|key| text(object, &[key])).find(|t| !t.is_empty()).unwrap_or_default();
            age(time, now).into()
        }
        "claim" => match &object["spec"]["claimRef"] {
            Value::Object(_) => {
                let claim = &object["spec"]["claimRef"];
                format!("{}/{}", text(claim, &["namespace"]), text(claim, &["name"])).into()
            }
            _ => "".into(),
        },
        "spec-access" => access_modes(object, "spec").into(),
        "status-access" => access_modes(object, "status").into(),
        "event-object" => {
            let involved = &object["involvedObject"];
            format!("{}/{}", text(involved, &["kind"]).to_lowercase(), text(involved, &["name"])).into()
        }
        other if other.starts_with('?') => match text(object, &other[1..].split('.').collect::<Vec<_>>()) {
            "" => "<unknown>".into(),
            known => known.into(),
        },
        other => or_none(text(object, &other.split('.').collect::<Vec<_>>())).into(),
    }
}

/// `RWO,ROX`: the modes of a volume or claim, in the order of Kubernetes.
fn access_modes(object: &Value, part: &str) -> String {
    const MODES: [(&str, &str); 4] = [
        ("ReadWriteOnce", "RWO"),
        ("ReadOnlyMany", "ROX"),
        ("ReadWriteMany", "RWX"),
        ("ReadWriteOncePod", "RWOP"),
    ];
    let has = |mode: &str| list(object, &[part, "accessModes"]).iter().any(|one| one == mode);
    let short: Vec<&str> = MODES.iter().filter(|(mode, _)| has(mode)).map(|(_, short)| *short).collect();
    short.join(",")
}

fn or_none(text: &str) -> String {
    if text.is_empty() { "<none>".into() } else { text.to_owned() }
}

/// How many entries `data` has.
fn count(object: &Value) -> usize {
    ["data", "binaryData"].iter().filter_map(|part| object[*part].as_object()).map(serde_json::Map::len).sum()
}

fn ports(object: &Value) -> String {
    let ports: Vec<String> = list(object, &["spec", "ports"])
        .iter()
        .map(|port| match int(port, &["nodePort"]).filter(|n| *n > 0) {
            Some(node) => format!("{}:{node}/{}", port["port"], text(port, &["protocol"])),
            None => format!("{}/{}", port["port"], text(port, &["protocol"])),
        })
        .collect();
    or_none(&ports.join(","))
}

fn selector(selector: &Value) -> String {
    let labels = selector.get("matchLabels").unwrap_or(selector);
    let pairs: Vec<String> = labels
        .as_object()
        .into_iter()
        .flatten()
        .map(|(key, value)| format!("{key}={}", plain_text(value)))
        .collect();
    or_none(&pairs.join(","))
}

fn node_status(node: &Value) -> String {
    let ready = list(node, &["status", "conditions"]).iter().find(|c| text(c, &["type"]) == "Ready");
    let mut status = match ready.map(|c| text(c, &["status"])) {
        Some("True") => "Ready".to_owned(),
        Some(_) => "NotReady".to_owned(),
        None => "Unknown".to_owned(),
    };
    if at(node, &["spec", "unschedulable"]) == Some(&Value::Bool(true)) {
        status.push_str(",SchedulingDisabled");
    }
    status
}

fn node_address(node: &Value, kind: &str) -> String {
    let found = list(node, &["status", "addresses"]).iter().find(|a| text(a, &["type"]) == kind);
    or_none(found.map_or("", |address| text(address, &["address"])))
}

fn node_roles(node: &Value) -> String {
    let labels = at(node, &["metadata", "labels"]).and_then(Value::as_object);
    let roles: Vec<&str> = labels
        .into_iter()
        .flatten()
        .filter_map(|(key, _)| key.strip_prefix("node-role.kubernetes.io/"))
        .filter(|role| !role.is_empty())
        .collect();
    or_none(&roles.join(","))
}

struct PodCells {
    ready: String,
    status: String,
    restarts: String,
}

/// READY, STATUS and RESTARTS as kubectl users know them.
fn pod(pod: &Value, now: Timestamp) -> PodCells {
    let phase = text(pod, &["status", "phase"]);
    let mut status =
        Some(text(pod, &["status", "reason"])).filter(|r| !r.is_empty()).unwrap_or(phase).to_owned();
    if list(pod, &["status", "conditions"])
        .iter()
        .any(|c| c["type"] == "PodScheduled" && c["reason"] == "SchedulingGated")
    {
        status = "SchedulingGated".into();
    }
    let mut restarts = 0;
    let mut last_restart = String::new();
    let mut note_restart = |container: &Value| {
        restarts += int(container, &["restartCount"]).unwrap_or(0);
        let finished = text(container, &["lastState", "terminated", "finishedAt"]);
        if finished > last_restart.as_str() {
            last_restart = finished.to_owned();
        }
    };
    let (mut ready, mut running) = (0, false);
    let mut failed = None;
    let initializing = init_status(pod);
    if let Some(reason) = &initializing {
        status.clone_from(reason);
        list(pod, &["status", "initContainerStatuses"]).iter().for_each(&mut note_restart);
    } else {
        for container in list(pod, &["status", "containerStatuses"]).iter().rev() {
            note_restart(container);
            let state = &container["state"];
            if let Some(reason) = Some(text(state, &["waiting", "reason"])).filter(|r| !r.is_empty()) {
                status = reason.to_owned();
            } else if state.get("terminated").is_some() {
                status = terminated(&state["terminated"]);
                if int(state, &["terminated", "exitCode"]) != Some(0) {
                    failed = Some(status.clone());
                }
            } else if container["ready"] == true && state.get("running").is_some() {
                running = true;
                ready += 1;
            }
        }
        if status == "Completed" {
            let pod_ready = list(pod, &["status", "conditions"])
                .iter()
                .any(|c| c["type"] == "Ready" && c["status"] == "True");
            if running && pod_ready {
                status = "Running".into();
            } else if let Some(failed) = failed {
                status = failed;
            } else if running {
                status = "NotReady".into();
            }
        }
    }
    if at(pod, &["metadata", "deletionTimestamp"]).is_some() {
        if text(pod, &["status", "reason"]) == "NodeLost" {
            status = "Unknown".into();
        } else if !matches!(phase, "Succeeded" | "Failed") {
            status = "Terminating".into();
        }
    }
    let restarts = if restarts > 0 && !last_restart.is_empty() {
        format!("{restarts} ({} ago)", age(&last_restart, now))
    } else {
        restarts.to_string()
    };
    PodCells { ready: format!("{ready}/{}", list(pod, &["spec", "containers"]).len()), status, restarts }
}

fn terminated(state: &Value) -> String {
    match (text(state, &["reason"]), int(state, &["signal"]).filter(|s| *s != 0)) {
        ("", Some(signal)) => format!("Signal:{signal}"),
        ("", None) => format!("ExitCode:{}", int(state, &["exitCode"]).unwrap_or(0)),
        (reason, _) => reason.to_owned(),
    }
}

/// What the first init container that is not done says; `None` when all are done.
fn init_status(pod: &Value) -> Option<String> {
    let all = list(pod, &["spec", "initContainers"]).len();
    for (i, container) in list(pod, &["status", "initContainerStatuses"]).iter().enumerate() {
        let state = &container["state"];
        if let Some(ended) = state.get("terminated") {
            if int(ended, &["exitCode"]) == Some(0) {
                continue;
            }
            return Some(format!("Init:{}", terminated(ended)));
        }
        let waiting = text(state, &["waiting", "reason"]);
        if !waiting.is_empty() && waiting != "PodInitializing" {
            return Some(format!("Init:{waiting}"));
        }
        return Some(format!("Init:{i}/{all}"));
    }
    None
}

/// A time span as kubectl writes it: two units at most, fewer as it grows.
pub fn age(time: &str, now: Timestamp) -> String {
    let Ok(time) = time.parse::<Timestamp>() else { return "<unknown>".into() };
    let seconds = now.as_second() - time.as_second();
    if seconds < -1 {
        return "<invalid>".into();
    }
    let seconds = seconds.max(0);
    let (minutes, hours) = (seconds / 60, seconds / 3600);
    let (days, years) = (hours / 24, hours / 24 / 365);
    let two = |big: i64, big_unit: &str, small: i64, small_unit: &str| {
        if small == 0 { format!("{big}{big_unit}") } else { format!("{big}{big_unit}{small}{small_unit}") }
    };
    if seconds < 120 {
        format!("{seconds}s")
    } else if minutes < 10 {
        two(minutes, "m", seconds % 60, "s")
    } else if minutes < 180 {
        format!("{minutes}m")
    } else if hours < 8 {
        two(hours, "h", minutes % 60, "m")
    } else if hours < 48 {
        format!("{hours}h")
    } else if hours < 192 {
        two(days, "d", hours % 24, "h")
    } else if years < 2 {
        format!("{days}d")
    } else if years < 8 {
        two(years, "y", days % 365, "d")
    } else {
        format!("{years}y")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn spans_read_like_kubectls() {
        let start: Timestamp = "2026-01-01T00:00:00Z".parse().unwrap();
        for (seconds, expected) in [
            (0, "0s"),
            (119, "119s"),
            (120, "2m"),
            (125, "2m5s"),
            (700, "11m"),
            (11_000, "3h3m"),
            (172_800, "2d"),
            (400_000, "4d15h"),
            (90_000_000, "2y311d"),
        ] {
            let now = Timestamp::from_second(start.as_second() + seconds).unwrap();
            assert_eq!(age("2026-01-01T00:00:00Z", now), expected, "{seconds}");
        }
        assert_eq!(age("", start), "<unknown>");
    }

    #[test]
    fn pods_tell_what_is_wrong_with_them() {
        let cells = |status: Value| {
            let object = json!({"metadata": {}, "spec": {"containers": [{}, {}]}, "status": status});
            let cells = pod(&object, "2026-01-01T00:01:00Z".parse().unwrap());
            (cells.ready, cells.status, cells.restarts)
        };
        let words = |a: &str, b: &str, c: &str| (a.to_owned(), b.to_owned(), c.to_owned());
        assert_eq!(cells(json!({"phase": "Pending"})), words("0/2", "Pending", "0"));
        let crash = json!({"phase": "Running", "containerStatuses": [
            {"ready": true, "state": {"running": {}}, "restartCount": 0},
            {"ready": false, "state": {"waiting": {"reason": "CrashLoopBackOff"}}, "restartCount": 3,
             "lastState": {"terminated": {"finishedAt": "2026-01-01T00:00:30Z"}}}]});
        assert_eq!(cells(crash), words("1/2", "CrashLoopBackOff", "3 (30s ago)"));
    }

    #[test]
    fn the_list_of_builtin_columns_can_be_read() {
        assert!(BUILTIN.contains_key("pods"));
        for (kind, columns) in BUILTIN.iter() {
            for column in columns {
                assert!(!matches!(column.source, Source::Path(None)), "{kind} {}", column.name);
            }
        }
    }
}
