//! The command line.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, Parser, Subcommand};

use crate::commands::{catalogue, jobs, key, org, stock, usage, user, verify};
use crate::config::{Config, Flags};
use crate::{config, demo, doctor, logs, serve, simulate};

/// Tern: eSIM provisioning that you host yourself.
#[derive(Parser)]
#[command(name = "tern", version, about, max_term_width = 100, after_help = EXIT_CODES)]
struct Cli {
    #[command(flatten)]
    global: Global,
    #[command(subcommand)]
    command: Command,
}

const EXIT_CODES: &str =
    "Exit codes: 0 done, 1 failed (the text says what to do next), 2 wrong usage.";

#[derive(Args)]
struct Global {
    /// Settings file (see config.example.toml).
    #[arg(long, global = true, env = "TERN_CONFIG", value_name = "FILE")]
    config: Option<PathBuf>,
    /// Folder for the embedded database and the vault file [default: tern-data].
    #[arg(long, global = true, value_name = "DIR")]
    data: Option<PathBuf>,
    /// Database: path of a SQLite file, or postgres://… [default: DIR/tern.db].
    #[arg(long, global = true, value_name = "PATH|URL")]
    database: Option<String>,
    /// Print JSON for machines instead of text for people.
    #[arg(long, global = true)]
    json: bool,
}

#[derive(Subcommand)]
enum Command {
    /// Run everything in one process on an embedded database, with something to try.
    Demo {
        /// Address to listen on [default: 127.0.0.1:8080].
        #[arg(long, value_name = "ADDRESS")]
        listen: Option<String>,
    },
    /// Run the service.
    Serve {
        /// Address to listen on [default: 127.0.0.1:8080].
        #[arg(long, value_name = "ADDRESS")]
        listen: Option<String>,
    },
    /// Make, list, show and change organisations.
    #[command(subcommand)]
    Org(Box<org::Command>),
    /// Make, list and revoke keys.
    #[command(subcommand)]
    Key(key::Command),
    /// Add and list people, set passwords.
    #[command(subcommand)]
    User(user::Command),
    /// Bring in what is for sale, or see what a file would change.
    #[command(subcommand)]
    Catalogue(catalogue::Command),
    /// Bring in eSIM profiles, or count the free ones.
    #[command(subcommand)]
    Stock(stock::Command),
    /// Bring in what networks recorded.
    #[command(subcommand)]
    Usage(usage::Command),
    /// List work that was given up, and try it again.
    #[command(subcommand)]
    Jobs(jobs::Command),
    /// Play travellers against a service that runs, and show what comes of it.
    Simulate(simulate::Args),
    /// Add everything up again: ledger chains, sums, balances. Changes nothing.
    Verify,
    /// Say what is wrong with this set-up and how to mend it. Changes nothing.
    Doctor,
}

/// Runs the program.
pub fn main() -> ExitCode {
    let cli = Cli::parse();
    let runtime = match tokio::runtime::Builder::new_multi_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => return failed(&format!("no runtime: {error}")),
    };
    let code = match runtime.block_on(run(cli)) {
        Ok(code) => code,
        Err(text) => failed(&text),
    };
    // Threads that wait for a database that hangs do not keep the process.
    runtime.shutdown_background();
    code
}

fn failed(text: &str) -> ExitCode {
    eprintln!("tern: {text}");
    ExitCode::FAILURE
}

async fn run(cli: Cli) -> Result<ExitCode, String> {
    let listen = match &cli.command {
        Command::Demo { listen } | Command::Serve { listen } => listen.clone(),
        _ => None,
    };
    let flags = Flags {
        config: cli.global.config,
        data: cli.global.data,
        database: cli.global.database,
        listen,
    };
    let config = Config::load(&flags, config::environment())?;
    let json = cli.global.json;
    if !matches!(cli.command, Command::Serve { .. } | Command::Demo { .. }) {
        logs::start(config.log_format, crate::config::LogLevel::Warn);
    }
    match cli.command {
        Command::Demo { .. } => demo::run(&config, json).await?,
        Command::Serve { .. } => serve::run(&config).await?,
        Command::Org(command) => org::run(*command, &config, json).await?,
        Command::Key(command) => key::run(command, &config, json).await?,
        Command::User(command) => user::run(command, &config, json).await?,
        Command::Catalogue(command) => return catalogue::run(command, &config, json).await,
        Command::Stock(command) => return stock::run(command, &config, json).await,
        Command::Usage(command) => return usage::run(command, &config, json).await,
        Command::Jobs(command) => jobs::run(command, &config, json).await?,
        Command::Simulate(args) => simulate::command(args, json).await?,
        Command::Verify => return verify::run(&config, json).await,
        Command::Doctor => return Ok(doctor::run(&config, json).await),
    }
    Ok(ExitCode::SUCCESS)
}
