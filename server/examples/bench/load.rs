//! How busy the machine is (a figure taken on a busy machine says little), and what a process takes of its memory.

use anyhow::{Context, Result};

/// Cores and load in one line, where the system tells it.
pub fn now() -> String {
    let cores = std::thread::available_parallelism().map_or(0, std::num::NonZero::get);
    match std::fs::read_to_string("/proc/loadavg") {
        Ok(text) => {
            let of_a_minute = text.split_whitespace().next().unwrap_or("?");
            format!("{cores} cores, load {of_a_minute}")
        }
        Err(_) => format!("{cores} cores, load unknown"),
    }
}

/// Resident memory of a process (a pid, or `self`) in MB.
pub fn resident(process: &str) -> Result<f64> {
    let status = std::fs::read_to_string(format!("/proc/{process}/status"))?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).context("no VmRSS")?;
    let kibibytes: f64 = line.trim().trim_end_matches(" kB").parse()?;
    Ok(kibibytes * 1024.0 / 1e6)
}
