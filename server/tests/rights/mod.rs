//! Accounts with exactly the rights of `rights.yaml`, and a client that notes what is asked of the API server.

use http::{Method, StatusCode};
use kube::{
    Api, Client, Config,
    api::{DynamicObject, PostParams},
    client::Body,
    config::{KubeConfigOptions, Kubeconfig},
};
use serde::Deserialize;
use serde_json::{Value, json};
use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Arc, Mutex},
};

use crate::world::{apply, kind_of};

/// One rule of a Role.
#[derive(Clone, Debug, Deserialize, serde::Serialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Rule {
    api_groups: Vec<String>,
    resources: Vec<String>,
    verbs: Vec<String>,
}

fn rules() -> BTreeMap<String, Vec<Rule>> {
    serde_yaml::from_str(include_str!("../rights.yaml")).unwrap()
}

/// Verb, group and resource, as in `patch game.kruise.io/gameservers/status`.
type Right = String;

/// All single rights of some lists.
pub fn granted(lists: &[&str]) -> BTreeSet<Right> {
    let mut all = BTreeSet::new();
    for rule in
        rules().into_iter().filter(|(name, _)| lists.contains(&name.as_str())).flat_map(|(_, rules)| rules)
    {
        for (group, resource, verb) in rule
            .api_groups
            .iter()
            .flat_map(|group| rule.resources.iter().map(move |resource| (group, resource)))
            .flat_map(|(group, resource)| rule.verbs.iter().map(move |verb| (group, resource, verb)))
        {
            all.insert(format!("{verb} {group}/{resource}"));
        }
    }
    all
}

async fn config() -> Config {
    let path =
        std::env::var("PILOTHOUSE_TEST_KUBECONFIG").expect("names a real API server: ./dev test cluster");
    let file = Kubeconfig::read_from(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
    Config::from_custom_kubeconfig(file, &KubeConfigOptions::default()).await.unwrap()
}

/// The one who may do everything.
pub async fn admin() -> Client {
    let client = Client::try_from(config().await).unwrap();
    crds::install::install(&client).await.unwrap();
    client
}

/// The same server with another token and nothing else to be known by.
pub async fn client_with_token(_admin: &Client, token: &str) -> Client {
    let mut config = config().await;
    config.auth_info = serde_json::from_value(json!({ "token": token })).unwrap();
    Client::try_from(config).unwrap()
}

/// A service account, as a deployment would have one.
pub struct Account {
    namespace: String,
}

impl Account {
    pub async fn create(admin: &Client, namespace: &str) -> Self {
        let account = json!({
            "apiVersion": "v1", "kind": "ServiceAccount",
            "metadata": { "name": "pilothouse", "namespace": namespace },
        });
        apply(admin, &account).await.unwrap();
        Self { namespace: namespace.to_owned() }
    }

    /// Gives it a list of rights in a namespace.
    pub async fn allow(&self, admin: &Client, namespace: &str, list: &str) {
        let name = format!("pilothouse-{list}");
        let group = "rbac.authorization.k8s.io";
        let metadata = json!({ "name": name, "namespace": namespace });
        let role = json!({
            "apiVersion": format!("{group}/v1"), "kind": "Role", "metadata": metadata, "rules": rules()[list],
        });
        let binding = json!({
            "apiVersion": format!("{group}/v1"), "kind": "RoleBinding", "metadata": metadata,
            "roleRef": { "apiGroup": group, "kind": "Role", "name": name },
            "subjects": [{ "kind": "ServiceAccount", "name": "pilothouse", "namespace": self.namespace }],
        });
        apply(admin, &role).await.unwrap();
        apply(admin, &binding).await.unwrap();
    }

    /// A client with its token.
    pub async fn client(&self, admin: &Client) -> Client {
        let kind = kind_of(&json!({ "apiVersion": "v1", "kind": "ServiceAccount" }));
        let accounts: Api<DynamicObject> = Api::namespaced_with(admin.clone(), &self.namespace, &kind);
        let request = json!({ "apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {} });
        let answer: Value = accounts
            .create_subresource("token", "pilothouse", &PostParams::default(), &request)
            .await
            .unwrap();
        client_with_token(admin, answer["status"]["token"].as_str().unwrap()).await
    }
}

/// Notes every request and its answer.
#[derive(Clone, Default)]
pub struct Recorder {
    seen: Arc<Mutex<BTreeSet<(Right, String, bool)>>>,
}

impl Recorder {
    /// The client, noted.
    pub fn watch_over(&self, client: Client) -> Client {
        let recorder = self.clone();
        let service = tower::service_fn(move |request: http::Request<Body>| {
            let (client, recorder) = (client.clone(), recorder.clone());
            async move {
                let (right, namespace) = asked(request.method(), request.uri());
                let answer = client.send(request).await?;
                let refused = matches!(answer.status(), StatusCode::FORBIDDEN | StatusCode::UNAUTHORIZED);
                recorder.seen.lock().unwrap().insert((right, namespace, refused));
                Ok::<_, kube::Error>(answer)
            }
        });
        Client::new(service, "default")
    }

    /// What was refused.
    pub fn refused(&self) -> BTreeSet<Right> {
        self.pick(|(_, _, refused)| *refused)
    }

    /// What was used.
    pub fn used(&self) -> BTreeSet<Right> {
        self.pick(|_| true)
    }

    fn pick(&self, wanted: impl Fn(&(Right, String, bool)) -> bool) -> BTreeSet<Right> {
        self.seen.lock().unwrap().iter().filter(|one| wanted(one)).map(|one| one.0.clone()).collect()
    }

    /// The namespaces that were asked about; empty for the whole cluster.
    pub fn namespaces(&self) -> BTreeSet<String> {
        self.seen.lock().unwrap().iter().map(|one| one.1.clone()).collect()
    }
}

/// The right that a request needs, and where.
fn asked(method: &Method, uri: &http::Uri) -> (Right, String) {
    let mut parts: Vec<&str> = uri.path().trim_matches('/').split('/').collect();
    // /api/v1/… has no group, /apis/GROUP/VERSION/… has one.
    let group = if parts[0] == "api" { "" } else { parts[1] };
    parts.drain(..if group.is_empty() { 2 } else { 3 });
    let mut namespace = "";
    if parts.first() == Some(&"namespaces") && parts.len() > 2 {
        namespace = parts[1];
        parts.drain(..2);
    }
    let resource = match parts[..] {
        [kind, _, sub] => format!("{kind}/{sub}"),
        [kind, ..] => kind.to_owned(),
        [] => String::new(),
    };
    let one = parts.len() > 1;
    let watches = uri.query().is_some_and(|query| query.contains("watch=true"));
    let verb = match method.as_str() {
        "GET" if watches => "watch",
        "GET" if one => "get",
        "GET" => "list",
        "POST" => "create",
        "PUT" => "update",
        "PATCH" => "patch",
        "DELETE" if one => "delete",
        _ => "deletecollection",
    };
    (format!("{verb} {group}/{resource}"), namespace.to_owned())
}
