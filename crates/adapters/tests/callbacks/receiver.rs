//! A receiver that does with a connection whatever a test wants.

use std::future::pending;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::timeout;

pub(crate) struct Receiver {
    listener: TcpListener,
}

impl Receiver {
    pub(crate) async fn new() -> Self {
        Self::at("127.0.0.1:0").await
    }

    pub(crate) async fn at(address: &str) -> Self {
        Self { listener: TcpListener::bind(address).await.expect("a free port") }
    }

    pub(crate) fn port(&self) -> u16 {
        self.listener.local_addr().expect("bound").port()
    }

    pub(crate) fn url(&self) -> String {
        format!("http://127.0.0.1:{}/hook", self.port())
    }

    pub(crate) async fn accept(&self) -> TcpStream {
        self.listener.accept().await.expect("a connection").0
    }

    /// Takes one connection, reads one request and answers it; what was read, and the connection.
    pub(crate) async fn answer(&self, answer: &[u8]) -> (String, TcpStream) {
        let mut stream = self.accept().await;
        let request = read_request(&mut stream).await;
        stream.write_all(answer).await.expect("written");
        (request, stream)
    }

    /// Whether nobody has come, and nobody comes soon.
    pub(crate) async fn is_left_alone(&self) -> bool {
        timeout(Duration::from_millis(50), self.accept()).await.is_err()
    }
}

/// One request: its head, and as much as that says.
pub(crate) async fn read_request<S: AsyncRead + Unpin>(stream: &mut S) -> String {
    let mut read = Vec::new();
    loop {
        let text = String::from_utf8_lossy(&read).into_owned();
        if let Some((head, body)) = text.split_once("\r\n\r\n")
            && body.len() >= length(head)
        {
            return text;
        }
        assert_ne!(stream.read_buf(&mut read).await.expect("readable"), 0, "cut short: {text}");
    }
}

fn length(head: &str) -> usize {
    let line = head.lines().find_map(|line| line.strip_prefix("content-length: "));
    line.map_or(0, |digits| digits.parse().expect("a length"))
}

/// Whether the other side closes the connection before long, in whatever way.
pub(crate) async fn is_closed(stream: TcpStream) -> bool {
    timeout(Duration::from_secs(2), drained(stream)).await.is_ok()
}

/// Whether the other side keeps the connection, at least for a while.
pub(crate) async fn is_open(stream: TcpStream) -> bool {
    timeout(Duration::from_millis(50), drained(stream)).await.is_err()
}

/// Reads whatever comes, until nothing can.
async fn drained(mut stream: TcpStream) {
    let mut read = vec![0; 64 * 1024];
    while matches!(stream.read(&mut read).await, Ok(1..)) {}
}

pub(crate) async fn pause(ms: u64) {
    let _ = timeout(Duration::from_millis(ms), pending::<()>()).await;
}
