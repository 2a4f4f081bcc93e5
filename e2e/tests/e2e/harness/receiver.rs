//! A receiver of callbacks on this host that does as it is told, and remembers everything that
//! came. It never checks anything: that is for the stories.

use std::collections::VecDeque;
use std::io;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use domain::Timestamp;
use serde_json::Value;
use store::Rt;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::AbortHandle;

use crate::harness::wait;

/// How long a callback may be on its way before a story gives up.
const ARRIVAL: Duration = Duration::from_secs(15);

/// What it does with a request.
#[derive(Debug, Clone)]
pub(crate) enum Reaction {
    /// Answers with that status and a few words.
    Status(u16),
    /// The same, with a header.
    With(u16, String),
    /// The same, with that body.
    Says(u16, String),
    /// Answers 200 after a while.
    Late(Duration),
    /// Answers with that status after a while.
    LateStatus(Duration, u16),
    /// Answers 200 and closes the connection, without a word of warning.
    Leave,
    /// Never answers.
    Silent,
    /// Answers, but only a byte every 100 ms, and with a long head.
    Drip,
    /// Answers with a body that has no end.
    Endless,
    /// Breaks the connection.
    Reset,
    /// Closes the connection in good order, without an answer.
    Close,
}

/// A request that came.
#[derive(Debug, Clone)]
pub(crate) struct Call {
    pub(crate) method: String,
    pub(crate) path: String,
    /// Names in lower case.
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
    pub(crate) at: Timestamp,
    /// Which of all connections it came on, from 1.
    pub(crate) connection: usize,
}

impl Call {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(own, _)| own == name).map(|(_, value)| value.as_str())
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8(self.body.clone()).expect("a callback is UTF-8")
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).expect("a callback is JSON")
    }

    /// What kind of event it tells of.
    pub(crate) fn kind(&self) -> String {
        let json = self.json();
        let kind = json["alertType"].as_str().or(json["event"].as_str());
        kind.expect("a callback has a kind").to_owned()
    }

    pub(crate) fn iccid(&self) -> String {
        self.json()["iccid"].as_str().unwrap_or_default().to_owned()
    }

    /// What the bundle it tells of has left.
    pub(crate) fn remaining(&self) -> i64 {
        self.json()["bundle"]["remainingQuantity"].as_i64().expect("bytes")
    }
}

/// A receiver that listens for as long as it is there.
pub(crate) struct Receiver {
    address: SocketAddr,
    state: Arc<State>,
    listening: AbortHandle,
}

struct State {
    calls: Mutex<Vec<Call>>,
    script: Mutex<Script>,
    connections: AtomicUsize,
    rt: Rt,
}

struct Script {
    next: VecDeque<Reaction>,
    usual: Reaction,
    /// What is refused with 500: bodies that contain this.
    refused: Vec<String>,
}

impl Receiver {
    /// One that takes everything.
    pub(crate) async fn start() -> Self {
        Self::that(Reaction::Status(200)).await
    }

    /// One that always does the same.
    pub(crate) async fn that(usual: Reaction) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let address = listener.local_addr().expect("bound");
        let script = Script { next: VecDeque::new(), usual, refused: Vec::new() };
        let state = Arc::new(State {
            calls: Mutex::default(),
            script: Mutex::new(script),
            connections: AtomicUsize::new(0),
            rt: Rt::real(),
        });
        let shared = state.clone();
        let listening = state.rt.task(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let number = shared.connections.fetch_add(1, Ordering::SeqCst) + 1;
                let state = shared.clone();
                // However it ends, the story looks at what came.
                shared.rt.task(async move { drop(serve(stream, number, &state).await) });
            }
        });
        Self { address, state, listening: listening.abort_handle() }
    }

    /// Where it listens.
    pub(crate) fn url(&self) -> String {
        format!("http://{}/hook", self.address)
    }

    pub(crate) fn port(&self) -> u16 {
        self.address.port()
    }

    /// What it does with the next requests, one after the other, before its usual.
    pub(crate) fn then(&self, next: impl IntoIterator<Item = Reaction>) {
        self.script().next.extend(next);
    }

    /// What it does from now on.
    pub(crate) fn always(&self, usual: Reaction) {
        let mut script = self.script();
        script.next.clear();
        script.usual = usual;
    }

    /// Refuses bodies that contain one of these, whatever else it does.
    pub(crate) fn refuse(&self, texts: &[&str]) {
        self.script().refused = texts.iter().map(|text| (*text).to_owned()).collect();
    }

    /// How many of all connections carried something.
    pub(crate) fn connections_used(&self) -> usize {
        let calls = self.state.calls();
        let numbers: std::collections::BTreeSet<_> = calls.iter().map(|c| c.connection).collect();
        numbers.len()
    }

    /// How many connections it took.
    pub(crate) fn connections(&self) -> usize {
        self.state.connections.load(Ordering::SeqCst)
    }

    /// Everything that came so far.
    pub(crate) fn calls(&self) -> Vec<Call> {
        self.state.calls().clone()
    }

    /// How many came so far.
    pub(crate) fn count(&self) -> usize {
        self.state.calls().len()
    }

    /// Waits until so many came in all; those.
    pub(crate) async fn wait_for(&self, count: usize) -> Vec<Call> {
        let what = format!("{count} callbacks came");
        wait::until(&what, ARRIVAL, async || (self.count() >= count).then(|| self.calls())).await
    }

    fn script(&self) -> MutexGuard<'_, Script> {
        self.state.script.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Receiver {
    fn drop(&mut self) {
        self.listening.abort();
    }
}

impl State {
    fn calls(&self) -> MutexGuard<'_, Vec<Call>> {
        self.calls.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes a call and says what to do with it.
    fn reaction(&self, call: Call) -> Reaction {
        let mut script = self.script.lock().unwrap_or_else(PoisonError::into_inner);
        let text = String::from_utf8_lossy(&call.body).into_owned();
        self.calls().push(call);
        if script.refused.iter().any(|refused| text.contains(refused)) {
            return Reaction::Status(500);
        }
        script.next.pop_front().unwrap_or_else(|| script.usual.clone())
    }
}

/// Takes requests on one connection until one side has enough.
async fn serve(stream: TcpStream, connection: usize, state: &State) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let mut stream = BufReader::new(stream);
    while let Some(call) = read(&mut stream, connection, state).await? {
        let reaction = state.reaction(call);
        if !react(&mut stream, &reaction, state).await? {
            return Ok(());
        }
    }
    Ok(())
}

async fn read(
    stream: &mut BufReader<TcpStream>,
    connection: usize,
    state: &State,
) -> io::Result<Option<Call>> {
    let mut line = String::new();
    if stream.read_line(&mut line).await? == 0 {
        return Ok(None);
    }
    let mut words = line.split_whitespace().map(ToOwned::to_owned);
    let (method, path) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let mut headers = Vec::new();
    loop {
        let mut line = String::new();
        stream.read_line(&mut line).await?;
        let Some((name, value)) = line.split_once(':') else { break };
        headers.push((name.to_lowercase(), value.trim().to_owned()));
    }
    let mut call = Call { method, path, headers, body: Vec::new(), at: state.rt.now(), connection };
    let length = call.header("content-length").and_then(|text| text.parse().ok()).unwrap_or(0);
    call.body = vec![0; length];
    stream.read_exact(&mut call.body).await?;
    Ok(Some(call))
}

/// Answers, or does not; whether the connection can go on.
async fn react(
    stream: &mut BufReader<TcpStream>,
    reaction: &Reaction,
    state: &State,
) -> io::Result<bool> {
    let plain = |status: u16, header: &str, body: &str| {
        let length = body.len();
        format!("HTTP/1.1 {status} So\r\n{header}Content-Length: {length}\r\n\r\n{body}")
    };
    let answer = match reaction {
        Reaction::Status(status) => plain(*status, "", "as told"),
        Reaction::With(status, header) => plain(*status, &format!("{header}\r\n"), "as told"),
        Reaction::Says(status, body) => plain(*status, "", body),
        Reaction::Late(time) => {
            state.rt.sleep(*time).await;
            plain(200, "", "as told")
        }
        Reaction::LateStatus(time, status) => {
            state.rt.sleep(*time).await;
            plain(*status, "", "as told")
        }
        Reaction::Silent => {
            // Until the other side hangs up.
            let _end = stream.read(&mut [0]).await;
            return Ok(false);
        }
        Reaction::Drip => {
            let header = format!("X-Slow: {}\r\n", "so ".repeat(100));
            for byte in plain(200, &header, "as told").bytes() {
                stream.write_all(&[byte]).await?;
                state.rt.sleep(Duration::from_millis(100)).await;
            }
            return Ok(true);
        }
        Reaction::Endless => {
            stream.write_all(b"HTTP/1.1 200 So\r\n\r\n").await?;
            loop {
                stream.write_all(&[b'x'; 8192]).await?;
            }
        }
        Reaction::Reset => {
            stream.get_ref().set_zero_linger()?;
            return Ok(false);
        }
        Reaction::Close => return Ok(false),
        Reaction::Leave => plain(200, "", "as told"),
    };
    stream.write_all(answer.as_bytes()).await?;
    Ok(!matches!(reaction, Reaction::Leave))
}
