//! Hiding what differs between any two servers, and between two runs on one.
use regex::Regex;
use serde_json::{Map, Value};

pub struct Mask {
    unique: String,
    noise: Vec<(Regex, &'static str)>,
}

impl Mask {
    pub fn new(unique: &str) -> Self {
        let noise = [
            (r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", "UID"),
            (r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z", "TIME"),
            (r"^10\.96\.\d+\.\d+$", "IP"),
            (r"^[0-9]s$", "AGE"),
            (r"^gen-[a-z0-9]{5}$", "gen-NAME"),
            // The name of the type of `self`, which the real server makes of the time.
            (r"selfType\d+", "object"),
            // What changed, as a diff of Go's printed structs there.
            (r"(?s)(previously negative\))\n.*", "$1 DIFF"),
        ];
        Self { unique: unique.to_owned(), noise: noise.map(|(r, t)| (Regex::new(r).unwrap(), t)).to_vec() }
    }

    pub fn apply(&self, value: &mut Value) {
        match value {
            Value::String(text) => {
                *text = text.replace(&self.unique, "X");
                if text.len() > 20_000 {
                    // Nobody reads so much; its length still counts.
                    *text = format!("{}… {} bytes", &text[..text.floor_char_boundary(20)], text.len());
                }
                for (noise, name) in &self.noise {
                    *text = noise.replace_all(text, *name).into_owned();
                }
            }
            Value::Array(items) => {
                // A bookmark that marks no end comes when the server thinks of it.
                let noted = |event: &Value| event.pointer("/object/metadata/annotations").is_some();
                items.retain(|event| event.get("type") != Some(&"BOOKMARK".into()) || noted(event));
                items.iter_mut().for_each(|item| self.apply(item));
            }
            Value::Object(map) => {
                // Words about columns, and a hash of storage.
                if map.contains_key("format") && map.contains_key("priority") {
                    map.remove("description");
                }
                map.remove("storageVersionHash");
                // Drawn by chance there, counted up here.
                if let Some(port) = map.get_mut("nodePort").filter(|port| port.as_i64() >= Some(30_000)) {
                    *port = "PORT".into();
                }
                // Items of built-in lists carry no type in the real server; more does no harm.
                if let Some(Value::Array(items)) = map.get_mut("items") {
                    for item in items.iter_mut().filter_map(Value::as_object_mut) {
                        item.remove("apiVersion");
                        item.remove("kind");
                    }
                }
                // Their order depends on the second in which each was written.
                if let Some(Value::Array(entries)) = map.get_mut("managedFields") {
                    entries
                        .sort_by_key(|e| format!("{} {} {}", e["operation"], e["manager"], e["subresource"]));
                }
                // The real server walks maps in an order of chance.
                if let Some(Value::Array(causes)) = map.get_mut("causes") {
                    causes.sort_by_key(Value::to_string);
                }
                map.retain(|key, value| key != "continue" || value != "");
                for key in ["resourceVersion", "continue"] {
                    if map.contains_key(key) {
                        map.insert(key.into(), "VERSION".into());
                    }
                }
                let several = has_several_causes(map);
                let old = std::mem::take(map);
                for (key, mut child) in old {
                    if several && key == "message" {
                        child = "(several causes)".into();
                    }
                    self.apply(&mut child);
                    map.insert(key.replace(&self.unique, "X"), child);
                }
            }
            _ => {}
        }
    }
}

/// Whether this is a Status with several causes, whose message lists them in an order of chance.
fn has_several_causes(map: &Map<String, Value>) -> bool {
    let causes = map.get("details").and_then(|d| d.get("causes")).and_then(Value::as_array);
    causes.is_some_and(|causes| causes.len() > 1)
}
