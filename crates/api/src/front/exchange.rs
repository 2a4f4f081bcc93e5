//! What is learnt about a request on its way, for the answer's headers and the log.

use std::convert::Infallible;
use std::net::{IpAddr, Ipv4Addr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};

use axum::extract::{FromRequestParts, MatchedPath, Request};
use domain::{KeyId, OrgId, Timestamp};
use http::request::Parts;
use http::{HeaderMap, HeaderName, HeaderValue};
use tower::{Layer, Service};

use crate::Api;
use crate::rate::Standing;

const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// One request and its answer. Travels with the request; cheap to clone.
#[derive(Clone)]
pub(crate) struct Exchange(Arc<Inner>);

struct Inner {
    id: String,
    client: IpAddr,
    learnt: Mutex<Learnt>,
}

#[derive(Default)]
struct Learnt {
    route: Option<String>,
    signed_in: Option<(OrgId, KeyId)>,
    standing: Option<Standing>,
    hangs_up: bool,
}

impl FromRequestParts<Api> for Exchange {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &Api) -> Result<Self, Infallible> {
        Ok(Self::of(parts))
    }
}

impl Exchange {
    pub(super) fn new(id: String, client: IpAddr) -> Self {
        Self(Arc::new(Inner { id, client, learnt: Mutex::default() }))
    }

    /// The exchange a request belongs to.
    pub(crate) fn of(parts: &Parts) -> Self {
        let found = parts.extensions.get::<Self>().cloned();
        found.unwrap_or_else(|| Self::new(String::new(), Ipv4Addr::UNSPECIFIED.into()))
    }

    /// Names it in the answer and in the log.
    pub(super) fn id(&self) -> &str {
        &self.0.id
    }

    /// The address the request really came from.
    pub(crate) fn client(&self) -> IpAddr {
        self.0.client
    }

    fn matched(&self, route: &str) {
        self.learnt().route = Some(route.to_owned());
    }

    pub(crate) fn signed_in(&self, organisation: OrgId, key: KeyId) {
        self.learnt().signed_in = Some((organisation, key));
    }

    pub(crate) fn stands(&self, standing: Standing) {
        self.learnt().standing = Some(standing);
    }

    /// The caller gets no answer, as it has asked for.
    pub(crate) fn hang_up(&self) {
        self.learnt().hangs_up = true;
    }

    pub(super) fn hangs_up(&self) -> bool {
        self.learnt().hangs_up
    }

    /// The route that matched, which can be had once, and whose key it was.
    pub(super) fn learnt_names(&self) -> (Option<String>, Option<(OrgId, KeyId)>) {
        let mut learnt = self.learnt();
        (learnt.route.take(), learnt.signed_in)
    }

    /// Writes the headers every answer has.
    pub(super) fn finish(&self, headers: &mut HeaderMap, now: Timestamp) {
        if let Ok(id) = HeaderValue::from_str(self.id()) {
            headers.insert(REQUEST_ID, id);
        }
        let standing = self.learnt().standing;
        if let Some(standing) = standing {
            standing.write(headers, now);
        }
    }

    fn learnt(&self) -> MutexGuard<'_, Learnt> {
        self.0.learnt.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Tells the exchange which route answers, so that the log can say the pattern.
#[derive(Clone, Copy)]
pub(crate) struct NoteRoute;

impl<S> Layer<S> for NoteRoute {
    type Service = Noted<S>;

    fn layer(&self, inner: S) -> Noted<S> {
        Noted(inner)
    }
}

/// A service that notes its route. By hand, since the ready-made way costs as much as routing.
#[derive(Clone)]
pub(crate) struct Noted<S>(S);

impl<S: Service<Request>> Service<Request> for Noted<S> {
    type Response = S::Response;
    type Error = S::Error;
    type Future = S::Future;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.0.poll_ready(context)
    }

    fn call(&mut self, request: Request) -> S::Future {
        let extensions = request.extensions();
        if let Some((exchange, path)) =
            extensions.get::<Exchange>().zip(extensions.get::<MatchedPath>())
        {
            exchange.matched(path.as_str());
        }
        self.0.call(request)
    }
}
