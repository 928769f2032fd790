//! `./dev bench`: figures of the product, each beside its goal and a baseline of the same run.
//!
//! `bench [NAME] [--json FILE]`. Everything runs in this process on an embedded cluster, over real HTTP on loopback.

mod client;
mod figure;
mod parts;
mod world;

use anyhow::{Context, Result, bail};
use figure::Figure;

#[tokio::main]
async fn main() -> Result<()> {
    let mut only = None;
    let mut json = None;
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--json" => json = Some(arguments.next().context("--json needs a file")?),
            name if !name.starts_with('-') && only.is_none() => only = Some(name.to_owned()),
            other => bail!("unknown argument `{other}`: bench [NAME] [--json FILE]"),
        }
    }
    let wanted = |name: &str| only.as_deref().is_none_or(|only| name.contains(only));
    let mut figures: Vec<Figure> = Vec::new();
    if wanted("window") {
        figures.extend(parts::window().await.context("window")?);
    }
    if wanted("stream") {
        figures.extend(parts::stream().await.context("stream")?);
    }
    if wanted("batch") {
        figures.extend(parts::batch().await.context("batch")?);
    }
    if wanted("steady") {
        figures.extend(parts::steady().await.context("steady")?);
    }
    if wanted("wasm") {
        figures.extend(parts::wasm().context("wasm")?);
    }
    if figures.is_empty() {
        bail!("no figure of that name; there are window, stream, batch, steady, wasm");
    }
    figure::print(&figures);
    if let Some(path) = json {
        std::fs::write(&path, serde_json::to_string_pretty(&figures)?)
            .with_context(|| format!("cannot write {path}"))?;
    }
    Ok(())
}
