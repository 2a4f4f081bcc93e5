//! Logs on stderr, for people or for machines.

mod requests;

use std::io::IsTerminal;

use tracing_subscriber::EnvFilter;

pub(crate) use self::requests::Requests;
use crate::config::{LogFormat, LogLevel};

/// Starts logging. A second call changes nothing.
pub(crate) fn start(format: LogFormat, level: LogLevel) {
    let level = match level {
        LogLevel::Error => "error",
        LogLevel::Warn => "warn",
        LogLevel::Info => "info",
        LogLevel::Debug => "debug",
    };
    // Drivers print statements and addresses at their lower levels; ours is what is asked for.
    let filter =
        EnvFilter::new(format!("warn,api={level},app={level},server={level},store={level}"));
    let colour = std::io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none();
    let builder = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr)
        .with_target(false)
        .with_ansi(colour);
    let _already = match format {
        LogFormat::Human => builder.compact().try_init(),
        LogFormat::Json => builder.json().flatten_event(true).try_init(),
    };
}
