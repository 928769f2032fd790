//! The sandbox in this process: API server, cluster controllers, simulated nodes, a world to start with.

use crate::{
    cli::ServeArgs,
    world::{self, World},
};
use anyhow::{Context, Result};
use std::{
    net::{Ipv4Addr, SocketAddr},
    path::{Path, PathBuf},
    sync::Arc,
};
use tokio_util::sync::CancellationToken;

/// A running sandbox.
pub struct SandboxRun {
    server: sandbox::api::Server,
    /// Kubeconfig of its API.
    pub kubeconfig: Arc<str>,
    /// Where the kubeconfig was written.
    pub kubeconfig_path: PathBuf,
    _serving: sandbox::api::Serving,
}

impl SandboxRun {
    /// A client that talks to the API in this process.
    #[must_use]
    pub fn client(&self) -> kube::Client {
        self.server.client()
    }

    /// Its API server, for trouble on purpose.
    #[must_use]
    pub fn api(&self) -> sandbox::api::Server {
        self.server.clone()
    }

    /// How often what was written since the start.
    #[must_use]
    pub fn writes(&self) -> sandbox::api::Writes {
        self.server.writes()
    }
}

/// Starts a sandbox with its CRDs and applies the world.
///
/// # Errors
/// When the port is taken, the world cannot be read or is refused, or the kubeconfig cannot be written.
pub async fn start(args: &ServeArgs, stop: &CancellationToken) -> Result<SandboxRun> {
    let world = World::parse(&args.sandbox_world)?;
    let manifests = world.manifests()?;
    let server = sandbox::api::Server::new();
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, args.sandbox_port));
    let serving = sandbox::api::serve(&server, address).await.with_context(|| {
        format!("the sandbox's API cannot listen on {address}; choose another --sandbox-port")
    })?;
    let client = server.client();
    crds::install::install(&client).await.context("the CRDs could not be installed in the sandbox")?;
    let options = sandbox::nodes::Options {
        machines: args.sandbox_nodes as usize,
        schedule_all: true,
        events_up_to: sandbox::nodes::EVENTS_UP_TO,
        ..sandbox::nodes::Options::default()
    };
    options.check().context("--sandbox-nodes")?;
    server.serve_logs(Arc::new(sandbox::SimulatedLogs { seed: options.seed }));
    sandbox::animate(&client, options, stop);
    world::apply(&client, &manifests)
        .await
        .with_context(|| format!("--sandbox-world {} could not be set up", args.sandbox_world))?;
    let kubeconfig: Arc<str> = serving.kubeconfig.clone().into();
    let kubeconfig_path = args.sandbox_kubeconfig.clone().unwrap_or_else(|| {
        let folder = format!("pilothouse-sandbox-{}", std::process::id());
        std::env::temp_dir().join(folder).join("kubeconfig")
    });
    write_private(&kubeconfig_path, &kubeconfig)
        .with_context(|| format!("cannot write the kubeconfig {}", kubeconfig_path.display()))?;
    Ok(SandboxRun { server, kubeconfig, kubeconfig_path, _serving: serving })
}

/// Writes a file that only its owner may read: it holds a token.
fn write_private(path: &Path, text: &str) -> std::io::Result<()> {
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder)?;
    }
    let mut options = std::fs::OpenOptions::new();
    options.write(true).create(true).truncate(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    std::io::Write::write_all(&mut options.open(path)?, text.as_bytes())
}
