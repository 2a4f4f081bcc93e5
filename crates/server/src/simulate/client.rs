//! A small HTTP client: one connection, opened again when it is gone, and JSON in both directions.

use std::sync::Arc;
use std::time::Duration;

use app::Rt;
use http_body_util::{BodyExt, Full, Limited};
use hyper::body::Bytes;
use hyper::client::conn::http1::{self, SendRequest};
use hyper::header::{AUTHORIZATION, CONTENT_TYPE, HOST, HeaderName, HeaderValue};
use hyper::{Method, Request, StatusCode, Uri};
use hyper_util::rt::TokioIo;
use rustls::pki_types::ServerName;
use rustls::{ClientConfig, RootCertStore};
use serde_json::Value;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::sync::Mutex;
use tokio_rustls::TlsConnector;

/// How long one call may take.
const PATIENCE: Duration = Duration::from_secs(30);
/// More than any answer we ask for.
const ANSWER_BYTES_MAX: usize = 64_000_000;

/// With what a client shows who it is.
pub(super) enum Who<'k> {
    Operator(&'k str),
    Reseller(&'k str),
}

/// Why there is no answer that helps.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum Error {
    /// Nobody answers, or not now.
    #[error("the service does not answer: {0}")]
    Away(String),
    /// The service says no.
    #[error("the service says {status}: {text}")]
    Refused {
        /// The status of its answer.
        status: u16,
        /// The stable word for why.
        code: String,
        /// The same for people.
        text: String,
    },
}

impl Error {
    /// Whether it is refused for that reason.
    pub(super) fn is(&self, wanted: &str) -> bool {
        matches!(self, Self::Refused { code, .. } if code == wanted)
    }
}

/// A way to the service for one key.
pub(super) struct Client {
    host: String,
    port: u16,
    tls: Option<TlsConnector>,
    key: (HeaderName, HeaderValue),
    /// The connection, while nobody uses it.
    idle: Mutex<Option<SendRequest<Full<Bytes>>>>,
}

impl Client {
    /// Connects to nothing yet.
    pub(super) fn new(url: &str, who: &Who<'_>) -> Result<Self, String> {
        let wrong = || format!("{url} is no address of a service\n  next: --url http://HOST:PORT");
        let uri: Uri = url.parse().map_err(|_| wrong())?;
        let host = uri.host().ok_or_else(wrong)?.trim_matches(['[', ']']).to_owned();
        let (tls, port) = match uri.scheme_str() {
            Some("http") => (None, 80),
            Some("https") => (Some(tls()?), 443),
            _ => return Err(wrong()),
        };
        let (name, text) = match who {
            Who::Operator(key) => (AUTHORIZATION, format!("Bearer {key}")),
            Who::Reseller(key) => (HeaderName::from_static("x-api-key"), (*key).to_owned()),
        };
        let odd = |_| "the key holds signs that no key has\n  next: check it".to_owned();
        let mut value = HeaderValue::from_str(&text).map_err(odd)?;
        value.set_sensitive(true);
        let (port, key) = (uri.port_u16().unwrap_or(port), (name, value));
        Ok(Self { host, port, tls, key, idle: Mutex::new(None) })
    }

    pub(super) async fn get(&self, path: &str) -> Result<Value, Error> {
        self.send(Method::GET, path, &Value::Null).await
    }

    pub(super) async fn post(&self, path: &str, body: &Value) -> Result<Value, Error> {
        self.send(Method::POST, path, body).await
    }

    /// Asks once, and a second time where a connection that was kept has gone in the meantime. Both
    /// are one request to the service.
    pub(super) async fn send(
        &self,
        method: Method,
        path: &str,
        body: &Value,
    ) -> Result<Value, Error> {
        let body = if body.is_null() { Bytes::new() } else { Bytes::from(body.to_string()) };
        let name = domain::hex(&Rt::real().random::<16>());
        let request = || self.request(&method, path, &body, &name);
        let kept = self.idle.lock().await.take().filter(|kept| !kept.is_closed());
        let asked = async {
            if let Some(mut kept) = kept
                && kept.ready().await.is_ok()
                && let Ok(answer) = self.ask(kept, request()?).await
            {
                return Ok(answer);
            }
            self.ask(self.connect().await?, request()?).await
        };
        let late = |_| Error::Away(format!("no answer within {} seconds", PATIENCE.as_secs()));
        let (status, code, body) = tokio::time::timeout(PATIENCE, asked).await.map_err(late)??;
        let body: Value = serde_json::from_slice(&body).unwrap_or_default();
        if status.is_success() {
            return Ok(body);
        }
        let text = body["message"].as_str().unwrap_or("something that is no answer of Tern");
        let text = text.to_owned();
        if status == StatusCode::SERVICE_UNAVAILABLE && code != "out-of-stock" {
            return Err(Error::Away(text));
        }
        Err(Error::Refused { status: status.as_u16(), code, text })
    }

    fn request(
        &self,
        method: &Method,
        path: &str,
        body: &Bytes,
        name: &str,
    ) -> Result<Request<Full<Bytes>>, Error> {
        let request = Request::builder()
            .method(method)
            .uri(path)
            .header(HOST, format!("{}:{}", self.host, self.port))
            .header(&self.key.0, &self.key.1)
            .header(CONTENT_TYPE, "application/json")
            .header("idempotency-key", name)
            .body(Full::new(body.clone()));
        request.map_err(away)
    }

    /// Sends a request; the connection is kept for the next one.
    async fn ask(
        &self,
        mut connection: SendRequest<Full<Bytes>>,
        request: Request<Full<Bytes>>,
    ) -> Result<(StatusCode, String, Bytes), Error> {
        let answer = connection.send_request(request).await.map_err(away)?;
        let (status, headers) = (answer.status(), answer.headers());
        let code = headers.get("x-error-code").and_then(|code| code.to_str().ok());
        let code = code.unwrap_or_default().to_owned();
        let body = Limited::new(answer.into_body(), ANSWER_BYTES_MAX).collect().await;
        let body = body.map_err(away)?.to_bytes();
        *self.idle.lock().await = Some(connection);
        Ok((status, code, body))
    }

    async fn connect(&self) -> Result<SendRequest<Full<Bytes>>, Error> {
        let socket = TcpStream::connect((self.host.as_str(), self.port)).await.map_err(away)?;
        let _unsupported = socket.set_nodelay(true);
        let Some(tls) = &self.tls else { return speak(socket).await };
        let name = ServerName::try_from(self.host.clone()).map_err(away)?;
        speak(tls.connect(name, socket).await.map_err(away)?).await
    }
}

async fn speak(
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
) -> Result<SendRequest<Full<Bytes>>, Error> {
    let (sender, connection) = http1::handshake(TokioIo::new(stream)).await.map_err(away)?;
    // How it ended is told to whoever waits for an answer.
    Rt::real().task(async move { drop(connection.await) });
    Ok(sender)
}

fn away(error: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Error {
    Error::Away(error.into().to_string())
}

fn tls() -> Result<TlsConnector, String> {
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| error.to_string())?
        .with_root_certificates(roots)
        .with_no_client_auth();
    Ok(TlsConnector::from(Arc::new(config)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_names_host_and_port() {
        let at = |url| Client::new(url, &Who::Operator("k")).map(|one| (one.host, one.port));
        assert_eq!(at("http://127.0.0.1:8080"), Ok(("127.0.0.1".to_owned(), 8080)));
        assert_eq!(at("http://[::1]:8080/"), Ok(("::1".to_owned(), 8080)));
        assert_eq!(at("https://tern.example"), Ok(("tern.example".to_owned(), 443)));
        for odd in ["", "tern.example", "ftp://tern.example", "http://", "/x"] {
            assert!(at(odd).is_err_and(|why| why.contains("next: --url")), "{odd}");
        }
    }

    #[tokio::test]
    async fn nobody_there_is_away() {
        let client = Client::new("http://127.0.0.1:1", &Who::Reseller("k")).expect("an address");
        let error = client.get("/v2.5/organisation").await.expect_err("nobody is there");
        assert!(matches!(error, Error::Away(_)), "{error}");
    }
}
