//! The contact of a watch with the API: noticing that it answers again, and saying in one sentence why it does not.

use super::SyncState;
use kube::{Client, client::Body, runtime::watcher};
use std::{error::Error, sync::Arc};

/// A client that calls `answered` whenever the API answers with success. kube's watcher reconnects without a word, so in
/// a quiet cluster nothing else would tell that the API is back.
pub(super) fn observed(client: Client, answered: impl Fn() + Send + Sync + 'static) -> Client {
    let namespace = client.default_namespace().to_owned();
    let answered = Arc::new(answered);
    let service = tower::service_fn(move |request: http::Request<Body>| {
        let (client, answered) = (client.clone(), answered.clone());
        async move {
            let response = client.send(request).await?;
            if response.status().is_success() {
                answered();
            }
            Ok::<_, kube::Error>(response)
        }
    });
    Client::new(service, namespace)
}

/// Where a watch stands after an error.
pub(super) fn state_after(error: &watcher::Error) -> SyncState {
    let code = match error {
        watcher::Error::InitialListFailed(kube::Error::Api(status))
        | watcher::Error::WatchStartFailed(kube::Error::Api(status))
        | watcher::Error::WatchFailed(kube::Error::Api(status)) => status.code,
        watcher::Error::WatchError(status) => status.code,
        _ => 0,
    };
    match code {
        401 | 403 => SyncState::Refused,
        404 => SyncState::KindMissing,
        _ => SyncState::Stale,
    }
}

/// What a watch failed of, for people.
pub(super) fn describe_watch(error: &watcher::Error) -> String {
    match error {
        watcher::Error::InitialListFailed(error)
        | watcher::Error::WatchStartFailed(error)
        | watcher::Error::WatchFailed(error) => describe(error),
        watcher::Error::WatchError(status) => status.message.clone(),
        watcher::Error::NoResourceVersion => error.to_string(),
    }
}

/// What a call failed of, for people: the API's own message, or the chain of causes without repetitions.
#[must_use]
pub fn describe(error: &kube::Error) -> String {
    if let kube::Error::Api(status) = error {
        return if status.message.is_empty() {
            format!("HTTP {}", status.code)
        } else {
            status.message.clone()
        };
    }
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(next) = cause {
        let words = next.to_string();
        if !text.contains(&words) {
            text.push_str(": ");
            text.push_str(&words);
        }
        cause = next.source();
    }
    text
}
