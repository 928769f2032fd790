//! What a sandbox starts with: sets of made-up games, or manifests from a file.

use anyhow::{Context, Result, bail};
use kube::{
    Api, Client, ResourceExt,
    api::{DynamicObject, Patch, PatchParams},
    core::{ApiResource, GroupVersionKind, TypeMeta},
    discovery::{self, Scope},
};
use serde::Deserialize;
use std::path::PathBuf;

/// The demonstration world: three games with 60 servers in two namespaces, and the troubles of a usual day.
const DEMO: &str = include_str!("../worlds/demo.yaml");
/// Servers of one set in a world of a size.
const SERVERS_PER_SET: u32 = 2_500;
/// Most servers of a world of a size.
const MOST: u32 = 200_000;

/// A starting state of the sandbox.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum World {
    /// Nothing but the CRDs.
    Empty,
    /// Three sets of made-up games.
    Demo,
    /// So many servers, in sets of at most 2,500.
    Scale(u32),
    /// Manifests of a file, several documents allowed.
    File(PathBuf),
}

impl World {
    /// Reads `demo`, `empty`, `scale:N` or a file's path.
    ///
    /// # Errors
    /// When N is no number of servers that fits.
    pub fn parse(text: &str) -> Result<Self> {
        match text {
            "demo" => Ok(Self::Demo),
            "empty" => Ok(Self::Empty),
            _ => match text.strip_prefix("scale:") {
                None => Ok(Self::File(text.into())),
                Some(number) => match number.replace(['_', ','], "").parse() {
                    Ok(servers) if servers <= MOST => Ok(Self::Scale(servers)),
                    _ => bail!("--sandbox-world scale:N takes a number up to {MOST}, not `{number}`"),
                },
            },
        }
    }

    /// The manifests of this world.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn manifests(&self) -> Result<String> {
        match self {
            Self::Empty => Ok(String::new()),
            Self::Demo => Ok(DEMO.to_owned()),
            Self::Scale(servers) => Ok(scale(*servers)),
            Self::File(path) => std::fs::read_to_string(path).with_context(|| {
                format!(
                    "cannot read the world {} (known without a file: demo, empty, scale:N)",
                    path.display()
                )
            }),
        }
    }
}

fn scale(servers: u32) -> String {
    let games = ["minecraft", "arena", "racing", "islands", "chess"];
    let mut text = String::new();
    let sets = servers.div_ceil(SERVERS_PER_SET);
    for at in 0..sets {
        let replicas = servers / sets + u32::from(at < servers % sets);
        let game = games[at as usize % games.len()];
        text.push_str(&format!(
            "---\napiVersion: game.kruise.io/v1alpha1\nkind: GameServerSet\nmetadata: {{name: {game}-{at}, namespace: default}}\n\
             spec:\n  replicas: {replicas}\n  gameServerTemplate:\n    spec:\n      containers:\n      - {{name: game, image: \"{game}:1.{at}\"}}\n"
        ));
    }
    text
}

/// Applies manifests in their order.
///
/// # Errors
/// When a document is no object, its kind is unknown, or the API refuses it; the message names the object.
pub async fn apply(client: &Client, manifests: &str) -> Result<usize> {
    let mut applied = 0;
    for document in serde_yaml::Deserializer::from_str(manifests) {
        let value = serde_yaml::Value::deserialize(document).context("the manifests are no YAML")?;
        if value.is_null() {
            continue;
        }
        let object: DynamicObject =
            serde_yaml::from_value(value).context("a document of the manifests is no Kubernetes object")?;
        let Some(TypeMeta { api_version, kind }) = object.types.clone() else {
            bail!("a document of the manifests has no apiVersion and kind")
        };
        let name = object.name_any();
        let gvk = GroupVersionKind::try_from(&TypeMeta { api_version, kind: kind.clone() })
            .with_context(|| format!("{kind} {name} has an odd apiVersion"))?;
        let (resource, capabilities) = discovery::pinned_kind(client, &gvk)
            .await
            .with_context(|| format!("the API server does not know the kind of {kind} {name}"))?;
        let api = api_for(client, &object, &resource, capabilities.scope == Scope::Namespaced);
        let params = PatchParams::apply("pilothouse-world").force();
        api.patch(&name, &params, &Patch::Apply(&object))
            .await
            .with_context(|| format!("{kind} {name} was refused"))?;
        applied += 1;
    }
    Ok(applied)
}

fn api_for(
    client: &Client,
    object: &DynamicObject,
    resource: &ApiResource,
    namespaced: bool,
) -> Api<DynamicObject> {
    if namespaced {
        let namespace = object.namespace().unwrap_or_else(|| "default".into());
        Api::namespaced_with(client.clone(), &namespace, resource)
    } else {
        Api::all_with(client.clone(), resource)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn worlds_are_named_or_files() {
        assert_eq!(World::parse("demo").unwrap(), World::Demo);
        assert_eq!(World::parse("scale:50_000").unwrap(), World::Scale(50_000));
        assert_eq!(World::parse("./x.yaml").unwrap(), World::File("./x.yaml".into()));
        assert!(World::parse("scale:lots").is_err());
        assert!(World::parse("scale:900000").is_err());
    }

    #[test]
    fn a_world_of_a_size_has_that_size() {
        let mut total = 0;
        for document in serde_yaml::Deserializer::from_str(&scale(5_001)) {
            let value = serde_yaml::Value::deserialize(document).unwrap();
            total += value
                .get("spec")
                .and_then(|s| s.get("replicas"))
                .and_then(serde_yaml::Value::as_u64)
                .unwrap_or(0);
        }
        assert_eq!(total, 5_001);
    }

    #[test]
    fn the_demo_has_three_sets_and_sixty_servers() {
        let documents: Vec<serde_yaml::Value> = serde_yaml::Deserializer::from_str(DEMO)
            .map(|document| serde_yaml::Value::deserialize(document).unwrap())
            .collect();
        let sets: Vec<&serde_yaml::Value> =
            documents.iter().filter(|document| document["kind"] == "GameServerSet").collect();
        let replicas: u64 = sets.iter().filter_map(|set| set["spec"]["replicas"].as_u64()).sum();
        assert_eq!((sets.len(), replicas), (3, 60));
        let names: Vec<&str> = sets.iter().filter_map(|set| set["metadata"]["name"].as_str()).collect();
        for server in documents.iter().filter(|document| document["kind"] == "GameServer") {
            let name = server["metadata"]["name"].as_str().unwrap();
            let (set, id) = name.rsplit_once('-').unwrap();
            let set = names.iter().position(|known| *known == set).expect("its set is there");
            assert!(id.parse::<u64>().unwrap() < sets[set]["spec"]["replicas"].as_u64().unwrap(), "{name}");
        }
    }
}
