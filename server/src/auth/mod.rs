//! Who asks, and the Kubernetes client that acts for them. The only place that hands out clients for users.

mod caller;
mod limit;

pub use caller::{Caller, CallerRejection};
pub use limit::RateLimitLayer;

use crate::cli::{AuthMode, ClusterArgs};
use anyhow::{Context, Result};
use kube::{Client, Config, client::ClientBuilder, config::KubeConfigOptions};

/// Field manager and user agent of everything that this process writes.
pub const MANAGER: &str = "pilothouse";

/// Hands out the clients: the process's own for caches and controllers, and one for each caller.
#[derive(Clone)]
pub struct Clients {
    process: Client,
    mode: AuthMode,
}

impl Clients {
    /// Wraps the process's own client.
    #[must_use]
    pub fn new(process: Client, mode: AuthMode) -> Self {
        Self { process, mode }
    }

    /// The client that caches and controllers use. Never for a user's request.
    #[must_use]
    pub fn process(&self) -> Client {
        self.process.clone()
    }

    /// The client that does what a caller asks, with that caller's rights.
    ///
    /// In mode `none` there is nobody to protect and it is the process's own.
    #[must_use]
    pub fn client_for(&self, _caller: &Caller) -> Client {
        match self.mode {
            AuthMode::None => self.process.clone(),
        }
    }
}

/// Connects to the API server that the arguments name.
///
/// # Errors
/// When no kubeconfig can be read; the message names the file. Nothing is sent yet: an API server that is
/// away is a state of the running server, not a reason not to start.
pub async fn connect(args: &ClusterArgs) -> Result<Client> {
    let config = config(args).await?;
    let client = ClientBuilder::try_from(config)
        .context("the kubeconfig names credentials that cannot be used")?
        .with_layer(&RateLimitLayer::new(args.qps, args.burst))
        .build();
    Ok(client)
}

async fn config(args: &ClusterArgs) -> Result<Config> {
    let options = KubeConfigOptions { context: args.context.clone(), ..KubeConfigOptions::default() };
    let mut config = match &args.kubeconfig {
        Some(path) => {
            let kubeconfig = kube::config::Kubeconfig::read_from(path)
                .with_context(|| format!("cannot read the kubeconfig {}", path.display()))?;
            Config::from_custom_kubeconfig(kubeconfig, &options)
                .await
                .with_context(|| format!("the kubeconfig {} is not complete", path.display()))?
        }
        None if args.context.is_some() => {
            Config::from_kubeconfig(&options).await.context("cannot read the default kubeconfig")?
        }
        None => Config::infer().await.context(
            "found no API server: no --kubeconfig, no $KUBECONFIG, no ~/.kube/config and no pod service account. \
             Try `pilothouse --sandbox`",
        )?,
    };
    // Watches are long; the read time-out of the client would end them.
    config.read_timeout = Some(std::time::Duration::from_secs(320));
    config.connect_timeout = Some(std::time::Duration::from_secs(5));
    config.write_timeout = Some(std::time::Duration::from_secs(30));
    Ok(config)
}
