//! `./dev bench`: figures of the product, each beside its goal and a baseline of the same run.
//!
//! `bench [NAME] [--json FILE]`. Most parts run in this process on an embedded cluster, over real HTTP on loopback; what is compared
//! or weighed runs in a process of its own.

mod client;
mod dev;
mod figure;
mod load;
mod memory;
mod parts;
mod sandbox;
mod stream;
mod world;

use anyhow::{Context, Result, bail};
use figure::Figure;
use futures::future::LocalBoxFuture;

/// A group of figures that are measured together.
struct Part {
    name: &'static str,
    /// Takes many minutes and builds software: only when it is named.
    named_only: bool,
    run: fn() -> LocalBoxFuture<'static, Result<Vec<Figure>>>,
}

const PARTS: [Part; 9] = [
    Part { name: "window", named_only: false, run: || Box::pin(parts::window()) },
    Part { name: "stream", named_only: false, run: || Box::pin(stream::stream()) },
    Part { name: "batch", named_only: false, run: || Box::pin(parts::batch()) },
    Part { name: "steady", named_only: false, run: || Box::pin(parts::steady()) },
    Part { name: "memory", named_only: false, run: || Box::pin(memory::memory()) },
    Part { name: "sandbox", named_only: false, run: || Box::pin(sandbox::sandbox()) },
    Part { name: "wasm", named_only: false, run: || Box::pin(async { parts::wasm() }) },
    Part { name: "clone", named_only: true, run: || Box::pin(dev::clone()) },
    Part { name: "touch", named_only: true, run: || Box::pin(dev::touch()) },
];

fn main() -> Result<()> {
    let mut only = None;
    let mut json = None;
    let mut arguments = std::env::args().skip(1);
    let runtime = tokio::runtime::Runtime::new()?;
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--json" => json = Some(arguments.next().context("--json needs a file")?),
            memory::CHILD => {
                let address = arguments.next().context("no address")?;
                let servers = arguments.next().context("no number")?.parse()?;
                return runtime.block_on(memory::child(&address, servers));
            }
            sandbox::CHILD => return runtime.block_on(sandbox::child()),
            name if !name.starts_with('-') && only.is_none() => only = Some(name.to_owned()),
            other => bail!("unknown argument `{other}`: bench [NAME] [--json FILE]"),
        }
    }
    let (figures, failed) = runtime.block_on(measure(only.as_deref()))?;
    figure::print(&figures);
    if let Some(path) = json {
        std::fs::write(&path, serde_json::to_string_pretty(&figures)?)
            .with_context(|| format!("cannot write {path}"))?;
    }
    anyhow::ensure!(failed.is_empty(), "not measured, see above: {}", failed.join(", "));
    Ok(())
}

/// The figures, and the names of the parts that failed: minutes of the others are not thrown away for one.
async fn measure(only: Option<&str>) -> Result<(Vec<Figure>, Vec<&'static str>)> {
    let wanted: Vec<&Part> =
        PARTS.iter().filter(|part| only.map_or(!part.named_only, |name| name == part.name)).collect();
    if wanted.is_empty() {
        let names: Vec<&str> = PARTS.iter().map(|part| part.name).collect();
        bail!("there is no figure `{}`; there are: {}", only.unwrap_or_default(), names.join(", "));
    }
    let (mut figures, mut failed) = (Vec::new(), Vec::new());
    for part in wanted {
        eprintln!("bench: {}: measuring; {}", part.name, load::now());
        match (part.run)().await {
            Ok(measured) => {
                figures.extend(measured);
                eprintln!("bench: {}: done; {}", part.name, load::now());
            }
            Err(error) => {
                eprintln!("bench: {}: FAILED: {error:#}", part.name);
                failed.push(part.name);
            }
        }
    }
    Ok((figures, failed))
}
