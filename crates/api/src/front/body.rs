//! Reading a request's body, within bounds of size and time.

use std::time::Duration;

use app::Rt;
use axum::extract::{FromRequest, Request};
use domain::limits;
use http::StatusCode;
use http_body_util::{BodyExt, LengthLimitError, Limited};

use crate::Api;
use crate::json::Fields;
use crate::problem::Problem;

/// The JSON object in the body, whatever the content type says.
pub(crate) struct Body(pub(crate) Fields);

impl FromRequest<Api> for Body {
    type Rejection = Problem;

    async fn from_request(request: Request, api: &Api) -> Result<Self, Problem> {
        if request.extensions().get::<TooLarge>().is_some() {
            return Err(Problem::too_large());
        }
        let reading = Limited::new(request.into_body(), limits::BODY_BYTES_MAX).collect();
        let read = tokio::select! {
            read = reading => read,
            () = api.app.rt().sleep(limits::BODY_READ) => return Err(too_slow()),
        };
        match read {
            Ok(body) => Fields::read(&body.to_bytes()).map(Self),
            Err(error) if error.is::<LengthLimitError>() => Err(Problem::too_large()),
            Err(_) => Err(Problem::malformed("the body broke off")),
        }
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
