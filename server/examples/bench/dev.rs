//! What a developer waits for: from a clone to the page, and from a touched file to the page served again.

use crate::figure::Figure;
use anyhow::{Context, Result, bail};
use std::{
    path::Path,
    process::Stdio,
    time::{Duration, Instant, SystemTime},
};
use tokio::{
    io::{AsyncBufReadExt, BufReader},
    process::{Child, Command},
};

/// Longest time that a first build may take before the measurement is given up.
const PATIENCE: Duration = Duration::from_secs(45 * 60);

/// This repository.
const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/..");

/// Clones the last commit into an empty folder, with an empty cache of tools, and waits for the page; then starts again.
pub async fn clone() -> Result<Vec<Figure>> {
    let folder = std::env::temp_dir().join(format!("pilothouse-bench-clone-{}", std::process::id()));
    std::fs::create_dir_all(&folder)?;
    let (repository, cache) = (folder.join("pilothouse"), folder.join("cache"));
    let began = Instant::now();
    let cloned = Command::new("git").args(["clone", "--quiet", ROOT]).arg(&repository).status().await?;
    anyhow::ensure!(cloned.success(), "git clone failed");
    let result = async {
        until_page(&repository, Some(&cache)).await?;
        let first = began.elapsed().as_secs_f64();
        let began = Instant::now();
        until_page(&repository, Some(&cache)).await?;
        Ok((first, began.elapsed().as_secs_f64()))
    };
    let result: Result<(f64, f64)> = result.await;
    std::fs::remove_dir_all(&folder)?;
    let (first, again) = result?;
    Ok(vec![
        Figure::below(
            "clone to page: tools and target empty, crates downloaded before (second start)",
            first,
            "s",
            900.0,
            Some(again),
        ),
        Figure::below("start to page: nothing to build", again, "s", 5.0, None),
    ])
}

/// Touches a file of the pages and one of a controller, and waits each time until the page is served again. The baseline is
/// a start with nothing to build.
pub async fn touch() -> Result<Vec<Figure>> {
    let root = Path::new(ROOT);
    // Builds what is missing, so that only the touch is measured.
    until_page(root, None).await?;
    let mut figures = Vec::new();
    let began = Instant::now();
    until_page(root, None).await?;
    let idle = began.elapsed().as_secs_f64();
    for (name, file) in [
        ("touch to served: a page", "app/src/pages/servers/mod.rs"),
        ("touch to served: a controller", "server/controllers/src/kruise/set_plan.rs"),
    ] {
        let opened = std::fs::File::options().append(true).open(root.join(file));
        opened.and_then(|file| file.set_modified(SystemTime::now())).context(file)?;
        let began = Instant::now();
        until_page(root, None).await?;
        let name = format!("{name} (nothing to build)");
        figures.push(Figure::below(&name, began.elapsed().as_secs_f64(), "s", 15.0, Some(idle)));
    }
    Ok(figures)
}

/// Runs `./dev run` in a repository until the first page is served, and ends it.
async fn until_page(repository: &Path, cache: Option<&Path>) -> Result<()> {
    let mut command = Command::new(repository.join("dev"));
    command.args(["run", "--", "--sandbox", "--listen", "127.0.0.1:0"]).current_dir(repository);
    // What cargo told this program about its own build is none of the other one's business.
    for name in ["RUSTFLAGS", "CARGO_TARGET_DIR", "RUSTUP_TOOLCHAIN", "CARGO", "CARGO_MANIFEST_DIR"] {
        command.env_remove(name);
    }
    if let Some(cache) = cache {
        command.env("PILOTHOUSE_CACHE", cache);
    }
    // A group of its own, so that its compilers end with it.
    let mut child = command.stdout(Stdio::piped()).process_group(0).kill_on_drop(true).spawn()?;
    let page = tokio::time::timeout(PATIENCE, page(&mut child)).await;
    end(&mut child).await?;
    page.context("no page in time")?
}

async fn page(child: &mut Child) -> Result<()> {
    let mut lines = BufReader::new(child.stdout.take().context("no output")?).lines();
    while let Some(line) = lines.next_line().await? {
        let Some((_, address)) = line.split_once("Pilothouse   http://") else { continue };
        let address = address.trim_end_matches('/').parse()?;
        let page = crate::client::Http::new(address).page().await?;
        anyhow::ensure!(page.contains("<html"), "no page came");
        return Ok(());
    }
    bail!("./dev run ended before it served a page; its messages are above")
}

/// Ends the process with everything that it started.
async fn end(child: &mut Child) -> Result<()> {
    if let Some(pid) = child.id() {
        Command::new("kill").args(["-TERM", "--", &format!("-{pid}")]).status().await?;
    }
    child.wait().await?;
    Ok(())
}
