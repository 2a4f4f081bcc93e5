//! Sockets: accept, limit, serve, drain.

use std::net::SocketAddr;
use std::sync::Arc;

use api::Front;
use app::Rt;
use axum::body::Body;
use domain::limits;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto;
use hyper_util::server::graceful::{GracefulShutdown, Watcher};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, watch};
use tokio_rustls::TlsAcceptor;

/// What the HTTP library takes before it refuses by itself with 431. Higher than our own limits, so
/// that our clear answer comes first.
const HEADERS_READ_MAX: usize = 4 * limits::HEADERS_MAX;
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
            let Ok(permit) = room.clone().acquire_owned().await else { return };
            let accepted = tokio::select! {
                accepted = self.listener.accept() => accepted,
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
    match tls {
        None => requests(socket, peer, front, open).await,
        Some(tls) => {
            let shake = tokio::time::timeout(limits::TLS_HANDSHAKE, tls.accept(socket)).await;
            if let Ok(Ok(stream)) = shake {
                requests(stream, peer, front, open).await;
            }
        }
    }
}

async fn requests(
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    peer: SocketAddr,
    front: Arc<Front>,
    open: Watcher,
) {
    let service = service_fn(move |request: hyper::Request<hyper::body::Incoming>| {
        let front = front.clone();
        async move {
            let answer = front.answer(request.map(Body::new), peer.ip()).await;
            Ok::<_, std::convert::Infallible>(answer)
        }
    });
    let mut builder = auto::Builder::new(TokioExecutor::new());
    builder
        .http1()
        .timer(TokioTimer::new())
        .header_read_timeout(limits::HEADER_READ)
        .max_headers(HEADERS_READ_MAX)
        .max_buf_size(BUFFER_BYTES_MAX);
    let header_list = u32::try_from(BUFFER_BYTES_MAX).unwrap_or(u32::MAX);
    builder.http2().timer(TokioTimer::new()).max_header_list_size(header_list);
    let serving = builder.serve_connection(TokioIo::new(stream), service).into_owned();
    if let Err(error) = open.watch(serving).await {
        tracing::debug!(error = %error, "connection ended");
    }
}
