//! The process that drives Chromium, and sessions with it: WebDriver as JSON over plain HTTP. What
//! is clicked and read is none of its business.

use std::fmt;
use std::fs::File;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::sync::{Semaphore, SemaphorePermit};

use crate::harness::{http, wait};

/// A browser takes a core and some hundred megabytes, and shares the machine with other stories.
static SEATS: Semaphore = Semaphore::const_new(2);

/// How long a start may take on a busy machine.
const START: Duration = Duration::from_secs(20);

/// No sandbox, because tests may run as root, which it refuses; nothing that calls home.
const ARGS: [&str; 11] = [
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-breakpad",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
    "--hide-scrollbars",
];

/// A running `chromedriver`, ended when it is dropped.
pub(super) struct Driver {
    child: Child,
    address: SocketAddr,
    folder: TempDir,
    _seat: SemaphorePermit<'static>,
}

impl Driver {
    pub(super) async fn start() -> Self {
        let seat = SEATS.acquire().await.expect("never closed");
        let folder = tempfile::tempdir().expect("a temporary folder");
        let log = folder.path().join("driver.log");
        let file = File::create(&log).expect("a file in our own folder");
        let mut command = Command::new("chromedriver");
        command.arg("--port=0").stdin(Stdio::null()).stderr(Stdio::null()).stdout(file);
        let child = command.spawn().unwrap_or_else(|error| {
            panic!("chromedriver does not start: {error}; `cargo xtask test` installs it")
        });
        let address = wait::until("chromedriver is ready", START, async || {
            let told = std::fs::read_to_string(&log).expect("the log is there");
            let (_, rest) = told.split_once("started successfully on port ")?;
            let port = rest.split_once('.')?.0.parse().expect("a port");
            Some(SocketAddr::from(([127, 0, 0, 1], port)))
        })
        .await;
        Self { child, address, folder, _seat: seat }
    }
}

impl Drop for Driver {
    fn drop(&mut self) {
        // It may have ended already, and a test that fails has said enough.
        let _killed = self.child.kill();
        let _ended = self.child.wait();
    }
}

/// A Chromium with a profile of its own, ended when it is dropped.
pub(super) struct Session {
    id: String,
    browser: u64,
    driver: Arc<Driver>,
}

/// What the driver says when it cannot do something.
pub(super) struct Fault {
    /// The name that the standard gives it, such as `no such element`.
    pub(super) name: String,
    text: String,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.name, self.text)
    }
}

impl Session {
    pub(super) async fn open(driver: Arc<Driver>) -> Self {
        let profile = tempfile::tempdir_in(driver.folder.path()).expect("a folder").keep();
        let mut args = ARGS.map(str::to_owned).to_vec();
        args.push(format!("--user-data-dir={}", profile.display()));
        let wanted = json!({"capabilities": {"alwaysMatch": {
            "goog:chromeOptions": {"args": args, "binary": chromium()},
            "goog:loggingPrefs": {"browser": "ALL"},
            // A question stays until the story answers it.
            "unhandledPromptBehavior": "ignore",
        }}});
        let opened = call(driver.address, "POST", "/session", Some(&wanted)).await;
        let opened = opened.unwrap_or_else(|fault| panic!("no Chromium: {fault}"));
        let id = opened["sessionId"].as_str().expect("a session has an id").to_owned();
        let browser = opened["capabilities"]["goog:processID"].as_u64().expect("a process");
        Self { id, browser, driver }
    }

    pub(super) fn driver(&self) -> Arc<Driver> {
        Arc::clone(&self.driver)
    }

    /// A command; the path starts below the session.
    pub(super) async fn get(&self, path: &str) -> Result<Value, Fault> {
        call(self.driver.address, "GET", &format!("/session/{}{path}", self.id), None).await
    }

    /// The same with a body.
    pub(super) async fn post(&self, path: &str, body: &Value) -> Result<Value, Fault> {
        call(self.driver.address, "POST", &format!("/session/{}{path}", self.id), Some(body)).await
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        // Killed, not asked: nobody needs its farewell. Its own children end with it.
        let mut kill = Command::new("kill");
        let _killed = kill.args(["-s", "KILL"]).arg(self.browser.to_string()).status();
    }
}

/// Chromium by its path, because the driver would take any browser it knows.
fn chromium() -> PathBuf {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut files = std::env::split_paths(&path).map(|folder| folder.join("chromium"));
    files.find(|file| file.is_file()).expect("no chromium: `cargo xtask test` installs it")
}

async fn call(
    address: SocketAddr,
    method: &str,
    path: &str,
    body: Option<&Value>,
) -> Result<Value, Fault> {
    let body = body.map(Value::to_string).unwrap_or_default();
    let length = body.len();
    // The driver serves nobody who calls it by another name.
    let head = format!("{method} {path} HTTP/1.1\r\nHost: localhost\r\nContent-Length: {length}");
    let bytes = format!("{head}\r\n\r\n{body}");
    let answer = http::exchange(address, bytes.as_bytes(), false).await;
    let answer = answer.unwrap_or_else(|error| panic!("the driver does not answer: {error}"));
    let mut told = answer.json();
    let value = told["value"].take();
    if answer.status == 200 {
        return Ok(value);
    }
    let text = |name: &str| value[name].as_str().unwrap_or_default().to_owned();
    // What follows the first line is the driver's own stack.
    let first = text("message").lines().next().unwrap_or_default().to_owned();
    Err(Fault { name: text("error"), text: first })
}
