//! Reading a request's body, within bounds of size and time.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use app::Rt;
use axum::extract::{FromRequest, OriginalUri, Request};
use domain::limits;
use http::request::Parts;
use http::{StatusCode, header};
use http_body_util::{BodyExt, LengthLimitError, Limited};

use crate::Api;
use crate::json::Fields;
use crate::problem::Problem;

/// The JSON object in the body, whatever the content type says.
pub(crate) struct Body(pub(crate) Fields);

impl FromRequest<Api> for Body {
    type Rejection = Problem;

    async fn from_request(request: Request, api: &Api) -> Result<Self, Problem> {
        Fields::read(&read(request, api, limits::BODY_BYTES_MAX).await?.1).map(Self)
    }
}

/// A file in the body, CSV or JSON by its content type, of at most `MAX` bytes.
pub(crate) struct Upload<const MAX: usize> {
    pub(crate) is_csv: bool,
    pub(crate) bytes: bytes::Bytes,
}

impl<const MAX: usize> FromRequest<Api> for Upload<MAX> {
    type Rejection = Problem;

    async fn from_request(request: Request, api: &Api) -> Result<Self, Problem> {
        let (parts, bytes) = read(request, api, MAX).await?;
        let kind = parts.headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
        let kind = kind.and_then(|kind| kind.split(';').next()).unwrap_or_default();
        Ok(Self { is_csv: kind.trim().eq_ignore_ascii_case("text/csv"), bytes })
    }
}

/// A request that may be repeated: its key, everything that makes it the same request, and its
/// body.
pub(crate) struct Repeatable {
    pub(crate) request: app::idempotency::Request,
    pub(crate) body: bytes::Bytes,
}

impl FromRequest<Api> for Repeatable {
    type Rejection = Problem;

    async fn from_request(request: Request, api: &Api) -> Result<Self, Problem> {
        let (parts, body) = read(request, api, limits::BODY_BYTES_MAX).await?;
        let bad = || Problem::bad_request("invalid-idempotency-key", "invalid Idempotency-Key");
        let key = match parts.headers.get("idempotency-key") {
            None => None,
            Some(key) => Some(key.to_str().map_err(|_| bad())?.to_owned()),
        };
        // The path below the front door has lost its prefix; the whole one is what was sent.
        let uri = parts.extensions.get::<OriginalUri>().map_or(&parts.uri, |original| &original.0);
        let line = format!("{} {uri}\n", parts.method);
        let facts = [line.as_bytes(), &body].concat();
        let request = app::idempotency::Request { key, facts, form: String::new(), deed: None };
        Ok(Self { request, body })
    }
}

/// The whole body, and the request without it.
async fn read(
    request: Request,
    api: &Api,
    bytes_max: usize,
) -> Result<(Parts, bytes::Bytes), Problem> {
    let (parts, mut body) = request.into_parts();
    if let Some(large) = parts.extensions.get::<Large>() {
        body = large.take(bytes_max as u64).ok_or_else(Problem::too_large)?;
    }
    let reading = Limited::new(body, bytes_max).collect();
    let read = tokio::select! {
        read = reading => read,
        () = api.app.rt().sleep(patience(bytes_max)) => return Err(too_slow()),
    };
    match read {
        Ok(body) => Ok((parts, body.to_bytes())),
        Err(error) if error.is::<LengthLimitError>() => Err(Problem::too_large()),
        Err(_) => Err(Problem::malformed("the body broke off")),
    }
}

/// How long a body may take: as long as one of the usual size, so many times over.
fn patience(bytes_max: usize) -> Duration {
    let times = u32::try_from(bytes_max / limits::BODY_BYTES_MAX).unwrap_or(u32::MAX);
    limits::BODY_READ.saturating_mul(times.max(1))
}

/// A body that was announced as larger than most handlers take, until one takes it.
#[derive(Clone)]
pub(super) struct Large {
    announced: u64,
    body: Arc<Mutex<Option<axum::body::Body>>>,
}

impl Large {
    pub(super) fn new(announced: u64, body: axum::body::Body) -> Self {
        Self { announced, body: Arc::new(Mutex::new(Some(body))) }
    }

    /// The body, if it fits and nobody has taken it.
    pub(super) fn take(&self, bytes_max: u64) -> Option<axum::body::Body> {
        let mut body = self.body.lock().unwrap_or_else(PoisonError::into_inner);
        if self.announced <= bytes_max { body.take() } else { None }
    }
}

fn too_slow() -> Problem {
    let status = StatusCode::REQUEST_TIMEOUT;
    Problem::new(status, "body-too-slow", "the request body did not arrive in time")
}

/// How much of a refused body is read, so that the client gets to see why.
const DISCARD_BYTES_MAX: usize = 8 * limits::BODY_BYTES_MAX;
const DISCARD_TIME: Duration = Duration::from_secs(2);

/// Reads a refused body away: a connection closed on unsent data can lose the answer.
pub(super) async fn discard(mut body: axum::body::Body, rt: &Rt) {
    let reading = async {
        let mut left = DISCARD_BYTES_MAX;
        while let Some(Ok(frame)) = body.frame().await {
            let size = frame.data_ref().map_or(0, bytes::Bytes::len);
            let Some(rest) = left.checked_sub(size) else { break };
            left = rest;
        }
    };
    tokio::select! {
        () = reading => {}
        () = rt.sleep(DISCARD_TIME) => {}
    }
}
