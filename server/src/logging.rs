//! The log: one line an event, for people or as JSON.

use crate::cli::LogFormat;
use std::{ffi::OsStr, io::IsTerminal};
use tracing_subscriber::EnvFilter;

/// Starts logging to standard error. `RUST_LOG` overrides the level. A second call does nothing.
pub fn start(format: LogFormat) {
    let filter = EnvFilter::try_from_default_env()
        .unwrap_or_else(|_| EnvFilter::new("info,kube=warn,hyper=warn,tower=warn,leptos=warn"));
    let builder = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_ansi(colours(std::io::stderr().is_terminal(), std::env::var_os("NO_COLOR").as_deref()))
        .with_writer(std::io::stderr);
    let started = match format {
        LogFormat::Text => builder.with_target(false).try_init(),
        LogFormat::Json => builder.json().flatten_event(true).try_init(),
    };
    if let Err(error) = started {
        tracing::debug!(%error, "logging was started before");
    }
}

/// Whether lines carry colours: only for a person at a terminal, and not when `NO_COLOR` holds anything
/// (<https://no-color.org>).
fn colours(terminal: bool, no_color: Option<&OsStr>) -> bool {
    terminal && no_color.is_none_or(OsStr::is_empty)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_and_those_who_want_none_get_no_colours() {
        assert!(colours(true, None));
        assert!(colours(true, Some(OsStr::new(""))));
        assert!(!colours(true, Some(OsStr::new("1"))));
        assert!(!colours(false, None));
    }
}
