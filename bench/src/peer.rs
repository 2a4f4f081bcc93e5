//! Servers in processes of their own, so that their processor time is theirs alone. The bench's own
//! program plays them: which part it plays is told by its environment.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, ExitCode, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use tokio::runtime::Runtime;

use crate::callers;
use crate::client::Connection;
use crate::harness::cpu_time_of;

const ROLE: &str = "TERN_BENCH_ROLE";

/// Plays a part, if one is given.
pub(crate) fn play() -> Option<ExitCode> {
    match std::env::var(ROLE).ok()?.as_str() {
        "tern" => Some(server::cli::main()),
        "bare" => Some(bare()),
        "receiver" => Some(receiver()),
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

    /// Tern that may send callbacks to this machine; an empty database is the folder's own.
    pub(crate) fn sending(data: &Path, database: &str) -> Self {
        let flags: &[&str] = if database.is_empty() { &[] } else { &["--database", database] };
        Self::serve(data, flags)
    }

    fn serve(data: &Path, flags: &[&str]) -> Self {
        // A port that was free a moment ago; the peer says so if it is not any more.
        let free = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = free.local_addr().expect("an address").to_string();
        drop(free);
        let mut command = part("tern");
        command.env("TERN_CALLBACKS_INSIDE", "true");
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
        command.arg(body);
        Self::listening(command)
    }

    /// A receiver of callbacks that takes everything and counts it.
    pub(crate) fn receiver() -> Self {
        Self::listening(part("receiver"))
    }

    /// How many callbacks a receiver has got.
    pub(crate) fn count(&self, runtime: &Runtime) -> u64 {
        let answer = runtime.block_on(async {
            let request = b"GET /count HTTP/1.1\r\nHost: bench\r\n\r\n";
            Connection::open(&self.address).await.send(request).await
        });
        String::from_utf8_lossy(&answer.body).parse().expect("a number")
    }

    /// Waits until a receiver has got so many.
    pub(crate) fn wait_for(&self, runtime: &Runtime, count: u64) {
        while self.count(runtime) < count {
            callers::pause_for(Duration::from_millis(2))();
        }
    }

    /// A part that says where it listens.
    fn listening(mut command: Command) -> Self {
        let mut child = command.stdout(Stdio::piped()).spawn().expect("the program starts");
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
    serve(axum::Router::new().fallback(handler))
}

/// A receiver of callbacks: takes everything, counts it, answers at once.
fn receiver() -> ExitCode {
    let count = Arc::new(AtomicU64::new(0));
    let counted = count.clone();
    let take = move |_: bytes::Bytes| {
        count.fetch_add(1, Ordering::Relaxed);
        async { "ok" }
    };
    let tell = move || {
        let count = counted.load(Ordering::Relaxed).to_string();
        async { count }
    };
    let router = axum::Router::new().route("/count", axum::routing::get(tell)).fallback(take);
    serve(router)
}

fn serve(router: axum::Router) -> ExitCode {
    callers::runtime().block_on(async {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port");
        println!("{}", listener.local_addr().expect("an address"));
        axum::serve(listener, router).await.expect("it serves");
    });
    ExitCode::SUCCESS
}
