//! Installs the manifests on an API server and waits until it serves them.
//!
//! For clusters that are ours: the sandbox, test clusters. On a real cluster people apply `pilothouse crds` themselves.

use std::time::Duration;

use k8s_openapi::api::core::v1::Namespace;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::api::{Api, Patch, PatchParams};
use kube::runtime::wait::{await_condition, conditions};

use crate::manifest::{all, namespace};

/// Field manager of the manifests.
pub const MANAGER: &str = "pilothouse-crds";

/// How long one definition may take until it is served.
const PATIENCE: Duration = Duration::from_secs(30);

/// Why the definitions are not there.
#[derive(Debug, thiserror::Error)]
pub enum InstallError {
    /// The API server refused one, or could not be asked.
    #[error("{name}: {source}")]
    Refused {
        /// Name of the object.
        name: String,
        /// What the API server said.
        source: Box<kube::Error>,
    },
    /// It was accepted and is not served.
    #[error("{name} was accepted and is not served: {reason}")]
    NotServed {
        /// Name of the definition.
        name: String,
        /// Its conditions, or why they could not be read.
        reason: String,
    },
}

/// Applies the namespace and all definitions, taking over fields that others set, and waits until each is served.
///
/// # Errors
/// Names the first object that was refused or is not served.
pub async fn install(client: &kube::Client) -> Result<(), InstallError> {
    let params = PatchParams::apply(MANAGER).force();
    let refused = |name: &str| {
        let name = name.to_owned();
        move |source| InstallError::Refused { name, source: Box::new(source) }
    };
    let home = namespace();
    let name = home.metadata.name.clone().unwrap_or_default();
    let namespaces = Api::<Namespace>::all(client.clone());
    namespaces.patch(&name, &params, &Patch::Apply(&home)).await.map_err(refused(&name))?;

    let definitions = Api::<CustomResourceDefinition>::all(client.clone());
    let mut names = Vec::new();
    for crd in all() {
        let name = crd.metadata.name.clone().unwrap_or_default();
        definitions.patch(&name, &params, &Patch::Apply(&crd)).await.map_err(refused(&name))?;
        names.push(name);
    }
    for name in names {
        served(&definitions, &name).await?;
    }
    Ok(())
}

async fn served(definitions: &Api<CustomResourceDefinition>, name: &str) -> Result<(), InstallError> {
    let established = await_condition(definitions.clone(), name, conditions::is_crd_established());
    let reason = match tokio::time::timeout(PATIENCE, established).await {
        Ok(Ok(_)) => return Ok(()),
        Ok(Err(error)) => error.to_string(),
        Err(_) => definitions.get(name).await.map_or_else(|error| error.to_string(), |crd| problems(&crd)),
    };
    Err(InstallError::NotServed { name: name.to_owned(), reason })
}

/// The conditions of a definition that are not as they should be, in words; empty when all is well.
#[must_use]
pub fn problems(crd: &CustomResourceDefinition) -> String {
    let conditions = crd.status.iter().flat_map(|status| status.conditions.iter().flatten());
    let wrong = conditions.filter(|condition| {
        let wanted = if condition.type_ == "NonStructuralSchema" || condition.type_ == "Terminating" {
            "False"
        } else {
            "True"
        };
        condition.status != wanted
    });
    let words: Vec<String> = wrong
        .map(|condition| {
            format!(
                "{}={}: {}",
                condition.type_,
                condition.status,
                condition.message.as_deref().unwrap_or("no message")
            )
        })
        .collect();
    words.join("; ")
}
