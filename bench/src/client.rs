//! The least an HTTP client can do: one request after the other on a connection that is kept.

use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::runtime::Runtime;

use crate::callers;
use crate::harness::Sample;

/// A connection to a server.
pub(crate) struct Connection {
    stream: TcpStream,
    buffer: Vec<u8>,
}

/// An answer: its status and body.
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) body: Vec<u8>,
}

impl Connection {
    pub(crate) async fn open(address: &str) -> Self {
        let stream = TcpStream::connect(address).await.expect("it listens");
        stream.set_nodelay(true).expect("a socket");
        Self { stream, buffer: Vec::with_capacity(128 * 1024) }
    }

    /// Sends a request as it stands and reads its answer.
    pub(crate) async fn send(&mut self, request: &[u8]) -> Answer {
        self.stream.write_all(request).await.expect("sent");
        self.buffer.clear();
        loop {
            if let Some(answer) = self.complete() {
                return answer;
            }
            let read = self.stream.read_buf(&mut self.buffer).await.expect("received");
            assert!(read > 0, "the server hung up");
        }
    }

    fn complete(&self) -> Option<Answer> {
        let end = self.buffer.windows(4).position(|four| four == b"\r\n\r\n")? + 4;
        let head = std::str::from_utf8(&self.buffer[..end]).expect("a head is text");
        let length = head.lines().find_map(|line| {
            let (name, value) = line.split_once(':')?;
            name.eq_ignore_ascii_case("content-length").then(|| value.trim().parse().ok())?
        });
        let length: usize = length.expect("an answer with a length");
        let body = self.buffer.get(end..end + length)?;
        let status = head.split(' ').nth(1).and_then(|text| text.parse().ok());
        Some(Answer { status: status.expect("a status"), body: body.to_vec() })
    }
}

/// A request without a body.
pub(crate) fn get(path: &str, key: &str) -> Vec<u8> {
    format!("GET {path} HTTP/1.1\r\nHost: bench\r\nX-API-Key: {key}\r\n\r\n").into_bytes()
}

/// A request with one.
pub(crate) fn post(path: &str, key: &str, body: &str) -> Vec<u8> {
    let length = body.len();
    format!(
        "POST {path} HTTP/1.1\r\nHost: bench\r\nX-API-Key: {key}\r\n\
         Content-Type: application/json\r\nContent-Length: {length}\r\n\r\n{body}"
    )
    .into_bytes()
}

/// One round of so many connections that each send one request after the other, made from the
/// number of the connection and of the request. Counts answers, all of which must be good.
pub(crate) fn round_of(
    runtime: &Runtime,
    address: &str,
    (connections, time): (usize, Duration),
    request: impl Fn(usize, usize) -> Vec<u8> + Clone + Send + 'static,
) -> Sample {
    let numbers = std::cell::Cell::new(0);
    callers::each(runtime, connections, |rt| {
        let (address, request) = (address.to_owned(), request.clone());
        let caller = numbers.replace(numbers.get() + 1);
        async move {
            let mut connection = Connection::open(&address).await;
            let mut answered = 0;
            while rt.monotonic() < time {
                let answer = connection.send(&request(caller, answered)).await;
                assert_eq!(answer.status, 200, "{}", String::from_utf8_lossy(&answer.body));
                answered += 1;
            }
            answered as u64
        }
    })
}

/// One round of so many connections that each send the request again and again. Counts answers,
/// all of which must be good.
pub(crate) fn round(
    runtime: &Runtime,
    address: &str,
    (connections, time): (usize, Duration),
    request: &[u8],
) -> Sample {
    callers::each(runtime, connections, |rt| {
        let (address, request) = (address.to_owned(), request.to_vec());
        async move {
            let mut connection = Connection::open(&address).await;
            let mut answered = 0_u64;
            while rt.monotonic() < time {
                let answer = connection.send(&request).await;
                assert_eq!(answer.status, 200, "{}", String::from_utf8_lossy(&answer.body));
                answered += 1;
            }
            answered
        }
    })
}
