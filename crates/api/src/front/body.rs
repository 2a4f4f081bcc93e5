//! Reading a request's body, within bounds of size and time.

use std::time::Duration;

use app::Rt;
use axum::extract::{FromRequest, OriginalUri, Request};
use domain::limits;
use http::StatusCode;
use http::request::Parts;
use http_body_util::{BodyExt, LengthLimitError, Limited};

use crate::Api;
use crate::json::Fields;
use crate::problem::Problem;

/// The JSON object in the body, whatever the content type says.
pub(crate) struct Body(pub(crate) Fields);

impl FromRequest<Api> for Body {
    type Rejection = Problem;

    async fn from_request(request: Request, api: &Api) -> Result<Self, Problem> {
        Fields::read(&read(request, api).await?.1).map(Self)
    }
}

/// A request that may be repeated: its key, and everything that makes it the same request.
pub(crate) struct Repeatable(pub(crate) app::idempotency::Request);

impl FromRequest<Api> for Repeatable {
    type Rejection = Problem;

    async fn from_request(request: Request, api: &Api) -> Result<Self, Problem> {
        let (parts, body) = read(request, api).await?;
        let bad = || Problem::bad_request("invalid-idempotency-key", "invalid Idempotency-Key");
        let key = match parts.headers.get("idempotency-key") {
            None => None,
            Some(key) => Some(key.to_str().map_err(|_| bad())?.to_owned()),
        };
        // The path below the front door has lost its prefix; the whole one is what was sent.
        let uri = parts.extensions.get::<OriginalUri>().map_or(&parts.uri, |original| &original.0);
        let line = format!("{} {uri}\n", parts.method);
        let facts = [line.as_bytes(), &body].concat();
        Ok(Self(app::idempotency::Request { key, facts, form: String::new() }))
    }
}

/// The whole body, and the request without it.
async fn read(request: Request, api: &Api) -> Result<(Parts, bytes::Bytes), Problem> {
    let (parts, body) = request.into_parts();
    if parts.extensions.get::<TooLarge>().is_some() {
        return Err(Problem::too_large());
    }
    let reading = Limited::new(body, limits::BODY_BYTES_MAX).collect();
    let read = tokio::select! {
        read = reading => read,
        () = api.app.rt().sleep(limits::BODY_READ) => return Err(too_slow()),
    };
    match read {
        Ok(body) => Ok((parts, body.to_bytes())),
        Err(error) if error.is::<LengthLimitError>() => Err(Problem::too_large()),
        Err(_) => Err(Problem::malformed("the body broke off")),
    }
}

/// Marks a request whose body was announced as too large and is not handed on.
#[derive(Clone, Copy)]
pub(super) struct TooLarge;

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
