//! Connections to receivers. Every address is judged, and exactly a judged one is connected to: a
//! name that resolves to something else a moment later leads nowhere.

use std::borrow::Cow;
use std::fmt;
use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use domain::{address, limits};
use http::Uri;
use http::uri::Scheme;
use hyper_util::client::legacy::connect::{Connected, Connection};
use hyper_util::rt::TokioIo;
use rustls::pki_types::ServerName;
use rustls::{ClientConfig, RootCertStore};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpStream, lookup_host};
use tokio::time::timeout;
use tokio_rustls::TlsConnector;

use super::{Settings, failure};

/// Opens connections for the pool.
#[derive(Clone)]
pub(super) struct Connector(Arc<Way>);

struct Way {
    allow_inside: bool,
    /// None if there is nothing to verify a certificate by.
    tls: Option<TlsConnector>,
    limit: Duration,
}

/// Why no connection came about, in words for a person.
#[derive(Debug)]
pub(super) struct NotConnected(pub(super) Cow<'static, str>);

impl Connector {
    pub(super) fn new(settings: Settings) -> Self {
        let Settings { allow_inside, roots, limit } = settings;
        Self(Arc::new(Way { allow_inside, tls: tls(roots), limit }))
    }
}

fn tls(roots: RootCertStore) -> Option<TlsConnector> {
    if roots.is_empty() {
        return None;
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .expect("ring speaks the usual versions of TLS")
        .with_root_certificates(roots)
        .with_no_client_auth();
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Some(TlsConnector::from(Arc::new(config)))
}

impl tower::Service<Uri> for Connector {
    type Response = TokioIo<Link>;
    type Error = NotConnected;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, NotConnected>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), NotConnected>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, uri: Uri) -> Self::Future {
        let way = self.0.clone();
        Box::pin(async move {
            // The pool goes on connecting when a request found another connection meanwhile, so
            // the limit of the request is not enough.
            match timeout(way.limit, way.open(&uri)).await {
                Ok(opened) => opened.map(TokioIo::new),
                Err(_) => Err(NotConnected(failure::late(way.limit).into())),
            }
        })
    }
}

impl Way {
    async fn open(&self, uri: &Uri) -> Result<Link, NotConnected> {
        let host = uri.host().unwrap_or_default();
        let host = host.strip_prefix('[').and_then(|v6| v6.strip_suffix(']')).unwrap_or(host);
        if uri.scheme() != Some(&Scheme::HTTPS) {
            let stream = self.connect(host, uri.port_u16().unwrap_or(80)).await?;
            return Ok(Link(Box::new(stream)));
        }
        let tls = self.tls.as_ref().ok_or(NotConnected(
            "TLS: there is no root certificate to verify receivers by; install the system's \
             certificates or name a file with SSL_CERT_FILE"
                .into(),
        ))?;
        // Certificates name a host without the dot that ends it in the DNS.
        let name = ServerName::try_from(host.strip_suffix('.').unwrap_or(host))
            .map_err(|_| NotConnected("TLS: no certificate can be for this host".into()))?
            .to_owned();
        let stream = self.connect(host, uri.port_u16().unwrap_or(443)).await?;
        let stream = tls.connect(name, stream).await;
        let stream = stream.map_err(|error| NotConnected(failure::of_handshake(&error)))?;
        Ok(Link(Box::new(stream)))
    }

    /// Connects to the first address that passes and answers.
    async fn connect(&self, host: &str, port: u16) -> Result<TcpStream, NotConnected> {
        let found = lookup_host((host, port)).await;
        let found = found.map_err(|_| NotConnected("the name could not be resolved".into()))?;
        let passes = |at: &SocketAddr| self.allow_inside || address::is_public(at.ip());
        let passed: Vec<_> = found.filter(passes).take(limits::CALLBACK_ADDRESSES_MAX).collect();
        // One address that swallows everything leaves time for the others.
        let share = self.limit / u32::try_from(passed.len().max(1)).unwrap_or(u32::MAX);
        let mut refusal = NotConnected("the address is not on the public network".into());
        for at in passed {
            match timeout(share, TcpStream::connect(at)).await {
                Ok(Ok(stream)) => {
                    // A request is written at once; there is nothing to wait for.
                    let _ = stream.set_nodelay(true);
                    return Ok(stream);
                }
                Ok(Err(error)) => refusal = NotConnected(failure::of_connecting(&error)),
                Err(_) => refusal = NotConnected(failure::late(share).into()),
            }
        }
        Err(refusal)
    }
}

/// What a connection consists of, with or without TLS.
trait Stream: AsyncRead + AsyncWrite + Unpin + Send {}

impl<T: AsyncRead + AsyncWrite + Unpin + Send> Stream for T {}

/// A connection to a receiver.
pub(super) struct Link(Box<dyn Stream>);

impl Connection for Link {
    fn connected(&self) -> Connected {
        Connected::new()
    }
}

impl AsyncRead for Link {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_read(cx, buf)
    }
}

impl AsyncWrite for Link {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write(cx, buf)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write_vectored(cx, bufs)
    }

    fn is_write_vectored(&self) -> bool {
        self.0.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match Pin::new(&mut self.0).poll_shutdown(cx) {
            // The farewell of TLS would wait for ever for a receiver that reads nothing.
            Poll::Pending => Poll::Ready(Ok(())),
            done @ Poll::Ready(_) => done,
        }
    }
}

impl fmt::Debug for Connector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Connector").finish_non_exhaustive()
    }
}

impl fmt::Display for NotConnected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for NotConnected {}
