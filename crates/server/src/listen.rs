//! Sockets: accept, limit, serve, drain.

use std::net::SocketAddr;
use std::sync::Arc;

use api::{Front, HangUp};
use app::Rt;
use axum::body::Body;
use domain::limits;
use hyper::server::conn::{http1, http2};
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::graceful::{GracefulShutdown, Watcher};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, watch};
use tokio_rustls::TlsAcceptor;

/// What the HTTP library takes before it refuses by itself with 431. A little higher than our own
/// limits, so that our clear answer comes first; it prepares this much room for every request.
const HEADERS_READ_MAX: usize = limits::HEADERS_MAX + 28;
const BUFFER_BYTES_MAX: usize = 4 * limits::HEADER_BYTES_MAX;

/// A listener and what answers on it.
pub(crate) struct Door {
    pub(crate) listener: TcpListener,
    pub(crate) tls: Option<TlsAcceptor>,
    pub(crate) front: Arc<Front>,
    pub(crate) rt: Rt,
}

/// Binds an address; the error says what to do.
pub(crate) async fn bind(address: &str) -> Result<TcpListener, String> {
    TcpListener::bind(address).await.map_err(|error| {
        format!("cannot listen on {address}: {error}\n  next: choose another with --listen")
    })
}

impl Door {
    /// Serves until `stop` is told, then lets requests in flight end.
    pub(crate) async fn serve(self, mut stop: watch::Receiver<bool>) {
        let room = Arc::new(Semaphore::new(limits::CONNECTIONS_MAX));
        let graceful = GracefulShutdown::new();
        loop {
            let next = async {
                let permit = room.clone().acquire_owned().await;
                (permit, self.listener.accept().await)
            };
            let (permit, accepted) = tokio::select! {
                next = next => next,
                _ = stop.wait_for(|stop| *stop) => break,
            };
            // Out of file descriptors, or a client gone already: the next one may be fine.
            let Ok((socket, peer)) = accepted else {
                self.rt.sleep(limits::RECONNECT_PAUSE).await;
                continue;
            };
            let (tls, front, open) = (self.tls.clone(), self.front.clone(), graceful.watcher());
            self.rt.task(async move {
                let _permit = permit;
                connection(socket, peer, tls, front, open).await;
            });
        }
        drop(self.listener);
        let ended = tokio::time::timeout(limits::DRAIN, graceful.shutdown()).await;
        if ended.is_err() {
            tracing::warn!("requests were still in flight after {:?}", limits::DRAIN);
        }
    }
}

async fn connection(
    socket: TcpStream,
    peer: SocketAddr,
    tls: Option<TlsAcceptor>,
    front: Arc<Front>,
    open: Watcher,
) {
    // Small answers must not wait for more.
    let _unsupported = socket.set_nodelay(true);
    let Some(tls) = tls else { return requests(socket, peer, Protocol::Http1, front, open).await };
    let shake = tokio::time::timeout(limits::TLS_HANDSHAKE, tls.accept(socket)).await;
    if let Ok(Ok(stream)) = shake {
        let protocol = match stream.get_ref().1.alpn_protocol() {
            Some(b"h2") => Protocol::Http2,
            _ => Protocol::Http1,
        };
        requests(stream, peer, protocol, front, open).await;
    }
}

/// Agreed on in the TLS handshake. Without TLS it is HTTP/1.1: guessing from the first bytes would
/// wait for them without a limit.
enum Protocol {
    Http1,
    Http2,
}

async fn requests(
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    peer: SocketAddr,
    protocol: Protocol,
    front: Arc<Front>,
    open: Watcher,
) {
    let service = service_fn(move |request: hyper::Request<hyper::body::Incoming>| {
        let front = front.clone();
        async move {
            let answer = front.answer(request.map(Body::new), peer.ip()).await;
            match answer.extensions().get::<HangUp>() {
                // An error ends the connection without a word.
                Some(HangUp) => Err(std::io::Error::from(std::io::ErrorKind::ConnectionAborted)),
                None => Ok(answer),
            }
        }
    });
    let (io, timer) = (TokioIo::new(stream), TokioTimer::new());
    let ended = match protocol {
        Protocol::Http1 => {
            let mut builder = http1::Builder::new();
            builder
                .timer(timer)
                .header_read_timeout(limits::HEADER_READ)
                .max_headers(HEADERS_READ_MAX)
                .max_buf_size(BUFFER_BYTES_MAX);
            open.watch(builder.serve_connection(io, service)).await
        }
        Protocol::Http2 => {
            let mut builder = http2::Builder::new(TokioExecutor::new());
            builder
                .timer(timer)
                .keep_alive_interval(limits::HEADER_READ)
                .keep_alive_timeout(limits::HEADER_READ)
                .max_header_list_size(u32::try_from(BUFFER_BYTES_MAX).unwrap_or(u32::MAX));
            open.watch(builder.serve_connection(io, service)).await
        }
    };
    if let Err(error) = ended {
        tracing::debug!(error = %error, "connection ended");
    }
}
