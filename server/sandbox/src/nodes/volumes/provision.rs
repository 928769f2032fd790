//! The writes of the provisioner.

use k8s_openapi::api::core::v1::PersistentVolume;
use k8s_openapi::api::storage::v1::StorageClass;
use kube::Client;
use kube::api::{Api, DeleteParams, PostParams, Preconditions};
use serde_json::Value;

use super::objects::storage_classes;
use crate::nodes::write::FIELD_MANAGER;

fn params() -> PostParams {
    PostParams { field_manager: Some(FIELD_MANAGER.into()), ..PostParams::default() }
}

/// Makes the storage classes where they are missing. Those that are there stay as somebody made them.
pub async fn install_classes(client: &Client) -> kube::Result<()> {
    let classes: Api<StorageClass> = Api::all(client.clone());
    for class in storage_classes() {
        let class: StorageClass = serde_json::from_value(class).map_err(kube::Error::SerdeError)?;
        match classes.create(&params(), &class).await {
            Err(kube::Error::Api(status)) if status.code == 409 => {}
            result => result.map(|_| ())?,
        }
    }
    Ok(())
}

/// Makes a volume. One of this name is there already when an answer was lost: its name holds the claim's uid.
pub async fn make(client: &Client, volume: Value) -> kube::Result<()> {
    let volumes: Api<PersistentVolume> = Api::all(client.clone());
    let volume: PersistentVolume = serde_json::from_value(volume).map_err(kube::Error::SerdeError)?;
    match volumes.create(&params(), &volume).await {
        Err(kube::Error::Api(status)) if status.code == 409 => Ok(()),
        result => result.map(|_| ()),
    }
}

/// Deletes exactly this volume.
pub async fn delete(client: &Client, name: &str, uid: Option<String>) -> kube::Result<()> {
    let volumes: Api<PersistentVolume> = Api::all(client.clone());
    let only_this = Preconditions { uid, resource_version: None };
    match volumes.delete(name, &DeleteParams::default().preconditions(only_this)).await {
        Err(kube::Error::Api(status)) if matches!(status.code, 404 | 409) => Ok(()),
        result => result.map(|_| ()),
    }
}
