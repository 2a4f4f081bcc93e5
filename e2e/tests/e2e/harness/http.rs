//! HTTP/1.1 by hand: full control over what is sent, and nothing hidden of what comes back.

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use serde_json::Value;
use tokio::io::{AsyncBufRead, AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;

use crate::harness::wait;

/// Longer than any limit of the service, so that those end an exchange first.
const EXCHANGE: Duration = Duration::from_secs(30);

/// A request, as bytes of our choice.
#[derive(Debug, Clone)]
pub(crate) struct Request {
    pub(crate) method: String,
    pub(crate) target: String,
    headers: Vec<(String, Vec<u8>)>,
    body: Body,
}

#[derive(Debug, Clone)]
enum Body {
    None,
    Sized(Vec<u8>),
    Chunked(Vec<u8>),
}

impl Request {
    pub(crate) fn new(method: &str, target: &str) -> Self {
        let (method, target) = (method.to_owned(), target.to_owned());
        Self { method, target, headers: Vec::new(), body: Body::None }
    }

    pub(crate) fn get(target: &str) -> Self {
        Self::new("GET", target)
    }

    pub(crate) fn post(target: &str) -> Self {
        Self::new("POST", target)
    }

    #[must_use]
    pub(crate) fn header(mut self, name: &str, value: impl AsRef<[u8]>) -> Self {
        self.headers.push((name.to_owned(), value.as_ref().to_vec()));
        self
    }

    /// With a reseller's key.
    #[must_use]
    pub(crate) fn key(self, key: &str) -> Self {
        self.header("X-API-Key", key)
    }

    /// With an operator's key.
    #[must_use]
    pub(crate) fn bearer(self, key: &str) -> Self {
        self.header("Authorization", format!("Bearer {key}"))
    }

    #[must_use]
    pub(crate) fn json(self, body: &Value) -> Self {
        self.header("Content-Type", "application/json").body(body.to_string())
    }

    /// With these bytes and their length, and no content type.
    #[must_use]
    pub(crate) fn body(mut self, body: impl Into<Vec<u8>>) -> Self {
        self.body = Body::Sized(body.into());
        self
    }

    /// With these bytes in chunks, and no length.
    #[must_use]
    pub(crate) fn chunked(mut self, body: impl Into<Vec<u8>>) -> Self {
        self.body = Body::Chunked(body.into());
        self
    }

    /// The same with one text in place of another, in the target and in the body.
    #[must_use]
    pub(crate) fn replaced(mut self, old: &str, new: &str) -> Self {
        self.target = self.target.replace(old, new);
        if let Body::Sized(body) = &mut self.body {
            *body = String::from_utf8_lossy(body).replace(old, new).into_bytes();
        }
        self
    }

    pub(crate) fn is_head(&self) -> bool {
        self.method == "HEAD"
    }

    /// All of it, as it goes over the line.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        let length = match &self.body {
            Body::None => String::new(),
            Body::Sized(body) => format!("Content-Length: {}\r\n", body.len()),
            Body::Chunked(_) => "Transfer-Encoding: chunked\r\n".to_owned(),
        };
        let head = format!("{} {} HTTP/1.1\r\nHost: tern\r\n{length}", self.method, self.target);
        let mut bytes = head.into_bytes();
        for (name, value) in &self.headers {
            bytes.extend([name.as_bytes(), b": ", value, b"\r\n"].concat());
        }
        bytes.extend(b"\r\n");
        match &self.body {
            Body::None => {}
            Body::Sized(body) => bytes.extend(body),
            Body::Chunked(body) => {
                for chunk in body.chunks(7_919) {
                    let size = format!("{:x}\r\n", chunk.len());
                    bytes.extend([size.as_bytes(), chunk, b"\r\n"].concat());
                }
                bytes.extend(b"0\r\n\r\n");
            }
        }
        bytes
    }
}

/// What came back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    /// Names in lower case.
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

impl Answer {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(own, _)| own == name).map(|(_, value)| value.as_str())
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|error| panic!("{error}: {self}"))
    }

    /// This very status.
    #[track_caller]
    pub(crate) fn expect(self, status: u16) -> Self {
        assert_eq!(self.status, status, "{self}");
        self
    }

    /// The body of an answer with that status.
    #[track_caller]
    pub(crate) fn json_of(self, status: u16) -> Value {
        self.expect(status).json()
    }

    /// A refusal with that status and code; its text.
    #[track_caller]
    pub(crate) fn refused(self, status: u16, code: &str) -> String {
        assert_eq!((self.status, self.header("x-error-code")), (status, Some(code)), "{self}");
        self.json()["message"].as_str().expect("a text").to_owned()
    }

    /// All that two answers to the same question share: everything but the time and the name.
    pub(crate) fn fingerprint(&self) -> (u16, Vec<(String, String)>, String) {
        let own = ["date", "x-request-id"];
        let mut headers = self.headers.clone();
        headers.retain(|(name, _)| !own.contains(&name.as_str()));
        headers.sort();
        (self.status, headers, self.text())
    }
}

impl std::fmt::Display for Answer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        writeln!(f, "{}", self.status)?;
        for (name, value) in &self.headers {
            writeln!(f, "{name}: {value}")?;
        }
        write!(f, "\n{}", self.text())
    }
}

/// A connection that is kept open.
pub(crate) struct Line(BufReader<TcpStream>);

impl Line {
    pub(crate) async fn to(address: SocketAddr) -> Self {
        Self(BufReader::new(TcpStream::connect(address).await.expect("the node takes connections")))
    }

    pub(crate) async fn write(&mut self, bytes: &[u8]) {
        self.0.get_mut().write_all(bytes).await.expect("the node reads");
    }

    pub(crate) async fn read(&mut self, is_head: bool) -> io::Result<Answer> {
        let reading = read_answer(&mut self.0, is_head);
        wait::within("an answer", EXCHANGE, reading).await
    }

    /// Says that nothing more will come.
    pub(crate) async fn finish(&mut self) {
        self.0.get_mut().shutdown().await.expect("the line is open");
    }

    /// Waits until the other side closes; what it said until then.
    pub(crate) async fn read_to_end(&mut self) -> Vec<u8> {
        let mut bytes = Vec::new();
        let reading = self.0.read_to_end(&mut bytes);
        // A reset is an end too.
        let _end = wait::within("the end of a connection", EXCHANGE, reading).await;
        bytes
    }
}

/// Sends a request on a connection of its own and reads the answer. The answer may come before
/// everything is sent, and then counts.
pub(crate) async fn exchange(
    address: SocketAddr,
    bytes: &[u8],
    is_head: bool,
) -> io::Result<Answer> {
    let stream = TcpStream::connect(address).await?;
    stream.set_nodelay(true)?;
    let (reader, mut writer) = stream.into_split();
    let mut reader = BufReader::new(reader);
    let work = async {
        let sending = writer.write_all(bytes);
        let reading = read_answer(&mut reader, is_head);
        tokio::pin!(sending, reading);
        tokio::select! {
            answer = &mut reading => answer,
            // Refused half-way or not, the answer decides.
            _sent = &mut sending => reading.await,
        }
    };
    wait::within("an exchange", EXCHANGE, work).await
}

/// Reads one answer.
pub(crate) async fn read_answer(
    reader: &mut (impl AsyncBufRead + Unpin),
    is_head: bool,
) -> io::Result<Answer> {
    let status = line(reader).await?;
    let status = status.strip_prefix("HTTP/1.1 ").and_then(|rest| rest.get(..3));
    let status: u16 = status.and_then(|digits| digits.parse().ok()).ok_or_else(malformed)?;
    let mut headers = Vec::new();
    loop {
        let line = line(reader).await?;
        if line.is_empty() {
            break;
        }
        let (name, value) = line.split_once(':').ok_or_else(malformed)?;
        headers.push((name.to_lowercase(), value.trim().to_owned()));
    }
    if status == 100 {
        return Box::pin(read_answer(reader, is_head)).await;
    }
    let mut answer = Answer { status, headers, body: Vec::new() };
    if is_head || status == 204 || status == 304 {
        return Ok(answer);
    }
    answer.body = match answer.header("content-length") {
        Some(length) => {
            let mut body = vec![0; length.parse().map_err(|_| malformed())?];
            reader.read_exact(&mut body).await?;
            body
        }
        None => chunks(reader).await?,
    };
    Ok(answer)
}

async fn chunks(reader: &mut (impl AsyncBufRead + Unpin)) -> io::Result<Vec<u8>> {
    let mut body = Vec::new();
    loop {
        let size = usize::from_str_radix(&line(reader).await?, 16).map_err(|_| malformed())?;
        let mut chunk = vec![0; size];
        reader.read_exact(&mut chunk).await?;
        body.extend(chunk);
        line(reader).await?;
        if size == 0 {
            return Ok(body);
        }
    }
}

async fn line(reader: &mut (impl AsyncBufRead + Unpin)) -> io::Result<String> {
    let mut line = String::new();
    if reader.read_line(&mut line).await? == 0 {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    Ok(line.trim_end_matches(['\r', '\n']).to_owned())
}

fn malformed() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, "not an HTTP/1.1 answer")
}
