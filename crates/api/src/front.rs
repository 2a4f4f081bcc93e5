//! The front door: everything that happens to a request before and after its handler.
//!
//! In this order: a request id, the client's address, limits on headers and body size, CORS, the
//! trailing slash, the router; then the headers every answer has, one log line, the metrics.

mod body;
mod cors;
mod exchange;
mod names;
mod proxies;
mod record;

use std::net::IpAddr;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use app::App;
use axum::Router;
use axum::extract::Request;
use axum::response::{IntoResponse, Response};
use domain::limits;
use futures_util::FutureExt;
use http::{HeaderMap, HeaderValue, Method, Uri, header};
use ipnet::IpNet;
use tower::ServiceExt;

pub(crate) use self::body::{Body, Repeatable, Upload};
pub(crate) use self::exchange::{Exchange, NoteRoute};
use self::names::Names;
use self::record::Record;
pub use self::record::{RequestLine, RequestLog};
use crate::catalogue::Pages;
use crate::esims::Recent;
use crate::metrics::Metrics;
use crate::problem::Problem;
use crate::rate::Limiter;
use crate::versions::Version;
use crate::{Api, Shared, contract, health, routes};

/// How the front door is set up.
#[derive(Debug, Clone, Default)]
pub struct Settings {
    /// Proxies whose word on the client's address is taken.
    pub trusted_proxies: Vec<IpNet>,
    /// Whether `/metrics` is open to everyone who reaches this listener.
    pub open_metrics: bool,
    /// The address the service is reached at, for links: `https://esim.example`.
    pub public_url: String,
}

fn new_api(app: &App, settings: &Settings) -> Api {
    let shared = Shared {
        app: app.clone(),
        limiter: Limiter::default(),
        pages: Pages::default(),
        recent: Recent::default(),
        public_url: settings.public_url.trim_end_matches('/').to_owned(),
    };
    Api { version: Version::NEWEST, shared: Arc::new(shared) }
}

/// On an answer that is not to be sent: the connection is closed instead.
#[derive(Debug, Clone, Copy)]
pub struct HangUp;

/// The whole HTTP side of the service.
pub struct Front {
    app: App,
    router: Router,
    settings: Settings,
    metrics: Arc<Metrics>,
    log: Arc<dyn RequestLog>,
    names: Arc<Names>,
    draining: Arc<AtomicBool>,
}

impl Front {
    /// Builds all routes. `pages` are those for people.
    pub fn new(app: App, settings: Settings, pages: Router, log: Arc<dyn RequestLog>) -> Self {
        let metrics = Arc::new(Metrics::new());
        let draining = Arc::new(AtomicBool::new(false));
        let api = new_api(&app, &settings);
        let health = health::State {
            api: api.clone(),
            draining: draining.clone(),
            metrics: metrics.clone(),
            open_metrics: settings.open_metrics,
        };
        let router = routes::router(&api)
            .merge(open(contract::router()))
            .merge(open(health::router(health)))
            .merge(open(pages))
            .fallback(|| async { Problem::unknown_route() });
        let names = Arc::new(Names::new(app.rt()));
        Self { app, router, settings, metrics, log, names, draining }
    }

    /// The same node's health and metrics alone, for a listener that only monitoring reaches.
    #[must_use]
    pub fn monitoring(&self) -> Self {
        let api = new_api(&self.app, &self.settings);
        let state = health::State {
            api,
            draining: self.draining.clone(),
            metrics: self.metrics.clone(),
            open_metrics: true,
        };
        Self {
            app: self.app.clone(),
            router: open(health::router(state)).fallback(|| async { Problem::unknown_route() }),
            settings: self.settings.clone(),
            metrics: self.metrics.clone(),
            log: self.log.clone(),
            names: self.names.clone(),
            draining: self.draining.clone(),
        }
    }

    /// From now on `/readyz` says that this node is leaving.
    pub fn drain(&self) {
        self.draining.store(true, Ordering::Relaxed);
    }

    /// Answers a request that came over a connection from `peer`. A client that hangs up does not
    /// stop what changes something half-way: it is finished, logged and counted. What only reads is
    /// dropped with its client, and logged as such.
    pub async fn answer(self: Arc<Self>, request: Request, peer: IpAddr) -> Response {
        if [Method::GET, Method::HEAD].contains(request.method()) {
            return self.answered(request, peer).await;
        }
        let rt = self.app.rt().clone();
        let answer = rt.task(async move { self.answered(request, peer).await }).await;
        answer.unwrap_or_else(|_| Problem::internal("the handler panicked").into_response())
    }

    async fn answered(&self, mut request: Request, peer: IpAddr) -> Response {
        let client = proxies::client(peer, request.headers(), &self.settings.trusted_proxies);
        let exchange = Exchange::new(self.names.next(), client);
        let record = Record::begin(self, exchange.clone(), known_method(request.method()));
        let is_api = is_api(request.uri().path());
        request.extensions_mut().insert(exchange.clone());
        if !is_api {
            request.extensions_mut().insert(app::people::Origin(client));
        }
        let mut response = match refusal(&request) {
            Some(problem) => {
                body::discard(request.into_body(), self.app.rt()).await;
                problem.into_response()
            }
            None if *request.method() == Method::OPTIONS && is_api => cors::preflight(),
            None => self.route_with_body(request).await,
        };
        let headers = response.headers_mut();
        if is_api {
            cors::open(headers);
        }
        if !headers.contains_key(header::ETAG) {
            // Answers hold keys and other people's data; nobody on the way may keep them.
            headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
        }
        headers
            .entry(header::X_CONTENT_TYPE_OPTIONS)
            .or_insert(HeaderValue::from_static("nosniff"));
        exchange.finish(headers, self.app.rt().now());
        record.end(&response);
        if exchange.hangs_up() {
            response.extensions_mut().insert(HangUp);
        }
        response
    }

    /// A body that is announced as large is kept aside for the handler, which asks for route and
    /// key first; what it does not take is read away afterwards.
    async fn route_with_body(&self, mut request: Request) -> Response {
        let mut aside = None;
        let bytes = announced(request.headers());
        if bytes > limits::BODY_BYTES_MAX as u64 {
            let (mut parts, body) = request.into_parts();
            let large = aside.insert(body::Large::new(bytes, body));
            parts.extensions.insert(large.clone());
            request = Request::from_parts(parts, axum::body::Body::empty());
        }
        let response = AssertUnwindSafe(self.route(request)).catch_unwind().await;
        if let Some(body) = aside.and_then(|large| large.take(u64::MAX)) {
            body::discard(body, self.app.rt()).await;
        }
        response.unwrap_or_else(|_| Problem::internal("the handler panicked").into_response())
    }

    async fn route(&self, mut request: Request) -> Response {
        if let Some(uri) = without_trailing_slash(request.uri()) {
            *request.uri_mut() = uri;
        }
        match self.router.clone().oneshot(request).await {
            Ok(response) => response,
            Err(never) => match never {},
        }
    }
}

/// Routes that need no key: noted in the log, and refusing other methods like all others.
fn open(router: Router) -> Router {
    router.method_not_allowed_fallback(|| async { Problem::method_not_allowed() }).layer(NoteRoute)
}

/// What is refused before anybody looks at it.
fn refusal(request: &Request) -> Option<Problem> {
    let headers = request.headers();
    let bytes: usize = headers.iter().map(|(n, v)| n.as_str().len() + v.len() + 4).sum();
    if headers.len() > limits::HEADERS_MAX || bytes > limits::HEADER_BYTES_MAX {
        return Some(Problem::bad_request("headers-too-large", "too many or too large headers"));
    }
    let uri = request.uri();
    let length = uri.path().len() + uri.query().map_or(0, str::len);
    if length > limits::URI_BYTES_MAX {
        return Some(Problem::bad_request("uri-too-long", "path or query too long"));
    }
    None
}

fn announced(headers: &HeaderMap) -> u64 {
    let length = headers.get(header::CONTENT_LENGTH).and_then(|value| value.to_str().ok());
    length.and_then(|text| text.parse().ok()).unwrap_or(0)
}

/// What programs call, also from pages of another origin.
fn is_api(path: &str) -> bool {
    ["/v2", "/sandbox/", "/operator/", "/events/", "/usage/", "/idempotency/", "/openapi/"]
        .iter()
        .any(|start| path.starts_with(start))
}

/// `/v2.1/organisation/` is `/v2.1/organisation`.
fn without_trailing_slash(uri: &Uri) -> Option<Uri> {
    let path = uri.path();
    let trimmed = path.trim_end_matches('/');
    if trimmed.len() == path.len() || trimmed.is_empty() {
        return None;
    }
    let text = match uri.query() {
        Some(query) => format!("{trimmed}?{query}"),
        None => trimmed.to_owned(),
    };
    text.parse().ok()
}

/// Methods are a client's own words; only known ones become labels.
fn known_method(method: &Method) -> &'static str {
    match *method {
        Method::GET => "GET",
        Method::POST => "POST",
        Method::PUT => "PUT",
        Method::PATCH => "PATCH",
        Method::DELETE => "DELETE",
        Method::HEAD => "HEAD",
        Method::OPTIONS => "OPTIONS",
        _ => "other",
    }
}
