//! Command line: what the process runs against, where it listens, how careful it is.

use clap::{Args, Parser, Subcommand, ValueEnum};
use std::{net::SocketAddr, path::PathBuf};

/// Runs game servers on Kubernetes and steers thousands of them from a live dashboard.
#[derive(Debug, Parser)]
#[command(name = "pilothouse", version, args_conflicts_with_subcommands = true)]
pub struct Cli {
    /// What to do instead of serving.
    #[command(subcommand)]
    pub command: Option<Command>,
    /// Options of the server.
    #[command(flatten)]
    pub serve: ServeArgs,
}

/// What the binary can do besides serving.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Prints the custom resource definitions and the namespace of the batches, to pipe into kubectl apply.
    Crds,
    /// Plays nodes: a scheduler and kubelets that run no containers, on any API server. Not for production.
    SimulateNodes(SimulateArgs),
}

/// How the log is written.
#[derive(Clone, Copy, Debug, Default, ValueEnum)]
pub enum LogFormat {
    /// For people.
    #[default]
    Text,
    /// One JSON object a line.
    Json,
}

/// How users are known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum AuthMode {
    /// Nobody is asked; only on a loopback address.
    #[default]
    None,
}

/// Whose controllers run OpenKruiseGame resources.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum KruiseMode {
    /// Ours; upstream's are not installed.
    #[default]
    Own,
    /// Nobody's here: read and edit only.
    Off,
}

/// Which API server, and how to reach it.
#[derive(Clone, Debug, Default, Args)]
pub struct ClusterArgs {
    /// Kubeconfig to use. Without it: $KUBECONFIG, ~/.kube/config, then the pod's own service account.
    #[arg(long, env = "PILOTHOUSE_KUBECONFIG", value_name = "FILE")]
    pub kubeconfig: Option<PathBuf>,
    /// Context of the kubeconfig.
    #[arg(long, value_name = "NAME")]
    pub context: Option<String>,
    /// Requests to the API server per second, sustained. In the sandbox it holds for the writes of the controllers only.
    #[arg(long, default_value_t = 500, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub qps: u32,
    /// Requests that may go out at once, after a quiet time, before `--qps` holds.
    #[arg(long, default_value_t = 1000, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub burst: u32,
}

/// Options of the server.
#[derive(Clone, Debug, Args)]
pub struct ServeArgs {
    /// Start an embedded Kubernetes API with simulated nodes in this process. Gone when it stops. Not for production.
    #[arg(long, conflicts_with_all = ["kubeconfig", "context"])]
    pub sandbox: bool,
    /// What the sandbox starts with.
    #[arg(long, default_value = "demo", value_name = "demo|empty|scale:N|FILE")]
    pub sandbox_world: String,
    /// Simulated machines of the sandbox.
    #[arg(long, default_value_t = 4, value_name = "N")]
    pub sandbox_nodes: u32,
    /// Port of the sandbox's Kubernetes API on loopback; 0 is any free one.
    #[arg(long, default_value_t = 0, value_name = "PORT")]
    pub sandbox_port: u16,
    /// Where the sandbox's kubeconfig is written. Default: a folder of its own under the temporary folder.
    #[arg(long, value_name = "FILE")]
    pub sandbox_kubeconfig: Option<PathBuf>,
    /// API server.
    #[command(flatten)]
    pub cluster: ClusterArgs,
    /// Only these namespaces, comma separated. Without it: all, which needs rights on the whole cluster.
    #[arg(long, value_delimiter = ',', value_name = "NS,…", value_parser = namespace)]
    pub namespaces: Vec<String>,
    /// Where Pilothouse keeps its lease and its batches. Default: pilothouse-system, or the first of --namespaces,
    /// because the rights may end there.
    #[arg(long, value_name = "NS", value_parser = namespace)]
    pub home_namespace: Option<String>,
    /// Address of the dashboard and the REST API.
    #[arg(long, env = "PILOTHOUSE_LISTEN", default_value = "127.0.0.1:7373")]
    pub listen: SocketAddr,
    /// Path under which a reverse proxy shows the dashboard, for example /pilothouse.
    #[arg(long, default_value = "", value_name = "PATH")]
    pub base_path: String,
    /// How users are known.
    #[arg(long, value_enum, default_value_t)]
    pub auth: AuthMode,
    /// Who reconciles OpenKruiseGame resources.
    #[arg(long, value_enum, default_value_t)]
    pub kruise: KruiseMode,
    /// Where the number of players of an OpenKruiseGame server stands. Default: nowhere; in the sandbox the annotation that
    /// simulated games write, `game.pilothouse.dev/players`.
    #[arg(long, value_name = "annotation:KEY|quality:NAME")]
    pub players_from: Option<String>,
    /// Sets and game servers that are reconciled at once, each.
    #[arg(long, default_value_t = 16, value_name = "N", value_parser = workers)]
    pub workers: usize,
    /// Edits of a batch that are under way at once.
    #[arg(long, default_value_t = 16, value_name = "N", value_parser = workers)]
    pub batch_workers: usize,
    /// Folder with the built site, instead of the one inside the binary.
    #[arg(long, env = "PILOTHOUSE_SITE", value_name = "DIR")]
    pub site: Option<PathBuf>,
    /// Log format.
    #[arg(long, value_enum, default_value_t)]
    pub log_format: LogFormat,
}

impl ServeArgs {
    /// Where the lease and the batches lie.
    #[must_use]
    pub fn home(&self) -> &str {
        let first = self.namespaces.first().map_or(crds::pilothouse::NAMESPACE, String::as_str);
        self.home_namespace.as_deref().unwrap_or(first)
    }
}

/// Reads a number of workers; with none nothing would ever be done.
fn workers(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(0) => Err("at least one worker is needed".into()),
        Ok(number) => Ok(number),
        Err(_) => Err("not a whole number".into()),
    }
}

/// Reads the name of a namespace: a DNS label, as Kubernetes wants it.
fn namespace(text: &str) -> Result<String, String> {
    let text = text.trim();
    let inner = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    let legal = !text.is_empty()
        && text.len() <= 63
        && text.chars().all(inner)
        && !text.starts_with('-')
        && !text.ends_with('-');
    if legal {
        Ok(text.to_owned())
    } else {
        Err("the name of a namespace is 1 to 63 small letters, digits and `-`, with no `-` at its ends"
            .into())
    }
}

/// Options of the simulated nodes.
#[derive(Clone, Debug, Args)]
pub struct SimulateArgs {
    /// API server.
    #[command(flatten)]
    pub cluster: ClusterArgs,
    /// Simulated machines.
    #[arg(long, default_value_t = 3, value_name = "N")]
    pub nodes: u32,
    /// Bind pods of every scheduler, not only of `pilothouse-simulated`. For clusters that have no other scheduler.
    #[arg(long)]
    pub schedule_all: bool,
    /// Log format.
    #[arg(long, value_enum, default_value_t)]
    pub log_format: LogFormat,
}

/// A base path that cannot be one.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("--base-path `{0}` must look like /name or /a/b, of letters, digits, `-`, `_`, `.`, `~`")]
pub struct BasePathError(String);

/// Brings a base path into the form `""` or `/a/b` (no slash at the end).
///
/// # Errors
/// When a part is empty, `.` or `..`, or holds other letters than URLs take without escapes.
pub fn base_path(text: &str) -> Result<String, BasePathError> {
    let trimmed = text.trim_matches('/');
    if trimmed.is_empty() {
        return Ok(String::new());
    }
    let legal = |part: &str| {
        !part.is_empty()
            && part != "."
            && part != ".."
            && part.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '~'))
    };
    if trimmed.split('/').all(legal) {
        Ok(format!("/{trimmed}"))
    } else {
        Err(BasePathError(text.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn limits_of_nothing_are_refused() {
        for option in ["--qps", "--burst", "--workers", "--batch-workers"] {
            assert!(Cli::try_parse_from(["pilothouse", option, "0"]).is_err(), "{option}");
            assert!(Cli::try_parse_from(["pilothouse", option, "1"]).is_ok(), "{option}");
        }
    }

    fn parsed(args: &[&str]) -> Result<ServeArgs, clap::Error> {
        Cli::try_parse_from([&["pilothouse"], args].concat()).map(|cli| cli.serve)
    }

    #[test]
    fn lease_and_batches_lie_where_the_rights_are() {
        assert_eq!(parsed(&[]).unwrap().home(), "pilothouse-system");
        assert_eq!(parsed(&["--namespaces", "games, more"]).unwrap().home(), "games");
        let named = parsed(&["--namespaces", "games", "--home-namespace", "tools"]).unwrap();
        assert_eq!(named.home(), "tools");
        assert_eq!(named.namespaces, ["games"]);
    }

    #[test]
    fn what_cannot_be_a_namespace_is_refused() {
        for odd in ["", ",", "Games", "a_b", "a-", "a b", &"x".repeat(64)] {
            let error = parsed(&["--namespaces", odd]).unwrap_err().to_string();
            assert!(error.contains("small letters"), "{odd}: {error}");
        }
    }

    #[test]
    fn base_paths_lose_their_last_slash() {
        assert_eq!(base_path("").unwrap(), "");
        assert_eq!(base_path("/").unwrap(), "");
        assert_eq!(base_path("ops/").unwrap(), "/ops");
        assert_eq!(base_path("/a/b-c").unwrap(), "/a/b-c");
        for odd in ["/a//b", "/..", "/a b", "/\"x"] {
            assert!(base_path(odd).is_err(), "{odd}");
        }
    }
}
