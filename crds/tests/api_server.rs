//! The manifests on a real API server: installed, served, structural, and every row of the rules as the table says.
//! Ignored unless asked for: `./dev test cluster` starts a control plane and names it in `PILOTHOUSE_TEST_KUBECONFIG`.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::time::Duration;

use anyhow::{Context, Result, ensure};
use k8s_openapi::api::core::v1::Namespace;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::api::{DeleteParams, DynamicObject, ObjectMeta, Patch, PatchParams, PostParams};
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::core::{ApiResource, GroupVersionKind};
use kube::runtime::wait::{await_condition, conditions};
use kube::{Api, Client, Config, ResourceExt};
use serde_json::{Value, json};

/// A client for the server of the environment.
async fn client() -> Result<Client> {
    let path = std::env::var("PILOTHOUSE_TEST_KUBECONFIG").context(
        "PILOTHOUSE_TEST_KUBECONFIG names no kubeconfig of a real API server: use ./dev test cluster",
    )?;
    let kubeconfig = Kubeconfig::read_from(&path).with_context(|| format!("cannot read {path}"))?;
    let config = Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default()).await?;
    Ok(Client::try_from(config)?)
}

#[tokio::test]
#[ignore = "needs a real control plane: ./dev test cluster"]
async fn a_real_api_server_serves_the_definitions_and_judges_as_the_table_says() -> Result<()> {
    let client = client().await?;

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

/// A set that was made before the rules existed must stay editable as long as the bad value is left alone.
#[tokio::test]
#[ignore = "needs a real control plane: ./dev test cluster"]
async fn what_was_stored_before_a_rule_existed_can_still_be_edited() -> Result<()> {
    let client = client().await?;
    let strict = copy_of_the_set()?;
    let edited = edit_what_was_stored_before(&client, &strict).await;
    let name = strict.metadata.name.context("a name")?;
    Api::<CustomResourceDefinition>::all(client).delete(&name, &DeleteParams::default()).await?;
    edited
}

async fn edit_what_was_stored_before(client: &Client, strict: &CustomResourceDefinition) -> Result<()> {
    let definitions = Api::<CustomResourceDefinition>::all(client.clone());
    let name = strict.metadata.name.as_deref().context("a name")?;
    apply(&definitions, &without_rules(strict)?).await?;
    let served = await_condition(definitions.clone(), name, conditions::is_crd_established());
    tokio::time::timeout(PATIENCE, served).await.context("the copy is not served")??;
    let kind = GroupVersionKind::gvk(&strict.spec.group, "v1alpha1", "GameServerSet");
    let resource = ApiResource::from_gvk_with_plural(&kind, &strict.spec.names.plural);
    let sets = Api::<DynamicObject>::namespaced_with(client.clone(), "default", &resource);
    sets.create(&PostParams::default(), &set("old", &json!([9, "6-3"]))?).await?;

    apply(&definitions, strict).await?;
    let dry = PostParams { dry_run: true, ..PostParams::default() };
    let probe = set("probe", &json!(["6-3"]))?;
    let in_force = async { while sets.create(&dry, &probe).await.is_ok() {} };
    tokio::time::timeout(PATIENCE, in_force).await.context("the rules do not come into force")?;

    let patch = |spec: Value| Patch::Merge(json!({ "spec": spec }));
    let params = PatchParams::default();
    let scaled = sets.patch("old", &params, &patch(json!({ "replicas": 5 }))).await;
    scaled.context("the bad range stops an edit of something else")?;
    let still_bad = sets.patch("old", &params, &patch(json!({ "reserveGameServerIds": [9, "8-3"] }))).await;
    let refusal = still_bad.err().context("a new bad range was accepted")?;
    ensure!(refusal.to_string().contains("from the lower to the higher"), "{refusal}");
    sets.patch("old", &params, &patch(json!({ "reserveGameServerIds": [9, "3-6"] }))).await?;
    Ok(())
}

/// How long the server may take to serve a definition or to learn a change of it.
const PATIENCE: Duration = Duration::from_secs(30);

/// The definition of GameServerSet under a group of its own, so that other tests keep theirs.
fn copy_of_the_set() -> Result<CustomResourceDefinition> {
    let mut crd = crds::rules::definition("GameServerSet").context("no GameServerSet")?;
    crd.spec.group = "before.pilothouse.test".into();
    crd.spec.names.short_names = None;
    crd.metadata.name = Some(format!("{}.{}", crd.spec.names.plural, crd.spec.group));
    Ok(crd)
}

/// The same definition as it could have been before: nothing is checked below the spec.
fn without_rules(crd: &CustomResourceDefinition) -> Result<CustomResourceDefinition> {
    let mut value = serde_json::to_value(crd)?;
    value["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"] = json!({
        "type": "object",
        "x-kubernetes-preserve-unknown-fields": true,
    });
    Ok(serde_json::from_value(value)?)
}

async fn apply(definitions: &Api<CustomResourceDefinition>, crd: &CustomResourceDefinition) -> Result<()> {
    let name = crd.metadata.name.as_deref().context("a name")?;
    definitions.patch(name, &PatchParams::apply("crds-test").force(), &Patch::Apply(crd)).await?;
    Ok(())
}

fn set(name: &str, reserved: &Value) -> Result<DynamicObject> {
    Ok(serde_json::from_value(json!({
        "apiVersion": "before.pilothouse.test/v1alpha1",
        "kind": "GameServerSet",
        "metadata": { "name": name },
        "spec": { "replicas": 1, "reserveGameServerIds": reserved },
    }))?)
}
