//! Writing to the API: thin calls that name what was attempted, count, and keep within the limits.
//!
//! Objects go out as JSON, so that a user's pod template reaches the API server with every field that it has.

use crate::{
    cache::describe,
    metrics::{Metrics, WriteLabels},
};
use k8s_openapi::api::{
    apps::v1::ControllerRevision,
    core::v1::{PersistentVolumeClaim, Pod},
};
use kube::{
    Api, Client,
    api::{ApiResource, DeleteParams, DynamicObject, Patch, PatchParams, PostParams, Preconditions},
};
use serde_json::Value;
use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};
use thiserror::Error;
use tokio::{sync::Semaphore, time::Instant};

/// Name under which the API notes who changed a field.
pub const FIELD_MANAGER: &str = "pilothouse";

/// What the API said about a write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Category {
    /// There is no such object, or no such namespace.
    NotFound,
    /// There is one of that name already.
    AlreadyExists,
    /// It is not the object, or not the version, that was read.
    Conflict,
    /// The API refuses what was written, or a test of a JSON patch failed.
    Invalid,
    /// The rights, a quota or a policy do not allow it.
    Forbidden,
    /// No answer, or the server is busy.
    Unavailable,
    /// A bug of ours.
    Panic,
    /// Anything else.
    Other,
}

impl Category {
    /// Stable word for metrics.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::NotFound => "not-found",
            Self::AlreadyExists => "already-exists",
            Self::Conflict => "conflict",
            Self::Invalid => "invalid",
            Self::Forbidden => "forbidden",
            Self::Unavailable => "unavailable",
            Self::Panic => "panic",
            Self::Other => "other",
        }
    }

    /// What an error of a call means.
    #[must_use]
    pub fn of(error: &kube::Error) -> Self {
        match error {
            kube::Error::Api(status) if status.is_already_exists() => Self::AlreadyExists,
            kube::Error::Api(status) => match status.code {
                404 => Self::NotFound,
                409 => Self::Conflict,
                400 | 422 => Self::Invalid,
                403 => Self::Forbidden,
                429 | 500..=599 => Self::Unavailable,
                _ => Self::Other,
            },
            kube::Error::HyperError(_) | kube::Error::Service(_) => Self::Unavailable,
            _ => Self::Other,
        }
    }
}

/// A write that failed.
#[derive(Debug, Error)]
#[error("{verb} {resource} {name}: {message}")]
pub struct WriteError {
    /// `create`, `patch` or `delete`.
    pub verb: &'static str,
    /// `pods`, `gameservers/status` and so on.
    pub resource: &'static str,
    /// `namespace/name`.
    pub name: String,
    /// What kind of failure.
    pub category: Category,
    /// What the API said.
    pub message: String,
}

/// What was written.
#[derive(Clone, Debug, Default)]
pub struct Written {
    /// Version that it has now.
    pub resource_version: Option<String>,
}

/// A kind that the controllers write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// GameServerSets.
    Set,
    /// Their status.
    SetStatus,
    /// GameServers.
    Server,
    /// Their status.
    ServerStatus,
    /// Pods.
    Pod,
    /// Claims.
    Claim,
    /// Revisions of templates.
    Revision,
}

impl Kind {
    fn name(self) -> &'static str {
        match self {
            Self::Set => "gameserversets",
            Self::SetStatus => "gameserversets/status",
            Self::Server => "gameservers",
            Self::ServerStatus => "gameservers/status",
            Self::Pod => "pods",
            Self::Claim => "persistentvolumeclaims",
            Self::Revision => "controllerrevisions",
        }
    }

    fn resource(self) -> ApiResource {
        match self {
            Self::Set | Self::SetStatus => ApiResource::erase::<crds::kruise::GameServerSet>(&()),
            Self::Server | Self::ServerStatus => ApiResource::erase::<crds::kruise::GameServer>(&()),
            Self::Pod => ApiResource::erase::<Pod>(&()),
            Self::Claim => ApiResource::erase::<PersistentVolumeClaim>(&()),
            Self::Revision => ApiResource::erase::<ControllerRevision>(&()),
        }
    }

    fn is_status(self) -> bool {
        matches!(self, Self::SetStatus | Self::ServerStatus)
    }
}

/// Lets so many pass in a second, and so many at once.
#[derive(Clone, Debug)]
pub struct Limiter {
    rate: Option<f64>,
    burst: f64,
    state: Arc<Mutex<(f64, Instant)>>,
}

impl Limiter {
    /// No limit when `per_second` is absent or 0.
    #[must_use]
    pub fn new(per_second: Option<u32>, burst: u32) -> Self {
        let burst = f64::from(burst.max(1));
        let rate = per_second.filter(|rate| *rate > 0).map(f64::from);
        Self { rate, burst, state: Arc::new(Mutex::new((burst, Instant::now()))) }
    }

    /// Waits for one's turn.
    pub async fn wait(&self) {
        let Some(rate) = self.rate else { return };
        let pause = {
            let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
            let now = Instant::now();
            let filled = state.0 + now.duration_since(state.1).as_secs_f64() * rate;
            // A turn is taken even when it lies ahead, so those who come later wait longer.
            *state = (filled.min(self.burst) - 1.0, now);
            if state.0 < 0.0 { Duration::from_secs_f64(-state.0 / rate) } else { Duration::ZERO }
        };
        if !pause.is_zero() {
            tokio::time::sleep(pause).await;
        }
    }
}

/// Writes to the API. Clones share limits and counters.
#[derive(Clone)]
pub struct Writer {
    client: Client,
    metrics: Metrics,
    limiter: Limiter,
    in_flight: Arc<Semaphore>,
}

impl Writer {
    /// A writer with at most `in_flight` requests under way, and the limits of `limiter`.
    #[must_use]
    pub fn new(client: Client, metrics: Metrics, limiter: Limiter, in_flight: usize) -> Self {
        Self { client, metrics, limiter, in_flight: Arc::new(Semaphore::new(in_flight.max(1))) }
    }

    /// Creates an object that carries its name.
    ///
    /// # Errors
    /// What the API said.
    pub async fn create(&self, kind: Kind, namespace: &str, object: &Value) -> Result<Written, WriteError> {
        let name = object.pointer("/metadata/name").and_then(Value::as_str).unwrap_or_default().to_owned();
        let parsed: DynamicObject = serde_json::from_value(object.clone()).map_err(|error| WriteError {
            verb: "create",
            resource: kind.name(),
            name: format!("{namespace}/{name}"),
            category: Category::Invalid,
            message: error.to_string(),
        })?;
        let api = self.api(kind, namespace);
        let params = PostParams { field_manager: Some(FIELD_MANAGER.to_owned()), ..PostParams::default() };
        self.call("create", kind, namespace, &name, async move {
            api.create(&params, &parsed).await.map(|o| written(&o))
        })
        .await
    }

    /// Changes fields by a merge patch.
    ///
    /// # Errors
    /// What the API said.
    pub async fn merge(
        &self,
        kind: Kind,
        namespace: &str,
        name: &str,
        patch: &Value,
    ) -> Result<Written, WriteError> {
        self.patch(kind, namespace, name, Patch::Merge(patch)).await
    }

    /// Changes fields by a JSON patch.
    ///
    /// # Errors
    /// What the API said; a failed test is [`Category::Invalid`].
    pub async fn json(
        &self,
        kind: Kind,
        namespace: &str,
        name: &str,
        patch: &Value,
    ) -> Result<Written, WriteError> {
        let parsed = serde_json::from_value(patch.clone()).map_err(|error| WriteError {
            verb: "patch",
            resource: kind.name(),
            name: format!("{namespace}/{name}"),
            category: Category::Invalid,
            message: error.to_string(),
        })?;
        self.patch::<Value>(kind, namespace, name, Patch::Json(parsed)).await
    }

    async fn patch<P: serde::Serialize + std::fmt::Debug + Send + Sync>(
        &self,
        kind: Kind,
        namespace: &str,
        name: &str,
        patch: Patch<P>,
    ) -> Result<Written, WriteError> {
        let api = self.api(kind, namespace);
        let params = PatchParams { field_manager: Some(FIELD_MANAGER.to_owned()), ..PatchParams::default() };
        let call = async {
            let object = if kind.is_status() {
                api.patch_status(name, &params, &patch).await
            } else {
                api.patch(name, &params, &patch).await
            };
            object.map(|object| written(&object))
        };
        self.call("patch", kind, namespace, name, call).await
    }

    /// Deletes the object with this uid, and in this version when one is given.
    ///
    /// # Errors
    /// What the API said; another uid or version is [`Category::Conflict`].
    pub async fn delete(
        &self,
        kind: Kind,
        namespace: &str,
        name: &str,
        uid: &str,
        version: Option<&str>,
    ) -> Result<(), WriteError> {
        let api = self.api(kind, namespace);
        let preconditions =
            Preconditions { uid: Some(uid.to_owned()), resource_version: version.map(ToOwned::to_owned) };
        let params = DeleteParams::default().preconditions(preconditions);
        self.call("delete", kind, namespace, name, async move { api.delete(name, &params).await.map(|_| ()) })
            .await
    }

    fn api(&self, kind: Kind, namespace: &str) -> Api<DynamicObject> {
        Api::namespaced_with(self.client.clone(), namespace, &kind.resource())
    }

    async fn call<T>(
        &self,
        verb: &'static str,
        kind: Kind,
        namespace: &str,
        name: &str,
        call: impl Future<Output = kube::Result<T>>,
    ) -> Result<T, WriteError> {
        self.limiter.wait().await;
        // The semaphore is never closed.
        let _permit = self.in_flight.acquire().await;
        let result = call.await;
        let labels = WriteLabels { verb, resource: kind.name() };
        let counter = if result.is_ok() { &self.metrics.writes } else { &self.metrics.refused_writes };
        counter.get_or_create(&labels).inc();
        result.map_err(|error| WriteError {
            verb,
            resource: kind.name(),
            name: format!("{namespace}/{name}"),
            category: Category::of(&error),
            message: describe(&error),
        })
    }
}

fn written(object: &DynamicObject) -> Written {
    Written { resource_version: object.metadata.resource_version.clone() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn the_limiter_lets_a_burst_through_and_then_keeps_the_rate() {
        let limiter = Limiter::new(Some(10), 5);
        let begun = Instant::now();
        for _ in 0..5 {
            limiter.wait().await;
        }
        assert!(begun.elapsed().is_zero());
        for _ in 0..20 {
            limiter.wait().await;
        }
        assert!((1.9..2.1).contains(&begun.elapsed().as_secs_f64()), "{:?}", begun.elapsed());
        tokio::time::sleep(Duration::from_secs(60)).await;
        let again = Instant::now();
        for _ in 0..5 {
            limiter.wait().await;
        }
        assert!(again.elapsed().is_zero(), "what was not used is there again, and not more");
        limiter.wait().await;
        assert!(!again.elapsed().is_zero());
    }
}
