//! A running process of the service. Every answer it gives is held against the contract.

use std::collections::BTreeSet;
use std::fs::File;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use serde_json::Value;

use crate::harness::contract::{self, Seen};
use crate::harness::http::{self, Answer, Request};
use crate::harness::{Home, binary, wait};

/// How long a start may take on a busy machine.
const START: Duration = Duration::from_secs(20);

/// Settings of a node, as names and values of its environment.
pub(crate) type Settings<'s> = &'s [(&'s str, &'s str)];

/// A process, ended without mercy when it is dropped.
pub(crate) struct Node {
    child: Child,
    pub(crate) address: SocketAddr,
    log: PathBuf,
    stdout: PathBuf,
    seen: Mutex<BTreeSet<Seen>>,
}

impl Node {
    /// Starts `tern serve` on the data of a home and waits until it is ready.
    pub(crate) async fn serve(home: &Home, settings: Settings<'_>) -> Self {
        let mut command = home.tern(&["serve"]);
        command.args(["--listen", "127.0.0.1:0"]);
        Self::ready(home, command, settings).await
    }

    /// Starts a further node on the same database and vault, with a data folder of its own.
    pub(crate) async fn beside(home: &Home, settings: Settings<'_>) -> Self {
        let mut command = binary::command();
        let data = home.folder().join(format!("data-{}", home.next_number()));
        command.args(["serve", "--listen", "127.0.0.1:0", "--data"]).arg(data);
        command.args(["--database", &home.database()]).env("TERN_VAULT", home.vault());
        Self::ready(home, command, settings).await
    }

    async fn ready(home: &Home, mut command: Command, settings: Settings<'_>) -> Self {
        // Receivers of stories are on this host.
        command.env("TERN_LOG_FORMAT", "json").env("TERN_CALLBACKS_INSIDE", "true");
        command.envs(settings.iter().copied());
        Self::start(home, command, |_, log| {
            let lines = log.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
            let ready = lines.into_iter().find(|line| line["message"] == "ready")?;
            address(ready["listen"].as_str()?)
        })
        .await
    }

    /// Starts `tern demo --json` and waits for its first line.
    pub(crate) async fn demo(home: &Home) -> Self {
        let mut command = binary::command();
        command.args(["demo", "--json", "--listen", "127.0.0.1:0", "--data"]).arg(home.data());
        Self::start(home, command, |stdout, _| {
            let (line, _) = stdout.split_once('\n')?;
            let greeting: Value = serde_json::from_str(line).expect("the greeting is JSON");
            address(greeting["api"].as_str().expect("the greeting names the API"))
        })
        .await
    }

    /// Starts a command and waits until its output, or else its log, says where it listens.
    pub(crate) async fn start(
        home: &Home,
        mut command: Command,
        look: impl Fn(&str, &str) -> Option<SocketAddr>,
    ) -> Self {
        let number = home.next_number();
        let in_folder = |end: &str| home.folder().join(format!("run-{number}.{end}"));
        let (log, stdout) = (in_folder("log"), in_folder("out"));
        let file = |path| File::create(path).expect("a file in our own folder");
        command.stderr(file(&log)).stdout(file(&stdout)).stdin(Stdio::null());
        let child = command.spawn().expect("the binary starts");
        let nowhere = SocketAddr::from(([127, 0, 0, 1], 0));
        let mut node = Self { child, address: nowhere, log, stdout, seen: Mutex::default() };
        node.address = wait::until("a node is ready", START, async || {
            let log = std::fs::read_to_string(&node.log).expect("the log is there");
            let found = look(&node.stdout(), &log);
            if found.is_none()
                && let Some(status) = node.child.try_wait().expect("the process can be asked")
            {
                panic!("the node ended at its start with {status}:\n{}", node.log());
            }
            found
        })
        .await;
        node
    }

    /// All it has printed.
    pub(crate) fn stdout(&self) -> String {
        std::fs::read_to_string(&self.stdout).expect("the output is there")
    }

    /// Sends a request, checks the answer against the contract, and hands it out.
    pub(crate) async fn send(&self, request: &Request) -> Answer {
        let answer = self.try_send(request).await.unwrap_or_else(|error| {
            panic!("{} {}: no answer: {error}", request.method, request.target)
        });
        self.judge(&request.method, &request.target, &answer);
        answer
    }

    /// The same without the check, for what the HTTP library refuses by itself.
    pub(crate) async fn try_send(&self, request: &Request) -> std::io::Result<Answer> {
        http::exchange(self.address, &request.bytes(), request.is_head()).await
    }

    /// Holds an answer against the contract, however it was got.
    pub(crate) fn judge(&self, method: &str, target: &str, answer: &Answer) {
        match contract::check(method, target, answer) {
            Ok(Some(seen)) if (200..300).contains(&answer.status) => {
                self.seen.lock().unwrap_or_else(PoisonError::into_inner).insert(seen);
            }
            Ok(_) => {}
            Err(fault) => panic!("{method} {target} breaks the contract: {fault}\n{answer}"),
        }
    }

    /// Every operation that succeeded here.
    pub(crate) fn seen(&self) -> BTreeSet<Seen> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// All it has logged. Lines of requests are written a moment after their answers, so it is read
    /// until it stands still.
    #[expect(clippy::disallowed_methods, reason = "a log on disk tells nobody that it has grown")]
    pub(crate) fn log(&self) -> String {
        let read = || std::fs::read_to_string(&self.log).expect("the log is there");
        let mut log = read();
        loop {
            std::thread::sleep(Duration::from_millis(50));
            let later = read();
            if later.len() == log.len() {
                return log;
            }
            log = later;
        }
    }

    /// Sends a signal by name, such as `TERM`.
    pub(crate) fn signal(&self, name: &str) {
        let line = format!("kill -s {name} {}", self.child.id());
        let status = Command::new("sh").args(["-c", &line]).status().expect("a shell");
        assert!(status.success(), "the process is there to be told");
    }

    /// Ends it as a power cut would.
    pub(crate) fn kill(&mut self) {
        self.child.kill().expect("the process can be killed");
        self.child.wait().expect("the process ends");
    }

    /// Waits until it has ended by itself.
    pub(crate) async fn ended(&mut self, at_most: Duration) -> ExitStatus {
        let child = &mut self.child;
        wait::until("the node has ended", at_most, async || {
            child.try_wait().expect("the process can be asked")
        })
        .await
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        // It may have ended already, and a test that fails has said enough.
        let _killed = self.child.kill();
        let _ended = self.child.wait();
    }
}

/// The address in a URL.
pub(crate) fn address(url: &str) -> Option<SocketAddr> {
    let (_, rest) = url.split_once("://")?;
    rest.split('/').next()?.parse().ok()
}
