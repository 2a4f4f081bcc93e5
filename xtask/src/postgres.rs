//! A throw-away PostgreSQL: started for one command, gone with it, whatever way the command ends.
//!
//! The server is not ours but a keeper's: this program again, in a process group of its own, that
//! waits for the end of its input. We hold the other end and never close it early, so the keeper
//! notices our end even if we were killed, and then clears everything away. That needs no signal
//! handler, which safe Rust does not have, and there is one way to clean up, not four.

mod home;
mod keeper;
mod leftovers;
mod server;
mod signal;

pub(crate) use keeper::keep;

use std::fmt;
use std::io::{BufRead, BufReader, IsTerminal, Write};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, ChildStdin, Command, ExitCode, ExitStatus, Stdio};

use serde_json::Value;

use crate::{packages, process};

/// The sub-command that makes this program a keeper; not for people.
pub(crate) const KEEPER: &str = "keep-postgres";

/// The role and the database of the tests. The role may make databases and is no superuser.
const NAME: &str = "tern_test";

/// How much the server does for data that must survive a power cut.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Durability {
    /// No waiting for the disk: tests throw the data away.
    None,
    /// Every commit is synced, as in production: benches.
    Full,
}

impl Durability {
    fn parse(text: &str) -> Result<Self, String> {
        match text {
            "none" => Ok(Self::None),
            "full" => Ok(Self::Full),
            _ => Err(format!("unknown durability {text}")),
        }
    }
}

impl fmt::Display for Durability {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::None => "none",
            Self::Full => "full",
        })
    }
}

/// A running server. Dropping it stops the server and removes its data.
pub(crate) struct Cluster {
    keeper: Child,
    /// Closing it is the order to clear away.
    orders: Option<ChildStdin>,
    dir: PathBuf,
    port: u16,
    bin: PathBuf,
}

impl Cluster {
    pub(crate) fn start(durability: Durability) -> Result<Self, String> {
        let program = std::env::current_exe().map_err(|e| e.to_string())?;
        let mut command = Command::new(program);
        command.arg(KEEPER).arg(durability.to_string());
        // A group of its own, so that Ctrl-C in the terminal does not end the keeper.
        command.process_group(0).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut keeper = command.spawn().map_err(|e| process::cannot_start(&command, &e))?;
        let orders = keeper.stdin.take();
        let answer = keeper.stdout.take().expect("the output of the keeper is a pipe");
        let mut line = String::new();
        BufReader::new(answer).read_line(&mut line).map_err(|e| e.to_string())?;
        let none = PathBuf::new();
        let mut cluster = Self { keeper, orders, dir: none.clone(), port: 0, bin: none };
        cluster.learn(&line)?;
        Ok(cluster)
    }

    fn learn(&mut self, answer: &str) -> Result<(), String> {
        let answer: Value = serde_json::from_str(answer)
            .map_err(|_| "PostgreSQL was not started: its keeper ended early".to_owned())?;
        if let Some(text) = answer["failed"].as_str() {
            return Err(text.to_owned());
        }
        let text = |name: &str| answer[name].as_str().expect("the keeper says where things are");
        self.dir = text("dir").into();
        self.bin = text("bin").into();
        let port = answer["port"].as_u64().expect("the keeper says the port");
        self.port = u16::try_from(port).expect("a port has 16 bits");
        Ok(())
    }

    /// How a child finds the server; and a folder for its own files, which goes when we go.
    pub(crate) fn environment(&self) -> Vec<(&'static str, String)> {
        let Self { dir, port, bin, .. } = self;
        let dir = dir.to_str().expect("we named the folder in plain letters");
        // In an address the slashes of a socket's folder must be written as %2F.
        let socket = format!("{dir}/{}", home::SOCKETS).replace('/', "%2F");
        let ca = format!("{dir}/{}", home::CA);
        vec![
            (
                "TERN_TEST_POSTGRES",
                format!("postgres://{NAME}@127.0.0.1:{port}/{NAME}?sslmode=disable"),
            ),
            (
                "TERN_TEST_POSTGRES_SOCKET",
                format!("postgres://{NAME}@{socket}:{port}/{NAME}?sslmode=disable"),
            ),
            (
                "TERN_TEST_POSTGRES_TLS",
                format!(
                    "postgres://{NAME}@localhost:{port}/{NAME}?sslmode=require&sslrootcert={ca}"
                ),
            ),
            ("TERN_TEST_POSTGRES_BIN", bin.display().to_string()),
            ("TMPDIR", format!("{dir}/{}", home::SCRATCH)),
        ]
    }

    /// Runs a command that finds the server in its environment, and ends with us if we are killed.
    pub(crate) fn run(&mut self, command: &mut Command) -> Result<ExitStatus, String> {
        command.envs(self.environment());
        // Grouped, a child can be ended with all its own children. In a terminal it must stay in
        // our group to be allowed to read; there Ctrl-C reaches all of them without us.
        let grouped = !std::io::stdin().is_terminal();
        if grouped {
            command.process_group(0);
        }
        let mut child = command.spawn().map_err(|e| process::cannot_start(command, &e))?;
        let sign = if grouped { "-" } else { "" };
        self.order(&format!("watch {sign}{}", child.id()));
        let status = child.wait().map_err(|e| e.to_string());
        self.order("forget");
        status
    }

    fn order(&mut self, line: &str) {
        let orders = self.orders.as_mut().expect("orders are closed only at the end");
        if writeln!(orders, "{line}").is_err() {
            eprintln!("the keeper of PostgreSQL is gone; the server will be too");
        }
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        drop(self.orders.take());
        match self.keeper.wait() {
            Ok(status) if status.success() => {}
            _ => eprintln!("the keeper of PostgreSQL could not clear everything away"),
        }
    }
}

/// `cargo xtask postgres -- COMMAND`.
pub(crate) fn around(program: &str, args: &[&str]) -> Result<ExitCode, String> {
    packages::ensure()?;
    let mut cluster = Cluster::start(Durability::None)?;
    let status = cluster.run(Command::new(program).args(args))?;
    Ok(process::exit_code(status))
}
