//! Servers in processes of their own, so that their processor time is theirs alone. The bench's own
//! program plays them: which part it plays is told by its environment.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, ExitCode, Stdio};
use std::time::Duration;

use crate::harness::cpu_time_of;

const ROLE: &str = "TERN_BENCH_ROLE";

/// Plays a part, if one is given.
pub(crate) fn play() -> Option<ExitCode> {
    match std::env::var(ROLE).ok()?.as_str() {
        "tern" => Some(server::cli::main()),
        "bare" => Some(bare()),
        other => panic!("no such part: {other}"),
    }
}

/// A server that runs until it is dropped.
pub(crate) struct Peer {
    child: Child,
    pub(crate) address: String,
}

impl Peer {
    /// Tern, as an operator runs it, on a data folder.
    pub(crate) fn tern(data: &Path) -> Self {
        Self::serve(data, &[])
    }

    fn serve(data: &Path, flags: &[&str]) -> Self {
        // A port that was free a moment ago; the peer says so if it is not any more.
        let free = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = free.local_addr().expect("an address").to_string();
        drop(free);
        let mut command = part("tern");
        command.arg("serve").arg("--data").arg(data).args(["--listen", &address]).args(flags);
        let child = command.stderr(Stdio::piped()).spawn().expect("the program starts");
        let mut peer = Self { child, address };
        peer.wait_until_ready();
        peer
    }

    /// The same on another database than the folder's own.
    pub(crate) fn tern_on(data: &Path, database: &str) -> Self {
        Self::serve(data, &["--database", database])
    }

    /// A bare axum handler that answers everything with the bytes of a file.
    pub(crate) fn bare(body: &Path) -> Self {
        let mut command = part("bare");
        let mut child =
            command.arg(body).stdout(Stdio::piped()).spawn().expect("the program starts");
        let out = child.stdout.take().expect("its stdout is ours");
        let mut line = String::new();
        BufReader::new(out).read_line(&mut line).expect("it says where it listens");
        Self { child, address: line.trim().to_owned() }
    }

    /// Its lines are read for as long as it runs: a full pipe would stop it.
    fn wait_until_ready(&mut self) {
        let err = self.child.stderr.take().expect("its stderr is ours");
        let mut lines = BufReader::new(err).lines();
        for line in lines.by_ref() {
            if line.expect("a line").contains("ready") {
                break;
            }
        }
        store::Rt::real().vital_thread("peer-log", move || lines.for_each(drop));
    }

    /// Its process.
    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// Its processor time so far.
    pub(crate) fn cpu(&self) -> Duration {
        cpu_time_of(self.child.id())
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        let _ended = self.child.kill();
        let _waited = self.child.wait();
    }
}

/// This program with a part to play.
pub(crate) fn part(role: &str) -> Command {
    let mut command = Command::new(std::env::current_exe().expect("this program has a path"));
    command.env(ROLE, role).stdin(Stdio::null());
    command
}

/// What is the least a server can do: one handler, the same bytes for everybody.
fn bare() -> ExitCode {
    let path = std::env::args().nth(1).expect("the file with the body");
    let body = bytes::Bytes::from(std::fs::read(path).expect("the body"));
    let handler = move || {
        let body = body.clone();
        async move { ([("content-type", "application/json")], body) }
    };
    crate::callers::runtime().block_on(async {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port");
        println!("{}", listener.local_addr().expect("an address"));
        axum::serve(listener, axum::Router::new().fallback(handler)).await.expect("it serves");
    });
    ExitCode::SUCCESS
}
