//! Sends callbacks over HTTP/1.1. Never follows a redirect, and never takes longer than its limit.

use std::time::Duration;

use bytes::Bytes;
use domain::limits;
use domain::ports::callbacks::{Answer, Callback, Receivers, Reply, Signers};
use http::header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, USER_AGENT};
use http::{Method, Request, Uri};
use http_body_util::Full;
use hyper_util::client::legacy::Client;
use hyper_util::rt::{TokioExecutor, TokioTimer};
use rustls::RootCertStore;
use tokio::time::{Instant, timeout_at};

use super::connect::Connector;
use super::{answer, failure, signature};

/// Receivers that are reached over HTTP and HTTPS.
#[derive(Debug, Clone)]
pub struct HttpReceivers {
    client: Client<Connector, Full<Bytes>>,
    limit: Duration,
}

/// How receivers are reached.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Whether they may be on this host and in private networks.
    pub allow_inside: bool,
    /// The authorities that may vouch for them.
    pub roots: RootCertStore,
    /// How long one attempt may take in all.
    pub limit: Duration,
}

impl HttpReceivers {
    /// Receivers with a certificate that this system trusts. Only the operator may allow those
    /// that are not on the public network.
    pub fn new(allow_inside: bool) -> Self {
        let mut roots = RootCertStore::empty();
        roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
        Self::with(Settings { allow_inside, roots, limit: limits::CALLBACK_ANSWER })
    }

    /// Receivers that are reached in this way.
    pub fn with(settings: Settings) -> Self {
        let limit = settings.limit;
        let client = Client::builder(TokioExecutor::new())
            .pool_timer(TokioTimer::new())
            .pool_idle_timeout(limits::CALLBACK_IDLE)
            .pool_max_idle_per_host(limits::CALLBACK_IDLE_CONNECTIONS)
            .http1_max_buf_size(limits::CALLBACK_ANSWER_HEAD_BYTES_MAX)
            // A connection that was closed while it was idle has carried nothing: take another.
            .retry_canceled_requests(true)
            .build(Connector::new(settings));
        Self { client, limit }
    }

    async fn attempt(&self, callback: &Callback) -> Reply {
        let request = match request(callback) {
            Ok(request) => request,
            Err(unsendable) => return Reply::Failed(unsendable.to_owned()),
        };
        let deadline = Instant::now() + self.limit;
        let response = match timeout_at(deadline, self.client.request(request)).await {
            Ok(Ok(response)) => response,
            Ok(Err(error)) => return Reply::Failed(failure::of_attempt(&error).into_owned()),
            Err(_) => return Reply::Failed(failure::late(self.limit)),
        };
        let status = response.status().as_u16();
        let retry_after = answer::retry_after(response.headers(), callback.at);
        let start = answer::start(response.into_body(), deadline).await;
        Reply::Answered { status, retry_after, start }
    }
}

impl Receivers for HttpReceivers {
    fn send<'a>(&'a self, callback: &'a Callback) -> Answer<'a> {
        Box::pin(self.attempt(callback))
    }
}

fn request(callback: &Callback) -> Result<Request<Full<Bytes>>, &'static str> {
    let uri = Uri::try_from(callback.url.as_str())
        .map_err(|_| "the URL holds a character that must be percent-encoded")?;
    let body = Bytes::copy_from_slice(callback.body.as_bytes());
    let mut request = Request::new(Full::new(body));
    *request.method_mut() = Method::POST;
    *request.uri_mut() = uri;
    let headers = request.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    headers.insert(USER_AGENT, HeaderValue::from_static("Tern"));
    if let Some(signers) = &callback.signers {
        sign(headers, callback, signers).map_err(|_| "the callback cannot be signed")?;
    }
    Ok(request)
}

fn sign(
    headers: &mut HeaderMap,
    callback: &Callback,
    signers: &Signers,
) -> Result<(), http::header::InvalidHeaderValue> {
    let body = callback.body.as_bytes();
    let seconds = callback.at.ms().div_euclid(1_000);
    let by_api_key = signature::by_api_key(&signers.api_key, body);
    let by_secrets = signature::by_secrets(&signers.secrets, &callback.id, seconds, body);
    let mut put = |name, value| headers.insert(HeaderName::from_static(name), value);
    put("x-signature-sha256", HeaderValue::try_from(by_api_key)?);
    put("webhook-id", HeaderValue::from_str(&callback.id)?);
    put("webhook-timestamp", HeaderValue::from(seconds));
    put("webhook-signature", HeaderValue::try_from(by_secrets)?);
    Ok(())
}
