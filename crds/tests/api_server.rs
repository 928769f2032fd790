//! The manifests on a real API server: installed, served, structural, and every row of the rules as the table says.
//! Needs `PILOTHOUSE_TEST_KUBECONFIG`; `./dev test cluster` starts a control plane and sets it.

use anyhow::{Context, Result};
use k8s_openapi::api::core::v1::Namespace;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::api::{DeleteParams, ObjectMeta, PostParams};
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Api, Client, Config, ResourceExt};

/// A client for the server of the environment; nothing when there is none, which is said aloud.
async fn client() -> Result<Option<Client>> {
    let Ok(path) = std::env::var("PILOTHOUSE_TEST_KUBECONFIG") else {
        eprintln!(
            "SKIPPED: PILOTHOUSE_TEST_KUBECONFIG is not set, so there is no real API server to try the CRDs on"
        );
        return Ok(None);
    };
    let kubeconfig = Kubeconfig::read_from(&path).with_context(|| format!("cannot read {path}"))?;
    let config = Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default()).await?;
    Ok(Some(Client::try_from(config)?))
}

#[tokio::test]
async fn a_real_api_server_serves_the_definitions_and_judges_as_the_table_says() -> Result<()> {
    let Some(client) = client().await? else { return Ok(()) };

    crds::install::install(&client).await?;
    let definitions = Api::<CustomResourceDefinition>::all(client.clone());
    for crd in crds::all() {
        let name = crd.metadata.name.context("a definition without a name")?;
        let installed = definitions.get(&name).await?;
        assert_eq!(crds::install::problems(&installed), "", "{name}");
    }

    let namespaces = Api::<Namespace>::all(client.clone());
    let namespace = Namespace {
        metadata: ObjectMeta { generate_name: Some("crd-rules-".into()), ..ObjectMeta::default() },
        ..Namespace::default()
    };
    let namespace = namespaces.create(&PostParams::default(), &namespace).await?.name_any();
    let mismatches = crds::rules::run(&client, &namespace, true).await;
    namespaces.delete(&namespace, &DeleteParams::default()).await?;
    let mismatches = mismatches?;
    let told: Vec<String> = mismatches.iter().map(|row| format!("{}: {}", row.id, row.what)).collect();
    assert!(told.is_empty(), "{} rows came out differently:\n{}", told.len(), told.join("\n"));
    Ok(())
}
