//! Writes about machines: registering a Node, reporting its status, renewing its lease.

use k8s_openapi::api::coordination::v1::Lease;
use k8s_openapi::api::core::v1::Namespace;
use kube::Client;
use kube::api::{Api, DeleteParams, Patch, PatchParams, PostParams, Preconditions};
use serde_json::{Value, json};
use tokio::sync::Semaphore;

use super::clock::Clock;
use super::node::{self, Node, PROVIDER_PREFIX};
use super::options::Options;
use super::write::FIELD_MANAGER;

/// Where nodes keep their leases.
const LEASE_NAMESPACE: &str = "kube-node-lease";
/// How long a lease holds, as real kubelets ask for.
const LEASE_HOLDS_SECONDS: i32 = 40;
/// Requests about nodes that are under way at once.
const REQUESTS_IN_FLIGHT: usize = 16;

/// Why something about a machine could not be written.
#[derive(Debug, thiserror::Error)]
pub enum RegistryError {
    /// The API server refused it or could not be reached.
    #[error(transparent)]
    Kube(Box<kube::Error>),
    /// A node of this name exists that is no simulated one.
    #[error(
        "a node named {name} exists that is not simulated; choose another prefix for the simulated nodes"
    )]
    Foreign {
        /// The name.
        name: String,
    },
}

impl From<kube::Error> for RegistryError {
    fn from(error: kube::Error) -> Self {
        Self::Kube(Box::new(error))
    }
}

/// Writes about machines.
pub struct Registry {
    client: Client,
    options: Options,
    clock: Clock,
    kubelet_version: String,
    permits: Semaphore,
}

impl Registry {
    /// Asks the API server for its version, which simulated kubelets then report as theirs.
    pub async fn connect(client: Client, options: Options, clock: Clock) -> Self {
        let kubelet_version = match client.apiserver_version().await {
            Ok(info) if !info.git_version.is_empty() => info.git_version,
            _ => "v1.36.0".into(),
        };
        Self { client, options, clock, kubelet_version, permits: Semaphore::new(REQUESTS_IN_FLIGHT) }
    }

    /// Creates the Node of a machine, or takes over the one that it had before, and its lease.
    pub async fn register(&self, index: usize) -> Result<(), RegistryError> {
        let _permit = self.permits.acquire().await;
        let nodes: Api<Node> = Api::all(self.client.clone());
        let name = self.options.machine_name(index);
        let wanted = node::registration(&self.options, index, &self.kubelet_version, self.clock.now());
        let stored = match self.create_node(&wanted).await {
            Ok(stored) => stored,
            Err(kube::Error::Api(status)) if status.code == 409 => {
                let Some(found) = nodes.get_opt(&name).await? else { return Ok(()) };
                let ours =
                    found.spec.provider_id.as_deref().is_some_and(|id| id.starts_with(PROVIDER_PREFIX));
                if !ours {
                    return Err(RegistryError::Foreign { name });
                }
                let labels = json!({"metadata": {"labels": wanted["metadata"]["labels"]}});
                nodes.patch(&name, &params(), &Patch::Merge(labels)).await?
            }
            Err(error) => return Err(error.into()),
        };
        if !stored.is_ready() || stored.status.allocatable.is_empty() {
            self.write_status(index).await?;
        }
        self.renew_lease(&name, stored.metadata.uid.as_deref().unwrap_or_default()).await
    }

    async fn create_node(&self, wanted: &Value) -> kube::Result<Node> {
        let body = serde_json::to_vec(wanted).map_err(kube::Error::SerdeError)?;
        let request = http::Request::post(format!("/api/v1/nodes?fieldManager={FIELD_MANAGER}"))
            .header(http::header::CONTENT_TYPE, "application/json")
            .body(body)
            .map_err(kube::Error::HttpError)?;
        self.client.request(request).await
    }

    /// Reports the status of a machine whose Node exists.
    pub async fn report(&self, index: usize) -> Result<(), RegistryError> {
        let _permit = self.permits.acquire().await;
        self.write_status(index).await
    }

    /// Conditions keep the time of their last change only as long as nobody else wrote them; a list in a merge patch is
    /// replaced whole, and nobody else owns these.
    async fn write_status(&self, index: usize) -> Result<(), RegistryError> {
        let nodes: Api<Node> = Api::all(self.client.clone());
        let status = node::status(&self.options, index, &self.kubelet_version, self.clock.now());
        nodes
            .patch_status(
                &self.options.machine_name(index),
                &params(),
                &Patch::Merge(json!({"status": status})),
            )
            .await?;
        Ok(())
    }

    /// Deletes the node of a machine that is too many.
    pub async fn retire(&self, node: &Node) -> Result<(), RegistryError> {
        let _permit = self.permits.acquire().await;
        let nodes: Api<Node> = Api::all(self.client.clone());
        let only_this = Preconditions { uid: node.metadata.uid.clone(), resource_version: None };
        match nodes.delete(node.name(), &DeleteParams::default().preconditions(only_this)).await {
            Err(kube::Error::Api(status)) if status.code == 404 => Ok(()),
            result => result.map(|_| ()).map_err(Into::into),
        }
    }

    /// Renews the lease of a machine; makes it, and the namespace of leases, when they are not there.
    pub async fn renew_lease(&self, name: &str, node_uid: &str) -> Result<(), RegistryError> {
        let leases: Api<Lease> = Api::namespaced(self.client.clone(), LEASE_NAMESPACE);
        let now = self.clock.now().strftime("%Y-%m-%dT%H:%M:%S%.6fZ").to_string();
        let spec = json!({
            "holderIdentity": name, "leaseDurationSeconds": LEASE_HOLDS_SECONDS, "renewTime": now,
        });
        match leases.patch(name, &params(), &Patch::Merge(json!({"spec": spec}))).await {
            Err(kube::Error::Api(status)) if status.code == 404 => {}
            result => return result.map(|_| ()).map_err(Into::into),
        }
        let mut metadata = json!({"name": name, "namespace": LEASE_NAMESPACE});
        if !node_uid.is_empty() {
            metadata["ownerReferences"] =
                json!([{"apiVersion": "v1", "kind": "Node", "name": name, "uid": node_uid}]);
        }
        let lease: Lease = serde_json::from_value(json!({"metadata": metadata, "spec": spec}))
            .map_err(kube::Error::SerdeError)?;
        let post = PostParams { field_manager: Some(FIELD_MANAGER.into()), ..PostParams::default() };
        match leases.create(&post, &lease).await {
            Err(kube::Error::Api(status)) if status.code == 404 => {
                self.create_lease_namespace().await?;
                leases.create(&post, &lease).await?;
                Ok(())
            }
            // Two renewals at once: the other one made it.
            Err(kube::Error::Api(status)) if status.code == 409 => Ok(()),
            result => result.map(|_| ()).map_err(Into::into),
        }
    }

    async fn create_lease_namespace(&self) -> Result<(), RegistryError> {
        let namespaces: Api<Namespace> = Api::all(self.client.clone());
        let namespace: Namespace = serde_json::from_value(json!({"metadata": {"name": LEASE_NAMESPACE}}))
            .map_err(kube::Error::SerdeError)?;
        match namespaces.create(&PostParams::default(), &namespace).await {
            Err(kube::Error::Api(status)) if status.code == 409 => Ok(()),
            result => result.map(|_| ()).map_err(Into::into),
        }
    }
}

fn params() -> PatchParams {
    PatchParams { field_manager: Some(FIELD_MANAGER.into()), ..PatchParams::default() }
}
