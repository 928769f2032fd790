//! Events of one object, read on demand with the caller's rights: they live an hour, no cache of all of them pays.

use k8s_openapi::api::core::v1::Event;
use kube::{Api, Client, api::ListParams};
use wire::{
    key::{ServerKey, SetKey},
    server::EventView,
};

/// Events shown of one object.
const SHOWN: usize = 50;

/// Recent events of a game server and its pod (they share a name), newest first. Empty when they cannot be read.
pub async fn of_server(client: &Client, key: &ServerKey) -> Vec<EventView> {
    of_name(client, &key.namespace, &key.name, &["GameServer", "Pod"]).await
}

/// Recent events of a set, newest first. Empty when they cannot be read.
pub async fn of_set(client: &Client, key: &SetKey) -> Vec<EventView> {
    of_name(client, &key.namespace, &key.name, &["GameServerSet"]).await
}

async fn of_name(client: &Client, namespace: &str, name: &str, kinds: &[&str]) -> Vec<EventView> {
    let api: Api<Event> = Api::namespaced(client.clone(), namespace);
    let params = ListParams::default().fields(&format!("involvedObject.name={name}")).limit(500);
    let list = match api.list(&params).await {
        Ok(list) => list,
        Err(error) => {
            tracing::debug!(%error, namespace, name, "events could not be read");
            return Vec::new();
        }
    };
    let mut events: Vec<EventView> = list
        .items
        .into_iter()
        .filter(|event| event.involved_object.kind.as_deref().is_some_and(|kind| kinds.contains(&kind)))
        .map(view)
        .collect();
    events.sort_by_key(|event| std::cmp::Reverse(event.time));
    events.truncate(SHOWN);
    events
}

fn view(event: Event) -> EventView {
    let series = event.series.as_ref();
    let time = series
        .and_then(|s| s.last_observed_time.as_ref().map(|t| t.0))
        .or(event.last_timestamp.as_ref().map(|t| t.0))
        .or(event.event_time.as_ref().map(|t| t.0))
        .or(event.metadata.creation_timestamp.as_ref().map(|t| t.0));
    let count = series.and_then(|s| s.count).or(event.count).unwrap_or(1);
    let object = event.involved_object;
    EventView {
        time: time.map_or(0, jiff::Timestamp::as_second),
        kind: event.type_.unwrap_or_else(|| "Normal".into()),
        reason: event.reason.unwrap_or_default(),
        message: event.message.unwrap_or_default().trim_end().to_owned(),
        count: u32::try_from(count).unwrap_or(1),
        object: format!("{}/{}", object.kind.unwrap_or_default(), object.name.unwrap_or_default()),
    }
}
