//! One line per request. The busiest log there is, so its lines are put together by hand, gathered,
//! and written by a thread of its own: no request waits for whoever reads them.

use std::fmt::Write as _;
use std::io::Write as _;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use api::{RequestLine, RequestLog};
use app::Rt;
use serde_json::json;

use crate::config::{LogFormat, LogLevel};

/// Bytes that may wait to be written; beyond it a request writes them itself, at its own pace.
const WAITING_BYTES_MAX: usize = 1_000_000;

/// How long lines gather while requests come one after the other.
const GATHER: Duration = Duration::from_millis(10);

/// Gathers lines.
pub(crate) struct Requests {
    format: LogFormat,
    level: LogLevel,
    rt: Rt,
    waiting: Arc<Waiting>,
}

#[derive(Default)]
struct Waiting {
    lines: Mutex<String>,
    come: Condvar,
}

impl Requests {
    /// Starts the thread that writes.
    pub(crate) fn start(format: LogFormat, level: LogLevel, rt: &Rt) -> Arc<Self> {
        let waiting = Arc::new(Waiting::default());
        let (taking, writing) = (waiting.clone(), rt.clone());
        writing.vital_thread("request-log", move || {
            loop {
                let lines = taking.take();
                // A log that nobody reads any more is no reason to stop serving.
                let _closed = std::io::stderr().write_all(lines.as_bytes());
                gather();
            }
        });
        Arc::new(Self { format, level, rt: rt.clone(), waiting })
    }
}

/// Lets lines gather: waking for each would cost more than writing it.
#[expect(clippy::disallowed_methods, reason = "a thread of its own that nobody waits for")]
fn gather() {
    std::thread::sleep(GATHER);
}

impl Waiting {
    /// All lines there are, once there are some.
    fn take(&self) -> String {
        let lines = self.lock();
        let mut lines = self
            .come
            .wait_while(lines, |lines| lines.is_empty())
            .unwrap_or_else(PoisonError::into_inner);
        std::mem::take(&mut lines)
    }

    fn lock(&self) -> MutexGuard<'_, String> {
        self.lines.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl RequestLog for Requests {
    fn write(&self, line: &RequestLine<'_>) {
        let is_fault = line.status >= 500;
        let wanted = match self.level {
            LogLevel::Info | LogLevel::Debug => true,
            LogLevel::Warn => is_fault,
            LogLevel::Error => false,
        };
        if !wanted {
            return;
        }
        let level = if is_fault { "WARN" } else { "INFO" };
        let mut lines = self.waiting.lock();
        // Writing to memory does not fail.
        let _written = match self.format {
            LogFormat::Human => human(&mut lines, line, level, &self.rt),
            LogFormat::Json => machine(&mut lines, line, level, &self.rt),
        };
        if lines.len() > WAITING_BYTES_MAX {
            let _closed = std::io::stderr().write_all(lines.as_bytes());
            lines.clear();
        }
        drop(lines);
        self.waiting.come.notify_one();
    }
}

fn human(out: &mut String, line: &RequestLine<'_>, level: &str, rt: &Rt) -> std::fmt::Result {
    let RequestLine { id, method, route, status, us, client, .. } = line;
    write!(out, "{}  {level} {method} {route} {status} {us}us client={client}", rt.now())?;
    for (name, value) in [("org.id", line.org), ("code", line.code), ("cause", line.cause)] {
        if let Some(value) = value {
            write!(out, " {name}={value:?}")?;
        }
    }
    writeln!(out, " request.id={id}")
}

fn machine(out: &mut String, line: &RequestLine<'_>, level: &str, rt: &Rt) -> std::fmt::Result {
    let RequestLine { id, method, route, version, status, us, client, .. } = line;
    write!(
        out,
        "{{\"timestamp\":\"{}\",\"level\":\"{level}\",\"message\":\"request\",\
         \"request.id\":\"{id}\",\"method\":\"{method}\",\"route\":\"{route}\",\
         \"version\":\"{version}\",\"status\":{status},\"us\":{us},\"client\":\"{client}\"",
        rt.now()
    )?;
    for (name, value) in [("org.id", line.org), ("code", line.code), ("cause", line.cause)] {
        if let Some(value) = value {
            write!(out, ",\"{name}\":{}", json!(value))?;
        }
    }
    out.push_str("}\n");
    Ok(())
}
