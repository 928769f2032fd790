//! Starts the parts in their order and stops them gracefully.

use crate::{
    auth::{self, Clients},
    cli::{self, AuthMode, KruiseMode, ServeArgs},
    feed,
    http::{self, AppState, assets::Site},
    metrics::Metrics,
    reader::Reader,
    sandbox_run::{self, SandboxRun},
};
use anyhow::{Context, Result, bail};
use board::{PlayersFrom, SharedBoard};
use controllers::{
    batch::{self, BatchCaches, BatchContext},
    cache::{Caches, Namespaces},
};
use std::{collections::BTreeSet, net::SocketAddr, sync::Arc, time::Duration};
use tokio::{net::TcpListener, task::JoinHandle};
use tokio_util::sync::CancellationToken;

/// How long streams and reconciles may take to end.
const GRACE: Duration = Duration::from_secs(5);

/// Serves until a signal comes.
///
/// # Errors
/// When the arguments cannot work together, the port is taken, or no API server is named.
pub async fn serve(args: &ServeArgs) -> Result<()> {
    let base_path = cli::base_path(&args.base_path)?;
    if args.auth == AuthMode::None && !args.listen.ip().is_loopback() {
        bail!(
            "--listen {} would let everybody in: without authentication only loopback addresses are served",
            args.listen
        );
    }
    let listener = listen(args.listen).await?;
    let address = listener.local_addr().context("the listener has no address")?;
    let stop = CancellationToken::new();

    let sandbox = if args.sandbox { Some(sandbox_run::start(args, &stop).await?) } else { None };
    let client = match &sandbox {
        Some(sandbox) => sandbox.client(),
        None => auth::connect(&args.cluster).await?,
    };
    let Running { state, election } = start(args, base_path.clone(), client, sandbox.as_ref(), &stop)?;

    let ended = stop.clone();
    tokio::spawn(async move {
        until_signal().await;
        tracing::info!("stopping");
        ended.cancel();
    });
    greet(address, &base_path, sandbox.as_ref());
    let serving =
        axum::serve(listener, http::router(state)).with_graceful_shutdown(stop.clone().cancelled_owned());
    tokio::select! {
        served = serving => served.context("the HTTP server ended")?,
        () = async { stop.cancelled().await; tokio::time::sleep(GRACE).await } => {}
    }
    let_go(election).await;
    Ok(())
}

/// The parts that run, until their stop.
pub struct Running {
    /// What the HTTP side needs.
    pub state: AppState,
    /// The candidacy for leadership; it ends after the stop, when the lease was let go. See [`let_go`].
    pub election: JoinHandle<()>,
}

/// Waits after the stop until the lease was let go, so that another replica leads at once instead of waiting until it runs
/// out; for a bounded time, since the API may be away.
pub async fn let_go(election: JoinHandle<()>) {
    if tokio::time::timeout(GRACE, election).await.is_err() {
        tracing::warn!("the lease could not be let go in time: others wait until it runs out");
    }
}

/// Starts caches, board and controllers.
///
/// # Errors
/// When an argument cannot be understood.
pub fn start(
    args: &ServeArgs,
    base_path: String,
    client: kube::Client,
    sandbox: Option<&SandboxRun>,
    stop: &CancellationToken,
) -> Result<Running> {
    let caches = Caches::start(&client, &watched(&args.namespaces), stop);
    let batches = BatchCaches::start(&client, args.home(), stop);
    let players = match &args.players_from {
        // The simulated games of a sandbox say where.
        None if sandbox.is_some() => PlayersFrom::Annotation(sandbox::nodes::PLAYERS_ANNOTATION.to_owned()),
        None => PlayersFrom::Nowhere,
        Some(text) => text.parse().context("--players-from")?,
    };
    let board = SharedBoard::new(players);
    feed::start(&caches, &board, stop);
    let identity = identity();
    let election = controllers::leader::Election::new(args.home(), "pilothouse", identity.clone());
    let lease = election.refused.subscribe();
    let reader =
        Arc::new(Reader::new(board, caches.clone(), batches.clone(), sandbox.is_some(), lease, stop));
    let clients = Clients::new(client.clone(), args.auth);
    let metrics = Metrics::default();

    let controllers_metrics = controllers::metrics::Metrics::default();
    metrics.register(|registry| controllers_metrics.register(registry));
    let (leader, election) = election.start(client.clone(), stop.clone());
    if args.kruise == KruiseMode::Own {
        let context = controllers::run::Context {
            client: client.clone(),
            caches: caches.clone(),
            options: limits(args),
            events: controllers::events::Events::start(
                client.clone(),
                identity,
                controllers_metrics.clone(),
                stop.clone(),
            ),
            metrics: controllers_metrics,
        };
        tokio::spawn(controllers::run::run(context, leader.clone(), stop.clone()));
    }
    let context = BatchContext {
        client: client.clone(),
        client_for: {
            let clients = clients.clone();
            Arc::new(move |author| clients.client_for(&auth::Caller::of_author(author)))
        },
        batches,
        caches,
        resolver: reader.resolver(),
        workers: args.batch_workers,
    };
    tokio::spawn(batch::run(context, leader, stop.clone()));

    let state = AppState {
        reader,
        clients,
        shell: app::ShellEnv {
            base_path,
            sandbox: sandbox.is_some(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            ..app::ShellEnv::default()
        },
        site: Site::new(args.site.clone()),
        sandbox_kubeconfig: sandbox.map(|sandbox| sandbox.kubeconfig.clone()),
        sandbox: sandbox.map(SandboxRun::api),
        metrics,
        stop: stop.clone(),
    };
    Ok(Running { state, election })
}

/// How hard the controllers may work, as the command line says.
fn limits(args: &ServeArgs) -> controllers::run::Options {
    controllers::run::Options {
        set_workers: args.workers,
        server_workers: args.workers,
        qps: Some(args.cluster.qps),
        burst: args.cluster.burst,
        ..controllers::run::Options::default()
    }
}

/// The namespaces to watch, each once: a second watch of the same would show everything twice.
fn watched(names: &[String]) -> Namespaces {
    if names.is_empty() {
        return Namespaces::All;
    }
    let names: BTreeSet<&String> = names.iter().collect();
    Namespaces::Only(names.into_iter().cloned().collect())
}

/// Who this process is among the candidates for the lease.
fn identity() -> String {
    let host = std::env::var("HOSTNAME").unwrap_or_else(|_| "pilothouse".into());
    format!("{host}_{}", uuid::Uuid::new_v4())
}

async fn listen(address: SocketAddr) -> Result<TcpListener> {
    TcpListener::bind(address).await.with_context(|| {
        format!("cannot listen on {address}: is another pilothouse running? Choose a free port with --listen 127.0.0.1:0")
    })
}

fn greet(address: SocketAddr, base_path: &str, sandbox: Option<&SandboxRun>) {
    println!("\n  Pilothouse   http://{address}{base_path}/");
    if let Some(sandbox) = sandbox {
        let path = sandbox.kubeconfig_path.display();
        println!("  sandbox      an embedded cluster, gone when this stops; not for production");
        println!("  kubectl      kubectl --kubeconfig {path} get gameserversets.game.kruise.io -A");
    }
    println!();
}

/// Waits for Ctrl-C or, on Unix, SIGTERM.
pub async fn until_signal() {
    let interrupt = async {
        if let Err(error) = tokio::signal::ctrl_c().await {
            tracing::error!(%error, "Ctrl-C cannot be heard");
            std::future::pending::<()>().await;
        }
    };
    #[cfg(unix)]
    let terminate = async {
        match tokio::signal::unix::signal(tokio::signal::unix::SignalKind::terminate()) {
            Ok(mut signal) => {
                signal.recv().await;
            }
            Err(error) => {
                tracing::error!(%error, "SIGTERM cannot be heard");
                std::future::pending::<()>().await;
            }
        }
    };
    #[cfg(not(unix))]
    let terminate = std::future::pending::<()>();
    tokio::select! {
        () = interrupt => {}
        () = terminate => {}
    }
}

#[cfg(test)]
#[path = "runtime_test.rs"]
mod tests;
