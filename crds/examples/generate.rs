//! Writes the manifests into `crds/yaml`; with `--check` only says which file is not up to date, and exits with 1.

use std::path::PathBuf;
use std::process::ExitCode;
use std::{env, fs};

use anyhow::{Context, Result, bail};

fn main() -> Result<ExitCode> {
    let check = match env::args().nth(1).as_deref() {
        None => false,
        Some("--check") => true,
        Some(other) => bail!("unknown argument {other:?}: only --check is understood"),
    };
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("yaml");
    let files = crds::files()?;
    let mut stale = Vec::new();
    for (name, wanted) in &files {
        let path = folder.join(name);
        if fs::read_to_string(&path).ok().as_ref() == Some(wanted) {
            continue;
        }
        stale.push(format!("crds/yaml/{name} differs from the types"));
        if !check {
            fs::create_dir_all(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
            fs::write(&path, wanted).with_context(|| format!("cannot write {}", path.display()))?;
        }
    }
    for entry in fs::read_dir(&folder).with_context(|| format!("cannot read {}", folder.display()))? {
        let name = entry?.file_name().to_string_lossy().into_owned();
        if !files.iter().any(|(known, _)| *known == name) {
            stale.push(format!("crds/yaml/{name} belongs to no kind: delete it"));
        }
    }
    for line in &stale {
        eprintln!("{line}");
    }
    if check && !stale.is_empty() {
        eprintln!("run: cargo run -p crds --example generate");
        return Ok(ExitCode::FAILURE);
    }
    Ok(ExitCode::SUCCESS)
}
