//! The binary under test, and short runs of it.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

/// The binary: named by `TERN_BIN`, or where cargo puts it beside the tests.
pub(crate) fn path() -> PathBuf {
    if let Some(path) = std::env::var_os("TERN_BIN") {
        return path.into();
    }
    let tests = std::env::current_exe().expect("a running program has a path");
    let profile =
        tests.parent().and_then(Path::parent).expect("tests run from target/PROFILE/deps");
    let path = profile.join("tern");
    assert!(path.exists(), "{} is missing: run `cargo build -p server`", path.display());
    path
}

/// A run of it that knows nothing of our own environment.
pub(crate) fn command() -> Command {
    let mut command = Command::new(path());
    command.env_clear().stdin(Stdio::null());
    command
}

/// An address nobody listens on, for a listener that does not tell its own.
pub(crate) fn free_address() -> String {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a free port");
    listener.local_addr().expect("bound").to_string()
}

/// How a short run ended.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Ran {
    /// Runs to the end.
    pub(crate) fn new(command: &mut Command) -> Self {
        Self::with_input(command, "")
    }

    /// The same with something to read.
    pub(crate) fn with_input(command: &mut Command, input: &str) -> Self {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("the binary starts");
        let mut stdin = child.stdin.take().expect("stdin is a pipe");
        // Who does not read its input may have ended already.
        let _unread = stdin.write_all(input.as_bytes());
        drop(stdin);
        let output = child.wait_with_output().expect("the binary ends");
        let text = |bytes| String::from_utf8(bytes).expect("the binary prints UTF-8");
        Self {
            code: output.status.code(),
            stdout: text(output.stdout),
            stderr: text(output.stderr),
        }
    }

    /// The one JSON object a successful run with `--json` prints.
    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        assert_eq!(self.code, Some(0), "{self:?}");
        self.json_of_any()
    }

    /// The same of a run that may have failed.
    #[track_caller]
    pub(crate) fn json_of_any(&self) -> Value {
        assert_eq!(self.stdout.lines().count(), 1, "one line of JSON: {self:?}");
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    /// A run that failed, said why on stderr and printed nothing else.
    #[track_caller]
    pub(crate) fn failed(&self, code: i32, text: &str) {
        assert_eq!(self.code, Some(code), "{self:?}");
        assert!(self.stderr.contains(text), "says {text:?}: {self:?}");
        assert_eq!(self.stdout, "", "{self:?}");
    }
}
