//! The two API servers that are compared, each in processes of its own.

use crate::load::resident;
use anyhow::{Context, Result, ensure};
use kube::{
    Client, Config,
    config::{KubeConfigOptions, Kubeconfig},
};
use std::{
    net::{Ipv4Addr, SocketAddr},
    path::Path,
    process::Stdio,
};
use tokio::{
    io::{AsyncBufReadExt, AsyncReadExt, BufReader},
    process::{Child, ChildStdin, Command},
};

/// The argument that makes this program an embedded API.
pub const CHILD: &str = "--sandbox-child";
/// The line after the kubeconfig that the embedded API prints.
const END: &str = "---";
const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/..");
/// Folder of the real control plane, under the root.
const CLUSTER: &str = "target/cluster-bench";

/// A running API server with our resource definitions.
pub struct Target {
    /// Speaks to it.
    pub client: Client,
    pids: Vec<u32>,
    end: End,
}

enum End {
    /// It ends when its input does.
    Child(Box<Child>, ChildStdin),
    /// The repository's tool ends it.
    Cluster,
}

impl Target {
    /// Starts an embedded API.
    pub async fn sandbox() -> Result<Self> {
        let mut child = Command::new(std::env::current_exe()?)
            .arg(CHILD)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()?;
        let input = child.stdin.take().context("no input")?;
        let mut lines = BufReader::new(child.stdout.take().context("no output")?).lines();
        let mut kubeconfig = String::new();
        loop {
            match lines.next_line().await?.context("the embedded API did not start")? {
                line if line == END => break,
                line => kubeconfig += &format!("{line}\n"),
            }
        }
        let pids = vec![child.id().context("the embedded API has ended")?];
        Ok(Self { client: connect(&kubeconfig).await?, pids, end: End::Child(Box::new(child), input) })
    }

    /// Starts etcd and kube-apiserver; `None` where they cannot be built.
    pub async fn real() -> Result<Option<Self>> {
        if !cluster("build-possible", &[]).await?.success() {
            return Ok(None);
        }
        ensure!(cluster("up", &["--bare"]).await?.success(), "the real control plane did not start");
        let folder = Path::new(ROOT).join(CLUSTER);
        let pid = |name: &str| -> Result<u32> {
            let text = std::fs::read_to_string(folder.join(format!("{name}.pid")))?;
            Ok(text.split_whitespace().next().context("an empty pid file")?.parse()?)
        };
        let kubeconfig = std::fs::read_to_string(folder.join("kubeconfig"))?;
        let client = connect(&kubeconfig).await?;
        crds::install::install(&client).await?;
        Ok(Some(Self { client, pids: vec![pid("etcd")?, pid("apiserver")?], end: End::Cluster }))
    }

    /// Resident memory of its processes, in MB.
    pub fn resident(&self) -> Result<f64> {
        self.pids.iter().map(|pid| resident(&pid.to_string())).sum()
    }

    /// Ends it.
    pub async fn end(self) -> Result<()> {
        match self.end {
            End::Child(mut child, input) => {
                drop(input);
                child.wait().await?;
            }
            End::Cluster => drop(cluster("down", &[]).await?),
        }
        Ok(())
    }
}

async fn cluster(command: &str, arguments: &[&str]) -> Result<std::process::ExitStatus> {
    let mut tool = Command::new("bash");
    tool.arg("tools/cluster.sh").arg(command).args(arguments).current_dir(ROOT);
    tool.env("PILOTHOUSE_CLUSTER_DIR", CLUSTER).stdin(Stdio::null());
    // What it says belongs to the progress, not to the table.
    tool.stdout(Stdio::null());
    Ok(tool.status().await?)
}

async fn connect(kubeconfig: &str) -> Result<Client> {
    let config = Kubeconfig::from_yaml(kubeconfig)?;
    Ok(Client::try_from(Config::from_custom_kubeconfig(config, &KubeConfigOptions::default()).await?)?)
}

/// An embedded API with our resource definitions, until the input ends.
pub async fn child() -> Result<()> {
    let server = sandbox::api::Server::new();
    let serving = sandbox::api::serve(&server, SocketAddr::from((Ipv4Addr::LOCALHOST, 0))).await?;
    crds::install::install(&server.client()).await?;
    println!("{}\n{END}", serving.kubeconfig.trim_end());
    tokio::io::stdin().read_to_end(&mut Vec::new()).await?;
    serving.shutdown().await;
    Ok(())
}
