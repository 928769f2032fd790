//! An embedded cluster with the whole product on it, on loopback, for one benchmark.

use crate::client::Http;
use anyhow::Result;
use clap::Parser;
use pilothouse::{
    cli::Cli,
    http,
    runtime::{self, Running},
    sandbox_run::{self, SandboxRun},
};
use std::{net::SocketAddr, time::Duration};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

/// A running product.
pub struct World {
    /// Speaks to it.
    pub http: Http,
    /// Its embedded cluster.
    pub sandbox: SandboxRun,
    stop: CancellationToken,
    election: tokio::task::JoinHandle<()>,
}

impl World {
    /// Starts with so many servers and waits until all of them are Ready.
    pub async fn with_servers(servers: u32) -> Result<Self> {
        let world = format!("scale:{servers}");
        let nodes = (servers / 100).clamp(4, 500).to_string();
        let kubeconfig =
            std::env::temp_dir().join(format!("pilothouse-bench-{}/kubeconfig", std::process::id()));
        let kubeconfig = kubeconfig.to_string_lossy().into_owned();
        let arguments = [
            "pilothouse",
            "--sandbox",
            "--sandbox-world",
            &world,
            "--sandbox-nodes",
            &nodes,
            "--sandbox-kubeconfig",
            &kubeconfig,
        ];
        let args = Cli::try_parse_from(arguments)?.serve;
        let stop = CancellationToken::new();
        let sandbox = sandbox_run::start(&args, &stop).await?;
        let Running { state, election } =
            runtime::start(&args, String::new(), sandbox.client(), Some(&sandbox), &stop)?;
        let listener = TcpListener::bind(SocketAddr::from(([127, 0, 0, 1], 0))).await?;
        let address = listener.local_addr()?;
        tokio::spawn(axum::serve(listener, http::router(state)).into_future());
        let world = Self { http: Http::new(address), sandbox, stop, election };
        world.ready(servers).await?;
        Ok(world)
    }

    async fn ready(&self, servers: u32) -> Result<()> {
        let end = tokio::time::Instant::now() + Duration::from_secs(600);
        loop {
            let window: wire::ServersWindow = self.http.get("gameservers?q=state:Ready&limit=1").await?;
            if window.matched >= servers {
                return Ok(());
            }
            if tokio::time::Instant::now() > end {
                anyhow::bail!("only {} of {servers} servers became Ready", window.matched);
            }
            tokio::time::sleep(Duration::from_millis(200)).await;
        }
    }

    /// Stops it.
    pub async fn stop(self) {
        self.stop.cancel();
        runtime::let_go(self.election).await;
    }
}
